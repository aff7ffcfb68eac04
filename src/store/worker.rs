//! What the thread does that writes: it takes jobs, writes them in groups, and looks after the file in between.

use super::file::connect_to_write;
use super::import::Import;
use super::jobs::{Job, Write, WriterEvent};
use super::lock::Lock;
use super::measurement::set_measurement;
use super::paths::has_log;
use super::row_error::RowError;
use super::rows;
use super::same_file::{Look, SameFile};
use super::stamp::LogEntry;
use super::{FileNews, Lost, Memory, Place, Store, StoreError, Watch, copy, file, json, leftover, memory, names};
use crate::disk::Noted as _;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use rusqlite::{Connection, TransactionBehavior, params};
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

/// Jobs of one SQLite transaction at most, while none has failed.
const GROUP_JOBS: usize = 256;

/// How often it is looked whether the path still stands for the file, while nothing is written.
const LOOK_EVERY: Duration = Duration::from_millis(700);

/// How long to wait before work that has no place is offered one again: a copy of it may be large.
const OFFER_EVERY: Duration = Duration::from_secs(5);

/// Notes of what stops nothing.
const UNMARKED: &str = "the project is not marked as open yet";
const LONG_LOG: &str = "the write-ahead log stays long";

type OnEvent = Box<dyn FnMut(WriterEvent) + Send>;

pub(super) struct Worker {
    store: Store,
    place: Place,
    queue: VecDeque<Write>,
    /// The last attempt failed: wait until somebody asks for another.
    stalled: bool,
    /// When the file was last found to be in need that could not be helped.
    in_need: Option<Instant>,
    /// The path is not that of the file any more, and there is no other one yet.
    homeless: bool,
    on_event: OnEvent,
}

impl Worker {
    pub(super) fn new(store: Store, place: Place, on_event: OnEvent) -> Self {
        Self { store, place, queue: VecDeque::new(), stalled: false, in_need: None, homeless: false, on_event }
    }

    pub(super) fn run(mut self, inbox: &Receiver<Job>) -> Result<(), StoreError> {
        // What hinders it hinders the first edit too, which says so.
        self.store.begin_writing().noted(UNMARKED);
        let mut next = self.wait(inbox);
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
                Job::Restore(memory) => self.restore(&memory),
                Job::Close => break,
            }
            next = inbox.try_recv().ok();
            let more_to_come = matches!(next, Some(Job::Write(_))) && self.queue.len() < GROUP_JOBS;
            if !more_to_come && !self.stalled && !self.queue.is_empty() {
                self.write_and_report();
            }
            if next.is_none() {
                next = self.wait(inbox);
            }
        }
        self.close()
    }

    /// The next job, and a look at the file now and then; `None` when nobody can send one any more.
    fn wait(&mut self, inbox: &Receiver<Job>) -> Option<Job> {
        loop {
            match inbox.recv_timeout(LOOK_EVERY) {
                Ok(job) => return Some(job),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.look_after_file(),
            }
        }
    }

    fn look_after_file(&mut self) {
        match self.in_need {
            Some(since) if since.elapsed() < OFFER_EVERY => {}
            // Help may have come: then everything that waits can be written.
            Some(_) => self.write_and_report(),
            None => {
                if let Err(error) = self.settle() {
                    self.stalled = true;
                    self.report(error);
                }
            }
        }
    }

    fn write_and_report(&mut self) {
        if let Err(error) = self.write_queue() {
            self.report(error);
        }
    }

    fn report(&mut self, error: StoreError) {
        tracing::error!(%error, "what was changed is not saved yet");
        let revision = self.queue.iter().find_map(Write::revision);
        (self.on_event)(WriterEvent::Failed { revision, error });
    }

    /// Makes the path stand for the file that is written: another path, if need be.
    fn settle(&mut self) -> Result<(), StoreError> {
        let settled = self.try_to_settle();
        self.in_need = settled.is_err().then(Instant::now);
        settled
    }

    fn try_to_settle(&mut self) -> Result<(), StoreError> {
        match self.store.look()? {
            Look::Ours => {}
            Look::Touched => self.store.note_written(),
            Look::LogTaken => self.mend_log()?,
            Look::Lost(Lost::Overwritten) => {
                self.homeless = true;
                (self.on_event)(WriterEvent::NeedsMemory);
                return Err(StoreError::Overwritten { path: self.store.path.clone() });
            }
            Look::Lost(why) => {
                self.homeless = true;
                let connection = &self.store.connection;
                let kept = self.store.keep_elsewhere(why, |to| copy::copy_to(connection, to))?;
                self.move_to(kept, why);
            }
        }
        self.store.keep_lock()
    }

    /// Goes on in a copy that has everything.
    fn move_to(&mut self, kept: Store, why: Lost) {
        let lost = std::mem::replace(&mut self.store, kept);
        let news = FileNews::MovedOn { why, from: lost.path.clone(), to: self.store.path.clone() };
        tracing::warn!(%news, "the project goes on in another file");
        if why == Lost::Overwritten {
            lost.give_up()
        } else {
            lost.abandon()
        }
        self.homeless = false;
        self.place.set(&self.store);
        self.store.begin_writing().noted(UNMARKED); // as at the beginning
        (self.on_event)(WriterEvent::News(news));
    }

    /// Goes on in a file that is made of what is in memory, where the one that was open can't be trusted any more.
    fn restore(&mut self, memory: &Memory) {
        if !matches!(self.store.look(), Ok(Look::Lost(Lost::Overwritten))) {
            return self.write_and_report(); // it was helped meanwhile
        }
        let write = |to: &Path| memory::write(memory, self.store.id.as_deref(), to);
        match self.store.keep_elsewhere(Lost::Overwritten, write) {
            Ok(kept) => {
                let known = memory.corpus.revision();
                self.queue.retain(|write| write.revision().is_none_or(|revision| revision > known));
                self.move_to(kept, Lost::Overwritten);
                self.stalled = true; // so that it is told that what had failed is saved now
                self.write_and_report();
            }
            Err(error) => self.report(error),
        }
    }

    /// Puts the log that SQLite still has open into the file, and begins a new one.
    fn mend_log(&mut self) -> Result<(), StoreError> {
        let path = self.store.path.clone();
        if !self.store.merge_all()? {
            return Err(StoreError::LogTaken { path });
        }
        let set_aside = has_log(&path).then(|| leftover::set_log_aside(&path)).transpose()?;
        leftover::check_companions(&path)?;
        // Closing the connection must not remove what it finds under the name of its log.
        self.store.keep_log()?;
        (self.store.connection, self.store.allowance) = connect_to_write(&path)?;
        let begun = self.store.begin_writing();
        self.store.same_file = Some(SameFile::over(&path));
        (self.on_event)(WriterEvent::News(FileNews::LogMended { of: path, set_aside }));
        begun
    }

    /// Writes all of the queue in one transaction, or nothing of it.
    fn write_queue(&mut self) -> Result<(), StoreError> {
        let was_stalled = self.stalled;
        let written = self.settle().and_then(|()| self.write_group()).and_then(|()| self.settle());
        let written = written.and_then(|()| self.store.follow_log());
        self.stalled = written.is_err();
        written?;
        let mut revisions: Vec<u64> = self.queue.drain(..).filter_map(|write| write.revision()).collect();
        if was_stalled && revisions.is_empty() {
            // Only settings or suggestions waited; whoever heard of the failure must hear that it is over.
            revisions.extend(rows::revision(&self.store.connection).ok());
        }
        for revision in revisions {
            (self.on_event)(WriterEvent::Saved { revision });
        }
        // Nothing depends on it but the length of the log.
        self.store.merge_long_log().noted(LONG_LOG);
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), StoreError> {
        if self.queue.is_empty() {
            return Ok(());
        }
        self.transaction("save the changes", |tx, worker| {
            let mut stored = rows::revision(tx)?;
            for write in &worker.queue {
                // A COMMIT that reported an error may have reached the disk all the same.
                let is_there = worker.stalled && write.revision().is_some_and(|revision| revision <= stored);
                if !is_there {
                    write.insert(tx, &mut stored)?;
                }
            }
            Ok(())
        })
    }

    fn import(&mut self, import: &Import, watch: &Watch) -> Result<(), StoreError> {
        if self.stalled {
            return Err(StoreError::Stalled { path: self.store.path.clone() });
        }
        self.settle()?;
        if let Err(error) = self.write_import(import, watch) {
            // A file that is taken away meanwhile is no reason to fail, once there is another one.
            let is_taken = self.store.same_file.as_ref().is_some_and(|file| file.is_lost(&self.store.path));
            if !is_taken {
                return Err(error);
            }
            self.settle()?;
            self.write_import(import, watch)?;
        }
        // It is done: what happens now is told as for an edit.
        match self.settle().and_then(|()| self.store.follow_log()) {
            Ok(()) => (self.on_event)(WriterEvent::Saved { revision: import.revision() }),
            Err(error) => {
                self.stalled = true;
                self.report(error);
            }
        }
        self.store.merge_long_log().noted(LONG_LOG);
        Ok(())
    }

    fn write_import(&mut self, import: &Import, watch: &Watch) -> Result<(), StoreError> {
        self.transaction("import", |tx, worker| {
            let stored = rows::revision(tx)?;
            if stored != import.base_revision() {
                return Err(WriteError::Gap { stored, got: import.revision() });
            }
            import.insert(tx, watch)?;
            // It may have taken minutes.
            match worker.store.look() {
                Ok(Look::Lost(why)) => Err(WriteError::Taken(why)),
                _ => Ok(()),
            }
        })
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
            WriteError::Taken(why) => StoreError::TakenAway { why, path },
            WriteError::Gap { stored, got } => StoreError::OutOfStep { stored, got, path },
        }
    }

    fn close(mut self) -> Result<(), StoreError> {
        let written = self.write_queue();
        let path = self.store.path.clone();
        let is_homeless = self.homeless;
        let merged = if is_homeless {
            self.store.give_up();
            Ok(())
        } else {
            let merged = self.store.merge_all().map(drop);
            drop(self.store);
            merged
        };
        let matters = |write: &Write| !matches!(write, Write::Setting { matters: false, .. });
        match written {
            Err(cause) if is_homeless || self.queue.iter().any(matters) => {
                let edits = self.queue.iter().filter(|write| write.revision().is_some()).count();
                Err(StoreError::Unsaved { edits, cause: Box::new(cause), path })
            }
            Err(_) => Ok(()),
            Ok(()) => merged,
        }
    }
}

impl Store {
    /// Takes the lock again when somebody has removed its file, so that nobody else does.
    fn keep_lock(&mut self) -> Result<(), StoreError> {
        let file::Access::Write { lock } = &mut self.access else { return Ok(()) };
        let failed = |source| StoreError::io("look at the project's lock", source, &self.path);
        if !lock.is_there().map_err(failed)? {
            let marks = lock.marks().clone();
            *lock = Lock::take(&self.path)?;
            lock.mark(marks).map_err(failed)?;
        }
        Ok(())
    }
}

/// Why a transaction was rolled back.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Row(#[from] RowError),
    #[error("revision {got} does not follow {stored}")]
    Gap { stored: u64, got: u64 },
    #[error(transparent)]
    Taken(Lost),
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
