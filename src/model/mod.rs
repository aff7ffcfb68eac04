//! Architectures: what is predicted from an encoder's vectors, how it is trained, and how probabilities become mentions.
//!
//! One file here and one line in [`architectures`] make an architecture appear in the window, the command line, the
//! tests and the benchmarks.
//!
//! # Invariants
//! - Class 0 is "none", class `c` the label `c - 1` of the model's label list. "None" exists nowhere else.
//! - A [`TaskHead`] holds no state but its variables: the same input gives the same prediction whatever came before.
//! - A sentence's prediction does not depend on the others of its batch.
//! - Decoding is shared: an architecture gives probabilities, [`decode`] makes mentions of them.
//!
//! # The seam
//! [`TaskHead::loss`] takes a generator and no mode, because a loss is only ever taken in training; it returns the counts of
//! its samples, too. Probabilities come in one flat table per sentence ([`Candidates`]) rather than one vector per
//! candidate: without a filter a sentence has hundreds. The seam has no notion yet of other tasks, or of encoder layers
//! other than the last: add these with the first architecture that needs them. `ARCHITECTURE.md` shows where it fits in.
//!
//! Deliberately absent: training loops, files, scores.

mod candidates;
mod decoding;
mod options;
mod sentence;
mod smartspanner;
mod span_classifier;
mod span_pass;
mod spanner;
mod word_shape;

pub use candidates::{Candidates, SampleCounts, Samples};
pub use decoding::{Found, Nesting, decode, likely, settle};
pub use options::{
    EncoderTraits, MAX_WIDTH, OptionDefault, OptionError, OptionSpec, OptionValues, THRESHOLD, USUAL_MAX_WIDTH,
    WORD_SHAPE_FEATURES,
};
pub use sentence::{Class, Sentence, Unlearnable};
pub use word_shape::{WORD_SHAPES, word_shape};

use crate::encoder::Encoded;
use crate::nn::{NnError, Operations, Rng, Scope};
use candle_core::Tensor;
use std::fmt::Debug;

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(transparent)]
    Nn(#[from] NnError),
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error("there is no architecture {id:?}; there are: {there}")]
    NoSuchArchitecture { id: String, there: String },
    #[error("a prediction came out with fewer probabilities than candidates times classes")]
    Incomplete,
}

impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        Self::Nn(error.into())
    }
}

/// A system that can be trained. Stateless: what it builds holds the weights.
pub trait Architecture: Sync + Debug {
    /// What commands, settings and manifests call it.
    fn id(&self) -> &'static str;
    /// What people call it.
    fn name(&self) -> &'static str;
    /// Raised when weights of before no longer fit.
    fn version(&self) -> u32;
    /// What can be set about it besides what all trainings have.
    fn options(&self) -> &'static [OptionSpec];
    /// Declares the variables above an encoder with vectors of `hidden` numbers.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    fn build(&self, scope: Scope<'_>, hidden: usize, config: &TaskHeadConfig) -> Result<Box<dyn TaskHead>, ModelError>;
}

/// What is built above one encoder.
pub trait TaskHead: Send + Sync + Debug {
    /// The loss of a batch in training, with dropout and samples drawn from `rng`.
    ///
    /// # Errors
    /// When a tensor operation fails.
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError>;

    /// One prediction for each sentence.
    ///
    /// # Errors
    /// When a tensor operation fails.
    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError>;

    /// What `passes` models say that differ by dropout, one after the other: each misses some of the numbers of the words'
    /// vectors, the same ones for every sentence. Their candidates are those of [`TaskHead::predict`].
    ///
    /// # Errors
    /// When a tensor operation fails.
    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError>;
}

/// What architectures are built from.
#[derive(Clone, PartialEq, Debug)]
pub struct TaskHeadConfig {
    /// Classes, "none" included.
    pub classes: usize,
    pub dropout: f32,
    /// Whether the products of all words are taken in half precision.
    pub bf16: bool,
    /// What the task head is computed by.
    pub operations: Operations,
    /// Of the architecture.
    pub options: OptionValues,
}

/// Which words may start a candidate in prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FirstWordFilter {
    /// Those with at least this probability of being the first word of an entity.
    AtLeast(f32),
    /// All ("SP" in the paper's tables).
    All,
}

/// A scalar that can be differentiated, and what it was made from.
#[derive(Debug)]
pub struct BatchLoss {
    pub total: Tensor,
    pub samples: Samples,
}

/// What a model says of one sentence.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Probability of each word to start an entity, where the architecture predicts it.
    pub first_words: Option<Vec<f32>>,
    pub candidates: Candidates,
}

impl Prediction {
    /// What it says of the words before the number `end` and of the candidates that start there.
    #[must_use]
    pub fn before(self, end: usize) -> Self {
        let first_words = self.first_words.map(|mut first_words| {
            first_words.truncate(end);
            first_words
        });
        Self { first_words, candidates: self.candidates.before(end) }
    }
}

/// All architectures, the default one first.
pub fn architectures() -> &'static [&'static dyn Architecture] {
    &[&smartspanner::SmartSpanNer, &spanner::SpanNer]
}

/// # Errors
/// When there is none of that id.
pub fn architecture(id: &str) -> Result<&'static dyn Architecture, ModelError> {
    architectures().iter().copied().find(|a| a.id() == id).ok_or_else(|| {
        let there: Vec<&str> = architectures().iter().map(|a| a.id()).collect();
        ModelError::NoSuchArchitecture { id: id.to_owned(), there: there.join(", ") }
    })
}
