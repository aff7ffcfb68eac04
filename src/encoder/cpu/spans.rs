//! Spans through all blocks, forward and backward by hand, a piece at a time.
//!
//! Keys and values are of tokens, so they are made once for all spans. Spans don't know of each other: a thread takes a
//! share of a piece through all blocks; threads meet again for the gradients of the weights.
//!
//! # Invariants
//! - What is in memory at a time is bounded: by a piece, not by the batch.
//! - Shares and pieces depend on the spans alone, and what they give is added in order, so no number depends on threads.
//! - A span's vector depends on its tokens alone.

use super::super::bert::Block;
use super::super::spans::{SpanBatch, SpanTransformer};
use super::products::{Product, add_weights, round_weights};
use super::span_block::{
    ShareGradients, SpanActivations, SpanLayer, SpanPanels, SpanScratch, SpanSides, Spans, rows as rows_of,
};
use super::tape::{RoundedWeights, Sums, sized, split_by, two};
use crate::nn::kernels::{self, RoundedRows, WriteMode};
use crate::nn::{Gradients, NnError, as_slice};
use rayon::prelude::*;
use std::ops::Range;

/// Spans of a share.
const SHARE: usize = 192;
/// Tokens whose keys and values one task makes.
const TOKENS: usize = 128;

/// What a backward pass gives besides the gradients of weights.
#[derive(Debug)]
pub struct TokenGradients {
    /// Of the hidden states that were asked for, `[T, H]`.
    pub tokens: Vec<Option<Vec<f32>>>,
}

impl SpanTransformer {
    /// Gives `head` the vectors `[n, H]` of all spans, some at a time with their numbers, and `each` what that makes of them,
    /// in order. `tokens` are hidden states `[T, H]`, one more than blocks, from low to high.
    ///
    /// # Errors
    /// What `head` says, and on tokens that are not there.
    pub fn predict<P: Send, E: From<NnError> + Send>(
        &self,
        tokens: &[&[f32]],
        batch: &SpanBatch<'_>,
        head: impl Fn(Range<usize>, &[f32]) -> Result<P, E> + Sync,
        mut each: impl FnMut(P) -> Result<(), E>,
    ) -> Result<(), E> {
        let (plan, mut buffers) = (Plan::new(self, tokens, batch)?, Buffers::default());
        let weights = self.rounded(false)?;
        for piece in plan.pieces(self) {
            let pass = Pass { transformer: self, weights: &weights, tokens, batch, plan: &plan, piece, keeps: false };
            for made in pass.forward(&mut buffers, |share, vectors, _| head(share.rows.clone(), vectors))? {
                each(made)?;
            }
        }
        Ok(())
    }

    /// The same in training: `head` also writes the gradient of the vectors, `[n, H]`. The gradients of the weights are
    /// added to `gradients`; those of the tokens' hidden states are given back where `wanted`.
    ///
    /// # Errors
    /// See [`SpanTransformer::predict`].
    pub fn learn<P: Send, E: From<NnError> + Send>(
        &self,
        tokens: &[&[f32]],
        batch: &SpanBatch<'_>,
        wanted: &[bool],
        gradients: &mut Gradients,
        head: impl Fn(Range<usize>, &[f32], &mut [f32]) -> Result<P, E> + Sync,
        mut each: impl FnMut(P) -> Result<(), E>,
    ) -> Result<TokenGradients, E> {
        let (plan, mut buffers) = (Plan::new(self, tokens, batch)?, Buffers::default());
        let weights = self.rounded(true)?;
        let zeros = |(tokens, wanted): (&&[f32], &bool)| wanted.then(|| vec![0.0; tokens.len()]);
        let mut to = TokenGradients { tokens: tokens.iter().zip(wanted).map(zeros).collect() };
        for piece in plan.pieces(self) {
            let pass = Pass { transformer: self, weights: &weights, tokens, batch, plan: &plan, piece, keeps: true };
            let h = self.hidden();
            let made = pass.forward(&mut buffers, |share, vectors, deep_grad| {
                let mut grad = vec![0.0; vectors.len()];
                let made = head(share.rows.clone(), vectors, &mut grad)?;
                let mut deep = deep_grad.chunks_exact_mut(h);
                let mut singles = Vec::new();
                for (span, grad) in batch.spans[share.rows.clone()].iter().zip(grad.chunks_exact(h)) {
                    let place = if span.len() > 1 { deep.next() } else { None };
                    match place {
                        Some(to) => to.copy_from_slice(grad),
                        None => singles.push(grad),
                    }
                }
                Ok::<_, E>((made, singles.concat()))
            })?;
            let mut singles = Vec::with_capacity(made.len());
            for (made, of_singles) in made {
                each(made)?;
                singles.push(of_singles);
            }
            pass.add_singles(&singles, &mut to);
            pass.backward(&mut buffers, gradients, &mut to)?;
        }
        Ok(to)
    }

    fn rounded(&self, trains: bool) -> Result<Vec<RoundedWeights>, NnError> {
        let mut weights = Vec::new();
        if let Some(rounding) = self.rounding {
            round_weights(&self.blocks, &Product::OF_SPANS, rounding, trains, &mut weights)?;
        }
        Ok(weights)
    }

    /// F, the same of all blocks.
    fn inner(&self) -> usize {
        self.blocks.first().map_or(0, Block::inner)
    }
}

/// Spans that follow each other.
#[derive(Clone, Debug)]
struct Share {
    rows: Range<usize>,
    /// Numbers among the spans of several tokens.
    deep: Range<usize>,
    /// From the first of its tokens to the last.
    tokens: Range<usize>,
}

struct Plan {
    shares: Vec<Share>,
    /// The spans of several tokens.
    deep: Vec<Range<usize>>,
}

impl Plan {
    fn new(transformer: &SpanTransformer, tokens: &[&[f32]], batch: &SpanBatch<'_>) -> Result<Self, NnError> {
        let count = tokens.first().map_or(0, |tokens| tokens.len() / transformer.hidden().max(1));
        let fit = tokens.len() == transformer.depth() + 1
            && tokens.iter().all(|tokens| tokens.len() == count * transformer.hidden())
            && batch.spans.iter().all(|span| span.start < span.end && span.end <= count);
        if !fit {
            return Err(NnError::Shapes { op: "spans", shapes: tokens.iter().map(|t| vec![t.len()]).collect() });
        }
        let mut plan = Self { shares: Vec::new(), deep: Vec::new() };
        for (number, spans) in batch.spans.chunks(SHARE).enumerate() {
            let first = plan.deep.len();
            plan.deep.extend(spans.iter().filter(|span| span.len() > 1).cloned());
            let start = spans.iter().map(|span| span.start).min().unwrap_or(0);
            let end = spans.iter().map(|span| span.end).max().unwrap_or(start);
            let rows = number * SHARE..number * SHARE + spans.len();
            plan.shares.push(Share { rows, deep: first..plan.deep.len(), tokens: start..end });
        }
        Ok(plan)
    }

    /// Shares that are worked on at the same time.
    fn pieces(&self, transformer: &SpanTransformer) -> Vec<&[Share]> {
        let (h, inner, depth) = (transformer.hidden(), transformer.inner(), transformer.depth());
        let of_span = depth * (SpanActivations::width(h, inner) + h) + 2 * h + inner;
        let numbers = |share: &Share| {
            let local = 2 * h * share.tokens.len() + Sums::width(h, inner);
            share.rows.len() * of_span + (depth + 1) * local
        };
        let (mut pieces, mut from, mut kept) = (Vec::new(), 0, 0);
        for (number, share) in self.shares.iter().enumerate() {
            kept += numbers(share);
            if kept > transformer.most_kept && number > from {
                pieces.push(&self.shares[from..number]);
                (from, kept) = (number, numbers(share));
            }
        }
        pieces.push(&self.shares[from..]);
        pieces
    }
}

/// What the pieces work in, one after the other. M counts the spans of several tokens of a piece, T its tokens.
#[derive(Default)]
struct Buffers {
    /// Of each block, `[T, 2H]`.
    keys_values: Vec<Vec<f32>>,
    /// The spans' vectors below each block and above the last one, `[M, H]`; those of a prediction share two.
    states: Vec<Vec<f32>>,
    /// What each block leaves; those of a prediction share one.
    kept: Vec<SpanActivations<Vec<f32>>>,
    /// The gradient that goes down, `[M, H]`.
    grad: Vec<f32>,
    /// `[M, F]`
    inner_grad: Vec<f32>,
    /// `[T, 2H]`
    keys_values_grad: Vec<f32>,
    /// Of biases and norms, see [`Sums`].
    sums: Vec<f32>,
    panels: SpanPanels,
}

/// What one thread takes up.
struct ShareWork<'a> {
    share: &'a Share,
    states: Vec<&'a mut [f32]>,
    kept: Vec<SpanActivations<&'a mut [f32]>>,
    grad: &'a mut [f32],
}

impl<'a> ShareWork<'a> {
    fn new((share, grad): (&'a Share, &'a mut [f32])) -> Self {
        Self { share, states: Vec::new(), kept: Vec::new(), grad }
    }
}

/// One piece.
struct Pass<'a> {
    transformer: &'a SpanTransformer,
    /// Of each block in half precision; none otherwise.
    weights: &'a [RoundedWeights],
    tokens: &'a [&'a [f32]],
    batch: &'a SpanBatch<'a>,
    plan: &'a Plan,
    piece: &'a [Share],
    /// Whether a way back follows.
    keeps: bool,
}

impl Pass<'_> {
    fn hidden(&self) -> usize {
        self.transformer.hidden()
    }

    /// From the first token of the piece to the last.
    fn piece_tokens(&self) -> Range<usize> {
        let start = self.piece.iter().map(|share| share.tokens.start).min().unwrap_or(0);
        start..self.piece.iter().map(|share| share.tokens.end).max().unwrap_or(start)
    }

    fn spans(&self, share: &Share) -> Spans<'_> {
        let tokens = &self.plan.deep[share.deep.clone()];
        Spans { tokens, first: share.deep.start, longest: self.batch.longest }
    }

    fn layer<'b>(&'b self, number: usize, keys_values: &'b [Vec<f32>]) -> SpanLayer<'b> {
        SpanLayer {
            block: &self.transformer.blocks[number],
            weights: self.weights.get(number),
            masks: self.batch.masks(number),
            keys_values: &keys_values[number],
            first_token: self.piece_tokens().start,
        }
    }

    /// Makes the keys and values of all blocks.
    fn keys_values(&self, to: &mut Vec<Vec<f32>>) -> Result<(), NnError> {
        let (h, tokens) = (self.hidden(), self.piece_tokens());
        to.resize_with(self.transformer.depth(), Vec::new);
        let blocks = self.transformer.blocks.iter().enumerate().zip(to).zip(self.tokens);
        let tasks = blocks.flat_map(|(((number, block), to), states)| {
            let x = states[rows_of(&tokens, 0, h)].chunks(TOKENS * h);
            let to = sized(to, tokens.len() * 2 * h).chunks_mut(TOKENS * 2 * h);
            x.zip(to).map(move |(x, to)| (block, self.weights.get(number), x, to))
        });
        let tasks: Vec<_> = tasks.collect();
        tasks.into_par_iter().try_for_each_init(RoundedRows::default, |rounded, (block, weights, x, to)| {
            block.product(Product::KeyValue, weights, x, to, rounded)?;
            kernels::add_bias(to, &[&*as_slice(block.key.bias())?, &*as_slice(block.value.bias())?].concat());
            Ok(())
        })
    }

    /// Takes the piece up and gives `head` the vectors of each share, and where the gradient of those of several tokens goes.
    fn forward<R: Send, E: From<NnError> + Send>(
        &self,
        buffers: &mut Buffers,
        head: impl Fn(&Share, &[f32], &mut [f32]) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let (h, inner, depth) = (self.hidden(), self.transformer.inner(), self.transformer.depth());
        let slot = |number: usize| if self.keeps { number } else { number % 2 };
        self.keys_values(&mut buffers.keys_values)?;
        buffers.states.resize_with(if self.keeps { depth + 1 } else { 2 }, Vec::new);
        buffers.kept.resize_with(if self.keeps { depth } else { 1 }, SpanActivations::default);
        let counts: Vec<usize> = self.piece.iter().map(|share| share.deep.len()).collect();
        let vectors = || counts.iter().map(|n| n * h);
        let grads = split_by(&mut buffers.grad, vectors());
        let mut work: Vec<ShareWork<'_>> = self.piece.iter().zip(grads).map(ShareWork::new).collect();
        for state in &mut buffers.states {
            work.iter_mut().zip(split_by(state, vectors())).for_each(|(work, rows)| work.states.push(rows));
        }
        for kept in &mut buffers.kept {
            work.iter_mut().zip(kept.split(&counts, h, inner)).for_each(|(work, rows)| work.kept.push(rows));
        }
        let keys_values = &buffers.keys_values;
        let made = work.into_par_iter().map_init(SpanScratch::default, |scratch, mut work| {
            let spans = self.spans(work.share);
            for (tokens, vector) in spans.tokens.iter().zip(work.states[0].chunks_exact_mut(h)) {
                kernels::max_of_rows(&self.tokens[0][rows_of(tokens, 0, h)], vector);
            }
            for number in 0..depth {
                let (x, y) = two(&mut work.states, slot(number), slot(number + 1));
                let kept = &mut work.kept[if self.keeps { number } else { 0 }];
                self.layer(number, keys_values).forward(spans, x, y, kept, scratch)?;
            }
            head(work.share, &self.vectors(work.share, work.states[slot(depth)]), work.grad)
        });
        made.collect()
    }

    /// The vectors of a share, `[n, H]`, given those of several tokens.
    fn vectors(&self, share: &Share, deep: &[f32]) -> Vec<f32> {
        let h = self.hidden();
        let (last, mut deep) = (self.tokens[self.transformer.depth()], deep.chunks_exact(h));
        let mut vectors = Vec::with_capacity(share.rows.len() * h);
        for span in &self.batch.spans[share.rows.clone()] {
            let vector = if span.len() > 1 { deep.next() } else { None };
            vectors.extend_from_slice(vector.unwrap_or_else(|| &last[rows_of(&(span.start..span.start + 1), 0, h)]));
        }
        vectors
    }

    /// Adds the gradients of spans of one token, given for each share, to those of the last hidden states.
    fn add_singles(&self, singles: &[Vec<f32>], to: &mut TokenGradients) {
        let h = self.hidden();
        let Some(Some(to)) = to.tokens.last_mut() else { return };
        for (share, singles) in self.piece.iter().zip(singles) {
            let spans = self.batch.spans[share.rows.clone()].iter().filter(|span| span.len() == 1);
            for (span, grad) in spans.zip(singles.chunks_exact(h)) {
                kernels::add_row(&mut to[rows_of(span, 0, h)], grad);
            }
        }
    }

    /// Takes the gradient of the vectors down.
    fn backward(
        &self,
        buffers: &mut Buffers,
        gradients: &mut Gradients,
        to: &mut TokenGradients,
    ) -> Result<(), NnError> {
        let (h, tokens, depth) = (self.hidden(), self.piece_tokens(), self.transformer.depth());
        let spans: usize = self.piece.iter().map(|share| share.deep.len()).sum();
        let learns = |block: &Block| block.query.weight().is_variable();
        let wanted = |number: &usize| learns(&self.transformer.blocks[*number]) || to.tokens[*number].is_some();
        let lowest = (0..depth).find(wanted);
        if spans == 0 {
            return Ok(());
        }
        for number in (lowest.unwrap_or(depth)..depth).rev() {
            let block = &self.transformer.blocks[number];
            self.backward_through(number, buffers)?;
            let Buffers { states, kept, inner_grad, keys_values_grad, sums, panels, .. } = &mut *buffers;
            if learns(block) {
                kernels::add_rows(keys_values_grad, &mut Sums::of(sums, h, block.inner()).qkv[h..]);
                block.add_sums(sums, gradients);
                let sides = SpanSides {
                    kept: &kept[number],
                    x: &states[number],
                    inner_grad,
                    tokens: &self.tokens[number][rows_of(&tokens, 0, h)],
                    keys_values_grad,
                };
                let [over_spans, over_tokens] = match self.transformer.rounding {
                    Some(rounding) => sides.in_panels(block, rounding, panels),
                    None => sides.weights(block),
                };
                add_weights(over_spans, spans, gradients);
                add_weights(over_tokens, tokens.len(), gradients);
            }
            if let Some(to) = &mut to.tokens[number] {
                let to = to[rows_of(&tokens, 0, h)].par_chunks_mut(TOKENS * h);
                let work = to.zip(keys_values_grad.par_chunks(TOKENS * 2 * h));
                work.try_for_each_init(RoundedRows::default, |rounded, (to, grad)| {
                    block.product_back(Product::KeyValue, self.weights.get(number), grad, to, WriteMode::Add, rounded)
                })?;
            }
        }
        if let Some(to) = &mut to.tokens[0] {
            self.backward_to_tokens(&buffers.grad, to);
        }
        Ok(())
    }

    /// Takes the gradient through one block and adds up what the shares leave.
    fn backward_through(&self, number: usize, buffers: &mut Buffers) -> Result<(), NnError> {
        let (h, inner, tokens) = (self.hidden(), self.transformer.inner(), self.piece_tokens());
        let Buffers { keys_values, kept, grad, inner_grad, keys_values_grad, sums, .. } = buffers;
        let layer = self.layer(number, keys_values);
        let counts: Vec<usize> = self.piece.iter().map(|share| share.deep.len()).collect();
        let kept = kept[number].split(&counts, h, inner);
        let grads = split_by(grad, counts.iter().map(|n| n * h));
        let inner_grads = split_by(inner_grad, counts.iter().map(|n| n * inner));
        let work: Vec<_> = self.piece.iter().zip(kept).zip(grads).zip(inner_grads).collect();
        let left =
            work.into_par_iter().map_init(SpanScratch::default, |scratch, (((share, kept), grad), inner_grad)| {
                let mut keys_values = vec![0.0; share.tokens.len() * 2 * h];
                let mut sums = vec![0.0; Sums::width(h, inner)];
                let to = ShareGradients {
                    inner: inner_grad,
                    keys_values: &mut keys_values,
                    first_token: share.tokens.start,
                    sums: &mut sums,
                };
                layer.backward(self.spans(share), kept, grad, to, scratch)?;
                Ok((keys_values, sums))
            });
        let left = left.collect::<Result<Vec<_>, NnError>>()?;
        let total = sized(keys_values_grad, tokens.len() * 2 * h);
        total.fill(0.0);
        sums.clear();
        sums.resize(Sums::width(h, inner), 0.0);
        for (share, (keys_values, of_share)) in self.piece.iter().zip(left) {
            kernels::add_row(&mut total[rows_of(&share.tokens, tokens.start, 2 * h)], &keys_values);
            kernels::add_row(sums, &of_share);
        }
        Ok(())
    }

    /// Adds the gradient of the spans' first vectors, `[M, H]`, to that of the tokens that they are the greatest numbers of.
    fn backward_to_tokens(&self, grad: &[f32], to: &mut [f32]) {
        let (h, first) = (self.hidden(), self.piece.first().map_or(0, |share| share.deep.start));
        let parts = self.piece.par_iter().map(|share| {
            let mut part = vec![0.0; share.tokens.len() * h];
            let grads = grad[rows_of(&share.deep, first, h)].chunks_exact(h);
            for (tokens, grad) in self.spans(share).tokens.iter().zip(grads) {
                let x = &self.tokens[0][rows_of(tokens, 0, h)];
                kernels::max_of_rows_back(x, grad, &mut part[rows_of(tokens, share.tokens.start, h)]);
            }
            part
        });
        let parts: Vec<Vec<f32>> = parts.collect();
        for (share, part) in self.piece.iter().zip(parts) {
            kernels::add_row(&mut to[rows_of(&share.tokens, 0, h)], &part);
        }
    }
}
