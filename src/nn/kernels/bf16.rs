//! Matrix products of numbers with eight bits of precision (bfloat16), summed up in `f32`: twice as fast as those of
//! `f32` where the processor has good instructions for them, four times where it has [`super::tiles`], at half the memory.

use super::panels::{Left, PANEL, Panels};
use super::{InstructionSet, View, WriteMode};
#[cfg(target_arch = "x86_64")]
use super::{dpbf16, tiles};
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

/// Rows of the left matrix that stay in the cache while all panels pass.
const ROWS: usize = 96;

/// Whether products of this kind are faster here than those of `f32`. Elsewhere they give the same up to rounding.
///
/// With one instruction for sixteen pairs (`vdpbf16ps`) they are twice as fast on processors by AMD, and a third slower on
/// those by Intel, where only tiles make them fast.
pub fn has_bf16() -> bool {
    match InstructionSet::chosen() {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Amx(_) => true,
        #[cfg(target_arch = "x86_64")]
        set @ InstructionSet::Avx512(_) => set.bf16().is_some() && !is_by_intel(),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2(_) => false,
        InstructionSet::Plain => false,
    }
}

#[cfg(target_arch = "x86_64")]
fn is_by_intel() -> bool {
    static INTEL: OnceLock<bool> = OnceLock::new();
    *INTEL.get_or_init(|| {
        let maker = std::arch::x86_64::__cpuid(0);
        [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
    })
}

/// `dst = a · b` for `a` by rows; a number of the result depends on its row and column alone. Where `b` has no rows, there
/// is no telling how many `a` has, and nothing is done.
pub fn bf16_matmul(dst: (&mut [f32], View), a: &[u32], b: &Panels, write: WriteMode) {
    bf16_matmul_on(InstructionSet::chosen(), dst, a, b, write);
}

fn bf16_matmul_on(set: InstructionSet, dst: (&mut [f32], View), a: &[u32], b: &Panels, write: WriteMode) {
    let rows = a.len().checked_div(b.pairs).unwrap_or(0);
    for first in (0..rows).step_by(ROWS) {
        let left = Left { data: a, at: first * b.pairs, row: b.pairs, step: 1 };
        let view = dst.1.starting_at_row(first);
        for panel in 0..b.columns / PANEL {
            multiply(set, ROWS.min(rows - first), left, b, panel, (&mut *dst.0, view), write);
        }
    }
}

/// `dst = aᵀ · b` for the columns of `a` from `first` on, as many as `dst` has rows; a multiple of 8, within one panel or
/// several.
pub fn bf16_matmul_transposed(
    dst: (&mut [f32], View),
    rows: usize,
    a: &Panels,
    first: usize,
    b: &Panels,
    write: WriteMode,
) {
    bf16_matmul_transposed_on(InstructionSet::chosen(), dst, rows, (a, first), b, write);
}

fn bf16_matmul_transposed_on(
    set: InstructionSet,
    dst: (&mut [f32], View),
    rows: usize,
    (a, first): (&Panels, usize),
    b: &Panels,
    write: WriteMode,
) {
    const STEP: usize = 8;
    assert!(a.pairs == b.pairs && first.is_multiple_of(STEP) && rows.is_multiple_of(STEP) && first + rows <= a.columns);
    #[cfg(target_arch = "x86_64")]
    if let InstructionSet::Amx(has) = set {
        let (mut lines, mut row) = (Vec::new(), 0);
        while row < rows {
            let (number, column) = ((first + row) / PANEL, (first + row) % PANEL);
            let count = (PANEL - column).min(rows - row);
            tiles::rows_of(has, a.panel(number), column, count, &mut lines);
            let left = Left { data: &lines, at: 0, row: a.pairs, step: 1 };
            let view = dst.1.starting_at_row(row);
            for panel in 0..b.columns / PANEL {
                multiply(set, count, left, b, panel, (&mut *dst.0, view), write);
            }
            row += count;
        }
        return;
    }
    for panel in 0..b.columns / PANEL {
        for row in (0..rows).step_by(STEP) {
            let (number, column) = ((first + row) / PANEL, (first + row) % PANEL);
            let left = Left { data: a.panel(number), at: column, row: 1, step: PANEL };
            let view = dst.1.starting_at_row(row);
            multiply(set, STEP, left, b, panel, (&mut *dst.0, view), write);
        }
    }
}

/// Some rows of one panel of a product.
fn multiply(
    set: InstructionSet,
    rows: usize,
    a: Left<'_>,
    b: &Panels,
    number: usize,
    dst: (&mut [f32], View),
    write: WriteMode,
) {
    let (panel, column) = (b.panel(number), number * PANEL);
    let (to, view) = (dst.0, View { at: dst.1.at.saturating_add(column), ..dst.1 });
    if rows == 0 || b.pairs == 0 {
        return;
    }
    let left = View { at: a.at, row: a.row, col: a.step };
    let fits = left.fits(rows, b.pairs, a.data.len()) && view.col == 1 && view.fits(rows, PANEL, to.len());
    assert!(fits, "a matrix reaches beyond its slice");
    #[cfg(target_arch = "x86_64")]
    if let (InstructionSet::Amx(has), 1) = (set, a.step) {
        let (a, dst) = ((a.data[a.at..].as_ptr(), a.row), (to[view.at..].as_mut_ptr(), view.row));
        // SAFETY: `fits` says that `rows` rows of the panel's number of pairs lie in `a`, whose pairs lie side by side (`step`
        // is 1), and 32 numbers in each of as many rows in `to`.
        return unsafe { tiles::multiply(has, rows, a, panel, dst, write) };
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(has) = set.bf16() {
        // SAFETY: `fits` says that all that it reads of `a` and writes to `to` is in the slices; a panel holds 32 pairs for
        // each step.
        return unsafe { dpbf16::multiply(has, rows, a, panel, (to, view), write) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let InstructionSet::Plain = set;
    multiply_plainly(rows, a, panel, (to, view), write);
}

fn multiply_plainly(rows: usize, a: Left<'_>, panel: &[u32], (to, view): (&mut [f32], View), write: WriteMode) {
    let number = |pair: u32, which: u32| f32::from_bits((pair >> (16 * which)) << 16);
    for row in 0..rows {
        let line = &mut to[view.at + row * view.row..][..PANEL];
        let mut sums = [0f32; PANEL];
        if write == WriteMode::Add {
            sums.copy_from_slice(line);
        }
        for (i, b) in panel.chunks_exact(PANEL).enumerate() {
            let a = a.data[a.at + row * a.row + i * a.step];
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += number(a, 0) * number(*b, 0) + number(a, 1) * number(*b, 1);
            }
        }
        line.copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use super::super::panels::{round, to_bf16};
    use super::super::testing::{instruction_sets, random};
    use super::*;
    use crate::nn::Rng;
    use crate::nn::kernels::matmul;
    use proptest::prelude::*;

    #[test]
    fn products_of_any_size_stay_in_their_slices_on_all_instructions() {
        let (mut rng, sets) = (Rng::new(1, "sizes"), instruction_sets());
        for (rows, pairs, panels) in [0, 1, 3, 4, 5, 8, 12, 13, 31, 97]
            .into_iter()
            .flat_map(|r| [0, 1, 2, 15, 16, 17].map(|p| (r, p, 1 + r % 2)))
        {
            let (k, n) = (2 * pairs, PANEL * panels);
            let (a, b, before) = (random(&mut rng, rows * k), random(&mut rng, n * k), random(&mut rng, rows * n));
            let (mut halves, mut right) = (Vec::new(), Panels::default());
            to_bf16(&a, &mut halves);
            right.stack_transposed(&[&b], k);
            for write in [WriteMode::Overwrite, WriteMode::Add] {
                let mut want = before.clone();
                let transposed = View::rows(k).transposed();
                matmul(
                    [rows, n, k],
                    (&mut want, View::rows(n)),
                    (&rounded(&a), View::rows(k)),
                    (&rounded(&b), transposed),
                    write,
                );
                for set in &sets {
                    let mut got = before.clone();
                    let left = Left { data: &halves, at: 0, row: pairs, step: 1 };
                    for number in 0..right.columns / PANEL {
                        multiply(*set, rows, left, &right, number, (&mut got, View::rows(n)), write);
                    }
                    let close = got.iter().zip(&want).all(|(got, want)| (got - want).abs() < 1e-4);
                    assert!(close || pairs == 0, "{rows} {pairs} {panels} {write:?} {set:?}");
                    assert!(pairs > 0 || got == before);
                }
            }
        }
    }

    #[test]
    fn panels_of_nothing_and_sizes_that_don_t_fit() {
        let mut panels = Panels::default();
        panels.stack(&[], PANEL);
        panels.stack(&[(&[], View::rows(PANEL), 0)], PANEL);
        panels.stack_transposed(&[&[]], 0);
        panels.stack_transposed(&[], 2);
        bf16_matmul((&mut [], View::rows(PANEL)), &[], &panels, WriteMode::Overwrite);
        bf16_matmul_transposed((&mut [], View::rows(PANEL)), 0, &panels, 0, &panels, WriteMode::Add);
        let panics = |work: &dyn Fn()| {
            let work = std::panic::AssertUnwindSafe(work);
            assert!(std::panic::catch_unwind(work).is_err());
        };
        panics(&|| Panels::default().stack(&[(&[0.0; PANEL], View::rows(PANEL), 2)], PANEL));
        panics(&|| Panels::default().stack(&[(&[0.0; PANEL], View { at: usize::MAX, row: PANEL, col: 1 }, 2)], PANEL));
        panics(&|| Panels::default().stack_transposed(&[&[0.0; 3 * PANEL]], 3));
        panics(&|| {
            let mut right = Panels::default();
            right.stack_transposed(&[&[0.0; 2 * PANEL]], 2);
            bf16_matmul((&mut [0.0; PANEL], View::rows(PANEL)), &[0; 2], &right, WriteMode::Overwrite);
        });
        panics(&|| {
            let mut right = Panels::default();
            right.stack_transposed(&[&[0.0; 2 * PANEL]], 2);
            bf16_matmul(
                (&mut [0.0; PANEL], View { at: 0, row: usize::MAX, col: 1 }),
                &[0; 2],
                &right,
                WriteMode::Overwrite,
            );
        });
    }

    /// What eight bits leave of a number.
    fn rounded(x: &[f32]) -> Vec<f32> {
        x.iter().map(|x| f32::from_bits(round(*x) << 16)).collect()
    }

    fn close(got: &[f32], want: &[f32]) -> Result<(), TestCaseError> {
        for (got, want) in got.iter().zip(want) {
            prop_assert!((got - want).abs() < 1e-4, "{got} {want}");
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn products_are_those_of_rounded_numbers(
            rows in 1usize..40, pairs in 1usize..30, panels in 1usize..4, sum: bool, seed: u64,
        ) {
            let (mut rng, k, n) = (Rng::new(seed, "bf16"), 2 * pairs, PANEL * panels);
            let (a, b, before) = (random(&mut rng, rows * k), random(&mut rng, n * k), random(&mut rng, rows * n));
            let write = if sum { WriteMode::Add } else { WriteMode::Overwrite };
            let mut want = before.clone();
            let transposed = View::rows(k).transposed();
            matmul([rows, n, k], (&mut want, View::rows(n)), (&rounded(&a), View::rows(k)), (&rounded(&b), transposed), write);

            let (mut halves, mut panels) = (Vec::new(), Panels::default());
            to_bf16(&a, &mut halves);
            // In two parts, where there is more than one panel.
            let (first, second) = b.split_at(PANEL * k);
            for set in InstructionSet::all() {
                let mut got = before.clone();
                panels.stack_transposed_on(set, &[first, second], k);
                bf16_matmul_on(set, (&mut got, View::rows(n)), &halves, &panels, write);
                close(&got, &want)?;
            }
        }

        #[test]
        fn products_over_rows_are_those_of_rounded_numbers(
            rows in 1usize..40, left in 1usize..3, right in 1usize..3, first in 0usize..3, sum: bool, seed: u64,
        ) {
            let (mut rng, m, n) = (Rng::new(seed, "bf16"), PANEL * left, PANEL * right);
            let (a, b, before) = (random(&mut rng, rows * m), random(&mut rng, rows * n), random(&mut rng, m * n));
            let write = if sum { WriteMode::Add } else { WriteMode::Overwrite };
            let mut want = before.clone();
            let transposed = View::rows(m).transposed();
            matmul([m, n, rows], (&mut want, View::rows(n)), (&rounded(&a), transposed), (&rounded(&b), View::rows(n)), write);

            let (mut a_panels, mut b_panels) = (Panels::default(), Panels::default());
            let (even, first) = (rows / 2 * 2, 8 * first);
            for set in InstructionSet::all() {
                let mut got = before.clone();
                a_panels.stack_on(set, &[(&a, View::rows(m), rows)], m);
                b_panels.stack_on(set, &[(&b, View::rows(n), even), (&b[even * n..], View::rows(n), rows - even)], n);
                let to = (&mut got[first * n..], View::rows(n));
                bf16_matmul_transposed_on(set, to, m - first, (&a_panels, first), &b_panels, write);
                close(&got[first * n..], &want[first * n..])?;
            }
        }
    }
}
