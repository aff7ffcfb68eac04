//! What an architecture is: the contract of the seam that `model` describes.

use super::candidates::Samples;
use super::error::ModelError;
use super::options::{MAX_WIDTH, OptionSpec, OptionValues};
use super::prediction::{LabelTable, Prediction};
use super::sentence::{Sentence, Unlearnable};
use crate::annotation::{Fragments, Span};
use crate::encoder::{Encoded, Layers, Network};
use crate::nn::{Operations, Rng, Scope};
use candle_core::Tensor;
use std::fmt::Debug;

/// A system that can be trained. Stateless: what it builds holds the weights.
pub trait Architecture: Sync + Debug {
    /// What commands, settings and manifests call it.
    fn id(&self) -> &'static str;
    /// What people call it.
    fn name(&self) -> &'static str;
    /// What it does and how that differs from others, in one line for people who choose among them.
    fn summary(&self) -> &'static str;
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

    /// Whether a variable of what it builds, by its whole name, means the same whatever the labels are.
    fn serves_any_labels(&self, _variable: &str) -> bool {
        false
    }

    /// Declares the variables above an encoder.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    fn build(
        &self,
        scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError>;
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
pub(super) fn sentence_lengths(batch: &[&Sentence]) -> Vec<usize> {
    batch.iter().map(|sentence| sentence.len()).collect()
}

/// Dropout of models that are to differ by it, where they learned with `p`. Those that learned with less than a tenth are asked
/// with that: without any they would agree on everything.
pub(super) fn dropout_of_models(p: f32) -> f32 {
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

    /// The vectors that given spans are classified by, `[N, D]`: what the last layer gets, the one whose outputs are logits
    /// ("pre-logit representations", DSpERT's §5). A row for each of `spans`, one sentence's behind the other's. They lie in
    /// their sentence and are no wider than the max width, and there is one at least.
    ///
    /// # Errors
    /// When a tensor operation fails, and always where no spans are classified ([`Task::Tags`]).
    fn span_vectors(
        &self,
        _encoded: &Encoded,
        _batch: &[&Sentence],
        _spans: &[Vec<Span>],
    ) -> Result<Tensor, ModelError> {
        Err(ModelError::ClassifiesNoSpans)
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
