//! Regular files and nothing else: what lies beside a project may have been put there by somebody who wants another file
//! to be overwritten, or the program to wait for ever.
//!
//! # Invariants
//! - No link is followed at the end of a path, and no pipe or device is opened.
//! - What was opened is what was looked at before: a file that is exchanged in between is refused before anything is read
//!   from it or written to it.
//!
//! Deliberately absent: links among the folders of a path, which are the person's own business.

use super::StoreError;
use super::identity::Identity;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Opens a file that is there, if it is a regular one and no link. `options` must neither create nor truncate.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for what is no regular file; what can go wrong with a disk.
pub fn open_regular(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let named = fs::symlink_metadata(path)?;
    let refused = |found: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("it is {found} and no file"));
    if let Some(found) = obstacle(&named) {
        return Err(refused(found));
    }
    let file = options.open(path)?;
    let held = file.metadata()?;
    if obstacle(&held).is_some() || Identity::of(&held) != Identity::of(&named) {
        return Err(refused("exchanged at this moment"));
    }
    Ok(file)
}

/// Opens a file to read it; see [`open_regular`].
///
/// # Errors
/// As [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

/// What stands there in the place of a regular file; `None` for one.
pub(super) fn obstacle(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_symlink() => Some("a link"),
        () if kind.is_dir() => Some("a folder"),
        () => Some("a pipe or a device"),
    }
}

/// Nothing is there, or a regular file.
///
/// # Errors
/// [`StoreError::InTheWay`] for anything else.
pub(super) fn check_free_for(wanted: &'static str, path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => match obstacle(&metadata) {
            None => Ok(()),
            Some(found) => Err(StoreError::InTheWay { found, wanted, path: path.to_owned() }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StoreError::Io { doing: "look at what lies beside the project", source, path: path.into() }),
    }
}

/// The file that a link leads to, so that what lies beside a project lies beside the real file. A path that is no link
/// stays as it is.
///
/// # Errors
/// A link that leads nowhere.
pub(super) fn resolve_link(path: &Path) -> Result<PathBuf, StoreError> {
    if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|source| StoreError::io("follow the link", source, path))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert!(read_regular(&at("file")).is_ok());
        for (name, found) in [("link", "a link"), ("folder", "a folder"), ("pipe", "a pipe")] {
            let error = read_regular(&at(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(found), "{name}: {error}");
            assert!(check_free_for("a test", &at(name)).unwrap_err().to_string().contains(found));
        }
        assert_eq!(read_regular(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(resolve_link(&at("link")).unwrap(), fs::canonicalize(at("file")).unwrap());
        assert_eq!(resolve_link(&at("none")).unwrap(), at("none"));
    }
}
