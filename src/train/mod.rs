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
mod entity_heads;
mod error;
mod event;
mod files;
mod layout;
mod manifest;
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
mod state;
mod trained_layers;

pub use asked_options::AskedOptions;
pub use checkpoint::{Checkpoints, Interrupted, Pace, interrupted, training_project};
pub use dataset::{Dataset, Example};
pub use entity_heads::entity_labels;
pub use error::TrainError;
pub use event::Event;
pub use layout::is_half_written;
pub use manifest::{Manifest, Outcome, Snapshot};
pub use memory::{forget_peak_memory, peak_memory_mb, resident_memory_mb};
pub use parameters::{Config, Settings};
pub use parts::{Cost, PartTimes};
pub use predictor::{
    FinalAnswer, PredictOptions, Predictor, RankedLabels, ScoredSpan, SentencePrediction, answers, evaluate,
};
pub use removal::{remove_snapshot, remove_training, snapshot_files};
pub use request::{ResumeRequest, TrainRequest, Trained};
pub use run::{ENOUGH_DEV, is_result_of, resume, train, train_encoder, train_in_memory};
pub use self_training::SelfTraining;
pub use snapshot::{check_snapshot, snapshot_hash, snapshot_manifest};
pub use trained_layers::TrainedLayers;
