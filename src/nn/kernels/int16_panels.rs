//! Matrices of whole numbers of 16 bits, as the products in [`super::int16`] take them.
//!
//! A vector `x` of a product is kept as `scale · q`, where the whole numbers `q` have a norm so small that a sum of products
//! of two such vectors fits into 32 bits: `|Σ pᵢqᵢ| ≤ ‖p‖ ‖q‖ < 2³¹` (Cauchy and Schwarz). Such sums are exact, in whatever
//! order they are made. What is lost is half a unit of `q`: for a vector of 384 numbers, normally distributed, 1/8000 of their
//! standard deviation, where bfloat16 loses some 1/900.
//!
//! Two numbers that meet in a sum lie side by side in a `u32`, the first in the low half.

use super::arithmetic::LANES;
use super::{InstructionSet, View};

/// Columns of a panel.
pub(super) const WIDTH: usize = LANES;
/// Added to a number below 2²², it leaves the nearest whole number, of two the even one, in the low bits: 1.5 · 2²³.
const ROUND: f32 = 12_582_912.0;
/// The greatest whole number, with room for an error of rounding.
const GREATEST: f32 = 32_766.0;
/// What is smaller counts as 0: its square would have no precision.
const LEAST: f32 = 1e-18;

/// The greatest norm of a vector of `k` numbers before it is rounded, which adds at most `√k / 2`. The square root of 2³¹
/// is 46,340.9; the last term is for what a sum of `k` squares in `f32` may lack.
fn greatest_norm(k: usize) -> f32 {
    let k = k as f32;
    (46_338.0 - 0.5 * k.sqrt() - 0.002 * k).max(0.0)
}

/// The factor that makes numbers whole, and the scale that undoes it, for `k` numbers of which the greatest and the sum of
/// squares are known. What is not finite makes the scale no number, and all products with it.
fn factor_and_scale(k: usize, greatest: f32, squares: f32) -> (f32, f32) {
    if !squares.is_finite() {
        (0.0, f32::NAN)
    } else if greatest < LEAST {
        (0.0, 0.0)
    } else {
        let factor = (greatest_norm(k) / squares.sqrt()).min(GREATEST / greatest);
        (factor, 1.0 / factor)
    }
}

#[inline(always)]
fn whole(x: f32, factor: f32) -> u32 {
    (x * factor + ROUND).to_bits()
}

#[inline(always)]
fn pair(first: u32, second: u32) -> u32 {
    (first & 0xffff) | (second << 16)
}

#[inline(always)]
fn greater(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// Lanes taken together by halves.
#[inline(always)]
fn fold(mut lanes: [f32; LANES], f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        let (low, high) = lanes.split_at_mut(half);
        low.iter_mut().zip(high).for_each(|(a, b)| *a = f(*a, *b));
        half /= 2;
    }
    lanes[0]
}

dispatch! {
    /// The greatest absolute value and the sum of squares.
    #[expect(dead_code, reason = "its callers say on which instructions")]
    fn measure(x: &[f32]) -> (f32, f32) {
        let (mut greatest, mut squares) = ([0f32; LANES], [0f32; LANES]);
        for piece in x.chunks(LANES) {
            for ((max, sum), x) in greatest.iter_mut().zip(&mut squares).zip(piece) {
                *max = greater(*max, x.abs());
                *sum += x * x;
            }
        }
        (fold(greatest, greater), fold(squares, |a, b| a + b))
    }
}

dispatch! {
    /// Pairs along a row of an even length.
    #[expect(dead_code, reason = "its callers say on which instructions")]
    fn round_row(x: &[f32], factor: f32, to: &mut [u32]) {
        for (to, x) in to.iter_mut().zip(x.as_chunks::<2>().0) {
            *to = pair(whole(x[0], factor), whole(x[1], factor));
        }
    }
}

dispatch! {
    /// Adds the rows of a matrix to the greatest absolute values and the sums of squares of its columns.
    #[expect(dead_code, reason = "its callers say on which instructions")]
    fn measure_columns(x: &[f32], view: View, rows: usize, greatest: &mut [f32], squares: &mut [f32]) {
        for row in 0..rows {
            let x = &x[view.at + row * view.row..][..greatest.len()];
            for ((x, max), sum) in x.iter().zip(greatest.iter_mut()).zip(squares.iter_mut()) {
                *max = greater(*max, x.abs());
                *sum += x * x;
            }
        }
    }
}

dispatch! {
    /// A panel of a matrix whose rows lie `row` apart, pairs of which meet in `to`. Of an odd number of rows the last one
    /// meets zeros.
    #[expect(dead_code, reason = "its callers say on which instructions")]
    fn round_columns(x: &[f32], row: usize, rows: usize, factors: &[f32; WIDTH], to: &mut [u32]) {
        for (i, to) in to.as_chunks_mut::<WIDTH>().0.iter_mut().enumerate().take(rows.div_ceil(2)) {
            let Some(upper) = x[2 * i * row..].first_chunk::<WIDTH>() else { return };
            let lower = if 2 * i + 1 < rows { x[(2 * i + 1) * row..].first_chunk() } else { Some(&[0.0; WIDTH]) };
            let Some(lower) = lower else { return };
            for (c, to) in to.iter_mut().enumerate() {
                *to = pair(whole(upper[c], factors[c]), whole(lower[c], factors[c]));
            }
        }
    }
}

/// The left matrix of a product, by rows, each with a scale of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Int16Rows {
    /// Pairs of a row.
    pub(super) pairs: usize,
    pub(super) data: Vec<u32>,
    pub(super) scales: Vec<f32>,
}

impl Int16Rows {
    /// Rounds the rows of `x` `[N, k]`; `k` is even.
    pub(super) fn round(&mut self, x: &[f32], k: usize) {
        self.round_on(InstructionSet::chosen(), x, k);
    }

    pub(super) fn round_on(&mut self, set: InstructionSet, x: &[f32], k: usize) {
        assert!(k.is_multiple_of(2), "rows of {k} numbers don't make whole pairs");
        self.pairs = k / 2;
        self.data.resize(x.len() / 2, 0);
        self.scales.clear();
        for (x, to) in x.chunks_exact(k.max(1)).zip(self.data.chunks_exact_mut(self.pairs.max(1))) {
            self.scales.push(round_whole_row(set, x, to));
        }
    }
}

/// 16 lines of pairs, one behind the other, become columns.
fn turn(lines: &[u32], pairs: usize, panel: &mut [u32]) {
    const BLOCK: usize = 8;
    for first in (0..pairs).step_by(BLOCK) {
        let count = BLOCK.min(pairs - first);
        for (column, line) in lines.chunks_exact(pairs).enumerate() {
            for (i, x) in line[first..first + count].iter().enumerate() {
                panel[(first + i) * WIDTH + column] = *x;
            }
        }
    }
}

/// Rounds a row and returns its scale.
fn round_whole_row(set: InstructionSet, x: &[f32], to: &mut [u32]) -> f32 {
    let (greatest, squares) = measure::on(set, x);
    let (factor, scale) = factor_and_scale(x.len(), greatest, squares);
    round_row::on(set, x, factor, to);
    scale
}

/// The right matrix of a product: an odd number of rows gets another of zeros, the columns are a multiple of 16, each with a
/// scale of its own. It is cut into panels of 16 columns, in which the pairs of two rows' numbers follow each other, row pair
/// after row pair.
#[derive(Clone, Debug, Default)]
pub struct Int16Panels {
    /// Pairs of rows.
    pub(super) pairs: usize,
    pub(super) columns: usize,
    data: Vec<u32>,
    pub(super) scales: Vec<f32>,
}

impl Int16Panels {
    /// Whether a matrix with so many columns can be cut.
    pub fn fit(columns: usize) -> bool {
        columns.is_multiple_of(WIDTH)
    }

    fn shape(&mut self, rows: usize, columns: usize) {
        assert!(Self::fit(columns), "{columns} columns don't make whole panels");
        (self.pairs, self.columns) = (rows.div_ceil(2), columns);
        let numbers = self.pairs.checked_mul(columns);
        assert!(numbers.is_some(), "{rows} rows of {columns} columns are too many");
        self.data.resize(numbers.unwrap_or(0), 0);
        self.scales.clear();
    }

    /// The matrix that is made of `parts` one below the other, `[rows, columns]` each; all but the last have an even
    /// number of rows.
    pub fn stack(&mut self, parts: &[(&[f32], View, usize)], columns: usize) {
        self.stack_on(InstructionSet::chosen(), parts, columns);
    }

    pub(super) fn stack_on(&mut self, set: InstructionSet, parts: &[(&[f32], View, usize)], columns: usize) {
        let rows = parts.iter().map(|(_, _, rows)| rows).sum();
        self.shape(rows, columns);
        let (mut greatest, mut squares) = (vec![0f32; columns], vec![0f32; columns]);
        for (x, view, rows) in parts {
            assert!(view.col == 1 && view.fits(*rows, columns, x.len()), "a matrix reaches beyond its slice");
            measure_columns::on(set, x, *view, *rows, &mut greatest, &mut squares);
        }
        let both = greatest.iter().zip(&squares).map(|(greatest, squares)| factor_and_scale(rows, *greatest, *squares));
        let (factors, scales): (Vec<f32>, Vec<f32>) = both.unzip();
        self.scales = scales;
        let panels = self.data.chunks_exact_mut((self.pairs * WIDTH).max(1)).zip(factors.as_chunks::<WIDTH>().0);
        for (number, (panel, factors)) in panels.enumerate() {
            let mut first = 0;
            for (x, view, rows) in parts.iter().filter(|(_, _, rows)| *rows > 0) {
                round_columns::on(
                    set,
                    &x[view.at + number * WIDTH..],
                    view.row,
                    *rows,
                    factors,
                    &mut panel[first * WIDTH..],
                );
                first += rows / 2;
            }
        }
    }

    /// The transposed matrix of `parts` one below the other, `[columns of this, rows of this]` each; an even number of rows.
    pub fn stack_transposed(&mut self, parts: &[&[f32]], rows: usize) {
        self.stack_transposed_on(InstructionSet::chosen(), parts, rows);
    }

    pub(super) fn stack_transposed_on(&mut self, set: InstructionSet, parts: &[&[f32]], rows: usize) {
        assert!(rows.is_multiple_of(2), "{rows} rows don't make whole pairs");
        let columns = parts.iter().map(|part| part.len() / rows.max(1)).sum();
        self.shape(rows, columns);
        let pairs = self.pairs;
        let (mut panels, mut lines) = (self.data.chunks_exact_mut((pairs * WIDTH).max(1)), vec![0; pairs * WIDTH]);
        for x in parts.iter().flat_map(|part| part.chunks_exact((rows * WIDTH).max(1))) {
            let Some(panel) = panels.next() else { return };
            for (x, line) in x.chunks_exact(rows).zip(lines.chunks_exact_mut(pairs)) {
                self.scales.push(round_whole_row(set, x, line));
            }
            turn(&lines, pairs, panel);
        }
    }

    pub(super) fn panel(&self, number: usize) -> &[u32] {
        &self.data[number * self.pairs * WIDTH..(number + 1) * self.pairs * WIDTH]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{instruction_sets, random};
    use super::*;
    use crate::nn::Rng;
    use proptest::prelude::*;

    /// The two whole numbers of each pair.
    fn halves(pairs: &[u32]) -> Vec<i64> {
        pairs.iter().flat_map(|pair| [i64::from(*pair as i16), i64::from((pair >> 16) as i16)]).collect()
    }

    fn rounded(x: &[f32]) -> (Vec<i64>, f32) {
        let mut rows = Int16Rows::default();
        rows.round(x, x.len());
        (halves(&rows.data), rows.scales[0])
    }

    proptest! {
        #[test]
        fn a_vector_is_its_whole_numbers_times_their_scale(
            k in 1usize..600, exponent in -15i32..15, outlier in 1f32..1e4, seed: u64,
        ) {
            let mut x = random(&mut Rng::new(seed, "vector"), 2 * k);
            x[k] *= outlier;
            x.iter_mut().for_each(|x| *x *= 10f32.powi(exponent));
            let (whole, scale) = rounded(&x);
            for (whole, x) in whole.iter().zip(&x) {
                let off = (*whole as f32 * scale - x).abs();
                prop_assert!(off <= 0.501 * scale, "{whole} · {scale} for {x}");
            }
            let squares: i64 = whole.iter().map(|x| x * x).sum();
            prop_assert!(squares < 1 << 31, "a product with itself fits 32 bits");
            // And the room is used, by the norm or by the greatest.
            let greatest = whole.iter().map(|x| x.abs()).max().unwrap_or(0);
            prop_assert!(squares as f64 > 0.98 * 2f64.powi(31) || greatest >= 32_765, "{squares} {greatest}");
        }
    }

    #[test]
    fn the_greatest_products_fit_32_bits() {
        for k in [2, 384, 3072, 100_000] {
            // Equal numbers, all of which are rounded up.
            let unit = greatest_norm(k) / (k as f32).sqrt();
            for x in [1.0, (unit.floor() + 0.501) / unit] {
                let (whole, _) = rounded(&vec![x; k]);
                assert!(whole.iter().map(|x| x * x).sum::<i64>() < 1 << 31, "{k} {x}");
            }
        }
    }

    #[test]
    fn nothing_and_what_is_no_number() {
        assert_eq!(rounded(&[0.0; 4]), (vec![0; 4], 0.0));
        assert_eq!(rounded(&[1e-30, -1e-30]), (vec![0; 2], 0.0));
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30] {
            assert!(rounded(&[1.0, odd]).1.is_nan(), "{odd}");
            let mut panels = Int16Panels::default();
            let x: Vec<f32> = (0..2 * WIDTH).map(|i| if i == 3 { odd } else { 1.0 }).collect();
            panels.stack(&[(&x, View::rows(WIDTH), 2)], WIDTH);
            assert!((0..WIDTH).all(|c| panels.scales[c].is_nan() == (c == 3)), "{odd}");
        }
    }

    #[test]
    fn panels_are_the_same_on_all_instructions_and_either_way() {
        let (mut rng, sets) = (Rng::new(2, "panels"), instruction_sets());
        for (rows, panels) in [(1usize, 1), (2, 1), (5, 2), (34, 3), (0, 2)] {
            let columns = panels * WIDTH;
            let even = rows.next_multiple_of(2);
            let (x, lines) = (random(&mut rng, rows * columns), random(&mut rng, even * columns));
            let turned: Vec<f32> = (0..even * columns).map(|i| lines[i % columns * even + i / columns]).collect();
            let cut = |set| {
                let (mut stacked, mut transposed, mut again) =
                    (Int16Panels::default(), Int16Panels::default(), Int16Panels::default());
                stacked.stack_on(set, &[(&x, View::rows(columns), rows)], columns);
                transposed.stack_transposed_on(set, &[&lines], even);
                again.stack_on(set, &[(&turned, View::rows(columns), even)], columns);
                let mut left = Int16Rows::default();
                left.round_on(set, &lines, even);
                assert!(even == 0 || left.scales == transposed.scales);
                // Sums of squares are made in another order there.
                let near = transposed.scales.iter().zip(&again.scales).all(|(a, b)| (a - b).abs() <= 1e-5 * a);
                assert!(even == 0 || near);
                (stacked.data, stacked.scales, transposed.data, left.data)
            };
            let plain = cut(InstructionSet::Plain);
            for set in &sets {
                assert!(cut(*set) == plain, "{rows} {panels} {set:?}");
            }
        }
    }
}
