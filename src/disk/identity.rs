//! Which file it is that a name stands for: whether it is still the one that was opened.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

/// A file, whatever it is called. While it is open no other one gets the same identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    pub device: u64,
    pub inode: u64,
}

impl Identity {
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// All files are alike: elsewhere a file that is open can't be exchanged.
    #[cfg(not(unix))]
    pub fn of(_: &Metadata) -> Self {
        Self { device: 0, inode: 0 }
    }

    /// What lies there now; `None` for nothing.
    ///
    /// # Errors
    /// What the file system can't tell.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        Ok(look_at(path)?.map(|metadata| Self::of(&metadata)))
    }
}

/// What lies there, a link as a link; `None` for nothing.
pub fn look_at(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}
