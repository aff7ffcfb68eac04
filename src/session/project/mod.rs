//! An open project: the corpus in memory, the thread that saves it, and the learner.

pub(super) mod activity;
pub(super) mod aside;
pub(super) mod check;
pub(super) mod chosen_options;
pub(super) mod command;
mod counts;
pub(super) mod driver;
mod edit;
pub(super) mod finding;
mod history;
mod keeping;
pub(super) mod language;
mod saving;
mod segments;
pub(super) mod settings;
pub(super) mod shown;
pub(super) mod status;

use crate::annotation::{
    Corpus, Edit, History, LabelSet, ModelId, SentenceId, SentenceSuggestions, SuggestionsById, Transaction,
};
use crate::encoder::Encoders;
use crate::session::analysis::agenda::Agenda;
use crate::session::home::Home;
use crate::session::learner::Learner;
use crate::session::learner::found;
use crate::session::learner::model_folder::Owner;
use crate::session::learner::models::Models;
use crate::session::task::SharedWaker;
use crate::session::{SessionError, Waker};
use crate::store::{self, Contents, FileNews, Measurement, Store, WhyReadOnly};
use crate::text::Language;
use activity::Activity;
use saving::Saving;
use settings::{Setting, Settings};
use status::{Counts, Event, LearnerStatus, ModelInfo};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What a new project starts with.
#[derive(Clone, Debug, Default)]
pub struct NewProject {
    pub labels: LabelSet,
    /// Encoder to train from; `None`: a built-in one, by the language of what is imported.
    pub encoder: Option<String>,
}

impl NewProject {
    /// Labels by their names, with proposed colours and keys.
    ///
    /// # Errors
    /// An empty name, or one that is there twice.
    pub fn with_labels<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self, SessionError> {
        let mut corpus = Corpus::default();
        for name in names {
            let (at, label) = (corpus.labels().len(), corpus.labels().propose(name.as_ref()));
            corpus.apply(Transaction::new("Add a label", vec![Edit::InsertLabel { at, label }]))?;
        }
        Ok(Self { labels: corpus.labels().clone(), encoder: None })
    }
}

/// All of a project that can be read and changed. Held by one thread; its workers talk to it through [`Project::poll`].
pub struct Project {
    home: Home,
    /// The settings as they are in the file, also those that this program can't read.
    setting_rows: BTreeMap<String, String>,
    /// Shared with exports and trainings under way; an edit copies what is around it only then.
    corpus: Arc<Corpus>,
    suggestions: Arc<SuggestionsById>,
    history: History,
    pub(in crate::session) models: Models,
    notes: Vec<String>,
    measurements: Vec<Measurement>,
    settings: Settings,
    unread_settings: Vec<SessionError>,
    counts: Counts,
    /// Of the texts as they were when somebody first asked, or after the last import.
    language: OnceCell<Option<Language>>,
    /// Counts the edits that moved words to other tokens or sentences, or took them away: what a model says of words
    /// as they were before is not taken.
    segmentation: u64,
    saving: Saving,
    activity: Activity,
    on_screen: Vec<SentenceId>,
    /// What is shown of one of them, while newer suggestions are held back there.
    shown: Option<(SentenceId, Option<SentenceSuggestions>)>,
    pub(in crate::session) learner: Learner,
    pub(in crate::session) agenda: Agenda,
    waker: SharedWaker,
}

impl Project {
    /// Makes a project file and opens it.
    ///
    /// # Errors
    /// A file that is there already, a folder that is not there or can't be written.
    pub fn create(home: &Home, path: &Path, new: &NewProject) -> Result<Self, SessionError> {
        let mut settings = BTreeMap::new();
        if let Some(encoder) = &new.encoder {
            let (key, value) = Setting::Encoder(encoder.clone()).row();
            settings.insert(key.into_owned(), value);
        }
        let new = store::NewProject { labels: new.labels.clone(), settings };
        Self::start(home, Store::create(path, &new)?)
    }

    /// Opens a project file for annotation.
    ///
    /// # Errors
    /// A file that is not there, not ours, newer, damaged, read-only or open elsewhere.
    pub fn open(home: &Home, path: &Path) -> Result<Self, SessionError> {
        Self::start(home, Store::open(path)?)
    }

    /// Opens a project file to look at it, also while another program has it open or where it can't be written. What
    /// would change it is refused.
    ///
    /// # Errors
    /// A file that is not there, not ours, newer, damaged, or that must be written before it can be read.
    pub fn open_to_read(home: &Home, path: &Path) -> Result<Self, SessionError> {
        Self::start(home, Store::open_to_read(path)?)
    }

    fn start(home: &Home, store: Store) -> Result<Self, SessionError> {
        let store = store.with_refuges(vec![home.rescued_dir(), home.projects_dir()]);
        let Contents {
            project: id,
            corpus,
            history,
            mut suggestions,
            mut models,
            current_model,
            settings: rows,
            measurements,
        } = store.load()?;
        let (mut settings, mut unread_settings) = (Settings::default(), Vec::new());
        for (key, value) in &rows {
            match Setting::from_row(key, value) {
                Ok(setting) => setting.into_iter().for_each(|setting| settings.set(setting)),
                // The annotations are worth more than a setting.
                Err(error) => unread_settings.push(error),
            }
        }
        let found = found::find(&store::models_dir(store.path()), &Owner::of(&id, &corpus, &history), &mut models);
        let (without, removed) = found::impossible(&suggestions, &corpus);
        let waker = SharedWaker::default();
        let saving = Saving::start(store, id, corpus.revision(), waker.clone())?;
        for (sentence, left) in &without {
            suggestions.put(*sentence, left.clone());
        }
        saving.store_found(found.adopted, without)?;
        let mut project = Self {
            home: home.clone(),
            notes: found.notes.into_iter().chain(removed).collect(),
            setting_rows: rows,
            counts: Counts::of(&corpus),
            language: OnceCell::new(),
            corpus: Arc::new(corpus),
            suggestions: Arc::new(suggestions),
            history,
            models: Models::new(models, current_model, found.files, found.strange),
            measurements,
            settings,
            unread_settings,
            segmentation: 0,
            saving,
            activity: Activity::start(Instant::now()),
            on_screen: Vec::new(),
            shown: None,
            learner: Learner::default(),
            agenda: Agenda::default(),
            waker,
        };
        project.note_models_before();
        Ok(project)
    }

    /// Stops the learner, writes what waits and lets go of the file.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub fn close(self) -> Result<(), SessionError> {
        self.close_with_news().map(drop)
    }

    /// As [`Project::close`]; returns what happened to the project's files and was not read yet.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub fn close_with_news(mut self) -> Result<Vec<FileNews>, SessionError> {
        self.learner.stop();
        // What is found out now can still be helped from memory.
        if self.flush().is_err() && self.send_memory() {
            self.flush()?;
        }
        self.saving.let_go()?;
        self.follow_file();
        Ok(self.saving.end())
    }

    /// Why the project can't be changed; `None` where it can.
    pub fn read_only(&self) -> Option<&WhyReadOnly> {
        self.saving.read_only()
    }

    pub fn path(&self) -> &Path {
        self.saving.path()
    }

    /// The file's name without its ending.
    pub fn name(&self) -> String {
        self.path().file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn models_dir(&self) -> PathBuf {
        self.saving.models_dir()
    }

    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// The corpus as it is now, to be read elsewhere; edits meanwhile copy what is around them.
    pub fn snapshot_of_corpus(&self) -> Arc<Corpus> {
        Arc::clone(&self.corpus)
    }

    /// All that models and files say, also where it is withheld.
    pub(in crate::session) fn stored_suggestions(&self) -> &SuggestionsById {
        &self.suggestions
    }

    /// As [`Project::snapshot_of_corpus`].
    pub(in crate::session) fn snapshot_of_suggestions(&self) -> Arc<SuggestionsById> {
        Arc::clone(&self.suggestions)
    }

    /// What was done and can be undone.
    pub(in crate::session) fn edits(&self) -> &History {
        &self.history
    }

    pub(in crate::session) fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    pub(in crate::session) fn add_measurement(&mut self, measurement: Measurement) {
        self.measurements.push(measurement);
    }

    /// Counts the edits that moved words to other tokens or sentences, or took them away.
    pub(in crate::session) fn segmentation(&self) -> u64 {
        self.segmentation
    }

    pub(in crate::session) fn on_screen(&self) -> &[SentenceId] {
        &self.on_screen
    }

    /// As what was trained for it knows it.
    pub(in crate::session) fn owner(&self) -> Owner {
        Owner::of(self.saving.id(), &self.corpus, &self.history)
    }

    /// The encoders that models can be made from.
    pub fn encoders(&self) -> Encoders {
        self.home.encoders()
    }

    pub(in crate::session) fn waker(&self) -> Waker {
        self.waker.as_waker()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Settings of the file that this program can't read; their defaults hold.
    pub fn unread_settings(&self) -> &[SessionError] {
        &self.unread_settings
    }

    /// What a person should know of the files beside the project and of what was stored, as it was found at opening.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The model that suggests.
    pub fn current_model(&self) -> Option<ModelId> {
        self.models.current()
    }

    /// All models that were trained, the oldest first; the snapshots of some may have been cleaned up.
    pub fn models(&self) -> impl Iterator<Item = ModelInfo> + '_ {
        self.models.infos()
    }

    /// Where the snapshot of a model lies; `None` for one that is not there any more, or where there is another one.
    pub fn snapshot(&self, id: ModelId) -> Option<PathBuf> {
        self.registered(id).map(|snapshot| snapshot.folder)
    }

    /// What the next undo takes back.
    pub fn undo_intent(&self) -> Option<&str> {
        self.history.next_undo().map(|t| t.intent.as_str())
    }

    /// What the next redo does again.
    pub fn redo_intent(&self) -> Option<&str> {
        self.history.next_redo().map(|t| t.intent.as_str())
    }

    pub fn learner(&self) -> &LearnerStatus {
        self.learner.status()
    }

    /// Called by the workers when they have something to tell.
    pub fn set_waker(&mut self, waker: Waker) {
        self.waker.set(waker);
    }

    /// A sign that a person is at work, and how many keys and buttons they pressed: edits store how long it took to make
    /// them, and how much.
    pub fn note_activity(&mut self, presses: u32) {
        self.activity.touch(Instant::now());
        self.activity.press(presses);
    }

    /// Hears the workers and moves the learner on. Never waits; call it each frame.
    pub fn poll(&mut self) -> Vec<Event> {
        self.follow_file();
        let mut events = self.poll_learner();
        events.extend(self.saving.failed());
        events
    }
}
