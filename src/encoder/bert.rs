//! BERT's forward pass (Devlin et al. 2019): post-norm blocks, learned positions, exact GELU. Differentiable.

use super::{EncoderBatch, EncoderConfig, Pieces};
use crate::nn::{Embedding, LayerNorm, Linear, Mode, NnError, Scope, attention, dropout, gelu, u32_tensor};
use candle_core::{DType, Tensor};

/// Deviation of BERT's initial embeddings.
const STD: f32 = 0.02;
/// Chance of a hashed part of a word to be left out in training, so that words are also learnt by their other parts.
const PIECE_DROPOUT: f32 = 0.2;

/// The encoder's layers. Names of the variables are those of Hugging Face's files.
#[derive(Debug)]
pub struct Bert {
    words: Embedding,
    positions: Embedding,
    token_types: Embedding,
    norm: LayerNorm,
    blocks: Vec<Block>,
    dropout: f32,
}

#[derive(Debug)]
struct Block {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: LayerNorm,
    up: Linear,
    down: Linear,
    norm: LayerNorm,
    heads: usize,
}

impl Bert {
    /// Declares the encoder's variables; `p` is the dropout in training.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(mut scope: Scope<'_>, config: &EncoderConfig, p: f32) -> Result<Self, NnError> {
        let h = config.hidden;
        let mut part = scope.scope("embeddings");
        // A part of a word that training never saw says nothing, instead of something random.
        let std = if matches!(config.pieces, Pieces::Hashed { .. }) { 0.0 } else { STD };
        let words = Embedding::new(part.scope("word_embeddings"), config.vocabulary, h, std)?;
        let positions = Embedding::new(part.scope("position_embeddings"), config.max_positions, h, STD)?;
        let token_types = Embedding::new(part.scope("token_type_embeddings"), config.token_types, h, STD)?;
        let norm = LayerNorm::new(part.scope("LayerNorm"), h, config.norm_eps)?;
        let block = |i| Block::new(scope.scope(&format!("encoder.layer.{i}")), config);
        let blocks = (0..config.layers).map(block).collect::<Result<_, _>>()?;
        Ok(Self { words, positions, token_types, norm, blocks, dropout: p })
    }

    /// Hidden states `[B, T, H]` of the batch's windows. What stands at padded positions means nothing.
    ///
    /// # Errors
    /// When a number of the batch is beyond the vocabulary, or T beyond the positions.
    pub fn forward(&self, batch: &EncoderBatch, mode: &mut Mode) -> Result<Tensor, NnError> {
        let (b, t, pieces) = (batch.windows(), batch.positions(), batch.pieces());
        let (_, h) = self.words.weight().dims2()?;
        let ids = u32_tensor(batch.ids(), self.words.weight().device())?;
        let mut words = self.words.forward(&ids)?;
        if pieces > 1 {
            words = words.reshape((b * t, pieces, h))?;
            if matches!(mode, Mode::Train(_)) {
                let all = Tensor::ones((b * t, pieces, 1), DType::F32, words.device())?;
                words = words.broadcast_mul(&dropout(&all, PIECE_DROPOUT, mode)?)?;
            }
            words = words.sum(1)?;
        }
        let places =
            self.positions.weight().narrow(0, 0, t)?.broadcast_add(&self.token_types.weight().narrow(0, 0, 1)?)?;
        let embedded = words.reshape((b, t, h))?.broadcast_add(&places)?;
        let mut x = dropout(&self.norm.forward(&embedded)?, self.dropout, mode)?;
        for block in &self.blocks {
            x = block.forward(&x, batch.lens(), self.dropout, mode)?;
        }
        Ok(x)
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
            heads: config.heads,
        })
    }

    /// `[B, T, H]` to `[B, T, H]`.
    fn forward(&self, x: &Tensor, lens: &[usize], p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
        let (q, k, v) = (self.query.forward(x)?, self.key.forward(x)?, self.value.forward(x)?);
        let context = attention([&q, &k, &v], self.heads, lens, p, mode)?;
        let attended = dropout(&self.output.forward(&context)?, p, mode)?;
        let x = self.attention_norm.forward(&(attended + x)?)?;
        let fed = dropout(&self.down.forward(&gelu(&self.up.forward(&x)?)?)?, p, mode)?;
        self.norm.forward(&(fed + x)?)
    }
}
