//! Files and folders beside a project, which may have come from anybody: read and deleted without following links.
//!
//! # Invariants
//! - A link, a pipe or a device in the place of a file or a folder is an error. None is opened.
//! - Only files with names that the caller knows are deleted, never a whole tree: what else is there stays, and its
//!   folder with it.
//!
//! Deliberately absent: protection from a program that puts a link there between the look at a folder and its deletion.
//! Whoever can write in these folders can delete in them, too.

use super::regular::open;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// True when there is anything at all, be it a link that leads nowhere.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// True for a folder, not for a link to one.
pub fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Reads a file of at most so many bytes.
///
/// # Errors
/// As [`open`], and a file that is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let too_long = || io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes"));
    let capacity = usize::try_from(length).ok().filter(|_| length <= most).ok_or_else(too_long)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(capacity)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// Deletes the files of a folder that are `ours`, in the order of `rank`, then the folder. One that is not there is
/// deleted already.
///
/// # Errors
/// A link or a file in its place; a file that can't be deleted; something else in the folder, which stays.
pub fn remove_folder(folder: &Path, ours: impl Fn(&str) -> bool, rank: impl Fn(&str) -> u8) -> io::Result<()> {
    match folder.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is a link or something else, not a folder"));
        }
        Ok(_) => {}
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // That of the entry itself, not of what a link leads to.
        let is_file = entry.file_type()?.is_file();
        names.extend(entry.file_name().into_string().ok().filter(|name| is_file && ours(name)));
    }
    names.sort_by_key(|name| rank(name));
    for name in names {
        fs::remove_file(folder.join(name))?;
    }
    fs::remove_dir(folder)
}

#[cfg(test)]
mod tests {
    use super::super::is_unfinished;
    use super::*;

    fn remove(folder: &Path) -> io::Result<()> {
        remove_folder(folder, |name| name == "ours" || is_unfinished(name), |_| 0)
    }

    #[test]
    fn only_files_of_known_names_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("f");
        fs::create_dir_all(folder.join("inner")).unwrap();
        for name in ["ours", "mine", ".tmpAb12cd", ".tmp-notes"] {
            fs::write(folder.join(name), name).unwrap();
        }
        assert_eq!(remove(&folder).unwrap_err().kind(), ErrorKind::DirectoryNotEmpty);
        let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".tmp-notes", "inner", "mine"]);
        for name in ["mine", ".tmp-notes"] {
            fs::remove_file(folder.join(name)).unwrap();
        }
        fs::remove_dir(folder.join("inner")).unwrap();
        remove(&folder).unwrap();
        assert!(!is_there(&folder));
        remove(&folder).unwrap();
    }

    #[test]
    fn a_long_file_is_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "12345").unwrap();
        assert_eq!(read(file.path(), 5).unwrap(), b"12345");
        assert_eq!(read(file.path(), 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        // One that takes no room on disk, but would in memory.
        file.as_file().set_len(1 << 33).unwrap();
        assert!(read(file.path(), 1 << 20).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_neither_read_nor_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("victim")).unwrap();
        fs::write(at("victim/ours"), "precious").unwrap();
        std::os::unix::fs::symlink(at("victim"), at("link")).unwrap();
        assert!(is_there(&at("link")) && !is_folder(&at("link")));
        assert!(remove(&at("link")).is_err());
        fs::create_dir(at("f")).unwrap();
        std::os::unix::fs::symlink(at("victim/ours"), at("f/ours")).unwrap();
        assert!(read(&at("f/ours"), 100).is_err());
        assert!(remove(&at("f")).is_err(), "a link is nothing of ours");
        assert_eq!(fs::read(at("victim/ours")).unwrap(), b"precious");
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
        if made.is_ok_and(|made| made.success()) {
            assert!(read(&at("pipe"), 100).is_err(), "it would wait for somebody to write");
        }
    }
}
