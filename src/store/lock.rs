//! One process writes a project: `NAME.nestling.lock` beside it, locked for as long as it is open.
//!
//! The lock is the operating system's, so that a crash releases it. The file's text tells people who holds it, and the
//! next one to open the project which write-ahead log belongs to which file ([`Marks`]):
//!
//! ```text
//! 4711                   process
//! 1700000000000          since, in milliseconds since 1970
//! anna                   who
//! host harbour-pc        from here on names and values, in any order; older programs wrote only the lines above
//! file 2049 131077       device and inode of the project
//! opening 6f0c…          once or more: what `project.opening` may be in the file without its log
//! log 305419896          how the log is marked
//! ```

use super::error::StoreError;
use super::holder::{Holder, clean};
use super::paths::beside;
use super::regular;
use crate::disk::{self, Identity, Noted as _};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A lock's text is shorter than that.
const MOST_BYTES: u64 = 4096;

/// Somebody who only looks who holds the lock holds it for a moment.
const TRIES: u32 = 6;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// Which file a write-ahead log belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Marks {
    /// What `project.opening` may be in the file itself, without what its log says. Empty where nothing is known.
    pub openings: Vec<String>,
    pub file: Option<Identity>,
    /// The first salt of the log (SQLite's file format, 4.1), which grows by one each time that the log begins anew.
    pub log: Option<u32>,
}

/// Held while a project is open; dropping it lets the next one in.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
    identity: Identity,
    holder: Holder,
    marks: Marks,
    stays: bool,
}

impl Lock {
    /// Takes over the marks of a holder who has not let go of it properly.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another one holds it; what is no lock of a project; a folder that can't be written.
    pub(super) fn take(project: &Path) -> Result<Self, StoreError> {
        let path = lock_path(project);
        let failed = |source| StoreError::Io { doing: "lock the project", source, path: path.clone() };
        let mut tries = 0;
        loop {
            regular::check_free_for(LOCK, &path)?;
            let mut file = match open_or_create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue, // made meanwhile
                opened => opened.map_err(failed)?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(BETWEEN_TRIES);
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    let holder = read(&mut file).map(|(holder, _)| holder).unwrap_or_default();
                    return Err(StoreError::Locked { holder, path: project.to_owned() });
                }
                Err(TryLockError::Error(source)) if has_no_locks(&source) => {
                    return Err(StoreError::NoLocks { source, path: project.to_owned() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            let identity = Identity::of(&file.metadata().map_err(failed)?);
            // The last holder may have removed it between our opening and locking it.
            if Identity::at(&path).map_err(failed)? != Some(identity) {
                continue;
            }
            let Some((_, marks)) = read(&mut file) else {
                let found = "a file that is no lock of a project";
                return Err(StoreError::InTheWay { found, wanted: LOCK, path });
            };
            let mut lock = Self { file, path, identity, holder: Holder::this_process(), marks, stays: false };
            lock.write().map_err(|source| StoreError::io("lock the project", source, project))?;
            return Ok(lock);
        }
    }

    /// Who holds it, as far as can be told without taking it, and what they say of the file.
    ///
    /// # Errors
    /// What is no file.
    pub(super) fn holder(project: &Path) -> Result<Option<(Holder, Marks)>, StoreError> {
        let path = lock_path(project);
        regular::check_free_for(LOCK, &path)?;
        let Ok(mut file) = disk::open(&path) else { return Ok(None) };
        Ok(match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(read(&mut file).unwrap_or_default()),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        })
    }

    pub(super) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Says in the file, and on the disk, which log belongs to the project from now on.
    ///
    /// # Errors
    /// What can go wrong with a disk.
    pub(super) fn mark(&mut self, marks: Marks) -> io::Result<()> {
        if marks != self.marks {
            self.marks = marks;
            self.write()?;
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Whether it lies where others look for it.
    pub(super) fn is_there(&self) -> io::Result<bool> {
        Ok(Identity::at(&self.path)? == Some(self.identity))
    }

    /// Its file stays when it is let go, for what it says of a log that could not be put out of the way.
    pub(super) fn stay(&mut self) {
        self.stays = true;
    }

    /// In one write, so that a reader and a kill find the old text or the new one.
    fn write(&mut self) -> io::Result<()> {
        let text = to_text(&self.holder, &self.marks);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len() as u64)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(unix) && !self.stays && self.is_there().unwrap_or(false) {
            // Best effort: a lock file that stays behind is not locked and keeps nobody out.
            fs::remove_file(&self.path).noted_at("the lock file stays behind", &self.path);
        }
    }
}

/// A project of this name is open, here or elsewhere.
pub fn is_locked(project: &Path) -> bool {
    let project = regular::resolve_link(project).unwrap_or_else(|_| project.to_owned());
    Lock::holder(&project).is_ok_and(|holder| holder.is_some())
}

/// What a lock is called where something else is in its place.
const LOCK: &str = "the project's lock";

/// `NAME.nestling.lock`.
pub(super) fn lock_path(project: &Path) -> PathBuf {
    beside(project, ".lock")
}

fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match disk::open_with(path, &options) {
        // Only what is not there is made: no link is followed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => options.create_new(true).open(path),
        opened => opened,
    }
}

/// What file systems say that can't lock: some network ones, and some of containers and phones.
fn has_no_locks(error: &io::Error) -> bool {
    const NO_LOCK: &[i32] = if cfg!(target_os = "linux") {
        &[37, 38, 95] // ENOLCK, ENOSYS, EOPNOTSUPP
    } else if cfg!(unix) {
        &[45, 77, 78, 102] // EOPNOTSUPP, ENOLCK, ENOSYS, and ENOTSUP of macOS and the BSDs
    } else {
        &[]
    };
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error().is_some_and(|code| NO_LOCK.contains(&code))
}

fn to_text(holder: &Holder, marks: &Marks) -> String {
    let Holder { name, host, process, since_ms } = holder;
    let (process, since_ms) = (process.unwrap_or_default(), since_ms.unwrap_or_default());
    let mut text = format!("{process}\n{since_ms}\n{}\n", name.as_deref().unwrap_or_default());
    // Writing to a string does not fail.
    let _ = host.iter().try_for_each(|host| writeln!(text, "host {host}"));
    let _ = marks.file.iter().try_for_each(|file| writeln!(text, "file {} {}", file.device, file.inode));
    let _ = marks.log.iter().try_for_each(|salt| writeln!(text, "log {salt}"));
    let _ = marks.openings.iter().try_for_each(|opening| writeln!(text, "opening {opening}"));
    text
}

/// `None` for a text that no lock has. On some systems one that is held elsewhere can't be read: nobody is known then.
fn read(file: &mut File) -> Option<(Holder, Marks)> {
    let mut bytes = Vec::new();
    let limit = MOST_BYTES + 1;
    if file.seek(SeekFrom::Start(0)).and_then(|_| file.take(limit).read_to_end(&mut bytes)).is_err() {
        return Some(Default::default());
    }
    from_text(std::str::from_utf8(&bytes).ok().filter(|text| text.len() < limit as usize)?)
}

fn from_text(text: &str) -> Option<(Holder, Marks)> {
    let (mut holder, mut marks) = (Holder::default(), Marks::default());
    if text.is_empty() {
        return Some((holder, marks)); // made, and ended before it was written
    }
    let mut lines = text.lines();
    holder.process = Some(lines.next()?.parse().ok()?);
    holder.since_ms = lines.next().map(str::parse).transpose().ok()?;
    holder.name = lines.next().and_then(clean);
    for (key, value) in lines.filter_map(|line| line.split_once(' ')) {
        match key {
            "host" => holder.host = clean(value),
            "log" => marks.log = value.parse().ok(),
            "opening" => marks.openings.push(value.to_owned()),
            "file" => {
                let number = |text: &str| text.parse().ok();
                let numbers = value.split_once(' ').and_then(|(d, i)| Some((number(d)?, number(i)?)));
                marks.file = numbers.map(|(device, inode)| Identity { device, inode });
            }
            _ => {} // of a newer program
        }
    }
    Some((holder, marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lock_says_comes_back() {
        let holder = Holder {
            name: Some("anna".to_owned()),
            host: Some("harbour-pc".to_owned()),
            process: Some(4711),
            since_ms: Some(1_700_000_000_000),
        };
        let file = Some(Identity { device: 7, inode: 8 });
        let marks = Marks { openings: vec!["a1".to_owned(), "b2".to_owned()], file, log: Some(u32::MAX) };
        assert_eq!(from_text(&to_text(&holder, &marks)), Some((holder.clone(), marks)));
        let said = holder.to_string();
        assert!(said.starts_with("anna on harbour-pc (process 4711) since 2023-11-14"), "{said}");
        // As older programs wrote it, and one that was cut short.
        let old = from_text("4711\n1700000000000\nanna\n").unwrap();
        assert_eq!(old, (Holder { host: None, ..holder }, Marks::default()));
        assert_eq!(from_text(""), Some(Default::default()));
    }

    #[test]
    fn what_is_no_lock_is_told_from_one() {
        for text in ["export PATH=/bin\n", "12 monkeys\n", "4711\nnever\nanna\n", "\n4711\n"] {
            assert_eq!(from_text(text), None, "{text:?}");
        }
        let (holder, _) = from_text("1\n2\nA\u{1b}[31m\u{7}nna\n").unwrap();
        assert_eq!(holder.name.as_deref(), Some("A[31mnna"));
        assert_eq!(from_text(&format!("1\n2\n{}\n", "x".repeat(500))).unwrap().0.name.map(|n| n.len()), Some(64));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_without_locks_is_told_from_other_faults() {
        assert!(has_no_locks(&io::Error::from_raw_os_error(95)) && has_no_locks(&io::Error::from_raw_os_error(37)));
        assert!(!has_no_locks(&io::Error::from_raw_os_error(13)), "permission denied");
    }
}
