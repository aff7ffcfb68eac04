//! Sentences put together for one pass of the encoder, and what comes out, word by word.

use super::Alignment;
use crate::nn::{NnError, u32_tensor};
use candle_core::Tensor;
use std::ops::Range;

/// Windows of several sentences, one behind the other. N counts their positions.
#[derive(Clone, Debug)]
pub struct EncoderBatch {
    ids: Vec<u32>,
    places: Vec<u32>,
    windows: Vec<Range<usize>>,
    pieces: usize,
    first: Vec<u32>,
    last: Vec<u32>,
    sentences: Vec<Range<usize>>,
}

impl EncoderBatch {
    pub fn new(alignments: &[&Alignment], pieces: usize) -> Self {
        let mut batch = Self {
            ids: Vec::new(),
            places: Vec::new(),
            windows: Vec::new(),
            pieces,
            first: Vec::new(),
            last: Vec::new(),
            sentences: Vec::with_capacity(alignments.len()),
        };
        for alignment in alignments {
            let (words, mut starts) = (batch.first.len(), Vec::with_capacity(alignment.windows().len()));
            for window in alignment.windows() {
                let from = batch.places.len();
                starts.push(from);
                batch.ids.extend(&window.ids);
                batch.places.extend(0..window.positions as u32);
                batch.windows.push(from..from + window.positions);
            }
            for place in alignment.words() {
                let row = starts.get(place.window).copied().unwrap_or(0);
                batch.first.push((row + place.first) as u32);
                batch.last.push((row + place.last) as u32);
            }
            batch.sentences.push(words..batch.first.len());
        }
        batch
    }

    /// The rows of each of B windows; at least one window a sentence.
    pub fn windows(&self) -> &[Range<usize>] {
        &self.windows
    }

    /// N.
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// T: positions of the longest window.
    pub fn longest(&self) -> usize {
        self.windows.iter().map(Range::len).max().unwrap_or(0)
    }

    /// Numbers that each position has.
    pub fn pieces(&self) -> usize {
        self.pieces
    }

    /// N · pieces numbers below the vocabulary.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Where each row stands in its window, counted from 0.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Words of each sentence among all words of the batch.
    pub fn sentences(&self) -> &[Range<usize>] {
        &self.sentences
    }

    /// Puts hidden states `[N, H]` of this batch beside the words that they stand for.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn encoded(&self, hidden: Tensor) -> Result<Encoded, NnError> {
        let ends = u32_tensor(&[self.first.as_slice(), &self.last].concat(), hidden.device())?;
        Ok(Encoded { hidden, ends })
    }
}

/// The vectors of a batch. W counts the words of all its sentences, one sentence after the other.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// `[N, H]`
    hidden: Tensor,
    /// `[2W]`, row numbers in `hidden`.
    ends: Tensor,
}

impl Encoded {
    /// Vectors of each word's first subword, and below them of each word's last one, `[2W, H]`.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn ends(&self) -> Result<Tensor, NnError> {
        Ok(self.hidden.index_select(&self.ends, 0)?)
    }

    /// `[N, H]`: every position.
    pub fn hidden(&self) -> &Tensor {
        &self.hidden
    }
}
