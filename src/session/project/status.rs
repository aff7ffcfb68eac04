//! What the window shows of saving and of the learner. Plain values, copied out of the session each frame.

use crate::active::Finding;
use crate::annotation::{LabelId, ModelId, SentenceSet};
use crate::evaluation::{Calibration, Scale};
use crate::model::{Task, architecture, labels_given};
use std::collections::HashMap;

/// Whether what was done is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveState {
    /// The committed revision is the current one.
    AllSaved,
    /// This many changes are on their way.
    Saving { waiting: usize },
    /// Nothing is lost: the changes wait in memory and can be tried again.
    Failed { message: String },
}

/// Who made the suggestions on screen.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    pub id: ModelId,
    pub architecture: String,
    pub encoder: String,
    /// How many sentences it learned from.
    pub train_sentences: usize,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Strict micro-F1 on the dev split, in [0, 1]; `None` when there was none to measure on.
    pub dev_f1: Option<f64>,
    /// Of a model that labels given words the share of the mentions of dev whose label is right, in [0, 1].
    pub dev_accuracy: Option<f64>,
    /// What makes its scores mean what they say; `None` where dev could not tell.
    pub calibration: Option<Calibration>,
}

impl ModelInfo {
    /// Whether it finds no mentions, so that it makes no suggestions, and says which labels given words have.
    pub fn labels_given(&self) -> bool {
        labels_given(&self.architecture)
    }

    /// Whether it classifies spans, and so has vectors of them: not if it tags words.
    pub fn classifies_spans(&self) -> bool {
        architecture(&self.architecture).is_ok_and(|architecture| architecture.task() != Task::Tags)
    }

    /// As they come where dev could not tell.
    pub(in crate::session) fn scale(&self) -> Scale {
        self.calibration.map(|calibration| calibration.scale).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum LearnerState {
    /// A training starts by itself after this many more complete sentences.
    Waiting {
        sentences_to_go: usize,
    },
    /// Trainings start by hand only.
    Off,
    Training(TrainingProgress),
    /// Models are trained that are asked about gold which they have not seen; the progress is that of all of them.
    LookingAgain(TrainingProgress),
    /// The last training, or the predicting, ended with an error; labels are not touched by that.
    Failed(Failure),
}

/// What ended with an error, and with which.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub what: FailedWork,
    pub message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailedWork {
    Training,
    Predicting,
}

impl LearnerState {
    /// How far the training is that is under way, or the work that trains.
    pub fn progress(&self) -> Option<&TrainingProgress> {
        match self {
            Self::Training(progress) | Self::LookingAgain(progress) => Some(progress),
            Self::Waiting { .. } | Self::Off | Self::Failed(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TrainingProgress {
    pub model: ModelId,
    pub train_sentences: usize,
    /// The complete sentences that there are, of which it takes so many.
    pub of_sentences: usize,
    /// Counted from 1; 0 before the first.
    pub epoch: usize,
    pub epochs: usize,
    /// Steps done, of how many.
    pub step: usize,
    pub steps: usize,
    pub secs_left: Option<f32>,
    /// It waits until a person lets it go on.
    pub paused: bool,
    /// Why its state can't be kept: if the program is closed now, it begins again from the start.
    pub not_kept: Option<String>,
    /// Why it is not quite the training that was asked for, if there are reasons.
    pub warnings: Vec<String>,
}

/// The predictor is at work on this many sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicting {
    pub done: usize,
    pub total: usize,
}

impl TrainingProgress {
    /// Share of the steps done, in [0, 1].
    pub fn fraction(&self) -> f32 {
        self.step as f32 / self.steps.max(1) as f32
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LearnerStatus {
    pub state: LearnerState,
    /// The model that makes the suggestions.
    pub current: Option<ModelInfo>,
    /// There is no model in use, and the encoder suggests names meanwhile.
    pub names: bool,
    pub predicting: Option<Predicting>,
    /// Something that a person should know, such as that there are too few dev sentences to compare models.
    pub note: Option<String>,
}

/// How far the annotation is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub documents: usize,
    pub sentences: usize,
    pub tokens: usize,
    pub mentions: usize,
    pub untouched: usize,
    pub in_progress: usize,
    pub complete: usize,
    pub skipped: usize,
    pub flagged: usize,
    /// Complete sentences that train.
    pub train: usize,
    /// Complete sentences of the dev split.
    pub dev: usize,
    /// All sentences of the dev split.
    pub dev_all: usize,
    pub test: usize,
    pub test_complete: usize,
    pub blind: usize,
    pub blind_complete: usize,
    /// Sentences of the blind set that wait to be annotated.
    pub blind_open: usize,
    /// Untouched sentences that can be set aside for a blind set.
    pub free: usize,
    /// Sentences that are neither complete nor kept aside.
    pub pool: usize,
    /// Those of them that have words and were not skipped.
    pub open: usize,
    /// The complete sentences that train, by their ids.
    pub train_ids: SentenceSet,
    /// The complete sentences of the dev split, by their ids.
    pub dev_ids: SentenceSet,
    pub mentions_by_label: HashMap<LabelId, usize>,
}

impl Counts {
    /// Complete sentences that models learn from or are compared on.
    pub fn complete_for_models(&self) -> usize {
        self.train + self.dev
    }
}

/// What happened since the last look.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A new model makes the suggestions from now on.
    ModelReady(Box<ModelInfo>),
    /// A training ended, but its model was not better on dev and is not used.
    ModelNotBetter {
        new_f1: f64,
        current_f1: f64,
        /// The model that is better; `None` where general names are.
        in_use: Option<ModelId>,
    },
    /// Suggestions came for these sentences.
    Suggestions(Vec<crate::annotation::SentenceId>),
    /// What is doubtful in gold, the most doubtful first.
    LookedAgain {
        findings: Vec<Finding>,
        /// It took as long as trainings do, and the person may be at something else by now.
        asked_models: bool,
    },
    LookAgainFailed {
        message: String,
    },
    TrainingStopped,
    /// A training has ended well, but not all that comes after it.
    TrainingTrouble {
        message: String,
    },
    TrainingFailed {
        message: String,
    },
    PredictionFailed {
        message: String,
    },
    SaveFailed {
        message: String,
    },
}
