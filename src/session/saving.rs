//! What is on disk of a project, and what is not.
//!
//! # Invariants
//! - An edit that the writer can't take is done all the same: it is in memory, and told as not saved.

use super::SessionError;
use super::project::Project;
use super::settings::Setting;
use super::status::{Event, SaveState};
use crate::annotation::SentenceId;
use crate::store::{StoreError, WriterEvent};
use std::sync::{MutexGuard, PoisonError};

/// What the writer's thread has told.
#[derive(Debug, Default)]
pub(super) struct Saving {
    /// Up to this revision all is on disk.
    pub saved: u64,
    pub failure: Option<String>,
    pub told: bool,
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
            self.writer()?.convenience(key, Some(value))?;
            self.settings.place = Some(place);
        }
        Ok(())
    }
}
