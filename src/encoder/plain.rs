//! The encoder composed of candle's operations: the specification of [`super::cpu`], and what runs on other devices.

use super::EncoderBatch;
use super::bert::{Bert, Block, PIECE_DROPOUT};
use crate::nn::{LayerNorm, Linear, Mode, NnError, plain, u32_tensor};
use candle_core::{DType, Tensor};
use std::ops::RangeInclusive;

/// Hidden states `[N, H]` of the embeddings and of each block.
///
/// # Errors
/// When a number of the batch is beyond the vocabulary, or a window beyond the positions.
pub fn forward(bert: &Bert, batch: &EncoderBatch, mode: &mut Mode) -> Result<Vec<Tensor>, NnError> {
    forward_layers(bert, batch, 0, 0..=bert.layers(), mode)
}

/// As [`forward`], the hidden states of these numbers alone, with dropout from the block number `first` on; with 0 in the
/// embeddings, too.
///
/// # Errors
/// See [`forward`].
pub fn forward_layers(
    bert: &Bert,
    batch: &EncoderBatch,
    first: usize,
    layers: RangeInclusive<usize>,
    mode: &mut Mode,
) -> Result<Vec<Tensor>, NnError> {
    let mut x = if first > 0 { embed(bert, batch, &mut Mode::Predict)? } else { embed(bert, batch, mode)? };
    let padding = Padding::new(batch, &x)?;
    let mut states = Vec::new();
    if layers.contains(&0) {
        states.push(x.clone());
    }
    for (i, block) in bert.blocks.iter().enumerate().take(*layers.end()) {
        let p = if i < first { 0.0 } else { bert.dropout };
        x = run(block, &x, &padding, p, mode)?;
        if layers.contains(&(i + 1)) {
            states.push(x.clone());
        }
    }
    Ok(states)
}

/// Subwords as they stand in the table of word embeddings, `[N, E]`, without gradients: see [`super::Layers::Static`].
///
/// # Errors
/// When a number of the batch is beyond the vocabulary.
pub fn static_vectors(bert: &Bert, batch: &EncoderBatch) -> Result<Tensor, NnError> {
    let table = bert.words.weight().detach();
    let words = table.index_select(&u32_tensor(batch.ids(), table.device())?, 0)?;
    if batch.pieces() == 1 {
        return Ok(words);
    }
    Ok(words.reshape((batch.rows(), batch.pieces(), bert.embedding()))?.sum(1)?)
}

fn embed(bert: &Bert, batch: &EncoderBatch, mode: &mut Mode) -> Result<Tensor, NnError> {
    let (n, pieces, device) = (batch.rows(), batch.pieces(), bert.words.weight().device());
    let mut words = bert.words.forward(&u32_tensor(batch.ids(), device)?)?;
    if pieces > 1 {
        words = words.reshape((n, pieces, bert.embedding()))?;
        let all = Tensor::ones((n, pieces, 1), DType::F32, device)?;
        words = words.broadcast_mul(&dropped(&all, PIECE_DROPOUT, mode)?)?.sum(1)?;
    }
    let places: Vec<u32> = batch.places().iter().map(|place| place + bert.position_offset).collect();
    let mut embedded = (words + bert.positions.forward(&u32_tensor(&places, device)?)?)?;
    if let Some(types) = &bert.token_types {
        embedded = embedded.broadcast_add(&types.weight().narrow(0, 0, 1)?)?;
    }
    let embedded = dropped(&norm(&bert.norm, &embedded)?, bert.dropout, mode)?;
    bert.projection.as_ref().map_or(Ok(embedded.clone()), |layer| linear(layer, &embedded))
}

/// `[N, H]` to `[N, H]`.
fn run(block: &Block, x: &Tensor, padding: &Padding, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
    let [q, k, v] = [&block.query, &block.key, &block.value].map(|layer| padding.add(&linear(layer, x)?));
    let context = plain::attention([&q?, &k?, &v?], block.attention_heads, &padding.lens, mode.dropout(p))?;
    let attended = dropped(&linear(&block.output, &padding.remove(&context)?)?, p, mode)?;
    let x = norm(&block.attention_norm, &(attended + x)?)?;
    let fed = dropped(&linear(&block.down, &plain::gelu(&linear(&block.up, &x)?)?)?, p, mode)?;
    norm(&block.norm, &(fed + x)?)
}

pub(super) fn linear(layer: &Linear, x: &Tensor) -> Result<Tensor, NnError> {
    plain::linear(x, layer.weight(), layer.bias())
}

pub(super) fn norm(layer: &LayerNorm, x: &Tensor) -> Result<Tensor, NnError> {
    plain::layer_norm(x, layer.weight(), layer.bias(), layer.eps())
}

fn dropped(x: &Tensor, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
    match mode.dropout(p) {
        Some((p, rng)) => plain::dropout(x, p, rng),
        None => Ok(x.clone()),
    }
}

/// Takes rows that lie one behind the other, `[N, H]`, to sentences of like length, `[B, T, H]`, and back.
struct Padding {
    lens: Vec<usize>,
    longest: usize,
    /// For each of B · T places a row; what it is where there is none does not matter.
    rows: Tensor,
    /// For each row its place.
    places: Tensor,
}

impl Padding {
    fn new(batch: &EncoderBatch, x: &Tensor) -> Result<Self, NnError> {
        let longest = batch.longest();
        let (mut rows, mut places) = (vec![0u32; batch.windows().len() * longest], Vec::with_capacity(batch.rows()));
        for (window, range) in batch.windows().iter().enumerate() {
            for (i, row) in range.clone().enumerate() {
                rows[window * longest + i] = row as u32;
                places.push((window * longest + i) as u32);
            }
        }
        let lens = batch.windows().iter().map(ExactSizeIterator::len).collect();
        Ok(Self { lens, longest, rows: u32_tensor(&rows, x.device())?, places: u32_tensor(&places, x.device())? })
    }

    fn add(&self, x: &Tensor) -> Result<Tensor, NnError> {
        let (_, h) = x.dims2()?;
        Ok(x.index_select(&self.rows, 0)?.reshape((self.lens.len(), self.longest, h))?)
    }

    fn remove(&self, x: &Tensor) -> Result<Tensor, NnError> {
        let (b, t, h) = x.dims3()?;
        Ok(x.reshape((b * t, h))?.index_select(&self.places, 0)?)
    }
}
