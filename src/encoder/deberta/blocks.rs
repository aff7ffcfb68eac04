//! DeBERTa's layers: BERT's but for attention, the tables of positions, and a convolution beside the first block in some.

use super::super::EncoderBatch;
use super::super::bert::Learning;
use super::super::config::EncoderConfig;
use super::super::padding::Padding;
use super::super::plain::{Origin, climb};
use super::attention::{Attention, Pass};
use super::config::{Convolution, DebertaConfig};
use super::positions::Distances;
use crate::nn::{Embedding, Init, LayerNorm, Linear, Mode, NnError, Operations, Scope, project, u32_tensor};
use candle_core::{D, Tensor};
use std::ops::RangeInclusive;

/// Deviation of initial weights.
const STD: f32 = 0.02;

/// The encoder's layers. Where BERT has the same, variables have the names that BERT's have.
#[derive(Debug)]
pub struct Deberta {
    embeddings: Embeddings,
    /// The table of relative positions, and its norm.
    relative: Embedding,
    relative_norm: Option<LayerNorm>,
    blocks: Vec<Block>,
    convolution: Option<ConvolutionLayer>,
    of: DebertaConfig,
    hidden: usize,
    dropout: f32,
    learning: usize,
    /// What layers are computed by.
    pub(in crate::encoder) operations: Operations,
}

#[derive(Debug)]
struct Embeddings {
    words: Embedding,
    positions: Option<Embedding>,
    token_types: Option<Embedding>,
    /// `[H, E]`, where the tables are of another width than the hidden states.
    projection: Option<Tensor>,
    norm: LayerNorm,
}

#[derive(Debug)]
struct Block {
    attention: Attention,
    output: Linear,
    attention_norm: LayerNorm,
    up: Linear,
    down: Linear,
    norm: LayerNorm,
}

/// What neighbours of a position say of it, added to what the first block says.
#[derive(Debug)]
struct ConvolutionLayer {
    /// `[H, H, kernel]`: outputs, inputs, positions.
    weight: Tensor,
    bias: Tensor,
    norm: LayerNorm,
    of: Convolution,
}

impl Embeddings {
    fn new(mut scope: Scope<'_>, config: &EncoderConfig, of: &DebertaConfig) -> Result<Self, NnError> {
        let (e, h) = (config.embedding, config.hidden);
        let mut table = |name: &str, rows: usize| Embedding::new(scope.scope(name), rows, e, STD);
        let words = table("word_embeddings", config.vocabulary)?;
        let positions =
            of.has_position_table.then(|| table("position_embeddings", config.max_positions)).transpose()?;
        let has_types = config.token_types > 0;
        let token_types = has_types.then(|| table("token_type_embeddings", config.token_types)).transpose()?;
        let mut projection = None;
        if e != h {
            projection = Some(scope.scope("projection").declare("weight", &[h, e], Init::Normal { std: STD })?);
        }
        let norm = LayerNorm::new(scope.scope("LayerNorm"), h, config.norm_eps)?;
        Ok(Self { words, positions, token_types, projection, norm })
    }

    /// From rows of the word table, `[N, E]` to `[N, H]`.
    fn run(&self, words: &Tensor, batch: &EncoderBatch, by: Operations) -> Result<Tensor, NnError> {
        let mut embedded = words.clone();
        if let Some(positions) = &self.positions {
            embedded = (embedded + positions.forward(&u32_tensor(batch.places(), words.device())?)?)?;
        }
        if let Some(types) = &self.token_types {
            embedded = embedded.broadcast_add(&types.weight().narrow(0, 0, 1)?)?;
        }
        if let Some(projection) = &self.projection {
            embedded = project(&embedded, projection)?;
        }
        self.norm.forward(&embedded, by)
    }
}

impl Block {
    fn new(mut scope: Scope<'_>, config: &EncoderConfig, of: &DebertaConfig) -> Result<Self, NnError> {
        let (h, inner, eps) = (config.hidden, config.inner, config.norm_eps);
        Ok(Self {
            attention: Attention::new(scope.scope("attention.self"), config, of)?,
            output: Linear::new(scope.scope("attention.output.dense"), h, h)?,
            attention_norm: LayerNorm::new(scope.scope("attention.output.LayerNorm"), h, eps)?,
            up: Linear::new(scope.scope("intermediate.dense"), h, inner)?,
            down: Linear::new(scope.scope("output.dense"), inner, h)?,
            norm: LayerNorm::new(scope.scope("output.LayerNorm"), h, eps)?,
        })
    }

    /// `[N, H]` to `[N, H]`.
    fn run(&self, x: &Tensor, pass: &Pass<'_>, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
        let by = pass.operations;
        let context = self.attention.run(x, pass, p, mode)?;
        let attended = by.dropout(&self.output.forward(&context, by)?, p, mode)?;
        let x = self.attention_norm.forward(&(attended + x)?, by)?;
        let inner = by.gelu(&self.up.forward(&x, by)?)?;
        let fed = by.dropout(&self.down.forward(&inner, by)?, p, mode)?;
        self.norm.forward(&(fed + x)?, by)
    }
}

impl ConvolutionLayer {
    fn new(mut scope: Scope<'_>, config: &EncoderConfig, of: Convolution) -> Result<Self, NnError> {
        let h = config.hidden;
        let mut layer = scope.scope("conv");
        Ok(Self {
            weight: layer.declare("weight", &[h, h, of.kernel], Init::Normal { std: STD })?,
            bias: layer.declare("bias", &[h], Init::Zeros)?,
            norm: LayerNorm::new(scope.scope("LayerNorm"), h, config.norm_eps)?,
            of,
        })
    }

    /// From the embeddings and what the first block says of them, `[N, H]` each, to `[N, H]`.
    fn run(&self, x: &Tensor, said: &Tensor, pass: &Pass<'_>, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
        let (padding, by) = (pass.padding, pass.operations);
        let (h, t, side) = (self.bias.elem_count(), padding.longest, self.of.kernel / 2);
        // Beyond the ends of a window, and where a batch is padded, there is nothing.
        let x = padding.add(x)?.broadcast_mul(&padding.there()?.unsqueeze(D::Minus1)?)?;
        let wide = x.pad_with_zeros(1, side, side)?;
        let shifted = (0..self.of.kernel).map(|by| wide.narrow(1, by, t)).collect::<Result<Vec<_>, _>>()?;
        let neighbours = padding.remove(&Tensor::cat(&shifted, D::Minus1)?)?;
        let weight = self.weight.transpose(1, 2)?.reshape((h, self.of.kernel * h))?;
        let summed = by.dropout(&by.linear(&neighbours, &weight, &self.bias)?, p, mode)?;
        let seen = if self.of.is_gelu { by.gelu(&summed)? } else { summed.tanh()? };
        self.norm.forward(&(said + seen)?, by)
    }
}

impl Deberta {
    /// Declares the encoder's variables; `p` is the dropout in training.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(
        mut scope: Scope<'_>,
        config: &EncoderConfig,
        of: &DebertaConfig,
        learning: Learning,
        p: f32,
    ) -> Result<Self, NnError> {
        let learns = learning.blocks(config.layers);
        let is_partly_frozen = learning != Learning::All;
        let embeddings = Embeddings::new(scope.scope("embeddings").frozen_if(is_partly_frozen), config, of)?;
        let mut part = scope.scope("encoder");
        // All blocks read it: where some stay as they are, it does, too.
        let relative = part.scope("rel_embeddings").frozen_if(is_partly_frozen);
        let relative = Embedding::new(relative, of.rows(), config.hidden, STD)?;
        let mut relative_norm = None;
        if of.norms_positions {
            let scope = part.scope("LayerNorm").frozen_if(is_partly_frozen);
            relative_norm = Some(LayerNorm::new(scope, config.hidden, config.norm_eps)?);
        }
        let is_frozen = |block: usize| block + learns < config.layers;
        let block = |i| Block::new(part.scope(&format!("layer.{i}")).frozen_if(is_frozen(i)), config, of);
        let blocks = (0..config.layers).map(block).collect::<Result<_, _>>()?;
        let mut convolution = None;
        if let Some(of) = of.convolution {
            let scope = part.scope("conv").frozen_if(is_frozen(0));
            convolution = Some(ConvolutionLayer::new(scope, config, of)?);
        }
        Ok(Self {
            embeddings,
            relative,
            relative_norm,
            blocks,
            convolution,
            of: of.clone(),
            hidden: config.hidden,
            dropout: p,
            learning: learns,
            operations: Operations::Plain,
        })
    }

    /// Hidden states `[N, H]` of these numbers, with dropout from the block number `first` on; with 0 in the embeddings, too.
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
        let by = self.operations;
        let dropout = |block: usize| if block < first { 0.0 } else { self.dropout };
        let (number, x) = match origin {
            Origin::Words(words) => (0, by.dropout(&self.embeddings.run(words, batch, by)?, dropout(0), mode)?),
            Origin::States(number, states) => (number, states.clone()),
        };
        let padding = Padding::new(batch, x.device())?;
        let distances = Distances::new(&self.of, padding.longest);
        let positions = self.relative.weight().narrow(0, distances.first, distances.count)?;
        let positions =
            self.relative_norm.as_ref().map_or(Ok(positions.clone()), |norm| norm.forward(&positions, by))?;
        let reversed = u32_tensor(&distances.reversed(), x.device())?;
        let distances = u32_tensor(&distances.rows, x.device())?;
        let shut_out = padding.shut_out()?;
        let pass =
            Pass { padding: &padding, config: &self.of, distances, reversed, positions, shut_out, operations: by };
        climb((number, x), layers, mode, |i, x, mode| {
            let Some(block) = self.blocks.get(i) else { return Ok(x.clone()) };
            let said = block.run(x, &pass, dropout(i), mode)?;
            match &self.convolution {
                Some(convolution) if i == 0 => convolution.run(x, &said, &pass, dropout(0), mode),
                _ => Ok(said),
            }
        })
    }

    /// The vectors of subwords, `[V, E]`.
    pub fn word_table(&self) -> &Tensor {
        self.embeddings.words.weight()
    }

    /// H.
    pub fn hidden(&self) -> usize {
        self.hidden
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
