//! A scalar whose gradients were found on the way to it.
//!
//! An operation that works on its input piece by piece, forward and backward, keeps nothing of the size of all pieces. What
//! candle then needs for its own backward pass is the result and the gradients: candle's custom operations have three
//! inputs at most, and this has any number.

use super::fused::like;
use super::tensor_slice::as_slice;
use super::{NnError, Operations};
use candle_core::{CpuStorage, CustomOp2, Layout, Shape, Tensor};
use std::sync::Mutex;

/// `value`, a scalar, with the gradient of each input. It can be differentiated once.
///
/// # Errors
/// When a gradient has not the shape of its input.
pub fn with_gradients(
    value: &Tensor,
    gradients: Vec<(Tensor, Tensor)>,
    operations: Operations,
) -> Result<Tensor, NnError> {
    let mut value = value.detach();
    for (input, gradient) in gradients {
        if input.dims() != gradient.dims() {
            return Err(NnError::shapes("with_gradients", &[&input, &gradient]));
        }
        value = match operations {
            Operations::ByHand => value.apply_op2(&input, Known(Mutex::new(Some(gradient))))?,
            Operations::Plain => {
                // Nothing, with a slope.
                let sum = (input * gradient.detach())?.sum_all()?;
                (value + (&sum - sum.detach())?)?
            }
        };
    }
    Ok(value)
}

/// The first input, with the gradient of the second.
struct Known(Mutex<Option<Tensor>>);

impl CustomOp2 for Known {
    fn name(&self) -> &'static str {
        "nestling-known-gradient"
    }

    fn cpu_fwd(
        &self,
        value: &CpuStorage,
        layout: &Layout,
        _: &CpuStorage,
        _: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        Ok((CpuStorage::F32(super::fused::slice(value, layout)?.to_vec()), layout.shape().clone()))
    }

    fn bwd(
        &self,
        _: &Tensor,
        input: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let Some(gradient) = self.0.lock().ok().and_then(|mut place| place.take()) else {
            candle_core::bail!("a scalar with known gradients can be differentiated once");
        };
        let factor = as_slice(&grad.contiguous()?)?.first().copied().unwrap_or(0.0);
        let gradient = gradient.contiguous()?;
        let values: Vec<f32> = as_slice(&gradient)?.iter().map(|x| x * factor).collect();
        Ok((Some(grad.clone()), Some(like(values, input)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::{Device, Var};

    #[test]
    fn gradients_arrive_and_the_value_stays() {
        let of = |values: &[f32]| Tensor::from_slice(values, values.len(), &Device::Cpu).unwrap();
        for operations in [Operations::ByHand, Operations::Plain] {
            let inputs = [of(&[3.0, 4.0]), of(&[5.0])].map(|x| Var::from_tensor(&x).unwrap());
            let [a, b] = inputs.each_ref().map(|x| (x.as_tensor() * 2.0).unwrap());
            let value = Tensor::new(7f32, &Device::Cpu).unwrap();
            let gradients = vec![(a.clone(), of(&[1.0, -2.0])), (b, of(&[0.5])), (a, of(&[0.0, 1.0]))];
            let scalar = with_gradients(&value, gradients, operations).unwrap();
            assert_eq!(scalar.to_scalar::<f32>().unwrap(), 7.0);
            let store = (scalar * 10.0).unwrap().backward().unwrap();
            let got = inputs.each_ref().map(|x| store.get(x.as_tensor()).unwrap().to_vec1::<f32>().unwrap());
            assert_eq!(got, [vec![20.0, -20.0], vec![10.0]]);
        }
        let value = Tensor::new(7f32, &Device::Cpu).unwrap();
        let other = with_gradients(&value, vec![(of(&[1.0]), of(&[1.0, 2.0]))], Operations::ByHand);
        assert!(matches!(other, Err(NnError::Shapes { op: "with_gradients", .. })));
    }
}
