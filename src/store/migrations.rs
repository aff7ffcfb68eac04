//! Bringing old files up to date, step by step, with a copy of the file made first.

use super::error::StoreError;
use super::guard::open_to_look;
use super::{copy, search};
use crate::disk;
use rusqlite::{Connection, OpenFlags, Row, TransactionBehavior};
use std::path::{Path, PathBuf};

/// What brings a file from one version to the next.
struct Migration {
    sql: &'static str,
    /// What SQL can't say, in the same transaction.
    then: fn(&Connection) -> rusqlite::Result<()>,
}

/// Step `n` brings a file from `user_version` `n` to `n + 1`.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("migrations/0001.sql"), then: |_| Ok(()) },
    Migration { sql: include_str!("migrations/0002.sql"), then: search::index_all },
    Migration { sql: include_str!("migrations/0003.sql"), then: |_| Ok(()) },
    Migration { sql: include_str!("migrations/0004.sql"), then: |_| Ok(()) },
    Migration { sql: include_str!("migrations/0005.sql"), then: |_| Ok(()) },
];

/// The version of the files that this program writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The version of an open file.
///
/// # Errors
/// One of a newer program, and one that no program has written.
pub(super) fn version_of(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let failed = |source| StoreError::sqlite("open the project", source, path);
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    check_version(version, path)?;
    if version < 1 {
        let detail = format!("there is no file version {version}");
        return Err(StoreError::Damaged { detail, path: path.to_owned() });
    }
    Ok(version)
}

/// # Errors
/// A file of a newer program.
pub(super) fn check_version(found: i64, path: &Path) -> Result<(), StoreError> {
    if found > VERSION {
        return Err(StoreError::Newer { found, known: VERSION, path: path.to_owned() });
    }
    Ok(())
}

/// Brings an old file up to date, after a copy of it was made beside it; see [`backup_paths`].
///
/// # Errors
/// A copy or a step that failed: the file is at the last version that it reached, whole.
pub(super) fn bring_up_to_date(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::sqlite("bring the project up to date", source, path);
    let version = version_of(connection, path)?;
    if version == VERSION {
        return Ok(());
    }
    // Copying follows the pages wherever they lead, and more than once.
    let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(failed)?;
    if sound != "ok" {
        return Err(StoreError::Damaged { detail: sound, path: path.to_owned() });
    }
    let state = |connection: &Connection| -> rusqlite::Result<_> {
        let sql = "SELECT user_version, revision, (SELECT max(seq) FROM log), (SELECT max(time_ms) FROM log)
            FROM project, pragma_user_version";
        let numbers = |row: &Row<'_>| Ok([row.get::<_, Option<i64>>(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
        connection.query_row(sql, [], numbers)
    };
    let now = state(connection).map_err(failed)?;
    // One of a migration that did not end stays; anything else of this name is no copy of this file.
    let is_copy = |path: &Path| {
        disk::open(path).is_ok()
            && open_to_look(path, OpenFlags::SQLITE_OPEN_READ_ONLY, path)
                .and_then(|copy| state(&copy))
                .is_ok_and(|then| then == now)
    };
    let mut backups = backup_paths(path, version).filter(|path| path.symlink_metadata().is_err() || is_copy(path));
    if let Some(backup) = backups.next().filter(|backup| backup.symlink_metadata().is_err()) {
        copy::copy_to(connection, &backup)?;
    }
    migrate(connection, version).map_err(failed)
}

/// Where the copy of a file may lie that was made before it was brought up to date: `NAME.version-1.nestling`, then
/// `NAME.version-1-2.nestling`, …
fn backup_paths(path: &Path, version: i64) -> impl Iterator<Item = PathBuf> {
    (1..).map(move |n| {
        let number = if n == 1 { String::new() } else { format!("-{n}") };
        path.with_extension(format!("version-{version}{number}.nestling"))
    })
}

/// From a version to the newest one. Each step and its `user_version` are one transaction.
pub(super) fn migrate(connection: &mut Connection, from: i64) -> rusqlite::Result<()> {
    migrate_between(connection, from, VERSION)
}

/// Makes the tables of a version in a database without any.
pub(super) fn migrate_to(connection: &mut Connection, version: i64) -> rusqlite::Result<()> {
    migrate_between(connection, 0, version)
}

fn migrate_between(connection: &mut Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    let steps = (1_i64..).zip(MIGRATIONS).filter(|(version, _)| (from + 1..=to).contains(version));
    for (version, step) in steps {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step.sql)?;
        (step.then)(&transaction)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}
