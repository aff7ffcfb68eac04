//! Buffers of the passes, and how they are shared out among threads.

use super::EncoderBatch;
use crate::nn::kernels::{AttentionScratch, DropMask, RoundedPanels, RoundedRows};
use std::ops::Range;

/// What a forward pass leaves for the backward pass. One tape serves any number of passes, one after the other.
#[derive(Debug, Default)]
pub struct Tape {
    /// The number of the hidden states that the pass began with.
    pub(super) start: usize,
    pub(super) masks: Masks,
    /// Hidden states by number, `[N, H]`; those of a prediction share the first two, but for those that it is to leave.
    pub(super) states: Vec<Vec<f32>>,
    /// Before the first norm, `[N, E]`; on the way back its gradient.
    pub(super) embedded: Vec<f32>,
    /// For each sentence the gradients of the embeddings' norm, `[B, 2E]`.
    pub(super) embedded_sums: Vec<f32>,
    pub(super) projection: Projection<Vec<f32>>,
    /// What each block leaves; those of a prediction share one.
    pub(super) blocks: Vec<SavedActivations<Vec<f32>>>,
    /// Of the block where the way back is.
    pub(super) grads: BlockGradients<Vec<f32>>,
    /// What the gradients of its weights are products of, rounded, in the order of `Block::weights_from_panels`.
    pub(super) panels: [RoundedPanels; 8],
    /// One for each share.
    pub(super) scratch: Vec<Scratch>,
    /// One for each block, where products are of rounded numbers.
    pub(super) rounded_weights: Vec<RoundedWeights>,
    /// Whether they are of a prediction.
    pub(super) rounded_for_prediction: bool,
    /// Whether predictions round nothing.
    exact: bool,
}

impl Tape {
    /// For predictions, with `exact` in `f32` throughout, whatever the encoder rounds.
    pub fn for_prediction(exact: bool) -> Self {
        Self { exact, ..Self::default() }
    }

    /// Whether a pass needs weights that are rounded anew.
    pub(super) fn needs_weights(&self, trains: bool) -> bool {
        trains || !(self.exact || self.rounded_for_prediction)
    }

    /// Hidden states that a forward pass in training has left, `[N, H]`; 0 are the embeddings.
    pub fn states(&self, number: usize) -> &[f32] {
        self.states.get(number).map_or(&[], Vec::as_slice)
    }

    /// What a forward pass in training has left of a block's inner layer, before GELU, `[N, F]`.
    pub fn inner(&self, block: usize) -> &[f32] {
        self.blocks.get(block).map_or(&[], |kept| kept.inner.as_slice())
    }
}

/// A block's weights in half precision, as the way up needs them, `[in, out]`, and as the way down does, `[out, in]`.
#[derive(Debug, Default)]
pub(super) struct RoundedWeights {
    pub(super) up: [RoundedPanels; 6],
    pub(super) down: [RoundedPanels; 6],
}

#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    pub(super) pieces: DropMask,
    pub(super) embedded: DropMask,
    /// Of the probabilities, of what was attended to, of what was fed forward.
    pub(super) blocks: Vec<[DropMask; 3]>,
}

/// Between the embeddings' norm and the first block, where these are not of one width.
#[derive(Debug, Default)]
pub(super) struct Projection<T> {
    /// What is projected, `[N, E]`.
    pub(super) x: T,
    /// The gradient of what it gives, `[N, H]`.
    pub(super) grad: T,
}

/// What a block leaves: rows of a whole batch, or of one share. F is the width of its inner layer.
#[derive(Debug, Default)]
pub(super) struct SavedActivations<T> {
    /// Queries, keys and values side by side, `[N, 3H]`.
    pub(super) qkv: T,
    /// `[N, H]`
    pub(super) context: T,
    /// Before the first norm, `[N, H]`; on the way back the gradient of the output layer's product.
    pub(super) attended: T,
    /// After it.
    pub(super) middle: T,
    /// Before GELU, `[N, F]`; on the way back after it.
    pub(super) inner: T,
    /// Before the second norm, `[N, H]`; on the way back the gradient of the lower layer's product.
    pub(super) fed: T,
}

/// Gradients that the way back leaves.
#[derive(Debug, Default)]
pub(super) struct BlockGradients<T> {
    /// `[N, F]`
    pub(super) inner: T,
    /// `[N, 3H]`
    pub(super) qkv: T,
    /// Of biases and norms, for each sentence: `[B, 9H + F]`, see [`Sums`].
    pub(super) sums: T,
}

/// What one share works in.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// GELU, `[n, F]`.
    pub(super) act: Vec<f32>,
    /// The gradient that goes down, and another, `[n, H]`.
    pub(super) grad: Vec<f32>,
    pub(super) other: Vec<f32>,
    pub(super) attention: AttentionScratch,
    /// The left side of a product.
    pub(super) rounded: RoundedRows,
}

/// Sentences that one thread works on: windows of the batch that follow each other.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) windows: Range<usize>,
    pub(super) rows: Range<usize>,
}

impl Share {
    /// Where each sentence lies in the share's rows of a matrix with `width` columns.
    pub(super) fn sentences<'a>(
        &self,
        batch: &'a EncoderBatch,
        width: usize,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let first = self.rows.start;
        let windows = batch.windows()[self.windows.clone()].iter();
        windows.map(move |rows| (rows.start - first) * width..(rows.end - first) * width)
    }
}

/// As many shares as there are threads, of about as many rows each.
pub(super) fn shares(batch: &EncoderBatch) -> Vec<Share> {
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
pub(super) fn split<'a>(buffer: &'a mut Vec<f32>, shares: &[Share], width: usize) -> Vec<&'a mut [f32]> {
    split_by(buffer, shares.iter().map(|share| share.rows.len() * width))
}

/// The same for a matrix with a row for each sentence, all 0.
pub(super) fn split_sums<'a>(buffer: &'a mut Vec<f32>, shares: &[Share], width: usize) -> Vec<&'a mut [f32]> {
    buffer.clear();
    split_by(buffer, shares.iter().map(|share| share.windows.len() * width))
}

/// Parts of these sizes, one behind the other, of a buffer that gets the size of all.
pub(super) fn split_by(buffer: &mut Vec<f32>, sizes: impl Iterator<Item = usize> + Clone) -> Vec<&mut [f32]> {
    let mut rest = sized(buffer, sizes.clone().sum());
    let take = |size| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(size);
        rest = after;
        part
    };
    sizes.map(take).collect()
}

/// A buffer of `size` numbers, whatever they are; its memory only grows, with room for a somewhat larger batch.
pub(super) fn sized(buffer: &mut Vec<f32>, size: usize) -> &mut [f32] {
    if size > buffer.capacity() {
        *buffer = Vec::with_capacity(size + size / 4);
    }
    buffer.resize(size, 0.0);
    buffer
}

/// One element to read and another to write.
pub(super) fn two<'a>(all: &'a mut [&mut [f32]], read: usize, write: usize) -> (&'a [f32], &'a mut [f32]) {
    let (low, high) = all.split_at_mut(read.max(write));
    if read < write { (&*low[read], &mut *high[0]) } else { (&*high[0], &mut *low[write]) }
}

impl SavedActivations<Vec<f32>> {
    pub(super) fn split(&mut self, shares: &[Share], h: usize, inner: usize) -> Vec<SavedActivations<&mut [f32]>> {
        let mut qkv = split(&mut self.qkv, shares, 3 * h).into_iter();
        let mut context = split(&mut self.context, shares, h).into_iter();
        let mut attended = split(&mut self.attended, shares, h).into_iter();
        let mut middle = split(&mut self.middle, shares, h).into_iter();
        let mut inner = split(&mut self.inner, shares, inner).into_iter();
        let mut fed = split(&mut self.fed, shares, h).into_iter();
        let one = |_| SavedActivations {
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

impl BlockGradients<Vec<f32>> {
    pub(super) fn split(&mut self, shares: &[Share], h: usize, inner: usize) -> Vec<BlockGradients<&mut [f32]>> {
        let mut sums = split_sums(&mut self.sums, shares, Sums::width(h, inner)).into_iter();
        let mut inner = split(&mut self.inner, shares, inner).into_iter();
        let mut qkv = split(&mut self.qkv, shares, 3 * h).into_iter();
        let one = |_| BlockGradients {
            inner: inner.next().unwrap_or_default(),
            qkv: qkv.next().unwrap_or_default(),
            sums: sums.next().unwrap_or_default(),
        };
        shares.iter().map(one).collect()
    }
}

/// The gradients of a block's biases and norms that one sentence adds.
pub(super) struct Sums<'a> {
    /// Weight and bias, `[2H]`.
    pub(super) norm: &'a mut [f32],
    pub(super) down: &'a mut [f32],
    pub(super) up: &'a mut [f32],
    pub(super) attention_norm: &'a mut [f32],
    pub(super) output: &'a mut [f32],
    /// `[3H]`
    pub(super) qkv: &'a mut [f32],
}

impl<'a> Sums<'a> {
    pub(super) fn width(h: usize, inner: usize) -> usize {
        9 * h + inner
    }

    pub(super) fn of(whole: &'a mut [f32], h: usize, inner: usize) -> Self {
        let (norm, rest) = whole.split_at_mut(2 * h);
        let (down, rest) = rest.split_at_mut(h);
        let (up, rest) = rest.split_at_mut(inner);
        let (attention_norm, rest) = rest.split_at_mut(2 * h);
        let (output, qkv) = rest.split_at_mut(h);
        Self { norm, down, up, attention_norm, output, qkv }
    }
}
