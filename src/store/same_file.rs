//! Whether the path of an open project still stands for the file that is open.

use super::news::Lost;
use super::paths::{beside, log_path};
use crate::disk::{Identity, Noted as _, look_at};
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// How the files of a project were when this process had last written them.
#[derive(Clone, Debug)]
pub(super) struct SameFile {
    file: Option<Identity>,
    log: Option<Identity>,
    index: Option<Identity>,
    written: Option<Written>,
}

/// When a file was last written, and how long it is.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Written {
    bytes: u64,
    time: Option<SystemTime>,
}

/// What there is to be seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    Ours,
    /// It is the file, but another program has written it.
    Touched,
    /// It is the file, but its write-ahead log is gone or another one.
    LogTaken,
    Lost(Lost),
}

impl SameFile {
    /// What can't be seen is not there.
    pub(super) fn over(path: &Path) -> Self {
        let at = |path: &Path| Identity::at(path).ok().flatten();
        let metadata = look_at(path).ok().flatten();
        Self {
            file: metadata.as_ref().map(Identity::of),
            log: at(&log_path(path)),
            index: at(&beside(path, "-shm")),
            written: metadata.as_ref().map(Written::of),
        }
    }

    pub(super) fn file(&self) -> Option<Identity> {
        self.file
    }

    pub(super) fn is_of_same_file(&self, other: &Self) -> bool {
        self.file.is_some() && self.file == other.file
    }

    /// # Errors
    /// What the file system can't tell at this moment.
    pub(super) fn look(&self, path: &Path) -> io::Result<Look> {
        let found = match look_at(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            found => found?,
        };
        let Some(metadata) = found else { return Ok(Look::Lost(Lost::Gone)) };
        Ok(match () {
            () if Some(Identity::of(&metadata)) != self.file => Look::Lost(Lost::Replaced),
            () if self.log.is_some() && Identity::at(&log_path(path))? != self.log => Look::LogTaken,
            () if Some(Written::of(&metadata)) != self.written => Look::Touched,
            () => Look::Ours,
        })
    }

    /// Takes what is there for what this process has written, if it is the file.
    pub(super) fn note_written(&mut self, path: &Path) {
        let now = Self::over(path);
        if self.is_of_same_file(&now) {
            self.written = now.written;
            self.log = self.log.or(now.log);
            self.index = self.index.or(now.index);
        }
    }

    pub(super) fn is_lost(&self, path: &Path) -> bool {
        matches!(self.look(path), Ok(Look::Lost(_)))
    }

    /// Removes what SQLite has left beside the path, if it is still that of the file that was open.
    pub(super) fn remove_leftovers(&self, path: &Path) {
        for (path, ours) in [(log_path(path), self.log), (beside(path, "-shm"), self.index)] {
            if ours.is_some() && Identity::at(&path).is_ok_and(|there| there == ours) {
                // One that stays belongs to no file, which the next one to open the project sees.
                fs::remove_file(&path).noted_at("a file of SQLite's stays behind", &path);
            }
        }
    }

    /// Whether the log that lies there is that of the file that was open.
    pub(super) fn has_its_log(&self, path: &Path) -> bool {
        self.log.is_some() && Identity::at(&log_path(path)).is_ok_and(|there| there == self.log)
    }
}

impl Written {
    fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), time: metadata.modified().ok() }
    }
}
