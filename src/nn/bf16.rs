//! Matrix products in bfloat16, summed up in `f32`; fast where [`kernels::has_bf16`]. Made of [`kernels::bf16_matmul`] and
//! what it needs around it: rows and columns that make whole panels.

use super::kernels::{self, Panels, View, WriteMode};
use rayon::prelude::*;

/// What rows and columns are rounded up to.
const WHOLE: usize = Panels::WIDTH;
/// Rows that one task multiplies.
const ROWS: usize = 2 * WHOLE;

/// A matrix by rows, continued with zeros to whole panels.
struct Padded {
    data: Vec<f32>,
    rows: usize,
    columns: usize,
}

impl Padded {
    fn new(x: &[f32], columns: usize) -> Self {
        let (rows, wide) = ((x.len() / columns.max(1)).next_multiple_of(WHOLE), columns.next_multiple_of(WHOLE));
        let mut data = vec![0.0; rows * wide];
        let lines = data.par_chunks_exact_mut(wide.max(1)).zip(x.par_chunks_exact(columns.max(1)));
        lines.for_each(|(to, from)| to[..columns].copy_from_slice(from));
        Self { data, rows, columns: wide }
    }

    fn panels(&self) -> Panels {
        let mut panels = Panels::default();
        panels.stack(&[(&self.data, View::rows(self.columns), self.rows)], self.columns);
        panels
    }

    fn transposed(&self) -> Panels {
        let mut panels = Panels::default();
        panels.stack_transposed(&[&self.data], self.columns);
        panels
    }
}

/// `y = x · weightᵀ` of inputs rounded to bfloat16; `x` `[N, k]`, `weight` `[out, k]`.
pub(super) fn multiply(x: &[f32], weight: &[f32], k: usize, out: usize, y: &mut [f32]) {
    multiply_panels(x, k, &Padded::new(weight, k).transposed(), out, y);
}

/// `y = g · weight`; `g` `[N, out]`, `weight` `[out, k]`.
pub(super) fn multiply_back(g: &[f32], weight: &[f32], k: usize, out: usize, y: &mut [f32]) {
    multiply_panels(g, out, &Padded::new(weight, k).panels(), k, y);
}

/// `y = x · b` with the first `out` columns of `b`; `x` `[N, k]`.
fn multiply_panels(x: &[f32], k: usize, b: &Panels, out: usize, y: &mut [f32]) {
    let wide = out.next_multiple_of(WHOLE);
    let tasks = y.par_chunks_mut((ROWS * out).max(1)).zip(x.par_chunks((ROWS * k).max(1)));
    tasks.for_each(|(y, x)| {
        let (mut halves, x) = (Vec::new(), Padded::new(x, k));
        kernels::to_bf16(&x.data, &mut halves);
        let mut sums = vec![0.0; x.rows * wide];
        kernels::bf16_matmul((&mut sums, View::rows(wide)), &halves, b, WriteMode::Overwrite);
        cut(&sums, wide, y, out);
    });
}

/// `y = gᵀ · x`; `g` `[N, out]`, `x` `[N, k]`.
pub(super) fn multiply_over_rows(g: &[f32], x: &[f32], k: usize, out: usize, y: &mut [f32]) {
    let (g, x) = rayon::join(|| Padded::new(g, out).panels(), || Padded::new(x, k).panels());
    let wide = k.next_multiple_of(WHOLE);
    y.par_chunks_mut((WHOLE * k).max(1)).enumerate().for_each(|(piece, y)| {
        let mut sums = vec![0.0; WHOLE * wide];
        let dst = (sums.as_mut_slice(), View::rows(wide));
        kernels::bf16_matmul_transposed(dst, WHOLE, &g, piece * WHOLE, &x, WriteMode::Overwrite);
        cut(&sums, wide, y, k);
    });
}

/// Leaves out what rows were continued with.
fn cut(x: &[f32], wide: usize, y: &mut [f32], columns: usize) {
    for (to, from) in y.chunks_exact_mut(columns).zip(x.chunks_exact(wide)) {
        to.copy_from_slice(&from[..columns]);
    }
}
