//! What can go wrong in an adaptation.

use crate::encoder::EncoderError;
use crate::nn::NnError;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Fewer sentences with words are refused.
pub(super) const LEAST_SENTENCES: usize = 20;

#[derive(Debug, thiserror::Error)]
pub enum AdaptError {
    #[error("stopped; nothing was made")]
    Cancelled,
    #[error("an adaptation has no setting {key:?}; there are: {there}")]
    NoSuchSetting { key: String, there: String },
    #[error("{key} can't be {value:?}; it takes {expected}")]
    BadValue { key: String, value: String, expected: String },
    #[error("the encoder has no weights to begin with; choose a pretrained encoder")]
    NotPretrained,
    #[error(
        "an adaptation works on blocks of BERT's kind, and the encoder is a {encoder}; choose a BERT, RoBERTa, DistilBERT or \
         ELECTRA encoder"
    )]
    OtherBlocks { encoder: &'static str },
    #[error("the encoder has no vocabulary to choose left-out words from; choose one with subwords")]
    NoVocabulary,
    #[error("only {0} sentences have words, and an adaptation needs at least {least}; give more text", least = LEAST_SENTENCES)]
    TooLittleText(usize),
    #[error("the encoder's folder already exists; choose another one: {0}")]
    Exists(PathBuf),
    #[error("the error is not a finite number at step {0}; try a lower rate")]
    NotFinite(usize),
    #[error("can't write the record: {0}")]
    Record(#[from] serde_json::Error),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Nn(#[from] NnError),
}

/// # Errors
/// [`AdaptError::Cancelled`] when the flag is set.
pub(super) fn stop_if_cancelled(cancel: &AtomicBool) -> Result<(), AdaptError> {
    if cancel.load(Ordering::Relaxed) { Err(AdaptError::Cancelled) } else { Ok(()) }
}
