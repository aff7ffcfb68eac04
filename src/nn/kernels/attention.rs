//! Multi-head attention over sentences that lie one behind the other, without padding.

use super::arithmetic::LANES;
use super::rows::{softmax_back_row, softmax_row};
use super::{DropMask, View, WriteMode, small_matmul};

/// Scaled dot-product attention within each sentence.
///
/// Queries, keys and values come side by side, `[N, 3H]`; a head sees `H / attention_heads` columns of each. The probabilities are
/// not kept: the way back computes them again.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    pub hidden: usize,
    pub attention_heads: usize,
    /// Of the probabilities, as positions in `[B, attention_heads, T, T]`.
    pub mask: DropMask,
    /// T: the length of the longest of all sentences.
    pub longest: usize,
}

/// What one thread works in.
#[derive(Default, Debug)]
pub struct AttentionScratch {
    /// Keys or values of a head as columns, `[D, wide]`.
    turned: Vec<f32>,
    /// `[T, wide]`, as the next two.
    probabilities: Vec<f32>,
    dropped: Vec<f32>,
    gradient: Vec<f32>,
}

/// One sentence.
struct Sentence<'a> {
    number: usize,
    len: usize,
    /// `len` rounded up to whole lanes.
    wide: usize,
    /// `[T, 3H]`
    qkv: &'a [f32],
}

impl Attention {
    /// D
    fn size(&self) -> usize {
        self.hidden / self.attention_heads.max(1)
    }

    fn scale(&self) -> f32 {
        1.0 / (self.size() as f32).sqrt()
    }

    fn sentence<'a>(&self, number: usize, qkv: &'a [f32]) -> Sentence<'a> {
        let len = qkv.len() / (3 * self.hidden).max(1);
        Sentence { number, len, wide: len.next_multiple_of(LANES), qkv }
    }

    /// First column of a head's queries (0), keys (1) or values (2).
    fn column(&self, head: usize, part: usize) -> usize {
        part * self.hidden + head * self.size()
    }

    /// The columns from `column` of a sentence, `[T, D]`, as columns: `[D, wide]`.
    fn turn(&self, of: &Sentence<'_>, column: usize, turned: &mut Vec<f32>) {
        turned.clear();
        turned.resize(self.size() * of.wide, 0.0);
        let width = 3 * self.hidden;
        for (d, line) in turned.chunks_exact_mut(of.wide.max(1)).enumerate() {
            let from = of.qkv[column + d..].iter().step_by(width);
            line.iter_mut().zip(from).for_each(|(to, x)| *to = *x);
        }
    }

    /// Softmax of a head's scaled scores, `[T, wide]`.
    fn probabilities(&self, of: &Sentence<'_>, head: usize, turned: &mut Vec<f32>, p: &mut Vec<f32>) {
        self.turn(of, self.column(head, 1), turned);
        p.resize(of.len * of.wide, 0.0);
        let queries = View::columns(self.column(head, 0), 3 * self.hidden);
        small_matmul(
            [of.len, of.wide, self.size()],
            (p, of.wide),
            (of.qkv, queries),
            (turned, of.wide),
            WriteMode::Overwrite,
        );
        for row in p.chunks_exact_mut(of.wide.max(1)) {
            let (row, beyond) = row.split_at_mut(of.len);
            softmax_row(row, self.scale());
            beyond.fill(0.0);
        }
    }

    fn drop(&self, of: &Sentence<'_>, head: usize, p: &mut [f32]) {
        if self.mask.drops_nothing() {
            return;
        }
        let from = (of.number * self.attention_heads + head) * self.longest * self.longest;
        for (i, row) in p.chunks_exact_mut(of.wide.max(1)).enumerate() {
            self.mask.apply(&mut row[..of.len], from + i * self.longest);
        }
    }

    /// `context` `[T, H]` gets what each word of sentence `number` makes of the words that it attends to.
    pub fn forward(&self, number: usize, qkv: &[f32], context: &mut [f32], scratch: &mut AttentionScratch) {
        let (of, d, width) = (self.sentence(number, qkv), self.size(), 3 * self.hidden);
        if of.len == 0 {
            return;
        }
        let AttentionScratch { turned, probabilities, .. } = scratch;
        for head in 0..self.attention_heads {
            self.probabilities(&of, head, turned, probabilities);
            self.drop(&of, head, probabilities);
            let (p, values) = (View::rows(of.wide), self.column(head, 2));
            let context = (&mut context[head * d..], self.hidden);
            small_matmul(
                [of.len, d, of.len],
                context,
                (probabilities, p),
                (&qkv[values..], width),
                WriteMode::Overwrite,
            );
        }
    }

    /// `grad` `[T, 3H]` gets the gradients of queries, keys and values, given that of the context.
    pub fn backward(
        &self,
        number: usize,
        qkv: &[f32],
        context_grad: &[f32],
        grad: &mut [f32],
        scratch: &mut AttentionScratch,
    ) {
        let (of, d, h, width) = (self.sentence(number, qkv), self.size(), self.hidden, 3 * self.hidden);
        if of.len == 0 {
            return;
        }
        let AttentionScratch { turned, probabilities: p, dropped, gradient: dp } = scratch;
        let (square, dims) = (View::rows(of.wide), [of.len, d, of.len]);
        for head in 0..self.attention_heads {
            let [queries, keys, values] = [0, 1, 2].map(|part| self.column(head, part));
            self.probabilities(&of, head, turned, p);
            dropped.clone_from(p);
            self.drop(&of, head, dropped);
            let (turned_p, context) = ((dropped.as_slice(), square.transposed()), (&context_grad[head * d..], h));
            small_matmul(dims, (&mut grad[values..], width), turned_p, context, WriteMode::Overwrite);
            self.turn(&of, values, turned);
            dp.resize(of.len * of.wide, 0.0);
            let context = (context_grad, View::columns(head * d, h));
            small_matmul([of.len, of.wide, d], (dp, of.wide), context, (turned, of.wide), WriteMode::Overwrite);
            self.drop(&of, head, dp);
            for (p, dp) in p.chunks_exact(of.wide.max(1)).zip(dp.chunks_exact_mut(of.wide.max(1))) {
                softmax_back_row(&p[..of.len], &mut dp[..of.len], self.scale());
            }
            let (dp, turned_dp) = ((dp.as_slice(), square), (dp.as_slice(), square.transposed()));
            small_matmul(dims, (&mut grad[queries..], width), dp, (&qkv[keys..], width), WriteMode::Overwrite);
            small_matmul(dims, (&mut grad[keys..], width), turned_dp, (&qkv[queries..], width), WriteMode::Overwrite);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_any_length_and_heads_of_any_size() {
        for (hidden, attention_heads) in [(1, 1), (3, 1), (6, 2), (8, 8), (34, 2), (0, 1), (4, 0)] {
            for len in [0, 1, 2, 15, 16, 17] {
                let attention = Attention { hidden, attention_heads, mask: DropMask::NONE, longest: len };
                let qkv: Vec<f32> = (0..len * 3 * hidden).map(|i| ((i * 37) % 11) as f32 / 11.0).collect();
                let mut context = vec![9.0; len * hidden];
                attention.forward(0, &qkv, &mut context, &mut AttentionScratch::default());
                let values = qkv.chunks_exact((3 * hidden).max(1)).flat_map(|row| &row[2 * hidden..]);
                let (least, most) = values.fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
                let inside = |x: &f32| *x >= least - 1e-5 && *x <= most + 1e-5;
                assert!(
                    attention_heads == 0 || context.iter().all(inside),
                    "{hidden} {attention_heads} {len}: a mean of values"
                );
                let mut grad = vec![9.0; qkv.len()];
                attention.backward(0, &qkv, &context, &mut grad, &mut AttentionScratch::default());
                assert!(grad.iter().all(|x| x.is_finite()));
            }
        }
    }
}
