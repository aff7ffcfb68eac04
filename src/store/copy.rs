//! Whole copies of a project file, made while it is open.

use super::error::StoreError;
use crate::disk::{Hidden, NewFile, folder_of, is_there};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// Files of this version on say which opening they are of.
pub(super) const FIRST_WITH_OPENING: i64 = 5;

/// It ends like a project, for a person who finds one after a crash.
const UNFINISHED: Hidden = Hidden::public(".new-").ending(".nestling");

/// Copies all that a connection sees into a new file, which appears whole or not at all.
///
/// # Errors
/// A file of this name, a folder that is not there or can't be written, a full disk.
pub(super) fn copy_to(connection: &Connection, to: &Path) -> Result<(), StoreError> {
    let unfinished = unfinished("copy the project", to)?;
    let name = unfinished.path().to_string_lossy().into_owned();
    // It wants to make the file itself, or finds an empty one.
    connection
        .execute("VACUUM INTO ?1", [name])
        .map_err(|source| StoreError::sqlite("copy the project", source, to))?;
    renew_opening(unfinished.path()).map_err(|source| StoreError::sqlite("copy the project", source, to))?;
    put(unfinished, to)
}

/// A copy is laid out anew, so that the log of the file that it was made of does not fit it.
fn renew_opening(copy: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version < FIRST_WITH_OPENING {
        return Ok(());
    }
    let _mode: String = connection.query_row("PRAGMA journal_mode = memory", [], |row| row.get(0))?;
    connection.execute("UPDATE project SET opening = lower(hex(randomblob(16)))", [])?;
    connection.close().map_err(|(_, error)| error)
}

/// # Errors
/// A file of this name, a folder that is not there.
pub(super) fn check_place(path: &Path) -> Result<(), StoreError> {
    if is_there(path) {
        return Err(StoreError::Exists { path: path.to_owned() });
    }
    let folder = folder_of(path);
    if folder.is_dir() { Ok(()) } else { Err(StoreError::NoFolder { path: folder.to_owned() }) }
}

/// A file that goes away unless it is given its name; readable by whom new files are readable.
///
/// # Errors
/// A file of this name, a folder that is not there or can't be written.
pub(super) fn unfinished(doing: &'static str, path: &Path) -> Result<NewFile, StoreError> {
    check_place(path)?;
    NewFile::beside(path, UNFINISHED).map_err(|source| StoreError::io(doing, source, path))
}

/// Gives a finished file its name, once it is on disk.
///
/// # Errors
/// A file of this name, and what can go wrong with a disk.
pub(super) fn put(finished: NewFile, path: &Path) -> Result<(), StoreError> {
    finished.put_new().map_err(|source| StoreError::io("make the project file", source, path))
}
