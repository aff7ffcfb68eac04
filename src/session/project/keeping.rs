//! How an open project is kept: edits on their way to the disk, settings, where its file went, copies of it.

use super::Project;
use super::settings::Setting;
use super::status::SaveState;
use crate::annotation::{History, SentenceId};
use crate::disk::Noted as _;
use crate::session::{SessionError, Task};
use crate::store::{FileNews, Memory, Store, StoreError, Writer};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Project {
    /// What happened to the project's files, until it was read.
    pub fn file_news(&self) -> &[FileNews] {
        self.saving.news()
    }

    /// The person has read it.
    pub fn dismiss_file_news(&mut self) {
        self.saving.dismiss_news();
    }

    pub fn save_state(&self) -> SaveState {
        self.saving.state(self.corpus.revision())
    }

    /// Waits until all is on disk.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub(in crate::session) fn flush(&self) -> Result<(), SessionError> {
        self.saving.flush()
    }

    /// Copies the project, with all that is done so far, into a new file on a thread of its own. Models are not in it:
    /// they lie beside a project and can be made again.
    pub fn save_copy(&self, to: PathBuf) -> Task<Result<(), SessionError>> {
        let (open, writer) = (self.connect_again(), self.saving.writer().ok().cloned());
        Task::spawn("nestling-copy", self.waker.as_waker(), move || {
            if let Some(writer) = writer {
                writer.flush()?;
            }
            Ok(open()?.save_copy(&to)?)
        })
    }

    /// Where the person is to be when the project is opened again.
    ///
    /// # Errors
    /// A project that was opened to be read, a writer that has ended.
    pub fn keep_place(&mut self, place: SentenceId) -> Result<(), SessionError> {
        if self.settings.place != Some(place) {
            let (key, value) = Setting::Place(place).row();
            self.setting_rows.insert(key.clone().into_owned(), value.clone());
            self.writer()?.convenience(key, Some(value))?;
            self.settings.place = Some(place);
        }
        Ok(())
    }

    pub(in crate::session) fn set(&mut self, setting: Setting) -> Result<(), SessionError> {
        let setting = setting.within_bounds();
        let (key, value) = setting.row();
        self.setting_rows.insert(key.clone().into_owned(), value.clone());
        self.writer()?.setting(key, Some(value)).inspect_err(|error| self.saving.note_unsaved(error))?;
        self.settings.set(setting);
        self.refresh_learner();
        Ok(())
    }

    /// The thread that saves.
    ///
    /// # Errors
    /// A project that was opened to be read.
    pub(in crate::session) fn writer(&self) -> Result<&Arc<Writer>, SessionError> {
        self.saving.writer()
    }

    /// Another connection to the project file, for a thread that reads.
    pub(in crate::session) fn connect_again(&self) -> impl FnOnce() -> Result<Store, StoreError> + Send + use<> {
        self.saving.connect_again()
    }

    /// Takes along, on a thread of its own, what a training has made that began before the project went on in another file.
    /// `None` where there is nothing to take along.
    pub(in crate::session) fn fetch_models(&mut self) -> Option<Task<()>> {
        let work = self.saving.fetching_models()?;
        Some(Task::spawn("nestling-fetch", self.waker.as_waker(), work))
    }

    /// Hears what happened to the project's files, and goes with them.
    pub(super) fn follow_file(&mut self) {
        self.send_memory();
        for news in self.saving.hear_news() {
            if let FileNews::MovedOn { to, .. } = &news {
                self.move_to(to);
            }
            self.saving.keep_news(news);
        }
    }

    /// Sends what is in memory, where the file of before can't be read any more. True if it was wanted.
    pub(super) fn send_memory(&mut self) -> bool {
        if !self.saving.takes_memory() {
            return false;
        }
        // The list of earlier edits is lost with the file; undoing them would not be understood in the new one.
        self.history = History::default();
        self.saving.restore(Memory {
            corpus: Arc::clone(&self.corpus),
            suggestions: Arc::clone(&self.suggestions),
            models: self.models.records().to_vec(),
            current_model: self.models.current(),
            settings: self.setting_rows.clone(),
            measurements: self.measurements.clone(),
        })
    }

    fn move_to(&mut self, path: &Path) {
        self.saving.move_to(path, self.learner.is_training());
        let (home, path) = (self.home.clone(), path.to_owned());
        // A list of recent projects that can't be written is no fault of the project.
        let _unheard = Task::spawn("nestling-recent", self.waker.as_waker(), move || {
            home.remember_recent(&path).noted("the project is not among the recent ones")
        });
    }
}
