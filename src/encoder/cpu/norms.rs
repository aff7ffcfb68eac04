//! Layer norms as the kernels take them.

use crate::nn::kernels::Norm;
use crate::nn::{Gradients, LayerNorm, NnError, TensorSlice, as_slice};

/// A layer norm's variables, read.
pub(super) struct Norms<'a> {
    weight: TensorSlice<'a>,
    bias: TensorSlice<'a>,
    eps: f32,
}

impl<'a> Norms<'a> {
    pub(super) fn read(layer: &'a LayerNorm) -> Result<Self, NnError> {
        Ok(Self { weight: as_slice(layer.weight())?, bias: as_slice(layer.bias())?, eps: layer.eps() as f32 })
    }

    pub(super) fn norm(&self) -> Norm<'_> {
        Norm { weight: &self.weight, bias: &self.bias, eps: self.eps }
    }
}

/// Adds the gradients of a norm's weight and bias, which stand one behind the other.
pub(super) fn add_norm(layer: &LayerNorm, both: &[f32], gradients: &mut Gradients) {
    let (weight, bias) = both.split_at(both.len() / 2);
    gradients.add(layer.weight(), weight);
    gradients.add(layer.bias(), bias);
}
