//! Vectors of the shapes of words beside other vectors of theirs, for encoders that don't see case.

use super::{Sentence, WORD_SHAPES};
use crate::nn::{Embedding, NnError, Scope, u32_tensor};
use candle_core::Tensor;

/// Numbers of a shape's vector.
const SHAPE_SIZE: usize = 25;

/// A vector for each shape, learnt; none where they are not wanted.
#[derive(Debug)]
pub(super) struct ShapeVectors(Option<Embedding>);

impl ShapeVectors {
    /// Declares them as `word_shape`.
    ///
    /// # Errors
    /// See [`Scope::declare`].
    pub(super) fn new(scope: &mut Scope<'_>, are_wanted: bool) -> Result<Self, NnError> {
        let declare = || Embedding::new(scope.scope("word_shape"), WORD_SHAPES, SHAPE_SIZE, 1.0);
        Ok(Self(are_wanted.then(declare).transpose()?))
    }

    /// D: numbers of a vector of `size` numbers with its shape.
    pub(super) fn size_with(&self, size: usize) -> usize {
        size + if self.0.is_some() { SHAPE_SIZE } else { 0 }
    }

    /// Puts the vectors of `shapes`, N of them, beside `vectors` `[N, H]`: `[N, D]`.
    pub(super) fn beside(&self, vectors: Tensor, shapes: impl FnOnce() -> Vec<u32>) -> Result<Tensor, NnError> {
        let Some(table) = &self.0 else { return Ok(vectors) };
        let shapes = table.forward(&u32_tensor(&shapes(), vectors.device())?)?;
        Ok(Tensor::cat(&[&vectors, &shapes], 1)?)
    }
}

/// The shapes of all words of a batch.
pub(super) fn shapes_of(batch: &[&Sentence]) -> Vec<u32> {
    batch.iter().flat_map(|sentence| sentence.word_shapes().iter().copied()).collect()
}
