//! What happens to a candidate span after the first layer, in one pass over CPU memory: its words' parts are gathered and
//! added, then GELU, dropout, the output layer and softmax, a few dozen candidates at a time.
//!
//! The loss computes its gradients on the way, so that nothing of the size of all candidates is ever in memory.

use super::candidates::{Group, Rows};
use crate::nn::as_slice;
use crate::nn::fused::{like, slice};
use crate::nn::kernels::{
    DropMask, LANES, View, WriteMode, add_row, gelu_row, gelu_slope_row, multiply_row, small_matmul, softmax_row,
};
use candle_core::{CpuStorage, CustomOp3, Layout, Shape, Tensor};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// Candidates that are worked on at a time: their vectors stay in the cache.
const AT_A_TIME: usize = 64;

/// The two layers, as slices.
pub(super) struct SpanPass<'a> {
    /// `[W, S]`, `[W, S]` and `[max width, S]`.
    parts: [&'a [f32]; 3],
    /// `[C, S]`
    output: &'a [f32],
    /// The same as columns, `[S, wide]`.
    turned: Vec<f32>,
    /// `[wide]`
    bias: Vec<f32>,
    /// S
    size: usize,
    /// C
    classes: usize,
    /// C rounded up to whole lanes.
    wide: usize,
}

impl<'a> SpanPass<'a> {
    pub(super) fn new(parts: [&'a [f32]; 3], output: &'a [f32], bias: &[f32]) -> Self {
        let classes = bias.len().max(1);
        let (size, wide) = (output.len() / classes, classes.next_multiple_of(LANES));
        let mut turned = vec![0.0; size * wide];
        for (class, row) in output.chunks_exact(size.max(1)).enumerate() {
            for (i, x) in row.iter().enumerate() {
                turned[i * wide + class] = *x;
            }
        }
        let mut padded = bias.to_vec();
        padded.resize(wide, 0.0);
        Self { parts, output, turned, bias: padded, size, classes, wide }
    }

    /// The first layer's sums of some candidates, `[rows, S]`.
    fn gather(&self, rows: &Rows, range: Range<usize>, sums: &mut Vec<f32>) {
        let [first, last, width] = self.parts;
        let row = |table: &'a [f32], number: u32| &table[number as usize * self.size..][..self.size];
        sums.clear();
        for i in range {
            sums.extend(row(first, rows.first[i]));
            let from = sums.len() - self.size;
            add_row(&mut sums[from..], row(last, rows.last[i]));
            add_row(&mut sums[from..], row(width, rows.width[i]));
        }
    }

    /// Probabilities of the classes, `[rows, wide]`, of which the first C of a row count.
    fn classify(&self, inner: &[f32], probabilities: &mut Vec<f32>) {
        let n = inner.len() / self.size.max(1);
        probabilities.resize(n * self.wide, 0.0);
        let (inner, turned) = ((inner, View::rows(self.size)), (self.turned.as_slice(), self.wide));
        small_matmul([n, self.wide, self.size], (probabilities, self.wide), inner, turned, WriteMode::Overwrite);
        for row in probabilities.chunks_exact_mut(self.wide) {
            add_row(row, &self.bias);
            softmax_row(&mut row[..self.classes], 1.0);
        }
    }

    /// Probabilities of the classes, row after row.
    pub(super) fn probabilities(&self, rows: &Rows) -> Vec<f32> {
        let mut all = vec![0.0; rows.len() * self.classes];
        let pieces = all.par_chunks_mut(AT_A_TIME * self.classes).enumerate();
        pieces.for_each_init(<[Vec<f32>; 3]>::default, |[sums, inner, padded], (piece, all)| {
            let from = piece * AT_A_TIME;
            self.gather(rows, from..from + all.len() / self.classes, sums);
            inner.resize(sums.len(), 0.0);
            gelu_row(sums, inner);
            self.classify(inner, padded);
            for (row, padded) in all.chunks_exact_mut(self.classes).zip(padded.chunks_exact(self.wide)) {
                row.copy_from_slice(&padded[..self.classes]);
            }
        });
        all
    }

    /// Sum of the losses of a sentence's candidates, each multiplied by `weight`, and the gradients of that.
    fn learn(
        &self,
        rows: &Rows,
        group: &Group,
        mask: DropMask,
        weight: f32,
        words: [&mut [f32]; 2],
    ) -> SentenceGradients {
        let [first, last] = words;
        let mut learnt = SentenceGradients {
            loss: 0.0,
            width: vec![0.0; self.parts[2].len()],
            output: vec![0.0; self.output.len()],
            bias: vec![0.0; self.classes],
        };
        let [mut sums, mut inner, mut slope, mut logits] = [(); 4].map(|()| Vec::new());
        for from in group.rows.clone().step_by(AT_A_TIME) {
            let range = from..group.rows.end.min(from + AT_A_TIME);
            let n = range.len();
            self.gather(rows, range.clone(), &mut sums);
            inner.resize(sums.len(), 0.0);
            slope.resize(sums.len(), 0.0);
            gelu_slope_row(&sums, &mut inner, &mut slope);
            mask.apply(&mut inner, from * self.size);
            self.classify(&inner, &mut logits);
            // From here on `logits` holds the gradient of the logits.
            for (row, class) in logits.chunks_exact_mut(self.wide).zip(&rows.classes[range.clone()]) {
                learnt.loss -= f64::from(weight * row[*class as usize].max(f32::MIN_POSITIVE).ln());
                row[*class as usize] -= 1.0;
                row[self.classes..].fill(0.0);
                row.iter_mut().for_each(|x| *x *= weight);
                add_row(&mut learnt.bias, &row[..self.classes]);
            }
            let (grads, view) = (logits.as_slice(), View::rows(self.wide));
            let (output, size) = ((learnt.output.as_mut_slice(), self.size), self.size);
            small_matmul([self.classes, size, n], output, (grads, view.transposed()), (&inner, size), WriteMode::Add);
            small_matmul(
                [n, size, self.classes],
                (&mut sums, size),
                (grads, view),
                (self.output, size),
                WriteMode::Overwrite,
            );
            mask.apply(&mut sums, from * self.size);
            multiply_row(&mut sums, &slope);
            for (i, grad) in range.zip(sums.chunks_exact(self.size)) {
                let row = |number: usize| number * self.size..(number + 1) * self.size;
                add_row(&mut first[row(rows.first[i] as usize - group.words.start)], grad);
                add_row(&mut last[row(rows.last[i] as usize - group.words.start)], grad);
                add_row(&mut learnt.width[row(rows.width[i] as usize)], grad);
            }
        }
        learnt
    }
}

/// What one sentence adds to the loss and to the gradients of what all sentences share.
struct SentenceGradients {
    loss: f64,
    width: Vec<f32>,
    output: Vec<f32>,
    bias: Vec<f32>,
}

/// Mean cross-entropy of the candidates: an operation on the words' parts `[2W, S]` (as first words, then as last ones),
/// the widths' `[max width, S]`, and the output layer with its bias as last column, `[C, S + 1]`.
#[derive(Debug)]
pub(super) struct SpanLoss {
    rows: Rows,
    mask: DropMask,
    /// Of the three inputs.
    gradients: Mutex<Option<[Vec<f32>; 3]>>,
}

impl SpanLoss {
    pub(super) fn new(rows: &Rows, mask: DropMask) -> Self {
        Self { rows: rows.clone(), mask, gradients: Mutex::new(None) }
    }

    fn run(&self, words: &[f32], width: &[f32], output: &[f32], classes: usize) -> (f64, [Vec<f32>; 3]) {
        let size = output.len() / classes.max(1) - 1;
        let (mut weight, mut bias) = (Vec::with_capacity(classes * size), Vec::with_capacity(classes));
        for row in output.chunks_exact(size + 1) {
            weight.extend(&row[..size]);
            bias.push(row[size]);
        }
        let (first, last) = words.split_at(words.len() / 2);
        let pass = SpanPass::new([first, last, width], &weight, &bias);
        let mut d_words = vec![0.0; words.len()];
        let (d_first, d_last) = d_words.split_at_mut(words.len() / 2);
        let (d_first, d_last) =
            (by_sentence(d_first, &self.rows.groups, size), by_sentence(d_last, &self.rows.groups, size));
        let each = 1.0 / self.rows.len().max(1) as f32;
        let work = self.rows.groups.par_iter().zip(d_first).zip(d_last);
        let learnt: Vec<SentenceGradients> =
            work.map(|((group, first), last)| pass.learn(&self.rows, group, self.mask, each, [first, last])).collect();
        let (mut loss, mut d_width, mut d_output) = (0.0, vec![0.0; width.len()], vec![0.0; output.len()]);
        for part in &learnt {
            loss += part.loss;
            add_row(&mut d_width, &part.width);
            let rows = d_output.chunks_exact_mut(size + 1).zip(part.output.chunks_exact(size)).zip(&part.bias);
            for ((sum, weight), bias) in rows {
                add_row(&mut sum[..size], weight);
                sum[size] += bias;
            }
        }
        (loss, [d_words, d_width, d_output])
    }
}

/// The rows of each sentence's words; the groups' words follow each other and cover all.
fn by_sentence<'a>(mut whole: &'a mut [f32], groups: &[Group], width: usize) -> Vec<&'a mut [f32]> {
    let mut parts = Vec::with_capacity(groups.len());
    for group in groups {
        let (part, rest) = whole.split_at_mut(group.words.len() * width);
        parts.push(part);
        whole = rest;
    }
    parts
}

type Gradients3 = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

impl CustomOp3 for SpanLoss {
    fn name(&self) -> &'static str {
        "nestling-span-loss"
    }

    fn cpu_fwd(
        &self,
        words: &CpuStorage,
        words_layout: &Layout,
        width: &CpuStorage,
        width_layout: &Layout,
        output: &CpuStorage,
        output_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let (words, width) = (slice(words, words_layout)?, slice(width, width_layout)?);
        let classes = output_layout.dims().first().copied().unwrap_or(1);
        let (loss, gradients) = self.run(words, width, slice(output, output_layout)?, classes);
        if let Ok(mut place) = self.gradients.lock() {
            *place = Some(gradients);
        }
        Ok((CpuStorage::F32(vec![loss as f32]), Shape::from(())))
    }

    fn bwd(
        &self,
        words: &Tensor,
        width: &Tensor,
        output: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<Gradients3> {
        let factor = as_slice(&grad.contiguous()?)?.first().copied().unwrap_or(0.0);
        let Some(gradients) = self.gradients.lock().ok().and_then(|mut place| place.take()) else {
            candle_core::bail!("a loss of spans can be differentiated once");
        };
        let [words, width, output] = [(words, 0), (width, 1), (output, 2)].map(|(input, i)| {
            let values = gradients[i].iter().map(|x| x * factor).collect();
            like(values, input)
        });
        Ok((Some(words?), Some(width?), Some(output?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::kernels::drop_all;
    use crate::nn::{Rng, cross_entropy, fused, plain, softmax, u32_tensor};
    use candle_core::{Device, Var};
    use proptest::prelude::*;

    fn random(shape: (usize, usize), rng: &mut Rng) -> Var {
        let values: Vec<f32> = (0..shape.0 * shape.1).map(|_| rng.normal()).collect();
        Var::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    /// Candidates of sentences of these lengths; some have none.
    fn candidates(lens: &[usize], widths: usize, classes: u32, rng: &mut Rng) -> Rows {
        let (mut rows, mut first_word) = (Rows::default(), 0);
        for len in lens {
            let from = rows.first.len();
            for first in 0..*len {
                for width in 0..widths.min(len - first) {
                    if rng.unit() < 0.6 {
                        rows.first.push((first_word + first) as u32);
                        rows.last.push((first_word + first + width) as u32);
                        rows.width.push(width as u32);
                        rows.classes.push(rng.below(classes as usize) as u32);
                    }
                }
            }
            rows.groups.push(Group { rows: from..rows.first.len(), words: first_word..first_word + len });
            first_word += len;
        }
        rows
    }

    fn off(a: &Tensor, b: &Tensor) -> f32 {
        (a - b).unwrap().abs().unwrap().max_all().unwrap().to_scalar().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn one_pass_gives_what_candle_s_operations_give(
            lens in prop::collection::vec(1usize..12, 1..4), widths in 1usize..5, classes in 2u32..20,
            size in 1usize..40, p in prop::sample::select(vec![0.0f32, 0.3]), seed in 0u64..1000,
        ) {
            let mut rng = Rng::new(seed, "spans");
            let rows = candidates(&lens, widths, classes, &mut rng);
            prop_assume!(rows.len() > 0);
            let words = lens.iter().sum::<usize>();
            let inputs = [(2 * words, size), (widths, size), (classes as usize, size + 1)].map(|s| random(s, &mut rng));
            let [all, width, output] = [&inputs[0], &inputs[1], &inputs[2]].map(|v| v.as_tensor().clone());
            let mask = if p > 0.0 { DropMask::new(p, 7) } else { DropMask::NONE };

            let select = |t: &Tensor, at: &[u32]| t.index_select(&u32_tensor(at, &Device::Cpu).unwrap(), 0).unwrap();
            let (first, last) = (all.narrow(0, 0, words).unwrap(), all.narrow(0, words, words).unwrap());
            let sum = (select(&first, &rows.first) + select(&last, &rows.last)).unwrap();
            let inner = plain::gelu(&(sum + select(&width, &rows.width)).unwrap()).unwrap();
            let mut factors = vec![1f32; rows.len() * size];
            drop_all(&mut factors, mask);
            let inner = (inner * Tensor::from_vec(factors, (rows.len(), size), &Device::Cpu).unwrap()).unwrap();
            let weight = output.narrow(1, 0, size).unwrap().contiguous().unwrap();
            let bias = output.narrow(1, size, 1).unwrap().squeeze(1).unwrap().contiguous().unwrap();
            let logits = fused::linear(&inner, &weight, &bias).unwrap();
            let expected = cross_entropy(&logits, &rows.classes).unwrap();

            let loss = all.apply_op3(&width, &output, SpanLoss::new(&rows, mask)).unwrap();
            prop_assert!(off(&loss, &expected) < 1e-5, "{loss} {expected}");
            let (got, want) = ((loss * 0.7).unwrap().backward().unwrap(), (expected * 0.7).unwrap().backward().unwrap());
            for input in &inputs {
                let (got, want) = (got.get(input.as_tensor()).unwrap(), want.get(input.as_tensor()).unwrap());
                prop_assert!(off(got, want) < 1e-5, "{got} {want}");
            }
            if p == 0.0 {
                let (first, last) = (first.contiguous().unwrap(), last.contiguous().unwrap());
                let parts = [as_slice(&first).unwrap(), as_slice(&last).unwrap(), as_slice(&width).unwrap()];
                let (weight, bias) = (as_slice(&weight).unwrap(), as_slice(&bias).unwrap());
                let got = SpanPass::new([&parts[0], &parts[1], &parts[2]], &weight, &bias).probabilities(&rows);
                let got = Tensor::from_vec(got, logits.dims(), &Device::Cpu).unwrap();
                prop_assert!(off(&got, &softmax(&logits).unwrap()) < 1e-5);
            }
        }
    }
}
