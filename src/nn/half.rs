//! Matrix products of tensors in half precision, made of [`kernels::half_matmul`] and what it needs around it: rows and
//! columns that make whole panels.

use super::fused::{like, slice};
use super::kernels::{self, Onto, Panels, View};
use super::{NnError, lend};
use candle_core::{CpuStorage, CustomOp2, Layout, Shape, Tensor};
use rayon::prelude::*;

/// What rows and columns are rounded up to.
const WHOLE: usize = Panels::WIDTH;
/// Rows that one task multiplies.
const ROWS: usize = 2 * WHOLE;

/// `x · weightᵀ` of inputs rounded to bfloat16, summed up in `f32`, and so are its gradients; `x` `[N, K]`, `weight`
/// `[M, K]`, result `[N, M]`. On the CPU; fast where [`kernels::has_bf16`].
///
/// # Errors
/// On shapes that don't fit.
pub fn project(x: &Tensor, weight: &Tensor) -> Result<Tensor, NnError> {
    let ((_, k), (_, inputs)) = (x.dims2()?, weight.dims2()?);
    if k != inputs {
        return Err(NnError::shapes("project", &[x, weight]));
    }
    Ok(x.contiguous()?.apply_op2(weight, Project)?)
}

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

/// `x · b` with the first `out` columns of `b`; `x` `[N, k]`.
fn multiply(x: &[f32], k: usize, b: &Panels, out: usize) -> Vec<f32> {
    let mut y = vec![0.0; x.len() / k.max(1) * out];
    let wide = out.next_multiple_of(WHOLE);
    let tasks = y.par_chunks_mut((ROWS * out).max(1)).zip(x.par_chunks((ROWS * k).max(1)));
    tasks.for_each(|(y, x)| {
        let (mut halves, x) = (Vec::new(), Padded::new(x, k));
        kernels::halve(&x.data, &mut halves);
        let mut sums = vec![0.0; x.rows * wide];
        kernels::half_matmul((&mut sums, View::rows(wide)), &halves, b, Onto::Nothing);
        cut(&sums, wide, y, out);
    });
    y
}

/// `gᵀ · x`; `g` `[N, out]`, `x` `[N, k]`.
fn multiply_over_rows(g: &[f32], out: usize, x: &[f32], k: usize) -> Vec<f32> {
    let mut y = vec![0.0; out * k];
    let (g, x) = rayon::join(|| Padded::new(g, out).panels(), || Padded::new(x, k).panels());
    let wide = k.next_multiple_of(WHOLE);
    y.par_chunks_mut((WHOLE * k).max(1)).enumerate().for_each(|(piece, y)| {
        let mut sums = vec![0.0; WHOLE * wide];
        let dst = (sums.as_mut_slice(), View::rows(wide));
        kernels::half_matmul_transposed(dst, WHOLE, &g, piece * WHOLE, &x, Onto::Nothing);
        cut(&sums, wide, y, k);
    });
    y
}

/// Leaves out what rows were continued with.
fn cut(x: &[f32], wide: usize, y: &mut [f32], columns: usize) {
    for (to, from) in y.chunks_exact_mut(columns).zip(x.chunks_exact(wide)) {
        to.copy_from_slice(&from[..columns]);
    }
}

struct Project;

impl CustomOp2 for Project {
    fn name(&self) -> &'static str {
        "nestling-half-project"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let ((n, k), (out, _)) = (x_layout.shape().dims2()?, weight_layout.shape().dims2()?);
        let panels = Padded::new(slice(weight, weight_layout)?, k).transposed();
        Ok((CpuStorage::F32(multiply(slice(x, x_layout)?, k, &panels, out)), Shape::from((n, out))))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (out, k) = weight.dims2()?;
        let grad = grad.contiguous()?;
        let (g, w, values) = (lend(&grad)?, lend(weight)?, lend(x)?);
        let dx = multiply(&g, out, &Padded::new(&w, k).panels(), k);
        let dw = multiply_over_rows(&g, out, &values, k);
        Ok((Some(like(dx, x)?), Some(like(dw, weight)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Rng, ops};
    use candle_core::{Device, Var};
    use proptest::prelude::*;

    /// What eight bits hold.
    fn exact(shape: (usize, usize), rng: &mut Rng) -> Var {
        let values: Vec<f32> = (0..shape.0 * shape.1).map(|_| rng.below(17) as f32 / 8.0 - 1.0).collect();
        Var::from_vec(values, shape, &Device::Cpu).unwrap()
    }

    fn values(x: &Tensor) -> Vec<f32> {
        x.flatten_all().unwrap().to_vec1().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn of_numbers_that_need_no_rounding_it_gives_the_product(
            n in 1usize..150, k in 1usize..80, m in 1usize..80, seed in 0u64..1000,
        ) {
            let mut rng = Rng::new(seed, "half");
            let (x, weight, slope) = (exact((n, k), &mut rng), exact((m, k), &mut rng), exact((n, m), &mut rng));
            let both = [project(&x, &weight).unwrap(), ops::project(&x, &weight).unwrap()];
            prop_assert_eq!(values(&both[0]), values(&both[1]));
            let [ours, theirs] = both.map(|y| (y * slope.as_tensor()).unwrap().sum_all().unwrap().backward().unwrap());
            for input in [&x, &weight] {
                prop_assert_eq!(values(ours.get(input).unwrap()), values(theirs.get(input).unwrap()));
            }
        }
    }
}
