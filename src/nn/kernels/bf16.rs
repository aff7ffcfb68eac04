//! Matrix products of numbers with eight bits of precision (bfloat16), summed up in `f32`: twice as fast as those of
//! `f32` where the processor has good instructions for them, four times where it has [`tiles`], at half the memory.
//!
//! Two numbers that meet in a sum lie side by side in a `u32`, the first in the low half. A matrix lies either by rows,
//! in pairs along them ([`halve`]), or in [`Panels`].

#[cfg(target_arch = "x86_64")]
use super::tiles;
use super::{Onto, View};

/// Columns of a panel: two registers of sums.
pub(super) const PANEL: usize = 32;
/// Rows of the left matrix that stay in the cache while all panels pass.
const ROWS: usize = 96;

/// Whether products of this kind are faster here than those of `f32`. Elsewhere they give the same up to rounding.
///
/// With one instruction for sixteen pairs (`vdpbf16ps`) they are twice as fast on processors by AMD, and a third slower on
/// those by Intel, where only tiles make them fast.
pub fn has_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return tiles::has_tiles() || (x86::has_instructions() && !x86::is_by_intel());
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// The nearest number of eight bits, of two the even one.
#[inline(always)]
fn round(x: f32) -> u32 {
    let bits = x.to_bits();
    // What is no number stays none.
    if x.is_nan() { (bits >> 16) | 0x40 } else { bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16 }
}

#[inline(always)]
fn pair(first: f32, second: f32) -> u32 {
    round(first) | (round(second) << 16)
}

/// Numbers by rows, in pairs along them; the rows have an even length.
pub fn halve(x: &[f32], pairs: &mut Vec<u32>) {
    pairs.resize(x.len() / 2, 0);
    #[cfg(target_arch = "x86_64")]
    if x86::has_instructions() {
        // SAFETY: the processor has what the function is compiled for, as just asked.
        return unsafe { x86::halve(x, pairs) };
    }
    for (pair_of, x) in pairs.iter_mut().zip(x.chunks_exact(2)) {
        *pair_of = pair(x[0], x[1]);
    }
}

/// A matrix with an even number of rows (an odd one gets another of zeros) and a multiple of 32 columns, cut into
/// panels of 32 columns; in a panel the pairs of two rows' numbers follow each other, row pair after row pair.
#[derive(Clone, Debug, Default)]
pub struct Panels {
    /// Pairs of rows.
    pairs: usize,
    columns: usize,
    data: Vec<u32>,
}

impl Panels {
    /// Columns of one.
    pub const WIDTH: usize = PANEL;

    /// Whether a matrix with so many columns can be cut.
    pub fn fit(columns: usize) -> bool {
        columns.is_multiple_of(PANEL)
    }

    fn shape(&mut self, rows: usize, columns: usize) {
        assert!(Self::fit(columns), "{columns} columns don't make whole panels");
        (self.pairs, self.columns) = (rows.div_ceil(2), columns);
        let numbers = self.pairs.checked_mul(columns);
        assert!(numbers.is_some(), "{rows} rows of {columns} columns are too many");
        self.data.resize(numbers.unwrap_or(0), 0);
    }

    /// The matrix that is made of `parts` one below the other, `[rows, columns]` each; all but the last have an even
    /// number of rows.
    pub fn stack(&mut self, parts: &[(&[f32], View, usize)], columns: usize) {
        self.shape(parts.iter().map(|(_, _, rows)| rows).sum(), columns);
        let mut first = 0;
        for (x, view, rows) in parts {
            assert!(view.col == 1 && view.fits(*rows, columns, x.len()), "a matrix reaches beyond its slice");
            for (number, panel) in self.data.chunks_exact_mut((self.pairs * PANEL).max(1)).enumerate() {
                for i in 0..rows.div_ceil(2) {
                    let at = view.at + 2 * i * view.row + number * PANEL;
                    let upper = &x[at..at + PANEL];
                    let lower =
                        if 2 * i + 1 < *rows { &x[at + view.row..at + view.row + PANEL] } else { &[0.0; PANEL] };
                    interleave(upper, lower, &mut panel[(first + i) * PANEL..(first + i + 1) * PANEL]);
                }
            }
            first += rows / 2;
        }
    }

    /// The transposed matrix of `parts` one below the other, `[columns of this, rows of this]` each; an even number of rows.
    pub fn stack_transposed(&mut self, parts: &[&[f32]], rows: usize) {
        assert!(rows.is_multiple_of(2), "{rows} rows don't make whole pairs");
        let columns = parts.iter().map(|part| part.len() / rows.max(1)).sum();
        self.shape(rows, columns);
        let (mut panels, mut halves) = (self.data.chunks_exact_mut((self.pairs * PANEL).max(1)), Vec::new());
        for part in parts {
            for lines in part.chunks_exact((rows * PANEL).max(1)) {
                let Some(panel) = panels.next() else { return };
                halve(lines, &mut halves);
                for (i, to) in panel.chunks_exact_mut(PANEL).enumerate() {
                    for (line, to) in to.iter_mut().enumerate() {
                        *to = halves[line * self.pairs + i];
                    }
                }
            }
        }
    }

    fn panel(&self, number: usize) -> &[u32] {
        &self.data[number * self.pairs * PANEL..(number + 1) * self.pairs * PANEL]
    }
}

fn interleave(upper: &[f32], lower: &[f32], to: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if x86::has_instructions() {
        // SAFETY: the processor has what the function is compiled for, as just asked.
        return unsafe { x86::interleave(upper, lower, to) };
    }
    for ((to, a), b) in to.iter_mut().zip(upper).zip(lower) {
        *to = pair(*a, *b);
    }
}

/// Where the left matrix of a product lies: the pair of row `r` and step `i` is at `at + r · row + i · step`.
#[derive(Clone, Copy)]
struct Left<'a> {
    data: &'a [u32],
    at: usize,
    row: usize,
    step: usize,
}

/// `dst = a · b` for `a` by rows; a number of the result depends on its row and column alone. Where `b` has no rows, there
/// is no telling how many `a` has, and nothing is done.
pub fn half_matmul(dst: (&mut [f32], View), a: &[u32], b: &Panels, onto: Onto) {
    let rows = a.len().checked_div(b.pairs).unwrap_or(0);
    for first in (0..rows).step_by(ROWS) {
        let left = Left { data: a, at: first * b.pairs, row: b.pairs, step: 1 };
        let view = dst.1.starting_at_row(first);
        for panel in 0..b.columns / PANEL {
            multiply(ROWS.min(rows - first), left, b, panel, (&mut *dst.0, view), onto);
        }
    }
}

/// `dst = aᵀ · b` for the columns of `a` from `first` on, as many as `dst` has rows; a multiple of 8, within one panel or
/// several.
pub fn half_matmul_transposed(dst: (&mut [f32], View), rows: usize, a: &Panels, first: usize, b: &Panels, onto: Onto) {
    const STEP: usize = 8;
    assert!(a.pairs == b.pairs && first.is_multiple_of(STEP) && rows.is_multiple_of(STEP) && first + rows <= a.columns);
    #[cfg(target_arch = "x86_64")]
    if tiles::has_tiles() {
        let (mut lines, mut row) = (Vec::new(), 0);
        while row < rows {
            let (number, column) = ((first + row) / PANEL, (first + row) % PANEL);
            let count = (PANEL - column).min(rows - row);
            tiles::rows_of(a.panel(number), column, count, &mut lines);
            let left = Left { data: &lines, at: 0, row: a.pairs, step: 1 };
            let view = dst.1.starting_at_row(row);
            for panel in 0..b.columns / PANEL {
                multiply(count, left, b, panel, (&mut *dst.0, view), onto);
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
            multiply(STEP, left, b, panel, (&mut *dst.0, view), onto);
        }
    }
}

/// What a product is computed with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// See [`tiles`]; for left matrices by rows.
    Tiles,
    /// AVX-512 with `vdpbf16ps`.
    Instructions,
    /// Instructions that every processor has.
    Common,
}

impl Way {
    fn best(step: usize) -> Self {
        [Self::Tiles, Self::Instructions].into_iter().find(|way| way.is_there(step)).unwrap_or(Self::Common)
    }

    /// Whether this processor can, for a left matrix with such a `step`.
    fn is_there(self, step: usize) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Tiles => step == 1 && tiles::has_tiles(),
            #[cfg(target_arch = "x86_64")]
            Self::Instructions => x86::has_instructions(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Tiles | Self::Instructions => step == usize::MAX,
            Self::Common => true,
        }
    }
}

/// Some rows of one panel of a product.
fn multiply(rows: usize, a: Left<'_>, b: &Panels, number: usize, dst: (&mut [f32], View), onto: Onto) {
    multiply_by(Way::best(a.step), rows, a, b, number, dst, onto);
}

fn multiply_by(way: Way, rows: usize, a: Left<'_>, b: &Panels, number: usize, dst: (&mut [f32], View), onto: Onto) {
    let (panel, column) = (b.panel(number), number * PANEL);
    let (to, view) = (dst.0, View { at: dst.1.at.saturating_add(column), ..dst.1 });
    if rows == 0 || b.pairs == 0 {
        return;
    }
    let left = View { at: a.at, row: a.row, col: a.step };
    let fits = left.fits(rows, b.pairs, a.data.len()) && view.col == 1 && view.fits(rows, PANEL, to.len());
    assert!(fits, "a matrix reaches beyond its slice");
    assert!(way.is_there(a.step), "the processor has not what it takes");
    #[cfg(target_arch = "x86_64")]
    if way == Way::Tiles {
        let (a, dst) = ((a.data[a.at..].as_ptr(), a.row), (to[view.at..].as_mut_ptr(), view.row));
        // SAFETY: the processor has tiles, as just asked. `fits` says that `rows` rows of the panel's number of pairs lie in
        // `a`, whose pairs lie side by side (`step` is 1), and 32 numbers in each of as many rows in `to`.
        return unsafe { tiles::multiply(rows, a, panel, dst, onto) };
    }
    #[cfg(target_arch = "x86_64")]
    if way == Way::Instructions {
        // SAFETY: the processor has what the function is compiled for, as just asked; `fits` says that all that it reads of
        // `a` and writes to `to` is in the slices; a panel holds 32 pairs for each step.
        return unsafe { x86::multiply(rows, a, panel, (to, view), onto) };
    }
    let number = |pair: u32, which: u32| f32::from_bits((pair >> (16 * which)) << 16);
    for row in 0..rows {
        let line = &mut to[view.at + row * view.row..][..PANEL];
        let mut sums = [0f32; PANEL];
        if onto == Onto::Sum {
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

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::{Left, Onto, PANEL, View, pair};
    use std::arch::x86_64::{
        __cpuid, __m512bh, __m512i, _mm512_cvtne2ps_pbh, _mm512_dpbf16_ps, _mm512_loadu_ps, _mm512_loadu_si512,
        _mm512_permutexvar_epi16, _mm512_set1_epi32, _mm512_setzero_ps, _mm512_storeu_ps, _mm512_storeu_si512,
    };
    use std::mem::transmute;
    use std::sync::OnceLock;

    /// AVX-512 with `vdpbf16ps`, however fast.
    pub(in super::super) fn has_instructions() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512bf16")
    }

    pub(super) fn is_by_intel() -> bool {
        static INTEL: OnceLock<bool> = OnceLock::new();
        *INTEL.get_or_init(|| {
            let maker = __cpuid(0);
            [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
        })
    }

    /// See [`super::halve`].
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) fn halve(x: &[f32], pairs: &mut [u32]) {
        let (whole, rest) = x.as_chunks::<32>();
        let (to, to_rest) = pairs.as_chunks_mut::<16>();
        for (x, to) in whole.iter().zip(to) {
            // SAFETY: 32 numbers are read from 32, and as many of half the size written to 16.
            unsafe {
                let (first, second) = (_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(x.as_ptr().add(16)));
                let both: __m512i = transmute(_mm512_cvtne2ps_pbh(second, first));
                _mm512_storeu_si512(to.as_mut_ptr().cast(), both);
            }
        }
        for (to, x) in to_rest.iter_mut().zip(rest.chunks_exact(2)) {
            *to = pair(x[0], x[1]);
        }
    }

    /// Takes the words of a register that holds sixteen numbers of each of two rows to pairs.
    static PAIRS: [u16; 32] = {
        let (mut order, mut i) = ([0; 32], 0);
        while i < 16 {
            order[2 * i] = i as u16;
            order[2 * i + 1] = i as u16 + 16;
            i += 1;
        }
        order
    };

    /// See [`super::interleave`].
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) fn interleave(upper: &[f32], lower: &[f32], to: &mut [u32]) {
        let pieces = upper.as_chunks::<16>().0.iter().zip(lower.as_chunks::<16>().0).zip(to.as_chunks_mut::<16>().0);
        for ((a, b), to) in pieces {
            // SAFETY: sixteen numbers are read from sixteen each, and sixteen pairs written to as many.
            unsafe {
                let order = _mm512_loadu_si512(PAIRS.as_ptr().cast());
                let both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(b.as_ptr()), _mm512_loadu_ps(a.as_ptr()));
                _mm512_storeu_si512(
                    to.as_mut_ptr().cast(),
                    _mm512_permutexvar_epi16(order, transmute::<__m512bh, __m512i>(both)),
                );
            }
        }
    }

    /// See [`super::multiply`].
    ///
    /// # Safety
    /// Rows and steps of `a`, the panel's pairs for each step, and 32 columns of each row of `dst` lie in their slices.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub(super) unsafe fn multiply(rows: usize, a: Left<'_>, panel: &[u32], dst: (&mut [f32], View), onto: Onto) {
        let mut row = 0;
        // SAFETY: as the caller says; only rows below `rows` are asked for.
        unsafe {
            while rows - row >= 12 {
                some_rows::<12>(row, a, panel, dst.0.as_mut_ptr(), dst.1, onto);
                row += 12;
            }
            while rows - row >= 4 {
                if rows - row >= 8 {
                    some_rows::<8>(row, a, panel, dst.0.as_mut_ptr(), dst.1, onto);
                    row += 8;
                } else {
                    some_rows::<4>(row, a, panel, dst.0.as_mut_ptr(), dst.1, onto);
                    row += 4;
                }
            }
            while row < rows {
                some_rows::<1>(row, a, panel, dst.0.as_mut_ptr(), dst.1, onto);
                row += 1;
            }
        }
    }

    /// `R` rows from `row`.
    ///
    /// # Safety
    /// See [`multiply`].
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn some_rows<const R: usize>(row: usize, a: Left<'_>, panel: &[u32], dst: *mut f32, view: View, onto: Onto) {
        // SAFETY: as the caller says.
        unsafe {
            let a_row = a.data.as_ptr().add(a.at + row * a.row);
            let dst = dst.add(view.at + row * view.row);
            let mut sums = [[_mm512_setzero_ps(); 2]; R];
            if onto == Onto::Sum {
                for (r, sums) in sums.iter_mut().enumerate() {
                    let from = dst.add(r * view.row);
                    *sums = [_mm512_loadu_ps(from), _mm512_loadu_ps(from.add(16))];
                }
            }
            for i in 0..panel.len() / PANEL {
                let b = panel.as_ptr().add(i * PANEL);
                let first: __m512bh = transmute(_mm512_loadu_si512(b.cast()));
                let second: __m512bh = transmute(_mm512_loadu_si512(b.add(16).cast()));
                for (r, sums) in sums.iter_mut().enumerate() {
                    let a: __m512bh = transmute(_mm512_set1_epi32(*a_row.add(r * a.row + i * a.step) as i32));
                    sums[0] = _mm512_dpbf16_ps(sums[0], a, first);
                    sums[1] = _mm512_dpbf16_ps(sums[1], a, second);
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                let to = dst.add(r * view.row);
                _mm512_storeu_ps(to, sums[0]);
                _mm512_storeu_ps(to.add(16), sums[1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;
    use crate::nn::kernels::matmul;
    use proptest::prelude::*;

    fn random(rng: &mut Rng, count: usize) -> Vec<f32> {
        (0..count).map(|_| rng.normal()).collect()
    }

    #[test]
    fn products_of_any_size_stay_in_their_slices_on_all_instructions() {
        let mut rng = Rng::new(1, "sizes");
        for (rows, pairs, panels) in [0, 1, 3, 4, 5, 8, 12, 13, 31, 97]
            .into_iter()
            .flat_map(|r| [0, 1, 2, 15, 16, 17].map(|p| (r, p, 1 + r % 2)))
        {
            let (k, n) = (2 * pairs, PANEL * panels);
            let (a, b, before) = (random(&mut rng, rows * k), random(&mut rng, n * k), random(&mut rng, rows * n));
            let (mut halves, mut right) = (Vec::new(), Panels::default());
            halve(&a, &mut halves);
            right.stack_transposed(&[&b], k);
            for onto in [Onto::Nothing, Onto::Sum] {
                let mut want = before.clone();
                let transposed = View::rows(k).transposed();
                matmul(
                    [rows, n, k],
                    (&mut want, View::rows(n)),
                    (&rounded(&a), View::rows(k)),
                    (&rounded(&b), transposed),
                    onto,
                );
                for way in [Way::Common, Way::Instructions, Way::Tiles].into_iter().filter(|way| way.is_there(1)) {
                    let mut got = before.clone();
                    let left = Left { data: &halves, at: 0, row: pairs, step: 1 };
                    for number in 0..right.columns / PANEL {
                        multiply_by(way, rows, left, &right, number, (&mut got, View::rows(n)), onto);
                    }
                    let close = got.iter().zip(&want).all(|(got, want)| (got - want).abs() < 1e-4);
                    assert!(close || pairs == 0, "{rows} {pairs} {panels} {onto:?} {way:?}");
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
        half_matmul((&mut [], View::rows(PANEL)), &[], &panels, Onto::Nothing);
        half_matmul_transposed((&mut [], View::rows(PANEL)), 0, &panels, 0, &panels, Onto::Sum);
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
            half_matmul((&mut [0.0; PANEL], View::rows(PANEL)), &[0; 2], &right, Onto::Nothing);
        });
        panics(&|| {
            let mut right = Panels::default();
            right.stack_transposed(&[&[0.0; 2 * PANEL]], 2);
            half_matmul((&mut [0.0; PANEL], View { at: 0, row: usize::MAX, col: 1 }), &[0; 2], &right, Onto::Nothing);
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

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        let halves = |x: f32| f32::from_bits(round(x) << 16);
        for (x, want) in [(1.0, 1.0), (1.0 + 1.0 / 256.0, 1.0), (1.0 + 3.0 / 256.0, 1.015_625), (-0.1, -0.100_097_656)]
        {
            assert_eq!(halves(x), want, "{x}");
        }
        assert!(halves(f32::NAN).is_nan() && halves(f32::INFINITY).is_infinite());
        let (x, mut pairs) = (random(&mut Rng::new(1, "halves"), 70), Vec::new());
        halve(&x, &mut pairs);
        let expected: Vec<u32> = x.chunks_exact(2).map(|x| pair(x[0], x[1])).collect();
        assert_eq!(pairs, expected);
    }

    proptest! {
        #[test]
        fn products_are_those_of_rounded_numbers(
            rows in 1usize..40, pairs in 1usize..30, panels in 1usize..4, sum: bool, seed: u64,
        ) {
            let (mut rng, k, n) = (Rng::new(seed, "bf16"), 2 * pairs, PANEL * panels);
            let (a, b, before) = (random(&mut rng, rows * k), random(&mut rng, n * k), random(&mut rng, rows * n));
            let onto = if sum { Onto::Sum } else { Onto::Nothing };
            let mut want = before.clone();
            let transposed = View::rows(k).transposed();
            matmul([rows, n, k], (&mut want, View::rows(n)), (&rounded(&a), View::rows(k)), (&rounded(&b), transposed), onto);

            let (mut halves, mut panels, mut got) = (Vec::new(), Panels::default(), before.clone());
            halve(&a, &mut halves);
            // In two parts, where there is more than one panel.
            let (first, second) = b.split_at(PANEL * k);
            panels.stack_transposed(&[first, second], k);
            half_matmul((&mut got, View::rows(n)), &halves, &panels, onto);
            close(&got, &want)?;
        }

        #[test]
        fn products_over_rows_are_those_of_rounded_numbers(
            rows in 1usize..40, left in 1usize..3, right in 1usize..3, first in 0usize..3, sum: bool, seed: u64,
        ) {
            let (mut rng, m, n) = (Rng::new(seed, "bf16"), PANEL * left, PANEL * right);
            let (a, b, before) = (random(&mut rng, rows * m), random(&mut rng, rows * n), random(&mut rng, m * n));
            let onto = if sum { Onto::Sum } else { Onto::Nothing };
            let mut want = before.clone();
            let transposed = View::rows(m).transposed();
            matmul([m, n, rows], (&mut want, View::rows(n)), (&rounded(&a), transposed), (&rounded(&b), View::rows(n)), onto);

            let (mut a_panels, mut b_panels, mut got) = (Panels::default(), Panels::default(), before.clone());
            a_panels.stack(&[(&a, View::rows(m), rows)], m);
            let even = rows / 2 * 2;
            b_panels.stack(&[(&b, View::rows(n), even), (&b[even * n..], View::rows(n), rows - even)], n);
            let first = 8 * first;
            half_matmul_transposed((&mut got[first * n..], View::rows(n)), m - first, &a_panels, first, &b_panels, onto);
            close(&got[first * n..], &want[first * n..])?;
        }
    }
}
