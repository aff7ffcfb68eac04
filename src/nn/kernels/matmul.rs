//! Matrix products: large ones by the library `gemm`, small ones where packing would cost more than the product.

use super::LANES;
use gemm::Parallelism;

/// A matrix inside a slice: element `(i, j)` is at `at + i · row + j · col`.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub at: usize,
    pub row: usize,
    pub col: usize,
}

impl View {
    /// Row-major with `cols` columns.
    pub fn rows(cols: usize) -> Self {
        Self { at: 0, row: cols, col: 1 }
    }

    /// The columns from `from` of a row-major matrix with `cols` columns.
    pub fn columns(from: usize, cols: usize) -> Self {
        Self { at: from, row: cols, col: 1 }
    }

    pub fn transposed(self) -> Self {
        Self { row: self.col, col: self.row, ..self }
    }

    /// One more than the greatest index of a `rows` × `cols` matrix.
    fn end(self, rows: usize, cols: usize) -> usize {
        if rows == 0 || cols == 0 { 0 } else { self.at + (rows - 1) * self.row + (cols - 1) * self.col + 1 }
    }
}

/// What becomes of the numbers that a product is written over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Onto {
    Nothing,
    /// The product is added to them.
    Sum,
}

/// `dst = a · b` on the thread that calls, for `a` `[M, K]` and `b` `[K, N]`; `dims` is `[M, N, K]`.
///
/// A number of the result depends on its row of `a` and its column of `b` alone, not on how many others there are.
pub fn matmul(dims: [usize; 3], dst: (&mut [f32], View), a: (&[f32], View), b: (&[f32], View), onto: Onto) {
    product(dims, dst, a, b, onto, Parallelism::None);
}

/// The same, divided over the pool that it is called in.
pub fn matmul_divided(dims: [usize; 3], dst: (&mut [f32], View), a: (&[f32], View), b: (&[f32], View), onto: Onto) {
    let threads = rayon::current_num_threads();
    product(dims, dst, a, b, onto, if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None });
}

/// Numbers of a product up to which `gemm` has ways of its own, and for a single row, too; they sum up in another order
/// than it does elsewhere.
const FEW: usize = 256;

/// One number after the other, in the order of `gemm`.
fn few([m, n, k]: [usize; 3], dst: (&mut [f32], View), a: (&[f32], View), b: (&[f32], View), onto: Onto) {
    // Where k is 0 there is nothing to begin at.
    let from = |slice, at: usize| <[f32]>::get(slice, at..).unwrap_or_default();
    for i in 0..m {
        for j in 0..n {
            let (row, column) = (from(a.0, a.1.at + i * a.1.row), from(b.0, b.1.at + j * b.1.col));
            let sum = dot(k, row, a.1.col, column, b.1.row);
            let y = &mut dst.0[dst.1.at + i * dst.1.row + j * dst.1.col];
            *y = if onto == Onto::Sum { *y + sum } else { sum };
        }
    }
}

dispatch! {
    /// The sum of `k` products of numbers that lie `a_step` and `b_step` apart.
    fn dot(k: usize, a: &[f32], a_step: usize, b: &[f32], b_step: usize) -> f32 {
        let numbers = a.iter().step_by(a_step.max(1)).zip(b.iter().step_by(b_step.max(1)));
        numbers.take(k).fold(0.0, |sum, (a, b)| a.mul_add(*b, sum))
    }
}

fn product(
    [m, n, k]: [usize; 3],
    dst: (&mut [f32], View),
    a: (&[f32], View),
    b: (&[f32], View),
    onto: Onto,
    parallelism: Parallelism,
) {
    let fits = dst.1.end(m, n) <= dst.0.len() && a.1.end(m, k) <= a.0.len() && b.1.end(k, n) <= b.0.len();
    assert!(fits, "a matrix reaches beyond its slice");
    if k > 2 && (m * n <= FEW || m == 1) {
        return few([m, n, k], dst, a, b, onto);
    }
    // SAFETY: `fits` says that every element of the three matrices lies in its slice; `dst` is borrowed mutably, so
    // it overlaps neither `a` nor `b`.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            dst.0.as_mut_ptr().add(dst.1.at),
            dst.1.col as isize,
            dst.1.row as isize,
            onto == Onto::Sum,
            a.0.as_ptr().add(a.1.at),
            a.1.col as isize,
            a.1.row as isize,
            b.0.as_ptr().add(b.1.at),
            b.1.col as isize,
            b.1.row as isize,
            1.0f32,
            1.0f32,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// `dst = a · b` on the thread that calls, for matrices of a few dozen rows and columns, where packing them would cost
/// more than the product; `dims` is `[M, N, K]`.
///
/// `dst` and `b` have columns that lie side by side: `(slice, numbers from row to row)`.
pub fn small_matmul(dims: [usize; 3], dst: (&mut [f32], usize), a: (&[f32], View), b: (&[f32], usize), onto: Onto) {
    let [m, n, k] = dims;
    if m == 0 || n == 0 {
        return;
    }
    let end = |rows: usize, row: usize| if rows == 0 { 0 } else { (rows - 1) * row + n };
    let fits = end(m, dst.1) <= dst.0.len() && a.1.end(m, k) <= a.0.len() && end(k, b.1) <= b.0.len();
    assert!(fits, "a matrix reaches beyond its slice");
    let small = Small { dims, dst_row: dst.1, a, b: b.0, b_row: b.1, onto };
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has what the function is compiled for, as just asked.
            return unsafe { small_avx512(&small, dst.0) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as above.
            return unsafe { small_avx2(&small, dst.0) };
        }
    }
    small.run::<[f32; LANES]>(dst.0);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn small_avx512(small: &Small<'_>, dst: &mut [f32]) {
    small.run::<Avx512>(dst);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn small_avx2(small: &Small<'_>, dst: &mut [f32]) {
    small.run::<Avx2>(dst);
}

/// [`LANES`] numbers in registers. The kinds of one processor are used in functions that are compiled for it only.
trait Lanes: Copy {
    const ZERO: Self;
    fn load(from: &[f32; LANES]) -> Self;
    /// `self + a · b`
    fn plus(self, a: f32, b: Self) -> Self;
    fn store(self, to: &mut [f32; LANES]);
}

impl Lanes for [f32; LANES] {
    const ZERO: Self = [0.0; LANES];

    #[inline(always)]
    fn load(from: &[f32; LANES]) -> Self {
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
use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, Lanes};
    use std::arch::x86_64::{
        __m256, __m512, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_storeu_ps, _mm512_fmadd_ps,
        _mm512_loadu_ps, _mm512_set1_ps, _mm512_storeu_ps,
    };

    #[derive(Clone, Copy)]
    pub(super) struct Avx512(__m512);

    impl Lanes for Avx512 {
        // SAFETY: sixteen zeros are sixteen numbers.
        const ZERO: Self = Self(unsafe { std::mem::zeroed() });

        #[inline(always)]
        fn load(from: &[f32; LANES]) -> Self {
            // SAFETY: sixteen numbers are read from where they are; see `Lanes` for the processor.
            Self(unsafe { _mm512_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn plus(self, a: f32, b: Self) -> Self {
            // SAFETY: see `Lanes` for the processor.
            Self(unsafe { _mm512_fmadd_ps(_mm512_set1_ps(a), b.0, self.0) })
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; LANES]) {
            // SAFETY: sixteen numbers are written where there is room for them; see `Lanes` for the processor.
            unsafe { _mm512_storeu_ps(to.as_mut_ptr(), self.0) }
        }
    }

    #[derive(Clone, Copy)]
    pub(super) struct Avx2(__m256, __m256);

    impl Lanes for Avx2 {
        // SAFETY: zeros are numbers.
        const ZERO: Self = Self(unsafe { std::mem::zeroed() }, unsafe { std::mem::zeroed() });

        #[inline(always)]
        fn load(from: &[f32; LANES]) -> Self {
            // SAFETY: two times eight numbers are read from sixteen; see `Lanes` for the processor.
            unsafe { Self(_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(LANES / 2))) }
        }

        #[inline(always)]
        fn plus(self, a: f32, b: Self) -> Self {
            // SAFETY: see `Lanes` for the processor.
            unsafe {
                let a = _mm256_set1_ps(a);
                Self(_mm256_fmadd_ps(a, b.0, self.0), _mm256_fmadd_ps(a, b.1, self.1))
            }
        }

        #[inline(always)]
        fn store(self, to: &mut [f32; LANES]) {
            // SAFETY: two times eight numbers are written where there is room for sixteen; see `Lanes` for the processor.
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
    onto: Onto,
}

impl Small<'_> {
    #[inline(always)]
    fn run<L: Lanes>(&self, dst: &mut [f32]) {
        let [m, n, _] = self.dims;
        let mut col = 0;
        while col < n {
            let lanes = (n - col).min(2 * LANES);
            let mut row = 0;
            while row < m {
                let tall = m - row >= ROWS_AT_ONCE;
                match (tall, lanes) {
                    (true, 32) => self.block::<L, ROWS_AT_ONCE, 2>(dst, row, col),
                    (false, 32) => self.block::<L, 1, 2>(dst, row, col),
                    (true, 16..) => self.block::<L, ROWS_AT_ONCE, 1>(dst, row, col),
                    (false, 16..) => self.block::<L, 1, 1>(dst, row, col),
                    (true, _) => self.narrow::<L, ROWS_AT_ONCE>(dst, row, col),
                    (false, _) => self.narrow::<L, 1>(dst, row, col),
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
    fn block<L: Lanes, const R: usize, const C: usize>(&self, dst: &mut [f32], row: usize, col: usize) {
        let mut sums = [[L::ZERO; C]; R];
        for i in 0..self.dims[2] {
            let mut b = [L::ZERO; C];
            for (c, b) in b.iter_mut().enumerate() {
                let Some(from) = self.b[i * self.b_row + col + c * LANES..].first_chunk() else { return };
                *b = L::load(from);
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
                self.put(*sum, to);
            }
        }
    }

    /// `R` rows of the last columns, which are fewer than [`LANES`].
    #[inline(always)]
    fn narrow<L: Lanes, const R: usize>(&self, dst: &mut [f32], row: usize, col: usize) {
        let columns = self.dims[1] - col;
        let (mut sums, mut b) = ([L::ZERO; R], [0f32; LANES]);
        for i in 0..self.dims[2] {
            b[..columns].copy_from_slice(&self.b[i * self.b_row + col..][..columns]);
            let b = L::load(&b);
            for (r, sum) in sums.iter_mut().enumerate() {
                *sum = sum.plus(self.a(row + r, i), b);
            }
        }
        for (r, sum) in sums.iter().enumerate() {
            let to = &mut dst[(row + r) * self.dst_row + col..][..columns];
            let mut all = [0f32; LANES];
            all[..columns].copy_from_slice(to);
            self.put(*sum, &mut all);
            to.copy_from_slice(&all[..columns]);
        }
    }

    #[inline(always)]
    fn put<L: Lanes>(&self, sum: L, to: &mut [f32; LANES]) {
        match self.onto {
            Onto::Nothing => sum.store(to),
            Onto::Sum => L::load(to).plus(1.0, sum).store(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;
    use proptest::prelude::*;

    fn random(rng: &mut Rng, count: usize) -> Vec<f32> {
        (0..count).map(|_| rng.normal()).collect()
    }

    proptest! {
        #[test]
        fn small_products_are_those_of_the_library(
            m in 0usize..20, n in 0usize..70, k in 0usize..20, transposed: bool, seed: u64,
        ) {
            let mut rng = Rng::new(seed, "matrices");
            let (a, b) = (random(&mut rng, m * k), random(&mut rng, k * n));
            let view = if transposed { View::rows(m).transposed() } else { View::rows(k) };
            let (mut got, mut want) = (vec![0f32; m * n], vec![0f32; m * n]);
            small_matmul([m, n, k], (&mut got, n), (&a, view), (&b, n), Onto::Nothing);
            matmul([m, n, k], (&mut want, View::rows(n)), (&a, view), (&b, View::rows(n)), Onto::Nothing);
            for (got, want) in got.iter().zip(&want) {
                prop_assert!((got - want).abs() < 1e-5, "{got} {want}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_row_of_a_product_does_not_depend_on_the_others(
            m in 2usize..80, n in 1usize..70, k in 1usize..300, way in 0usize..3, seed: u64,
        ) {
            let mut rng = Rng::new(seed, "matrices");
            let (a, b) = (random(&mut rng, m * k), random(&mut rng, k * n));
            // As on the way up, on the way down, and by columns of a wider matrix.
            let b_view = if way == 1 { View::rows(n) } else { View::rows(k).transposed() };
            let width = if way == 2 { n + 3 } else { n };
            let mut whole = vec![0f32; m * width];
            matmul([m, n, k], (&mut whole, View::columns(0, width)), (&a, View::rows(k)), (&b, b_view), Onto::Nothing);
            let cut = 1 + rng.below(m - 1);
            for rows in [0..cut, cut..m] {
                let mut part = vec![0f32; rows.len() * width];
                let a = &a[rows.start * k..rows.end * k];
                matmul([rows.len(), n, k], (&mut part, View::columns(0, width)), (a, View::rows(k)), (&b, b_view), Onto::Nothing);
                prop_assert!(part == whole[rows.start * width..rows.end * width], "rows {rows:?} of {m}");
            }
        }
    }

    #[test]
    fn a_product_can_be_added() {
        let mut dst = [1f32, 2.0];
        matmul(
            [1, 2, 1],
            (&mut dst, View::rows(2)),
            (&[3.0], View::rows(1)),
            (&[10.0, 20.0], View::rows(2)),
            Onto::Sum,
        );
        assert_eq!(dst, [31.0, 62.0]);
    }
}
