//! One block with spans as queries and their tokens as keys and values, on one thread's share of the spans, up and down.

use super::super::bert::Block;
use super::norms::Norms;
use super::products::{Product, Sides, WeightGradient};
use super::tape::{RoundedWeights, Sums, sized, split_by};
use crate::nn::kernels::{
    self, DropMask, RoundedPanels, RoundedRows, Rounding, SpanAttention, SpanAttentionScratch, View, WriteMode,
};
use crate::nn::{NnError, as_slice};
use rayon::prelude::*;
use std::ops::Range;

/// A block and what it does to a batch. H is the width of hidden states, F that of the inner layer.
pub(super) struct SpanLayer<'a> {
    pub(super) block: &'a Block,
    /// Where products are of rounded numbers.
    pub(super) weights: Option<&'a RoundedWeights>,
    /// Of the probabilities, of what was attended to, of what was fed forward.
    pub(super) masks: [DropMask; 3],
    /// Of the tokens from `first_token` on, `[T, 2H]`.
    pub(super) keys_values: &'a [f32],
    pub(super) first_token: usize,
}

/// M spans that follow each other.
#[derive(Clone, Copy)]
pub(super) struct Spans<'a> {
    /// Tokens of each.
    pub(super) tokens: &'a [Range<usize>],
    /// The number of the first one, by which dropout is drawn.
    pub(super) first: usize,
    /// Tokens of the longest span of the batch.
    pub(super) longest: usize,
}

/// What a block leaves: rows of several shares, or of one.
#[derive(Debug, Default)]
pub(super) struct SpanActivations<T> {
    /// `[M, H]`; on the way back its gradient.
    pub(super) query: T,
    /// `[M, H]`
    pub(super) context: T,
    /// Before the first norm, `[M, H]`; on the way back the gradient of the output layer's product.
    pub(super) attended: T,
    /// After it.
    pub(super) middle: T,
    /// Before GELU, `[M, F]`; on the way back after it.
    pub(super) inner: T,
    /// Before the second norm, `[M, H]`; on the way back the gradient of the lower layer's product.
    pub(super) fed: T,
}

impl SpanActivations<Vec<f32>> {
    /// Numbers for each span.
    pub(super) fn width(h: usize, inner: usize) -> usize {
        5 * h + inner
    }

    /// The rows of shares with so many spans each.
    pub(super) fn split(&mut self, spans: &[usize], h: usize, inner: usize) -> Vec<SpanActivations<&mut [f32]>> {
        let rows = |of, width: usize| split_by(of, spans.iter().map(move |n| n * width)).into_iter();
        let mut query = rows(&mut self.query, h);
        let mut context = rows(&mut self.context, h);
        let mut attended = rows(&mut self.attended, h);
        let mut middle = rows(&mut self.middle, h);
        let mut inner = rows(&mut self.inner, inner);
        let mut fed = rows(&mut self.fed, h);
        let one = |_| SpanActivations {
            query: query.next().unwrap_or_default(),
            context: context.next().unwrap_or_default(),
            attended: attended.next().unwrap_or_default(),
            middle: middle.next().unwrap_or_default(),
            inner: inner.next().unwrap_or_default(),
            fed: fed.next().unwrap_or_default(),
        };
        spans.iter().map(one).collect()
    }
}

/// What one thread works in.
#[derive(Debug, Default)]
pub(super) struct SpanScratch {
    /// GELU, `[M, F]`.
    act: Vec<f32>,
    /// `[M, H]`
    other: Vec<f32>,
    attention: SpanAttentionScratch,
    /// The left side of a product.
    rounded: RoundedRows,
}

/// Gradients that a share leaves on its way down through one block.
pub(super) struct ShareGradients<'a> {
    /// Of the inner layer's product, `[M, F]`.
    pub(super) inner: &'a mut [f32],
    /// Of keys and values of the share's tokens from `first_token` on; added to.
    pub(super) keys_values: &'a mut [f32],
    pub(super) first_token: usize,
    /// Of biases and norms, see [`Sums`]; added to.
    pub(super) sums: &'a mut [f32],
}

impl SpanLayer<'_> {
    fn attention(&self, spans: &Spans<'_>) -> SpanAttention {
        let (hidden, attention_heads) = (self.block.hidden(), self.block.attention_heads);
        SpanAttention { hidden, attention_heads, mask: self.masks[0], longest: spans.longest }
    }

    fn keys_values_of(&self, tokens: &Range<usize>) -> &[f32] {
        &self.keys_values[rows(tokens, self.first_token, 2 * self.block.hidden())]
    }

    /// Vectors `x` `[M, H]` to `y` `[M, H]`.
    pub(super) fn forward(
        &self,
        spans: Spans<'_>,
        x: &[f32],
        y: &mut [f32],
        kept: &mut SpanActivations<&mut [f32]>,
        scratch: &mut SpanScratch,
    ) -> Result<(), NnError> {
        let (block, h, weights) = (self.block, self.block.hidden(), self.weights);
        let [_, attended_mask, fed_mask] = self.masks;
        let SpanScratch { act, attention: attention_scratch, rounded, .. } = scratch;

        block.product(Product::Query, weights, x, kept.query, rounded)?;
        kernels::add_bias(kept.query, &as_slice(block.query.bias())?);
        let attention = self.attention(&spans);
        let vectors = kept.query.chunks_exact(h).zip(kept.context.chunks_exact_mut(h));
        for ((number, tokens), (query, context)) in (spans.first..).zip(spans.tokens).zip(vectors) {
            attention.forward(number, query, self.keys_values_of(tokens), context, attention_scratch);
        }

        block.product(Product::Output, weights, kept.context, kept.attended, rounded)?;
        let (norm, bias) = (Norms::read(&block.attention_norm)?, as_slice(block.output.bias())?);
        kernels::norm_of_sum(kept.attended, &bias, (attended_mask, spans.first), x, norm.norm(), kept.middle);

        block.product(Product::Up, weights, kept.middle, kept.inner, rounded)?;
        let act = sized(act, kept.inner.len());
        kernels::gelu_of_sum(kept.inner, &as_slice(block.up.bias())?, act);
        block.product(Product::Down, weights, act, kept.fed, rounded)?;
        let (norm, bias) = (Norms::read(&block.norm)?, as_slice(block.down.bias())?);
        kernels::norm_of_sum(kept.fed, &bias, (fed_mask, spans.first), kept.middle, norm.norm(), y);
        Ok(())
    }

    /// Turns the gradient `grad` `[M, H]` of the block's output into that of its input, and leaves what the gradients of
    /// the weights are made from.
    pub(super) fn backward(
        &self,
        spans: Spans<'_>,
        kept: SpanActivations<&mut [f32]>,
        grad: &mut [f32],
        to: ShareGradients<'_>,
        scratch: &mut SpanScratch,
    ) -> Result<(), NnError> {
        let (block, h, weights) = (self.block, self.block.hidden(), self.weights);
        let [_, attended_mask, fed_mask] = self.masks;
        let SpanScratch { other, attention: attention_scratch, rounded, .. } = scratch;
        let (other, sums) = (sized(other, grad.len()), Sums::of(to.sums, h, block.inner()));

        // Through the second half: `other` gets the gradient of the sum before the norm, which is also that of `middle`.
        kernels::layer_norm_back(kept.fed, Norms::read(&block.norm)?.norm(), grad, other, sums.norm);
        kernels::drop_and_sum(other, (fed_mask, spans.first), kept.fed, sums.down);
        block.product_back(Product::Down, weights, kept.fed, to.inner, WriteMode::Overwrite, rounded)?;
        kernels::gelu_back(kept.inner, to.inner, sums.up);
        block.product_back(Product::Up, weights, to.inner, other, WriteMode::Add, rounded)?;

        // Through the first half: `grad` gets the gradient of the sum before the norm, which is also that of the input.
        let norm = Norms::read(&block.attention_norm)?;
        kernels::layer_norm_back(kept.attended, norm.norm(), other, grad, sums.attention_norm);
        kernels::drop_and_sum(grad, (attended_mask, spans.first), kept.attended, sums.output);
        block.product_back(Product::Output, weights, kept.attended, other, WriteMode::Overwrite, rounded)?;
        let attention = self.attention(&spans);
        let vectors = kept.query.chunks_exact_mut(h).zip(other.chunks_exact(h));
        for ((number, tokens), (query, context)) in (spans.first..).zip(spans.tokens).zip(vectors) {
            let to = &mut to.keys_values[rows(tokens, to.first_token, 2 * h)];
            attention.backward(number, query, self.keys_values_of(tokens), context, to, attention_scratch);
        }
        kernels::add_rows(kept.query, &mut sums.qkv[..h]);
        block.product_back(Product::Query, weights, kept.query, grad, WriteMode::Add, rounded)
    }
}

/// Where the rows of some tokens lie in a matrix of `width` columns that begins with the row of `first`.
pub(super) fn rows(tokens: &Range<usize>, first: usize, width: usize) -> Range<usize> {
    (tokens.start - first) * width..(tokens.end - first) * width
}

/// Both sides of the products that a block's gradients are, of all spans of a piece and of their tokens.
pub(super) struct SpanSides<'a> {
    pub(super) kept: &'a SpanActivations<Vec<f32>>,
    /// The spans' vectors below the block, `[M, H]`.
    pub(super) x: &'a [f32],
    /// Gradient of the inner layer's product, `[M, F]`.
    pub(super) inner_grad: &'a [f32],
    /// Hidden states of the tokens, `[T, H]`.
    pub(super) tokens: &'a [f32],
    /// Gradients of keys and values, `[T, 2H]`.
    pub(super) keys_values_grad: &'a [f32],
}

/// What the gradients of weights are products of, rounded, in the order of [`SpanSides::in_panels`].
pub(super) type SpanPanels = [RoundedPanels; 10];

impl<'a> SpanSides<'a> {
    /// What the gradients of the weights are products of: those over the spans, and those over the tokens.
    pub(super) fn weights(&self, block: &'a Block) -> [Vec<WeightGradient<'a>>; 2] {
        let (h, inner, kept) = (block.hidden(), block.inner(), self.kept);
        let of = |layer, grad: &'a [f32], view, x: &'a [f32]| WeightGradient {
            layer,
            sides: Sides::Rows { grad: (grad, view), x },
        };
        let over_spans = vec![
            of(&block.down, &kept.fed, View::rows(h), &kept.inner),
            of(&block.up, self.inner_grad, View::rows(inner), &kept.middle),
            of(&block.output, &kept.attended, View::rows(h), &kept.context),
            of(&block.query, &kept.query, View::rows(h), self.x),
        ];
        let over_tokens = vec![
            of(&block.key, self.keys_values_grad, View::columns(0, 2 * h), self.tokens),
            of(&block.value, self.keys_values_grad, View::columns(h, 2 * h), self.tokens),
        ];
        [over_spans, over_tokens]
    }

    /// The same rounded, cut into `panels`.
    pub(super) fn in_panels<'b>(
        &self,
        block: &'b Block,
        rounding: Rounding,
        panels: &'b mut SpanPanels,
    ) -> [Vec<WeightGradient<'b>>; 2] {
        let (h, inner, kept) = (block.hidden(), block.inner(), self.kept);
        let sources: [(&[f32], usize); 10] = [
            (&kept.fed, h),
            (&kept.inner, inner),
            (self.inner_grad, inner),
            (&kept.middle, h),
            (&kept.attended, h),
            (&kept.context, h),
            (&kept.query, h),
            (self.x, h),
            (self.keys_values_grad, 2 * h),
            (self.tokens, h),
        ];
        panels.par_iter_mut().zip(sources).for_each(|(panels, (source, columns))| {
            panels.stack(rounding, &[(source, View::rows(columns), source.len() / columns)], columns);
        });
        let [fed, inner, inner_grad, middle, attended, context, query, x, keys_values, tokens] = &*panels;
        let of = |layer, grad, first, x| WeightGradient { layer, sides: Sides::Panels { grad, first, x } };
        let over_spans = vec![
            of(&block.down, fed, 0, inner),
            of(&block.up, inner_grad, 0, middle),
            of(&block.output, attended, 0, context),
            of(&block.query, query, 0, x),
        ];
        [over_spans, vec![of(&block.key, keys_values, 0, tokens), of(&block.value, keys_values, h, tokens)]]
    }
}
