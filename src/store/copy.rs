//! Whole copies of a project file, made while it is open.

use super::StoreError;
use super::regular::open_regular;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Files of this version on say which opening they are of.
pub(super) const FIRST_WITH_OPENING: i64 = 5;

/// Copies all that a connection sees into a new file, which appears whole or not at all.
///
/// # Errors
/// A file of this name, a folder that is not there or can't be written, a full disk.
pub(super) fn copy_to(connection: &Connection, to: &Path) -> Result<(), StoreError> {
    let folder = folder_of(to)?;
    let io = |source| StoreError::io("copy the project", source, to);
    let unfinished = unfinished_in(&folder).map_err(io)?;
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

/// The folder that a new file shall lie in.
///
/// # Errors
/// A file of this name, a folder that is not there.
pub(super) fn folder_of(path: &Path) -> Result<PathBuf, StoreError> {
    if path.symlink_metadata().is_ok() {
        return Err(StoreError::Exists { path: path.to_owned() });
    }
    let folder = parent_of(path);
    if folder.is_dir() { Ok(folder.to_owned()) } else { Err(StoreError::NoFolder { path: folder.to_owned() }) }
}

pub(super) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that goes away unless it is given its name; readable by whom new files are readable, unlike other temporary
/// ones.
pub(super) fn unfinished_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".new-").suffix(".nestling");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666)); // less what the umask forbids
    }
    builder.tempfile_in(folder)
}

/// Gives a finished file its name, once it is on disk.
///
/// # Errors
/// A file of this name, and what can go wrong with a disk.
pub(super) fn put(finished: NamedTempFile, path: &Path) -> Result<(), StoreError> {
    let io = |source| StoreError::io("make the project file", source, path);
    // SQLite may have put another file there, so it is opened anew.
    open_regular(finished.path(), OpenOptions::new().write(true)).and_then(|f| f.sync_all()).map_err(io)?;
    finished.persist_noclobber(path).map_err(|error| io(error.error))?;
    sync_folder_of(path).map_err(io)
}

/// Forces the names in the folder of a file to the disk: else they may not outlive a power cut.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(parent_of(path)).and_then(|folder| folder.sync_all()) } else { Ok(()) }
}
