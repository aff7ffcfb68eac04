//! A training on a thread of its own. A crash of it costs compute, never labels.

use super::names::Names;
use super::source::Source;
use super::{dataset, model_folder};
use crate::annotation::{Corpus, ModelId, SentenceSet};
use crate::disk::{Noted as _, is_there};
use crate::encoder::Encoders;
use crate::evaluation::Report;
use crate::model::labels_given;
use crate::session::learner::dataset::{Limit, Part};
use crate::session::learner::model_folder::Owner;
use crate::session::learner::scoring::Scores;
use crate::session::project::status::TrainingProgress;
use crate::session::task::{Task, TaskLost, Waker};
use crate::train::{
    Checkpoints, Config, Dataset, ENOUGH_DEV, Event, Example, Pace, PredictOptions, Predictor, ResumeRequest, Snapshot,
    TrainError, TrainRequest, Trained, evaluate, is_result_of, remove_snapshot, resume, train,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Seconds between two checkpoints, at least.
const CHECKPOINT_SECS: u64 = 30;
/// How often a training asks to be shown, at most: without a graphics card a frame takes as long as a step.
const SHOW_EVERY: Duration = Duration::from_millis(500);

/// What to train on and where to put the model.
pub(in crate::session) struct TrainingJob {
    pub corpus: Arc<Corpus>,
    pub task: TrainingTask,
    /// Where snapshots lie.
    pub models_dir: PathBuf,
    /// Whose they are.
    pub owner: Owner,
    /// How much of what is complete a full training takes; `None`: all.
    pub limit: Option<Limit>,
    /// The model in use, to be compared with on today's dev sentences.
    pub current: Option<(ModelId, Snapshot)>,
    /// What suggests names where no model is in use: the first one has to be better.
    pub names: Option<Names>,
}

pub(in crate::session) enum TrainingTask {
    New {
        config: Box<Config>,
        encoders: Encoders,
        /// The number that the model gets, unless a folder of that number is there.
        model: ModelId,
    },
    /// The heads alone, for a few seconds, above the encoder of the model in use.
    Refresh {
        config: Box<Config>,
        encoders: Encoders,
        model: ModelId,
        /// Sentences that the model in use has learned from already.
        known: SentenceSet,
    },
    /// Goes on with an interrupted training, on the labels that it began with.
    Resume {
        /// The number under which it began.
        training: ModelId,
        /// The number that the model gets, unless something else is there.
        model: ModelId,
        threads: Option<usize>,
    },
}

/// A model that was trained, and whether it should be used.
pub(in crate::session) struct Finished {
    pub model: ModelId,
    pub trained: Trained,
    pub verdict: Verdict,
    /// Of a quick training none: its model is soon replaced.
    pub scores: Scores,
    /// What earlier trainings have left on disk: it is listed before the next one can begin.
    pub leftovers: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::session) enum Verdict {
    /// There is no older model.
    First,
    /// The one in use can't be read, and why: what was trained takes its place.
    Unreadable(String),
    /// Too few dev sentences to compare: the newer one knows more sentences.
    FewDev,
    Better,
    NotBetter {
        new: f64,
        current: f64,
    },
}

impl Verdict {
    pub(super) fn use_it(&self) -> bool {
        !matches!(self, Self::NotBetter { .. })
    }
}

/// A training under way, or work that trains and comes to `T`.
pub(in crate::session) struct TrainingRun<T = Result<Finished, TrainError>> {
    cancel: Arc<AtomicBool>,
    give_up: Arc<AtomicBool>,
    gate: Arc<Gate>,
    progress: Arc<Mutex<TrainingProgress>>,
    task: Task<T>,
}

impl TrainingRun {
    pub(in crate::session) fn start(job: TrainingJob, of_sentences: usize, waker: Waker) -> Self {
        let give_up = Arc::new(AtomicBool::new(false));
        let (model, for_good, folder) = (job.model(), give_up.clone(), job.models_dir.clone());
        let owner = job.owner.clone();
        let sentences = job.limit.as_ref().map_or(of_sentences, |limit| limit.sentences.min(of_sentences));
        let started = Self::start_with(model, (sentences, of_sentences), waker, move |cancel, on_event| {
            let ended = run(job, cancel, on_event);
            if for_good.load(Ordering::Relaxed) {
                model_folder::give_up(&model_folder::leftovers(&folder), &owner);
            }
            ended
        });
        Self { give_up, ..started }
    }
}

impl<T: Send + 'static> TrainingRun<T> {
    /// `work` trains, on so many sentences of how many: it reads the flag and tells how far it is.
    pub(in crate::session) fn start_with<W>(
        model: ModelId,
        (train_sentences, of_sentences): (usize, usize),
        waker: Waker,
        work: W,
    ) -> Self
    where
        W: FnOnce(&AtomicBool, &mut dyn FnMut(Event)) -> T + Send + 'static,
    {
        let cancel = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(Mutex::new(TrainingProgress {
            model,
            train_sentences,
            of_sentences,
            epoch: 0,
            epochs: 0,
            step: 0,
            steps: 0,
            secs_left: None,
            paused: false,
            not_kept: None,
            warnings: Vec::new(),
        }));
        let gate = Arc::new(Gate::default());
        let (stop, cell, wake, door) = (cancel.clone(), progress.clone(), waker.clone(), gate.clone());
        let task = Task::spawn("nestling-trainer", waker, move || {
            lower_priority();
            let mut shown: Option<Instant> = None;
            work(&stop, &mut |event| {
                let differs = cell.lock().unwrap_or_else(PoisonError::into_inner).take_in(&event);
                let now = Instant::now();
                if differs && is_due(shown, now) {
                    shown = Some(now);
                    wake();
                }
                // Between two steps, or before the first.
                if matches!(event, Event::Progress { .. } | Event::Started { .. }) {
                    door.pass();
                }
            })
        });
        Self { cancel, give_up: Arc::default(), gate, progress, task }
    }

    /// Stops soon, and can go on later from what was kept last.
    pub(super) fn interrupt(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.gate.close(false);
    }

    /// Waits until it has stopped.
    pub(in crate::session) fn wait(self) {
        // What came of it nobody wants to know any more.
        let _ended = self.task.wait();
    }

    /// Waits after the step that it is at, or goes on.
    pub(in crate::session) fn pause(&self, paused: bool) {
        self.gate.close(paused);
    }

    /// Stops soon and for good.
    pub(super) fn give_up(&self) {
        self.give_up.store(true, Ordering::Relaxed);
        self.interrupt();
    }

    pub(in crate::session) fn progress(&self) -> TrainingProgress {
        let paused = self.gate.is_closed();
        TrainingProgress { paused, ..self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone() }
    }

    /// How it ended, once it has.
    pub(in crate::session) fn poll(&self) -> Option<Result<T, TaskLost>> {
        self.task.poll()
    }
}

/// Where a training waits while it is paused.
#[derive(Default)]
struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn close(&self, closed: bool) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = closed;
        self.opened.notify_all();
    }

    fn is_closed(&self) -> bool {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when it is open.
    fn pass(&self) {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(closed, |closed| *closed).unwrap_or_else(PoisonError::into_inner));
    }
}

/// A training with what it learns from, and what its model is measured on when it is done.
struct Frozen {
    job: TrainingJob,
    dataset: Arc<Dataset>,
    /// The complete sentences that there are to learn from.
    of_sentences: usize,
    blind: Vec<Example>,
}

/// Trains and compares with the model in use, on this thread.
fn run(job: TrainingJob, cancel: &AtomicBool, on_event: &mut dyn FnMut(Event)) -> Result<Finished, TrainError> {
    let Frozen { job, dataset, of_sentences, blind } = job.freeze()?;
    let (model, trained) = job.train_on(&dataset, of_sentences, cancel, on_event)?;
    let verdict = compare(&job, &dataset, &trained, cancel).inspect_err(|_| forget(&trained))?;
    let is_refresh = matches!(job.task, TrainingTask::Refresh { .. });
    let scores = if is_refresh { Scores::default() } else { job.score(model, &dataset, &blind, &trained, cancel)? };
    Ok(Finished { model, trained, verdict, scores, leftovers: model_folder::leftovers(&job.models_dir) })
}

/// Deletes a model that nobody will register. What can't be deleted is passed over by the next training.
fn forget(trained: &Trained) {
    remove_snapshot(&trained.snapshot).noted("a model that is not needed stays behind");
}

/// Trains without looking at the model in use, on this thread.
pub(super) fn run_alone(
    job: TrainingJob,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Finished, TrainError> {
    let Frozen { job, dataset, of_sentences, blind } = job.freeze()?;
    let (model, trained) = job.train_on(&dataset, of_sentences, cancel, on_event)?;
    let scores = job.score(model, &dataset, &blind, &trained, cancel)?;
    let leftovers = model_folder::leftovers(&job.models_dir);
    Ok(Finished { model, trained, verdict: Verdict::First, scores, leftovers })
}

impl TrainingJob {
    fn model(&self) -> ModelId {
        match self.task {
            TrainingTask::New { model, .. }
            | TrainingTask::Refresh { model, .. }
            | TrainingTask::Resume { model, .. } => model,
        }
    }

    fn threads(&self) -> Option<usize> {
        match &self.task {
            TrainingTask::New { config, .. } | TrainingTask::Refresh { config, .. } => config.threads,
            TrainingTask::Resume { threads, .. } => *threads,
        }
    }

    /// Takes what is learned from out of the corpus, and lets go of it: edits copy what is held elsewhere.
    fn freeze(mut self) -> Result<Frozen, TrainError> {
        let corpus = std::mem::take(&mut self.corpus);
        let dataset = Arc::new(match &self.task {
            TrainingTask::Refresh { known, model, .. } => {
                dataset::freeze_for_refresh(&corpus, known, u64::from(model.0))?
            }
            TrainingTask::New { config, .. } if labels_given(&config.architecture) => dataset::freeze_given(&corpus)?,
            TrainingTask::New { .. } | TrainingTask::Resume { .. } => dataset::freeze(&corpus, self.limit.as_ref())?,
        });
        let of_sentences = match &self.task {
            // A quick one takes what is new, and not what the settings say.
            TrainingTask::Refresh { .. } => dataset.train().len(),
            TrainingTask::New { .. } | TrainingTask::Resume { .. } => {
                dataset::learnable(&corpus, [Part::Train]).count()
            }
        };
        let blind = dataset::scored_examples(&corpus, Part::Blind, self.limit.as_ref());
        drop(corpus);
        Ok(Frozen { job: self, dataset, of_sentences, blind })
    }

    /// What goes wrong is told in the scores: the model is there all the same.
    ///
    /// # Errors
    /// A stop alone; the model is deleted then.
    fn score(
        &self,
        model: ModelId,
        dataset: &Dataset,
        blind: &[Example],
        trained: &Trained,
        cancel: &AtomicBool,
    ) -> Result<Scores, TrainError> {
        // One that labels given words finds nothing that could be measured, and makes no suggestions.
        if dataset.dev().len().max(blind.len()) < ENOUGH_DEV || trained.manifest.labels_given() {
            return Ok(Scores::default());
        }
        let predictor = Predictor::load_with_threads(&trained.as_snapshot(), self.threads());
        match predictor.and_then(|p| Scores::of((model, &p), dataset, blind, cancel)) {
            Err(TrainError::Cancelled) => {
                forget(trained);
                Err(TrainError::Cancelled)
            }
            Err(error) => Ok(Scores { failure: Some(error.to_string()), ..Scores::default() }),
            Ok(scores) => Ok(scores),
        }
    }

    fn train_on(
        &self,
        dataset: &Arc<Dataset>,
        of_sentences: usize,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(ModelId, Trained), TrainError> {
        model_folder::check_folder(&self.models_dir)?;
        let first_free = |model: ModelId| model_folder::first_free(model, &self.models_dir);
        let snapshot_of = |model: ModelId| self.models_dir.join(model_folder::directory(model));
        let training_of = |model: ModelId| self.models_dir.join(model_folder::training_directory(model));
        let (model, folder) = match self.task {
            TrainingTask::New { model, .. } | TrainingTask::Refresh { model, .. } => {
                let model = first_free(model)?;
                (model, training_of(model))
            }
            TrainingTask::Resume { training, model, .. } => {
                let (there, folder) = (snapshot_of(model), training_of(training));
                let is_free =
                    model == training && (!is_there(&there) || is_result_of(&there, &folder).unwrap_or(false));
                (if is_free { model } else { first_free(model)? }, folder)
            }
        };
        let snapshot = snapshot_of(model);
        let checkpoints = Checkpoints { folder: folder.clone(), pace: Pace::Secs(CHECKPOINT_SECS) };
        let others: Vec<PathBuf> =
            model_folder::leftovers(&self.models_dir).into_iter().filter(|other| *other != folder).collect();
        let on_event = &mut |event: Event| {
            if matches!(event, Event::Kept { .. }) {
                // Only the newest can be resumed: what earlier ones have kept would stay for nothing.
                model_folder::give_up(&others, &self.owner);
            }
            on_event(event);
        };
        let trained = match &self.task {
            TrainingTask::New { config, encoders, .. } | TrainingTask::Refresh { config, encoders, .. } => {
                let is_refresh = matches!(self.task, TrainingTask::Refresh { .. });
                let request = TrainRequest {
                    dataset: Arc::clone(dataset),
                    config: (**config).clone(),
                    encoders: encoders.clone(),
                    start: self.current.as_ref().filter(|_| is_refresh).map(|(_, snapshot)| snapshot.clone()),
                    snapshot,
                    parent: self.current.as_ref().map(|(id, _)| *id),
                    project: Some(self.owner.project().clone()),
                    of_sentences: Some(of_sentences),
                    // What takes seconds need not go on after a stop.
                    checkpoints: (!is_refresh).then_some(checkpoints),
                };
                train(&request, cancel, on_event)
            }
            TrainingTask::Resume { threads, .. } => {
                let project = Some(self.owner.project().clone());
                resume(&ResumeRequest { checkpoints, snapshot, project, threads: *threads }, cancel, on_event)
            }
        };
        let trained = trained.inspect_err(|error| {
            // What would fail again in the same way is given up.
            if !matches!(error, TrainError::Cancelled) && !error.may_pass() {
                model_folder::give_up(&[folder], &self.owner);
            }
        })?;
        Ok((model, trained))
    }
}

/// Scores what suggests now on today's dev sentences: there may be more of them than when it was trained.
fn compare(
    job: &TrainingJob,
    dataset: &Dataset,
    trained: &Trained,
    cancel: &AtomicBool,
) -> Result<Verdict, TrainError> {
    let current = match (&job.current, &job.names) {
        (Some((id, snapshot)), _) => Source::Model(*id, snapshot.clone()),
        (None, Some(names)) => Source::Names(Arc::new(names.clone())),
        (None, None) => return Ok(Verdict::First),
    };
    if dataset.dev().len() < ENOUGH_DEV {
        return Ok(if job.current.is_some() { Verdict::FewDev } else { Verdict::First });
    }
    let f1 = |report: &Report| report.micro.f1().unwrap_or(0.0);
    let score = |model: &Predictor| -> Result<f64, TrainError> {
        Ok(f1(&evaluate(model, dataset.dev(), PredictOptions::default(), cancel)?))
    };
    let current = match current.load(job.threads()) {
        Ok(current) => current,
        Err(error) => return Ok(Verdict::Unreadable(error.to_string())),
    };
    let old = score(&current)?;
    drop(current);
    let new = match &trained.manifest.outcome.dev {
        Some(dev) if trained.manifest.dataset_hash == dataset.hash() => f1(dev),
        // One that was resumed knows the dev sentences of when it began.
        _ => score(&Predictor::load_with_threads(&trained.as_snapshot(), job.threads())?)?,
    };
    let is_refresh = matches!(job.task, TrainingTask::Refresh { .. });
    let is_better = is_better(new, old, is_refresh);
    Ok(if is_better { Verdict::Better } else { Verdict::NotBetter { new, current: old } })
}

fn is_better(new: f64, old: f64, is_refresh: bool) -> bool {
    // The few dev sentences of a quick training can't tell less than a point, and what it has learned is new.
    if is_refresh { new >= old - 0.01 } else { new > old }
}

/// Whether it is time to be shown again.
fn is_due(shown: Option<Instant>, now: Instant) -> bool {
    shown.is_none_or(|shown| now.duration_since(shown) >= SHOW_EVERY)
}

impl TrainingProgress {
    /// True when a person could see the difference.
    fn take_in(&mut self, event: &Event) -> bool {
        match event {
            &Event::Started { epochs, train_sentences, of_sentences, .. } => {
                self.epochs = epochs;
                (self.train_sentences, self.of_sentences) = (train_sentences, of_sentences);
                true
            }
            &Event::Progress { step, steps, epoch, secs_left, .. } => {
                let percent = |progress: &Self| (progress.fraction() * 100.0).floor();
                let before = (percent(self), self.epoch);
                (self.step, self.steps, self.epoch, self.secs_left) = (step, steps, epoch, Some(secs_left as f32));
                (percent(self), epoch) != before
            }
            Event::NotKept { message } => {
                self.not_kept = Some(message.clone());
                true
            }
            Event::Kept { .. } => self.not_kept.take().is_some(),
            Event::Warning { message } => {
                self.warnings.push(message.clone());
                true
            }
            // What it labelled itself is in the record of the model.
            Event::EpochDone { .. } | Event::Saving | Event::LabelledItself { .. } => false,
        }
    }
}

/// Leaves the window its time.
pub(crate) fn lower_priority() {
    // Where the system does not allow it the work is done all the same.
    let _unchanged = thread_priority::set_current_thread_priority(thread_priority::ThreadPriority::Min);
}

#[cfg(test)]
mod tests;
