//! Products of small matrices, where packing them as the library `gemm` does would cost more than the product.

use super::InstructionSet;
use super::arithmetic::LANES;
use super::matmul::{View, WriteMode};

/// `dst = a · b` on the thread that calls, for matrices of a few dozen rows and columns, where packing them would cost
/// more than the product; `dims` is `[M, N, K]`.
///
/// `dst` and `b` have columns that lie side by side: `(slice, numbers from row to row)`.
pub fn small_matmul(
    dims: [usize; 3],
    dst: (&mut [f32], usize),
    a: (&[f32], View),
    b: (&[f32], usize),
    write: WriteMode,
) {
    let [m, n, k] = dims;
    if m == 0 || n == 0 {
        return;
    }
    let rows = |row: usize| View { at: 0, row, col: 1 };
    let fits = rows(dst.1).fits(m, n, dst.0.len()) && a.1.fits(m, k, a.0.len()) && rows(b.1).fits(k, n, b.0.len());
    assert!(fits, "a matrix reaches beyond its slice");
    Small { dims, dst_row: dst.1, a, b: b.0, b_row: b.1, write }.run_on(InstructionSet::chosen(), dst.0);
}

/// [`LANES`] numbers in registers.
///
/// There is a value only where the processor has the instructions for it: the first ones are made of [`Lanes::Proof`],
/// the others of these.
trait Lanes: Copy {
    /// That the processor has what the operations need.
    type Proof: Copy;
    fn zero(proof: Self::Proof) -> Self;
    fn load(proof: Self::Proof, from: &[f32; LANES]) -> Self;
    /// `self + a · b`
    fn plus(self, a: f32, b: Self) -> Self;
    fn store(self, to: &mut [f32; LANES]);
}

impl Lanes for [f32; LANES] {
    type Proof = ();

    #[inline(always)]
    fn zero((): ()) -> Self {
        [0.0; LANES]
    }

    #[inline(always)]
    fn load((): (), from: &[f32; LANES]) -> Self {
        *from
    }

    #[inline(always)]
    fn plus(mut self, a: f32, b: Self) -> Self {
        self.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        self
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        *to = self;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::instructions::{HasAvx2, HasAvx512};
    use super::{LANES, Lanes, Small};
    use std::arch::x86_64::{
        __m256, __m512, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
        _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps,
    };

    pub(super) fn run_avx512(has: HasAvx512, small: &Small<'_>, dst: &mut [f32]) {
        // SAFETY: the proof says that the processor has what the function is compiled for.
        unsafe { by_avx512(has, small, dst) }
    }

    #[target_feature(enable = "avx512f")]
    fn by_avx512(has: HasAvx512, small: &Small<'_>, dst: &mut [f32]) {
        small.run::<Avx512>(has, dst);
    }

    pub(super) fn run_avx2(has: HasAvx2, small: &Small<'_>, dst: &mut [f32]) {
        // SAFETY: the proof says that the processor has what the function is compiled for.
        unsafe { by_avx2(has, small, dst) }
    }

    #[target_feature(enable = "avx2,fma")]
    fn by_avx2(has: HasAvx2, small: &Small<'_>, dst: &mut [f32]) {
        small.run::<Avx2>(has, dst);
    }

    /// Made of [`HasAvx512`] alone.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512(__m512);

    impl Lanes for Avx512 {
        type Proof = HasAvx512;

        #[inline(always)]
        fn zero(_: HasAvx512) -> Self {
            // SAFETY: the proof says that the processor has AVX-512.
            Self(unsafe { _mm512_setzero_ps() })
        }

        #[inline(always)]
        fn load(_: HasAvx512, from: &[f32; LANES]) -> Self {
            // SAFETY: sixteen numbers are read from as many, which need not be aligned; see `zero` for the processor.
            Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn plus(self, a: f32, b: Self) -> Self {
            // SAFETY: there is a value, so there was a proof that the processor has AVX-512.
            Self(unsafe { _mm512_fmadd_ps(_mm512_set1_ps(a), b.0, self.0) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; LANES]) {
            // SAFETY: sixteen numbers are written where there is room for them; see `plus` for the processor.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
        }
    }

    /// Made of [`HasAvx2`] alone.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(__m256, __m256);

    impl Lanes for Avx2 {
        type Proof = HasAvx2;

        #[inline(always)]
        fn zero(_: HasAvx2) -> Self {
            // SAFETY: the proof says that the processor has AVX2, and so AVX.
            unsafe { Self(_mm256_setzero_ps(), _mm256_setzero_ps()) }
        }

        #[inline(always)]
        fn load(_: HasAvx2, from: &[f32; LANES]) -> Self {
            // SAFETY: two times eight numbers are read from sixteen, which need not be aligned; see `zero` for the processor.
            unsafe { Self(_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(LANES / 2))) }
        }

        #[inline(always)]
        fn plus(self, a: f32, b: Self) -> Self {
            // SAFETY: there is a value, so there was a proof that the processor has AVX2 and FMA.
            unsafe {
                let a = _mm256_set1_ps(a);
                Self(_mm256_fmadd_ps(a, b.0, self.0), _mm256_fmadd_ps(a, b.1, self.1))
            }
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; LANES]) {
            // SAFETY: two times eight numbers are written where there is room for sixteen; see `plus` for the processor.
            unsafe {
                _mm256_storeu_ps(to.as_mut_ptr(), self.0);
                _mm256_storeu_ps(to.as_mut_ptr().add(LANES / 2), self.1);
            }
        }
    }
}

/// Rows whose sums are kept in registers at a time.
const ROWS_AT_ONCE: usize = 6;

struct Small<'a> {
    dims: [usize; 3],
    dst_row: usize,
    a: (&'a [f32], View),
    b: &'a [f32],
    b_row: usize,
    write: WriteMode,
}

impl Small<'_> {
    fn run_on(&self, set: InstructionSet, dst: &mut [f32]) {
        match set {
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Amx(has) => x86::run_avx512(has.avx512(), self, dst),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512(has) => x86::run_avx512(has, self, dst),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2(has) => x86::run_avx2(has, self, dst),
            InstructionSet::Plain => self.run::<[f32; LANES]>((), dst),
        }
    }

    #[inline(always)]
    fn run<L: Lanes>(&self, proof: L::Proof, dst: &mut [f32]) {
        let [m, n, _] = self.dims;
        let mut col = 0;
        while col < n {
            let lanes = (n - col).min(2 * LANES);
            let mut row = 0;
            while row < m {
                let tall = m - row >= ROWS_AT_ONCE;
                match (tall, lanes) {
                    (true, 32) => self.block::<L, ROWS_AT_ONCE, 2>(proof, dst, row, col),
                    (false, 32) => self.block::<L, 1, 2>(proof, dst, row, col),
                    (true, 16..) => self.block::<L, ROWS_AT_ONCE, 1>(proof, dst, row, col),
                    (false, 16..) => self.block::<L, 1, 1>(proof, dst, row, col),
                    (true, _) => self.narrow::<L, ROWS_AT_ONCE>(proof, dst, row, col),
                    (false, _) => self.narrow::<L, 1>(proof, dst, row, col),
                }
                row += if tall { ROWS_AT_ONCE } else { 1 };
            }
            col += if lanes == 2 * LANES { lanes } else { lanes.min(LANES) };
        }
    }

    #[inline(always)]
    fn a(&self, row: usize, i: usize) -> f32 {
        let (a, view) = self.a;
        a[view.at + row * view.row + i * view.col]
    }

    /// `R` rows and `C` times [`LANES`] columns from (`row`, `col`).
    #[inline(always)]
    fn block<L: Lanes, const R: usize, const C: usize>(
        &self,
        proof: L::Proof,
        dst: &mut [f32],
        row: usize,
        col: usize,
    ) {
        let mut sums = [[L::zero(proof); C]; R];
        for i in 0..self.dims[2] {
            let mut b = [L::zero(proof); C];
            for (c, b) in b.iter_mut().enumerate() {
                let Some(from) = self.b[i * self.b_row + col + c * LANES..].first_chunk() else { return };
                *b = L::load(proof, from);
            }
            for (r, sums) in sums.iter_mut().enumerate() {
                let a = self.a(row + r, i);
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = sum.plus(a, b);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (c, sum) in sums.iter().enumerate() {
                let at = (row + r) * self.dst_row + col + c * LANES;
                let Some(to) = dst[at..].first_chunk_mut::<LANES>() else { return };
                self.put(proof, *sum, to);
            }
        }
    }

    /// `R` rows of the last columns, which are fewer than [`LANES`].
    #[inline(always)]
    fn narrow<L: Lanes, const R: usize>(&self, proof: L::Proof, dst: &mut [f32], row: usize, col: usize) {
        let columns = self.dims[1] - col;
        let (mut sums, mut b) = ([L::zero(proof); R], [0f32; LANES]);
        for i in 0..self.dims[2] {
            b[..columns].copy_from_slice(&self.b[i * self.b_row + col..][..columns]);
            let b = L::load(proof, &b);
            for (r, sum) in sums.iter_mut().enumerate() {
                *sum = sum.plus(self.a(row + r, i), b);
            }
        }
        for (r, sum) in sums.iter().enumerate() {
            let to = &mut dst[(row + r) * self.dst_row + col..][..columns];
            let mut all = [0f32; LANES];
            all[..columns].copy_from_slice(to);
            self.put(proof, *sum, &mut all);
            to.copy_from_slice(&all[..columns]);
        }
    }

    #[inline(always)]
    fn put<L: Lanes>(&self, proof: L::Proof, sum: L, to: &mut [f32; LANES]) {
        match self.write {
            WriteMode::Overwrite => sum.store(to),
            WriteMode::Add => L::load(proof, to).plus(1.0, sum).store(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::matmul;
    use super::super::testing::{defined_product, instruction_sets, random};
    use super::*;
    use crate::nn::Rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn small_products_are_those_of_the_library(
            m in 0usize..20, n in 0usize..70, k in 0usize..20, transposed: bool, seed: u64,
        ) {
            let mut rng = Rng::new(seed, "matrices");
            let (a, b) = (random(&mut rng, m * k), random(&mut rng, k * n));
            let view = if transposed { View::rows(m).transposed() } else { View::rows(k) };
            let (mut got, mut want) = (vec![0f32; m * n], vec![0f32; m * n]);
            small_matmul([m, n, k], (&mut got, n), (&a, view), (&b, n), WriteMode::Overwrite);
            matmul([m, n, k], (&mut want, View::rows(n)), (&a, view), (&b, View::rows(n)), WriteMode::Overwrite);
            for (got, want) in got.iter().zip(&want) {
                prop_assert!((got - want).abs() < 1e-5, "{got} {want}");
            }
        }
    }

    const SIZES: [usize; 12] = [0, 1, 2, 3, 5, 6, 7, 15, 16, 17, 31, 33];

    #[test]
    fn products_of_any_size_stay_in_their_slices_on_all_instructions() {
        let (mut rng, sets) = (Rng::new(1, "sizes"), instruction_sets());
        for (m, n, k) in SIZES.iter().flat_map(|m| SIZES.iter().flat_map(move |n| SIZES.map(|k| (*m, *n, k)))) {
            // Rows further apart than they are long, and slices that end with the last element.
            let (dst_row, b_row) = (n + rng.below(3), n + rng.below(3));
            let end = |rows: usize, row: usize, cols: usize| if rows * cols == 0 { 0 } else { (rows - 1) * row + cols };
            let (a, b) = (random(&mut rng, m * k), random(&mut rng, end(k, b_row, n)));
            let before = random(&mut rng, end(m, dst_row, n));
            for write in [WriteMode::Overwrite, WriteMode::Add] {
                let (a, view) = (a.as_slice(), View::rows(k));
                let mut want = before.clone();
                defined_product([m, n, k], (&mut want, View::rows(dst_row)), (a, view), (&b, View::rows(b_row)), write);
                let close = |got: &[f32]| got.iter().zip(&want).all(|(got, want)| (got - want).abs() < 1e-4);
                for set in &sets {
                    let mut got = before.clone();
                    if m > 0 && n > 0 {
                        let small = Small { dims: [m, n, k], dst_row, a: (a, view), b: &b, b_row, write };
                        small.run_on(*set, &mut got);
                    }
                    assert!(close(&got), "{m} {n} {k} {write:?} {set:?}");
                }
                let mut got = before.clone();
                matmul([m, n, k], (&mut got, View::rows(dst_row)), (a, view), (&b, View::rows(b_row)), write);
                assert!(close(&got), "{m} {n} {k} {write:?}");
            }
        }
    }
}
