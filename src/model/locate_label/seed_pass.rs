//! The filter over all seeds of a batch, in one pass over CPU memory: seeds that begin with the same word share what they find
//! to be the greatest values of their words, and nothing of the size of all seeds but one number each is ever in memory.

use super::span_rows::SpanRows;
use crate::nn::kernels::{View, WriteMode, add_row, gelu_row, matmul, small_matmul};
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
    /// Weight `[S, 3D]` and bias `[S]`.
    pub inner: [&'a [f32]; 2],
    /// Weight `[1, S]` and bias `[1]`.
    pub output: [&'a [f32]; 2],
}

impl SeedPass<'_> {
    /// One number for each of N spans.
    pub(super) fn numbers(&self, rows: &SpanRows) -> Vec<f32> {
        let mut all = vec![0.0; rows.len()];
        let parts = all.par_chunks_mut(AT_A_TIME).enumerate();
        parts.for_each_init(<[Vec<f32>; 3]>::default, |scratch, (part, numbers)| {
            let from = part * AT_A_TIME;
            self.part(rows, from..from + numbers.len(), scratch, numbers);
        });
        all
    }

    fn part(&self, rows: &SpanRows, part: Range<usize>, [greatest, sums, inner]: &mut [Vec<f32>; 3], y: &mut [f32]) {
        let ([weight, bias], n) = (self.inner, part.len());
        let (s, d) = (bias.len(), weight.len() / bias.len().max(1) / 3);
        self.greatest(&rows.words[part.clone()], d, greatest);
        sums.resize(n * s, 0.0);
        let columns = View::columns(0, 3 * d).transposed();
        matmul([n, s, d], (sums, View::rows(s)), (greatest, View::rows(d)), (weight, columns), WriteMode::Overwrite);
        let (left, right) = self.beside.split_at(self.beside.len() / 2);
        let word = |table: &'_ [f32], number: u32| -> Range<usize> {
            let from = number as usize * s;
            from..(from + s).min(table.len())
        };
        for (sums, row) in sums.chunks_exact_mut(s).zip(part) {
            add_row(sums, bias);
            add_row(sums, &left[word(left, rows.left[row])]);
            add_row(sums, &right[word(right, rows.right[row])]);
        }
        inner.resize(n * s, 0.0);
        gelu_row(sums, inner);
        let [weight, bias] = self.output;
        small_matmul([n, 1, s], (y, 1), (inner, View::rows(s)), (weight, 1), WriteMode::Overwrite);
        y.iter_mut().for_each(|y| *y += bias.first().copied().unwrap_or(0.0));
    }

    /// The greatest values of spans, `[rows, D]`. One that continues the span before it takes that one's.
    fn greatest(&self, spans: &[Range<usize>], d: usize, greatest: &mut Vec<f32>) {
        greatest.clear();
        let mut before = 0..0;
        for span in spans {
            let from = greatest.len();
            let mut rest = span.clone();
            if before.start == span.start && (before.start + 1..=span.end).contains(&before.end) {
                greatest.extend_from_within(from - d..);
                rest.start = before.end;
            } else {
                greatest.extend_from_slice(&self.words[span.start * d..][..d]);
                rest.start += 1;
            }
            let row = &mut greatest[from..];
            for word in rest {
                let values = &self.words[word * d..][..d];
                row.iter_mut().zip(values).for_each(|(y, x)| *y = if *x > *y { *x } else { *y });
            }
            before = span.clone();
        }
    }
}
