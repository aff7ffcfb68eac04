//! Two matrix products as one operation: the upper rows of a matrix times one weight, the lower ones times another.

use super::bf16;
use super::fused::{like, slice};
use super::kernels::{View, WriteMode, matmul_divided};
use super::{NnError, Operations, as_slice, project};
use candle_core::{CpuStorage, CustomOp3, Layout, Shape, Tensor};

/// `x · upperᵀ` for the first `rows` rows of `x` `[N, K]` and `x · lowerᵀ` for the others; weights `[M, K]`, result `[N, M]`.
///
/// With `bf16`, by hand, the inputs of products are rounded to bfloat16, in the backward pass, too.
///
/// # Errors
/// On shapes that don't fit.
pub fn project_pair(
    x: &Tensor,
    [upper, lower]: [&Tensor; 2],
    rows: usize,
    bf16: bool,
    operations: Operations,
) -> Result<Tensor, NnError> {
    let ((n, k), (_, inputs)) = (x.dims2()?, upper.dims2()?);
    if k != inputs || upper.dims() != lower.dims() || rows > n {
        return Err(NnError::shapes("project_pair", &[x, upper, lower]));
    }
    if operations == Operations::ByHand {
        return Ok(x.contiguous()?.apply_op3(&upper.contiguous()?, &lower.contiguous()?, Pair { rows, bf16 })?);
    }
    // Candle has no products of nothing.
    match (rows, n - rows) {
        (_, 0) => project(x, upper),
        (0, _) => project(x, lower),
        (_, rest) => {
            let both = [project(&x.narrow(0, 0, rows)?, upper)?, project(&x.narrow(0, rows, rest)?, lower)?];
            Ok(Tensor::cat(&both, 0)?)
        }
    }
}

struct Pair {
    rows: usize,
    bf16: bool,
}

impl Pair {
    /// `y = x · weightᵀ`; `y` is 0 before.
    fn forward(&self, x: &[f32], weight: &[f32], k: usize, out: usize, y: &mut [f32]) {
        if x.is_empty() {
            return;
        }
        if self.bf16 {
            return bf16::multiply(x, weight, k, out, y);
        }
        let (n, transposed) = (x.len() / k.max(1), View::rows(k).transposed());
        matmul_divided(
            [n, out, k],
            (y, View::rows(out)),
            (x, View::rows(k)),
            (weight, transposed),
            WriteMode::Overwrite,
        );
    }

    /// The gradients of `x` and of the weight, which are 0 before.
    fn backward(&self, g: &[f32], x: &[f32], weight: &[f32], [k, out]: [usize; 2], dx: &mut [f32], dw: &mut [f32]) {
        if x.is_empty() {
            return;
        }
        if self.bf16 {
            bf16::multiply_back(g, weight, k, out, dx);
            return bf16::multiply_over_rows(g, x, k, out, dw);
        }
        let (n, rows, grads) = (x.len() / k.max(1), View::rows(k), View::rows(out));
        matmul_divided([n, k, out], (dx, rows), (g, grads), (weight, rows), WriteMode::Overwrite);
        matmul_divided([out, k, n], (dw, rows), (g, grads.transposed()), (x, rows), WriteMode::Overwrite);
    }
}

type Gradients3 = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

impl CustomOp3 for Pair {
    fn name(&self) -> &'static str {
        "nestling-project-pair"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        upper: &CpuStorage,
        upper_layout: &Layout,
        lower: &CpuStorage,
        lower_layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let ((n, k), (out, _)) = (x_layout.shape().dims2()?, upper_layout.shape().dims2()?);
        let (x_upper, x_lower) = slice(x, x_layout)?.split_at(self.rows * k);
        let mut y = vec![0.0; n * out];
        let (y_upper, y_lower) = y.split_at_mut(self.rows * out);
        self.forward(x_upper, slice(upper, upper_layout)?, k, out, y_upper);
        self.forward(x_lower, slice(lower, lower_layout)?, k, out, y_lower);
        Ok((CpuStorage::F32(y), Shape::from((n, out))))
    }

    fn bwd(
        &self,
        x: &Tensor,
        upper: &Tensor,
        lower: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<Gradients3> {
        let ((n, k), (out, _)) = (x.dims2()?, upper.dims2()?);
        let grad = grad.contiguous()?;
        let (mut dx, mut d_upper, mut d_lower) = (vec![0.0; n * k], vec![0.0; out * k], vec![0.0; out * k]);
        {
            let (g, values) = (as_slice(&grad)?, as_slice(x)?);
            let ((g_upper, g_lower), (x_upper, x_lower)) =
                (g.split_at(self.rows * out), values.split_at(self.rows * k));
            let (dx_upper, dx_lower) = dx.split_at_mut(self.rows * k);
            self.backward(g_upper, x_upper, &as_slice(upper)?, [k, out], dx_upper, &mut d_upper);
            self.backward(g_lower, x_lower, &as_slice(lower)?, [k, out], dx_lower, &mut d_lower);
        }
        Ok((Some(like(dx, x)?), Some(like(d_upper, upper)?), Some(like(d_lower, lower)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Rng;
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
        fn of_numbers_that_need_no_rounding_it_gives_both_products(
            n in 1usize..150, share in -0.2f64..1.0, k in 1usize..80, m in 1usize..80, bf16: bool, seed in 0u64..1000,
        ) {
            let mut rng = Rng::new(seed, "pair");
            let (x, slope) = (exact((n, k), &mut rng), exact((n, m), &mut rng));
            let weights = [exact((m, k), &mut rng), exact((m, k), &mut rng)];
            let [upper, lower] = [&weights[0], &weights[1]].map(|w| w.as_tensor());
            let rows = (n as f64 * share.max(0.0)) as usize;
            let part = |from: usize, count: usize, w: &Tensor| project(&x.narrow(0, from, count).unwrap(), w).unwrap();
            let mut parts = Vec::new();
            if rows > 0 {
                parts.push(part(0, rows, upper));
            }
            parts.push(part(rows, n - rows, lower));
            let both = [project_pair(&x, [upper, lower], rows, bf16, Operations::ByHand).unwrap(), Tensor::cat(&parts, 0).unwrap()];
            prop_assert_eq!(values(&both[0]), values(&both[1]));
            let [ours, theirs] = both.map(|y| (y * slope.as_tensor()).unwrap().sum_all().unwrap().backward().unwrap());
            for input in [x.as_tensor(), upper, lower] {
                let got = values(ours.get(input).unwrap());
                let expected = theirs.get(input).map_or_else(|| vec![0.0; got.len()], values);
                prop_assert_eq!(got, expected);
            }
        }
    }
}
