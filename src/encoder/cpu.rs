//! The encoder on the CPU, forward and backward by hand: rows without padding, matrix products by `gemm`, everything
//! between them in one pass each, and buffers that are used again.
//!
//! A block is `x₁ = norm(drop(attend(x) Wₒ) + x)`, `x₂ = norm(drop(gelu(x₁ W₁) W₂) + x₁)`. Its sentences don't know of each
//! other, so each thread takes a share of them through all blocks; threads meet again for the gradients of the weights,
//! which are sums over all rows.
//!
//! # Invariants
//! - No number depends on how the sentences are shared out: a product's row depends on its own row alone, and what is
//!   summed over rows is summed sentence by sentence, in order.
//! - In half precision ([`Bert::with_bf16`]) the inputs of matrix products are rounded and nothing else; a tape holds the
//!   rounded weights, which a training pass renews and a prediction takes as they were at the tape's first.
//! - The tape keeps what lies before each norm and before GELU, queries, keys and values, and the context; probabilities
//!   and GELU are computed again on the way back, which leaves its gradients where the tape has been read.

use super::EncoderBatch;
use super::bert::{Bert, Block, PIECE_DROPOUT};
use crate::nn::kernels::{self, Attention, AttentionScratch, DropMask, Norm, Onto, Panels, View, matmul};
use crate::nn::{Gradients, LayerNorm, Lent, Linear, Mode, NnError, lend};
use candle_core::{Device, Tensor};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a weight's gradient that one task computes.
const WEIGHT_ROWS: usize = 192;

/// What a forward pass leaves for the backward pass. One tape serves any number of passes, one after the other.
#[derive(Debug, Default)]
pub struct Tape {
    /// The number of the hidden states that the pass began with.
    start: usize,
    masks: Masks,
    /// Hidden states by number, `[N, H]`; those of a prediction share two.
    states: Vec<Vec<f32>>,
    /// Before the first norm, `[N, E]`; on the way back its gradient.
    embedded: Vec<f32>,
    /// For each sentence the gradients of the embeddings' norm, `[B, 2E]`.
    embedded_sums: Vec<f32>,
    projection: Projection<Vec<f32>>,
    /// What each block leaves; those of a prediction share one.
    blocks: Vec<Kept<Vec<f32>>>,
    /// Of the block where the way back is.
    grads: Grads<Vec<f32>>,
    /// What the gradients of its weights are products of, in half precision: see [`Block::weights_from_panels`].
    panels: [Panels; 8],
    /// One for each share.
    scratch: Vec<Scratch>,
    /// One for each block, in half precision.
    halved: Vec<Halved>,
    /// Whether they are of a prediction.
    halved_for_prediction: bool,
}

/// A block's weights in half precision, as the way up needs them, `[in, out]`, and as the way down does, `[out, in]`.
#[derive(Debug, Default)]
struct Halved {
    up: [Panels; 4],
    down: [Panels; 4],
}

/// The products of a block, in the order of [`Halved`].
#[derive(Clone, Copy)]
enum Product {
    Qkv,
    Output,
    Up,
    Down,
}

impl Product {
    const ALL: [Self; 4] = [Self::Qkv, Self::Output, Self::Up, Self::Down];
}

#[derive(Clone, Debug, Default)]
struct Masks {
    pieces: DropMask,
    embedded: DropMask,
    /// Of the probabilities, of what was attended to, of what was fed forward.
    blocks: Vec<[DropMask; 3]>,
}

/// Between the embeddings' norm and the first block, where these are not of one width.
#[derive(Debug, Default)]
struct Projection<T> {
    /// What is projected, `[N, E]`.
    x: T,
    /// The gradient of what it gives, `[N, H]`.
    grad: T,
}

/// What a block leaves: rows of a whole batch, or of one share. F is the width of its inner layer.
#[derive(Debug, Default)]
struct Kept<T> {
    /// Queries, keys and values side by side, `[N, 3H]`.
    qkv: T,
    /// `[N, H]`
    context: T,
    /// Before the first norm, `[N, H]`; on the way back the gradient of the output layer's product.
    attended: T,
    /// After it.
    middle: T,
    /// Before GELU, `[N, F]`; on the way back after it.
    inner: T,
    /// Before the second norm, `[N, H]`; on the way back the gradient of the lower layer's product.
    fed: T,
}

/// Gradients that the way back leaves.
#[derive(Debug, Default)]
struct Grads<T> {
    /// `[N, F]`
    inner: T,
    /// `[N, 3H]`
    qkv: T,
    /// Of biases and norms, for each sentence: `[B, 9H + F]`, see [`Sums`].
    sums: T,
}

/// What one share works in.
#[derive(Debug, Default)]
struct Scratch {
    /// GELU, `[n, F]`.
    act: Vec<f32>,
    /// The gradient that goes down, and another, `[n, H]`.
    grad: Vec<f32>,
    other: Vec<f32>,
    attention: AttentionScratch,
    /// The left side of a product in half precision.
    halves: Vec<u32>,
}

/// Where a forward pass begins.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    Words,
    /// At hidden states `[N, H]` of the given number, kept from before.
    States(usize, &'a [f32]),
}

/// Sentences that one thread works on: windows of the batch that follow each other.
#[derive(Clone, Debug)]
struct Share {
    windows: Range<usize>,
    rows: Range<usize>,
}

/// As many shares as there are threads, of about as many rows each.
fn shares(batch: &EncoderBatch) -> Vec<Share> {
    let (count, mut shares) = (rayon::current_num_threads().max(1), Vec::new());
    let mut begin = Share { windows: 0..0, rows: 0..0 };
    for (number, rows) in batch.windows().iter().enumerate() {
        begin.windows.end = number + 1;
        begin.rows.end = rows.end;
        let is_last = number + 1 == batch.windows().len();
        if is_last || rows.end * count >= batch.rows() * (shares.len() + 1) {
            shares.push(begin.clone());
            begin = Share { windows: number + 1..number + 1, rows: rows.end..rows.end };
        }
    }
    shares
}

/// The rows of each share in a matrix of `width` columns, which gets the size of the whole batch.
fn split<'a>(buffer: &'a mut Vec<f32>, shares: &[Share], width: usize) -> Vec<&'a mut [f32]> {
    split_by(buffer, shares.iter().map(|share| share.rows.len() * width))
}

/// The same for a matrix with a row for each sentence, all 0.
fn split_sums<'a>(buffer: &'a mut Vec<f32>, shares: &[Share], width: usize) -> Vec<&'a mut [f32]> {
    buffer.clear();
    split_by(buffer, shares.iter().map(|share| share.windows.len() * width))
}

fn split_by(buffer: &mut Vec<f32>, sizes: impl Iterator<Item = usize> + Clone) -> Vec<&mut [f32]> {
    let mut rest = sized(buffer, sizes.clone().sum());
    let take = |size| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(size);
        rest = after;
        part
    };
    sizes.map(take).collect()
}

/// A buffer of `size` numbers, whatever they are; its memory only grows, with room for a somewhat larger batch.
fn sized(buffer: &mut Vec<f32>, size: usize) -> &mut [f32] {
    if size > buffer.capacity() {
        *buffer = Vec::with_capacity(size + size / 4);
    }
    buffer.resize(size, 0.0);
    buffer
}

impl Kept<Vec<f32>> {
    fn split(&mut self, shares: &[Share], h: usize, inner: usize) -> Vec<Kept<&mut [f32]>> {
        let mut qkv = split(&mut self.qkv, shares, 3 * h).into_iter();
        let mut context = split(&mut self.context, shares, h).into_iter();
        let mut attended = split(&mut self.attended, shares, h).into_iter();
        let mut middle = split(&mut self.middle, shares, h).into_iter();
        let mut inner = split(&mut self.inner, shares, inner).into_iter();
        let mut fed = split(&mut self.fed, shares, h).into_iter();
        let one = |_| Kept {
            qkv: qkv.next().unwrap_or_default(),
            context: context.next().unwrap_or_default(),
            attended: attended.next().unwrap_or_default(),
            middle: middle.next().unwrap_or_default(),
            inner: inner.next().unwrap_or_default(),
            fed: fed.next().unwrap_or_default(),
        };
        shares.iter().map(one).collect()
    }
}

impl Grads<Vec<f32>> {
    fn split(&mut self, shares: &[Share], h: usize, inner: usize) -> Vec<Grads<&mut [f32]>> {
        let mut sums = split_sums(&mut self.sums, shares, Sums::width(h, inner)).into_iter();
        let mut inner = split(&mut self.inner, shares, inner).into_iter();
        let mut qkv = split(&mut self.qkv, shares, 3 * h).into_iter();
        let one = |_| Grads {
            inner: inner.next().unwrap_or_default(),
            qkv: qkv.next().unwrap_or_default(),
            sums: sums.next().unwrap_or_default(),
        };
        shares.iter().map(one).collect()
    }
}

/// The gradients of a block's biases and norms that one sentence adds.
struct Sums<'a> {
    /// Weight and bias, `[2H]`.
    norm: &'a mut [f32],
    down: &'a mut [f32],
    up: &'a mut [f32],
    attention_norm: &'a mut [f32],
    output: &'a mut [f32],
    /// `[3H]`
    qkv: &'a mut [f32],
}

impl<'a> Sums<'a> {
    fn width(h: usize, inner: usize) -> usize {
        9 * h + inner
    }

    fn of(whole: &'a mut [f32], h: usize, inner: usize) -> Self {
        let (norm, rest) = whole.split_at_mut(2 * h);
        let (down, rest) = rest.split_at_mut(h);
        let (up, rest) = rest.split_at_mut(inner);
        let (attention_norm, rest) = rest.split_at_mut(2 * h);
        let (output, qkv) = rest.split_at_mut(h);
        Self { norm, down, up, attention_norm, output, qkv }
    }
}

impl Bert {
    /// Hidden states `[N, H]` of the last block, for the backward pass that may follow.
    ///
    /// Takes a batch from `start` through all blocks above it.
    ///
    /// # Errors
    /// When a number of the batch is beyond the vocabulary, or a window beyond the positions.
    pub fn forward(
        &self,
        batch: &EncoderBatch,
        start: Start<'_>,
        mode: &mut Mode,
        tape: &mut Tape,
    ) -> Result<Tensor, NnError> {
        self.forward_to(batch, start, self.layers(), mode, tape)
    }

    /// The same up to the hidden states of the number `end`.
    ///
    /// # Errors
    /// See [`Bert::forward`].
    pub fn forward_to(
        &self,
        batch: &EncoderBatch,
        start: Start<'_>,
        end: usize,
        mode: &mut Mode,
        tape: &mut Tape,
    ) -> Result<Tensor, NnError> {
        let (keeps, h) = (matches!(mode, Mode::Train(_)), self.hidden());
        let slot = |number: usize| if keeps { number } else { number % 2 };
        tape.states.resize_with(if keeps { end + 1 } else { 2 }, Vec::new);
        tape.blocks.resize_with(if keeps { self.layers() } else { 1 }, Kept::default);
        tape.start = match start {
            Start::Words => 0,
            Start::States(number, _) => number,
        };
        tape.masks = self.masks(batch, tape.start, mode);
        self.halve_weights(keeps, tape)?;
        let shares = shares(batch);
        tape.scratch.resize_with(shares.len().max(tape.scratch.len()), Scratch::default);

        let Tape { masks, states, embedded, projection, blocks, scratch, halved, start: from, .. } = tape;
        let parts = split(embedded, &shares, self.embedding()).into_iter();
        let mut work: Vec<Forward<'_>> = shares
            .iter()
            .zip(parts.zip(split(&mut projection.x, &shares, self.projected())))
            .zip(scratch.iter_mut())
            .map(|((share, (embedded, projected)), scratch)| Forward {
                batch,
                share: share.clone(),
                masks,
                embedded,
                projected,
                states: Vec::with_capacity(states.len()),
                blocks: Vec::with_capacity(blocks.len()),
                halved,
                scratch,
            })
            .collect();
        for buffer in states.iter_mut() {
            work.iter_mut().zip(split(buffer, &shares, h)).for_each(|(work, rows)| work.states.push(rows));
        }
        for (block, layer) in blocks.iter_mut().zip(&self.blocks) {
            let parts = block.split(&shares, h, layer.inner());
            work.iter_mut().zip(parts).for_each(|(work, rows)| work.blocks.push(rows));
        }
        work.into_par_iter().try_for_each(|mut work| {
            match start {
                Start::Words => self.embed(&mut work)?,
                Start::States(number, rows) => {
                    let rows = &rows[work.share.rows.start * h..work.share.rows.end * h];
                    work.states[slot(number)].copy_from_slice(rows);
                }
            }
            for (number, block) in self.blocks.iter().enumerate().take(end).skip(*from) {
                block.forward(&mut work, number, [slot(number), slot(number + 1)])?;
            }
            Ok::<_, NnError>(())
        })?;
        Ok(Tensor::from_slice(&tape.states[slot(end)], (batch.rows(), h), &Device::Cpu)?)
    }

    /// Rounds the weights for products of half precision.
    fn halve_weights(&self, trains: bool, tape: &mut Tape) -> Result<(), NnError> {
        if !self.halves || (!trains && tape.halved_for_prediction) {
            return Ok(());
        }
        tape.halved_for_prediction = !trains;
        tape.halved.resize_with(self.layers(), Halved::default);
        let work = self.blocks.par_iter().zip(&mut tape.halved).flat_map(|(block, Halved { up, down })| {
            Product::ALL.into_par_iter().zip(up).zip(down).map(move |work| (block, work))
        });
        work.try_for_each(|(block, ((product, up), down))| {
            let layers = block.layers(product);
            let weights = layers.iter().map(|layer| lend(layer.weight())).collect::<Result<Vec<_>, _>>()?;
            let (_, inputs) = layers[0].weight().dims2()?;
            up.stack_transposed(&weights.iter().map(|weight| &**weight).collect::<Vec<_>>(), inputs);
            if trains {
                let parts = weights.iter().map(|weight| (&**weight, View::rows(inputs), weight.len() / inputs));
                down.stack(&parts.collect::<Vec<_>>(), inputs);
            }
            Ok(())
        })
    }

    /// Draws the masks of all that follows `start`, in the order in which they are needed.
    fn masks(&self, batch: &EncoderBatch, start: usize, mode: &mut Mode) -> Masks {
        let mut masks = Masks::default();
        if start == 0 {
            masks.pieces = if batch.pieces() > 1 { mode.mask(PIECE_DROPOUT) } else { DropMask::NONE };
            masks.embedded = mode.mask(self.dropout);
        }
        let draw =
            |number| if number < start { [DropMask::NONE; 3] } else { [(); 3].map(|()| mode.mask(self.dropout)) };
        masks.blocks = (0..self.layers()).map(draw).collect();
        masks
    }

    /// The gradients of all that learns, given that of the last hidden states, `[N, H]`, after [`Bert::forward`] in
    /// training.
    ///
    /// # Errors
    /// When the tape is of another pass.
    pub fn backward(
        &self,
        batch: &EncoderBatch,
        tape: &mut Tape,
        grad: &[f32],
        gradients: &mut Gradients,
    ) -> Result<(), NnError> {
        let (h, lowest) = (self.hidden(), self.frozen_below().max(tape.start));
        if grad.len() != batch.rows() * h || tape.states.len() != self.layers() + 1 {
            return Err(NnError::OtherTape);
        }
        let embeddings_learn = self.embeddings_learn() && tape.start == 0;
        let shares = shares(batch);
        for (share, scratch) in shares.iter().zip(&mut tape.scratch) {
            scratch.grad.clear();
            scratch.grad.extend(&grad[share.rows.start * h..share.rows.end * h]);
        }
        for (number, block) in self.blocks.iter().enumerate().skip(lowest).rev() {
            let (x, kept) = (&tape.states[number], &mut tape.blocks[number]);
            let grads = tape.grads.split(&shares, h, block.inner());
            let work: Vec<Backward<'_>> = shares
                .iter()
                .zip(kept.split(&shares, h, block.inner()))
                .zip(grads)
                .zip(&mut tape.scratch)
                .map(|(((share, kept), grads), scratch)| Backward {
                    batch,
                    share,
                    masks: tape.masks.blocks[number],
                    halved: tape.halved.get(number),
                    kept,
                    grads,
                    scratch,
                })
                .collect();
            let goes_on = number > lowest || embeddings_learn;
            work.into_par_iter().try_for_each(|work| block.backward(work, goes_on))?;
            block.add_sums(&tape.grads.sums, gradients);
            let weights = if self.halves {
                block.weights_from_panels(x, kept, &tape.grads, &mut tape.panels)
            } else {
                block.weights(x, kept, &tape.grads)
            };
            add_weights(weights, batch.rows(), gradients);
        }
        if embeddings_learn {
            self.embed_backward(batch, &shares, tape)?;
            self.add_projection(&tape.projection, batch.rows(), gradients);
            self.add_embeddings(batch, tape, gradients);
        }
        Ok(())
    }

    /// The width of what is projected; 0 where nothing is.
    fn projected(&self) -> usize {
        if self.projection.is_some() { self.embedding() } else { 0 }
    }

    fn embed(&self, work: &mut Forward<'_>) -> Result<(), NnError> {
        let (e, batch, mask) = (self.embedding(), work.batch, work.masks.pieces);
        let (words, positions) = (lend(self.words.weight())?, lend(self.positions.weight())?);
        let types = self.token_types.as_ref().map(|types| lend(types.weight())).transpose()?;
        let row = |table: &'_ Lent<'_>, number: u32| {
            let from = number as usize * e;
            if from < table.len() {
                Ok(from..from + e)
            } else {
                Err(NnError::BeyondTable { number, rows: table.len() / e })
            }
        };
        for (number, sum) in work.share.rows.clone().zip(work.embedded.chunks_exact_mut(e)) {
            sum.fill(0.0);
            for piece in 0..batch.pieces() {
                let piece = number * batch.pieces() + piece;
                kernels::add_scaled_row(sum, mask.factor(piece), &words[row(&words, batch.ids()[piece])?]);
            }
            kernels::add_row(sum, &positions[row(&positions, batch.places()[number] + self.position_offset)?]);
            if let Some(types) = &types {
                kernels::add_row(sum, &types[..e]);
            }
        }
        let state = &mut *work.states[0];
        let Some(projection) = &self.projection else {
            kernels::layer_norm(work.embedded, Norms::read(&self.norm)?.norm(), state);
            work.masks.embedded.apply(state, work.share.rows.start * e);
            return Ok(());
        };
        kernels::layer_norm(work.embedded, Norms::read(&self.norm)?.norm(), work.projected);
        work.masks.embedded.apply(work.projected, work.share.rows.start * e);
        let (weight, h) = (lend(projection.weight())?, self.hidden());
        let (dims, transposed) = ([work.share.rows.len(), h, e], View::rows(e).transposed());
        matmul(dims, (state, View::rows(h)), (work.projected, View::rows(e)), (&weight, transposed), Onto::Nothing);
        kernels::add_bias(state, &lend(projection.bias())?);
        Ok(())
    }

    /// Leaves the gradient of the sums of embeddings where they were.
    fn embed_backward(&self, batch: &EncoderBatch, shares: &[Share], tape: &mut Tape) -> Result<(), NnError> {
        let (e, h, mask) = (self.embedding(), self.hidden(), tape.masks.embedded);
        let above = split(&mut tape.projection.grad, shares, if self.projection.is_some() { h } else { 0 });
        let sums = split_sums(&mut tape.embedded_sums, shares, 2 * e);
        let parts = split(&mut tape.embedded, shares, e).into_iter().zip(sums).zip(above);
        let work: Vec<_> = shares.iter().zip(parts).zip(&mut tape.scratch).collect();
        work.into_par_iter().try_for_each(|((share, ((embedded, sums), above)), scratch)| {
            let Scratch { grad, other, .. } = scratch;
            if let Some(projection) = &self.projection {
                above.copy_from_slice(grad);
                let (grad, weight) = (sized(grad, embedded.len()), lend(projection.weight())?);
                let (dims, rows) = ([share.rows.len(), e, h], View::rows(e));
                matmul(dims, (grad, rows), (above, View::rows(h)), (&weight, rows), Onto::Nothing);
            }
            mask.apply(grad, share.rows.start * e);
            let (norm, below) = (Norms::read(&self.norm)?, sized(other, grad.len()));
            for (rows, sums) in share.sentences(batch, e).zip(sums.chunks_exact_mut(2 * e)) {
                let (x, grad) = (&embedded[rows.clone()], &grad[rows.clone()]);
                kernels::layer_norm_back(x, norm.norm(), grad, &mut below[rows], sums);
            }
            embedded.copy_from_slice(below);
            Ok(())
        })
    }

    fn add_projection(&self, tape: &Projection<Vec<f32>>, rows: usize, gradients: &mut Gradients) {
        let Some(layer) = &self.projection else { return };
        let h = self.hidden();
        let mut sum = vec![0.0; h];
        kernels::add_rows(&tape.grad, &mut sum);
        gradients.add(layer.bias(), &sum);
        let sides = Sides::Rows { grad: (&tape.grad, View::rows(h)), x: &tape.x };
        add_weights(vec![WeightGradient { layer, sides }], rows, gradients);
    }

    fn add_embeddings(&self, batch: &EncoderBatch, tape: &Tape, gradients: &mut Gradients) {
        let (e, pieces) = (self.embedding(), batch.pieces());
        let (mask, grad) = (tape.masks.pieces, &tape.embedded);
        add_norm(&self.norm, tape.embedded_sums.chunks_exact(2 * e), gradients);
        if pieces == 1 {
            gradients.add_rows(self.words.weight(), batch.ids(), grad);
        } else {
            let rows = grad.chunks_exact(e).enumerate();
            let each = rows.flat_map(|(row, grad)| {
                let factors = (0..pieces).map(move |piece| mask.factor(row * pieces + piece));
                factors.flat_map(move |factor| grad.iter().map(move |x| factor * x))
            });
            gradients.add_rows(self.words.weight(), batch.ids(), &each.collect::<Vec<_>>());
        }
        let (positions, onto) = gradients.of(self.positions.weight());
        if onto == Onto::Nothing {
            positions.fill(0.0);
        }
        for (place, grad) in batch.places().iter().zip(grad.chunks_exact(e)) {
            kernels::add_row(&mut positions[(place + self.position_offset) as usize * e..][..e], grad);
        }
        if let Some(types) = &self.token_types {
            let (types, onto) = gradients.of(types.weight());
            if onto == Onto::Nothing {
                types.fill(0.0);
            }
            kernels::add_rows(grad, &mut types[..e]);
        }
    }
}

/// One share on its way up.
struct Forward<'a> {
    batch: &'a EncoderBatch,
    share: Share,
    masks: &'a Masks,
    embedded: &'a mut [f32],
    projected: &'a mut [f32],
    states: Vec<&'a mut [f32]>,
    blocks: Vec<Kept<&'a mut [f32]>>,
    halved: &'a [Halved],
    scratch: &'a mut Scratch,
}

/// One share on its way down through one block; the gradient that goes down is in its scratch.
struct Backward<'a> {
    batch: &'a EncoderBatch,
    share: &'a Share,
    masks: [DropMask; 3],
    halved: Option<&'a Halved>,
    kept: Kept<&'a mut [f32]>,
    grads: Grads<&'a mut [f32]>,
    scratch: &'a mut Scratch,
}

impl Share {
    /// Where each sentence lies in the share's rows of a matrix with `width` columns.
    fn sentences<'a>(&self, batch: &'a EncoderBatch, width: usize) -> impl Iterator<Item = Range<usize>> + 'a {
        let first = self.rows.start;
        let windows = batch.windows()[self.windows.clone()].iter();
        windows.map(move |rows| (rows.start - first) * width..(rows.end - first) * width)
    }
}

impl Block {
    fn attention(&self, batch: &EncoderBatch, mask: DropMask) -> Attention {
        Attention { hidden: self.hidden(), heads: self.heads, mask, longest: batch.longest() }
    }

    /// From the hidden states in one slot to those in the other.
    fn forward(&self, work: &mut Forward<'_>, number: usize, [from, to]: [usize; 2]) -> Result<(), NnError> {
        let (h, first_row) = (self.hidden(), work.share.rows.start);
        let [probability_mask, attended_mask, fed_mask] = work.masks.blocks[number];
        let (x, y) = two(&mut work.states, from, to);
        let last = work.blocks.len() - 1;
        let kept = &mut work.blocks[number.min(last)];
        let Scratch { act, attention: scratch, halves, .. } = &mut *work.scratch;
        let halved = work.halved.get(number);

        self.product(Product::Qkv, halved, x, kept.qkv, halves)?;
        let mut biases = Vec::with_capacity(3 * h);
        for layer in self.layers(Product::Qkv) {
            biases.extend_from_slice(&lend(layer.bias())?);
        }
        kernels::add_bias(kept.qkv, &biases);
        let attention = self.attention(work.batch, probability_mask);
        for (number, rows) in work.share.windows.clone().zip(work.share.sentences(work.batch, 1)) {
            let qkv = &kept.qkv[rows.start * 3 * h..rows.end * 3 * h];
            attention.forward(number, qkv, &mut kept.context[rows.start * h..rows.end * h], scratch);
        }

        self.product(Product::Output, halved, kept.context, kept.attended, halves)?;
        let (norm, bias) = (Norms::read(&self.attention_norm)?, lend(self.output.bias())?);
        kernels::norm_of_sum(kept.attended, &bias, (attended_mask, first_row), x, norm.norm(), kept.middle);

        self.product(Product::Up, halved, kept.middle, kept.inner, halves)?;
        let act = sized(act, kept.inner.len());
        kernels::gelu_of_sum(kept.inner, &lend(self.up.bias())?, act);
        self.product(Product::Down, halved, act, kept.fed, halves)?;
        let (norm, bias) = (Norms::read(&self.norm)?, lend(self.down.bias())?);
        kernels::norm_of_sum(kept.fed, &bias, (fed_mask, first_row), kept.middle, norm.norm(), y);
        Ok(())
    }

    /// Turns the gradient of the block's output into that of its input if it `goes_on` below, and leaves what the
    /// gradients of the weights are made from.
    fn backward(&self, work: Backward<'_>, goes_on: bool) -> Result<(), NnError> {
        let (h, inner, first_row) = (self.hidden(), self.inner(), work.share.rows.start);
        let [probability_mask, attended_mask, fed_mask] = work.masks;
        let Backward { kept, grads, halved, .. } = work;
        let Scratch { grad, other, attention: scratch, halves, .. } = work.scratch;
        let other = sized(other, grad.len());
        let mut sums: Vec<Sums<'_>> =
            grads.sums.chunks_exact_mut(Sums::width(h, inner)).map(|sums| Sums::of(sums, h, inner)).collect();
        let sentences: Vec<Range<usize>> = work.share.sentences(work.batch, 1).collect();
        let of = |rows: &Range<usize>, width: usize| rows.start * width..rows.end * width;

        // Through the second half: `other` gets the gradient of the sum before the norm, which is also that of `middle`.
        let norm = Norms::read(&self.norm)?;
        for (rows, sums) in sentences.iter().zip(&mut sums) {
            let (range, row) = (of(rows, h), first_row + rows.start);
            let (fed, other) = (&mut kept.fed[range.clone()], &mut other[range.clone()]);
            kernels::layer_norm_back(fed, norm.norm(), &grad[range], other, sums.norm);
            kernels::drop_and_sum(other, (fed_mask, row), fed, sums.down);
        }
        self.product_back(Product::Down, halved, kept.fed, grads.inner, Onto::Nothing, halves)?;
        for (rows, sums) in sentences.iter().zip(&mut sums) {
            let range = of(rows, inner);
            kernels::gelu_back(&mut kept.inner[range.clone()], &mut grads.inner[range], sums.up);
        }
        self.product_back(Product::Up, halved, grads.inner, other, Onto::Sum, halves)?;

        // Through the first half: `grad` gets the gradient of the sum before the norm, which is also that of the input.
        let norm = Norms::read(&self.attention_norm)?;
        for (rows, sums) in sentences.iter().zip(&mut sums) {
            let (range, row) = (of(rows, h), first_row + rows.start);
            let (attended, grad) = (&mut kept.attended[range.clone()], &mut grad[range.clone()]);
            kernels::layer_norm_back(attended, norm.norm(), &other[range], grad, sums.attention_norm);
            kernels::drop_and_sum(grad, (attended_mask, row), attended, sums.output);
        }
        self.product_back(Product::Output, halved, kept.attended, other, Onto::Nothing, halves)?;
        let attention = self.attention(work.batch, probability_mask);
        for ((number, rows), sums) in work.share.windows.clone().zip(&sentences).zip(&mut sums) {
            let (range, wide) = (of(rows, h), of(rows, 3 * h));
            let (qkv, grad) = (&kept.qkv[wide.clone()], &mut grads.qkv[wide]);
            attention.backward(number, qkv, &other[range], grad, scratch);
            kernels::add_rows(grad, sums.qkv);
        }
        if goes_on {
            self.product_back(Product::Qkv, halved, grads.qkv, grad, Onto::Sum, halves)?;
        }
        Ok(())
    }

    /// The layers whose results lie side by side after a product.
    fn layers(&self, product: Product) -> Vec<&Linear> {
        match product {
            Product::Qkv => vec![&self.query, &self.key, &self.value],
            Product::Output => vec![&self.output],
            Product::Up => vec![&self.up],
            Product::Down => vec![&self.down],
        }
    }

    /// `dst = x · weightᵀ`, without the bias; where there are several layers, their results side by side.
    fn product(
        &self,
        product: Product,
        halved: Option<&Halved>,
        x: &[f32],
        dst: &mut [f32],
        halves: &mut Vec<u32>,
    ) -> Result<(), NnError> {
        let layers = self.layers(product);
        let (out, k) = layers[0].weight().dims2()?;
        let width = out * layers.len();
        if let Some(halved) = halved {
            kernels::halve(x, halves);
            kernels::half_matmul((dst, View::rows(width)), halves, &halved.up[product as usize], Onto::Nothing);
            return Ok(());
        }
        for (part, layer) in layers.iter().enumerate() {
            let (weight, columns) = (lend(layer.weight())?, View::columns(part * out, width));
            let transposed = View::rows(k).transposed();
            matmul([x.len() / k, out, k], (dst, columns), (x, View::rows(k)), (&weight, transposed), Onto::Nothing);
        }
        Ok(())
    }

    /// The gradient of a product's input: `dst = grad · weight`.
    fn product_back(
        &self,
        product: Product,
        halved: Option<&Halved>,
        grad: &[f32],
        dst: &mut [f32],
        onto: Onto,
        halves: &mut Vec<u32>,
    ) -> Result<(), NnError> {
        let layers = self.layers(product);
        let (out, k) = layers[0].weight().dims2()?;
        let width = out * layers.len();
        if let Some(halved) = halved {
            kernels::halve(grad, halves);
            kernels::half_matmul((dst, View::rows(k)), halves, &halved.down[product as usize], onto);
            return Ok(());
        }
        for (part, layer) in layers.iter().enumerate() {
            let (weight, columns) = (lend(layer.weight())?, View::columns(part * out, width));
            let onto = if part == 0 { onto } else { Onto::Sum };
            matmul([grad.len() / width, k, out], (dst, View::rows(k)), (grad, columns), (&weight, View::rows(k)), onto);
        }
        Ok(())
    }

    /// Adds the gradients of biases and norms, sentence by sentence.
    fn add_sums(&self, sums: &[f32], gradients: &mut Gradients) {
        let (h, inner) = (self.hidden(), self.inner());
        let width = Sums::width(h, inner);
        let mut total = vec![0.0; width];
        sums.chunks_exact(width).for_each(|sentence| kernels::add_row(&mut total, sentence));
        let Sums { norm, down, up, attention_norm, output, qkv } = Sums::of(&mut total, h, inner);
        add_norm(&self.norm, std::iter::once(&*norm), gradients);
        add_norm(&self.attention_norm, std::iter::once(&*attention_norm), gradients);
        let parts = qkv.chunks_exact(h);
        let layers = [&self.query, &self.key, &self.value].into_iter().zip(parts);
        let others = [(&self.down, &*down), (&self.up, &*up), (&self.output, &*output)];
        layers.chain(others).for_each(|(layer, sum)| gradients.add(layer.bias(), sum));
    }

    /// What the gradients of the weights are products of, `x` being the block's input.
    fn weights<'a>(
        &'a self,
        x: &'a [f32],
        kept: &'a Kept<Vec<f32>>,
        grads: &'a Grads<Vec<f32>>,
    ) -> Vec<WeightGradient<'a>> {
        let h = self.hidden();
        let of = |layer, (grad, view): (&'a Vec<f32>, View), x: &'a [f32]| WeightGradient {
            layer,
            sides: Sides::Rows { grad: (grad, view), x },
        };
        let all = |layer: &'a Linear, grad, x| of(layer, (grad, View::rows(layer.bias().elem_count())), x);
        vec![
            all(&self.down, &kept.fed, &kept.inner),
            all(&self.up, &grads.inner, &kept.middle),
            all(&self.output, &kept.attended, &kept.context),
            of(&self.query, (&grads.qkv, View::columns(0, 3 * h)), x),
            of(&self.key, (&grads.qkv, View::columns(h, 3 * h)), x),
            of(&self.value, (&grads.qkv, View::columns(2 * h, 3 * h)), x),
        ]
    }

    /// The same in half precision, cut into `panels`.
    fn weights_from_panels<'a>(
        &'a self,
        x: &[f32],
        kept: &Kept<Vec<f32>>,
        grads: &Grads<Vec<f32>>,
        panels: &'a mut [Panels; 8],
    ) -> Vec<WeightGradient<'a>> {
        let (h, inner) = (self.hidden(), self.inner());
        let sources: [(&[f32], usize); 8] = [
            (&kept.fed, h),
            (&kept.inner, inner),
            (&grads.inner, inner),
            (&kept.middle, h),
            (&kept.attended, h),
            (&kept.context, h),
            (&grads.qkv, 3 * h),
            (x, h),
        ];
        panels.par_iter_mut().zip(sources).for_each(|(panels, (source, columns))| {
            panels.stack(&[(source, View::rows(columns), source.len() / columns)], columns);
        });
        let [fed, inner, inner_grad, middle, attended, context, qkv_grad, x] = &*panels;
        let of = |layer, grad, first, x| WeightGradient { layer, sides: Sides::Panels { grad, first, x } };
        vec![
            of(&self.down, fed, 0, inner),
            of(&self.up, inner_grad, 0, middle),
            of(&self.output, attended, 0, context),
            of(&self.query, qkv_grad, 0, x),
            of(&self.key, qkv_grad, h, x),
            of(&self.value, qkv_grad, 2 * h, x),
        ]
    }
}

/// The gradient of a weight is `gradᵀ · x`, for the gradient of the layer's product `[N, out]` and its input `[N, in]`.
struct WeightGradient<'a> {
    layer: &'a Linear,
    sides: Sides<'a>,
}

enum Sides<'a> {
    Rows {
        grad: (&'a [f32], View),
        x: &'a [f32],
    },
    Panels {
        grad: &'a Panels,
        /// The first column that counts.
        first: usize,
        x: &'a Panels,
    },
}

/// Computes the gradients of all weights, a few of their rows in each task.
fn add_weights(weights: Vec<WeightGradient<'_>>, rows: usize, gradients: &mut Gradients) {
    let mut sums: Vec<(Vec<f32>, Onto)> = weights.iter().map(|w| gradients.take(w.layer.weight())).collect();
    let tasks = weights.iter().zip(&mut sums).flat_map(|(weight, (sum, onto))| {
        let inputs = sum.len() / weight.layer.bias().elem_count();
        let pieces = sum.chunks_mut(WEIGHT_ROWS * inputs).enumerate();
        pieces.map(move |(piece, sum)| (weight, piece * WEIGHT_ROWS, inputs, sum, *onto))
    });
    tasks.collect::<Vec<_>>().into_par_iter().for_each(|(weight, from, inputs, sum, onto)| match &weight.sides {
        Sides::Rows { grad: (grad, view), x } => {
            let view = View { at: view.at + from, ..*view }.transposed();
            let dims = [sum.len() / inputs, inputs, rows];
            matmul(dims, (sum, View::rows(inputs)), (grad, view), (x, View::rows(inputs)), onto);
        }
        Sides::Panels { grad, first, x } => {
            let count = sum.len() / inputs;
            kernels::half_matmul_transposed((sum, View::rows(inputs)), count, grad, first + from, x, onto);
        }
    });
    for (weight, (sum, _)) in weights.iter().zip(sums) {
        gradients.put(weight.layer.weight(), sum);
    }
}

/// Adds the gradients of a norm's weight and bias, which stand one behind the other in each of `sums`.
fn add_norm<'a>(layer: &LayerNorm, sums: impl Iterator<Item = &'a [f32]>, gradients: &mut Gradients) {
    let h = layer.weight().elem_count();
    let mut total = vec![0.0; 2 * h];
    sums.for_each(|sentence| kernels::add_row(&mut total, sentence));
    gradients.add(layer.weight(), &total[..h]);
    gradients.add(layer.bias(), &total[h..]);
}

/// A layer norm's variables, read.
struct Norms<'a> {
    weight: Lent<'a>,
    bias: Lent<'a>,
    eps: f32,
}

impl<'a> Norms<'a> {
    fn read(layer: &'a LayerNorm) -> Result<Self, NnError> {
        Ok(Self { weight: lend(layer.weight())?, bias: lend(layer.bias())?, eps: layer.eps() as f32 })
    }

    fn norm(&self) -> Norm<'_> {
        Norm { weight: &self.weight, bias: &self.bias, eps: self.eps }
    }
}

/// One element to read and another to write.
fn two<'a>(all: &'a mut [&mut [f32]], read: usize, write: usize) -> (&'a [f32], &'a mut [f32]) {
    let (low, high) = all.split_at_mut(read.max(write));
    if read < write { (&*low[read], &mut *high[0]) } else { (&*high[0], &mut *low[write]) }
}
