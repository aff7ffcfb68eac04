//! Write-ahead logs that belong to no file: left behind by a program that ended while another file took the place of its
//! project, or lying there by chance. SQLite would apply them to whatever file has the name.
//!
//! The lock of the program that was open last says what `project.opening` must be in the file that its log belongs to
//! ([`Marks`]). Where it is another one, the log is given another name and is never deleted.

use super::error::StoreError;
use super::guard::{IMMUTABLE, immutable_uri, open_to_look};
use super::lock::Marks;
use super::paths::{beside, has_bytes, has_log, log_path};
use super::{copy, regular};
use crate::disk::{self, Identity};
use rusqlite::OptionalExtension;
use rusqlite::config::DbConfig;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that SQLite keeps beside its own and takes for part of it.
const OF_SQLITE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How often a log may have begun anew since its salt was noted.
const MOST_RESTARTS: u32 = 64;

/// Nothing lies beside a project that would be taken for a part of it and is no file.
///
/// # Errors
/// [`StoreError::InTheWay`]
pub(super) fn check_companions(project: &Path) -> Result<(), StoreError> {
    OF_SQLITE.iter().try_for_each(|end| regular::check_free_for("a part of the project", &beside(project, end)))
}

/// Whether the log beside a file is one of another file.
pub(super) fn has_foreign_log(project: &Path, marks: &Marks) -> bool {
    if marks.openings.is_empty() || !has_log(project) {
        return false;
    }
    // A log of another file has another salt; this one may have begun anew since, and more often if others wrote it, too.
    let is_other = |salt: u32| log_salt(project).is_none_or(|found| found.wrapping_sub(salt) > MOST_RESTARTS);
    if marks.log.is_some_and(is_other) {
        return true;
    }
    match opening_without_log(project) {
        Ok(opening) => !opening.is_some_and(|opening| marks.openings.contains(&opening)),
        // It may have been cut off in the middle of being written, which its log will mend.
        Err(_) => marks.file.is_some() && Identity::at(project).is_ok_and(|there| there != marks.file),
    }
}

/// The first salt of the log beside a file; `None` for what is no log.
pub(super) fn log_salt(project: &Path) -> Option<u32> {
    let mut head = [0; 32];
    disk::open(&log_path(project)).ok()?.read_exact(&mut head).ok()?;
    let number = |at: usize| head.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    number(16).filter(|_| matches!(number(0), Some(0x377f_0682 | 0x377f_0683)))
}

/// Puts a log out of the way, so that it is applied to no file; where it lies now.
///
/// # Errors
/// What can go wrong with a disk.
pub(super) fn set_log_aside(project: &Path) -> Result<PathBuf, StoreError> {
    let (log, io) = (log_path(project), |source| StoreError::io("set the log of another file aside", source, project));
    let free = (1..).map(|n| beside(project, &format!("-wal.of-another-file-{n}")));
    let mut free = free.skip_while(|path| path.symlink_metadata().is_ok());
    let to = free.next().unwrap_or_else(|| beside(project, "-wal.of-another-file"));
    fs::rename(&log, &to).map_err(io)?;
    disk::sync_folder(disk::folder_of(project)).map_err(io)?; // else it may be back after a power cut, when the lock says nothing of it
    Ok(to)
}

/// What is left of a file that had this name: nothing of it is part of a new one.
///
/// # Errors
/// What can go wrong with a disk.
pub(super) fn make_way_for_new(project: &Path) -> Result<Option<PathBuf>, StoreError> {
    check_companions(project)?;
    let io = |source| StoreError::io("make way for a new project", source, project);
    let journal = beside(project, "-journal");
    if has_bytes(&journal) {
        let aside =
            (1..).map(|n| beside(&journal, &format!(".of-another-file-{n}"))).find(|p| p.symlink_metadata().is_err());
        aside.map_or(Ok(()), |aside| fs::rename(&journal, aside)).map_err(io)?;
    }
    has_log(project).then(|| set_log_aside(project)).transpose()
}

/// `project.opening` as it is in the file itself; `None` in one that has none.
pub(super) fn opening_without_log(project: &Path) -> rusqlite::Result<Option<String>> {
    let connection = open_to_look(immutable_uri(project), IMMUTABLE, project)?;
    // A log may hold the pages at the end of the file; SQLite would refuse it without them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    connection.pragma_update(None, "writable_schema", true)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'project' AND rootpage > 0";
    let is_table: bool = connection.query_row(sql, [], |row| row.get(0))?;
    if version < copy::FIRST_WITH_OPENING || !is_table {
        return Ok(None);
    }
    let row = connection.query_row("SELECT opening FROM project LIMIT 1", [], |row| row.get(0));
    row.optional()
}
