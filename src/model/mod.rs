//! Architectures: what is predicted from an encoder's vectors, how it is trained, and how probabilities become mentions.
//!
//! One file here and one line in [`architectures`] make an architecture appear in the window, the command line, the
//! tests and the benchmarks.
//!
//! # Invariants
//! - Class 0 is "none", class `c` the label `c - 1` of the model's label list. "None" exists nowhere else.
//! - A [`TaskHead`] holds no state but its variables: the same input gives the same prediction whatever came before.
//! - A sentence's prediction does not depend on the others of its batch.
//! - Decoding is shared: an architecture gives probabilities, or what it decided, and [`decode`] makes mentions of them.
//!
//! # The seam
//! What an architecture says and gets, once for all. `ARCHITECTURE.md` shows where it fits in.
//!
//! - **What it needs of the encoder**: [`Architecture::layers`], by default the last one. The forward pass keeps these alone, by
//!   hand and on other devices, and the gradients of all of them flow back into the encoder.
//!   [`Encoded`] has them: `hidden()` is the highest, `layers()` are all from low to high, [`Encoded::words`] says which rows
//!   are a word's first, last and other subwords, and which `[CLS]` and `[SEP]` are those of its window.
//!   [`Layers::Static`] gives the table of word embeddings instead; no block is run then and none learns.
//! - **How far it looks**: [`Architecture::reach`]. A sentence too long for one pass of the encoder is predicted in parts.
//!   An answer about a candidate may then depend on the windows of its own words alone; what depends on more (a Viterbi path,
//!   an LSTM over words) says [`Reach::Sentence`] and gets the whole sentence, put together from these passes. In training
//!   very long sentences are parted for either ([`Sentence::part`]).
//! - **What it learns from**: a [`Sentence`] with its words and all gold mentions, wide, doubled and in fragments. It looks for
//!   those that it can learn itself, and says which it can't: [`Architecture::unlearnable`]. A word that begins only such
//!   mentions is [`FirstWord::Unlearnable`]: a wrong answer to train on.
//! - **Its variables**: declared in the [`Scope`] that it is given, named by what follows there, with the task head's learning
//!   rate; [`Scope::in_group`] has the encoder's. [`crate::encoder::Block::declare_copy`] begins with the weights of a block
//!   of the encoder ([`Bert::blocks`]) and then learns on its own, at the encoder's rate. A snapshot holds all of them.
//!   Whatever the sizes in a file are, values are taken from it only where their shapes are those declared here.
//! - **Its answer**: a [`Prediction`]. The table of [`Candidates`] is one flat one per sentence: without a filter a sentence
//!   has hundreds. [`decode`] takes every candidate that is more probable than "none". Where that is not how the system
//!   decides (Viterbi, Soft-NMS), `decided` is its final answer; the table then only ranks what else is worth showing, and
//!   may be [`Candidates::none`]. A score is a probability or as near to one as the system has; say in its docs which.
//! - **Models that differ by dropout**: [`TaskHead::predict_with_dropout`] has a default for all whose candidates depend on the
//!   sentence alone.
//! - **Its task**: [`Architecture::task`]. One that labels given words implements [`TaskHead::type_spans`], and
//!   [`TaskHead::predict`] by [`predict_given`]; training, evaluation and snapshots are then as for the others, with gold
//!   words given.
//!
//! [`TaskHead::loss`] takes a generator and no mode, because a loss is only ever taken in training; it returns the counts of
//! its samples, too.
//!
//! [`crate::nn`] has what heads are made of: `Linear`, `Embedding`, `LayerNorm`, `BiLstm`; `segment_max`, `segment_mean`,
//! `select_rows`; `softmax`, `log_softmax`, `log_sum_exp`, `sigmoid`, `softplus`, `cross_entropy`, `smooth_l1`,
//! `binary_focal_loss`; `Operations` for `linear`, `layer_norm`, `gelu`, `dropout`. What goes on word by word is one operation
//! by hand (see there why).
//!
//! Deliberately absent: training loops, files, scores.

mod bundling;
mod candidates;
mod decoding;
mod drawn_tags;
mod dspert;
mod given;
mod locate_label;
mod options;
mod sentence;
mod seqlab;
mod shape_vectors;
mod smartspanner;
mod span_classifier;
mod span_pass;
mod span_typing;
mod spanner;
mod tagger;
mod tags;
mod word_shape;

pub use candidates::{Candidates, SampleCounts, Samples};
pub use decoding::{Found, Nesting, decode, likely, settle};
pub use given::{LabelTable, predict_given};
pub use options::{
    EncoderTraits, MAX_WIDTH, OptionDefault, OptionError, OptionSpec, OptionValues, THRESHOLD, USUAL_MAX_WIDTH,
    WORD_SHAPE_FEATURES,
};
pub use sentence::{Class, FirstWord, GoldMention, Sentence, Unlearnable};
pub use word_shape::{WORD_SHAPES, word_shape};

use crate::annotation::Fragments;
use crate::encoder::{Bert, Encoded, Layers};
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
    #[error(
        "a CRF takes at most {most} labels, and there are {labels}; choose each word's tag by itself (tags=softmax)"
    )]
    TooManyLabels { labels: usize, most: usize },
    #[error("the architecture finds mentions and does not label given words; use one that does")]
    LabelsNothingGiven,
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

    /// What it does with a sentence.
    fn task(&self) -> Task {
        Task::Spans
    }

    /// Which of the encoder's vectors it works with.
    fn layers(&self, _: &TaskHeadConfig) -> Layers {
        Layers::Last
    }

    /// What an answer about a candidate depends on: by default on the candidate's own words, where there is a max width.
    fn reach(&self, config: &TaskHeadConfig) -> Reach {
        config.max_width().map_or(Reach::Sentence, Reach::Words)
    }

    /// The gold mentions of a sentence that it can't learn from.
    fn unlearnable(&self, sentence: &Sentence, config: &TaskHeadConfig) -> Unlearnable {
        Unlearnable::by_spans(sentence, config.max_width().unwrap_or(usize::MAX))
    }

    /// Which mentions it sees, where an annotation may have others: said beside how many of them it can't learn from.
    fn sees(&self, _: &OptionValues) -> &'static str {
        "mentions without gaps"
    }

    /// Declares the variables above an encoder.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    fn build(&self, scope: Scope<'_>, encoder: &Bert, config: &TaskHeadConfig)
    -> Result<Box<dyn TaskHead>, ModelError>;
}

/// What an architecture does with a sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Task {
    /// Finds mentions among candidate spans: nested ones, too.
    Spans,
    /// Gives each word a tag, so that its mentions don't overlap.
    Tags,
    /// Finds nothing; says of given words which label they have.
    TypesOfGivenSpans,
}

/// What an answer about a candidate depends on, beside the windows that the encoder sees its words in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// So many words, from the candidate's first one on; the candidate itself lies among them.
    Words(usize),
    /// Any words of the sentence.
    Sentence,
}

/// Words of each sentence.
fn sentence_lengths(batch: &[&Sentence]) -> Vec<usize> {
    batch.iter().map(|sentence| sentence.len()).collect()
}

/// Dropout of models that are to differ by it, where they learned with `p`. Those that learned with less than a tenth are asked
/// with that: without any they would agree on everything.
pub(crate) fn dropout_of_models(p: f32) -> f32 {
    const LEAST: f32 = 0.1;
    p.clamp(LEAST, 0.99)
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
    /// By default a tenth of the encoder's columns is missing. That fits where the candidates depend on the sentence and the
    /// filter alone; one that chooses them by what it computes asks all models about the same ones itself.
    ///
    /// # Errors
    /// When a tensor operation fails.
    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let rate = dropout_of_models(0.0);
        (0..passes).map(|model| self.predict(&encoded.without_columns(rate, model)?, batch, filter)).collect()
    }

    /// The labels of given words, one table for each sentence with a row for each of its `given`; they lie in it.
    ///
    /// # Errors
    /// When a tensor operation fails, and always where the architecture only finds mentions.
    fn type_spans(
        &self,
        _encoded: &Encoded,
        _batch: &[&Sentence],
        _given: &[Vec<Fragments>],
    ) -> Result<Vec<LabelTable>, ModelError> {
        Err(ModelError::LabelsNothingGiven)
    }
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

impl TaskHeadConfig {
    /// Words of the longest mention that can be found; `None` where the architecture has no bound.
    pub fn max_width(&self) -> Option<usize> {
        self.options.whole(&MAX_WIDTH).ok()
    }
}

/// Which words may start a candidate in prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FirstWordFilter {
    /// Those with at least this probability of being the first word of an entity.
    AtLeast(f32),
    /// All ("SP" in the paper's tables).
    All,
}

impl FirstWordFilter {
    /// Whether a word with this probability of being the first word of an entity may start a candidate.
    pub fn passes(self, p: f32) -> bool {
        match self {
            Self::AtLeast(threshold) => p >= threshold,
            Self::All => true,
        }
    }
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
    /// The final answer, all of it `chosen`, where the architecture does not leave it to [`decode`] to take every candidate
    /// that is more probable than "none". Each mention once.
    pub decided: Option<Vec<Found>>,
}

impl Prediction {
    /// What says nothing beside its candidates.
    pub fn of_candidates(candidates: Candidates) -> Self {
        Self { first_words: None, candidates, decided: None }
    }

    /// What it says of the words before the number `end` and of the candidates that start there.
    #[must_use]
    pub fn before(self, end: usize) -> Self {
        let first_words = self.first_words.map(|mut first_words| {
            first_words.truncate(end);
            first_words
        });
        let decided = self.decided.map(|mut decided| {
            decided.retain(|found| found.span.start().get() < end);
            decided
        });
        Self { first_words, candidates: self.candidates.before(end), decided }
    }
}

/// All architectures, the default one first.
pub fn architectures() -> &'static [&'static dyn Architecture] {
    &[
        &smartspanner::SmartSpanNer,
        &spanner::SpanNer,
        &seqlab::SeqLab,
        &bundling::Bundling,
        &dspert::DSpErt,
        &locate_label::LocateLabel,
        &span_typing::SpanTyping,
    ]
}

/// Whether an architecture finds no mentions and says which labels given words have. `false` where there is none of that id.
pub fn labels_given(id: &str) -> bool {
    architecture(id).is_ok_and(|architecture| architecture.task() == Task::TypesOfGivenSpans)
}

/// # Errors
/// When there is none of that id.
pub fn architecture(id: &str) -> Result<&'static dyn Architecture, ModelError> {
    architectures().iter().copied().find(|a| a.id() == id).ok_or_else(|| {
        let there: Vec<&str> = architectures().iter().map(|a| a.id()).collect();
        ModelError::NoSuchArchitecture { id: id.to_owned(), there: there.join(", ") }
    })
}
