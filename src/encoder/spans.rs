//! A transformer for spans (Zhu, Liu and Li 2023): blocks like those of an encoder, in which a span asks and the tokens that
//! it consists of answer, one layer below.
//!
//! ```text
//! s₀ = max of the tokens' hidden states h₀          s₁ = block₁(query s₀; keys and values h₀) …          (Eq. 2, 3)
//! ```
//!
//! A span of one token is that token's last hidden state (Eq. 4). It runs in two ways that compute the same and draw the
//! same dropout: by hand ([`SpanTransformer::learn`], [`SpanTransformer::predict`]) and by candle's operations
//! ([`SpanTransformer::forward_plain`]).

use super::bert::Block;
use super::plain::{linear, norm};
use crate::nn::kernels::{DropMask, Rounding, has_bf16};
use crate::nn::{Mode, NnError, Operations, plain, segment_max, select_rows, softmax};
use candle_core::{Device, Tensor};
use std::ops::Range;

/// Blocks with weights of their own for spans of any number of tokens.
#[derive(Debug)]
pub struct SpanTransformer {
    pub(super) blocks: Vec<Block>,
    hidden: usize,
    dropout: f32,
    /// Whether products are of half precision.
    pub(super) rounding: Option<Rounding>,
    /// Numbers that a pass by hand keeps at a time, unless the least that it works on has more.
    pub(super) most_kept: usize,
}

/// 256 MB.
const MOST_KEPT: usize = 1 << 26;

/// The spans of a batch and how they are dropped: S of them, each of at least one token.
#[derive(Clone, Debug)]
pub struct SpanBatch<'a> {
    /// Tokens of each. Spans that begin near each other should stand near each other.
    pub spans: &'a [Range<usize>],
    /// Of each block: of the probabilities, of what was attended to, of what was fed forward.
    masks: Vec<[DropMask; 3]>,
    /// Tokens of the longest.
    pub(super) longest: usize,
}

impl SpanTransformer {
    /// `hidden` is the width of hidden states, `p` the dropout in training. By hand, with `bf16`, the inputs of matrix
    /// products are rounded to bfloat16 where the processor is fast at that.
    pub fn new(blocks: Vec<Block>, hidden: usize, p: f32, bf16: bool) -> Self {
        let fits = bf16 && has_bf16() && blocks.iter().all(|block| block.fits(Rounding::Bf16));
        Self { blocks, hidden, dropout: p, rounding: fits.then_some(Rounding::Bf16), most_kept: MOST_KEPT }
    }

    /// Number of blocks: one less than hidden states of tokens are needed.
    pub fn depth(&self) -> usize {
        self.blocks.len()
    }

    /// H.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Draws the dropout of a batch.
    pub fn batch<'a>(&self, spans: &'a [Range<usize>], mode: &mut Mode<'_>) -> SpanBatch<'a> {
        let masks = self.blocks.iter().map(|_| [(); 3].map(|()| mode.mask(self.dropout))).collect();
        SpanBatch { spans, masks, longest: spans.iter().map(Range::len).max().unwrap_or(0) }
    }

    /// All that trains.
    pub fn variables(&self) -> Vec<&Tensor> {
        self.blocks.iter().flat_map(variables).filter(|tensor| tensor.is_variable()).collect()
    }

    /// Vectors of the spans with the numbers `rows`, `[n, H]`, by candle's operations; `tokens` are hidden states `[T, H]`,
    /// one more than blocks, from low to high.
    ///
    /// # Errors
    /// On other shapes.
    pub fn forward_plain(
        &self,
        tokens: &[Tensor],
        batch: &SpanBatch<'_>,
        rows: Range<usize>,
    ) -> Result<Tensor, NnError> {
        let (Some((last, below)), Some(spans)) = (tokens.split_last(), batch.spans.get(rows.clone())) else {
            return Err(NnError::shapes("forward_plain", &[]));
        };
        if below.len() != self.blocks.len() {
            return Err(NnError::shapes("forward_plain", &tokens.iter().collect::<Vec<_>>()));
        }
        let deep: Vec<Range<usize>> = spans.iter().filter(|span| span.len() > 1).cloned().collect();
        let first = batch.spans.iter().take(rows.start).filter(|span| span.len() > 1).count();
        let mut vectors = select_rows(last, &spans.iter().map(|span| span.start as u32).collect::<Vec<_>>())?;
        if !deep.is_empty() {
            let mut x = segment_max(tokens.first().unwrap_or(last), &deep, Operations::Plain)?;
            for ((block, below), masks) in self.blocks.iter().zip(below).zip(&batch.masks) {
                x = run(block, &x, below, &Asking { spans: &deep, first, longest: batch.longest }, *masks)?;
            }
            // Of all rows, those of one token stand in front.
            let (mut next, singles) = (spans.len() as u32, 0u32..);
            let place = |(span, number): (&Range<usize>, u32)| {
                next += u32::from(span.len() > 1);
                if span.len() > 1 { next - 1 } else { number }
            };
            let places: Vec<u32> = spans.iter().zip(singles).map(place).collect();
            vectors = select_rows(&Tensor::cat(&[&vectors, &x], 0)?, &places)?;
        }
        Ok(vectors)
    }
}

impl SpanBatch<'_> {
    /// Of a block.
    pub(super) fn masks(&self, block: usize) -> [DropMask; 3] {
        self.masks.get(block).copied().unwrap_or([DropMask::NONE; 3])
    }
}

fn variables(block: &Block) -> Vec<&Tensor> {
    let layers = [&block.query, &block.key, &block.value, &block.output, &block.up, &block.down];
    let norms = [&block.attention_norm, &block.norm];
    let layers = layers.into_iter().flat_map(|layer| [layer.weight(), layer.bias()]);
    layers.chain(norms.into_iter().flat_map(|layer| [layer.weight(), layer.bias()])).collect()
}

/// M spans of several tokens.
struct Asking<'a> {
    spans: &'a [Range<usize>],
    /// The number of the first one, by which dropout is drawn.
    first: usize,
    /// Tokens of the longest span of the batch.
    longest: usize,
}

/// Vectors `x` `[M, H]` to `[M, H]`, given the tokens' hidden states `[T, H]`.
fn run(block: &Block, x: &Tensor, tokens: &Tensor, of: &Asking<'_>, masks: [DropMask; 3]) -> Result<Tensor, NnError> {
    let [probability_mask, attended_mask, fed_mask] = masks;
    let (_, h) = x.dims2()?;
    let dropped = |x: Tensor, mask: DropMask| drop_units(x, mask, of.first * h);
    let [keys, values] = [&block.key, &block.value].map(|layer| linear(layer, tokens));
    let context = attend([&linear(&block.query, x)?, &keys?, &values?], block.attention_heads, of, probability_mask)?;
    let attended = dropped(linear(&block.output, &context)?, attended_mask)?;
    let x = norm(&block.attention_norm, &(attended + x)?)?;
    let fed = dropped(linear(&block.down, &plain::gelu(&linear(&block.up, &x)?)?)?, fed_mask)?;
    norm(&block.norm, &(fed + x)?)
}

/// Attention of each of M queries `[M, H]` to the keys and values `[T, H]` of its tokens, `[M, H]`.
fn attend(
    [queries, keys, values]: [&Tensor; 3],
    heads: usize,
    of: &Asking<'_>,
    mask: DropMask,
) -> Result<Tensor, NnError> {
    let (m, h) = queries.dims2()?;
    let (d, n) = (h / heads.max(1), of.spans.iter().map(Range::len).max().unwrap_or(0));
    // A short span has its first token again where it has no other, and does not see it there.
    let mut rows = Vec::with_capacity(m * n);
    let mut seen = Vec::with_capacity(m * n);
    for span in of.spans {
        rows.extend((0..n).map(|i| (span.start + if i < span.len() { i } else { 0 }) as u32));
        seen.extend((0..n).map(|i| if i < span.len() { 0f32 } else { -1e9 }));
    }
    let split = |x: &Tensor| -> Result<Tensor, NnError> {
        Ok(select_rows(x, &rows)?.reshape((m, n, heads, d))?.transpose(1, 2)?.contiguous()?)
    };
    let queries = queries.reshape((m, heads, 1, d))?;
    let seen = Tensor::from_vec(seen, (m, 1, 1, n), queries.device())?;
    let scores = (queries.matmul(&split(keys)?.t()?.contiguous()?)? / (d as f64).sqrt())?.broadcast_add(&seen)?;
    let mut probabilities = softmax(&scores)?;
    if !mask.drops_nothing() {
        let mut factors = vec![1f32; m * heads * n];
        for (row, factors) in factors.chunks_exact_mut(n.max(1)).enumerate() {
            mask.apply(factors, (of.first * heads + row) * of.longest);
        }
        probabilities = (probabilities * Tensor::from_vec(factors, (m, heads, 1, n), seen.device())?)?;
    }
    Ok(probabilities.matmul(&split(values)?)?.reshape((m, h))?)
}

/// Drops `x`, whose numbers stand in their tensor from `from`.
fn drop_units(x: Tensor, mask: DropMask, from: usize) -> Result<Tensor, NnError> {
    if mask.drops_nothing() {
        return Ok(x);
    }
    let mut factors = vec![1f32; x.elem_count()];
    mask.apply(&mut factors, from);
    let factors = Tensor::from_vec(factors, x.shape(), &Device::Cpu)?.to_device(x.device())?;
    Ok((x * factors)?)
}
