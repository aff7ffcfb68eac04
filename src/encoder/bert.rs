//! BERT's layers (Devlin et al. 2019): post-norm blocks, learned positions, exact GELU.
//!
//! They run in two ways that compute the same function and draw the same dropout: [`super::cpu`] by hand-written passes,
//! [`super::plain`] by candle's operations, on any device. RoBERTa, DistilBERT and ELECTRA are the same but for where
//! positions begin and what is in the embeddings.

use super::{EncoderConfig, Pieces};
use crate::nn::kernels::{Rounding, has_bf16, has_int16};
use crate::nn::{Embedding, LayerNorm, Linear, NnError, ParameterGroup, Scope};
use candle_core::Tensor;

/// Deviation of BERT's initial embeddings.
const STD: f32 = 0.02;
/// Chance of a hashed part of a word to be left out in training, so that words are also learnt by their other parts.
pub(super) const PIECE_DROPOUT: f32 = 0.2;

/// The encoder's layers. Names of the variables are those of Hugging Face's files of BERT, whatever the kind.
#[derive(Debug)]
pub struct Bert {
    pub(super) words: Embedding,
    pub(super) positions: Embedding,
    /// The row of a window's first position.
    pub(super) position_offset: u32,
    /// Where there are any.
    pub(super) token_types: Option<Embedding>,
    pub(super) norm: LayerNorm,
    /// Where the embedding tables are of another width than the hidden states.
    pub(super) projection: Option<Linear>,
    pub(super) blocks: Vec<Block>,
    pub(super) dropout: f32,
    /// Blocks that learn, the last ones; with all of them the embeddings do, too.
    learning: usize,
    /// What the inputs of matrix products are rounded to.
    pub(super) rounding: Option<Rounding>,
    hidden: usize,
}

/// A block's layers. H is the width of the hidden states, F that of the inner layer.
#[derive(Debug)]
pub struct Block {
    pub query: Linear,
    pub key: Linear,
    pub value: Linear,
    pub output: Linear,
    pub attention_norm: LayerNorm,
    pub up: Linear,
    pub down: Linear,
    pub norm: LayerNorm,
    pub attention_heads: usize,
}

/// How much of an encoder learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Learning {
    All,
    /// So many of the last blocks.
    Top(usize),
}

impl Learning {
    /// How many of `blocks` learn.
    pub(super) fn blocks(self, blocks: usize) -> usize {
        match self {
            Self::All => blocks,
            Self::Top(learning) => learning.min(blocks),
        }
    }
}

impl Bert {
    /// Declares the encoder's variables; `p` is the dropout in training.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(mut scope: Scope<'_>, config: &EncoderConfig, learning: Learning, p: f32) -> Result<Self, NnError> {
        let (e, h) = (config.embedding, config.hidden);
        let learns = learning.blocks(config.layers);
        let mut part = scope.scope("embeddings").frozen_if(learning != Learning::All);
        // A part of a word that training never saw says nothing, instead of something random.
        let std = if matches!(config.pieces, Pieces::Hashed { .. }) { 0.0 } else { STD };
        let words = Embedding::new(part.scope("word_embeddings"), config.vocabulary, e, std)?;
        let positions = Embedding::new(part.scope("position_embeddings"), config.max_positions, e, STD)?;
        let types = Some(config.token_types).filter(|types| *types > 0);
        let token_types = types.map(|types| Embedding::new(part.scope("token_type_embeddings"), types, e, STD));
        let token_types = token_types.transpose()?;
        let norm = LayerNorm::new(part.scope("LayerNorm"), e, config.norm_eps)?;
        let part = scope.scope("embeddings_project").frozen_if(learning != Learning::All);
        let projection = if e == h { None } else { Some(Linear::new(part, e, h)?) };
        let block = |i| {
            let scope = scope.scope(&format!("encoder.layer.{i}"));
            Block::new(scope.frozen_if(i + learns < config.layers), config)
        };
        let blocks = (0..config.layers).map(block).collect::<Result<_, _>>()?;
        Ok(Self {
            words,
            positions,
            position_offset: config.position_offset as u32,
            token_types,
            norm,
            projection,
            blocks,
            dropout: p,
            learning: learns,
            hidden: h,
            rounding: None,
        })
    }

    /// Takes matrix products in bfloat16 where the processor is fast at that; sums, norms, GELU, attention, and the weights
    /// that learn stay `f32`. Matters to [`Bert::forward`] and [`Bert::backward`] only.
    #[must_use]
    pub fn with_bf16(self) -> Self {
        self.rounding_to(Rounding::Bf16, has_bf16())
    }

    /// The same of whole numbers of 16 bits, where the processor is fastest at these, unless products are in bfloat16.
    #[must_use]
    pub fn with_int16(self) -> Self {
        self.rounding_to(Rounding::Int16, has_int16())
    }

    fn rounding_to(self, rounding: Rounding, is_fast: bool) -> Self {
        let fits = is_fast && self.blocks.iter().all(|block| block.fits(rounding));
        Self { rounding: self.rounding.or(fits.then_some(rounding)), ..self }
    }

    /// What the inputs of matrix products are rounded to, where they are.
    pub fn rounding(&self) -> Option<Rounding> {
        self.rounding
    }

    /// H.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// E: the width of the embedding tables.
    pub fn embedding(&self) -> usize {
        self.norm.weight().elem_count()
    }

    /// The blocks, from low to high: block `i` makes the hidden states `i + 1` of the hidden states `i`.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Number of blocks.
    pub fn layers(&self) -> usize {
        self.blocks.len()
    }

    /// The number of the hidden states below which nothing learns: 0 are the embeddings.
    pub fn frozen_below(&self) -> usize {
        self.layers() - self.learning
    }

    /// The vectors of subwords, `[V, E]`.
    pub fn word_table(&self) -> &Tensor {
        self.words.weight()
    }

    pub(super) fn embeddings_learn(&self) -> bool {
        self.words.weight().is_variable()
    }
}

impl Block {
    fn new(mut scope: Scope<'_>, config: &EncoderConfig) -> Result<Self, NnError> {
        let (h, inner, eps) = (config.hidden, config.inner, config.norm_eps);
        Ok(Self {
            query: Linear::new(scope.scope("attention.self.query"), h, h)?,
            key: Linear::new(scope.scope("attention.self.key"), h, h)?,
            value: Linear::new(scope.scope("attention.self.value"), h, h)?,
            output: Linear::new(scope.scope("attention.output.dense"), h, h)?,
            attention_norm: LayerNorm::new(scope.scope("attention.output.LayerNorm"), h, eps)?,
            up: Linear::new(scope.scope("intermediate.dense"), h, inner)?,
            down: Linear::new(scope.scope("output.dense"), inner, h)?,
            norm: LayerNorm::new(scope.scope("output.LayerNorm"), h, eps)?,
            attention_heads: config.attention_heads,
        })
    }

    /// Declares layers of the same shapes whose first values are those of this block; from then on they train on their own,
    /// at the encoder's rate. A snapshot holds them, and what is loaded has them from there.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn declare_copy(&self, scope: Scope<'_>) -> Result<Self, NnError> {
        let mut scope = scope.in_group(ParameterGroup::Encoder);
        let linear = |scope: &mut Scope<'_>, name: &str, of: &Linear| of.declare_copy(scope.scope(name));
        Ok(Self {
            query: linear(&mut scope, "attention.self.query", &self.query)?,
            key: linear(&mut scope, "attention.self.key", &self.key)?,
            value: linear(&mut scope, "attention.self.value", &self.value)?,
            output: linear(&mut scope, "attention.output.dense", &self.output)?,
            attention_norm: self.attention_norm.declare_copy(scope.scope("attention.output.LayerNorm"))?,
            up: linear(&mut scope, "intermediate.dense", &self.up)?,
            down: linear(&mut scope, "output.dense", &self.down)?,
            norm: self.norm.declare_copy(scope.scope("output.LayerNorm"))?,
            attention_heads: self.attention_heads,
        })
    }

    /// H.
    pub fn hidden(&self) -> usize {
        self.norm.weight().elem_count()
    }

    /// Whether the products of its layers can be of numbers rounded like this.
    pub(super) fn fits(&self, rounding: Rounding) -> bool {
        rounding.fits(self.hidden()) && rounding.fits(self.inner())
    }

    /// F: the width of the inner layer.
    pub fn inner(&self) -> usize {
        self.up.bias().elem_count()
    }
}
