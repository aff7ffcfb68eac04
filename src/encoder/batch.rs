//! Sentences put together for one pass of the encoder, and what comes out, word by word.

use super::{Alignment, WordRows};
use crate::nn::{NnError, Operations, Rng, segment_max, segment_mean, u32_tensor};
use candle_core::Tensor;
use std::ops::Range;
use std::sync::Arc;

/// Windows of several sentences, one behind the other. N counts their positions.
#[derive(Clone, Debug)]
pub struct EncoderBatch {
    ids: Vec<u32>,
    places: Vec<u32>,
    windows: Vec<Range<usize>>,
    pieces: usize,
    words: Arc<WordRows>,
}

impl EncoderBatch {
    pub fn new(alignments: &[&Alignment], pieces: usize) -> Self {
        let (mut ids, mut places, mut windows, mut words) = (Vec::new(), Vec::new(), Vec::new(), WordRows::default());
        for alignment in alignments {
            let first = windows.len();
            for window in alignment.windows() {
                let from = places.len();
                ids.extend(&window.ids);
                places.extend(0..window.positions as u32);
                windows.push(from..from + window.positions);
            }
            words.push(alignment, &windows[first..]);
        }
        Self { ids, places, windows, pieces, words: Arc::new(words) }
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

    /// Puts another subword at a row, where each position has one number.
    pub fn put(&mut self, row: usize, id: u32) {
        if let Some(place) = self.ids.get_mut(row) {
            *place = id;
        }
    }

    /// Where each row stands in its window, counted from 0.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Words of each sentence among all words of the batch.
    pub fn sentences(&self) -> &[Range<usize>] {
        self.words.sentences()
    }

    /// Where the words stand among the rows.
    pub fn words(&self) -> &WordRows {
        &self.words
    }

    /// Puts hidden states `[N, H]` of this batch beside the words that they stand for.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn encoded(&self, hidden: Tensor) -> Result<Encoded, NnError> {
        Encoded::new(vec![hidden.clone()], hidden, Arc::clone(&self.words))
    }

    /// Puts the layers that were asked for, `[N, H]` each and from low to high, beside the words that they stand for.
    ///
    /// # Errors
    /// When there is none, or the device refuses.
    pub fn encoded_layers(&self, layers: Vec<Tensor>) -> Result<Encoded, NnError> {
        let hidden = layers.last().cloned().ok_or_else(|| NnError::shapes("encoded_layers", &[]))?;
        Encoded::new(layers, hidden, Arc::clone(&self.words))
    }
}

/// The vectors of a batch. W counts the words of all its sentences, one sentence after the other.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// `[N, H]` each, the last of them `hidden`.
    layers: Vec<Tensor>,
    hidden: Tensor,
    /// `[2W]`, row numbers in `hidden`.
    ends: Tensor,
    words: Arc<WordRows>,
}

impl Encoded {
    fn new(layers: Vec<Tensor>, hidden: Tensor, words: Arc<WordRows>) -> Result<Self, NnError> {
        let ends = u32_tensor(&[words.first(), words.last()].concat(), hidden.device())?;
        Ok(Self { layers, hidden, ends, words })
    }

    /// Vectors of each word's first subword, and below them of each word's last one, `[2W, H]`.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn ends(&self) -> Result<Tensor, NnError> {
        Ok(self.hidden.index_select(&self.ends, 0)?)
    }

    /// `[N, H]`: every position of the highest layer.
    pub fn hidden(&self) -> &Tensor {
        &self.hidden
    }

    /// The layers that were asked for, `[N, H]` each, from low to high; at least one. An encoder of fewer blocks than were
    /// asked for has fewer.
    pub fn layers(&self) -> &[Tensor] {
        &self.layers
    }

    /// Where the words stand among the rows.
    pub fn words(&self) -> &WordRows {
        &self.words
    }

    /// Greatest values over the subwords of each word in one of the layers, or in what was made of them: `[N, D]` to
    /// `[W, D]`.
    ///
    /// # Errors
    /// On other shapes.
    pub fn max_of_subwords(&self, layer: &Tensor, operations: Operations) -> Result<Tensor, NnError> {
        segment_max(layer, &self.words.subwords(), operations)
    }

    /// As [`Encoded::max_of_subwords`] with means.
    ///
    /// # Errors
    /// On other shapes.
    pub fn mean_of_subwords(&self, layer: &Tensor, operations: Operations) -> Result<Tensor, NnError> {
        segment_mean(layer, &self.words.subwords(), operations)
    }

    /// As a model that differs by dropout sees it: without a share `rate` of the H columns, which are the same ones for
    /// every row and layer and depend on the number of the model alone. So what it says of a sentence depends on no other.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn without_columns(&self, rate: f32, model: usize) -> Result<Self, NnError> {
        let factors = column_factors(self.hidden.dims2()?.1, rate, model);
        let factors = Tensor::from_slice(&factors, factors.len(), self.hidden.device())?;
        let layers = self.layers.iter().map(|layer| Ok(layer.broadcast_mul(&factors)?));
        let layers = layers.collect::<Result<Vec<_>, NnError>>()?;
        let hidden = layers.last().cloned().unwrap_or_else(|| self.hidden.clone());
        Ok(Self { layers, hidden, ends: self.ends.clone(), words: Arc::clone(&self.words) })
    }
}

/// What a model that differs by dropout multiplies `width` columns with: 0 for a share `rate` of them, and for the others
/// what keeps their sum.
pub fn column_factors(width: usize, rate: f32, model: usize) -> Vec<f32> {
    let mut rng = Rng::new(model as u64, "a model that differs by dropout");
    let kept = 1.0 / (1.0 - rate);
    (0..width).map(|_| if rng.unit() < rate { 0.0 } else { kept }).collect()
}
