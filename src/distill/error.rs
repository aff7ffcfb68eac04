//! What can go wrong in a distillation.

use crate::encoder::EncoderError;
use crate::nn::NnError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Fewer sentences with words are refused.
pub(super) const LEAST_SENTENCES: usize = 20;

#[derive(Debug, thiserror::Error)]
pub enum DistillError {
    #[error("stopped; nothing was made")]
    Cancelled,
    #[error("stopped; progress is saved, and --resume continues the distillation: {0}")]
    Interrupted(PathBuf),
    #[error("there is no setting {key:?}; there are: {there}")]
    NoSuchSetting { key: String, there: String },
    #[error("{key} can't be {value:?}; it takes {expected}")]
    BadValue { key: String, value: String, expected: String },
    #[error("line {line} of the settings is not KEY = VALUE: {text:?}: {path}")]
    BadLine { line: usize, text: String, path: PathBuf },
    #[error("line {line} of the settings: {error}: {path}")]
    InLine { line: usize, error: Box<Self>, path: PathBuf },
    #[error("the teacher has no weights to learn from; choose a pretrained encoder")]
    NotPretrained,
    #[error(
        "a student takes over blocks of BERT's kind, and the teacher is a {teacher}; choose a BERT, RoBERTa, DistilBERT or \
         ELECTRA encoder"
    )]
    OtherBlocks { teacher: &'static str },
    #[error("only {0} sentences have words, and a distillation needs at least {least}; give more text", least = LEAST_SENTENCES)]
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
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, source, path }
    }
}

/// # Errors
/// [`DistillError::Cancelled`] when the flag is set.
pub(super) fn stop_if_cancelled(cancel: &AtomicBool) -> Result<(), DistillError> {
    if cancel.load(Ordering::Relaxed) { Err(DistillError::Cancelled) } else { Ok(()) }
}
