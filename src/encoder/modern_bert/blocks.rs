//! ModernBERT's layers.
//!
//! ```text
//! x₀ = norm(words)
//! y  = x + W_o attend(rotary(W_qkv norm(x)))          without the norm in the first block
//! x' = y + W_down (gelu(a) · b),  [a; b] = W_up norm(y)
//! ```
//!
//! The last hidden states are those of the last block after a further norm; the ones below are as blocks give them.

use super::super::EncoderBatch;
use super::super::bert::Learning;
use super::super::config::EncoderConfig;
use super::super::padding::Padding;
use super::super::plain::{Origin, climb};
use super::config::ModernBertConfig;
use super::rotary::Rotary;
use crate::nn::{Embedding, Init, Mode, NnError, Operations, Scope, plain};
use candle_core::Tensor;
use std::ops::RangeInclusive;

/// Deviation of initial weights.
const STD: f32 = 0.02;

/// The encoder's layers. Where BERT has the same, variables have the names that BERT's have.
#[derive(Debug)]
pub struct ModernBert {
    words: Embedding,
    norm: Norm,
    blocks: Vec<Block>,
    /// Of the last hidden states.
    last_norm: Norm,
    of: ModernBertConfig,
    attention_heads: usize,
    dropout: f32,
    learning: usize,
    /// What layers are computed by.
    pub(in crate::encoder) operations: Operations,
}

/// A block's layers. H is the width of the hidden states, F that of the inner layer after its gate.
#[derive(Debug)]
struct Block {
    /// The first block has none: its input comes from a norm.
    attention_norm: Option<Norm>,
    /// Queries, keys and values, `[3H, H]`.
    qkv: Unbiased,
    /// `[H, H]`
    output: Unbiased,
    norm: Norm,
    /// What is gated, and the gate, `[2F, H]`.
    up: Unbiased,
    /// `[H, F]`
    down: Unbiased,
}

/// A norm without bias.
#[derive(Debug)]
struct Norm {
    weight: Tensor,
    /// 0 throughout.
    bias: Tensor,
    eps: f64,
}

impl Norm {
    fn new(mut scope: Scope<'_>, size: usize, eps: f64) -> Result<Self, NnError> {
        let weight = scope.declare("weight", &[size], Init::Ones)?;
        Ok(Self { bias: weight.zeros_like()?, weight, eps })
    }

    fn forward(&self, x: &Tensor, operations: Operations) -> Result<Tensor, NnError> {
        operations.layer_norm(x, &self.weight, &self.bias, self.eps)
    }
}

/// A linear layer without bias.
#[derive(Debug)]
struct Unbiased {
    weight: Tensor,
    /// 0 throughout.
    bias: Tensor,
}

impl Unbiased {
    fn new(mut scope: Scope<'_>, inputs: usize, outputs: usize) -> Result<Self, NnError> {
        let weight = scope.declare("weight", &[outputs, inputs], Init::Normal { std: STD })?;
        Ok(Self { bias: Tensor::zeros(outputs, weight.dtype(), weight.device())?, weight })
    }

    fn forward(&self, x: &Tensor, operations: Operations) -> Result<Tensor, NnError> {
        operations.linear(x, &self.weight, &self.bias)
    }
}

impl Block {
    fn new(mut scope: Scope<'_>, config: &EncoderConfig, is_first: bool) -> Result<Self, NnError> {
        let (h, inner, eps) = (config.hidden, config.inner, config.norm_eps);
        let norm = |scope: Scope<'_>| Norm::new(scope, h, eps);
        let attention_norm = if is_first { None } else { Some(norm(scope.scope("attention.LayerNorm"))?) };
        Ok(Self {
            attention_norm,
            qkv: Unbiased::new(scope.scope("attention.self.qkv"), h, 3 * h)?,
            output: Unbiased::new(scope.scope("attention.output.dense"), h, h)?,
            norm: norm(scope.scope("intermediate.LayerNorm"))?,
            up: Unbiased::new(scope.scope("intermediate.dense"), h, 2 * inner)?,
            down: Unbiased::new(scope.scope("output.dense"), inner, h)?,
        })
    }

    /// `[N, H]` to `[N, H]`.
    fn run(&self, x: &Tensor, pass: &Pass<'_>, of: &Attention, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
        let (h, by) = (x.dims2()?.1, pass.operations);
        let normed = self.attention_norm.as_ref().map_or_else(|| Ok(x.clone()), |norm| norm.forward(x, by))?;
        let qkv = pass.padding.add(&self.qkv.forward(&normed, by)?)?;
        let part = |number: usize| plain::split_heads(&qkv.narrow(2, number * h, h)?, pass.heads);
        let (queries, keys, values) = (of.rotary.turn(&part(0)?)?, of.rotary.turn(&part(1)?)?, part(2)?);
        let scale = 1.0 / ((h / pass.heads) as f64).sqrt();
        let scores = (queries * scale)?.matmul(&keys.t()?)?.broadcast_add(&of.shut_out)?;
        let context = pass.padding.remove(&by.attend(&scores, &values, p, mode)?)?;
        let x = (x + by.dropout(&self.output.forward(&context, by)?, p, mode)?)?;
        let both = self.up.forward(&self.norm.forward(&x, by)?, by)?;
        let inner = both.dim(1)? / 2;
        let gated = (by.gelu(&both.narrow(1, 0, inner)?.contiguous()?)? * both.narrow(1, inner, inner)?)?;
        Ok((&x + by.dropout(&self.down.forward(&gated, by)?, p, mode)?)?)
    }
}

/// What all blocks of a pass share.
struct Pass<'a> {
    padding: &'a Padding,
    heads: usize,
    operations: Operations,
}

/// What global blocks of a pass share, or local ones.
struct Attention {
    rotary: Rotary,
    /// Added to the scores, `[B, 1, 1 or T, T]`.
    shut_out: Tensor,
}

impl ModernBert {
    /// Declares the encoder's variables; `p` is the dropout in training.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(
        mut scope: Scope<'_>,
        config: &EncoderConfig,
        of: &ModernBertConfig,
        learning: Learning,
        p: f32,
    ) -> Result<Self, NnError> {
        let learns = learning.blocks(config.layers);
        let mut part = scope.scope("embeddings").frozen_if(learning != Learning::All);
        let words = Embedding::new(part.scope("word_embeddings"), config.vocabulary, config.hidden, STD)?;
        let norm = Norm::new(part.scope("LayerNorm"), config.hidden, config.norm_eps)?;
        let block = |i| {
            let scope = scope.scope(&format!("encoder.layer.{i}"));
            Block::new(scope.frozen_if(i + learns < config.layers), config, i == 0)
        };
        let blocks = (0..config.layers).map(block).collect::<Result<_, _>>()?;
        let part = scope.scope("encoder.LayerNorm").frozen_if(learns == 0);
        Ok(Self {
            words,
            norm,
            blocks,
            last_norm: Norm::new(part, config.hidden, config.norm_eps)?,
            of: of.clone(),
            attention_heads: config.attention_heads,
            dropout: p,
            learning: learns,
            operations: Operations::Plain,
        })
    }

    /// Hidden states `[N, H]` of these numbers, with dropout from the block number `first` on; with 0 in the embeddings, too.
    ///
    /// # Errors
    /// When a tensor operation fails.
    pub fn forward(
        &self,
        batch: &EncoderBatch,
        origin: Origin<'_>,
        first: usize,
        layers: RangeInclusive<usize>,
        mode: &mut Mode,
    ) -> Result<Vec<Tensor>, NnError> {
        let by = self.operations;
        let dropout = |block: usize| if block < first { 0.0 } else { self.dropout };
        let (number, x) = match origin {
            Origin::Words(words) => (0, by.dropout(&self.norm.forward(words, by)?, dropout(0), mode)?),
            Origin::States(number, states) => (number, states.clone()),
        };
        let (h, device) = (x.dims2()?.1, x.device());
        let padding = Padding::new(batch, device)?;
        let pass = Pass { padding: &padding, heads: self.attention_heads, operations: by };
        let [global, local] =
            self.of.thetas.map(|theta| Rotary::new(padding.longest, h / self.attention_heads.max(1), theta, device));
        let global = Attention { rotary: global?, shut_out: padding.shut_out()? };
        let local = Attention { rotary: local?, shut_out: padding.shut_out_beyond(self.of.reach)? };
        climb((number, x), layers, mode, |i, x, mode| {
            let Some(block) = self.blocks.get(i) else { return Ok(x.clone()) };
            let of = if self.of.global.get(i).copied().unwrap_or(true) { &global } else { &local };
            let x = block.run(x, &pass, of, dropout(i), mode)?;
            if i + 1 == self.blocks.len() { self.last_norm.forward(&x, by) } else { Ok(x) }
        })
    }

    /// The vectors of subwords, `[V, H]`.
    pub fn word_table(&self) -> &Tensor {
        self.words.weight()
    }

    /// H.
    pub fn hidden(&self) -> usize {
        self.norm.weight.elem_count()
    }

    /// Number of blocks.
    pub fn layers(&self) -> usize {
        self.blocks.len()
    }

    /// The number of the hidden states below which nothing learns.
    pub fn frozen_below(&self) -> usize {
        self.layers() - self.learning
    }
}
