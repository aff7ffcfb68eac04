//! One process writes a project: `NAME.nestling.lock` beside it, locked for as long as it is open.
//!
//! The lock is the operating system's, so that a crash releases it; the file's text only tells people who holds it.

use super::StoreError;
use super::file::beside;
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

/// `2026-03-01 09:05 UTC`; days to date after Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn utc(ms: u64) -> String {
    let (days, minutes) = (ms / 86_400_000, ms / 60_000 % 1440);
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right_at_the_edges() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_772_355_900_000), "2026-03-01 09:05 UTC");
    }
}
