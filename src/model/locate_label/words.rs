//! The vectors of words: the mean of the encoder's last four layers, of which the greatest values over a word's subwords
//! (as the authors' program has them), and the word's form.

use crate::encoder::Encoded;
use crate::model::shape_vectors::{ShapeVectors, shapes_of};
use crate::model::{ModelError, Sentence};
use crate::nn::{NnError, Operations, Scope};
use candle_core::Tensor;

/// Layers of the encoder that words are made of.
pub(super) const LAYERS: usize = 4;

#[derive(Debug)]
pub(super) struct WordVectors {
    shapes: ShapeVectors,
    operations: Operations,
}

impl WordVectors {
    pub(super) fn new(scope: &mut Scope<'_>, word_shapes: bool, operations: Operations) -> Result<Self, NnError> {
        Ok(Self { shapes: ShapeVectors::new(scope, word_shapes)?, operations })
    }

    /// D, for an encoder with vectors of `hidden` numbers.
    pub(super) fn size(&self, hidden: usize) -> usize {
        self.shapes.size_with(hidden)
    }

    /// Of all words of a batch, `[W, D]`.
    pub(super) fn of(&self, encoded: &Encoded, batch: &[&Sentence]) -> Result<Tensor, ModelError> {
        let [lowest, higher @ ..] = encoded.layers() else { return Err(ModelError::Incomplete) };
        let mut sum = lowest.clone();
        for layer in higher {
            sum = (sum + layer)?;
        }
        let mean = (sum * (1.0 / encoded.layers().len() as f64))?;
        let words = encoded.max_of_subwords(&mean, self.operations)?;
        Ok(self.shapes.beside(words, || shapes_of(batch))?)
    }
}
