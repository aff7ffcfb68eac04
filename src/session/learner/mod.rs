//! When to train, what to predict, and what the window shows of both.
//!
//! ```text
//! 20 more complete ─> TrainingRun ─> better on dev? ─> current model ─> PredictionQueue ─> PredictorThread
//!        ^                                                                                      │
//!        └──────────── a person accepts, corrects, completes <── suggestions <──────────────────┘
//! ```
//! The first model of a project learns from the labels of persons alone, since it comes three times as soon then; the
//! training that also learns from open sentences follows at once.
//!
//! With a model in use, every ten more complete sentences start a quick training before that: the heads alone, above the
//! model's encoder, so that suggestions follow within seconds. After a change of labels, which these heads don't fit, a full
//! training comes in its place, once.
//!
//! A full training takes no more complete sentences than the settings say: those that a person worked on last, and a
//! sample of the others. So a large import starts no training of hours.

mod asking;
pub(super) mod dataset;
pub(super) mod evaluating;
pub(super) mod foreground;
pub(super) mod found;
mod in_use;
mod label_order;
mod learned;
pub(super) mod model_folder;
pub(super) mod models;
pub(super) mod names;
mod ordering_labels;
mod predicting;
pub(super) mod predictor;
mod queue;
pub(super) mod records;
pub(super) mod scoring;
mod source;
pub(super) mod span_picture;
pub(super) mod strange;
#[cfg(test)]
mod tests;
pub(super) mod trainer;
mod training;

use crate::annotation::{LabelId, ModelId, SentenceId};
use crate::session::SessionError;
use crate::session::analysis::gold::Looked;
use crate::session::project::status::{Event, FailedWork, Failure, LearnerState, LearnerStatus};
use crate::session::task::{Task, TaskLost};
use crate::train::TrainError;
use asking::Asking;
use label_order::LabelOrder;
use learned::Learned;
use names::KnownNames;
use queue::PredictionQueue;
use trainer::{Finished, TrainingRun};

/// How a training has ended.
type Ended = Result<Result<Finished, TrainError>, TaskLost>;

/// A look at gold that is under way.
type LookingAgain = TrainingRun<Result<Looked, SessionError>>;

/// The learner's state in an open project.
pub(in crate::session) struct Learner {
    /// Whether it works by itself.
    is_on: bool,
    training: Option<UnderWay>,
    looking: Option<LookingAgain>,
    /// The training that was interrupted before the project was opened.
    interrupted: Option<Waiting>,
    /// The labels when the last full training began: new ones start one sooner, once.
    labels: Vec<LabelId>,
    /// Why the last training or prediction failed.
    failure: Option<Failure>,
    asking: Asking,
    label_order: LabelOrder,
    /// In which order the sentences of a large project are predicted is found out on another thread.
    ordering: Option<Task<PredictionQueue>>,
    learned: Learned,
    /// What the encoder of the settings has learned to find.
    known_names: KnownNames,
    /// Of another encoder, on another thread.
    reading_names: Option<Task<KnownNames>>,
    status: LearnerStatus,
}

/// A training that was interrupted and can go on.
#[derive(Clone, Copy)]
struct Waiting {
    /// The number under which it began.
    training: ModelId,
    /// It takes no open sentences.
    from_labels_alone: bool,
}

/// A training under way.
struct UnderWay {
    run: TrainingRun,
    /// `None`: a quick one, which puts off no other and is followed by none.
    full: Option<Full>,
    /// How it has ended, until that is taken.
    ended: Option<Ended>,
    /// What it has made is being taken along to where the project is now.
    fetching: Option<Task<()>>,
}

/// What is to be known of a full training when it has ended.
struct Full {
    /// How many sentences were complete when it began: the next one waits for more than these. Stored when it has ended, so
    /// that one that closing the program interrupts goes on, or starts again, with the next opening.
    counted: usize,
    begun: Begun,
    /// Another training is to follow at once: this one leaves out the open sentences.
    is_followed: bool,
}

/// How a full training began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Anew,
    /// It goes on with one that was interrupted.
    Again,
}

impl Default for Learner {
    fn default() -> Self {
        let status =
            LearnerStatus { state: LearnerState::Off, current: None, names: false, predicting: None, note: None };
        Self {
            is_on: false,
            training: None,
            looking: None,
            interrupted: None,
            labels: Vec::new(),
            failure: None,
            asking: Asking::default(),
            label_order: LabelOrder::default(),
            ordering: None,
            learned: Learned::default(),
            known_names: KnownNames::default(),
            reading_names: None,
            status,
        }
    }
}

impl Learner {
    pub(in crate::session) fn status(&self) -> &LearnerStatus {
        &self.status
    }

    /// Whether it works by itself.
    pub(in crate::session) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Predicts what is on screen first.
    pub(in crate::session) fn hurry(&mut self, visible: &[SentenceId]) {
        self.asking.hurry(visible);
    }

    /// A training, or work that trains, is under way.
    pub(in crate::session) fn is_training(&self) -> bool {
        self.training.is_some() || self.looking.is_some()
    }

    /// A training can go on that was interrupted before the project was opened.
    pub(in crate::session) fn can_go_on(&self) -> bool {
        self.interrupted.is_some()
    }

    /// Whether a look at gold may begin: none is under way, nor a training that models would have to wait for.
    pub(in crate::session) fn can_look(&self, asks_models: bool) -> bool {
        self.looking.is_none() && (!asks_models || self.training.is_none())
    }

    pub(in crate::session) fn look(&mut self, run: LookingAgain) {
        self.looking = Some(run);
    }

    /// What came of a look at gold, once.
    pub(in crate::session) fn looked(&mut self) -> Option<Result<Looked, SessionError>> {
        let ended = self.looking.as_ref()?.poll()?;
        self.looking = None;
        Some(ended.map_err(SessionError::from).flatten())
    }

    /// Whether a model may have learned from a sentence, so that it can't be one to test it on.
    pub(in crate::session) fn may_know(&self, sentence: SentenceId) -> bool {
        self.learned.may_know(sentence)
    }

    /// Stops the training soon and for good.
    pub(in crate::session) fn stop_training(&self) {
        if let Some(training) = &self.training {
            training.run.give_up();
        } else if let Some(run) = &self.looking {
            run.give_up();
        }
    }

    /// Lets the training under way wait, or go on.
    pub(in crate::session) fn pause_training(&self, paused: bool) {
        if let Some(training) = &self.training {
            training.run.pause(paused);
        } else if let Some(run) = &self.looking {
            run.pause(paused);
        }
    }

    /// Stops all work soon. A training can go on later from what it kept last.
    pub(in crate::session) fn stop(&mut self) {
        if let Some(training) = self.training.take() {
            training.run.interrupt();
        }
        if let Some(run) = self.looking.take() {
            run.interrupt();
            // It deletes what its models have left on disk.
            run.wait();
        }
        self.label_order.stop();
        self.asking.stop();
    }

    /// True once, when a training has ended.
    fn hears_the_end(&mut self) -> bool {
        let Some(training) = self.training.as_mut().filter(|training| training.ended.is_none()) else { return false };
        training.ended = training.run.poll();
        training.ended.is_some()
    }

    /// What a training has made is taken along by this, before anybody uses it.
    fn fetch_first(&mut self, fetching: Option<Task<()>>) {
        if let Some(training) = &mut self.training {
            training.fetching = fetching;
        }
    }

    /// How a training has ended, once, and what it was if it was a full one.
    fn trained(&mut self) -> Option<(Ended, Option<Full>)> {
        let is_there = |fetching: &Task<()>| fetching.poll().is_some();
        let training = self.training.take_if(|t| t.ended.is_some() && t.fetching.as_ref().is_none_or(is_there))?;
        Some((training.ended?, training.full))
    }

    fn training_failed(&mut self, message: String) -> Event {
        self.failure = Some(Failure { what: FailedWork::Training, message: message.clone() });
        Event::TrainingFailed { message }
    }

    /// Stops predicting, so that a fault is not repeated with every batch.
    fn prediction_failed(&mut self, message: String) -> Event {
        self.ordering = None;
        self.failure = Some(Failure { what: FailedWork::Predicting, message: message.clone() });
        self.asking.give_up();
        Event::PredictionFailed { message }
    }

    /// What it does, but for what it waits for.
    fn state(&self) -> Option<LearnerState> {
        if let Some(training) = &self.training {
            Some(LearnerState::Training(training.run.progress()))
        } else if let Some(run) = &self.looking {
            Some(LearnerState::LookingAgain(run.progress()))
        } else {
            self.failure.clone().map(LearnerState::Failed)
        }
    }
}
