//! Matrix products of whole numbers of 16 bits with a scale for each row and column: twice as fast as those of `f32` where
//! the processor has AVX2 and nothing newer. Their sums are exact, so that all processors give the same bits.

use super::int16_panels::{Int16Panels, Int16Rows, WIDTH};
use super::panels::Left;
#[cfg(target_arch = "x86_64")]
use super::pmaddwd;
use super::{InstructionSet, View, WriteMode};

/// Rows of the left matrix that stay in the cache while all panels pass.
const ROWS: usize = 96;

/// Whether products of this kind are faster here than those of `f32` and of bfloat16. Elsewhere they give the same.
pub fn has_int16() -> bool {
    match InstructionSet::chosen() {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2(_) => true,
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512(_) | InstructionSet::Amx(_) => false,
        InstructionSet::Plain => false,
    }
}

/// `dst = a · b`; a number of the result depends on its row and column alone.
pub(super) fn int16_matmul(dst: (&mut [f32], View), a: &Int16Rows, b: &Int16Panels, write: WriteMode) {
    int16_matmul_on(InstructionSet::chosen(), dst, a, b, write);
}

fn int16_matmul_on(set: InstructionSet, dst: (&mut [f32], View), a: &Int16Rows, b: &Int16Panels, write: WriteMode) {
    assert!(a.pairs == b.pairs, "rows of {} pairs and columns of {}", a.pairs, b.pairs);
    for (block, scales) in a.scales.chunks(ROWS).enumerate() {
        let left = Left { data: &a.data, at: block * ROWS * a.pairs, row: a.pairs, step: 1 };
        let view = dst.1.starting_at_row(block * ROWS);
        for panel in 0..b.columns / WIDTH {
            multiply(set, (left, scales), b, panel, (&mut *dst.0, view), write);
        }
    }
}

/// `dst = aᵀ · b` for the columns of `a` from `first` on, as many as `dst` has rows; a multiple of 16, as `first` is.
pub(super) fn int16_matmul_transposed(
    dst: (&mut [f32], View),
    rows: usize,
    a: &Int16Panels,
    first: usize,
    b: &Int16Panels,
    write: WriteMode,
) {
    int16_matmul_transposed_on(InstructionSet::chosen(), dst, rows, (a, first), b, write);
}

fn int16_matmul_transposed_on(
    set: InstructionSet,
    dst: (&mut [f32], View),
    rows: usize,
    (a, first): (&Int16Panels, usize),
    b: &Int16Panels,
    write: WriteMode,
) {
    assert!(
        a.pairs == b.pairs && first.is_multiple_of(WIDTH) && rows.is_multiple_of(WIDTH) && first + rows <= a.columns
    );
    for panel in 0..b.columns / WIDTH {
        for row in (0..rows).step_by(WIDTH) {
            let left = Left { data: a.panel((first + row) / WIDTH), at: 0, row: 1, step: WIDTH };
            let scales = &a.scales[first + row..][..WIDTH];
            let view = dst.1.starting_at_row(row);
            multiply(set, (left, scales), b, panel, (&mut *dst.0, view), write);
        }
    }
}

/// Some rows of one panel of a product, as many as there are scales.
fn multiply(
    set: InstructionSet,
    (a, scales): (Left<'_>, &[f32]),
    b: &Int16Panels,
    number: usize,
    dst: (&mut [f32], View),
    write: WriteMode,
) {
    let (panel, column) = (b.panel(number), number * WIDTH);
    let (to, view) = (dst.0, View { at: dst.1.at.saturating_add(column), ..dst.1 });
    let Some(columns) = b.scales[column..].first_chunk::<WIDTH>() else { return };
    if scales.is_empty() {
        return;
    }
    let left = View { at: a.at, row: a.row, col: a.step };
    let fits =
        left.fits(scales.len(), b.pairs, a.data.len()) && view.col == 1 && view.fits(scales.len(), WIDTH, to.len());
    assert!(fits, "a matrix reaches beyond its slice");
    #[cfg(target_arch = "x86_64")]
    if let Some(has) = set.avx2() {
        // SAFETY: `fits` says that all that it reads of `a` and writes to `to` is in the slices; a panel holds 16 pairs for
        // each step.
        return unsafe { pmaddwd::multiply(has, (a, scales), (panel, columns), (to, view), write) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let InstructionSet::Plain = set;
    multiply_plainly((a, scales), (panel, columns), (to, view), write);
}

fn multiply_plainly(
    (a, scales): (Left<'_>, &[f32]),
    (panel, columns): (&[u32], &[f32; WIDTH]),
    (to, view): (&mut [f32], View),
    write: WriteMode,
) {
    let product = |a: u32, b: u32| {
        let half = |pair: u32, which: u32| i32::from((pair >> (16 * which)) as i16);
        half(a, 0) * half(b, 0) + half(a, 1) * half(b, 1)
    };
    for (row, scale) in scales.iter().enumerate() {
        let mut sums = [0i32; WIDTH];
        for (i, b) in panel.as_chunks::<WIDTH>().0.iter().enumerate() {
            let a = a.data[a.at + row * a.row + i * a.step];
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += product(a, *b));
        }
        let line = &mut to[view.at + row * view.row..][..WIDTH];
        for ((to, sum), column) in line.iter_mut().zip(sums).zip(columns) {
            let product = sum as f32 * (scale * column);
            *to = if write == WriteMode::Add { *to + product } else { product };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{defined_product, instruction_sets, random};
    use super::*;
    use crate::nn::Rng;
    use proptest::prelude::*;

    /// Half a unit for each number of one side, times what it meets, and the same of the other.
    fn bound(scales: [f32; 2], a: impl Iterator<Item = f32>, b: impl Iterator<Item = f32>) -> f32 {
        let sum = |numbers: &mut dyn Iterator<Item = f32>| {
            numbers.map(f32::abs).fold((0.0, 0.0), |(n, s), x| (n + 1.0, s + x))
        };
        let ((k, a), (_, b)) = (sum(&mut { a }), sum(&mut { b }));
        0.501 * (scales[0] * b + scales[1] * a) + 0.26 * k * scales[0] * scales[1] + 1e-6 * (1.0 + a * b)
    }

    #[test]
    fn products_of_any_size_are_near_and_the_same_on_all_instructions() {
        let (mut rng, sets) = (Rng::new(1, "sizes"), instruction_sets());
        for (rows, pairs, panels) in
            [0, 1, 2, 3, 4, 5, 7, 8, 97, 193].into_iter().flat_map(|r| [1, 2, 3, 16, 61].map(|p| (r, p, 1 + r % 3)))
        {
            // Rows further apart than they are long, and slices that end with the last element.
            let (k, n, gap) = (2 * pairs, WIDTH * panels, rng.below(3));
            let view = View::rows(n + gap);
            let end = if rows == 0 { 0 } else { (rows - 1) * view.row + n };
            let (a, b, before) = (random(&mut rng, rows * k), random(&mut rng, n * k), random(&mut rng, end));
            for write in [WriteMode::Overwrite, WriteMode::Add] {
                let mut want = before.clone();
                let right = (b.as_slice(), View::rows(k).transposed());
                defined_product([rows, n, k], (&mut want, view), (&a, View::rows(k)), right, write);
                let product = |set: InstructionSet| {
                    let (mut left, mut right) = (Int16Rows::default(), Int16Panels::default());
                    left.round_on(set, &a, k);
                    right.stack_transposed_on(set, &[&b], k);
                    let mut got = before.clone();
                    int16_matmul_on(set, (&mut got, view), &left, &right, write);
                    (got, left, right)
                };
                let (got, left, right) = product(InstructionSet::Plain);
                for (row, a) in a.chunks_exact(k).enumerate() {
                    for (column, b) in b.chunks_exact(k).enumerate() {
                        let at = row * view.row + column;
                        let scales = [left.scales[row], right.scales[column]];
                        let bound = bound(scales, a.iter().copied(), b.iter().copied());
                        assert!((got[at] - want[at]).abs() <= bound, "{rows} {pairs} {panels} {row} {column} {bound}");
                    }
                }
                for (at, (got, before)) in got.iter().zip(&before).enumerate() {
                    assert!(at % view.row < n || got == before, "beside the product: {rows} {pairs} {at}");
                }
                for set in &sets {
                    assert!(product(*set).0 == got, "{rows} {pairs} {panels} {write:?} {set:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn products_over_rows_are_near_and_the_same_on_all_instructions(
            rows in 1usize..60, left in 1usize..4, right in 1usize..3, first in 0usize..3, sum: bool, seed: u64,
        ) {
            let (mut rng, m, n) = (Rng::new(seed, "int16"), WIDTH * left, WIDTH * right);
            let first = WIDTH * first.min(left - 1);
            let (a, b, before) = (random(&mut rng, rows * m), random(&mut rng, rows * n), random(&mut rng, (m - first) * n));
            let write = if sum { WriteMode::Add } else { WriteMode::Overwrite };
            let mut want = before.clone();
            let view = View { at: first, ..View::rows(m) }.transposed();
            defined_product([m - first, n, rows], (&mut want, View::rows(n)), (&a, view), (&b, View::rows(n)), write);
            let product = |set: InstructionSet| {
                let (mut a_panels, mut b_panels) = (Int16Panels::default(), Int16Panels::default());
                let even = rows / 2 * 2;
                a_panels.stack_on(set, &[(&a, View::rows(m), rows)], m);
                b_panels.stack_on(set, &[(&b, View::rows(n), even), (&b[even * n..], View::rows(n), rows - even)], n);
                let mut got = before.clone();
                int16_matmul_transposed_on(set, (&mut got, View::rows(n)), m - first, (&a_panels, first), &b_panels, write);
                (got, a_panels, b_panels)
            };
            let (got, a_panels, b_panels) = product(InstructionSet::Plain);
            for (at, (got, want)) in got.iter().zip(&want).enumerate() {
                let (row, column) = (first + at / n, at % n);
                let scales = [a_panels.scales[row], b_panels.scales[column]];
                let of = |x: &[f32], from: usize, width: usize| x.iter().copied().skip(from).step_by(width).collect::<Vec<_>>();
                let bound = bound(scales, of(&a, row, m).into_iter(), of(&b, column, n).into_iter());
                prop_assert!((got - want).abs() <= bound, "{} {} {} {}", row, column, got, want);
            }
            for set in InstructionSet::all() {
                prop_assert!(product(set).0 == got, "{:?}", set);
            }
        }

        #[test]
        fn a_row_of_a_product_does_not_depend_on_the_others(rows in 1usize..120, pairs in 1usize..40, seed: u64) {
            let (mut rng, k) = (Rng::new(seed, "rows"), 2 * pairs);
            let (a, b) = (random(&mut rng, rows * k), random(&mut rng, WIDTH * k));
            let (mut left, mut right) = (Int16Rows::default(), Int16Panels::default());
            right.stack_transposed(&[&b], k);
            let mut product = |a: &[f32]| {
                let mut y = vec![0f32; a.len() / k * WIDTH];
                left.round(a, k);
                int16_matmul((&mut y, View::rows(WIDTH)), &left, &right, WriteMode::Overwrite);
                y
            };
            let whole = product(&a);
            for (row, whole) in a.chunks_exact(k).zip(whole.chunks_exact(WIDTH)) {
                prop_assert!(product(row) == whole);
            }
        }
    }

    #[test]
    fn the_greatest_sums_fit() {
        // Equal numbers are all rounded the same way, by up to half of a unit of 835.
        let k = 3072;
        for signs in [[1.0, 1.0], [-1.0, 1.0]] {
            let (mut left, mut right) = (Int16Rows::default(), Int16Panels::default());
            left.round(&vec![signs[0]; k], k);
            right.stack_transposed(&[&vec![signs[1]; WIDTH * k]], k);
            for set in instruction_sets() {
                let mut y = [0f32; WIDTH];
                int16_matmul_on(set, (&mut y, View::rows(WIDTH)), &left, &right, WriteMode::Overwrite);
                let want = signs[0] * signs[1] * k as f32;
                assert!(y.iter().all(|y| (y - want).abs() < 0.002 * k as f32), "{set:?}: {y:?}");
            }
        }
    }

    #[test]
    fn what_is_no_number_stays_none_and_nothing_stays_0() {
        let (mut left, mut right) = (Int16Rows::default(), Int16Panels::default());
        right.stack_transposed(&[&[1.0; 2 * WIDTH]], 2);
        left.round(&[1.0, f32::NAN, 0.0, 0.0, 1.0, 1.0], 2);
        for set in instruction_sets() {
            let mut y = [9f32; 3 * WIDTH];
            int16_matmul_on(set, (&mut y, View::rows(WIDTH)), &left, &right, WriteMode::Overwrite);
            let (odd, rest) = y.split_at(WIDTH);
            assert!(odd.iter().all(|y| y.is_nan()), "{set:?}");
            assert!(rest[..WIDTH].iter().all(|y| *y == 0.0) && rest[WIDTH..].iter().all(|y| (y - 2.0).abs() < 1e-3));
        }
    }

    #[test]
    fn panels_of_nothing_and_sizes_that_don_t_fit() {
        let (mut rows, mut panels) = (Int16Rows::default(), Int16Panels::default());
        panels.stack(&[], WIDTH);
        panels.stack(&[(&[], View::rows(WIDTH), 0)], WIDTH);
        rows.round(&[], 0);
        int16_matmul((&mut [], View::rows(WIDTH)), &rows, &panels, WriteMode::Overwrite);
        int16_matmul_transposed((&mut [], View::rows(WIDTH)), 0, &panels, 0, &panels, WriteMode::Add);
        panels.stack_transposed(&[&[]], 0);
        panels.stack_transposed(&[], 2);
        let panics = |work: &dyn Fn()| {
            let work = std::panic::AssertUnwindSafe(work);
            assert!(std::panic::catch_unwind(work).is_err());
        };
        panics(&|| Int16Rows::default().round(&[0.0; 3], 3));
        panics(&|| Int16Panels::default().stack(&[(&[0.0; WIDTH], View::rows(WIDTH), 2)], WIDTH));
        let far = View { at: usize::MAX, row: WIDTH, col: 1 };
        panics(&|| Int16Panels::default().stack(&[(&[0.0; WIDTH], far, 2)], WIDTH));
        panics(&|| Int16Panels::default().stack(&[(&[0.0; 2 * WIDTH + 2], View::rows(WIDTH + 1), 2)], WIDTH + 1));
        panics(&|| Int16Panels::default().stack_transposed(&[&[0.0; 3 * WIDTH]], 3));
        let product = |y: usize, view: View, k: usize| {
            let (mut left, mut right) = (Int16Rows::default(), Int16Panels::default());
            left.round(&[0.0; 4], k);
            right.stack_transposed(&[&[0.0; 2 * WIDTH]], 2);
            int16_matmul((&mut vec![0.0; y], view), &left, &right, WriteMode::Overwrite);
        };
        product(2 * WIDTH, View::rows(WIDTH), 2);
        panics(&|| product(2 * WIDTH - 1, View::rows(WIDTH), 2));
        panics(&|| product(2 * WIDTH, View::rows(WIDTH), 4));
        panics(&|| product(2 * WIDTH, View { at: 0, row: usize::MAX, col: 1 }, 2));
    }
}
