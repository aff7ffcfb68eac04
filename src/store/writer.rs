//! The thread that writes.
//!
//! ```text
//! session ── jobs (bounded) ──> nestling-writer ── events (callback) ──> session
//!                               queue: written in order, several in one SQLite transaction
//! ```
//!
//! # Invariants
//! - A job leaves the queue only after the COMMIT of its transaction, and after it was seen that the path still stands
//!   for the file; what failed stays, with all that came after it, until [`Writer::retry`], [`Writer::flush`] or the
//!   closing writes it.
//! - An import is not queued: it is on disk when [`Writer::import`] returns, or nothing of it is.
//! - Closing writes what waits and merges the write-ahead log, so that the one file is whole.

use super::import::Import;
use super::jobs::{Job, Reply, Write, WriterEvent};
use super::measurement::Measurement;
use super::stamp::LogEntry;
use super::worker::Worker;
use super::{Memory, ModelRecord, Place, Store, StoreError, Watch};
use crate::annotation::{ModelId, SentenceId, SentenceSuggestions};
use crossbeam_channel::{Sender, bounded};
use std::thread::{Builder, JoinHandle};

/// Jobs that wait in the channel before a sender has to; a person can't be that fast.
const WAITING_JOBS: usize = 1024;

/// Sends changes of a project to the thread that writes them. Dropping it closes the project.
#[derive(Debug)]
pub struct Writer {
    jobs: Sender<Job>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
    place: Place,
}

impl Writer {
    /// `on_event` is called on the writer's thread: it must return soon and not wait for the writer.
    ///
    /// # Errors
    /// A system that gives no thread.
    pub fn start(store: Store, on_event: impl FnMut(WriterEvent) + Send + 'static) -> Result<Self, StoreError> {
        let (jobs, inbox) = bounded(WAITING_JOBS);
        let place = Place::of(&store);
        let worker = Worker::new(store, place.clone(), Box::new(on_event));
        let thread = Builder::new().name("nestling-writer".to_owned()).spawn(move || worker.run(&inbox));
        let thread = thread.map_err(|source| StoreError::io("start the thread that saves", source, &place.path()))?;
        Ok(Self { jobs, thread: Some(thread), place })
    }

    /// Where the project lies now, for those who read it.
    pub fn place(&self) -> Place {
        self.place.clone()
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

    /// Goes on in a new file with what is in memory. All that was sent before must be in it. Returns at once.
    pub fn restore(&self, memory: Memory) -> Result<(), StoreError> {
        self.send(Job::Restore(Box::new(memory)))
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
        thread.join().unwrap_or(Err(StoreError::Closed { path: self.place.path() }))
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
        StoreError::Closed { path: self.place.path() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.stop(); // who wants to know calls close()
    }
}
