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
//! - Where products are of rounded numbers ([`Bert::rounding()`]), their inputs are rounded and nothing else; a tape holds the
//!   rounded weights, which a training pass renews and a prediction takes as they were at the tape's first.
//! - The tape keeps what lies before each norm and before GELU, queries, keys and values, and the context; probabilities
//!   and GELU are computed again on the way back, which leaves its gradients where the tape has been read.

mod block;
mod embeddings;
mod norms;
mod products;
mod span_block;
mod spans;
mod tape;

pub use spans::TokenGradients;
pub use tape::Tape;

use super::EncoderBatch;
use super::bert::{Bert, PIECE_DROPOUT};
use crate::nn::kernels::{self, DropMask};
use crate::nn::{Gradients, Mode, NnError};
use candle_core::{Device, Tensor};
use products::add_weights;
use rayon::prelude::*;
use std::ops::RangeInclusive;
use tape::{BlockGradients, Masks, RoundedWeights, SavedActivations, Scratch, Share, shares, split};

/// Where a forward pass begins.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    Words,
    /// At hidden states `[N, H]` of the given number, kept from before.
    States(usize, &'a [f32]),
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

    /// Hidden states `[N, H]` of the number `end`, as far as the pass goes.
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
        self.forward_layers(batch, start, end..=end, mode, tape)?.pop().ok_or(NnError::OtherTape)
    }

    /// Several hidden states, `[N, H]` each, from low to high: the last of them are as far as the pass goes. Those below
    /// `start` are not there.
    ///
    /// # Errors
    /// See [`Bert::forward`].
    pub fn forward_layers(
        &self,
        batch: &EncoderBatch,
        start: Start<'_>,
        layers: RangeInclusive<usize>,
        mode: &mut Mode,
        tape: &mut Tape,
    ) -> Result<Vec<Tensor>, NnError> {
        let (keeps, h) = (matches!(mode, Mode::Train(_)), self.hidden());
        tape.start = match start {
            Start::Words => 0,
            Start::States(number, _) => number,
        };
        let (lowest, end) = ((*layers.start()).max(tape.start), *layers.end());
        // A prediction goes to and fro between two places; what it is to leave behind has a place of its own.
        let slot = |number: usize| match number {
            _ if keeps => number,
            _ if (lowest..end).contains(&number) => 2 + number - lowest,
            _ => number % 2,
        };
        tape.states.resize_with(if keeps { end + 1 } else { 2 + end.saturating_sub(lowest) }, Vec::new);
        tape.blocks.resize_with(if keeps { self.layers() } else { 1 }, SavedActivations::default);
        tape.masks = self.masks(batch, tape.start, mode);
        self.round_weights_of_words(keeps, tape)?;
        let shares = shares(batch);
        tape.scratch.resize_with(shares.len().max(tape.scratch.len()), Scratch::default);

        let Tape { masks, states, embedded, projection, blocks, scratch, rounded_weights, start: from, .. } = tape;
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
                rounded_weights,
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
                Start::Words => self.embed(&mut work, slot(0))?,
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
        let state = |number| Ok(Tensor::from_slice(&tape.states[slot(number)], (batch.rows(), h), &Device::Cpu)?);
        (lowest..=end).map(state).collect()
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
        self.backward_from(batch, tape, &[(self.layers(), grad)], gradients)
    }

    /// The same, given the gradients of several hidden states, `[N, H]` each, with their numbers from low to high: 0 are the
    /// embeddings.
    ///
    /// # Errors
    /// When the tape is of another pass.
    pub fn backward_from(
        &self,
        batch: &EncoderBatch,
        tape: &mut Tape,
        grads: &[(usize, &[f32])],
        gradients: &mut Gradients,
    ) -> Result<(), NnError> {
        let (h, lowest) = (self.hidden(), self.frozen_below().max(tape.start));
        let fit = |(number, grad): &(usize, &[f32])| *number <= self.layers() && grad.len() == batch.rows() * h;
        if !grads.is_sorted_by(|a, b| a.0 < b.0) || !grads.iter().all(fit) || tape.states.len() != self.layers() + 1 {
            return Err(NnError::OtherTape);
        }
        let Some((&(top, _), _)) = grads.split_last() else { return Ok(()) };
        let embeddings_learn = self.embeddings_learn() && tape.start == 0;
        let shares = shares(batch);
        for (share, scratch) in shares.iter().zip(&mut tape.scratch) {
            scratch.grad.clear();
            scratch.grad.resize(share.rows.len() * h, 0.0);
        }
        let add = |scratch: &mut [Scratch], number: usize| {
            for (_, grad) in grads.iter().filter(|(of, _)| *of == number) {
                for (share, scratch) in shares.iter().zip(scratch.iter_mut()) {
                    kernels::add_row(&mut scratch.grad, &grad[share.rows.start * h..share.rows.end * h]);
                }
            }
        };
        for (number, block) in self.blocks.iter().enumerate().take(top).skip(lowest).rev() {
            add(&mut tape.scratch, number + 1);
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
                    rounded_weights: tape.rounded_weights.get(number),
                    kept,
                    grads,
                    scratch,
                })
                .collect();
            let goes_on = number > lowest || embeddings_learn;
            work.into_par_iter().try_for_each(|work| block.backward(work, goes_on))?;
            block.add_sums(&tape.grads.sums, gradients);
            let weights = match self.rounding {
                Some(rounding) => block.weights_from_panels(x, kept, &tape.grads, rounding, &mut tape.panels),
                None => block.weights(x, kept, &tape.grads),
            };
            add_weights(weights, batch.rows(), gradients);
        }
        if embeddings_learn {
            add(&mut tape.scratch, 0);
            self.embed_backward(batch, &shares, tape)?;
            self.add_projection(&tape.projection, batch.rows(), gradients);
            self.add_embeddings(batch, tape, gradients);
        }
        Ok(())
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
    blocks: Vec<SavedActivations<&'a mut [f32]>>,
    rounded_weights: &'a [RoundedWeights],
    scratch: &'a mut Scratch,
}

/// One share on its way down through one block; the gradient that goes down is in its scratch.
struct Backward<'a> {
    batch: &'a EncoderBatch,
    share: &'a Share,
    masks: [DropMask; 3],
    rounded_weights: Option<&'a RoundedWeights>,
    kept: SavedActivations<&'a mut [f32]>,
    grads: BlockGradients<&'a mut [f32]>,
    scratch: &'a mut Scratch,
}
