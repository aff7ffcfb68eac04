//! The vectors of words, which have the greatest values of their subwords (Eq. 3), and of `[CLS]`.
//!
//! Ours: word shapes beside them for encoders that don't see case.

use crate::encoder::Encoded;
use crate::model::shape_vectors::{ShapeVectors, shapes_of};
use crate::model::{ModelError, Sentence};
use crate::nn::{Mode, NnError, Operations, Scope, select_rows};
use candle_core::Tensor;

/// What makes [`Vectors`].
#[derive(Debug)]
pub(super) struct WordVectors {
    shapes: ShapeVectors,
    dropout: f32,
    operations: Operations,
}

/// Vectors of the W words of a batch, and of `[CLS]` of its V windows.
pub(super) struct Vectors {
    /// `[W, D]`
    pub words: Tensor,
    /// The same after dropout.
    pub dropped: Tensor,
    /// `[V, H]`, after dropout.
    pub cls: Tensor,
    /// The window of each word.
    pub windows: Vec<u32>,
}

impl WordVectors {
    pub(super) fn new(
        scope: &mut Scope<'_>,
        word_shapes: bool,
        dropout: f32,
        operations: Operations,
    ) -> Result<Self, NnError> {
        Ok(Self { shapes: ShapeVectors::new(scope, word_shapes)?, dropout, operations })
    }

    /// D, for an encoder with vectors of `hidden` numbers.
    pub(super) fn size(&self, hidden: usize) -> usize {
        self.shapes.size_with(hidden)
    }

    pub(super) fn of(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        mode: &mut Mode<'_>,
    ) -> Result<Vectors, ModelError> {
        let words = encoded.max_of_subwords(encoded.hidden(), self.operations)?;
        let words = self.shapes.beside(words, || shapes_of(batch))?;
        let (rows, windows) = windows(encoded.words().cls());
        let cls = select_rows(encoded.hidden(), &rows)?;
        let [dropped, cls] = [&words, &cls].map(|x| self.operations.dropout(x, self.dropout, mode));
        Ok(Vectors { dropped: dropped?, cls: cls?, words, windows })
    }
}

/// The rows of `[CLS]` that words have, neighbours that have the same one once; and which of these each word has.
fn windows(cls: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut rows: Vec<u32> = Vec::new();
    let window = |row: &u32| {
        if rows.last() != Some(row) {
            rows.push(*row);
        }
        rows.len() as u32 - 1
    };
    let windows = cls.iter().map(window).collect();
    (rows, windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_window_share_its_cls() {
        assert_eq!(windows(&[0, 0, 9, 14, 14]), (vec![0, 9, 14], vec![0, 0, 1, 2, 2]));
        assert_eq!(windows(&[]), (vec![], vec![]));
    }
}
