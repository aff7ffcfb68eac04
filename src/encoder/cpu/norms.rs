//! Layer norms as the kernels take them.

use crate::nn::kernels::{self, Norm};
use crate::nn::{Gradients, LayerNorm, Lent, NnError, lend};

/// A layer norm's variables, read.
pub(super) struct Norms<'a> {
    weight: Lent<'a>,
    bias: Lent<'a>,
    eps: f32,
}

impl<'a> Norms<'a> {
    pub(super) fn read(layer: &'a LayerNorm) -> Result<Self, NnError> {
        Ok(Self { weight: lend(layer.weight())?, bias: lend(layer.bias())?, eps: layer.eps() as f32 })
    }

    pub(super) fn norm(&self) -> Norm<'_> {
        Norm { weight: &self.weight, bias: &self.bias, eps: self.eps }
    }
}

/// Adds the gradients of a norm's weight and bias, which stand one behind the other in each of `sums`.
pub(super) fn add_norm<'a>(layer: &LayerNorm, sums: impl Iterator<Item = &'a [f32]>, gradients: &mut Gradients) {
    let h = layer.weight().elem_count();
    let mut total = vec![0.0; 2 * h];
    sums.for_each(|sentence| kernels::add_row(&mut total, sentence));
    gradients.add(layer.weight(), &total[..h]);
    gradients.add(layer.bias(), &total[h..]);
}
