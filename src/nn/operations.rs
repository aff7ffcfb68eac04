//! The choice between passes written by hand and candle's operations.

use super::{Mode, NnError, fused, plain};
use candle_core::Tensor;

/// What a model is computed by. Both give the same up to rounding, and draw the same dropout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Operations {
    /// Passes written by hand, for tensors on the CPU.
    #[default]
    ByHand,
    /// Candle's own, on any device.
    Plain,
}

impl Operations {
    /// `x · weightᵀ + bias`; `x` `[…, K]`, `weight` `[N, K]`, `bias` `[N]`, result `[…, N]`.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub fn linear(self, x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor, NnError> {
        match self {
            Self::ByHand => fused::linear(x, weight, bias),
            Self::Plain => plain::linear(x, weight, bias),
        }
    }

    /// `(x - mean) / sqrt(variance + eps) · weight + bias` over the last dimension; `x` `[…, H]`, `weight` and `bias` `[H]`.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub fn layer_norm(self, x: &Tensor, weight: &Tensor, bias: &Tensor, eps: f64) -> Result<Tensor, NnError> {
        match self {
            Self::ByHand => fused::layer_norm(x, weight, bias, eps),
            Self::Plain => plain::layer_norm(x, weight, bias, eps),
        }
    }

    /// `x · Φ(x)` of each number, the exact form of BERT.
    ///
    /// # Errors
    /// When the tensor is no float.
    pub fn gelu(self, x: &Tensor) -> Result<Tensor, NnError> {
        match self {
            Self::ByHand => fused::gelu(x),
            Self::Plain => plain::gelu(x),
        }
    }

    /// What attention makes of its scores `[B, heads, T, T]` and the values `[B, heads, T, d]`: `softmax(scores) v`, with a
    /// share `p` of the probabilities dropped in training. Result `[B, T, heads · d]`.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub fn attend(self, scores: &Tensor, v: &Tensor, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
        match self {
            Self::ByHand => fused::attend(scores, v, mode.dropout(p)),
            Self::Plain => plain::attend(scores, v, mode.dropout(p)),
        }
    }

    /// Sets a share `p` of the units to 0 in training and scales the others by `1 / (1 - p)`.
    ///
    /// # Errors
    /// When the tensor is no float.
    pub fn dropout(self, x: &Tensor, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
        let Some((p, rng)) = mode.dropout(p) else { return Ok(x.clone()) };
        match self {
            Self::ByHand => fused::dropout(x, p, rng),
            Self::Plain => plain::dropout(x, p, rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn nothing_is_dropped_in_prediction() {
        let x = Tensor::new(&[1f32, 2., 3.], &Device::Cpu).unwrap();
        for operations in [Operations::ByHand, Operations::Plain] {
            let y = operations.dropout(&x, 0.9, &mut Mode::Predict).unwrap();
            assert_eq!(y.to_vec1::<f32>().unwrap(), [1., 2., 3.]);
        }
    }
}
