//! What is on disk of a project, and what is not: its file, and the thread that writes there.
//!
//! # Invariants
//! - An edit that the writer can't take is done all the same: it is in memory, and told as not saved.

use super::status::{Event, SaveState};
use crate::annotation::{ProjectId, SentenceId, SentenceSuggestions};
use crate::disk::Noted as _;
use crate::session::SessionError;
use crate::session::task::SharedWaker;
use crate::store::{self, FileNews, Lost, Memory, ModelRecord, Store, StoreError, WhyReadOnly, Writer, WriterEvent};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The file of an open project and the thread that saves it.
pub(super) struct Saving {
    path: PathBuf,
    /// Of the file, whatever it is called.
    id: ProjectId,
    /// `None` in a project that was opened to be read.
    writer: Option<Arc<Writer>>,
    read_only: Option<WhyReadOnly>,
    told: Arc<Mutex<Told>>,
    /// What happened to the project's files, until a person has read it.
    news: Vec<FileNews>,
    /// Where a training under way puts its model, after the project went on in another file.
    former_models: Vec<PathBuf>,
}

/// What the writer's thread has told.
#[derive(Debug, Default)]
struct Told {
    /// Up to this revision all is on disk.
    saved: u64,
    failure: Option<String>,
    /// The failure was told to the person.
    is_known: bool,
    /// What happened to the project's files and was not heard yet.
    news: Vec<FileNews>,
    /// The file was overwritten: what is in memory is to be sent.
    needs_memory: bool,
}

impl Told {
    fn hear(&mut self, event: &WriterEvent) {
        match event {
            WriterEvent::Saved { revision } => {
                self.saved = *revision;
                self.failure = None;
                self.is_known = false;
            }
            WriterEvent::Failed { error, .. } => self.failure = Some(error.to_string()),
            WriterEvent::News(news) => self.news.push(news.clone()),
            WriterEvent::NeedsMemory => self.needs_memory = true,
        }
    }
}

impl Saving {
    /// Starts the thread, where the file may be written. All up to this revision is on disk.
    ///
    /// # Errors
    /// A thread that can't be started.
    pub(super) fn start(store: Store, id: ProjectId, saved: u64, waker: SharedWaker) -> Result<Self, SessionError> {
        let (path, news) = (store.path().to_owned(), store.news().to_vec());
        let read_only = store.read_only().cloned();
        let told = Arc::new(Mutex::new(Told { saved, ..Told::default() }));
        let hears = told.clone();
        let heard = move |event: WriterEvent| {
            hears.lock().unwrap_or_else(PoisonError::into_inner).hear(&event);
            waker.wake();
        };
        let writer = match read_only {
            None => Some(Arc::new(Writer::start(store, heard)?)),
            Some(_) => None, // what is in memory is all that is needed of the file
        };
        Ok(Self { path, id, writer, read_only, told, news, former_models: Vec::new() })
    }

    /// Stores what opening has found out, where the file may be written.
    ///
    /// # Errors
    /// A thread that has ended.
    pub(super) fn store_found(
        &self,
        adopted: Vec<ModelRecord>,
        without: Vec<(SentenceId, SentenceSuggestions)>,
    ) -> Result<(), SessionError> {
        let Some(writer) = &self.writer else { return Ok(()) };
        adopted.into_iter().try_for_each(|record| writer.model(record))?;
        if !without.is_empty() {
            writer.suggestions(without)?;
        }
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn id(&self) -> &ProjectId {
        &self.id
    }

    pub(super) fn models_dir(&self) -> PathBuf {
        store::models_dir(&self.path)
    }

    /// Why the file can't be changed; `None` where it can.
    pub(super) fn read_only(&self) -> Option<&WhyReadOnly> {
        self.read_only.as_ref()
    }

    /// The thread that saves.
    ///
    /// # Errors
    /// A project that was opened to be read.
    pub(super) fn writer(&self) -> Result<&Arc<Writer>, SessionError> {
        self.writer.as_ref().ok_or_else(|| {
            let why = self.read_only.clone().unwrap_or(WhyReadOnly::AskedFor);
            StoreError::OpenedToRead { why, path: self.path.clone() }.into()
        })
    }

    /// Another connection to the file, for a thread that reads.
    pub(super) fn connect_again(&self) -> impl FnOnce() -> Result<Store, StoreError> + Send + use<> {
        // Where there is no writer, nothing is open: what is in memory is all that is needed.
        let (path, id) = (self.path.clone(), self.id.clone());
        let place = self.writer.as_ref().map(|writer| writer.place());
        move || {
            if let Some(place) = place {
                return place.open();
            }
            let store = Store::open_to_read(&path)?;
            if store.project_id()? == id.as_str() {
                Ok(store)
            } else {
                Err(StoreError::TakenAway { why: Lost::Replaced, path })
            }
        }
    }

    /// That something could not be saved, once.
    pub(super) fn failed(&self) -> Option<Event> {
        if let Some(Err(error)) = self.writer.as_ref().map(|writer| writer.check()) {
            self.note_unsaved(&error);
        }
        let mut told = self.told();
        let message = told.failure.clone().filter(|_| !told.is_known)?;
        told.is_known = true;
        Some(Event::SaveFailed { message })
    }

    /// The thread that saves is gone.
    pub(super) fn note_unsaved(&self, error: &StoreError) {
        self.told().failure.get_or_insert_with(|| error.to_string());
    }

    /// What happened to the project's files and was not heard yet.
    pub(super) fn hear_news(&self) -> Vec<FileNews> {
        std::mem::take(&mut self.told().news)
    }

    /// Keeps news until a person has read it.
    pub(super) fn keep_news(&mut self, news: FileNews) {
        self.news.push(news);
    }

    pub(super) fn news(&self) -> &[FileNews] {
        &self.news
    }

    pub(super) fn dismiss_news(&mut self) {
        self.news.clear();
    }

    /// The project goes on in another file; a training under way puts its model beside the one of before.
    pub(super) fn move_to(&mut self, path: &Path, is_training: bool) {
        let before = self.models_dir();
        self.former_models.extend(is_training.then_some(before));
        self.path = path.to_owned();
    }

    /// The work of taking along what a training has made that began before the project went on in another file.
    pub(super) fn fetching_models(&mut self) -> Option<impl FnOnce() + Send + use<>> {
        let (former, to) = (std::mem::take(&mut self.former_models), self.models_dir());
        (!former.is_empty()).then_some(move || former.iter().for_each(|before| carry_models(before, &to)))
    }

    /// Whether the file of before can't be read any more, so that what is in memory is to be sent: once.
    pub(super) fn takes_memory(&self) -> bool {
        std::mem::take(&mut self.told().needs_memory)
    }

    /// Sends what is in memory. False where nobody takes it.
    pub(super) fn restore(&self, memory: Memory) -> bool {
        // A thread that has ended says so itself.
        self.writer.as_ref().is_some_and(|writer| writer.restore(memory).is_ok())
    }

    /// How much of what was done up to this revision is on disk.
    pub(super) fn state(&self, revision: u64) -> SaveState {
        let told = self.told();
        match &told.failure {
            Some(message) => SaveState::Failed { message: message.clone() },
            None if told.saved >= revision => SaveState::AllSaved,
            None => SaveState::Saving { waiting: (revision - told.saved) as usize },
        }
    }

    /// Waits until all is on disk.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub(super) fn flush(&self) -> Result<(), SessionError> {
        Ok(self.writer.as_ref().map_or(Ok(()), |writer| writer.flush())?)
    }

    /// Tries again to write what could not be saved.
    ///
    /// # Errors
    /// A project that was opened to be read, a thread that has ended.
    pub(super) fn retry(&self) -> Result<(), SessionError> {
        let writer = self.writer()?;
        {
            let mut told = self.told();
            (told.failure, told.is_known) = (None, false);
        }
        writer.retry().inspect_err(|error| self.note_unsaved(error))?;
        Ok(())
    }

    /// Writes what waits and lets go of the file.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub(super) fn let_go(&mut self) -> Result<(), SessionError> {
        // A task that still holds the writer (an import) ends it when it is done.
        match self.writer.take().map(Arc::try_unwrap) {
            Some(Ok(writer)) => writer.close()?,
            Some(Err(writer)) => writer.flush()?,
            None => {}
        }
        Ok(())
    }

    /// What happened to the project's files and was not read, after what was trained meanwhile was taken along.
    pub(super) fn end(self) -> Vec<FileNews> {
        for news in &self.news {
            if let FileNews::MovedOn { from, to, .. } = news {
                // What was trained while the project was moving.
                carry_models(&store::models_dir(from), &store::models_dir(to));
            }
        }
        self.news
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes models along to another file. Where that can't be they are missing, which is told; they can be made again.
fn carry_models(from: &Path, to: &Path) {
    store::carry_models(from, to).noted_at("its models are not taken along", from);
}
