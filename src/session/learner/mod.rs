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

pub(super) mod dataset;
pub(super) mod foreground;
pub(super) mod found;
pub(super) mod model_folder;
pub(super) mod models;
mod predicting;
pub(super) mod predictor;
mod queue;
pub(super) mod records;
pub(super) mod scoring;
pub(super) mod strange;
#[cfg(test)]
mod tests;
pub(super) mod trainer;
mod training;

use crate::annotation::{LabelId, ModelId, SentenceId};
use crate::session::SessionError;
use crate::session::analysis::gold::Looked;
use crate::session::project::status::{LearnerState, LearnerStatus};
use crate::train::Snapshot;
use predictor::PredictorThread;
use queue::PredictionQueue;
use std::collections::HashSet;
use std::sync::Arc;
use trainer::TrainingRun;

/// The learner's state in an open project.
pub(in crate::session) struct Learner {
    /// Whether it works by itself.
    pub(in crate::session) is_on: bool,
    pub(in crate::session) training: Option<TrainingRun>,
    pub(in crate::session) looking: Option<TrainingRun<Result<Looked, SessionError>>>,
    /// The training that was interrupted before the project was opened.
    pub(in crate::session) interrupted: Option<ModelId>,
    /// Another training is to follow the one under way at once: that one leaves out the open sentences.
    goes_on: bool,
    /// How many sentences were complete when the training under way began, where the next one waits for more than these: a
    /// quick one puts off no other. Stored when it has ended, so that one that closing the program interrupts goes on, or
    /// starts again, with the next opening.
    counted: Option<usize>,
    /// It goes on with one that was interrupted.
    resumes: bool,
    /// The labels when the last full training began: new ones start one sooner, once.
    labels: Vec<LabelId>,
    /// Why the last training or prediction failed.
    failure: Option<String>,
    predictor: Option<PredictorThread>,
    queue: PredictionQueue,
    /// The model that predicts and its snapshot.
    suggesting: Option<(ModelId, Snapshot)>,
    /// Batches that the predictor has.
    under_way: usize,
    /// The sentences that were complete when the last training began, or when the project was opened.
    begun_with: Arc<HashSet<SentenceId>>,
    /// How many these are, without those of documents that were set aside since.
    begun_count: usize,
    /// The labels that a model knows, as it was read last.
    classes: Option<(ModelId, Vec<LabelId>)>,
    /// The sentences that the model in use has learned from, as far as is known: at opening all that are complete.
    pub(in crate::session) known: Arc<HashSet<SentenceId>>,
    /// The sentences that any model may have learned from: they are no test of one.
    ever_known: HashSet<SentenceId>,
    pub(in crate::session) status: LearnerStatus,
}

impl Default for Learner {
    fn default() -> Self {
        let status = LearnerStatus { state: LearnerState::Off, current: None, predicting: None, note: None };
        Self {
            is_on: false,
            training: None,
            looking: None,
            interrupted: None,
            goes_on: false,
            counted: None,
            resumes: false,
            labels: Vec::new(),
            failure: None,
            predictor: None,
            queue: PredictionQueue::default(),
            suggesting: None,
            under_way: 0,
            begun_with: Arc::default(),
            begun_count: 0,
            classes: None,
            known: Arc::default(),
            ever_known: HashSet::new(),
            status,
        }
    }
}

impl Learner {
    pub(in crate::session) fn status(&self) -> &LearnerStatus {
        &self.status
    }

    pub(in crate::session) fn hurry(&mut self, visible: &[SentenceId]) {
        self.queue.hurry(visible);
    }

    /// A training, or work that trains, is under way.
    pub(in crate::session) fn is_training(&self) -> bool {
        self.training.is_some() || self.looking.is_some()
    }

    /// Whether a model may have learned from a sentence, so that it can't be one to test it on.
    pub(in crate::session) fn may_know(&self, sentence: SentenceId) -> bool {
        self.ever_known.contains(&sentence)
    }

    /// Stops the training soon and for good.
    pub(in crate::session) fn stop_training(&self) {
        if let Some(run) = &self.training {
            run.give_up();
        } else if let Some(run) = &self.looking {
            run.give_up();
        }
    }

    /// Lets the training under way wait, or go on.
    pub(in crate::session) fn pause_training(&self, paused: bool) {
        if let Some(run) = &self.training {
            run.pause(paused);
        } else if let Some(run) = &self.looking {
            run.pause(paused);
        }
    }

    /// Stops all work soon. A training can go on later from what it kept last.
    pub(in crate::session) fn stop(&mut self) {
        if let Some(run) = self.training.take() {
            run.interrupt();
        }
        if let Some(run) = self.looking.take() {
            run.interrupt();
            // It deletes what its models have left on disk.
            run.wait();
        }
        self.predictor = None;
    }
}
