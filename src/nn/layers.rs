//! Layers: variables and the function that they belong to.

use super::{Init, NnError, Operations, Scope};
use candle_core::Tensor;

/// Standard deviation of BERT's initial weights.
const STD: f32 = 0.02;

/// `x · weightᵀ + bias`.
#[derive(Clone, Debug)]
pub struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    /// Weights as BERT has them: normal with deviation 0.02, zero bias.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(mut scope: Scope<'_>, inputs: usize, outputs: usize) -> Result<Self, NnError> {
        let weight = scope.declare("weight", &[outputs, inputs], Init::Normal { std: STD })?;
        Ok(Self { weight, bias: scope.declare("bias", &[outputs], Init::Zeros)? })
    }

    /// Weights as PyTorch has them: uniform within one over the square root of the inputs.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn uniform(scope: Scope<'_>, inputs: usize, outputs: usize) -> Result<Self, NnError> {
        Self::uniform_within(scope, inputs, outputs, inputs)
    }

    /// As [`Linear::uniform`] for a part of a layer whose inputs are `whole` in number.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn uniform_within(mut scope: Scope<'_>, inputs: usize, outputs: usize, whole: usize) -> Result<Self, NnError> {
        let init = Init::Uniform { bound: 1.0 / (whole.max(1) as f32).sqrt() };
        let weight = scope.declare("weight", &[outputs, inputs], init)?;
        Ok(Self { weight, bias: scope.declare("bias", &[outputs], init)? })
    }

    /// A layer of the same shapes that begins with the values of this one: see [`Scope::declare_copy`].
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn declare_copy(&self, mut scope: Scope<'_>) -> Result<Self, NnError> {
        let weight = scope.declare_copy("weight", &self.weight)?;
        Ok(Self { weight, bias: scope.declare_copy("bias", &self.bias)? })
    }

    /// `[N, K]`.
    pub fn weight(&self) -> &Tensor {
        &self.weight
    }

    /// `[N]`.
    pub fn bias(&self) -> &Tensor {
        &self.bias
    }

    /// `[…, K]` to `[…, N]`.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub fn forward(&self, x: &Tensor, operations: Operations) -> Result<Tensor, NnError> {
        operations.linear(x, &self.weight, &self.bias)
    }
}

#[derive(Clone, Debug)]
pub struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
    eps: f64,
}

impl LayerNorm {
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(mut scope: Scope<'_>, size: usize, eps: f64) -> Result<Self, NnError> {
        let weight = scope.declare("weight", &[size], Init::Ones)?;
        Ok(Self { weight, bias: scope.declare("bias", &[size], Init::Zeros)?, eps })
    }

    /// A norm of the same size that begins with the values of this one: see [`Scope::declare_copy`].
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub fn declare_copy(&self, mut scope: Scope<'_>) -> Result<Self, NnError> {
        let weight = scope.declare_copy("weight", &self.weight)?;
        Ok(Self { weight, bias: scope.declare_copy("bias", &self.bias)?, eps: self.eps })
    }

    /// `[…, H]` to `[…, H]`.
    ///
    /// # Errors
    /// On shapes that don't fit.
    pub fn forward(&self, x: &Tensor, operations: Operations) -> Result<Tensor, NnError> {
        operations.layer_norm(x, &self.weight, &self.bias, self.eps)
    }

    /// `[H]`.
    pub fn weight(&self) -> &Tensor {
        &self.weight
    }

    /// `[H]`.
    pub fn bias(&self) -> &Tensor {
        &self.bias
    }

    /// What is added to the variance.
    pub fn eps(&self) -> f64 {
        self.eps
    }
}

/// A table of vectors.
#[derive(Clone, Debug)]
pub struct Embedding {
    weight: Tensor,
}

impl Embedding {
    /// # Errors
    /// See [`Scope::declare`].
    pub fn new(mut scope: Scope<'_>, rows: usize, size: usize, std: f32) -> Result<Self, NnError> {
        Ok(Self { weight: scope.declare("weight", &[rows, size], Init::Normal { std })? })
    }

    /// The whole table, `[V, H]`.
    pub fn weight(&self) -> &Tensor {
        &self.weight
    }

    /// Row numbers `[N]` to `[N, H]`.
    ///
    /// # Errors
    /// When a number is not below V.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor, NnError> {
        Ok(self.weight.index_select(rows, 0)?)
    }
}
