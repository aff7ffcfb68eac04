//! Functions of tensors that pass gradients.

use super::NnError;
use candle_core::{D, Device, Tensor};

/// `x · weightᵀ`; `x` `[N, K]`, `weight` `[M, K]`, result `[N, M]`.
///
/// # Errors
/// On shapes that don't fit.
pub fn project(x: &Tensor, weight: &Tensor) -> Result<Tensor, NnError> {
    Ok(x.matmul(&weight.t()?)?)
}

/// Over the last dimension.
///
/// # Errors
/// When the tensor is no float.
pub fn softmax(x: &Tensor) -> Result<Tensor, NnError> {
    let e = shifted(x)?.exp()?;
    Ok(e.broadcast_div(&e.sum_keepdim(D::Minus1)?)?)
}

/// Over the last dimension.
///
/// # Errors
/// When the tensor is no float.
pub fn log_softmax(x: &Tensor) -> Result<Tensor, NnError> {
    let shifted = shifted(x)?;
    let log_sum = shifted.exp()?.sum_keepdim(D::Minus1)?.log()?;
    Ok(shifted.broadcast_sub(&log_sum)?)
}

/// `ln Σ exp(x)` over the last dimension, `[…, C]` to `[…]`.
///
/// # Errors
/// When the tensor is no float.
pub fn log_sum_exp(x: &Tensor) -> Result<Tensor, NnError> {
    let greatest = x.detach().max_keepdim(D::Minus1)?;
    let sum = x.broadcast_sub(&greatest)?.exp()?.sum(D::Minus1)?.log()?;
    Ok((sum + greatest.squeeze(D::Minus1)?)?)
}

/// `1 / (1 + e^-x)` of each number, by way of tanh, which does not overflow.
///
/// # Errors
/// When the tensor is no float.
pub fn sigmoid(x: &Tensor) -> Result<Tensor, NnError> {
    Ok((x * 0.5)?.tanh()?.affine(0.5, 0.5)?)
}

/// `ln(1 + e^x)` of each number, which is `-ln σ(-x)`.
///
/// # Errors
/// When the tensor is no float.
pub fn softplus(x: &Tensor) -> Result<Tensor, NnError> {
    Ok((x.relu()? + (x.abs()?.neg()?.exp()? + 1.0)?.log()?)?)
}

/// Less the greatest value of each row, a constant for the gradient.
fn shifted(x: &Tensor) -> Result<Tensor, NnError> {
    Ok(x.broadcast_sub(&x.detach().max_keepdim(D::Minus1)?)?)
}

/// Mean over the rows of `-log softmax(logits)[class]`; `logits` `[N, C]`, a class below C for each row.
///
/// # Errors
/// When the number of classes is not N, or a class is not below C.
pub fn cross_entropy(logits: &Tensor, classes: &[u32]) -> Result<Tensor, NnError> {
    let (n, _) = logits.dims2()?;
    let classes = Tensor::from_slice(classes, (n, 1), logits.device())?;
    Ok(log_softmax(logits)?.gather(&classes, 1)?.mean_all()?.neg()?)
}

/// Row numbers for selecting.
///
/// # Errors
/// When the device refuses.
pub fn u32_tensor(values: &[u32], device: &Device) -> Result<Tensor, NnError> {
    Ok(Tensor::from_slice(values, values.len(), device)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Var;

    /// Reference: `torch.nn.functional.cross_entropy(torch.tensor([[1., 2., 100.], [0.5, -1., 0.]]),
    /// torch.tensor([1, 0]))` = 49.302067; gradients [0, -0.5, 0.5], [-0.22672531, 0.06097582, 0.16574948].
    #[test]
    fn cross_entropy_is_stable_and_as_in_pytorch() {
        let logits = Var::new(&[[1f32, 2., 100.], [0.5, -1., 0.]], &Device::Cpu).unwrap();
        let loss = cross_entropy(&logits, &[1, 0]).unwrap();
        assert!((loss.to_scalar::<f32>().unwrap() - 49.302_067).abs() < 1e-5, "{loss}");
        let grad = loss.backward().unwrap().get(logits.as_tensor()).unwrap().to_vec2::<f32>().unwrap();
        let expected = [0.0, -0.5, 0.5, -0.226_725_3, 0.060_975_8, 0.165_749_5];
        for (got, want) in grad.concat().iter().zip(expected) {
            assert!((got - want).abs() < 1e-6, "{grad:?}");
        }
    }

    #[test]
    fn sums_of_exponentials_neither_overflow_nor_vanish() {
        let x = Tensor::new(&[[1000f32, 1000.0], [-1000.0, -1001.0]], &Device::Cpu).unwrap();
        let got = log_sum_exp(&x).unwrap().to_vec1::<f32>().unwrap();
        let expected = [1000.0 + 2f32.ln(), -1000.0 + (1.0 + (-1f32).exp()).ln()];
        assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3), "{got:?}");
        let x = Tensor::new(&[-200f32, 0.0, 200.0], &Device::Cpu).unwrap();
        let [of, plus] = [sigmoid, softplus].map(|f| f(&x).unwrap().to_vec1::<f32>().unwrap());
        assert_eq!((of, plus), (vec![0.0, 0.5, 1.0], vec![0.0, 2f32.ln(), 200.0]));
    }

    #[test]
    fn gradients_are_slopes() {
        use super::super::slopes::{assert_slopes, random};
        let x = random(&[3, 4], 6);
        assert_slopes(&[&x], |x| log_sum_exp(x[0]).unwrap());
        assert_slopes(&[&x], |x| sigmoid(x[0]).unwrap());
        assert_slopes(&[&x], |x| softplus(x[0]).unwrap());
        assert_slopes(&[&x], |x| log_softmax(x[0]).unwrap());
    }

    #[test]
    fn softmax_sums_to_one_and_agrees_with_its_logarithm() {
        let x = Tensor::new(&[[1f32, -2., 3.], [1000., 1000., 999.]], &Device::Cpu).unwrap();
        let p = softmax(&x).unwrap();
        let sums = p.sum(D::Minus1).unwrap().to_vec1::<f32>().unwrap();
        assert!(sums.iter().all(|s| (s - 1.0).abs() < 1e-6));
        let off = (p.log().unwrap() - log_softmax(&x).unwrap()).unwrap().abs().unwrap().max_all().unwrap();
        assert!(off.to_scalar::<f32>().unwrap() < 1e-5);
    }
}
