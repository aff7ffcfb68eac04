//! The vectors of words: the mean of the encoder's last four layers, of which the greatest values over a word's subwords
//! (as the authors' program has them), and the word's form.

use crate::encoder::Encoded;
use crate::model::{ModelError, Sentence, WORD_SHAPES};
use crate::nn::{Embedding, NnError, Operations, Scope, u32_tensor};
use candle_core::Tensor;

/// Layers of the encoder that words are made of.
pub(super) const LAYERS: usize = 4;
/// Numbers of a word's form.
const SHAPE_SIZE: usize = 25;

#[derive(Debug)]
pub(super) struct WordVectors {
    shapes: Option<Embedding>,
    operations: Operations,
}

impl WordVectors {
    pub(super) fn new(scope: Scope<'_>, word_shapes: bool, operations: Operations) -> Result<Self, NnError> {
        let shapes = if word_shapes { Some(Embedding::new(scope, WORD_SHAPES, SHAPE_SIZE, 1.0)?) } else { None };
        Ok(Self { shapes, operations })
    }

    /// D, for an encoder with vectors of `hidden` numbers.
    pub(super) fn size(&self, hidden: usize) -> usize {
        hidden + if self.shapes.is_some() { SHAPE_SIZE } else { 0 }
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
        let Some(table) = &self.shapes else { return Ok(words) };
        let shapes: Vec<u32> = batch.iter().flat_map(|sentence| sentence.word_shapes().iter().copied()).collect();
        let shapes = table.forward(&u32_tensor(&shapes, words.device())?)?;
        Ok(Tensor::cat(&[&words, &shapes], 1)?)
    }
}
