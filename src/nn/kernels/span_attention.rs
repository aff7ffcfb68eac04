//! Attention of single queries, each over rows that follow each other: spans over their tokens.

use super::arithmetic::lanes_sum;
use super::rows::{softmax_back_row, softmax_row};
use super::{DropMask, InstructionSet};

/// Scaled dot-product attention of a span to its tokens.
///
/// Keys and values of a token come side by side, `[n, 2H]`; a head sees `H / attention_heads` columns of each. The
/// probabilities are not kept: the way back computes them again.
#[derive(Clone, Copy, Debug)]
pub struct SpanAttention {
    pub hidden: usize,
    pub attention_heads: usize,
    /// Of the probabilities, as positions in `[S, attention_heads, longest]`.
    pub mask: DropMask,
    /// Tokens of the longest of all spans.
    pub longest: usize,
}

/// What one thread works in, `[attention_heads, n]` each.
#[derive(Default, Debug)]
pub struct SpanAttentionScratch {
    probabilities: Vec<f32>,
    dropped: Vec<f32>,
    gradient: Vec<f32>,
}

impl SpanAttention {
    /// D
    fn size(&self) -> usize {
        self.hidden / self.attention_heads.max(1)
    }

    fn scale(&self) -> f32 {
        1.0 / (self.size() as f32).sqrt()
    }

    fn tokens(&self, keys_values: &[f32]) -> usize {
        keys_values.len() / (2 * self.hidden).max(1)
    }

    /// Softmax of each head's scaled scores.
    fn probabilities(&self, query: &[f32], keys_values: &[f32], p: &mut Vec<f32>) {
        let n = self.tokens(keys_values);
        p.clear();
        p.resize(self.attention_heads * n, 0.0);
        products(self.size(), 0, query, keys_values, p);
        p.chunks_exact_mut(n.max(1)).for_each(|row| softmax_row(row, self.scale()));
    }

    fn drop(&self, number: usize, n: usize, p: &mut [f32]) {
        for (head, row) in p.chunks_exact_mut(n.max(1)).enumerate() {
            self.mask.apply(row, (number * self.attention_heads + head) * self.longest);
        }
    }

    /// `context` `[H]` gets what the span with this `number` makes of its tokens.
    pub fn forward(
        &self,
        number: usize,
        query: &[f32],
        keys_values: &[f32],
        context: &mut [f32],
        scratch: &mut SpanAttentionScratch,
    ) {
        let p = &mut scratch.probabilities;
        self.probabilities(query, keys_values, p);
        self.drop(number, self.tokens(keys_values), p);
        context.fill(0.0);
        weighted_sum(self.size(), self.hidden, p, keys_values, context);
    }

    /// `query` becomes its gradient, given that of the context; those of keys and values are added to `grad` `[n, 2H]`.
    pub fn backward(
        &self,
        number: usize,
        query: &mut [f32],
        keys_values: &[f32],
        context_grad: &[f32],
        grad: &mut [f32],
        scratch: &mut SpanAttentionScratch,
    ) {
        let (n, d) = (self.tokens(keys_values), self.size());
        let SpanAttentionScratch { probabilities: p, dropped, gradient: dp } = scratch;
        self.probabilities(query, keys_values, p);
        dropped.clone_from(p);
        self.drop(number, n, dropped);
        add_outer(d, self.hidden, dropped, context_grad, grad);
        dp.clear();
        dp.resize(p.len(), 0.0);
        products(d, self.hidden, context_grad, keys_values, dp);
        self.drop(number, n, dp);
        for (p, dp) in p.chunks_exact(n.max(1)).zip(dp.chunks_exact_mut(n.max(1))) {
            softmax_back_row(p, dp, self.scale());
        }
        add_outer(d, 0, dp, query, grad);
        query.fill(0.0);
        weighted_sum(d, 0, dp, keys_values, query);
    }
}

dispatch! {
    /// `p[head, i]` gets the product of a head's numbers of `x` `[H]` with its columns of `rows` `[n, 2H]` from `column` on.
    fn products(d: usize, column: usize, x: &[f32], rows: &[f32], p: &mut [f32]) {
        let n = rows.len() / (2 * x.len()).max(1);
        for (i, row) in rows.chunks_exact((2 * x.len()).max(1)).enumerate() {
            let row = &row[column..];
            for (head, (x, row)) in x.chunks_exact(d.max(1)).zip(row.chunks_exact(d.max(1))).enumerate() {
                p[head * n + i] = lanes_sum(d, |j| x[j] * row[j]);
            }
        }
    }
}

dispatch! {
    /// Adds to a head's numbers of `y` `[H]` its columns of `rows` `[n, 2H]` from `column` on, each row `p[head, i]` times.
    fn weighted_sum(d: usize, column: usize, p: &[f32], rows: &[f32], y: &mut [f32]) {
        let n = rows.len() / (2 * y.len()).max(1);
        for (i, row) in rows.chunks_exact((2 * y.len()).max(1)).enumerate() {
            let row = &row[column..];
            for (head, (y, row)) in y.chunks_exact_mut(d.max(1)).zip(row.chunks_exact(d.max(1))).enumerate() {
                let factor = p[head * n + i];
                for (y, x) in y.iter_mut().zip(row) {
                    *y += factor * x;
                }
            }
        }
    }
}

dispatch! {
    /// Adds to a head's columns of `rows` `[n, 2H]` from `column` on its numbers of `x` `[H]`, `p[head, i]` times each.
    fn add_outer(d: usize, column: usize, p: &[f32], x: &[f32], rows: &mut [f32]) {
        let n = rows.len() / (2 * x.len()).max(1);
        for (i, row) in rows.chunks_exact_mut((2 * x.len()).max(1)).enumerate() {
            let row = &mut row[column..];
            for (head, (x, row)) in x.chunks_exact(d.max(1)).zip(row.chunks_exact_mut(d.max(1))).enumerate() {
                let factor = p[head * n + i];
                for (y, x) in row.iter_mut().zip(x) {
                    *y += factor * x;
                }
            }
        }
    }
}

dispatch! {
    /// `y` `[H]` gets the greatest number of each column of `x` `[n, H]`.
    pub fn max_of_rows(x: &[f32], y: &mut [f32]) {
        y.fill(f32::NEG_INFINITY);
        for row in x.chunks_exact(y.len().max(1)) {
            for (y, x) in y.iter_mut().zip(row) {
                *y = if *x > *y { *x } else { *y };
            }
        }
    }
}

/// Adds the gradient of the greatest number of each column of `x` `[n, H]` where that number stands; of equals the first.
pub fn max_of_rows_back(x: &[f32], grad: &[f32], dx: &mut [f32]) {
    let h = grad.len().max(1);
    for (column, grad) in grad.iter().enumerate() {
        let mut best = column;
        for at in (column..x.len()).step_by(h) {
            best = if x[at] > x[best] { at } else { best };
        }
        dx[best] += grad;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{instruction_sets, random};
    use super::super::{Attention, AttentionScratch};
    use super::*;
    use crate::nn::Rng;

    /// One span over all words of a sentence is what a word of it attends to, when the query is that word's.
    #[test]
    fn a_span_attends_as_a_word_of_a_sentence_does() {
        for (hidden, attention_heads, n) in [(1, 1, 1), (6, 2, 3), (34, 2, 17), (64, 4, 30)] {
            let mut rng = Rng::new(n as u64, "words");
            let qkv = random(&mut rng, n * 3 * hidden);
            let words = Attention { hidden, attention_heads, mask: DropMask::NONE, longest: n };
            let (mut contexts, mut scratch) = (vec![0.0; n * hidden], AttentionScratch::default());
            words.forward(0, &qkv, &mut contexts, &mut scratch);
            let mut grads = vec![0.0; qkv.len()];
            let out = random(&mut rng, n * hidden);
            words.backward(0, &qkv, &out, &mut grads, &mut scratch);

            let spans = SpanAttention { hidden, attention_heads, mask: DropMask::NONE, longest: n };
            let pairs: Vec<f32> = qkv.chunks(3 * hidden).flat_map(|row| &row[hidden..]).copied().collect();
            let (mut scratch, mut d_pairs) = (SpanAttentionScratch::default(), vec![0.0; pairs.len()]);
            for (number, row) in qkv.chunks(3 * hidden).enumerate() {
                let of = number * hidden..(number + 1) * hidden;
                let (mut query, mut context) = (row[..hidden].to_vec(), vec![9.0; hidden]);
                spans.forward(number, &query, &pairs, &mut context, &mut scratch);
                let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
                assert!(close(&context, &contexts[of.clone()]), "{context:?}");
                spans.backward(number, &mut query, &pairs, &out[of], &mut d_pairs, &mut scratch);
                assert!(close(&query, &grads[number * 3 * hidden..][..hidden]), "{query:?}");
            }
            for (got, want) in d_pairs.chunks(2 * hidden).zip(grads.chunks(3 * hidden)) {
                assert!(got.iter().zip(&want[hidden..]).all(|(a, b)| (a - b).abs() < 1e-4), "{got:?} {want:?}");
            }
        }
    }

    #[test]
    fn gradients_are_slopes_with_dropout_too() {
        let (hidden, n, number) = (6, 4, 3);
        let mut rng = Rng::new(1, "slopes");
        let spans = SpanAttention { hidden, attention_heads: 2, mask: DropMask::new(0.3, 5), longest: 7 };
        let (query, pairs) = (random(&mut rng, hidden), random(&mut rng, n * 2 * hidden));
        let factors = random(&mut rng, hidden);
        let mut scratch = SpanAttentionScratch::default();
        let mut value = |query: &[f32], pairs: &[f32]| -> f32 {
            let mut context = vec![0.0; hidden];
            spans.forward(number, query, pairs, &mut context, &mut scratch);
            context.iter().zip(&factors).map(|(a, b)| a * b).sum()
        };
        let slope = |value: &mut dyn FnMut(f32) -> f32| (value(1e-2) - value(-1e-2)) / 2e-2;
        let (mut d_query, mut d_pairs) = (query.clone(), vec![0.0; pairs.len()]);
        spans.backward(number, &mut d_query, &pairs, &factors, &mut d_pairs, &mut SpanAttentionScratch::default());
        assert!(d_pairs.contains(&0.0), "some probabilities are dropped");
        for (i, got) in d_query.iter().chain(&d_pairs).enumerate() {
            let want = slope(&mut |step| {
                let (mut query, mut pairs) = (query.clone(), pairs.clone());
                let moved = if i < hidden { &mut query[i] } else { &mut pairs[i - hidden] };
                *moved += step;
                value(&query, &pairs)
            });
            assert!((got - want).abs() < 1e-3, "{i}: {got} {want}");
        }
    }

    #[test]
    fn the_greatest_of_each_column_and_its_place() {
        let x = [1.0, 5.0, -2.0, 3.0, 5.0, -4.0];
        let (mut y, mut dx) = ([0.0; 3], [0.0; 6]);
        max_of_rows(&x, &mut y);
        assert_eq!(y, [3.0, 5.0, -2.0]);
        max_of_rows_back(&x, &[1.0, 2.0, 3.0], &mut dx);
        assert_eq!(dx, [0.0, 2.0, 3.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn all_instructions_give_the_same_bits() {
        for (d, heads, n) in [(1, 1, 1), (5, 3, 4), (32, 2, 9)] {
            let (h, mut rng) = (d * heads, Rng::new(d as u64, "spans"));
            let (x, rows, p) = (random(&mut rng, h), random(&mut rng, n * 2 * h), random(&mut rng, heads * n));
            let all = |set| {
                let [mut a, mut b, mut c, mut e] = [p.clone(), x.clone(), rows.clone(), x.clone()];
                products::on(set, d, h, &x, &rows, &mut a);
                weighted_sum::on(set, d, 0, &p, &rows, &mut b);
                add_outer::on(set, d, h, &p, &x, &mut c);
                max_of_rows::on(set, &rows, &mut e);
                [a, b, c, e].concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            let plain = all(InstructionSet::Plain);
            for set in instruction_sets() {
                assert!(all(set) == plain, "{d} {heads} {n} {set:?}");
            }
        }
    }
}
