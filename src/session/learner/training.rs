//! When a training starts, on what, and what becomes of its model.

use super::dataset::{self, Limit};
use super::in_use::NewFiles;
use super::scoring::Scores;
use super::trainer::{Finished, TrainingJob, TrainingRun, TrainingTask, Verdict};
use super::{Begun, Full, UnderWay, Waiting, model_folder, records};
use crate::annotation::{Edit, LabelId, ModelId, Sentence, SentenceSet, Status};
use crate::session::project::Project;
use crate::session::project::settings::Setting;
use crate::session::project::status::{Event, FailedWork, Failure, LearnerState, ModelInfo, Predicting};
use crate::session::{SessionError, Task, now_ms};
use crate::train::{Config, ENOUGH_DEV, TrainError, TrainedLayers, interrupted};

impl Project {
    /// Lets the learner work in the background from now on. The command line does not: it trains when told to.
    pub fn start_learner(&mut self) {
        self.learner.is_on = self.read_only().is_none();
        self.learner.learned.open(self.complete_sentences());
        self.start_predicting();
        if self.learner.is_on && self.settings().auto_train {
            self.resume_training();
        }
        self.consider_training();
    }

    /// Starts a training when enough more sentences are complete.
    pub(in crate::session) fn consider_training(&mut self) {
        let works = self.learner.is_on && self.settings().auto_train && !self.learner.is_training();
        let can = self.counts().train > 0 && !self.corpus().labels().is_empty();
        if works && can {
            let is_due = self.refresh_is_due();
            let knows_labels = is_due && self.model_knows_the_labels();
            let labels_are_new = || !self.label_ids().eq(self.learner.labels.iter().copied());
            let started = if knows_labels {
                self.start_refresh()
            } else if is_due && labels_are_new() || self.sentences_to_go() == 0 {
                self.start_training()
            } else {
                Ok(())
            };
            // It waits for more sentences after a failure, so that a fault is not repeated at every edit.
            if let Err(error) = started {
                self.learner.failure = Some(Failure { what: FailedWork::Training, message: error.to_string() });
            }
        }
        self.refresh_learner();
    }

    /// Whether enough is new to the model in use for a quick training.
    fn refresh_is_due(&self) -> bool {
        self.learner.learned.is_outgrown(self.counts().complete_for_models()) && self.current_snapshot().is_some()
    }

    /// Whether its classes are the labels of today; else the output layer is to be learned anew, and by a full training.
    fn model_knows_the_labels(&self) -> bool {
        let classes = self.current_model().and_then(|model| self.models.labels(model));
        classes.is_some_and(|classes| self.label_ids().eq(classes.iter().copied()))
    }

    fn label_ids(&self) -> impl Iterator<Item = LabelId> {
        self.corpus().labels().iter().map(|label| label.id)
    }

    fn start_refresh(&mut self) -> Result<(), SessionError> {
        // It takes seconds, and stands back behind all else: it need not leave a core to the window.
        let (threads, effort) = (Some(self.settings().all_threads()), TrainedLayers::TaskHead);
        let config = Box::new(Config { threads, effort, ..self.settings().config() });
        let (encoders, model) = (self.encoders(), self.models.next_id());
        let known = self.learner.learned.known();
        let job = self.job(TrainingTask::Refresh { config, encoders, model, known });
        self.begin(job, None);
        Ok(())
    }

    /// Those that train or choose among models.
    fn complete_sentences(&self) -> SentenceSet {
        let mut complete = self.counts().train_ids.clone();
        complete.join(&self.counts().dev_ids);
        complete
    }

    /// Takes note of what a training learns from that begins now.
    pub(super) fn note_learned(&mut self) {
        let learned = self.counts().train_ids.clone();
        self.learner.learned.note(&learned);
    }

    /// Takes note of the models and trainings that were there when the project was opened.
    pub(in crate::session) fn note_models_before(&mut self) {
        self.show_current_model();
        self.read_names();
        self.learner.interrupted = self.look_for_interrupted();
        if !self.models.records().is_empty() || self.learner.interrupted.is_some() {
            // What was touched may have been complete then.
            let touched = self.corpus().sentences().filter(|s| s.status() != Status::Untouched).map(Sentence::id);
            let touched: SentenceSet = touched.collect();
            self.learner.learned.note(&touched);
        }
        self.refresh_learner();
    }

    /// Goes on with the training that closing the program interrupted.
    fn resume_training(&mut self) {
        let Some(Waiting { training, from_labels_alone }) = self.learner.interrupted else { return };
        // As when it began: a first model from labels alone is followed by one that learns from open sentences, too.
        let is_followed = from_labels_alone
            && self.current_snapshot().is_none()
            && self.would_label_itself(&self.settings().config());
        let job = self.resuming_job(training, Some(self.settings().background_threads()));
        let full = Full { counted: self.counts().complete_for_models(), begun: Begun::Again, is_followed };
        self.begin(TrainingJob { limit: self.limit(), ..job }, Some(full));
    }

    /// Without what is to be known of a full training it is a quick one.
    fn begin(&mut self, job: TrainingJob, full: Option<Full>) {
        let sentences = self.counts().train;
        self.note_learned();
        if full.is_some() {
            self.learner.labels = self.label_ids().collect();
        }
        self.learner.learned.begin(self.complete_sentences());
        self.learner.failure = None;
        let run = TrainingRun::start(job, sentences, self.waker());
        // A quick one can't go on after the program is closed: no pause is meant for it.
        run.pause(full.is_some() && self.settings().training_paused);
        self.learner.training = Some(UnderWay { run, full, ended: None, fetching: None });
        self.refresh_learner();
    }

    /// The newest training that was interrupted and can go on, looked up on disk.
    fn look_for_interrupted(&self) -> Option<Waiting> {
        let training = self.interrupted_training()?;
        let kept = interrupted(&self.models_dir().join(model_folder::training_directory(training)));
        let from_labels_alone = kept.is_ok_and(|kept| kept.is_some_and(|kept| kept.settings.self_training.is_none()));
        Some(Waiting { training, from_labels_alone })
    }

    /// Its model alone. Reads the disk: not for the window's thread.
    pub(in crate::session) fn interrupted_training(&self) -> Option<ModelId> {
        model_folder::newest_interrupted(&self.models_dir(), &self.owner())
    }

    /// After documents were set aside or taken back: trainings wait for as many more sentences as before.
    pub(in crate::session) fn count_without(&mut self, complete_before: usize) -> Result<(), SessionError> {
        let complete = self.counts().complete_for_models();
        let moved = |count: usize| count.saturating_add(complete).saturating_sub(complete_before);
        self.learner.learned.recount(moved);
        if let Some(full) = self.learner.training.as_mut().and_then(|training| training.full.as_mut()) {
            full.counted = moved(full.counted);
        }
        self.set(Setting::LastTrainedSentences(moved(self.settings().last_trained_sentences)))
    }

    /// How many more complete sentences start a training.
    fn sentences_to_go(&self) -> usize {
        let goal = self.settings().last_trained_sentences.saturating_add(self.settings().train_after_sentences);
        goal.saturating_sub(self.counts().complete_for_models())
    }

    pub(in crate::session) fn start_training(&mut self) -> Result<(), SessionError> {
        self.start_full_training(false)
    }

    /// One that follows another at once is followed by none: its model may not have been good enough to be used.
    fn start_full_training(&mut self, follows: bool) -> Result<(), SessionError> {
        if self.learner.is_training() {
            return Err(SessionError::TrainingAlready);
        }
        let mut config = Config { threads: Some(self.settings().background_threads()), ..self.settings().config() };
        config.check_finds()?;
        let is_followed = !follows && self.current_snapshot().is_none() && self.would_label_itself(&config);
        if is_followed {
            // As soon as can be: it stands back behind all else.
            (config.self_training, config.threads) = (Some(0), Some(self.settings().all_threads()));
        }
        let (job, limit) = (self.training_job(config)?, self.limit());
        let full = Full { counted: self.counts().complete_for_models(), begun: Begun::Anew, is_followed };
        self.begin(TrainingJob { limit, ..job }, Some(full));
        Ok(())
    }

    fn would_label_itself(&self, config: &Config) -> bool {
        let pretrained = self.encoders().is_pretrained(&config.encoder);
        let counts = self.counts();
        config.labels_itself(counts.train, dataset::unlabelled_count(counts.open), pretrained) > 0
    }

    /// Lets the training under way wait at its next step, or go on. A full one that waits when the project is closed waits
    /// when it is opened again.
    pub(in crate::session) fn pause_training(&mut self, paused: bool) -> Result<(), SessionError> {
        if !self.learner.is_training() {
            return Err(SessionError::NoTraining);
        }
        if self.learner.training.as_ref().is_some_and(|training| training.full.is_some()) {
            self.set(Setting::TrainingPaused(paused))?;
        }
        self.learner.pause_training(paused);
        self.refresh_learner();
        Ok(())
    }

    /// A training on what is complete now.
    pub(super) fn training_job(&self, config: Config) -> Result<TrainingJob, SessionError> {
        if self.corpus().labels().is_empty() {
            return Err(SessionError::NoLabels);
        }
        if self.counts().train == 0 {
            return Err(SessionError::NothingToTrainOn);
        }
        let (encoders, model) = (self.encoders(), self.models.next_id());
        Ok(self.job(TrainingTask::New { config: Box::new(config), encoders, model }))
    }

    /// A training that goes on. Its model gets the number that it began with, unless a model has that by now.
    pub(super) fn resuming_job(&self, training: ModelId, threads: Option<usize>) -> TrainingJob {
        let model = if self.models.has(training) { self.models.next_id() } else { training };
        self.job(TrainingTask::Resume { training, model, threads })
    }

    pub(super) fn job(&self, task: TrainingTask) -> TrainingJob {
        let (models_dir, owner, current) = (self.models_dir(), self.owner(), self.current_snapshot());
        let names = self.names();
        TrainingJob { corpus: self.snapshot_of_corpus(), task, models_dir, owner, limit: None, current, names }
    }

    /// How much a full training in the window takes; `None`: all.
    fn limit(&self) -> Option<Limit> {
        let sentences = self.settings().train_sentences?.get();
        let edits = self.edits().done().flat_map(|transaction| transaction.edits.iter());
        let (trains, mut seen) = (&self.counts().train_ids, SentenceSet::default());
        let newest = edits.filter_map(Edit::sentence).filter(|id| trains.contains(*id) && seen.insert(*id)).collect();
        Some(Limit { sentences, newest })
    }

    /// Hears the trainer and the predictor, and gives the predictor more to do.
    pub(in crate::session) fn poll_learner(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.learner.hears_the_end() {
            let fetching = self.fetch_models();
            self.learner.fetch_first(fetching);
        }
        if let Some((ended, full)) = self.learner.trained() {
            // It went on with that, or has put something in its place.
            self.learner.interrupted = None;
            let goes_on = full.as_ref().is_some_and(|full| full.is_followed) && matches!(ended, Ok(Ok(_)));
            if ended.is_err() {
                // A fault of the program would come again at the same step.
                let (folder, owner) = (self.models_dir(), self.owner());
                let _unheard = Task::spawn("nestling-cleanup", self.waker(), move || {
                    model_folder::give_up(&model_folder::leftovers(&folder), &owner);
                });
            }
            let ended = ended.map_err(SessionError::from).and_then(|result| Ok(result?));
            let is_stopped = matches!(ended, Err(SessionError::Train(TrainError::Cancelled)));
            // One that can't go on says nothing of one that begins anew.
            let says_nothing = |full: &Full| full.begun == Begun::Again && ended.is_err() && !is_stopped;
            let counted = full.filter(|full| !goes_on && !says_nothing(full)).map(|full| full.counted);
            // It was this one that was to wait, not the next.
            let settings = [counted.map(Setting::LastTrainedSentences), Some(Setting::TrainingPaused(false))];
            for setting in settings.into_iter().flatten() {
                if let Err(error) = self.set(setting) {
                    events.push(Event::SaveFailed { message: error.to_string() });
                }
            }
            events.extend(self.training_ended(ended));
            if goes_on && let Err(error) = self.start_full_training(true) {
                self.learner.failure = Some(Failure { what: FailedWork::Training, message: error.to_string() });
            }
            self.consider_training();
        }
        if let Some(event) = self.poll_look_again() {
            events.push(event);
            self.consider_training();
        }
        self.choose_in_background();
        self.take_names();
        self.take_order(&mut events);
        self.hear_predictor(&mut events);
        self.poll_label_order(&mut events);
        self.feed_predictor();
        self.refresh_learner();
        events
    }

    fn training_ended(&mut self, ended: Result<Finished, SessionError>) -> Vec<Event> {
        match ended {
            Ok(Finished { model, trained, verdict, scores, leftovers }) => {
                // A quick training goes on from the model in use and changes little of what a score means.
                let inherited = self.learner.status.current.as_ref().and_then(|current| current.calibration);
                let is_quick = trained.manifest.settings.effort == TrainedLayers::TaskHead;
                let calibration = scores.calibration.or(inherited.filter(|_| is_quick));
                let info = ModelInfo { calibration, ..records::info(model, &trained.manifest, now_ms()) };
                let before = self.current_model();
                if let Err(error) = self.add_model(&info, NewFiles::of(&trained, leftovers), verdict.use_it()) {
                    return vec![self.learner.training_failed(error.to_string())];
                }
                if verdict.use_it() {
                    self.learner.learned.take_over();
                }
                if let Err(error) = self.take_scores(&scores, verdict.use_it()) {
                    return vec![Event::SaveFailed { message: error.to_string() }];
                }
                let unscored = scores.failure.map(|failure| Event::TrainingTrouble {
                    message: format!(
                        "model {model} could not be scored, so the threshold of suggestions stays as it was: {failure}"
                    ),
                });
                let mut events = Vec::new();
                match verdict {
                    Verdict::NotBetter { new, current } => {
                        events.push(Event::ModelNotBetter { new_f1: new, current_f1: current, in_use: before });
                    }
                    Verdict::Unreadable(why) => {
                        let what = match before {
                            Some(before) => format!("model {before}, which was in use,"),
                            None => "what finds general names".to_owned(),
                        };
                        let message = format!("{what} can't be read, so model {model} replaced it: {why}");
                        events.extend([Event::ModelReady(Box::new(info)), Event::TrainingTrouble { message }]);
                    }
                    Verdict::First | Verdict::FewDev | Verdict::Better => {
                        events.push(Event::ModelReady(Box::new(info)))
                    }
                }
                // What went wrong comes last: it is to be seen.
                events.extend(unscored);
                events
            }
            Err(SessionError::Train(TrainError::Cancelled)) => vec![Event::TrainingStopped],
            Err(error) => vec![self.learner.training_failed(error.to_string())],
        }
    }

    /// Keeps what was measured of a new model. One that is used shows suggestions from the score on that it has chosen,
    /// unless a person has.
    pub(super) fn take_scores(&mut self, scores: &Scores, is_used: bool) -> Result<(), SessionError> {
        for measurement in &scores.measurements {
            self.writer()?.measurement(*measurement)?;
            self.add_measurement(*measurement);
        }
        match scores.threshold.filter(|_| is_used && self.settings().threshold_by_effort) {
            Some(threshold) => self.set(Setting::Threshold(threshold)),
            None => Ok(()),
        }
    }

    /// Copies what the window shows out of the workers.
    pub(in crate::session) fn refresh_learner(&mut self) {
        let state = match self.learner.state() {
            Some(state) => state,
            None if self.settings().auto_train => LearnerState::Waiting { sentences_to_go: self.sentences_to_go() },
            None => LearnerState::Off,
        };
        let ordering = self.learner.ordering.as_ref().map(|_| Predicting { done: 0, total: self.counts().pool });
        let predicting = ordering.or(self.learner.asking.progress());
        let dev = self.counts().dev;
        let few_dev = self.current_model().is_some() && dev < ENOUGH_DEV;
        let note = few_dev.then(|| format!("{dev} of {ENOUGH_DEV} dev sentences: models can't be compared yet"));
        let names = self.learner.asking.source().is_some_and(|source| source.id() == ModelId::NAMES);
        let strange = self.current_model().and_then(|id| self.strange_model(id)).map(|error| error.to_string());
        let note = strange.or(note);
        let status = &mut self.learner.status;
        (status.state, status.names, status.predicting, status.note) = (state, names, predicting, note);
    }
}
