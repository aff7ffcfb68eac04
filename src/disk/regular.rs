//! Regular files and nothing else: what lies there may have been put there by somebody who wants another file to be read or
//! overwritten, or the program to wait for ever.
//!
//! # Invariants
//! - No link is followed at the end of a path, and no pipe or device is opened.
//! - What was opened is what was looked at before: a file that is exchanged in between is refused before anything is read
//!   from it or written to it.
//!
//! Deliberately absent: links among the folders of a path, which are the person's own business.

use super::identity::Identity;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file to read it.
///
/// # Errors
/// As [`open_with`].
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OpenOptions::new().read(true))
}

/// Opens a file that is there, if it is a regular one and no link. `options` must neither create nor truncate.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for what is no regular file; what can go wrong with a disk.
pub fn open_with(path: &Path, options: &OpenOptions) -> io::Result<File> {
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

/// What stands there in the place of a regular file; `None` for one.
pub fn obstacle(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_symlink() => Some("a link"),
        () if kind.is_dir() => Some("a folder"),
        () => Some("a pipe or a device"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        assert!(open(&at("file")).is_ok());
        for (name, found) in [("link", "a link"), ("folder", "a folder"), ("pipe", "a pipe")] {
            let error = open(&at(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(found), "{name}: {error}");
        }
        assert_eq!(open(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
