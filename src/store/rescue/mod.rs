//! Getting out of a damaged file what can still be read, into a new one.
//!
//! # Invariants
//! - The damaged file stays as it is, byte for byte; a copy of it is read.
//! - Row by row, so that a broken page costs the rows on it and no others. Each row that breaks a rule is listed.
//! - Nothing of the file is run: neither its triggers nor its views, nor what computes a column.
//! - Words outlive their sentences: where the rows of sentences are lost, the words are cut into sentences again.
//! - What comes out passes [`Store::check`].
//!
//! Deliberately absent: the history. Its edits expect a state that may be gone; the damaged file still has it.

mod fit;
mod losses;
mod reading;
mod table;

use super::guard::{Allowance, bytes_of, guard};
use super::paths::{has_log, log_path};
use super::{Import, NewProject, Stamp, Store, StoreError, Writer, copy, file, regular};
use crate::disk::{self, Hidden, NewFolder};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What came out of a damaged file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rescued {
    /// The new project.
    pub path: PathBuf,
    /// The excluded ones among them, with what is in them.
    pub documents: usize,
    pub sentences: usize,
    pub mentions: usize,
    /// What could not be read or had to be changed, a line each.
    pub lost: Vec<String>,
}

/// Where the rescued project lies: `NAME.rescued.nestling`.
pub fn rescued_path(project: &Path) -> PathBuf {
    project.with_extension("rescued.nestling")
}

/// Reads what can be read of a project into a new one beside it; see [`rescued_path`]. The old one is not changed.
///
/// # Errors
/// A file that is no project, one of a newer program, one that another process writes, one of which nothing can be read;
/// a rescued project that is there already.
pub fn rescue(path: &Path) -> Result<Rescued, StoreError> {
    let path = &regular::resolve_link(path)?;
    let to = rescued_path(path);
    copy::check_place(&to)?;
    if let Some((holder, _)) = file::look_before_opening(path)? {
        return Err(StoreError::Locked { holder, path: path.to_owned() });
    }
    match file::check_header(path) {
        Ok(()) | Err(StoreError::Damaged { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut lock = super::lock::Lock::take(path)?;
    let set_aside = file::set_foreign_log_aside(path, &mut lock)?;
    let workplace = NewFolder::beside(&to, Hidden::private(".rescue-"));
    let workplace = workplace.map_err(|source| StoreError::io("copy the project", source, path))?;
    let beyond = |error| match error {
        StoreError::Damaged { detail, path } => StoreError::BeyondRescue { detail, path },
        other => other,
    };
    let (connection, allowance) = open_copy(path, workplace.path()).map_err(beyond)?;
    let read = reading::read(&connection, &allowance, path).map_err(beyond)?;
    drop(connection);
    let (found, mut lost, settings) = (read.corpus, read.lost, read.settings);
    lost.extend(set_aside.map(|log| format!("changes of another file, which are set aside in {}", log.display())));

    let new = NewProject { labels: found.labels().clone(), settings };
    let unfinished = workplace.path().join("rescued.nestling");
    let store = Store::create(&unfinished, &new)?;
    let base = store.load()?.corpus;
    let mut rescued = Rescued { path: to.clone(), lost, ..Rescued::default() };
    rescued.documents = found.all_documents().len();
    rescued.sentences = found.all_sentences().count();
    rescued.mentions = found.all_sentences().map(|s| s.mentions().len()).sum();
    let receipt = serde_json::json!({ "rescued_from": path, "lost": rescued.lost }).to_string();
    let writer = Writer::start(store, |_| ())?;
    writer.import(Import::between(&base, found, "Rescue", Stamp::default(), receipt))?;
    writer.close()?;
    let store = Store::open(&unfinished)?;
    if let Some(detail) = store.check()?.into_iter().next() {
        return Err(StoreError::Damaged { detail, path: path.to_owned() });
    }
    store.save_copy(&to)?;
    Ok(rescued)
}

/// Opens a copy, so that SQLite may put in what waits in the write-ahead log.
fn open_copy(path: &Path, workplace: &Path) -> Result<(Connection, Allowance), StoreError> {
    let io = |source| StoreError::io("copy the project", source, path);
    let copied = workplace.join("damaged.nestling");
    copy_file(path, &copied).map_err(io)?;
    fill_up(&copied).map_err(io)?;
    if has_log(path) {
        copy_file(&log_path(path), &log_path(&copied)).map_err(io)?;
    }
    let failed = |source| StoreError::sqlite("read the project", source, path);
    let mut connection = Connection::open(&copied).map_err(failed)?;
    let allowance = guard(&mut connection, bytes_of(&copied)).map_err(failed)?;
    // Of a list of tables that breaks off, those before the break can be read: the first statement fails, the next ones know
    // what it has found.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).map_err(failed)?;
    connection.pragma_update(None, "writable_schema", true).map_err(failed)?;
    let _first = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    connection.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok((connection, allowance))
}

/// A file of the folder, which leads nowhere else, into a new one.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    std::io::copy(&mut disk::open(from)?, &mut File::create_new(to)?).map(drop)
}

/// Puts empty pages in the place of those that a file which was cut off lacks: SQLite reads nothing of one that is too short.
fn fill_up(path: &Path) -> std::io::Result<()> {
    let mut head = [0; 32];
    let mut file = File::open(path)?;
    if file.read_exact(&mut head).is_err() {
        return Ok(()); // too short for a header: SQLite says so
    }
    let (metadata, whole) = (file.metadata()?, file::bytes_of_whole(&head));
    // A header that is damaged itself may ask for any size.
    if metadata.len() >= whole || whole / 64 >= metadata.len() {
        return Ok(());
    }
    File::options().write(true).open(path)?.set_len(whole)
}
