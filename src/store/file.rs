//! The file itself: making it, telling ours from others, opening it.

use super::error::{Found, StoreError};
use super::guard::{Allowance, IMMUTABLE, TO_READ, bytes_of, guard, immutable_uri};
use super::holder::{Holder, WhyReadOnly};
use super::lock::{Lock, Marks};
use super::migrations::{VERSION, bring_up_to_date, check_version, migrate, version_of};
use super::news::{FileNews, Lost};
use super::paths::has_log;
use super::regular::resolve_link;
use super::same_file::SameFile;
use super::{copy, leftover, rows, schema, search};
use crate::annotation::{LabelSet, SentenceId};
use crate::disk;
use crate::wording;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `NEST`: tells a project from other SQLite files.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"NEST");

/// How long to wait for a backup program or a virus scanner that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What a new project starts with.
#[derive(Clone, Debug, Default)]
pub struct NewProject {
    pub labels: LabelSet,
    pub settings: BTreeMap<String, String>,
}

/// An open project file.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) allowance: Allowance,
    /// Whether the path still stands for the file that is open; `None` where another process may write it.
    pub(super) same_file: Option<SameFile>,
    /// What `project.opening` may be in the file without its log; empty until this process has written it.
    pub(super) openings: Vec<String>,
    /// The same as it was found when the file was opened.
    pub(super) opened_as: Vec<String>,
    /// `project.id`, once this process has begun to write.
    pub(super) id: Option<String>,
    /// What a person should know of how it was opened.
    pub(super) news: Vec<FileNews>,
    /// Folders for the work when it can't stay where it is.
    pub(super) refuges: Vec<PathBuf>,
    pub(super) access: Access, // after the connection: the lock is let go last
}

#[derive(Debug)]
pub(super) enum Access {
    /// This process alone may write.
    Write { lock: Lock },
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
        copy::check_place(path)?;
        let mut lock = Lock::take(path)?;
        let unfinished = copy::unfinished(DOING, path)?;
        fill(unfinished.path(), new).map_err(|source| StoreError::sqlite(DOING, source, path))?;
        let mut set_aside = leftover::make_way_for_new(path)?;
        set_aside = set_foreign_log_aside(path, &mut lock)?.or(set_aside);
        copy::put(unfinished, path)?;
        Ok(Self::open_locked(path, Access::Write { lock })?.noting_set_aside(set_aside))
    }

    /// Opens a project file for reading and writing, and brings an old one up to date.
    ///
    /// # Errors
    /// A file that is not there, not ours, newer than the program, damaged, read-only or open elsewhere; it is
    /// unchanged then.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = &resolve_link(path)?;
        if let Some((holder, _)) = look_before_opening(path)? {
            return Err(StoreError::Locked { holder, path: path.to_owned() });
        }
        check_header(path)?;
        check_writable(path)?;
        let mut lock = Lock::take(path)?;
        let set_aside = set_foreign_log_aside(path, &mut lock)?;
        Ok(Self::open_locked(path, Access::Write { lock })?.noting_set_aside(set_aside))
    }

    /// Opens a project file for reading, also while another process writes it, and where nothing can be written.
    ///
    /// # Errors
    /// A file that is not there, not ours, newer than the program or damaged; one that must be written before it can be
    /// read: an old one that was never brought up to date, one that was not closed.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let path = &resolve_link(path)?;
        if let Some((holder, marks)) = look_before_opening(path)? {
            let why = WhyReadOnly::OpenElsewhere(holder);
            // Who has it open has not seen yet that another file has taken its place.
            let is_replaced = leftover::has_foreign_log(path, &marks);
            return if is_replaced { Self::open_immutable(path, why) } else { Self::open_beside(path, why) };
        }
        check_header(path)?;
        if check_writable(path).is_ok() {
            match Lock::take(path) {
                Ok(mut lock) => {
                    let set_aside = set_foreign_log_aside(path, &mut lock)?;
                    let access = Access::Read { why: WhyReadOnly::AskedFor, _lock: Some(lock) };
                    return Ok(Self::open_locked(path, access)?.noting_set_aside(set_aside));
                }
                Err(StoreError::Locked { holder, .. }) => {
                    return Self::open_beside(path, WhyReadOnly::OpenElsewhere(holder));
                }
                Err(StoreError::Io { .. } | StoreError::NoLocks { .. }) => {} // its folder can't be written
                Err(error) => return Err(error),
            }
        }
        if has_log(path) {
            return Err(StoreError::NotClosed { path: path.to_owned() });
        }
        Self::open_immutable(path, WhyReadOnly::NotWritable)
    }

    /// Opens a project once more that this process writes: a connection for another thread, which reads.
    ///
    /// It looks at the file through SQLite alone. On Unix systems closing any file takes away all locks that the process
    /// has on it, those of SQLite's connections too (see "How To Corrupt An SQLite Database File", 2.2).
    ///
    /// # Errors
    /// What SQLite can't open any more.
    pub(super) fn open_beside_writer(path: &Path) -> Result<Self, StoreError> {
        Self::open_beside(path, WhyReadOnly::AskedFor)
    }

    /// Names folders for the work, the best first, where it is kept when it can't stay beside its project: when the
    /// project's folder is taken away while it is open.
    #[must_use]
    pub fn with_refuges(mut self, refuges: Vec<PathBuf>) -> Self {
        self.refuges = refuges;
        self
    }

    /// What a person should know of how it was opened.
    pub fn news(&self) -> &[FileNews] {
        &self.news
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What tells this project from others, whatever its file is called.
    ///
    /// # Errors
    /// A damaged file.
    pub fn project_id(&self) -> Result<String, StoreError> {
        let read = self.connection.query_row("SELECT id FROM project", [], |row| row.get(0));
        read.map_err(|source| StoreError::sqlite("read the project", source, &self.path))
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
        let before = SameFile::over(path);
        let (mut connection, allowance) = connect_to_write(path)?;
        bring_up_to_date(&mut connection, path)?;
        allowance.renew(bytes_of(path));
        // A copy that SQLite made has another mode.
        let failed = |source| StoreError::sqlite("open the project", source, path);
        connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
        // This look into the file also makes those beside it, which are to be watched too.
        let read = connection.query_row("SELECT opening FROM project", [], |row| row.get(0));
        let opening: Option<String> = read.ok(); // what is damaged is told when it is loaded
        let now = SameFile::over(path);
        if !before.is_of_same_file(&now) {
            return Err(StoreError::TakenAway { why: Lost::Replaced, path: path.to_owned() });
        }
        let mut store = Self::new(connection, allowance, path, access);
        store.same_file = Some(now);
        store.opened_as = match &store.access {
            Access::Write { lock } => lock.marks().openings.iter().cloned().chain(opening).collect(),
            Access::Read { .. } => opening.into_iter().collect(),
        };
        tracing::info!(?path, "a project is open to be written");
        Ok(store)
    }

    fn open_beside(path: &Path, why: WhyReadOnly) -> Result<Self, StoreError> {
        Self::open_as_it_is(path, TO_READ, path, why)
    }

    /// Nobody writes it, so SQLite need not look for others, which takes files beside it.
    fn open_immutable(path: &Path, why: WhyReadOnly) -> Result<Self, StoreError> {
        Self::open_as_it_is(path, IMMUTABLE, Path::new(&immutable_uri(path)), why)
    }

    fn open_as_it_is(path: &Path, flags: OpenFlags, name: &Path, why: WhyReadOnly) -> Result<Self, StoreError> {
        let failed = |source| StoreError::sqlite("open the project", source, path);
        let mut connection = Connection::open_with_flags(name, flags).map_err(failed)?;
        let allowance = guard(&mut connection, bytes_of(path)).map_err(failed)?;
        configure(&connection).map_err(failed)?;
        let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(failed)?;
        if id != APPLICATION_ID {
            return Err(StoreError::Foreign { found: Found::OtherDatabase, path: path.to_owned() });
        }
        let version = version_of(&connection, path)?;
        trust(&connection, version, path)?;
        if version < VERSION {
            return Err(StoreError::Old { path: path.to_owned() });
        }
        Ok(Self::new(connection, allowance, path, Access::Read { why, _lock: None }))
    }

    fn new(connection: Connection, allowance: Allowance, path: &Path, access: Access) -> Self {
        let (openings, opened_as, news, refuges) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            connection,
            path: path.to_owned(),
            allowance,
            same_file: None,
            openings,
            opened_as,
            id: None,
            news,
            refuges,
            access,
        }
    }

    fn noting_set_aside(mut self, log: Option<PathBuf>) -> Self {
        let of = self.path.clone();
        self.news.extend(log.map(|log| FileNews::LogSetAside { log, of }));
        self
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.same_file.as_ref().is_some_and(|file| file.is_lost(&self.path)) {
            // SQLite would merge the log into a file that is nobody's any more and remove another one's by its name.
            self.keep_log_if_possible();
        }
    }
}

/// # Errors
/// What can't be a project, and what is in the way of one.
pub(super) fn look_before_opening(path: &Path) -> Result<Option<(Holder, Marks)>, StoreError> {
    check_kind(path)?;
    leftover::check_companions(path)?;
    // Who has it open may be this process: its file must not be opened and closed then, see `open_beside_writer`.
    Lock::holder(path)
}

pub(super) fn set_foreign_log_aside(path: &Path, lock: &mut Lock) -> Result<Option<PathBuf>, StoreError> {
    let set_aside = leftover::has_foreign_log(path, lock.marks()).then(|| leftover::set_log_aside(path)).transpose()?;
    if !has_log(path) {
        // What the lock says is of a log that is not there any more.
        let forgotten = lock.mark(Marks::default());
        forgotten.map_err(|source| StoreError::io("lock the project", source, path))?;
    }
    Ok(set_aside)
}

/// A connection that may write to a file whose tables are ours; the caller holds the lock.
pub(super) fn connect_to_write(path: &Path) -> Result<(Connection, Allowance), StoreError> {
    let failed = |source| StoreError::sqlite("open the project", source, path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let allowance = guard(&mut connection, bytes_of(path)).map_err(failed)?;
    // Until it is known to be sound, closing must not merge a waiting log into the file.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log(path)).map_err(failed)?;
    configure(&connection).map_err(failed)?;
    trust(&connection, version_of(&connection, path)?, path)?;
    Ok((connection, allowance))
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

pub(super) fn fill(path: &Path, new: &NewProject) -> rusqlite::Result<()> {
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

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -16_000) // KiB
}

/// It is a file. Neither opens it nor waits.
fn check_kind(path: &Path) -> Result<(), StoreError> {
    let metadata = fs::symlink_metadata(path).map_err(|source| StoreError::io("read the project", source, path))?;
    match disk::obstacle(&metadata) {
        None => Ok(()),
        Some(_) if metadata.is_dir() => Err(StoreError::Folder { path: path.to_owned() }),
        Some(found) => Err(StoreError::InTheWay { found, wanted: "a project file", path: path.to_owned() }),
    }
}

/// Looks at the first bytes without SQLite, which would begin to recover or to create.
pub(super) fn check_header(path: &Path) -> Result<(), StoreError> {
    check_kind(path)?;
    let io = |source| StoreError::io("read the project", source, path);
    let mut head = Vec::with_capacity(512);
    let file = disk::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    file.take(512).read_to_end(&mut head).map_err(io)?;
    if let Some(found) = not_ours(&head) {
        return Err(StoreError::Foreign { found, path: path.to_owned() });
    }
    check_version(i64::from(big_endian(&head, 60).unwrap_or_default()), path)?;
    let whole = bytes_of_whole(&head);
    // With a write-ahead log beside it the rest may be there: SQLite puts it in.
    if metadata.len() < whole && !has_log(path) {
        let detail = format!("it has {} and should have {}", wording::bytes(metadata.len()), wording::bytes(whole));
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
    let writable = !is_read_only && disk::open_with(path, OpenOptions::new().write(true)).is_ok();
    if writable { Ok(()) } else { Err(StoreError::ReadOnly { path: path.to_owned() }) }
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
