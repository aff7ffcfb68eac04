//! The file itself: making it, telling ours from others, opening it.

use super::guard::{Allowance, bytes_of, guard};
use super::lock::Lock;
use super::migrations::{bring_up_to_date, check_version, migrate, version_of};
use super::{Found, Holder, StoreError, copy, rows, schema, search};
use crate::annotation::{LabelSet, SentenceId};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `NEST`: tells a project from other SQLite files.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"NEST");

/// How long to wait for a backup program or a virus scanner that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const TO_READ: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// What a new project starts with.
#[derive(Clone, Debug, Default)]
pub struct NewProject {
    pub labels: LabelSet,
    pub settings: BTreeMap<String, String>,
}

/// Why a project was opened for reading only.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WhyReadOnly {
    #[error("it was opened for reading")]
    AskedFor,
    #[error("it is open already, by {0}")]
    OpenElsewhere(Holder),
    #[error("the file or its folder can't be written")]
    NotWritable,
}

/// An open project file.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) allowance: Allowance,
    access: Access, // after the connection: the lock is let go last
}

#[derive(Debug)]
enum Access {
    /// This process alone may write.
    Write { _lock: Lock },
    /// Another process may write meanwhile. The lock is held where nobody had it, so that the file can be opened whole.
    Read { why: WhyReadOnly, _lock: Option<Lock> },
}

impl Store {
    /// Makes a project file and opens it. The file appears whole or not at all.
    ///
    /// # Errors
    /// A file of this name, a folder that is not there or can't be written.
    pub fn create(path: &Path, new: &NewProject) -> Result<Self, StoreError> {
        const DOING: &str = "make the project file";
        let folder = copy::folder_of(path)?;
        let lock = Lock::take(path)?;
        let unfinished = copy::unfinished_in(&folder).map_err(|source| StoreError::io(DOING, source, path))?;
        fill(unfinished.path(), new).map_err(|source| StoreError::sqlite(DOING, source, path))?;
        copy::put(unfinished, path)?;
        Self::open_locked(path, Access::Write { _lock: lock })
    }

    /// Opens a project file for reading and writing, and brings an old one up to date.
    ///
    /// # Errors
    /// A file that is not there, not ours, newer than the program, damaged, read-only or open elsewhere; it is
    /// unchanged then.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        check_header(path)?;
        check_writable(path)?;
        let lock = Lock::take(path)?;
        Self::open_locked(path, Access::Write { _lock: lock })
    }

    /// Opens a project file for reading, also while another process writes it, and where nothing can be written.
    ///
    /// # Errors
    /// A file that is not there, not ours, newer than the program or damaged; one that must be written before it can be
    /// read: an old one that was never brought up to date, one that was not closed.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        check_header(path)?;
        if check_writable(path).is_ok() {
            match Lock::take(path) {
                Ok(lock) => {
                    let access = Access::Read { why: WhyReadOnly::AskedFor, _lock: Some(lock) };
                    return Self::open_locked(path, access);
                }
                Err(StoreError::Locked { holder, .. }) => {
                    return Self::open_as_it_is(path, TO_READ, path, WhyReadOnly::OpenElsewhere(holder));
                }
                Err(StoreError::Io { .. }) => {} // its folder can't be written
                Err(error) => return Err(error),
            }
        }
        // Who may not write it may find it open by somebody who may.
        if let Some(holder) = Lock::holder(path) {
            return Self::open_as_it_is(path, TO_READ, path, WhyReadOnly::OpenElsewhere(holder));
        }
        if has_log(path) {
            return Err(StoreError::NotClosed { path: path.to_owned() });
        }
        Self::open_immutable(path)
    }

    /// Opens a project once more that this process writes: a connection for another thread, which reads.
    ///
    /// It looks at the file through SQLite alone. On Unix systems closing any file takes away all locks that the process
    /// has on it, those of SQLite's connections too (see "How To Corrupt An SQLite Database File", 2.2).
    ///
    /// # Errors
    /// What SQLite can't open any more.
    pub fn open_beside_writer(path: &Path) -> Result<Self, StoreError> {
        Self::open_as_it_is(path, TO_READ, path, WhyReadOnly::AskedFor)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why it can't be written; `None` where it can.
    pub fn read_only(&self) -> Option<&WhyReadOnly> {
        match &self.access {
            Access::Write { .. } => None,
            Access::Read { why, .. } => Some(why),
        }
    }

    /// Copies the project, as it is on disk now, into a new file, which appears whole or not at all. Models are not
    /// in it: they lie beside it and can be made again.
    ///
    /// # Errors
    /// A file of this name, a folder that is not there or can't be written, a full disk.
    pub fn save_copy(&self, to: &Path) -> Result<(), StoreError> {
        copy::copy_to(&self.connection, to)
    }

    /// The sentences that hold the words of `query` in a row, the last word as the beginning of one; by their ids.
    /// Those of documents that are not there are among them. Case, diacritics and punctuation don't matter.
    ///
    /// # Errors
    /// A damaged file.
    pub fn find(&self, query: &str) -> Result<Vec<SentenceId>, StoreError> {
        self.begin_reading();
        search::find(&self.connection, query).map_err(|source| StoreError::sqlite("search", source, &self.path))
    }

    fn open_locked(path: &Path, access: Access) -> Result<Self, StoreError> {
        let failed = |source| StoreError::sqlite("open the project", source, path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let allowance = guard(&mut connection, bytes_of(path)).map_err(failed)?;
        // Until it is known to be sound, closing must not merge a waiting log into the file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log(path)).map_err(failed)?;
        configure(&connection).map_err(failed)?;
        trust(&connection, version_of(&connection, path)?, path)?;
        bring_up_to_date(&mut connection, path)?;
        allowance.renew(bytes_of(path));
        // A copy that SQLite made has another mode.
        connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
        Ok(Self { connection, path: path.to_owned(), allowance, access })
    }

    /// Nobody writes it, so SQLite need not look for others, which takes files beside it.
    fn open_immutable(path: &Path) -> Result<Self, StoreError> {
        let flags = TO_READ | OpenFlags::SQLITE_OPEN_URI;
        Self::open_as_it_is(path, flags, Path::new(&immutable_uri(path)), WhyReadOnly::NotWritable)
    }

    fn open_as_it_is(path: &Path, flags: OpenFlags, name: &Path, why: WhyReadOnly) -> Result<Self, StoreError> {
        let failed = |source| StoreError::sqlite("open the project", source, path);
        let mut connection = Connection::open_with_flags(name, flags).map_err(failed)?;
        let allowance = guard(&mut connection, bytes_of(path)).map_err(failed)?;
        configure(&connection).map_err(failed)?;
        let version = version_of(&connection, path)?;
        trust(&connection, version, path)?;
        if version < super::migrations::VERSION {
            return Err(StoreError::Old { path: path.to_owned() });
        }
        Ok(Self { connection, path: path.to_owned(), allowance, access: Access::Read { why, _lock: None } })
    }
}

/// Where the models of a project lie: `NAME.models` beside `NAME.nestling`.
pub fn models_dir(project: &Path) -> PathBuf {
    project.with_extension("models")
}

fn fill(path: &Path, new: &NewProject) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    configure(&connection)?;
    migrate(&mut connection, 0)?;
    let transaction = connection.transaction()?;
    rows::insert_project(&transaction, &new.labels, &new.settings)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// Lets the triggers run, once the schema is known to be ours.
///
/// # Errors
/// What is in the schema and not ours.
fn trust(connection: &Connection, version: i64, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::sqlite("open the project", source, path);
    let differences = schema::compare(connection, version).map_err(failed)?;
    if let Some(detail) = differences.in_words() {
        return Err(StoreError::Altered { detail, path: path.to_owned() });
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true).map(drop).map_err(failed)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -16_000) // KiB
}

/// Looks at the first bytes without SQLite, which would begin to recover or to create.
pub(super) fn check_header(path: &Path) -> Result<(), StoreError> {
    let io = |source| StoreError::io("read the project", source, path);
    let metadata = fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return Err(StoreError::Folder { path: path.to_owned() });
    }
    let mut head = Vec::with_capacity(512);
    File::open(path).and_then(|f| f.take(512).read_to_end(&mut head)).map_err(io)?;
    if let Some(found) = not_ours(&head) {
        return Err(StoreError::Foreign { found, path: path.to_owned() });
    }
    check_version(i64::from(big_endian(&head, 60).unwrap_or_default()), path)?;
    let whole = bytes_of_whole(&head);
    // With a write-ahead log beside it the rest may be there: SQLite puts it in.
    if metadata.len() < whole && !has_log(path) {
        let detail = format!("it has {} bytes and should have {whole}", metadata.len());
        return Err(StoreError::Damaged { detail, path: path.to_owned() });
    }
    Ok(())
}

/// How many bytes a database has, by its first ones (SQLite's file format, 1.3: size of a page, number of pages).
pub(super) fn bytes_of_whole(head: &[u8]) -> u64 {
    let page_bytes = match head.get(16..18) {
        Some(&[0, 1]) => 65_536,
        Some(&[high, low]) => u64::from(u16::from_be_bytes([high, low])),
        _ => 0,
    };
    let pages = big_endian(head, 28).and_then(|pages| u64::try_from(pages).ok()).unwrap_or_default();
    page_bytes * pages
}

fn check_writable(path: &Path) -> Result<(), StoreError> {
    let is_read_only = fs::metadata(path).is_ok_and(|m| m.permissions().readonly());
    let writable = !is_read_only && OpenOptions::new().write(true).open(path).is_ok();
    if writable { Ok(()) } else { Err(StoreError::ReadOnly { path: path.to_owned() }) }
}

/// The name by which SQLite opens a file without touching what is beside it.
fn immutable_uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for byte in absolute.to_string_lossy().bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(byte.into()),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

fn not_ours(head: &[u8]) -> Option<Found> {
    if head.starts_with(b"SQLite format 3\0") && head.len() >= 100 {
        return (big_endian(head, 68) != Some(APPLICATION_ID)).then_some(Found::OtherDatabase);
    }
    let text = head.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace());
    Some(match () {
        () if head.is_empty() => Found::Empty,
        () if text => Found::Text,
        () => Found::Binary,
    })
}

fn big_endian(head: &[u8], at: usize) -> Option<i32> {
    head.get(at..)?.first_chunk().map(|bytes| i32::from_be_bytes(*bytes))
}

/// The write-ahead log of SQLite beside a file.
pub(super) fn log_path(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// The path of a file whose name is another one's and more.
pub(super) fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

fn has_log(path: &Path) -> bool {
    fs::metadata(log_path(path)).is_ok_and(|m| m.len() > 0)
}
