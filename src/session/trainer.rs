//! A training on a thread of its own. A crash of it costs compute, never labels.

use super::status::TrainingProgress;
use super::task::{Task, TaskLost, Waker};
use super::{dataset, models};
use crate::annotation::{Corpus, ModelId};
use crate::encoder::Encoders;
use crate::train::{
    Config, Dataset, ENOUGH_DEV, Event, PredictOptions, Predictor, TrainError, TrainRequest, Trained, evaluate, train,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What to train on and where to put the model.
pub(super) struct TrainingJob {
    pub corpus: Arc<Corpus>,
    pub config: Config,
    pub encoders: Encoders,
    /// The number that the model gets, unless a folder of that number is there.
    pub model: ModelId,
    /// Where snapshots lie.
    pub models_dir: PathBuf,
    /// The model in use, to be compared with on today's dev sentences.
    pub current: Option<(ModelId, PathBuf)>,
}

/// A model that was trained, and whether it should be used.
pub(super) struct Finished {
    pub model: ModelId,
    pub trained: Trained,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// There is no older model, or the older one can't be read.
    First,
    /// Too few dev sentences to compare: the newer one knows more sentences.
    FewDev,
    Better,
    NotBetter {
        new: f64,
        current: f64,
    },
}

impl Verdict {
    pub(super) fn use_it(self) -> bool {
        !matches!(self, Self::NotBetter { .. })
    }
}

/// A training under way.
pub(super) struct TrainingRun {
    cancel: Arc<AtomicBool>,
    progress: Arc<Mutex<TrainingProgress>>,
    task: Task<Result<Finished, TrainError>>,
}

impl TrainingRun {
    pub(super) fn start(job: TrainingJob, train_sentences: usize, waker: Waker) -> Self {
        let cancel = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(Mutex::new(TrainingProgress {
            model: job.model,
            train_sentences,
            epoch: 0,
            epochs: 0,
            fraction: 0.0,
            secs_left: None,
        }));
        let (stop, cell, wake) = (cancel.clone(), progress.clone(), waker.clone());
        let task = Task::spawn("nestling-trainer", waker, move || {
            lower_priority();
            run(job, &stop, &mut |event| {
                let shown = cell.lock().unwrap_or_else(PoisonError::into_inner).take_in(&event);
                if shown {
                    wake();
                }
            })
        });
        Self { cancel, progress, task }
    }

    pub(super) fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    pub(super) fn progress(&self) -> TrainingProgress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How it ended, once it has.
    pub(super) fn poll(&self) -> Option<Result<Result<Finished, TrainError>, TaskLost>> {
        self.task.poll()
    }
}

/// Trains and compares with the model in use, on this thread.
fn run(job: TrainingJob, cancel: &AtomicBool, on_event: &mut dyn FnMut(Event)) -> Result<Finished, TrainError> {
    let (job, dataset) = job.freeze()?;
    let (model, trained) = job.train_on(&dataset, cancel, on_event)?;
    let verdict = compare(&job, &dataset, &trained, cancel).inspect_err(|_| {
        // Nobody registers this one. What can't be deleted is passed over by the next training.
        let _left = std::fs::remove_dir_all(&trained.snapshot);
    })?;
    Ok(Finished { model, trained, verdict })
}

/// Trains without looking at the model in use, on this thread.
pub(super) fn run_alone(
    job: TrainingJob,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<(ModelId, Trained), TrainError> {
    let (job, dataset) = job.freeze()?;
    job.train_on(&dataset, cancel, on_event)
}

impl TrainingJob {
    /// Takes what is learned from out of the corpus, and lets go of it: an edit copies a corpus that is held elsewhere.
    fn freeze(mut self) -> Result<(Self, Arc<Dataset>), TrainError> {
        let corpus = std::mem::take(&mut self.corpus);
        let dataset = Arc::new(dataset::freeze(&corpus)?);
        drop(corpus);
        Ok((self, dataset))
    }

    fn train_on(
        &self,
        dataset: &Arc<Dataset>,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(ModelId, Trained), TrainError> {
        let model = models::first_free(self.model, &self.models_dir);
        let request = TrainRequest {
            dataset: Arc::clone(dataset),
            config: self.config.clone(),
            encoders: self.encoders.clone(),
            snapshot: self.models_dir.join(models::directory(model)),
            parent: self.current.as_ref().map(|(id, _)| *id),
        };
        Ok((model, train(&request, cancel, on_event)?))
    }
}

/// Scores the model in use on today's dev sentences: there may be more of them than when it was trained.
fn compare(
    job: &TrainingJob,
    dataset: &Dataset,
    trained: &Trained,
    cancel: &AtomicBool,
) -> Result<Verdict, TrainError> {
    let Some((_, folder)) = &job.current else { return Ok(Verdict::First) };
    if dataset.dev().len() < ENOUGH_DEV {
        return Ok(Verdict::FewDev);
    }
    let Ok(current) = Predictor::load_with_threads(folder, job.config.threads) else { return Ok(Verdict::First) };
    let old = evaluate(&current, dataset.dev(), PredictOptions::default(), cancel)?.micro.f1().unwrap_or(0.0);
    let new = trained.manifest.outcome.dev.as_ref().and_then(|dev| dev.micro.f1()).unwrap_or(0.0);
    Ok(if new > old { Verdict::Better } else { Verdict::NotBetter { new, current: old } })
}

impl TrainingProgress {
    /// True when a person could see the difference.
    fn take_in(&mut self, event: &Event) -> bool {
        match *event {
            Event::Started { epochs, train_sentences, .. } => {
                (self.epochs, self.train_sentences) = (epochs, train_sentences);
            }
            Event::Progress { step, steps, epoch, secs_left, .. } => {
                let fraction = step as f32 / steps.max(1) as f32;
                let shown = (fraction * 100.0).floor() > (self.fraction * 100.0).floor() || epoch != self.epoch;
                (self.fraction, self.epoch, self.secs_left) = (fraction, epoch, Some(secs_left as f32));
                return shown;
            }
            Event::EpochDone { .. } | Event::Saving => {}
        }
        true
    }
}

/// Leaves the window its time.
pub(super) fn lower_priority() {
    // Where the system does not allow it the work is done all the same.
    let _unchanged = thread_priority::set_current_thread_priority(thread_priority::ThreadPriority::Min);
}
