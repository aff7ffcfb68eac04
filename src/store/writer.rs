//! The thread that writes.
//!
//! ```text
//! session ── jobs (bounded) ──> nestling-writer ── events (callback) ──> session
//!                               queue: written in order, several in one SQLite transaction
//! ```
//!
//! # Invariants
//! - A job leaves the queue only after the COMMIT of its transaction; what failed stays, with all that came after it,
//!   until [`Writer::retry`], [`Writer::flush`] or the closing writes it.
//! - An import is not queued: it is on disk when [`Writer::import`] returns, or nothing of it is.
//! - Closing writes what waits and merges the write-ahead log, so that the one file is whole.

use super::import::Import;
use super::measurement::{Measurement, set_measurement};
use super::rows::{self, RowError};
use super::{ModelRecord, Store, StoreError, Watch, json, names};
use crate::annotation::{ModelId, SentenceId, SentenceSuggestions, Step, Suggestion, Transaction};
use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::{Connection, TransactionBehavior, params};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::thread::{Builder, JoinHandle};

/// Jobs that wait in the channel before a sender has to; a person can't be that fast.
const WAITING_JOBS: usize = 1024;

/// Jobs of one SQLite transaction at most, while none has failed.
const GROUP_JOBS: usize = 256;

/// When and by whom something was done, and what was seen then.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stamp {
    pub author: String,
    /// Since 1970, UTC.
    pub time_ms: i64,
    /// That the person worked since the last entry.
    pub active_ms: i64,
    /// Keys and buttons that they pressed since then.
    pub presses: u32,
    pub visible: Vec<VisibleSuggestions>,
}

/// Suggestions that were on screen.
#[derive(Clone, PartialEq, Debug)]
pub struct VisibleSuggestions {
    pub sentence: SentenceId,
    pub model: ModelId,
    pub spans: Vec<Suggestion>,
}

/// A transaction that the corpus has applied.
#[derive(Clone, PartialEq, Debug)]
pub struct LogEntry {
    pub step: Step,
    pub transaction: Transaction,
    /// As [`Corpus::apply`](crate::annotation::Corpus::apply) returned it.
    pub inverse: Transaction,
    pub stamp: Stamp,
    /// Of the corpus after it.
    pub revision: u64,
}

/// What the writer reports, from its own thread.
#[derive(Debug)]
pub enum WriterEvent {
    /// Everything up to this revision is on disk.
    Saved { revision: u64 },
    /// Nothing was lost: what failed and what comes after it waits for [`Writer::retry`].
    Failed {
        /// Of the first edit that is not on disk; none when only other things wait.
        revision: Option<u64>,
        error: StoreError,
    },
}

/// Sends changes of a project to the thread that writes them. Dropping it closes the project.
#[derive(Debug)]
pub struct Writer {
    jobs: Sender<Job>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
    path: PathBuf,
}

impl Writer {
    /// `on_event` is called on the writer's thread: it must return soon and not wait for the writer.
    ///
    /// # Errors
    /// A system that gives no thread.
    pub fn start(store: Store, on_event: impl FnMut(WriterEvent) + Send + 'static) -> Result<Self, StoreError> {
        let (jobs, inbox) = bounded(WAITING_JOBS);
        let path = store.path.clone();
        let worker = Worker { store, queue: VecDeque::new(), stalled: false, on_event: Box::new(on_event) };
        let thread = Builder::new().name("nestling-writer".to_owned()).spawn(move || worker.run(&inbox));
        let thread = thread.map_err(|source| StoreError::io("start the thread that saves", source, &path))?;
        Ok(Self { jobs, thread: Some(thread), path })
    }

    /// Its thread has ended: nothing is saved any more.
    ///
    /// # Errors
    /// That it has.
    pub fn check(&self) -> Result<(), StoreError> {
        let has_ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
        if has_ended { Err(self.closed()) } else { Ok(()) }
    }

    /// Saves an edit. Returns at once; [`WriterEvent::Saved`] says when it is on disk.
    ///
    /// # Errors
    /// A closed project; so for the others.
    pub fn apply(&self, entry: LogEntry) -> Result<(), StoreError> {
        self.send(Job::Write(Write::Apply(Box::new(entry))))
    }

    /// Puts what a model says of some sentences in the place of what an older one said.
    pub fn suggestions(&self, batch: Vec<(SentenceId, SentenceSuggestions)>) -> Result<(), StoreError> {
        self.send(Job::Write(Write::Suggestions(batch)))
    }

    /// Adds a model, or puts another manifest in its place.
    pub fn model(&self, model: ModelRecord) -> Result<(), StoreError> {
        self.send(Job::Write(Write::Model(model)))
    }

    pub fn set_current_model(&self, model: Option<ModelId>) -> Result<(), StoreError> {
        self.send(Job::Write(Write::CurrentModel(model)))
    }

    /// Sets a value, or removes it.
    pub fn setting(&self, key: impl Into<String>, value: Option<String>) -> Result<(), StoreError> {
        self.send(Job::Write(Write::Setting { key: key.into(), value, matters: true }))
    }

    /// The same of what is nice to have: closing does not fail for it.
    pub fn convenience(&self, key: impl Into<String>, value: Option<String>) -> Result<(), StoreError> {
        self.send(Job::Write(Write::Setting { key: key.into(), value, matters: false }))
    }

    /// Adds a model's score, or puts it in the place of one on the same split.
    pub fn measurement(&self, measurement: Measurement) -> Result<(), StoreError> {
        self.send(Job::Write(Write::Measurement(measurement)))
    }

    /// Writes an import and waits for it: not for the window's thread.
    ///
    /// # Errors
    /// Edits that could not be saved or that came since [`Import::base_revision`], and all that can go wrong with a
    /// disk; the file is as it was then.
    pub fn import(&self, import: Import) -> Result<(), StoreError> {
        self.import_watched(import, &Watch::default())
    }

    /// The same, sentence by sentence in view of somebody who may cancel it.
    ///
    /// # Errors
    /// Also [`StoreError::Stopped`]; the file is as it was then.
    pub fn import_watched(&self, import: Import, watch: &Watch) -> Result<(), StoreError> {
        self.ask(|reply| Job::Import(Box::new(import), watch.clone(), reply))
    }

    /// Waits until all that was sent is on disk, trying again what failed: not for the window's thread.
    ///
    /// # Errors
    /// What still can't be written; it stays in the queue.
    pub fn flush(&self) -> Result<(), StoreError> {
        self.ask(Job::Flush)
    }

    /// Tries again what failed. Returns at once.
    pub fn retry(&self) -> Result<(), StoreError> {
        self.send(Job::Retry)
    }

    /// Writes what waits, makes the one file whole and lets go of it.
    ///
    /// # Errors
    /// [`StoreError::Unsaved`] when edits are lost by closing; the file holds everything before them.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.stop()
    }

    fn stop(&mut self) -> Result<(), StoreError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        let _ = self.jobs.send(Job::Close); // an error says that the thread has ended, which joining tells too
        thread.join().unwrap_or(Err(StoreError::Closed { path: self.path.clone() }))
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.send(job).map_err(|_| self.closed())
    }

    fn ask(&self, job: impl FnOnce(Reply) -> Job) -> Result<(), StoreError> {
        let (reply, answer) = bounded(1);
        self.send(job(reply))?;
        answer.recv().unwrap_or_else(|_| Err(self.closed()))
    }

    fn closed(&self) -> StoreError {
        StoreError::Closed { path: self.path.clone() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.stop(); // who wants to know calls close()
    }
}

type Reply = Sender<Result<(), StoreError>>;

#[derive(Debug)]
enum Job {
    Write(Write),
    Import(Box<Import>, Watch, Reply),
    Flush(Reply),
    Retry,
    Close,
}

/// What is queued until it is on disk. Writing one again changes nothing, but for an edit, which knows its revision.
#[derive(Debug)]
enum Write {
    Apply(Box<LogEntry>),
    Suggestions(Vec<(SentenceId, SentenceSuggestions)>),
    Model(ModelRecord),
    CurrentModel(Option<ModelId>),
    Setting { key: String, value: Option<String>, matters: bool },
    Measurement(Measurement),
}

struct Worker {
    store: Store,
    queue: VecDeque<Write>,
    /// The last attempt failed: wait until somebody asks for another.
    stalled: bool,
    on_event: Box<dyn FnMut(WriterEvent) + Send>,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Job>) -> Result<(), StoreError> {
        let mut next = inbox.recv().ok();
        while let Some(job) = next.take() {
            match job {
                Job::Write(write) => self.queue.push_back(write),
                Job::Import(import, watch, reply) => {
                    let _ = reply.send(self.import(&import, &watch)); // nobody waits any more: the event tells
                }
                Job::Flush(reply) => {
                    let _ = reply.send(self.write_queue());
                }
                Job::Retry => self.write_and_report(),
                Job::Close => break,
            }
            next = inbox.try_recv().ok();
            let more_to_come = matches!(next, Some(Job::Write(_))) && self.queue.len() < GROUP_JOBS;
            if !more_to_come && !self.stalled {
                self.write_and_report();
            }
            if next.is_none() {
                next = inbox.recv().ok();
            }
        }
        self.close()
    }

    fn write_and_report(&mut self) {
        if let Err(error) = self.write_queue() {
            let revision = self.queue.iter().find_map(Write::revision);
            (self.on_event)(WriterEvent::Failed { revision, error });
        }
    }

    /// Writes all of the queue in one transaction, or nothing of it.
    fn write_queue(&mut self) -> Result<(), StoreError> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let written = self.transaction("save the changes", |tx, worker| {
            let mut stored = rows::revision(tx)?;
            for write in &worker.queue {
                // A COMMIT that reported an error may have reached the disk all the same.
                let is_there = worker.stalled && write.revision().is_some_and(|revision| revision <= stored);
                if !is_there {
                    write.insert(tx, &mut stored)?;
                }
            }
            Ok(())
        });
        let was_stalled = std::mem::replace(&mut self.stalled, written.is_err());
        written?;
        let mut revisions: Vec<u64> = self.queue.drain(..).filter_map(|write| write.revision()).collect();
        if was_stalled && revisions.is_empty() {
            // Only settings or suggestions waited; whoever heard of the failure must hear that it is over.
            revisions.extend(rows::revision(&self.store.connection).ok());
        }
        for revision in revisions {
            (self.on_event)(WriterEvent::Saved { revision });
        }
        Ok(())
    }

    fn import(&mut self, import: &Import, watch: &Watch) -> Result<(), StoreError> {
        if self.stalled {
            return Err(StoreError::Stalled { path: self.store.path.clone() });
        }
        self.transaction("import", |tx, _| {
            let stored = rows::revision(tx)?;
            if stored != import.base_revision() {
                return Err(WriteError::Gap { stored, got: import.revision() });
            }
            Ok(import.insert(tx, watch)?)
        })?;
        (self.on_event)(WriterEvent::Saved { revision: import.revision() });
        Ok(())
    }

    fn transaction(
        &mut self,
        doing: &'static str,
        body: impl FnOnce(&Connection, &Self) -> Result<(), WriteError>,
    ) -> Result<(), StoreError> {
        let connection = &self.store.connection;
        let run = || {
            let tx = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
            body(&tx, self)?;
            Ok(tx.commit()?)
        };
        run().map_err(|error: WriteError| self.explain(doing, error))
    }

    fn explain(&self, doing: &'static str, error: WriteError) -> StoreError {
        let path = self.store.path.clone();
        match error {
            WriteError::Row(RowError::Sqlite(source)) => StoreError::sqlite(doing, source, &path),
            WriteError::Row(RowError::Json(source)) => StoreError::Io { doing, source: source.into(), path },
            WriteError::Row(RowError::Cancelled) => StoreError::Stopped { path },
            WriteError::Row(RowError::OutOfStep) => StoreError::NotAsExpected { path },
            WriteError::Gap { stored, got } => StoreError::OutOfStep { stored, got, path },
        }
    }

    fn close(mut self) -> Result<(), StoreError> {
        let written = self.write_queue();
        let Self { store, queue, .. } = self;
        let path = store.path.clone();
        let merged = store.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        drop(store);
        let matters = |write: &Write| !matches!(write, Write::Setting { matters: false, .. });
        match written {
            Err(cause) if queue.iter().any(matters) => {
                let edits = queue.iter().filter(|write| write.revision().is_some()).count();
                Err(StoreError::Unsaved { edits, cause: Box::new(cause), path })
            }
            Err(_) => Ok(()),
            Ok(()) => merged.map_err(|source| StoreError::sqlite("make the project one file", source, &path)),
        }
    }
}

/// Why a transaction was rolled back.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Row(#[from] RowError),
    #[error("revision {got} does not follow {stored}")]
    Gap { stored: u64, got: u64 },
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Row(error.into())
    }
}

impl Write {
    /// Of the project after an edit.
    fn revision(&self) -> Option<u64> {
        match self {
            Write::Apply(entry) => Some(entry.revision),
            _ => None,
        }
    }

    /// `stored` is the revision of the file before and after.
    fn insert(&self, tx: &Connection, stored: &mut u64) -> Result<(), WriteError> {
        match self {
            Write::Apply(entry) => {
                if entry.revision != *stored + 1 {
                    return Err(WriteError::Gap { stored: *stored, got: entry.revision });
                }
                insert_entry(tx, entry)?;
                *stored = entry.revision;
            }
            Write::Suggestions(batch) => {
                for (sentence, suggestions) in batch {
                    rows::set_suggestions(tx, *sentence, suggestions)?;
                }
            }
            Write::Model(model) => rows::set_model(tx, model)?,
            Write::CurrentModel(model) => rows::set_current_model(tx, *model)?,
            Write::Setting { key, value, .. } => rows::set_setting(tx, key, value.as_deref())?,
            Write::Measurement(measurement) => set_measurement(tx, measurement)?,
        }
        Ok(())
    }
}

/// An edit: its rows, its entry in the log, and the revision.
fn insert_entry(tx: &Connection, entry: &LogEntry) -> Result<(), RowError> {
    for edit in &entry.transaction.edits {
        rows::apply_edit(tx, edit)?;
    }
    rows::set_revision(tx, entry.revision)?;
    let sql = "INSERT INTO log (revision, step, intent, edits, inverse, author, time_ms, active_ms, visible, presses)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    tx.prepare_cached(sql)?.execute(params![
        entry.revision.cast_signed(),
        names::of_step(entry.step),
        entry.transaction.intent,
        json::write_edits(&entry.transaction.edits)?,
        json::write_edits(&entry.inverse.edits)?,
        entry.stamp.author,
        entry.stamp.time_ms,
        entry.stamp.active_ms,
        json::write_visible(&entry.stamp.visible)?,
        entry.stamp.presses,
    ])?;
    Ok(())
}
