//! Matrices of bfloat16 numbers as the products in [`super::bf16`] take them.
//!
//! Two numbers that meet in a sum lie side by side in a `u32`, the first in the low half. A matrix lies either by rows,
//! in pairs along them ([`to_bf16`]), or in [`Panels`].

use super::{InstructionSet, View};

/// Columns of a panel: two registers of sums.
pub(super) const PANEL: usize = 32;

/// The nearest number of eight bits, of two the even one.
#[inline(always)]
pub(super) fn round(x: f32) -> u32 {
    let bits = x.to_bits();
    // What is no number stays none.
    if x.is_nan() { (bits >> 16) | 0x40 } else { bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16 }
}

#[inline(always)]
pub(super) fn pair(first: f32, second: f32) -> u32 {
    round(first) | (round(second) << 16)
}

/// Numbers by rows, in pairs along them; the rows have an even length.
pub fn to_bf16(x: &[f32], pairs: &mut Vec<u32>) {
    to_bf16_on(InstructionSet::chosen(), x, pairs);
}

fn to_bf16_on(set: InstructionSet, x: &[f32], pairs: &mut Vec<u32>) {
    pairs.resize(x.len() / 2, 0);
    #[cfg(target_arch = "x86_64")]
    if let Some(has) = set.bf16() {
        return x86::to_bf16(has, x, pairs);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let InstructionSet::Plain = set;
    for (pair_of, x) in pairs.iter_mut().zip(x.chunks_exact(2)) {
        *pair_of = pair(x[0], x[1]);
    }
}

/// A matrix with an even number of rows (an odd one gets another of zeros) and a multiple of 32 columns, cut into
/// panels of 32 columns; in a panel the pairs of two rows' numbers follow each other, row pair after row pair.
#[derive(Clone, Debug, Default)]
pub struct Panels {
    /// Pairs of rows.
    pub(super) pairs: usize,
    pub(super) columns: usize,
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
        self.stack_on(InstructionSet::chosen(), parts, columns);
    }

    pub(super) fn stack_on(&mut self, set: InstructionSet, parts: &[(&[f32], View, usize)], columns: usize) {
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
                    interleave(set, upper, lower, &mut panel[(first + i) * PANEL..(first + i + 1) * PANEL]);
                }
            }
            first += rows / 2;
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
        let (mut panels, mut halves) = (self.data.chunks_exact_mut((self.pairs * PANEL).max(1)), Vec::new());
        for part in parts {
            for lines in part.chunks_exact((rows * PANEL).max(1)) {
                let Some(panel) = panels.next() else { return };
                to_bf16_on(set, lines, &mut halves);
                for (i, to) in panel.chunks_exact_mut(PANEL).enumerate() {
                    for (line, to) in to.iter_mut().enumerate() {
                        *to = halves[line * self.pairs + i];
                    }
                }
            }
        }
    }

    pub(super) fn panel(&self, number: usize) -> &[u32] {
        &self.data[number * self.pairs * PANEL..(number + 1) * self.pairs * PANEL]
    }
}

fn interleave(set: InstructionSet, upper: &[f32], lower: &[f32], to: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(has) = set.bf16() {
        return x86::interleave(has, upper, lower, to);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let InstructionSet::Plain = set;
    for ((to, a), b) in to.iter_mut().zip(upper).zip(lower) {
        *to = pair(*a, *b);
    }
}

/// Where the left matrix of a product lies: the pair of row `r` and step `i` is at `at + r · row + i · step`.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) data: &'a [u32],
    pub(super) at: usize,
    pub(super) row: usize,
    pub(super) step: usize,
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::instructions::HasBf16;
    use super::pair;
    use std::arch::x86_64::{
        __m512bh, __m512i, _mm512_cvtne2ps_pbh, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_permutexvar_epi16,
        _mm512_storeu_si512,
    };
    use std::mem::transmute;

    /// See [`super::to_bf16`].
    pub(super) fn to_bf16(_: HasBf16, x: &[f32], pairs: &mut [u32]) {
        // SAFETY: the proof says that the processor has what the function is compiled for.
        unsafe { to_bf16_by_avx512(x, pairs) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    fn to_bf16_by_avx512(x: &[f32], pairs: &mut [u32]) {
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
    pub(super) fn interleave(_: HasBf16, upper: &[f32], lower: &[f32], to: &mut [u32]) {
        // SAFETY: the proof says that the processor has what the function is compiled for.
        unsafe { interleave_by_avx512(upper, lower, to) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    fn interleave_by_avx512(upper: &[f32], lower: &[f32], to: &mut [u32]) {
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
}

#[cfg(test)]
mod tests {
    use super::super::testing::{instruction_sets, random};
    use super::*;
    use crate::nn::Rng;

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        let halves = |x: f32| f32::from_bits(round(x) << 16);
        for (x, want) in [(1.0, 1.0), (1.0 + 1.0 / 256.0, 1.0), (1.0 + 3.0 / 256.0, 1.015_625), (-0.1, -0.100_097_656)]
        {
            assert_eq!(halves(x), want, "{x}");
        }
        assert!(halves(f32::NAN).is_nan() && halves(f32::INFINITY).is_infinite());
        let x = random(&mut Rng::new(1, "halves"), 70);
        let expected: Vec<u32> = x.chunks_exact(2).map(|x| pair(x[0], x[1])).collect();
        for set in instruction_sets() {
            let mut pairs = Vec::new();
            to_bf16_on(set, &x, &mut pairs);
            assert_eq!(pairs, expected, "{set:?}");
        }
    }

    #[test]
    fn panels_are_the_same_on_all_instructions() {
        let (mut rng, sets) = (Rng::new(2, "panels"), instruction_sets());
        for (rows, panels) in [(1usize, 1), (2, 1), (5, 2), (34, 3)] {
            let columns = panels * PANEL;
            let even = rows.next_multiple_of(2);
            let (x, lines) = (random(&mut rng, rows * columns), random(&mut rng, even * columns));
            let cut = |set| {
                let (mut stacked, mut transposed) = (Panels::default(), Panels::default());
                stacked.stack_on(set, &[(&x, View::rows(columns), rows)], columns);
                transposed.stack_transposed_on(set, &[&lines], even);
                (stacked.data, transposed.data)
            };
            let plain = cut(InstructionSet::Plain);
            for set in &sets {
                assert!(cut(*set) == plain, "{rows} {panels} {set:?}");
            }
        }
    }
}
