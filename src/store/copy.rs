//! Whole copies of a project file, made while it is open.

use super::StoreError;
use rusqlite::Connection;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
    put(unfinished, to)
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

fn parent_of(path: &Path) -> &Path {
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
    OpenOptions::new().write(true).open(finished.path()).and_then(|f| f.sync_all()).map_err(io)?;
    finished.persist_noclobber(path).map_err(|error| io(error.error))?;
    if cfg!(unix) {
        File::open(parent_of(path)).and_then(|f| f.sync_all()).map_err(io)?; // else the name may not outlive a power cut
    }
    Ok(())
}
