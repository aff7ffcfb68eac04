//! An open project: the corpus in memory, the thread that saves it, and the learner.

use super::activity::Activity;
use super::command::{self, Command, Context, Outcome};
use super::dataset::{goes_to_dev, leaves_enough};
use super::home::Home;
use super::learner::Learner;
use super::model_folder::{Owner, Strange};
use super::ranking::Agenda;
use super::saving::Saving;
use super::settings::{Setting, Settings};
use super::status::{Counts, Event, LearnerStatus, ModelInfo};
use super::{SessionError, Waker, curve, models};
use crate::annotation::{
    Corpus, Edit, History, LabelSet, ModelId, ProjectId, Sentence, SentenceId, SentenceSuggestions, Split, Status,
    Step, Transaction,
};
use crate::disk::Noted as _;
use crate::store::{
    self, Contents, FileNews, LogEntry, Lost, Measurement, ModelRecord, Store, StoreError, WhyReadOnly, Writer,
    WriterEvent,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What a new project starts with.
#[derive(Clone, Debug, Default)]
pub struct NewProject {
    pub labels: LabelSet,
    /// Encoder to train from; `None`: the one that is always there.
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

/// Which sentence comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In the order of the text.
    Text,
    /// The one that teaches the model most, by the project's strategy.
    Teaching,
    /// Those of the blind set, in the order of the text.
    Blind,
}

impl Order {
    /// The word for it in project files: never changed.
    pub(super) fn id(self) -> &'static str {
        match self {
            Order::Text => "text",
            Order::Teaching => "teaching",
            Order::Blind => "blind",
        }
    }

    pub(super) fn from_id(id: &str) -> Option<Self> {
        [Order::Text, Order::Teaching, Order::Blind].into_iter().find(|order| order.id() == id)
    }
}

/// All of a project that can be read and changed. Held by one thread; its workers talk to it through [`Project::poll`].
pub struct Project {
    pub(super) home: Home,
    pub(super) path: PathBuf,
    /// Of the file, whatever it is called.
    pub(super) id: ProjectId,
    pub(super) file_news: Vec<FileNews>,
    /// The settings as they are in the file, also those that this program can't read.
    pub(super) setting_rows: BTreeMap<String, String>,
    /// Where a training under way puts its model, after the project went on in another file.
    pub(super) former_models: Vec<PathBuf>,
    /// Shared with exports and trainings under way; an edit copies it only then.
    pub(super) corpus: Arc<Corpus>,
    pub(super) suggestions: Arc<HashMap<SentenceId, SentenceSuggestions>>,
    pub(super) history: History,
    pub(super) models: Vec<ModelRecord>,
    pub(super) current_model: Option<ModelId>,
    /// Models under whose number something else lies.
    pub(super) strange: BTreeMap<ModelId, Strange>,
    notes: Vec<String>,
    pub(super) measurements: Vec<Measurement>,
    pub(super) settings: Settings,
    unread_settings: Vec<SessionError>,
    counts: Counts,
    /// `None` in a project that was opened to be read.
    pub(super) writer: Option<Arc<Writer>>,
    read_only: Option<WhyReadOnly>,
    /// Counts the edits that moved words to other tokens or sentences, or took them away: what a model says of words
    /// as they were before is not taken.
    pub(super) segmentation: u64,
    pub(super) saving: Arc<Mutex<Saving>>,
    pub(super) activity: Activity,
    pub(super) on_screen: Vec<SentenceId>,
    /// What is shown of one of them, while newer suggestions are held back there.
    pub(super) shown: Option<(SentenceId, Option<SentenceSuggestions>)>,
    pub(super) learner: Learner,
    pub(super) agenda: Agenda,
    pub(super) waker: SharedWaker,
}

/// A waker that can be set after the workers have started.
#[derive(Clone, Default)]
pub(super) struct SharedWaker(Arc<Mutex<Option<Waker>>>);

impl SharedWaker {
    pub(super) fn wake(&self) {
        let waker = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker();
        }
    }

    pub(super) fn as_waker(&self) -> Waker {
        let shared = self.clone();
        Arc::new(move || shared.wake())
    }
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
            settings.insert(key.to_owned(), value);
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
        let path = store.path().to_owned();
        let file_news = store.news().to_vec();
        let store = store.with_refuges(vec![home.rescued_dir(), home.projects_dir()]);
        let read_only = store.read_only().cloned();
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
        let found = models::find(&store::models_dir(&path), &Owner::of(&id, &corpus, &history), &mut models);
        let (without, removed) = models::impossible(&suggestions, &corpus);
        let waker = SharedWaker::default();
        let saving = Arc::new(Mutex::new(Saving { saved: corpus.revision(), ..Saving::default() }));
        let (told, woken) = (saving.clone(), waker.clone());
        let heard = move |event: WriterEvent| {
            told.lock().unwrap_or_else(PoisonError::into_inner).hear(&event);
            woken.wake();
        };
        let writer = match read_only {
            None => Some(Arc::new(Writer::start(store, heard)?)),
            Some(_) => None, // what is in memory is all that is needed of the file
        };
        for (sentence, left) in &without {
            suggestions.insert(*sentence, left.clone());
        }
        if let Some(writer) = &writer {
            found.adopted.into_iter().try_for_each(|record| writer.model(record))?;
            if !without.is_empty() {
                writer.suggestions(without)?;
            }
        }
        let mut project = Self {
            home: home.clone(),
            path,
            id,
            strange: found.strange,
            notes: found.notes.into_iter().chain(removed).collect(),
            file_news,
            former_models: Vec::new(),
            setting_rows: rows,
            counts: Counts::of(&corpus),
            corpus: Arc::new(corpus),
            suggestions: Arc::new(suggestions),
            history,
            models,
            current_model,
            measurements,
            settings,
            unread_settings,
            writer,
            read_only,
            segmentation: 0,
            saving,
            activity: Activity::start(Instant::now()),
            on_screen: Vec::new(),
            shown: None,
            learner: Learner::default(),
            agenda: Agenda::default(),
            waker,
        };
        project.show_current_model();
        project.learner.interrupted = project.interrupted_training();
        project.note_learned_before();
        project.refresh_learner();
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
        // A task that still holds the writer (an import) ends it when it is done.
        match self.writer.take().map(Arc::try_unwrap) {
            Some(Ok(writer)) => writer.close()?,
            Some(Err(writer)) => writer.flush()?,
            None => {}
        }
        self.follow_file();
        for news in &self.file_news {
            if let FileNews::MovedOn { from, to, .. } = news {
                // What was trained while the project was moving; a model can be made again.
                let carried = store::carry_models(&store::models_dir(from), &store::models_dir(to));
                carried.noted_at("its models are not taken along", from);
            }
        }
        Ok(self.file_news)
    }

    /// Why the project can't be changed; `None` where it can.
    pub fn read_only(&self) -> Option<&WhyReadOnly> {
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's name without its ending.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn models_dir(&self) -> PathBuf {
        store::models_dir(&self.path)
    }

    pub fn corpus(&self) -> &Corpus {
        &self.corpus
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
        self.current_model
    }

    /// All models that were trained, the oldest first; the snapshots of some may have been cleaned up.
    pub fn models(&self) -> impl Iterator<Item = ModelInfo> + '_ {
        self.models.iter().filter_map(models::info_of_record)
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
        *self.waker.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
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
        events.extend(self.save_failed());
        events
    }

    /// Another connection to the project file, for a thread that reads.
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

    /// Does what a person wants, and says where it changed something.
    ///
    /// # Errors
    /// What the command is about is not there; nothing is changed then.
    pub fn run(&mut self, command: Command) -> Result<Outcome, SessionError> {
        match command {
            Command::Undo => self.travel(Step::Undo),
            Command::Redo => self.travel(Step::Redo),
            Command::Set(setting) => {
                if matches!(setting, Setting::Threshold(_)) {
                    // What a person has chosen no model changes.
                    self.set(Setting::ThresholdByEffort(false))?;
                }
                self.agenda.renew();
                let is_strategy = matches!(setting, Setting::Strategy(_));
                self.set(setting)?;
                if is_strategy {
                    // It may want to know more of each sentence.
                    self.start_predicting();
                }
                self.consider_training();
                Ok(Outcome::default())
            }
            Command::SetAside { sentences } => {
                let transaction = curve::set_aside(self, sentences)?;
                self.agenda.renew();
                self.commit(Step::Do, transaction).map(|()| Outcome::default())
            }
            Command::Train => {
                if !self.learner.is_training() && self.settings.training_paused {
                    // It was another one that was to wait.
                    self.set(Setting::TrainingPaused(false))?;
                }
                self.start_training().map(|()| Outcome::default())
            }
            Command::LookAgain { folds } => self.start_look_again(folds).map(|()| Outcome::default()),
            Command::UseModel(model) => self.go_back_to(model).map(|()| Outcome::default()),
            Command::StopTraining => {
                self.learner.stop_training();
                Ok(Outcome::default())
            }
            Command::PauseTraining(paused) => self.pause_training(paused).map(|()| Outcome::default()),
            Command::RetrySave => self.retry_save().map(|()| Outcome::default()),
            command => self.edit(&command),
        }
    }

    fn edit(&mut self, command: &Command) -> Result<Outcome, SessionError> {
        let sentence = match command {
            Command::Accept { sentence, .. }
            | Command::Correct { sentence, .. }
            | Command::Reject { sentence, .. }
            | Command::AcceptAll { sentence, .. }
            | Command::SetStatus { sentence, .. } => Some(*sentence),
            _ => None,
        };
        let (train, dev) = (self.counts.train, self.counts.dev);
        let target = sentence.and_then(|id| self.corpus.sentence(id));
        let context = Context {
            corpus: &self.corpus,
            suggestions: sentence.and_then(|id| self.suggestions(id)),
            threshold: self.settings.threshold,
            completes_into_dev: target.is_some_and(|s| goes_to_dev(s, dev) && !self.learner.may_know(s.id()))
                && leaves_enough(train, dev)
                && !self.dev_is_given(),
        };
        let Some(plan) = command::plan(command, &context)? else { return Ok(Outcome::default()) };
        if !plan.transaction.edits.is_empty() {
            self.check_cuts(&plan.transaction.edits)?;
            self.commit(Step::Do, plan.transaction)?;
        }
        Ok(plan.outcome)
    }

    fn travel(&mut self, step: Step) -> Result<Outcome, SessionError> {
        let next = match step {
            Step::Undo => self.history.next_undo().ok_or(SessionError::NothingToUndo)?,
            Step::Do | Step::Redo => self.history.next_redo().ok_or(SessionError::NothingToRedo)?,
        };
        let transaction = next.clone();
        let sets_aside = |edit: &Edit| matches!(edit, Edit::SetSplit { new: Split::Blind, .. });
        if transaction.edits.iter().any(sets_aside) && curve::has_learned(self) {
            return Err(SessionError::TooLateForBlind);
        }
        let sentence = transaction.sentence();
        let mention = transaction.edits.iter().find_map(|edit| match edit {
            Edit::AddMention { mention, .. } | Edit::ReplaceMention { new: mention, .. } => Some(mention.id),
            _ => None,
        });
        self.commit(step, transaction)?;
        Ok(Outcome { sentence, mention })
    }

    /// True when a dev split came with an import that is still there; else completed sentences make one.
    pub(super) fn dev_is_given(&self) -> bool {
        self.settings.dev_imported && self.corpus.sentences().any(|s| s.split() == Split::Dev)
    }

    /// Takes note of an import that is on disk.
    pub(super) fn record_import(&mut self, inverse: Transaction) {
        self.history.record(Step::Do, inverse);
    }

    /// Applies a transaction in memory and sends it to the writer.
    pub(super) fn commit(&mut self, step: Step, transaction: Transaction) -> Result<(), SessionError> {
        let writer = Arc::clone(self.writer()?);
        let moves_words = transaction.edits.iter().any(Edit::moves_words);
        let touched: BTreeSet<SentenceId> = transaction.edits.iter().filter_map(Edit::sentence).collect();
        let sentences = |corpus: &Corpus| -> Vec<Sentence> {
            touched.iter().filter_map(|id| corpus.sentence(*id).cloned()).collect()
        };
        let before = sentences(&self.corpus);
        let complete_before = self.counts.complete_for_models();
        let seen = self.seen();
        let inverse = Arc::make_mut(&mut self.corpus).apply(transaction.clone())?;
        if moves_words {
            self.counts = Counts::of(&self.corpus);
        } else {
            before.iter().for_each(|s| self.counts.subtract(s));
            sentences(&self.corpus).iter().for_each(|s| self.counts.add(s));
        }
        self.history.record(step, inverse.clone());
        let (stamp, revision) = (self.stamp(seen), self.corpus.revision());
        let edits = transaction.edits.clone();
        let moves_documents = edits.iter().any(|edit| matches!(edit, Edit::SetPresence { .. }));
        let was_complete = before.iter().filter(|s| s.status() == Status::Complete).map(Sentence::id);
        if let Err(error) = writer.apply(LogEntry { step, transaction, inverse, stamp, revision }) {
            // It is done, and nobody writes it: not an edit that was refused.
            self.note_unsaved(&error);
            self.segmentation += u64::from(moves_words);
            return Ok(());
        }
        if moves_words {
            self.segmentation += 1;
            self.move_suggestions(&edits)?;
            self.start_predicting();
        } else {
            self.predict_again(was_complete);
        }
        if moves_documents {
            self.count_without(complete_before)?;
        }
        self.consider_training();
        Ok(())
    }

    /// Takes over what an import has written.
    pub(super) fn replace_corpus(&mut self, corpus: Arc<Corpus>, counts: Counts) {
        self.counts = counts;
        self.corpus = corpus;
    }
}
