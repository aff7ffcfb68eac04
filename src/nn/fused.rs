//! Operations as one pass each over CPU memory, with their own backward passes.
//!
//! The [`super::plain`] ones are their specification.

use super::kernels::{self, DropMask, Norm, View, WriteMode};
use super::tensor_slice::as_slice;
use super::{NnError, Rng, plain};
use candle_core::{CpuStorage, CustomOp1, CustomOp3, D, Layout, Shape, Tensor};
use rayon::prelude::*;

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

/// See [`super::Operations::layer_norm`].
///
/// # Errors
/// On shapes that don't fit.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, eps: f64) -> Result<Tensor, NnError> {
    let h = weight.dims1()?;
    if x.dim(D::Minus1)? != h || bias.dims1()? != h || h == 0 {
        return Err(NnError::shapes("layer_norm", &[x, weight, bias]));
    }
    Ok(x.contiguous()?.apply_op3(weight, bias, LayerNormOp { eps: eps as f32 })?)
}

/// See [`super::Operations::gelu`].
///
/// # Errors
/// When the tensor is not `f32`.
pub fn gelu(x: &Tensor) -> Result<Tensor, NnError> {
    Ok(x.contiguous()?.apply_op1(GeluOp)?)
}

/// See [`super::Operations::attend`].
///
/// # Errors
/// On shapes that don't fit.
pub fn attend(scores: &Tensor, v: &Tensor, drop: Option<(f32, &mut Rng)>) -> Result<Tensor, NnError> {
    let mut probabilities = scores.contiguous()?.apply_op1(SoftmaxOp)?;
    if let Some((p, rng)) = drop {
        probabilities = dropout(&probabilities, p, rng)?;
    }
    plain::join_heads(&probabilities.matmul(v)?)
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

/// Rows that are normalised at a time; their sums are added in order.
const ROWS: usize = 32;
/// Numbers that one task of a flat pass takes at a time.
const FLAT: usize = 1 << 15;

struct LayerNormOp {
    eps: f32,
}

impl CustomOp3 for LayerNormOp {
    fn name(&self) -> &'static str {
        "nestling-layer-norm"
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
        let (norm, piece, mut y) = (Norm { weight, bias, eps: self.eps }, ROWS * weight.len(), vec![0f32; x.len()]);
        y.par_chunks_mut(piece).zip(x.par_chunks(piece)).for_each(|(y, x)| kernels::layer_norm(x, norm, y));
        Ok((CpuStorage::F32(y), x_layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, weight: &Tensor, bias: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Gradients3> {
        let (h, grad) = (weight.dims1()?, grad.contiguous()?);
        let (mut dx, mut sum) = (vec![0f32; x.elem_count()], vec![0f32; 2 * h]);
        {
            let (x, weight, bias, grad) = (as_slice(x)?, as_slice(weight)?, as_slice(bias)?, as_slice(&grad)?);
            let (norm, piece) = (Norm { weight: &weight, bias: &bias, eps: self.eps }, ROWS * h);
            let mut sums = vec![0f32; x.len().div_ceil(piece) * 2 * h];
            let work = dx.par_chunks_mut(piece).zip(x.par_chunks(piece)).zip(grad.par_chunks(piece));
            work.zip(sums.par_chunks_mut(2 * h)).for_each(|(((dx, x), grad), sums)| {
                kernels::layer_norm_back(x, norm, grad, dx, sums);
            });
            kernels::add_rows(&sums, &mut sum);
        }
        let (dw, db) = sum.split_at(h);
        Ok((Some(like(dx, x)?), Some(like(dw.to_vec(), weight)?), Some(like(db.to_vec(), bias)?)))
    }
}

struct GeluOp;

impl CustomOp1 for GeluOp {
    fn name(&self) -> &'static str {
        "nestling-gelu"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let x = slice(x, layout)?;
        let mut y = vec![0f32; x.len()];
        y.par_chunks_mut(FLAT).zip(x.par_chunks(FLAT)).for_each(|(y, x)| kernels::gelu_row(x, y));
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let (mut dx, grad) = (vec![0f32; x.elem_count()], grad.contiguous()?);
        {
            let (x, grad) = (as_slice(x)?, as_slice(&grad)?);
            let work = dx.par_chunks_mut(FLAT).zip(x.par_chunks(FLAT)).zip(grad.par_chunks(FLAT));
            work.for_each(|((dx, x), grad)| {
                let mut value = vec![0f32; x.len()];
                kernels::gelu_slope_row(x, &mut value, dx);
                kernels::multiply_row(dx, grad);
            });
        }
        Ok(Some(like(dx, x)?))
    }
}

/// Over the last dimension.
struct SoftmaxOp;

/// Rows of a softmax that one task takes at a time.
fn rows_at_a_time(columns: usize) -> usize {
    (FLAT / columns.max(1)).max(1) * columns.max(1)
}

impl CustomOp1 for SoftmaxOp {
    fn name(&self) -> &'static str {
        "nestling-softmax"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> CandleResult<(CpuStorage, Shape)> {
        let mut y = slice(x, layout)?.to_vec();
        let columns = layout.dims().last().copied().unwrap_or(1).max(1);
        y.par_chunks_mut(rows_at_a_time(columns)).for_each(|rows| {
            rows.chunks_exact_mut(columns).for_each(|row| kernels::softmax_row(row, 1.0));
        });
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    /// `y (g - Σ y g)`.
    fn bwd(&self, x: &Tensor, y: &Tensor, grad: &Tensor) -> CandleResult<Option<Tensor>> {
        let (columns, grad) = (x.dim(D::Minus1)?.max(1), grad.contiguous()?);
        let mut dx = as_slice(&grad)?.to_vec();
        {
            let y = as_slice(y)?;
            let piece = rows_at_a_time(columns);
            dx.par_chunks_mut(piece).zip(y.par_chunks(piece)).for_each(|(dx, y)| {
                for (dx, y) in dx.chunks_exact_mut(columns).zip(y.chunks_exact(columns)) {
                    kernels::softmax_back_row(y, dx, 1.0);
                }
            });
        }
        Ok(Some(like(dx, x)?))
    }
}
