//! One process writes a project: `NAME.nestling.lock` beside it, locked for as long as it is open.
//!
//! The lock is the operating system's, so that a crash releases it; the file's text only tells people who holds it.

use super::StoreError;
use super::file::beside;
use crate::wording::utc;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Who has a project open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Holder {
    /// Of the person, as the operating system has it.
    pub name: Option<String>,
    pub process: Option<u32>,
    /// Since 1970, UTC.
    pub since_ms: Option<u64>,
}

/// Held while a project is open; dropping it lets the next one in.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    /// # Errors
    /// [`StoreError::Locked`] when another one holds it; a folder that can't be written.
    pub(super) fn take(project: &Path) -> Result<Self, StoreError> {
        let path = lock_path(project);
        let failed = |source| StoreError::Io { doing: "lock the project", source, path: path.clone() };
        loop {
            let mut file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked { holder: Holder::read(&mut file), path: project.to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            if is_still_there(&file, &path).map_err(failed)? {
                Holder::this_process().write(&mut file).map_err(failed)?;
                return Ok(Self { _file: file, path });
            }
        }
    }

    /// Who holds it, as far as can be told without taking it: for those who may not write there.
    pub(super) fn holder(project: &Path) -> Option<Holder> {
        let mut file = File::open(lock_path(project)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(Holder::read(&mut file)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// A project of this name is open, here or elsewhere.
pub fn is_locked(project: &Path) -> bool {
    Lock::holder(project).is_some()
}

/// `NAME.nestling.lock`.
fn lock_path(project: &Path) -> PathBuf {
    beside(project, ".lock")
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(unix) {
            // Best effort: a lock file that stays behind is not locked and keeps nobody out.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// False when the last holder removed the file between our opening and locking it.
#[cfg(unix)]
fn is_still_there(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Always: only Unix systems remove the file.
#[cfg(not(unix))]
fn is_still_there(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

impl Holder {
    fn this_process() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        Self {
            name: ["USER", "USERNAME", "LOGNAME"].iter().find_map(|k| std::env::var(k).ok()).filter(|n| !n.is_empty()),
            process: Some(std::process::id()),
            since_ms: since.and_then(|s| u64::try_from(s.as_millis()).ok()),
        }
    }

    fn write(&self, file: &mut File) -> io::Result<()> {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        let Self { name, process, since_ms } = self;
        let (process, since_ms) = (process.unwrap_or_default(), since_ms.unwrap_or_default());
        write!(file, "{process}\n{since_ms}\n{}\n", name.as_deref().unwrap_or_default())
    }

    /// As much as can be read: the text is for people only, and on some systems a locked file can't be read.
    fn read(file: &mut File) -> Self {
        let mut text = String::new();
        if file.read_to_string(&mut text).is_err() {
            return Self::default();
        }
        let mut lines = text.lines();
        Self {
            process: lines.next().and_then(|l| l.parse().ok()),
            since_ms: lines.next().and_then(|l| l.parse().ok()),
            name: lines.next().filter(|l| !l.is_empty()).map(str::to_owned),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_deref().unwrap_or("another program"))?;
        if let Some(process) = self.process {
            write!(f, " (process {process})")?;
        }
        if let Some(ms) = self.since_ms {
            write!(f, " since {}", utc(ms))?;
        }
        Ok(())
    }
}
