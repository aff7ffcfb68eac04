//! Operations composed of candle's own, all of which have a backward pass: the specification of what runs on the CPU,
//! and what runs on other devices.

use super::kernels::{self, AdamWStep, DropMask};
use super::{NnError, Rng, softmax};
use candle_core::{D, Device, Shape, Tensor};

/// `(x - mean) / sqrt(variance + eps) · weight + bias` over the last dimension; `x` `[…, H]`, `weight` and `bias` `[H]`.
///
/// # Errors
/// On shapes that don't fit.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, eps: f64) -> Result<Tensor, NnError> {
    let centred = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let deviation = (centred.sqr()?.mean_keepdim(D::Minus1)? + eps)?.sqrt()?;
    Ok(centred.broadcast_div(&deviation)?.broadcast_mul(weight)?.broadcast_add(bias)?)
}

/// `x · Φ(x)`, the exact form of BERT.
///
/// # Errors
/// When the tensor is no float.
pub fn gelu(x: &Tensor) -> Result<Tensor, NnError> {
    Ok(x.gelu_erf()?)
}

/// One step of AdamW of a variable `p` with the gradient `g` and both moments; returns them as they are after it. See
/// [`kernels::adamw`].
///
/// # Errors
/// On shapes that don't fit.
pub fn adamw(
    p: &Tensor,
    g: &Tensor,
    [first, second]: [Tensor; 2],
    step: AdamWStep,
) -> Result<(Tensor, [Tensor; 2]), NnError> {
    let AdamWStep { grad_scale, rest1, rest2, idle } = step;
    let [grad_scale, rest1, rest2, beta1, beta2] = [grad_scale, rest1, rest2, idle.beta1, idle.beta2].map(f64::from);
    let [eps, rate, correct2, keep] = [idle.eps, idle.rate, idle.correct2, idle.keep].map(f64::from);
    let first = ((first * beta1)? + (g * (grad_scale * rest1))?)?;
    let second = ((second * beta2)? + (g.sqr()? * (grad_scale * grad_scale * rest2))?)?;
    let moved = ((&first * rate)? / ((&second * correct2)?.sqrt()? + eps)?)?;
    Ok((((p * keep)? - moved)?.detach(), [first.detach(), second.detach()]))
}

/// See [`super::Operations::linear`].
///
/// # Errors
/// On shapes that don't fit.
pub fn linear(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor, NnError> {
    let mut dims = x.dims().to_vec();
    let k = dims.pop().unwrap_or(1);
    dims.push(bias.dims1()?);
    let flat = x.reshape(((), k))?.matmul(&weight.t()?)?.broadcast_add(bias)?;
    Ok(flat.reshape(dims)?)
}

/// See [`super::Operations::dropout`].
///
/// # Errors
/// When the tensor is no float.
pub fn dropout(x: &Tensor, p: f32, rng: &mut Rng) -> Result<Tensor, NnError> {
    Ok((x * mask(x.shape(), p, rng, x.device())?)?)
}

/// Scaled dot-product attention of `heads` heads: `softmax(q kᵀ / √d) v`, with dropout on the probabilities.
///
/// q, k and v are `[B, T, H]`; the first `lens[b]` rows of a sentence count, the others attend to nothing, nothing
/// attends to them, and their result is 0. Result `[B, T, H]`.
///
/// # Errors
/// On shapes that don't fit.
pub fn attention(
    [q, k, v]: [&Tensor; 3],
    heads: usize,
    lens: &[usize],
    dropout: Option<(f32, &mut Rng)>,
) -> Result<Tensor, NnError> {
    let (b, t, h) = q.dims3()?;
    let d = h / heads.max(1);
    let counts: Vec<f32> = lens.iter().flat_map(|&len| (0..t).map(move |i| f32::from(u8::from(i < len)))).collect();
    let counts = Tensor::from_vec(counts, (b, t), q.device())?;
    let shut_out = counts.affine(1e9, -1e9)?.reshape((b, 1, 1, t))?;
    let [q, k, v] = [q, k, v].map(|x| split_heads(x, heads));
    let scores = (q?.matmul(&k?.t()?)? / (d as f64).sqrt())?.broadcast_add(&shut_out)?;
    let context = attend(&scores, &v?, dropout)?;
    Ok(context.broadcast_mul(&counts.reshape((b, t, 1))?)?)
}

/// `[B, T, H]` to `[B, heads, T, H / heads]`.
///
/// # Errors
/// On shapes that don't fit.
pub fn split_heads(x: &Tensor, heads: usize) -> Result<Tensor, NnError> {
    let (b, t, h) = x.dims3()?;
    Ok(x.reshape((b, t, heads, h / heads.max(1)))?.transpose(1, 2)?.contiguous()?)
}

/// `[B, heads, T, d]` to `[B, T, heads · d]`.
///
/// # Errors
/// On shapes that don't fit.
pub fn join_heads(x: &Tensor) -> Result<Tensor, NnError> {
    let (b, heads, t, d) = x.dims4()?;
    Ok(x.transpose(1, 2)?.contiguous()?.reshape((b, t, heads * d))?)
}

/// See [`super::Operations::attend`].
///
/// # Errors
/// On shapes that don't fit.
pub fn attend(scores: &Tensor, v: &Tensor, dropout: Option<(f32, &mut Rng)>) -> Result<Tensor, NnError> {
    let mut probabilities = softmax(scores)?;
    if let Some((p, rng)) = dropout {
        probabilities = (&probabilities * mask(probabilities.shape(), p, rng, v.device())?)?;
    }
    join_heads(&probabilities.matmul(v)?)
}

fn mask(shape: &Shape, p: f32, rng: &mut Rng, device: &Device) -> Result<Tensor, NnError> {
    let mut factors = vec![1f32; shape.elem_count()];
    kernels::drop_all(&mut factors, DropMask::new(p, rng.bits()));
    Ok(Tensor::from_vec(factors, shape, device)?)
}

#[cfg(test)]
mod tests {
    use super::super::{Rng, fused};
    use super::*;
    use candle_core::Var;

    /// Runs an operation both ways on random input and compares results and the gradients of all inputs.
    fn same(shapes: &[&[usize]], f: impl Fn(&[Tensor], bool, &mut Rng) -> Result<Tensor, NnError>) {
        let mut rng = Rng::new(11, "plain against fused");
        let inputs: Vec<Var> = shapes
            .iter()
            .map(|&shape| {
                let values: Vec<f32> = (0..shape.iter().product()).map(|_| rng.normal()).collect();
                Var::from_vec(values, shape, &Device::Cpu).unwrap()
            })
            .collect();
        let tensors: Vec<Tensor> = inputs.iter().map(|v| v.as_tensor().clone()).collect();
        let run = |fast: bool| {
            let y = f(&tensors, fast, &mut Rng::new(4, "dropout")).unwrap();
            let weights: Vec<f32> = (0..y.elem_count()).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
            let weights = Tensor::from_vec(weights, y.shape(), &Device::Cpu).unwrap();
            let grads = (&y * weights).unwrap().sum_all().unwrap().backward().unwrap();
            let mut all = vec![y];
            all.extend(inputs.iter().map(|v| grads.get(v.as_tensor()).unwrap().clone()));
            all
        };
        for (i, (a, b)) in run(true).iter().zip(run(false)).enumerate() {
            let size = b.abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap();
            let off = (a - &b).unwrap().abs().unwrap().max_all().unwrap().to_scalar::<f32>().unwrap();
            assert!(size > 0.0 && off < 3e-6 * size.max(1.0), "result {i}: off by {off} of {size}");
        }
    }

    #[test]
    fn linear_layers_agree() {
        same(&[&[2, 35, 12], &[7, 12], &[7]], |x, fast, _| {
            if fast { fused::linear(&x[0], &x[1], &x[2]) } else { linear(&x[0], &x[1], &x[2]) }
        });
    }

    #[test]
    fn layer_norms_agree() {
        same(&[&[3, 35, 12], &[12], &[12]], |x, fast, _| {
            let [x, weight, bias] = [&x[0], &x[1], &x[2]];
            if fast { fused::layer_norm(x, weight, bias, 1e-5) } else { layer_norm(x, weight, bias, 1e-5) }
        });
    }

    #[test]
    fn gelus_agree() {
        same(&[&[5, 40]], |x, fast, _| if fast { fused::gelu(&x[0]) } else { gelu(&x[0]) });
    }

    #[test]
    fn attentions_agree() {
        same(&[&[2, 3, 7, 7], &[2, 3, 7, 5]], |x, fast, rng| {
            let [scores, v] = [&x[0], &x[1]];
            if fast { fused::attend(scores, v, Some((0.3, rng))) } else { attend(scores, v, Some((0.3, rng))) }
        });
    }

    #[test]
    fn dropouts_agree() {
        same(&[&[5, 40]], |x, fast, rng| if fast { fused::dropout(&x[0], 0.4, rng) } else { dropout(&x[0], 0.4, rng) });
    }
}
