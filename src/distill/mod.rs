//! Distillation: a small encoder that gives nearly the vectors of a large one, its teacher, at a fraction of the time.
//!
//! The student begins as a part of its teacher: its tables, its first blocks, and of their inner layers the neurons that
//! count most on the text at hand. Then its blocks learn to give the teacher's hidden states on that text, block by block
//! (Hinton et al. 2015; hidden states and blocks taken from the teacher as in Sanh et al. 2019 and Jiao et al. 2020). No
//! labels are needed. The tables stay as they are, rounded to the bits that they will be stored in where the student is to
//! be compact, so that the blocks learn to live with that.
//!
//! # Invariants
//! - The same teacher, text and settings give the same student, bit for bit, at any number of threads.
//! - The student's folder is written beside its place and renamed when it is whole.
//! - A distillation that was interrupted goes on from its last checkpoint to the student that it would have become.
//!
//! Deliberately absent: a student narrower than its teacher; objectives on words left out or on attention; data from
//! anywhere but the caller.

mod comparison;
mod config;
mod files;
mod keeper;
mod preparing;
mod run;
mod stretches;
mod student;

pub use config::Config;
pub use files::Record;
pub use run::distill;

use crate::encoder::{Encoder, EncoderError};
use crate::nn::NnError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// What to distil from what, and where to.
#[derive(Clone, Debug)]
pub struct DistillationRequest {
    pub teacher: Encoder,
    /// What the record calls the teacher.
    pub teacher_name: String,
    /// The words of each sentence.
    pub sentences: Vec<Vec<String>>,
    pub config: Config,
    /// The student's folder; it must not exist.
    pub output: PathBuf,
    /// Go on with a distillation into that folder which was interrupted.
    pub resume: bool,
    /// Seconds between two checkpoints.
    pub pace_secs: u64,
}

/// How far a distillation is.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The teacher's and the student's numbers, and steps taken before of all.
    Started { teacher_parameters: usize, parameters: usize, from_step: usize, steps: usize },
    /// After every step; `error` is that of the last batch.
    Progress { step: usize, steps: usize, error: f64, secs_left: f64 },
    /// The error on sentences that are not learnt from; epoch 0 is the student before it has learned.
    EpochDone { epoch: usize, error: f64 },
    /// A checkpoint was written.
    Kept { step: usize },
    /// A checkpoint could not be written; the distillation goes on.
    NotKept { message: String },
}

#[derive(Debug, thiserror::Error)]
pub enum DistillError {
    #[error("stopped; nothing was made")]
    Cancelled,
    #[error("stopped; progress is saved, and --resume continues the distillation: {0}")]
    Interrupted(PathBuf),
    #[error("there is no setting {key:?}; there are: {there}")]
    NoSuchSetting { key: String, there: String },
    #[error("{key} can't be {value:?}; it takes {expected}")]
    BadValue { key: &'static str, value: String, expected: String },
    #[error("line {line} of the settings is not KEY = VALUE: {text:?}: {path}")]
    BadLine { line: usize, text: String, path: PathBuf },
    #[error("the teacher has no weights to learn from; choose a pretrained encoder")]
    NotPretrained,
    #[error("only {0} sentences have words, and a distillation needs at least {least}; give more text", least = preparing::LEAST_SENTENCES)]
    TooLittleText(usize),
    #[error("the student's folder already exists; choose another one: {0}")]
    Exists(PathBuf),
    #[error(
        "a distillation into this folder was interrupted; continue it with --resume, or delete its checkpoint to start over: {0}"
    )]
    Unfinished(PathBuf),
    #[error("there is no interrupted distillation to resume; leave out --resume to start one: {0}")]
    NothingToResume(PathBuf),
    #[error(
        "the checkpoint has another teacher, text or settings; repeat the first call, or delete the checkpoint to start over: {0}"
    )]
    OtherDistillation(PathBuf),
    #[error("the checkpoint is damaged ({reason}); delete it and start over: {path}")]
    Damaged { reason: String, path: PathBuf },
    #[error("the error is not a finite number at step {0}; try a lower rate")]
    NotFinite(usize),
    #[error("{action}: {source}: {path}")]
    Io { action: &'static str, source: std::io::Error, path: PathBuf },
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Nn(#[from] NnError),
}

impl DistillError {
    fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, source, path }
    }
}

fn stop_if_cancelled(cancel: &AtomicBool) -> Result<(), DistillError> {
    if cancel.load(Ordering::Relaxed) { Err(DistillError::Cancelled) } else { Ok(()) }
}
