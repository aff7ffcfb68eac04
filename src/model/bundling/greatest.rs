//! The greatest values over the words of spans, times a weight, in one pass over CPU memory.
//!
//! Spans that begin with the same word share what they find: one that continues the one before it compares with its last
//! words alone. Nothing of the size of all spans is ever in memory but their C products, in the backward pass, too, which
//! finds the greatest values again.

use crate::model::candidates::{Group, Rows};
use crate::nn::fused::{like, slice};
use crate::nn::kernels::{DropMask, LANES, View, WriteMode, add_row, small_matmul};
use crate::nn::{Mode, NnError, Operations, as_slice, project, segment_max, select_rows};
use candle_core::{CpuStorage, CustomOp2, Layout, Shape, Tensor};
use rayon::prelude::*;
use std::ops::Range;

/// Spans that are worked on at a time: their vectors stay in the cache.
const AT_A_TIME: usize = 64;

/// `max(x_i … x_j) · weightᵀ` of N spans, `[N, C]`, with dropout `p` of the greatest values; `x` `[W, D]`, `weight` `[C, D]`.
///
/// # Errors
/// On shapes that don't fit.
pub(super) fn project_greatest(
    x: &Tensor,
    weight: &Tensor,
    rows: &Rows,
    (p, mode): (f32, &mut Mode<'_>),
    operations: Operations,
) -> Result<Tensor, NnError> {
    if operations == Operations::ByHand {
        let product = GreatestProduct { rows: rows.clone(), mask: mode.mask(p) };
        return Ok(x.contiguous()?.apply_op2(&weight.contiguous()?, product)?);
    }
    let spans: Vec<Range<usize>> =
        rows.first.iter().zip(&rows.last).map(|(first, last)| *first as usize..*last as usize + 1).collect();
    let greatest = segment_max(x, &spans, operations)?;
    project(&operations.dropout(&greatest, p, mode)?, weight)
}

/// [`project_greatest`] of all spans of a batch by candle's operations, without dropout: of the spans of one width after the
/// other, each from those of the width before.
///
/// # Errors
/// On shapes that don't fit.
pub(super) fn project_greatest_by_width(x: &Tensor, weight: &Tensor, rows: &Rows) -> Result<Tensor, NnError> {
    let (words, _) = x.dims2()?;
    let widths = rows.width.iter().max().map_or(0, |widest| *widest as usize + 1);
    let (mut greatest, mut products, mut starts, mut row) = (x.clone(), Vec::new(), Vec::new(), 0);
    for width in 0..widths {
        // Some of these lie in two sentences; nobody asks for them.
        let spans = words - width;
        greatest = greatest.narrow(0, 0, spans)?.maximum(&x.narrow(0, width, spans)?)?;
        products.push(project(&greatest, weight)?);
        starts.push(row as u32);
        row += spans;
    }
    let at = rows.first.iter().zip(&rows.width).map(|(first, width)| starts[*width as usize] + first);
    select_rows(&Tensor::cat(&products, 0)?, &at.collect::<Vec<u32>>())
}

/// A weight `[C, D]`.
pub(super) struct Weight<'a> {
    rows: &'a [f32],
    /// The same as columns, `[D, wide]`.
    columns: Vec<f32>,
    d: usize,
    /// C
    classes: usize,
    /// C rounded up to whole lanes.
    wide: usize,
}

impl<'a> Weight<'a> {
    pub(super) fn new(rows: &'a [f32], classes: usize) -> Self {
        let classes = classes.max(1);
        let (d, wide) = (rows.len() / classes, classes.next_multiple_of(LANES));
        let mut columns = vec![0.0; d * wide];
        for (class, row) in rows.chunks_exact(d.max(1)).enumerate() {
            row.iter().enumerate().for_each(|(i, x)| columns[i * wide + class] = *x);
        }
        Self { rows, columns, d, classes, wide }
    }

    /// Products of N spans of `x` `[W, D]`, `[N, C]`.
    pub(super) fn products(&self, x: &[f32], rows: &Rows, mask: DropMask) -> Vec<f32> {
        let mut all = vec![0.0; rows.len() * self.classes];
        let pieces = all.par_chunks_mut(AT_A_TIME * self.classes).enumerate();
        pieces.for_each_init(Scratch::default, |scratch, (piece, all)| {
            let (from, n) = (piece * AT_A_TIME, all.len() / self.classes);
            scratch.find::<false>(x, self.d, rows, from..from + n);
            let Scratch { greatest, products, .. } = scratch;
            mask.apply(greatest, from * self.d);
            products.resize(n * self.wide, 0.0);
            let (rows, columns) = ((greatest.as_slice(), View::rows(self.d)), (self.columns.as_slice(), self.wide));
            small_matmul([n, self.wide, self.d], (products, self.wide), rows, columns, WriteMode::Overwrite);
            for (row, padded) in all.chunks_exact_mut(self.classes).zip(products.chunks_exact(self.wide)) {
                row.copy_from_slice(&padded[..self.classes]);
            }
        });
        all
    }

    /// The gradient of the weight from the spans of a sentence, where `grads` `[N, C]` is that of the products. Adds that of
    /// the sentence's words to `dx`.
    fn learn(
        &self,
        x: &[f32],
        (rows, group): (&Rows, &Group),
        mask: DropMask,
        grads: &[f32],
        dx: &mut [f32],
    ) -> Vec<f32> {
        let (d, classes) = (self.d, self.classes);
        let (mut d_weight, mut scratch) = (vec![0.0; self.rows.len()], Scratch::default());
        for from in group.rows.clone().step_by(AT_A_TIME) {
            let range = from..group.rows.end.min(from + AT_A_TIME);
            let n = range.len();
            let (grads, view) = (&grads[from * classes..range.end * classes], View::rows(classes));
            scratch.find::<true>(x, d, rows, range);
            let Scratch { greatest, winners, .. } = &mut scratch;
            mask.apply(greatest, from * d);
            let turned = (grads, view.transposed());
            small_matmul([classes, d, n], (&mut d_weight, d), turned, (greatest, d), WriteMode::Add);
            // From here on it holds the gradients of the greatest values.
            small_matmul([n, d, classes], (greatest, d), (grads, view), (self.rows, d), WriteMode::Overwrite);
            mask.apply(greatest, from * d);
            for (grads, winners) in greatest.chunks_exact(d.max(1)).zip(winners.chunks_exact(d.max(1))) {
                for (column, (grad, word)) in grads.iter().zip(winners).enumerate() {
                    dx[(*word as usize - group.words.start) * d + column] += grad;
                }
            }
        }
        d_weight
    }
}

/// What a task works in.
#[derive(Default)]
struct Scratch {
    /// `[rows, D]`
    greatest: Vec<f32>,
    /// The word that each of these is of, of equal ones the first, `[rows, D]`.
    winners: Vec<u32>,
    products: Vec<f32>,
}

impl Scratch {
    /// The greatest values of some spans and, where asked for, whose they are.
    fn find<const WINNERS: bool>(&mut self, x: &[f32], d: usize, rows: &Rows, range: Range<usize>) {
        let Self { greatest, winners, .. } = self;
        greatest.clear();
        winners.clear();
        let mut before = None;
        for i in range {
            let (first, last) = (rows.first[i], rows.last[i]);
            let from = greatest.len();
            // Where the span before ends, if this one continues it.
            let end = before.filter(|(start, end)| *start == first && (first..=last).contains(end)).map(|(_, end)| end);
            if end.is_some() {
                greatest.extend_from_within(from - d..);
                if WINNERS {
                    winners.extend_from_within(from - d..);
                }
            } else {
                greatest.extend_from_slice(&x[first as usize * d..][..d]);
                if WINNERS {
                    winners.resize(from + d, first);
                }
            }
            for word in end.unwrap_or(first) + 1..=last {
                let (best, values) = (&mut greatest[from..], &x[word as usize * d..][..d]);
                if WINNERS {
                    for ((best, winner), x) in best.iter_mut().zip(&mut winners[from..]).zip(values) {
                        let wins = *x > *best;
                        *best = if wins { *x } else { *best };
                        *winner = if wins { word } else { *winner };
                    }
                } else {
                    best.iter_mut().zip(values).for_each(|(best, x)| *best = if *x > *best { *x } else { *best });
                }
            }
            before = Some((first, last));
        }
    }
}

/// [`project_greatest`] as an operation on words `[W, D]` and a weight `[C, D]`. Sentences are worked on side by side.
struct GreatestProduct {
    rows: Rows,
    mask: DropMask,
}

impl CustomOp2 for GreatestProduct {
    fn name(&self) -> &'static str {
        "nestling-project-greatest"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let ((_, d), (classes, inputs)) = (x_layout.shape().dims2()?, weight_layout.shape().dims2()?);
        if d != inputs {
            candle_core::bail!("words of {d} numbers don't fit a weight of {inputs}");
        }
        let weight = Weight::new(slice(weight, weight_layout)?, classes);
        let y = weight.products(slice(x, x_layout)?, &self.rows, self.mask);
        Ok((CpuStorage::F32(y), Shape::from((self.rows.len(), classes))))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let ((words, d), (classes, _), grad) = (x.dims2()?, weight.dims2()?, grad.contiguous()?);
        let (mut dx, mut d_weight) = (vec![0.0; words * d], vec![0.0; classes * d]);
        {
            let (x, rows, grads) = (as_slice(x)?, as_slice(weight)?, as_slice(&grad)?);
            let weight = Weight::new(&rows, classes);
            let (mut work, mut rest) = (Vec::with_capacity(self.rows.groups.len()), dx.as_mut_slice());
            for group in &self.rows.groups {
                let (own, after) = rest.split_at_mut(group.words.len() * d);
                work.push((group, own));
                rest = after;
            }
            let (x, grads) = (&*x, &*grads);
            let learn = |(group, dx): (&Group, &mut [f32])| weight.learn(x, (&self.rows, group), self.mask, grads, dx);
            let learnt: Vec<Vec<f32>> = work.into_par_iter().map(learn).collect();
            learnt.iter().for_each(|own| add_row(&mut d_weight, own));
        }
        Ok((Some(like(dx, x)?), Some(like(d_weight, weight)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Span;
    use crate::model::Sentence;
    use crate::model::bundling::sampling::draw;
    use crate::nn::Rng;
    use candle_core::{Device, Var};
    use proptest::prelude::*;

    fn random(shape: (usize, usize), rng: &mut Rng) -> Var {
        let values: Vec<f32> = (0..shape.0 * shape.1).map(|_| rng.normal()).collect();
        Var::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn off(a: &Tensor, b: &Tensor) -> f32 {
        (a - b).unwrap().abs().unwrap().max_all().unwrap().to_scalar().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn one_pass_gives_what_candle_s_operations_give(
            lens in prop::collection::vec(1usize..20, 1..4), widths in 1usize..9, negatives in 1usize..200,
            d in 1usize..40, classes in 1usize..20, p in prop::sample::select(vec![0.0f32, 0.3]), seed in 0u64..1000,
        ) {
            let mut rng = Rng::new(seed, "greatest");
            let gold = [(Span::from_range(0..1).unwrap(), 1)];
            let sentence = |len: &usize| Sentence::new(&vec!["x".to_owned(); *len], &gold);
            let sentences: Vec<Sentence> = lens.iter().map(sentence).collect();
            let (rows, _) = draw(&sentences.iter().collect::<Vec<_>>(), widths, negatives, &mut rng);
            let (x, weight) = (random((lens.iter().sum(), d), &mut rng), random((classes, d), &mut rng));
            let slope = random((rows.len(), classes), &mut rng);
            let [ours, theirs] = [Operations::ByHand, Operations::Plain].map(|operations| {
                let mut rng = Rng::new(seed, "dropout");
                let dropout = (p, &mut Mode::Train(&mut rng));
                project_greatest(x.as_tensor(), weight.as_tensor(), &rows, dropout, operations).unwrap()
            });
            prop_assert!(off(&ours, &theirs) < 1e-4);
            if p == 0.0 {
                let by_width = project_greatest_by_width(x.as_tensor(), weight.as_tensor(), &rows).unwrap();
                prop_assert!(off(&ours, &by_width) < 1e-4);
            }
            let back = |y: Tensor| (y * slope.as_tensor()).unwrap().sum_all().unwrap().backward().unwrap();
            let (ours, theirs) = (back(ours), back(theirs));
            for input in [x.as_tensor(), weight.as_tensor()] {
                let (ours, theirs) = (ours.get(input).unwrap(), theirs.get(input).unwrap());
                prop_assert!(off(ours, theirs) < 1e-3, "{ours} {theirs}");
            }
        }
    }
}
