//! The filter over all seeds of a batch, in one pass over CPU memory: seeds that begin with the same word share what they find
//! to be the greatest values of their words, and nothing of the size of all seeds but one number each is ever in memory.

use super::span_rows::SpanRows;
use crate::nn::kernels::{Panels, View, WriteMode, add_row, bf16_matmul, gelu_row, matmul, small_matmul, to_bf16};
use rayon::prelude::*;
use std::ops::Range;

/// Seeds that one task works on: few enough for the cache, enough that packing the weights pays.
const AT_A_TIME: usize = 256;

/// The layers of a [`super::span_mlp::SpanMlp`] with one output, as slices.
pub(super) struct SeedPass<'a> {
    /// `[W, D]`
    pub words: &'a [f32],
    /// What the first layer makes of each word at the left boundary, and below it at the right one, `[2W, S]`.
    pub beside: &'a [f32],
    /// What it makes of the greatest values.
    pub product: Product<'a>,
    /// Its bias, `[S]`.
    pub bias: &'a [f32],
    /// Weight `[1, S]` and bias `[1]`.
    pub output: [&'a [f32]; 2],
}

/// A product with a weight `[S, D]`.
pub(super) struct Product<'a> {
    d: usize,
    factor: Factor<'a>,
}

enum Factor<'a> {
    Single(&'a [f32]),
    /// Continued with zeros to whole panels.
    Half(Panels),
}

impl<'a> Product<'a> {
    /// Of vectors of `d` numbers, with `bf16` of half precision.
    pub(super) fn new(weight: &'a [f32], d: usize, bf16: bool) -> Self {
        if !bf16 {
            return Self { d, factor: Factor::Single(weight) };
        }
        let wide = d.next_multiple_of(Panels::WIDTH);
        let rows = (weight.len() / d.max(1)).next_multiple_of(Panels::WIDTH);
        let (mut padded, mut panels) = (vec![0.0; rows * wide], Panels::default());
        for (to, from) in padded.chunks_exact_mut(wide.max(1)).zip(weight.chunks_exact(d.max(1))) {
            to[..d].copy_from_slice(from);
        }
        panels.stack_transposed(&[&padded], wide);
        Self { d, factor: Factor::Half(panels) }
    }

    /// From row to row of what goes in and of what comes out, where that has `s` numbers a row.
    fn strides(&self, s: usize) -> [usize; 2] {
        match self.factor {
            Factor::Single(_) => [self.d, s],
            Factor::Half(_) => [self.d, s].map(|size| size.next_multiple_of(Panels::WIDTH)),
        }
    }

    /// Rows times the weight, into `y`, which has that many rows.
    fn multiply(&self, rows: &[f32], [from, to]: [usize; 2], halves: &mut Vec<u32>, y: &mut [f32]) {
        match &self.factor {
            Factor::Single(weight) => {
                let (dims, columns) = ([y.len() / to.max(1), to, from], View::rows(from).transposed());
                matmul(dims, (y, View::rows(to)), (rows, View::rows(from)), (weight, columns), WriteMode::Overwrite);
            }
            Factor::Half(panels) => {
                to_bf16(rows, halves);
                bf16_matmul((y, View::rows(to)), halves, panels, WriteMode::Overwrite);
            }
        }
    }
}

/// What a task works in, one part after the other.
#[derive(Default)]
struct Scratch {
    greatest: Vec<f32>,
    halves: Vec<u32>,
    sums: Vec<f32>,
    inner: Vec<f32>,
}

impl SeedPass<'_> {
    /// One number for each of N spans.
    pub(super) fn numbers(&self, rows: &SpanRows) -> Vec<f32> {
        let mut all = vec![0.0; rows.len()];
        let parts = all.par_chunks_mut(AT_A_TIME).enumerate();
        parts.for_each_init(Scratch::default, |scratch, (part, numbers)| {
            let from = part * AT_A_TIME;
            self.part(rows, from..from + numbers.len(), scratch, numbers);
        });
        all
    }

    fn part(&self, rows: &SpanRows, part: Range<usize>, scratch: &mut Scratch, y: &mut [f32]) {
        let Scratch { greatest, halves, sums, inner } = scratch;
        let (n, s) = (part.len(), self.bias.len());
        let strides = self.product.strides(s);
        let [from, to] = strides;
        self.greatest(&rows.words[part.clone()], from, greatest);
        sums.resize(n * to, 0.0);
        self.product.multiply(greatest, strides, halves, sums);
        let (left, right) = self.beside.split_at(self.beside.len() / 2);
        let of_word = |number: u32| number as usize * s..(number as usize + 1) * s;
        for (sums, row) in sums.chunks_exact_mut(to).zip(part) {
            let sums = &mut sums[..s];
            add_row(sums, self.bias);
            add_row(sums, &left[of_word(rows.left[row])]);
            add_row(sums, &right[of_word(rows.right[row])]);
        }
        inner.resize(sums.len(), 0.0);
        gelu_row(sums, inner);
        let [weight, bias] = self.output;
        small_matmul([n, 1, s], (y, 1), (inner, View::rows(to)), (weight, 1), WriteMode::Overwrite);
        y.iter_mut().for_each(|y| *y += bias.first().copied().unwrap_or(0.0));
    }

    /// The greatest values of spans, in rows that are `stride` apart, zeros behind them. A span that continues the one before
    /// it takes that one's.
    fn greatest(&self, spans: &[Range<usize>], stride: usize, greatest: &mut Vec<f32>) {
        let d = self.product.d;
        greatest.clear();
        let mut before = 0..0;
        for span in spans {
            let from = greatest.len();
            let mut rest = span.clone();
            if before.start == span.start && (before.start + 1..=span.end).contains(&before.end) {
                greatest.extend_from_within(from - stride..);
                rest.start = before.end;
            } else {
                greatest.extend_from_slice(&self.words[span.start * d..][..d]);
                greatest.resize(from + stride, 0.0);
                rest.start += 1;
            }
            let row = &mut greatest[from..from + d];
            for word in rest {
                let values = &self.words[word * d..][..d];
                row.iter_mut().zip(values).for_each(|(y, x)| *y = if *x > *y { *x } else { *y });
            }
            before = span.clone();
        }
    }
}
