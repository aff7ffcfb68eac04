//! Operations as one pass each over CPU memory, with their own backward passes.
//!
//! The [`super::plain`] ones are their specification.

use super::kernels::{self, DropMask, View, WriteMode};
use super::tensor_slice::as_slice;
use super::{NnError, Rng};
use candle_core::{CpuStorage, CustomOp1, CustomOp3, D, Layout, Shape, Tensor};

type CandleResult<T> = candle_core::Result<T>;

/// See [`super::Operations::linear`].
///
/// # Errors
/// On shapes that don't fit.
pub fn linear(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor, NnError> {
    let (out, k) = weight.dims2()?;
    if x.dim(D::Minus1)? != k || bias.dims1()? != out {
        return Err(NnError::shapes("linear", &[x, weight, bias]));
    }
    Ok(x.contiguous()?.apply_op3(weight, bias, LinearOp)?)
}

/// See [`super::Operations::dropout`].
///
/// # Errors
/// When the tensor is not `f32`.
pub fn dropout(x: &Tensor, p: f32, rng: &mut Rng) -> Result<Tensor, NnError> {
    Ok(x.contiguous()?.apply_op1(DropoutOp(DropMask::new(p, rng.bits())))?)
}

/// The numbers of an operation's input.
///
/// # Errors
/// When they are not contiguous `f32`.
pub fn slice<'a>(storage: &'a CpuStorage, layout: &Layout) -> CandleResult<&'a [f32]> {
    match layout.contiguous_offsets() {
        Some((from, to)) => Ok(&storage.as_slice::<f32>()?[from..to]),
        None => candle_core::bail!("the operation needs contiguous input"),
    }
}

/// Values as a tensor of another one's shape, where that lies.
///
/// # Errors
/// When they are not as many.
pub fn like(values: Vec<f32>, tensor: &Tensor) -> CandleResult<Tensor> {
    Tensor::from_vec(values, tensor.shape(), tensor.device())
}

type Gradients3 = (Option<Tensor>, Option<Tensor>, Option<Tensor>);

struct LinearOp;

impl CustomOp3 for LinearOp {
    fn name(&self) -> &'static str {
        "nestling-linear"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> CandleResult<(CpuStorage, Shape)> {
        let (x, weight, bias) = (slice(x, x_layout)?, slice(weight, weight_layout)?, slice(bias, bias_layout)?);
        let mut dims = x_layout.dims().to_vec();
        let k = dims.pop().unwrap_or(1).max(1);
        let (n, out) = (x.len() / k, bias.len());
        dims.push(out);
        let mut y = vec![0f32; n * out];
        let transposed = View::rows(k).transposed();
        kernels::matmul_divided(
            [n, out, k],
            (&mut y, View::rows(out)),
            (x, View::rows(k)),
            (weight, transposed),
            WriteMode::Overwrite,
        );
        kernels::add_bias(&mut y, bias);
        Ok((CpuStorage::F32(y), Shape::from(dims)))
    }

    fn bwd(&self, x: &Tensor, weight: &Tensor, bias: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Gradients3> {
        let (out, k) = weight.dims2()?;
        let n = grad.elem_count() / out.max(1);
        let (mut dx, mut dw) = (vec![0f32; n * k], vec![0f32; out * k]);
        let grad = grad.contiguous()?;
        let db = {
            let (x, w, g) = (as_slice(x)?, as_slice(weight)?, as_slice(&grad)?);
            let (rows, grads) = (View::rows(k), View::rows(out));
            kernels::matmul_divided([n, k, out], (&mut dx, rows), (&g, grads), (&w, rows), WriteMode::Overwrite);
            kernels::matmul_divided(
                [out, k, n],
                (&mut dw, rows),
                (&g, grads.transposed()),
                (&x, rows),
                WriteMode::Overwrite,
            );
            kernels::sum_rows(&g, out)
        };
        Ok((Some(like(dx, x)?), Some(like(dw, weight)?), Some(like(db, bias)?)))
    }
}

struct DropoutOp(DropMask);

impl CustomOp1 for DropoutOp {
    fn name(&self) -> &'static str {
        "nestling-dropout"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let mut y = slice(x, layout)?.to_vec();
        kernels::drop_all(&mut y, self.0);
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let mut dx = as_slice(&grad.contiguous()?)?.to_vec();
        kernels::drop_all(&mut dx, self.0);
        Ok(Some(like(dx, x)?))
    }
}
