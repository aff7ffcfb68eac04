//! What is on disk of a project, and what is not.
//!
//! # Invariants
//! - An edit that the writer can't take is done all the same: it is in memory, and told as not saved.

use super::SessionError;
use super::project::Project;
use super::settings::Setting;
use super::status::{Event, SaveState};
use super::task::Task;
use crate::annotation::{History, SentenceId};
use crate::disk::Noted as _;
use crate::store::{self, FileNews, Memory, StoreError, WriterEvent};
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What the writer's thread has told.
#[derive(Debug, Default)]
pub(super) struct Saving {
    /// Up to this revision all is on disk.
    pub saved: u64,
    pub failure: Option<String>,
    pub told: bool,
    /// What happened to the project's files and was not heard yet.
    pub news: Vec<FileNews>,
    /// The file was overwritten: what is in memory is to be sent.
    pub needs_memory: bool,
}

impl Saving {
    pub(super) fn hear(&mut self, event: &WriterEvent) {
        match event {
            WriterEvent::Saved { revision } => {
                self.saved = *revision;
                self.failure = None;
                self.told = false;
            }
            WriterEvent::Failed { error, .. } => self.failure = Some(error.to_string()),
            WriterEvent::News(news) => self.news.push(news.clone()),
            WriterEvent::NeedsMemory => self.needs_memory = true,
        }
    }
}

impl Project {
    fn saving(&self) -> MutexGuard<'_, Saving> {
        self.saving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// That something could not be saved, once.
    pub(super) fn save_failed(&self) -> Option<Event> {
        if let Some(Err(error)) = self.writer.as_ref().map(|writer| writer.check()) {
            self.note_unsaved(&error);
        }
        let mut saving = self.saving();
        let message = saving.failure.clone().filter(|_| !saving.told)?;
        saving.told = true;
        Some(Event::SaveFailed { message })
    }

    /// Hears what happened to the project's files, and goes with them.
    pub(super) fn follow_file(&mut self) {
        self.send_memory();
        let news = std::mem::take(&mut self.saving().news);
        for news in news {
            if let FileNews::MovedOn { to, .. } = &news {
                self.move_to(to);
            }
            self.file_news.push(news);
        }
    }

    /// Sends what is in memory, where the file of before can't be read any more. True if it was wanted.
    pub(super) fn send_memory(&mut self) -> bool {
        if !std::mem::take(&mut self.saving().needs_memory) {
            return false;
        }
        // The list of earlier edits is lost with the file; undoing them would not be understood in the new one.
        self.history = History::default();
        let memory = Memory {
            corpus: Arc::clone(&self.corpus),
            suggestions: Arc::clone(&self.suggestions),
            models: self.models.clone(),
            current_model: self.current_model,
            settings: self.setting_rows.clone(),
            measurements: self.measurements.clone(),
        };
        // A thread that has ended says so itself.
        self.writer.as_ref().is_some_and(|writer| writer.restore(memory).is_ok())
    }

    fn move_to(&mut self, path: &Path) {
        let before = self.models_dir();
        self.former_models.extend(self.learner.is_training().then_some(before));
        self.path = path.to_owned();
        let (home, path) = (self.home.clone(), path.to_owned());
        // A list of recent projects that can't be written is no fault of the project.
        let _unheard = Task::spawn("nestling-recent", self.waker.as_waker(), move || {
            home.remember_recent(&path).noted("the project is not among the recent ones")
        });
    }

    /// Takes along what a training has made that began before the project went on in another file.
    pub(super) fn fetch_models(&mut self) {
        for before in std::mem::take(&mut self.former_models) {
            // Where it can't be, the model is missing, which is told.
            store::carry_models(&before, &self.models_dir()).noted_at("its models are not taken along", &before);
        }
    }

    /// What happened to the project's files, until it was read.
    pub fn file_news(&self) -> &[FileNews] {
        &self.file_news
    }

    /// The person has read it.
    pub fn dismiss_file_news(&mut self) {
        self.file_news.clear();
    }

    pub fn save_state(&self) -> SaveState {
        let saving = self.saving();
        match &saving.failure {
            Some(message) => SaveState::Failed { message: message.clone() },
            None if saving.saved >= self.corpus.revision() => SaveState::AllSaved,
            None => SaveState::Saving { waiting: (self.corpus.revision() - saving.saved) as usize },
        }
    }

    /// Waits until all is on disk: for the command line, not for the window.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub fn flush(&self) -> Result<(), SessionError> {
        Ok(self.writer.as_ref().map_or(Ok(()), |writer| writer.flush())?)
    }

    /// Tries again to write what could not be saved.
    pub(super) fn retry_save(&self) -> Result<(), SessionError> {
        let writer = self.writer()?;
        {
            let mut saving = self.saving();
            (saving.failure, saving.told) = (None, false);
        }
        writer.retry().inspect_err(|error| self.note_unsaved(error))?;
        Ok(())
    }

    pub(super) fn set(&mut self, setting: Setting) -> Result<(), SessionError> {
        let setting = setting.within_bounds();
        let (key, value) = setting.row();
        self.setting_rows.insert(key.to_owned(), value.clone());
        self.writer()?.setting(key, Some(value)).inspect_err(|error| self.note_unsaved(error))?;
        self.settings.set(setting);
        self.refresh_learner();
        Ok(())
    }

    /// The thread that saves is gone.
    pub(super) fn note_unsaved(&self, error: &StoreError) {
        let mut saving = self.saving();
        saving.failure.get_or_insert_with(|| error.to_string());
    }

    /// Where the person is to be when the project is opened again.
    ///
    /// # Errors
    /// A project that was opened to be read, a writer that has ended.
    pub fn keep_place(&mut self, place: SentenceId) -> Result<(), SessionError> {
        if self.settings.place != Some(place) {
            let (key, value) = Setting::Place(place).row();
            self.setting_rows.insert(key.to_owned(), value.clone());
            self.writer()?.convenience(key, Some(value))?;
            self.settings.place = Some(place);
        }
        Ok(())
    }
}
