//! Fine-tuning: from a frozen [`Dataset`] and a [`Config`] to a snapshot on disk, and from a snapshot to predictions.
//!
//! # Invariants
//! - The same data, configuration and kind of processor give the same weights, bit for bit, at any number of threads.
//! - A snapshot is an immutable folder: written beside its place, its manifest last, renamed when whole. Loading checks
//!   the hash of every file.
//! - A [`Predictor`] owns its weights: a training that runs beside it never shows in its answers.
//! - The cancel flag is read within every step and at every batch of a prediction. A cancelled training leaves no
//!   snapshot; what it kept in its [`Checkpoints`] stays.
//! - A training that is resumed from a checkpoint gives the model that the uninterrupted one gives, bit for bit.
//! - What a pass takes is bounded however long a sentence is: a very long one is predicted and learnt from in parts. What is
//!   predicted of it is what would be without, but for rounding where models that differ by dropout are asked.
//! - Only what is learnt from is in the data set; which sentences that are is decided above.
//! - A folder that is read may have come from anybody: every file in it is checked before it is used, and nothing that it
//!   says is a path.
//!
//! Deliberately absent: the project file, clocks other than for durations, threads (the caller's thread waits; tensor
//! work runs on a pool of its own, see [`crate::nn::Threads`]).

mod asked_options;
mod atomic_directory;
mod beginning;
mod checkpoint;
mod config;
mod dataset;
mod encoding;
mod event;
mod files;
mod memory;
mod model;
mod output;
mod parameters;
mod parts;
mod plan;
mod predictor;
mod removal;
mod request;
mod run;
mod self_training;
mod settings;
mod snapshot;
mod trained_layers;

pub use asked_options::AskedOptions;
pub use checkpoint::{Checkpoints, Interrupted, Pace, interrupted, training_project};
pub use dataset::{Dataset, Example};
pub use event::Event;
pub use memory::{forget_peak_memory, peak_memory_mb, resident_memory_mb};
pub use parameters::{Config, Settings};
pub use parts::{Cost, PartTimes};
pub use predictor::{
    FinalAnswer, PredictOptions, Predictor, RankedLabels, ScoredSpan, SentencePrediction, answers, evaluate,
};
pub use removal::{is_half_written, remove_snapshot, remove_training, snapshot_files};
pub use request::{ResumeRequest, TrainRequest, Trained};
pub use run::{ENOUGH_DEV, is_result_of, resume, train};
pub use self_training::SelfTraining;
pub use snapshot::{Manifest, Outcome, Snapshot, check_snapshot, snapshot_hash, snapshot_manifest};
pub use trained_layers::TrainedLayers;

use crate::annotation::{LabelId, Span};
use crate::encoder::EncoderError;
use crate::model::ModelError;
use crate::nn::NnError;
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
    #[error("{name} is no option of {architectures}; it is one of: {there}")]
    OtherArchitecture { name: &'static str, architectures: String, there: String },
    #[error("a data set needs {0} to learn from")]
    NothingToLearn(&'static str),
    #[error("sentence {sentence} of the data set holds no words")]
    EmptySentence { sentence: usize },
    #[error("sentence {sentence} has a mention {span:?}, but only {words} words")]
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
    #[error("there is a model already; models are never overwritten: {0}")]
    SnapshotExists(PathBuf),
    #[error("model numbers end at {last}, and none is left")]
    NoNumberLeft { last: u32 },
    #[error(
        "models are kept in a folder beside the project, and a link or a file is in its place; put a folder there: {path}"
    )]
    NotAFolder { path: PathBuf },
    #[error("the model is damaged: {reason}; train it again: {path}")]
    Damaged { reason: String, path: PathBuf },
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
fn stop_if_cancelled(cancel: &AtomicBool) -> Result<(), TrainError> {
    if cancel.load(Ordering::Relaxed) { Err(TrainError::Cancelled) } else { Ok(()) }
}

impl From<candle_core::Error> for TrainError {
    fn from(error: candle_core::Error) -> Self {
        Self::Nn(error.into())
    }
}

impl TrainError {
    fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, source, path }
    }
}
