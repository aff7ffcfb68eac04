//! Encoders: words in, one vector a subword out, and which subwords a word begins and ends with.
//!
//! # Invariants
//! - No word is dropped: a word without any subword is `[UNK]`, and a sentence longer than the encoder's limit is
//!   encoded in overlapping windows ([`Alignment`]).
//! - An encoder folder is checked when it is read: what the program can't run is refused with what is wrong, what was
//!   expected and what to do.
//! - Import copies what it needs; later changes to the folder it came from don't matter.
//! - Every variable gets a gradient in training; hidden states and gradients match PyTorch's (`tests/fixtures/learner`).
//!
//! Deliberately absent: downloading; model types other than BERT; pickled weights, which can run code when read.

mod alignment;
mod batch;
mod bert;
mod config;
mod folder;
mod hashed;
mod registry;
mod subwords;
#[cfg(test)]
mod tests;

pub use alignment::{Alignment, Window, WordPlace};
pub use batch::{Encoded, EncoderBatch};
pub use bert::Bert;
pub use config::{EncoderConfig, Pieces};
pub use folder::{Definition, Encoder};
pub use hashed::HashedWords;
pub use registry::{EncoderInfo, Encoders, SMALL};
pub use subwords::Subwords;

use crate::nn::NnError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    #[error(transparent)]
    Nn(#[from] NnError),
    #[error("there is no encoder {name:?}; there are: {there}")]
    NoSuchEncoder { name: String, there: String },
    #[error(
        "{0:?} can't be an encoder's name; take up to 64 letters, digits, dots, dashes or underscores, and begin with a \
         letter or a digit"
    )]
    BadName(String),
    #[error("there is an encoder {0:?} already; choose another name, or remove it first")]
    NameTaken(String),
    #[error("{0:?} is built in and can't be removed or replaced")]
    BuiltIn(String),
    #[error("an encoder folder needs {file}, and this one has none; {hint}: {folder}")]
    MissingFile { file: &'static str, hint: &'static str, folder: PathBuf },
    #[error("{what} is {got}, but only {expected} works here; choose another encoder: {path}")]
    Unsupported { what: &'static str, got: String, expected: &'static str, path: PathBuf },
    #[error("can't make sense of the file: {reason}: {path}")]
    BadFile { reason: String, path: PathBuf },
    #[error("the weight {name:?} is missing; the file is not the one of a BERT encoder: {path}")]
    MissingWeight { name: String, path: PathBuf },
    #[error("the weight {name:?} has the shape {got:?}, but config.json says {expected:?}: {path}")]
    WeightShape { name: String, expected: Vec<usize>, got: Vec<usize>, path: PathBuf },
    #[error("can't split words into subwords: {0}")]
    Subwords(String),
    #[error("{action}: {source}: {path}")]
    Io { action: &'static str, source: std::io::Error, path: PathBuf },
}

impl EncoderError {
    fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, source, path }
    }
}
