//! What a person lets the program write: files and folders that appear whole or not at all, never in the place of a
//! project; and folders that go away by themselves.

use crate::disk::{self, Hidden, NewFile, NewFolder, folder_of};
use crate::session::SessionError;
use crate::store::is_locked;
use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use tempfile::TempDir;

/// What every SQLite file begins with, and so every project.
const DATABASE: &[u8; 16] = b"SQLite format 3\0";

const UNFINISHED: Hidden = Hidden::public(".writing-");

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

/// As [`write_whole`], of a text; `doing` is what an error of the disk says could not be done.
///
/// # Errors
/// As [`write_whole`].
pub fn write_text(path: &Path, doing: &'static str, text: &str) -> Result<(), SessionError> {
    let io = |source| SessionError::Io { doing, source, path: path.to_owned() };
    write_whole(path, |out| out.write_all(text.as_bytes()).map_err(io))
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
    check_folder(path)?;
    let file = NewFile::beside(path, UNFINISHED).map_err(io)?;
    let mut out = BufWriter::new(file.file());
    let named = |error| with_place(error, file.path(), path);
    let value = write(&mut out).map_err(named)?;
    out.flush().map_err(io)?;
    drop(out);
    let value = check(file.path(), value).map_err(named)?;
    file.put().map_err(io)?;
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
    check_folder(path)?;
    let folder = NewFolder::beside(path, UNFINISHED).map_err(io)?;
    let value = fill(folder.path()).map_err(|error| with_place(error, folder.path(), path))?;
    folder.put().map_err(io)?;
    Ok(value)
}

/// Where an error names what lies beside the place under a hidden name, it names the place instead, which the person gave.
fn with_place(error: SessionError, hidden: &Path, place: &Path) -> SessionError {
    let (said, hidden) = (error.to_string(), hidden.display().to_string());
    match said.contains(&hidden) {
        true => SessionError::NotWritten(said.replace(&hidden, &place.display().to_string())),
        false => error,
    }
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
    disk::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *DATABASE
}

fn check_folder(path: &Path) -> Result<(), SessionError> {
    let folder = folder_of(path);
    if folder.is_dir() { Ok(()) } else { Err(SessionError::NoFolder { path: folder.to_owned() }) }
}

/// Deleted with all that is in it when it is dropped.
pub(crate) fn temporary_folder() -> Result<TempDir, SessionError> {
    let path = std::env::temp_dir();
    tempfile::tempdir_in(&path).map_err(|source| SessionError::Io { doing: "make a temporary folder", source, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(path: &Path) -> SessionError {
        SessionError::Io { doing: "read it back", source: std::io::ErrorKind::NotFound.into(), path: path.to_owned() }
    }

    #[test]
    fn errors_name_the_place_that_was_given_and_not_the_hidden_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("out.jsonl");
        let written = write_checked(&place, |_| Ok(()), |file, ()| Err::<(), _>(lost(file)));
        assert_eq!(written.unwrap_err().to_string(), lost(&place).to_string());
        let place = dir.path().join("out");
        let filled = fill_folder(&place, |folder| Err::<(), _>(lost(&folder.join("a.ann"))));
        assert_eq!(filled.unwrap_err().to_string(), lost(&place.join("a.ann")).to_string());
        // What names something else stays what it is.
        let other = fill_folder(&place, |_| Err::<(), _>(SessionError::Stopped));
        assert!(matches!(other, Err(SessionError::Stopped)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }
}
