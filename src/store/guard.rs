//! What a file from a stranger may make SQLite do: nothing but hand over rows, with work and memory that follow its size.
//!
//! # Invariants
//! - Triggers are off until the schema was found to be ours, views always; no function of the schema is trusted.
//! - Whatever the pages say (rows that are reached twice, pages that point at each other, a text whose pages belong to
//!   many rows), reading stops after work that no file of this size explains.

use super::paths::log_path;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Steps of SQLite's virtual machine between two looks at what is left.
const STEPS_AT_A_TIME: c_int = 10_000;
/// Steps that any file may take: about a second.
const FREE_STEPS: u64 = 50_000_000;
/// And so many for each byte of it. Checking a sound file of many short rows takes one.
const STEPS_PER_BYTE: u64 = 40;
/// Each byte of text is in the file once. Defaults of columns that were added later are not in it at all.
const TEXT_PER_BYTE: u64 = 2;
const FREE_TEXT: u64 = 1 << 20;

pub(super) const TO_READ: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// For a name of [`immutable_uri`].
pub(super) const IMMUTABLE: OpenFlags = TO_READ.union(OpenFlags::SQLITE_OPEN_URI);

/// What reading a file may still take. Its clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowance(Arc<Left>);

#[derive(Debug, Default)]
struct Left {
    /// In units of [`STEPS_AT_A_TIME`].
    steps: AtomicI64,
    text_bytes: AtomicU64,
    is_lifted: AtomicBool,
}

impl Allowance {
    /// Begins anew, for a file of this size.
    pub(super) fn renew(&self, file_bytes: u64) {
        if self.0.is_lifted.load(Ordering::Relaxed) {
            return;
        }
        let steps = FREE_STEPS.saturating_add(file_bytes.saturating_mul(STEPS_PER_BYTE));
        let units = i64::try_from(steps / u64::from(STEPS_AT_A_TIME.unsigned_abs())).unwrap_or(i64::MAX);
        self.0.steps.store(units, Ordering::Relaxed);
        let text = FREE_TEXT.saturating_add(file_bytes.saturating_mul(TEXT_PER_BYTE));
        self.0.text_bytes.store(text, Ordering::Relaxed);
    }

    /// For a file that has been read: what the program itself does with it takes what it takes.
    pub(super) fn lift(&self) {
        self.0.is_lifted.store(true, Ordering::Relaxed);
        self.0.steps.store(i64::MAX, Ordering::Relaxed);
        self.0.text_bytes.store(u64::MAX, Ordering::Relaxed);
    }

    /// Takes note of a text or blob that was read; `false` when the file has no room for as many.
    pub(super) fn takes(&self, text_bytes: usize) -> bool {
        let left = self.0.text_bytes.load(Ordering::Relaxed).checked_sub(text_bytes as u64);
        self.0.text_bytes.store(left.unwrap_or_default(), Ordering::Relaxed);
        left.is_some()
    }

    fn is_spent(&self) -> bool {
        // Counted by the connection's own thread alone.
        self.0.steps.fetch_sub(1, Ordering::Relaxed) <= 0
    }
}

/// Whether SQLite stopped because the [`Allowance`] was spent.
pub(super) fn was_stopped(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted)
}

pub(super) const TOO_MUCH_WORK: &str = "reading it takes far more work than its size explains";

/// Sets up a connection to a file of this size that nobody has looked into, before the first statement.
pub(super) fn guard(connection: &mut Connection, file_bytes: u64) -> rusqlite::Result<Allowance> {
    for (config, value) in [
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
    ] {
        connection.set_db_config(config, value)?;
    }
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_COLUMN, 100),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 10),
        (Limit::SQLITE_LIMIT_ATTACHED, 1), // VACUUM INTO needs one
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    let allowance = Allowance::default();
    allowance.renew(file_bytes);
    let counted = allowance.clone();
    connection.progress_handler(STEPS_AT_A_TIME, Some(move || counted.is_spent()))?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(allowance)
}

/// The name by which SQLite opens a file without touching what is beside it.
pub(super) fn immutable_uri(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file:");
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push((*byte).into()),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri + "?immutable=1"
}

/// Opens a file by a name only to look for something in it, whose tables may be anything.
pub(super) fn open_to_look(name: impl AsRef<Path>, flags: OpenFlags, path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_with_flags(name, flags)?;
    guard(&mut connection, bytes_of(path))?;
    Ok(connection)
}

/// Bytes of a file and of the write-ahead log beside it.
pub(super) fn bytes_of(path: &Path) -> u64 {
    // Not opened: closing it would take SQLite's locks away.
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    bytes(path).saturating_add(bytes(&log_path(path)))
}
