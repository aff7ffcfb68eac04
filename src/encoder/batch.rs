//! Sentences put together for one pass of the encoder, and what comes out, word by word.

use super::{Alignment, Bert};
use crate::nn::{Mode, NnError, u32_tensor};
use candle_core::Tensor;
use std::ops::Range;

/// Windows of several sentences, padded to the longest. At least one position wide.
#[derive(Clone, Debug)]
pub struct EncoderBatch {
    ids: Vec<u32>,
    lens: Vec<usize>,
    positions: usize,
    pieces: usize,
    first: Vec<u32>,
    last: Vec<u32>,
    sentences: Vec<Range<usize>>,
}

impl EncoderBatch {
    pub fn new(alignments: &[&Alignment], pieces: usize) -> Self {
        let positions = alignments.iter().map(|a| a.positions()).max().unwrap_or(0).max(1);
        let mut batch = Self {
            ids: Vec::new(),
            lens: Vec::new(),
            positions,
            pieces,
            first: Vec::new(),
            last: Vec::new(),
            sentences: Vec::with_capacity(alignments.len()),
        };
        for alignment in alignments {
            let from = batch.lens.len();
            let words = batch.first.len();
            for place in alignment.words() {
                let row = (from + place.window) * positions;
                batch.first.push((row + place.first) as u32);
                batch.last.push((row + place.last) as u32);
            }
            batch.sentences.push(words..batch.first.len());
            for window in alignment.windows() {
                batch.ids.extend(&window.ids);
                batch.lens.push(window.positions);
                batch.ids.resize(batch.lens.len() * positions * pieces, 0);
            }
        }
        batch
    }

    /// B: windows, at least one a sentence.
    pub fn windows(&self) -> usize {
        self.lens.len()
    }

    /// T.
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// Numbers that each position has.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// B · T · pieces numbers below the vocabulary.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Positions of each window that are not padding.
    pub fn lens(&self) -> &[usize] {
        &self.lens
    }

    /// Words of each sentence among all words of the batch.
    pub fn sentences(&self) -> &[Range<usize>] {
        &self.sentences
    }

    /// Runs the encoder.
    ///
    /// # Errors
    /// See [`Bert::forward`].
    pub fn encode(&self, bert: &Bert, mode: &mut Mode) -> Result<Encoded, NnError> {
        let hidden = bert.forward(self, mode)?;
        let (b, t, h) = hidden.dims3()?;
        let (first, last) = (u32_tensor(&self.first, hidden.device())?, u32_tensor(&self.last, hidden.device())?);
        Ok(Encoded { hidden: hidden.reshape((b * t, h))?, first, last, same: self.first == self.last })
    }
}

/// The vectors of a batch. W counts the words of all its sentences, one sentence after the other.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// `[B · T, H]`
    hidden: Tensor,
    /// `[W]`, row numbers in `hidden`.
    first: Tensor,
    last: Tensor,
    same: bool,
}

impl Encoded {
    /// Vectors of each word's first and last subword, both `[W, H]`.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn ends(&self) -> Result<(Tensor, Tensor), NnError> {
        let first = self.hidden.index_select(&self.first, 0)?;
        let last = if self.same { first.clone() } else { self.hidden.index_select(&self.last, 0)? };
        Ok((first, last))
    }

    /// `[B · T, H]`: every position, padding too.
    pub fn hidden(&self) -> &Tensor {
        &self.hidden
    }
}
