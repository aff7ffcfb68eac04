//! Everything that can go wrong with a project file, with what to do about it.

use super::guard::{TOO_MUCH_WORK, was_stopped};
use super::holder::{Holder, WhyReadOnly};
use super::news::Lost;
use crate::wording::counted;
use rusqlite::ErrorCode;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no such project; check the name, or make a new project: {}", path.display())]
    Missing { path: PathBuf },
    #[error("a project is one file, but this is a folder; choose a .nestling file: {}", path.display())]
    Folder { path: PathBuf },
    #[error("this is not a Nestling project but {found}: {}", path.display())]
    Foreign { found: Found, path: PathBuf },
    #[error(
        "the project was written by a newer program (file version {found}, this program knows up to {known}); \
         update the program, the file is as it was: {}", path.display()
    )]
    Newer { found: i64, known: i64, path: PathBuf },
    #[error("the project file is damaged ({detail}); it was left as it is; go back to a copy of it, or rescue what can be read: {}", path.display())]
    Damaged { detail: String, path: PathBuf },
    #[error(
        "the project file holds what no Nestling project has: {detail}; nothing of it was run, and the file was left as it \
         is; rescue it (`nestling check --repair`), which reads the rows without it: {}", path.display()
    )]
    Altered { detail: String, path: PathBuf },
    #[error("nothing of the project can be read ({detail}); go back to a copy of it: {}", path.display())]
    BeyondRescue { detail: String, path: PathBuf },
    #[error("the project can't be changed because the file is read-only; make it writable, or work on a copy: {}", path.display())]
    ReadOnly { path: PathBuf },
    #[error(
        "the project is of an older version and must be brought up to date before it can be read; \
         open it once where it can be written, or work on a copy: {}", path.display()
    )]
    Old { path: PathBuf },
    #[error(
        "the project was not closed properly and must be written before it can be read; copy the file and \
         the one with the ending -wal to a folder that can be written, and open it there: {}", path.display()
    )]
    NotClosed { path: PathBuf },
    #[error("the project can't be changed because {why}: {}", path.display())]
    OpenedToRead { why: WhyReadOnly, path: PathBuf },
    #[error("there is a file of this name already; choose another name, or open it: {}", path.display())]
    Exists { path: PathBuf },
    #[error("there is no such folder; make it, or choose another one: {}", path.display())]
    NoFolder { path: PathBuf },
    #[error("the project is open already, by {holder}; close it there first: {}", path.display())]
    Locked { holder: Holder, path: PathBuf },
    #[error(
        "the file system of the folder can't keep two programs from writing the project at once ({source}); \
         copy the project to a disk of this machine and open it there: {}", path.display()
    )]
    NoLocks { source: io::Error, path: PathBuf },
    #[error("there is {found} where {wanted} belongs; it was left alone; move it away or give it another name: {}", path.display())]
    InTheWay { found: &'static str, wanted: &'static str, path: PathBuf },
    #[error("{why}, so it could not be read; try again: {}", path.display())]
    TakenAway { why: Lost, path: PathBuf },
    #[error(
        "{why}, and your work could not be kept elsewhere yet ({cause}); it is in memory and tried again and again; \
         make room or a folder that can be written, or export what you have done: {}", path.display()
    )]
    Homeless { why: Lost, cause: Box<StoreError>, path: PathBuf },
    #[error(
        "another program overwrote the project file while it was open; what is in memory is being written to a new file; \
         the one that was overwritten is left as it is: {}", path.display()
    )]
    Overwritten { path: PathBuf },
    #[error(
        "another program took away the file with the latest changes, and the project file could not be made whole yet \
         because it is being read; it is tried again and again: {}", path.display()
    )]
    LogTaken { path: PathBuf },
    #[error("the disk is full; free some space and try again: {}", path.display())]
    DiskFull { path: PathBuf },
    #[error("could not {doing} ({source}); check the disk and the permissions of the folder: {}", path.display())]
    Io { doing: &'static str, source: io::Error, path: PathBuf },
    #[error("could not {doing} ({source}): {}", path.display())]
    Sqlite { doing: &'static str, source: rusqlite::Error, path: PathBuf },
    #[error(
        "the file is at revision {stored}, but a change that makes revision {got} came; \
         nothing was written, close the project and open it again: {}", path.display()
    )]
    OutOfStep { stored: u64, got: u64, path: PathBuf },
    #[error(
        "the file does not hold what a change expects to find there; nothing was written, \
         close the project and open it again: {}", path.display()
    )]
    NotAsExpected { path: PathBuf },
    #[error("earlier changes could not be saved yet; save them before importing: {}", path.display())]
    Stalled { path: PathBuf },
    /// Somebody has cancelled it.
    #[error("stopped; nothing was changed: {}", path.display())]
    Stopped { path: PathBuf },
    #[error("{} could not be saved ({cause}): {}", counted(*edits, "change", "changes"), path.display())]
    Unsaved { edits: usize, cause: Box<StoreError>, path: PathBuf },
    #[error("the thread that saves has ended; export what you have done, then close the project and open it again: {}", path.display())]
    Closed { path: PathBuf },
}

/// What a file that is no project turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Empty,
    Text,
    Binary,
    /// Another program's SQLite database.
    OtherDatabase,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Found::Empty => "an empty file; choose a .nestling file",
            Found::Text => "a text file; make a project and import the file there",
            Found::Binary => "a file of another program; choose a .nestling file",
            Found::OtherDatabase => "another program's database; choose a .nestling file",
        })
    }
}

/// What only reads.
const READING: [&str; 3] = ["open the project", "read the project", "check the project"];

impl StoreError {
    /// Sorts an error of SQLite by what a person can do about it.
    pub(super) fn sqlite(doing: &'static str, source: rusqlite::Error, path: &Path) -> Self {
        let path = path.to_owned();
        match &source {
            rusqlite::Error::FromSqlConversionFailure(_, _, detail) => {
                return Self::Damaged { detail: detail.to_string(), path };
            }
            // Values that are not of the kind that their column has.
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::QueryReturnedNoRows => return Self::Damaged { detail: source.to_string(), path },
            _ if was_stopped(&source) => return Self::Damaged { detail: TOO_MUCH_WORK.to_owned(), path },
            _ => {}
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TooBig) => {
                Self::Damaged { detail: source.to_string(), path }
            }
            // SQLite's general error where nothing is asked of a file but what is in it: it is of a form that there is not.
            Some(ErrorCode::Unknown) if READING.contains(&doing) => Self::Damaged { detail: source.to_string(), path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::SystemIoFailure) => Self::Io { doing, source: io::Error::other(source), path },
            _ => Self::Sqlite { doing, source, path },
        }
    }

    /// Sorts an error of the file system by what a person can do about it.
    pub(super) fn io(doing: &'static str, source: io::Error, path: &Path) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::IsADirectory => Self::Folder { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            io::ErrorKind::StorageFull => Self::DiskFull { path },
            _ => Self::Io { doing, source, path },
        }
    }
}
