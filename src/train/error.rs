//! What can go wrong in trainings and predictions.

use crate::annotation::{LabelId, Span};
use crate::encoder::EncoderError;
use crate::model::ModelError;
use crate::nn::NnError;
use crate::wording::counted;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    #[error("cancelled")]
    Cancelled,
    #[error("there is no setting {key:?}; there are: {there}")]
    NoSuchSetting { key: String, there: String },
    #[error("{key} can't be {value:?}; it takes {expected}")]
    BadValue { key: String, value: String, expected: String },
    #[error("{name} is no option of {architectures}; leave it out, or choose an architecture that has it: {there}")]
    OtherArchitecture { name: &'static str, architectures: String, there: String },
    #[error(
        "{architecture} says which label given words have and finds no mentions, so it can't be used for this; choose another architecture"
    )]
    FindsNothing { architecture: String },
    #[error("a data set needs {0} to learn from")]
    NothingToLearn(&'static str),
    #[error("sentence {sentence} of the data set holds no words")]
    EmptySentence { sentence: usize },
    #[error("sentence {sentence} has a mention {span:?}, but only {}", counted(*words, "word", "words"))]
    SpanOutside { sentence: usize, span: Span, words: usize },
    #[error("sentence {sentence} has a mention with the label number {}, which the data set does not list", label.0)]
    NoSuchLabel { sentence: usize, label: LabelId },
    #[error("the label number {} is listed twice", label.0)]
    LabelTwice { label: LabelId },
    #[error("the loss is not a finite number at step {step}; try lower learning rates (encoder_lr, head_lr)")]
    NotFinite { step: usize },
    #[error("the model gives probabilities that are not numbers, so its answers can't be used; train again")]
    NoProbabilities,
    #[error("it is not the model registered under its number, and was not changed; train again: {path}")]
    OtherModel { path: PathBuf },
    #[error("the training belongs to another project, and was not changed; start a new one: {path}")]
    OtherTraining { path: PathBuf },
    #[error("the model to continue from has other labels than the data")]
    OtherLabels,
    #[error(
        "what an encoder learned on entities can't be read: {0}; get it again, or delete entities.safetensors from its folder"
    )]
    EntityHeads(String),
    #[error("there is something in its place already, which is never overwritten; move it away: {0}")]
    Exists(PathBuf),
    #[error("model numbers end at {last}, and none is left")]
    NoNumberLeft { last: u32 },
    #[error(
        "models are kept in a folder beside the project, and a link or a file is in its place; put a folder there: {path}"
    )]
    NotAFolder { path: PathBuf },
    #[error("the model is damaged: {reason}; train it again: {path}")]
    Damaged { reason: String, path: PathBuf },
    #[error("what was kept of the training is damaged: {reason}; start a new one: {path}")]
    DamagedTraining { reason: String, path: PathBuf },
    #[error(
        "the model was made by another version of the program ({what} {got}, this one reads {expected}); train it again"
    )]
    OtherVersion { what: String, got: u32, expected: u32 },
    #[error("no GPU can be used: {0}; with processor=cpu the training starts over on the CPU")]
    Processor(String),
    #[error("{action}: {source}: {path}")]
    Io { action: &'static str, source: std::io::Error, path: PathBuf },
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Nn(#[from] NnError),
}

/// # Errors
/// [`TrainError::Cancelled`] when the flag is set.
pub(super) fn stop_if_cancelled(cancel: &AtomicBool) -> Result<(), TrainError> {
    if cancel.load(Ordering::Relaxed) { Err(TrainError::Cancelled) } else { Ok(()) }
}

impl From<candle_core::Error> for TrainError {
    fn from(error: candle_core::Error) -> Self {
        Self::Nn(error.into())
    }
}

impl TrainError {
    /// Whether the same training may come to another end the next time, such as when a full disk has room again.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Nn(NnError::Write { .. } | NnError::Threads { .. }))
    }

    /// What is said of a folder of a model, as it is said of one of a training.
    pub(super) fn of_training(self) -> Self {
        match self {
            Self::Damaged { reason, path } => Self::DamagedTraining { reason, path },
            other => other,
        }
    }

    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, source, path }
    }
}
