//! The file itself: making it, telling ours from others, opening and migrating it.

use super::lock::Lock;
use super::{Found, StoreError, rows};
use crate::annotation::LabelSet;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// `NEST`: tells a project from other SQLite files.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"NEST");

/// Step `n` brings a file from `user_version` `n` to `n + 1`.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql")];

/// How long to wait for a backup program or a virus scanner that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What a new project starts with.
#[derive(Clone, Debug, Default)]
pub struct NewProject {
    pub labels: LabelSet,
    pub settings: BTreeMap<String, String>,
}

/// An open project file that this process alone may write.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    _lock: Lock, // after the connection: let go last
}

impl Store {
    /// Makes a project file and opens it. The file appears whole or not at all.
    ///
    /// # Errors
    /// A file of this name, a folder that is not there or can't be written.
    pub fn create(path: &Path, new: &NewProject) -> Result<Self, StoreError> {
        const DOING: &str = "make the project file";
        if path.symlink_metadata().is_ok() {
            return Err(StoreError::Exists { path: path.to_owned() });
        }
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(StoreError::NoFolder { path: folder.to_owned() });
        }
        let lock = Lock::take(path)?;
        let io = |source| StoreError::io(DOING, source, path);
        let unfinished = unfinished_in(folder).map_err(io)?;
        fill(unfinished.path(), new).map_err(|source| StoreError::sqlite(DOING, source, path))?;
        unfinished.as_file().sync_all().map_err(io)?;
        unfinished.persist_noclobber(path).map_err(|error| io(error.error))?;
        if cfg!(unix) {
            File::open(folder).and_then(|f| f.sync_all()).map_err(io)?; // else the name may not outlive a power cut
        }
        Self::open_locked(path, lock)
    }

    /// Opens a project file for reading and writing, and brings an old one up to date.
    ///
    /// # Errors
    /// A file that is not there, not ours, newer than the program, damaged, read-only or open elsewhere; it is
    /// unchanged then.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        check_header(path)?;
        let lock = Lock::take(path)?;
        Self::open_locked(path, lock)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is wrong with the file, by SQLite's own checks; empty when it is sound. Reads everything.
    ///
    /// # Errors
    /// A file that can't be read at all.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let failed = |source| StoreError::sqlite("check the project", source, &self.path);
        let mut problems = Vec::new();
        let mut integrity = self.connection.prepare("PRAGMA integrity_check").map_err(failed)?;
        let rows = integrity.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        for row in rows {
            problems.extend(Some(row.map_err(failed)?).filter(|said| said != "ok"));
        }
        let mut references = self.connection.prepare("PRAGMA foreign_key_check").map_err(failed)?;
        let rows =
            references.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?))).map_err(failed)?;
        for row in rows {
            let (from, to) = row.map_err(failed)?;
            problems.push(format!("a row of {from} names a row of {to} that there is not"));
        }
        Ok(problems)
    }

    fn open_locked(path: &Path, lock: Lock) -> Result<Self, StoreError> {
        let failed = |source| StoreError::sqlite("open the project", source, path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        // Until it is known to be sound, closing must not merge a waiting log into the file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log(path)).map_err(failed)?;
        configure(&connection).map_err(failed)?;
        let version = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
        check_version(version, path)?;
        migrate(&mut connection, version).map_err(|s| StoreError::sqlite("bring the project up to date", s, path))?;
        Ok(Self { connection, path: path.to_owned(), _lock: lock })
    }
}

/// Where the models of a project lie: `NAME.models` beside `NAME.nestling`.
pub fn models_dir(project: &Path) -> PathBuf {
    project.with_extension("models")
}

/// A file that goes away unless it is given its name; readable by whom new files are readable, unlike other temporary
/// ones.
fn unfinished_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".new-").suffix(".nestling");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666)); // less what the umask forbids
    }
    builder.tempfile_in(folder)
}

fn fill(path: &Path, new: &NewProject) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    configure(&connection)?;
    migrate(&mut connection, 0)?;
    let transaction = connection.transaction()?;
    rows::insert_project(&transaction, &new.labels, &new.settings)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -16_000) // KiB
}

/// Each step and its `user_version` are one transaction.
fn migrate(connection: &mut Connection, from: i64) -> rusqlite::Result<()> {
    for (version, step) in (1_i64..).zip(MIGRATIONS).filter(|(version, _)| *version > from) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Looks at the first bytes without SQLite, which would begin to recover or to create.
fn check_header(path: &Path) -> Result<(), StoreError> {
    let io = |source| StoreError::io("read the project", source, path);
    let metadata = fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return Err(StoreError::Folder { path: path.to_owned() });
    }
    let mut head = Vec::with_capacity(512);
    File::open(path).and_then(|f| f.take(512).read_to_end(&mut head)).map_err(io)?;
    if let Some(found) = not_ours(&head) {
        return Err(StoreError::Foreign { found, path: path.to_owned() });
    }
    check_version(i64::from(big_endian(&head, 60).unwrap_or_default()), path)?;
    let page_bytes = match head.get(16..18) {
        Some(&[0, 1]) => 65_536,
        Some(&[high, low]) => u64::from(u16::from_be_bytes([high, low])),
        _ => 0,
    };
    let pages = big_endian(&head, 28).and_then(|pages| u64::try_from(pages).ok()).unwrap_or_default();
    // With a write-ahead log beside it the rest may be there: SQLite puts it in.
    if metadata.len() < page_bytes * pages && !has_log(path) {
        let detail = format!("it has {} bytes and should have {}", metadata.len(), page_bytes * pages);
        return Err(StoreError::Damaged { detail, path: path.to_owned() });
    }
    let writable = !metadata.permissions().readonly() && OpenOptions::new().write(true).open(path).is_ok();
    if writable { Ok(()) } else { Err(StoreError::ReadOnly { path: path.to_owned() }) }
}

fn not_ours(head: &[u8]) -> Option<Found> {
    if head.starts_with(b"SQLite format 3\0") && head.len() >= 100 {
        return (big_endian(head, 68) != Some(APPLICATION_ID)).then_some(Found::OtherDatabase);
    }
    let text = head.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace());
    Some(match () {
        () if head.is_empty() => Found::Empty,
        () if text => Found::Text,
        () => Found::Binary,
    })
}

fn check_version(found: i64, path: &Path) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i64;
    if found > known { Err(StoreError::Newer { found, known, path: path.to_owned() }) } else { Ok(()) }
}

fn big_endian(head: &[u8], at: usize) -> Option<i32> {
    head.get(at..)?.first_chunk().map(|bytes| i32::from_be_bytes(*bytes))
}

fn has_log(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    fs::metadata(PathBuf::from(name)).is_ok_and(|m| m.len() > 0)
}
