//! Sentences for the tests of this layer.

use super::{Counts, Judged};
use crate::annotation::{LabelId, Span};

/// A mention as start, end and label.
pub(super) type Raw = (usize, usize, u32);

pub(super) fn counts(true_positives: usize, false_positives: usize, false_negatives: usize) -> Counts {
    Counts { true_positives, false_positives, false_negatives }
}

pub(super) fn mentions(raw: &[Raw]) -> Vec<(Span, LabelId)> {
    raw.iter().map(|&(s, e, label)| (Span::from_range(s..e).unwrap(), LabelId(label))).collect()
}

/// Hands on a sentence of five words with these mentions and without predictions of first words.
pub(super) fn judge<T>(gold: &[Raw], predicted: &[Raw], look: impl FnOnce(Judged<'_>) -> T) -> T {
    let words = vec!["word".to_owned(); 5];
    let (gold, predicted) = (mentions(gold), mentions(predicted));
    look(Judged { words: &words, gold: &gold, predicted: &predicted, first_words: None, candidates: 0 })
}
