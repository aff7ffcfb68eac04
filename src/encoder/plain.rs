//! The encoder composed of candle's operations: the specification of [`super::cpu`], and what runs on other devices.

use super::EncoderBatch;
use super::bert::{Bert, Block, PIECE_DROPOUT};
use super::padding::Padding;
use crate::nn::{LayerNorm, Linear, Mode, NnError, plain, u32_tensor};
use candle_core::{DType, Tensor};
use std::ops::RangeInclusive;

/// Where a pass by candle's operations begins.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// At the rows of the word table, `[N · pieces, E]`: see [`word_rows`].
    Words(&'a Tensor),
    /// At hidden states `[N, H]` of the given number, kept from before.
    States(usize, &'a Tensor),
}

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
    forward_from(bert, batch, Origin::Words(&word_rows(bert.words.weight(), batch)?), first, layers, mode)
}

/// As [`forward_layers`], from what is known already.
///
/// # Errors
/// See [`forward`].
pub(super) fn forward_from(
    bert: &Bert,
    batch: &EncoderBatch,
    origin: Origin<'_>,
    first: usize,
    layers: RangeInclusive<usize>,
    mode: &mut Mode,
) -> Result<Vec<Tensor>, NnError> {
    let (number, x) = match origin {
        Origin::Words(words) if first > 0 => (0, embed(bert, batch, words, &mut Mode::Predict)?),
        Origin::Words(words) => (0, embed(bert, batch, words, mode)?),
        Origin::States(number, states) => (number, states.clone()),
    };
    let padding = Padding::new(batch, x.device())?;
    climb((number, x), layers, mode, |i, x, mode| match bert.blocks.get(i) {
        Some(block) => run(block, x, &padding, if i < first { 0.0 } else { bert.dropout }, mode),
        None => Ok(x.clone()),
    })
}

/// Runs blocks one after the other, from hidden states with their number on, and keeps those of the numbers that are asked
/// for. `block` makes the hidden states `i + 1` of the hidden states `i`.
pub(super) fn climb(
    (start, mut x): (usize, Tensor),
    layers: RangeInclusive<usize>,
    mode: &mut Mode,
    mut block: impl FnMut(usize, &Tensor, &mut Mode) -> Result<Tensor, NnError>,
) -> Result<Vec<Tensor>, NnError> {
    let mut states = Vec::new();
    for i in start..=*layers.end() {
        if layers.contains(&i) {
            states.push(x.clone());
        }
        if i < *layers.end() {
            x = block(i, &x, mode)?;
            if matches!(mode, Mode::Predict) {
                // What led here is no longer needed, and would be kept for gradients that nobody asks for.
                x = x.detach();
            }
        }
    }
    Ok(states)
}

/// The rows of the word table that a batch names, `[N · pieces, E]`.
///
/// # Errors
/// When a number of the batch is beyond the vocabulary.
pub fn word_rows(table: &Tensor, batch: &EncoderBatch) -> Result<Tensor, NnError> {
    Ok(table.index_select(&u32_tensor(batch.ids(), table.device())?, 0)?)
}

/// Subwords as they stand in the table of word embeddings, `[N, E]`, without gradients: see [`super::Layers::Static`].
///
/// # Errors
/// When a number of the batch is beyond the vocabulary.
pub fn static_vectors(table: &Tensor, batch: &EncoderBatch) -> Result<Tensor, NnError> {
    let words = word_rows(&table.detach(), batch)?;
    if batch.pieces() == 1 {
        return Ok(words);
    }
    Ok(words.reshape((batch.rows(), batch.pieces(), table.dim(1)?))?.sum(1)?)
}

fn embed(bert: &Bert, batch: &EncoderBatch, words: &Tensor, mode: &mut Mode) -> Result<Tensor, NnError> {
    let (n, pieces, device) = (batch.rows(), batch.pieces(), words.device());
    let mut words = words.clone();
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
