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
    fn softmax_sums_to_one_and_agrees_with_its_logarithm() {
        let x = Tensor::new(&[[1f32, -2., 3.], [1000., 1000., 999.]], &Device::Cpu).unwrap();
        let p = softmax(&x).unwrap();
        let sums = p.sum(D::Minus1).unwrap().to_vec1::<f32>().unwrap();
        assert!(sums.iter().all(|s| (s - 1.0).abs() < 1e-6));
        let off = (p.log().unwrap() - log_softmax(&x).unwrap()).unwrap().abs().unwrap().max_all().unwrap();
        assert!(off.to_scalar::<f32>().unwrap() < 1e-5);
    }
}
