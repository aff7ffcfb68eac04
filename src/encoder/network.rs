//! The layers of an encoder, of whatever kind, and by what they run.

use super::EncoderBatch;
use super::bert::{Bert, Learning};
use super::config::{Blocks, EncoderConfig};
use super::deberta::Deberta;
use super::modern_bert::ModernBert;
use super::plain::{self, Origin};
use crate::nn::{Mode, NnError, Operations, Scope};
use candle_core::Tensor;
use std::ops::RangeInclusive;

/// An encoder's layers. Passes by hand, and what is built on them, are for BERT's alone ([`Network::as_bert`]);
/// [`Network::forward`] runs all of them, operation by operation, and candle finds the gradients.
#[derive(Debug)]
pub enum Network {
    Bert(Bert),
    ModernBert(ModernBert),
    Deberta(Deberta),
}

impl Network {
    /// Declares the encoder's variables; `p` is the dropout in training.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(scope: Scope<'_>, config: &EncoderConfig, learning: Learning, p: f32) -> Result<Self, NnError> {
        Ok(match &config.blocks {
            Blocks::Bert => Self::Bert(Bert::new(scope, config, learning, p)?),
            Blocks::ModernBert(of) => Self::ModernBert(ModernBert::new(scope, config, of, learning, p)?),
            Blocks::Deberta(of) => Self::Deberta(Deberta::new(scope, config, of, learning, p)?),
        })
    }

    /// See [`Bert::with_bf16`]; other layers stay as they are.
    #[must_use]
    pub fn with_bf16(self) -> Self {
        match self {
            Self::Bert(bert) => Self::Bert(bert.with_bf16()),
            other => other,
        }
    }

    /// See [`Bert::with_int16`]; other layers stay as they are.
    #[must_use]
    pub fn with_int16(self) -> Self {
        match self {
            Self::Bert(bert) => Self::Bert(bert.with_int16()),
            other => other,
        }
    }

    /// What layers are computed by where no pass by hand runs them: [`Operations::ByHand`] for tensors on the CPU, at first
    /// candle's. BERT's layers have the pass by hand instead.
    #[must_use]
    pub fn computed_by(mut self, operations: Operations) -> Self {
        match &mut self {
            Self::Bert(_) => {}
            Self::ModernBert(bert) => bert.operations = operations,
            Self::Deberta(bert) => bert.operations = operations,
        }
        self
    }

    /// BERT's layers, where these are.
    pub fn as_bert(&self) -> Option<&Bert> {
        match self {
            Self::Bert(bert) => Some(bert),
            Self::ModernBert(_) | Self::Deberta(_) => None,
        }
    }

    /// Hidden states `[N, H]` of these numbers, operation by operation, with dropout from the block number `first` on; with 0
    /// in the embeddings, too. In prediction nothing is kept for gradients.
    ///
    /// # Errors
    /// When a window is beyond the positions, or a tensor operation fails.
    pub fn forward(
        &self,
        batch: &EncoderBatch,
        origin: Origin<'_>,
        first: usize,
        layers: RangeInclusive<usize>,
        mode: &mut Mode,
    ) -> Result<Vec<Tensor>, NnError> {
        match self {
            Self::Bert(bert) => plain::forward_from(bert, batch, origin, first, layers, mode),
            Self::ModernBert(bert) => bert.forward(batch, origin, first, layers, mode),
            Self::Deberta(bert) => bert.forward(batch, origin, first, layers, mode),
        }
    }

    /// H.
    pub fn hidden(&self) -> usize {
        match self {
            Self::Bert(bert) => bert.hidden(),
            Self::ModernBert(bert) => bert.hidden(),
            Self::Deberta(bert) => bert.hidden(),
        }
    }

    /// E: the width of the embedding tables.
    pub fn embedding(&self) -> usize {
        self.word_table().dims().last().copied().unwrap_or(0)
    }

    /// Number of blocks.
    pub fn layers(&self) -> usize {
        match self {
            Self::Bert(bert) => bert.layers(),
            Self::ModernBert(bert) => bert.layers(),
            Self::Deberta(bert) => bert.layers(),
        }
    }

    /// The number of the hidden states below which nothing learns: 0 are the embeddings.
    pub fn frozen_below(&self) -> usize {
        match self {
            Self::Bert(bert) => bert.frozen_below(),
            Self::ModernBert(bert) => bert.frozen_below(),
            Self::Deberta(bert) => bert.frozen_below(),
        }
    }

    /// The vectors of subwords, `[V, E]`.
    pub fn word_table(&self) -> &Tensor {
        match self {
            Self::Bert(bert) => bert.word_table(),
            Self::ModernBert(bert) => bert.word_table(),
            Self::Deberta(bert) => bert.word_table(),
        }
    }
}

impl From<Bert> for Network {
    fn from(bert: Bert) -> Self {
        Self::Bert(bert)
    }
}
