//! Matrix products by the library `gemm`, and where matrices lie.

use super::InstructionSet;
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

    /// The rows from `row` on. What would begin beyond all memory fits no slice.
    pub(super) fn starting_at_row(self, row: usize) -> Self {
        Self { at: self.at.saturating_add(row.saturating_mul(self.row)), ..self }
    }

    pub fn transposed(self) -> Self {
        Self { row: self.col, col: self.row, ..self }
    }

    /// One more than the greatest index of a matrix of `rows` rows and `cols` columns, where there is such a number.
    fn end(self, rows: usize, cols: usize) -> Option<usize> {
        let (Some(rows), Some(cols)) = (rows.checked_sub(1), cols.checked_sub(1)) else { return Some(0) };
        let down = rows.checked_mul(self.row)?;
        self.at.checked_add(down)?.checked_add(cols.checked_mul(self.col)?)?.checked_add(1)
    }

    /// Whether every element lies in a slice of `len` numbers, at a distance that a pointer can be moved by.
    pub(super) fn fits(self, rows: usize, cols: usize, len: usize) -> bool {
        let can_be = |step: usize| isize::try_from(step).is_ok();
        self.end(rows, cols).is_some_and(|end| end <= len) && can_be(self.row) && can_be(self.col)
    }

    /// Whether no two elements lie at one place.
    fn is_spread(self, rows: usize, cols: usize) -> bool {
        let by_rows = (self.col >= 1 || cols <= 1) && (rows <= 1 || self.row >= cols.saturating_mul(self.col));
        let by_columns = (self.row >= 1 || rows <= 1) && (cols <= 1 || self.col >= rows.saturating_mul(self.row));
        by_rows || by_columns
    }
}

/// What becomes of the numbers that stand where a product is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteMode {
    Overwrite,
    /// The product is added to them.
    Add,
}

/// `dst = a · b` on the thread that calls, for `a` `[M, K]` and `b` `[K, N]`; `dims` is `[M, N, K]`.
///
/// A number of the result depends on its row of `a` and its column of `b` alone, not on how many others there are.
pub fn matmul(dims: [usize; 3], dst: (&mut [f32], View), a: (&[f32], View), b: (&[f32], View), write: WriteMode) {
    product(dims, dst, a, b, write, Parallelism::None);
}

/// The same, divided over the pool that it is called in.
pub fn matmul_divided(
    dims: [usize; 3],
    dst: (&mut [f32], View),
    a: (&[f32], View),
    b: (&[f32], View),
    write: WriteMode,
) {
    let threads = rayon::current_num_threads();
    product(dims, dst, a, b, write, if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None });
}

/// Numbers of a product up to which `gemm` has ways of its own, and for a single row, too; they sum up in another order
/// than it does elsewhere.
const FEW: usize = 256;

/// One number after the other, in the order of `gemm`.
fn few([m, n, k]: [usize; 3], dst: (&mut [f32], View), a: (&[f32], View), b: (&[f32], View), write: WriteMode) {
    let from = |slice, at: usize| <[f32]>::get(slice, at..).unwrap_or_default();
    for i in 0..m {
        for j in 0..n {
            let (row, column) = (from(a.0, a.1.at + i * a.1.row), from(b.0, b.1.at + j * b.1.col));
            let sum = dot(k, row, a.1.col, column, b.1.row);
            let y = &mut dst.0[dst.1.at + i * dst.1.row + j * dst.1.col];
            *y = if write == WriteMode::Add { *y + sum } else { sum };
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
    write: WriteMode,
    parallelism: Parallelism,
) {
    let fits = dst.1.fits(m, n, dst.0.len()) && a.1.fits(m, k, a.0.len()) && b.1.fits(k, n, b.0.len());
    assert!(fits, "a matrix reaches beyond its slice");
    assert!(dst.1.is_spread(m, n), "rows and columns of a product overlap");
    if m == 0 || n == 0 || k == 0 {
        // Nothing is at the places where the matrices would begin. A sum of no products is 0.
        if write == WriteMode::Overwrite {
            let places = (0..m).flat_map(|i| (0..n).map(move |j| i * dst.1.row + j * dst.1.col));
            places.for_each(|place| dst.0[dst.1.at + place] = 0.0);
        }
        return;
    }
    if k > 2 && (m * n <= FEW || m == 1) {
        return few([m, n, k], dst, a, b, write);
    }
    // SAFETY: no dimension is 0, so each matrix has a first element, and `fits` says that this and every other element lies
    // in its slice, at distances that are no larger than an `isize`. `dst` is borrowed mutably, so it overlaps neither `a`
    // nor `b`; it `is_spread`, so threads that write different elements write different places.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            dst.0.as_mut_ptr().add(dst.1.at),
            dst.1.col as isize,
            dst.1.row as isize,
            write == WriteMode::Add,
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

#[cfg(test)]
mod tests {
    use super::super::small_matmul;
    use super::super::testing::{instruction_sets, random};
    use super::*;
    use crate::nn::Rng;
    use proptest::prelude::*;

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
            matmul([m, n, k], (&mut whole, View::columns(0, width)), (&a, View::rows(k)), (&b, b_view), WriteMode::Overwrite);
            let cut = 1 + rng.below(m - 1);
            for rows in [0..cut, cut..m] {
                let mut part = vec![0f32; rows.len() * width];
                let a = &a[rows.start * k..rows.end * k];
                matmul([rows.len(), n, k], (&mut part, View::columns(0, width)), (a, View::rows(k)), (&b, b_view), WriteMode::Overwrite);
                prop_assert!(part == whole[rows.start * width..rows.end * width], "rows {rows:?} of {m}");
            }
        }
    }

    #[test]
    fn nothing_is_touched_where_a_dimension_is_0() {
        // A matrix without elements may begin anywhere.
        let beyond = View { at: 100, row: 7, col: 1 };
        let (full, rows) = ([1f32; 9], View::rows(3));
        let of = |rows_: usize, cols: usize| if rows_ * cols == 0 { (&[][..], beyond) } else { (&full[..], rows) };
        for [m, n, k] in [[0, 3, 3], [3, 0, 3], [0, 0, 3], [0, 0, 0], [0, 3, 0], [3, 0, 0]] {
            let mut dst = [1f32, 2.0];
            matmul([m, n, k], (&mut dst, beyond), of(m, k), of(k, n), WriteMode::Overwrite);
            small_matmul([m, n, k], (&mut dst, 7), of(m, k), (of(k, n).0, 3), WriteMode::Overwrite);
            assert_eq!(dst, [1.0, 2.0]);
        }
        let mut dst = [1f32; 4];
        matmul([2, 2, 0], (&mut dst, View::rows(2)), (&[], beyond), (&[], beyond), WriteMode::Add);
        assert_eq!(dst, [1.0; 4]);
        matmul([2, 2, 0], (&mut dst, View::rows(2)), (&[], beyond), (&[], beyond), WriteMode::Overwrite);
        assert_eq!(dst, [0.0; 4], "a sum of nothing is 0");
    }

    #[test]
    fn sizes_that_don_t_fit_panic_before_anything_is_read() {
        let (half, most) = (usize::MAX / 2 + 1, usize::MAX);
        let rows = View::rows(2);
        let wide = |at, row, col| View { at, row, col };
        let cases: [([usize; 3], View, View, View); 9] = [
            ([2, 2, 2], wide(1, 2, 1), rows, rows),
            ([2, 2, 2], rows, wide(1, 2, 1), rows),
            ([2, 2, 2], rows, rows, wide(1, 2, 1)),
            // Products and sums that wrap around.
            ([3, 2, 2], rows, wide(0, half, 1), rows),
            ([2, 2, 2], rows, wide(most, 2, 1), rows),
            ([most, most, 2], rows, rows, rows),
            ([2, 2, 2], rows, rows, wide(0, 2, most)),
            ([1, 2, 2], wide(0, most, 1), rows, rows),
            // Two elements at one place.
            ([2, 2, 2], wide(0, 0, 1), rows, rows),
        ];
        for (dims, dst, a, b) in cases {
            let result = std::panic::catch_unwind(|| {
                let mut to = [0f32; 4];
                matmul(dims, (&mut to, dst), (&[1.0; 4], a), (&[1.0; 4], b), WriteMode::Overwrite);
            });
            assert!(result.is_err(), "{dims:?} {dst:?} {a:?} {b:?}");
        }
        for (dims, dst, a, b) in [
            ([2, 2, 2], 3, rows, 2),
            ([2, 2, 2], 2, rows, 3),
            ([3, 2, 2], half, rows, 2),
            ([2, 2, 2], 2, wide(0, most, 1), 2),
        ] {
            let result = std::panic::catch_unwind(|| {
                let mut to = [0f32; 4];
                small_matmul(dims, (&mut to, dst), (&[1.0; 4], a), (&[1.0; 4], b), WriteMode::Overwrite);
            });
            assert!(result.is_err(), "{dims:?} {dst:?} {a:?} {b:?}");
        }
    }

    #[test]
    fn all_instructions_give_the_same_sum() {
        let (mut rng, sets) = (Rng::new(3, "dot"), instruction_sets());
        for (k, a_step, b_step) in [(0, 1, 1), (1, 1, 1), (33, 1, 1), (20, 3, 2)] {
            let (a, b) = (random(&mut rng, k * a_step), random(&mut rng, k * b_step));
            let plain = dot::on(InstructionSet::Plain, k, &a, a_step, &b, b_step);
            for set in &sets {
                assert_eq!(dot::on(*set, k, &a, a_step, &b, b_step), plain, "{k} {set:?}");
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
            WriteMode::Add,
        );
        assert_eq!(dst, [31.0, 62.0]);
    }
}
