//! Files and folders that appear whole or not at all, and folders that go away by themselves. A folder is not forced to the
//! disk: after a power cut files of one that was just written may be empty.

use crate::session::SessionError;
use crate::store::{is_locked, read_regular};
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use tempfile::TempDir;

/// What every SQLite file begins with, and so every project.
const DATABASE: &[u8; 16] = b"SQLite format 3\0";

/// Writes beside the place, and puts the file there when all of it is on disk. Never in the place of a database.
///
/// # Errors
/// A database there, what `write` says, and what can go wrong with a disk. A file that was there stays as it was then.
pub fn write_whole<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    write_checked(path, write, |_, value| Ok(value))
}

/// As [`write_whole`]; `check` may read what was written before it is put in place.
///
/// # Errors
/// As [`write_whole`], and what `check` says.
pub(in crate::session) fn write_checked<T, U>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, SessionError>,
    check: impl FnOnce(&Path, T) -> Result<U, SessionError>,
) -> Result<U, SessionError> {
    let io = |source| SessionError::Io { doing: "write the file", source, path: path.to_owned() };
    check_replaceable(path)?;
    if is_database(path) {
        return Err(SessionError::ReplacesDatabase { path: path.to_owned() });
    }
    let mut builder = tempfile::Builder::new();
    open_to_all(&mut builder, 0o666);
    let file = builder.prefix(".writing-").tempfile_in(folder_of(path)?).map_err(|error| io(without_name(error)))?;
    let mut out = BufWriter::new(file.as_file());
    let value = write(&mut out)?;
    out.flush().map_err(io)?;
    drop(out);
    let value = check(file.path(), value)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|e| io(e.error))?;
    Ok(value)
}

/// Fills a folder beside the place, and renames it when `fill` is done.
///
/// # Errors
/// There is a file or a folder that is not empty; what `fill` says, and what can go wrong with a disk.
pub(in crate::session) fn fill_folder<T>(
    path: &Path,
    fill: impl FnOnce(&Path) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    let io = |source| SessionError::Io { doing: "write the folder", source, path: path.to_owned() };
    let is_empty = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    check_replaceable(path)?;
    if path.exists() && !is_empty(path) {
        return Err(SessionError::FolderNotEmpty { path: path.to_owned() });
    }
    let mut builder = tempfile::Builder::new();
    open_to_all(&mut builder, 0o777);
    let folder = builder.prefix(".writing-").tempdir_in(folder_of(path)?).map_err(|error| io(without_name(error)))?;
    let value = fill(folder.path())?;
    if path.exists() {
        fs::remove_dir(path).map_err(io)?;
    }
    fs::rename(folder.path(), path).map_err(io)?;
    Ok(value)
}

/// A device or a link is something to the system or to somebody else; what would come in its place is not.
fn check_replaceable(path: &Path) -> Result<(), SessionError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            let found = if metadata.is_symlink() { "a link" } else { "a pipe or a device" };
            Err(SessionError::NotReplaced { found, path: path.to_owned() })
        }
        _ => Ok(()),
    }
}

/// What can't be read is none: writing there says what is wrong. An open project is not opened to see what it is: that
/// would take SQLite's locks away ([`Store::open_beside_writer`](crate::store::Store::open_beside_writer)).
fn is_database(path: &Path) -> bool {
    if path.is_file() && is_locked(path) {
        return true;
    }
    let mut start = [0; DATABASE.len()];
    read_regular(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *DATABASE
}

fn folder_of(path: &Path) -> Result<&Path, SessionError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() { Ok(folder) } else { Err(SessionError::NoFolder { path: folder.to_owned() }) }
}

/// What the system says, without the name of the file beside the place, which means nothing to people.
fn without_name(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|named| named.source()?.downcast_ref::<io::Error>());
    inner.and_then(io::Error::raw_os_error).map_or(error, io::Error::from_raw_os_error)
}

/// The permissions that any new file or folder gets, less the person's umask.
#[cfg_attr(not(unix), allow(unused_variables, reason = "there are no such permissions"))]
fn open_to_all(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
}

/// Deleted with all that is in it when it is dropped.
pub(crate) fn temporary_folder() -> Result<TempDir, SessionError> {
    let path = std::env::temp_dir();
    tempfile::tempdir_in(&path).map_err(|source| SessionError::Io { doing: "make a temporary folder", source, path })
}
