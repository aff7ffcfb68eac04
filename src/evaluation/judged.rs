//! One sentence with what a person and a model say of it.

use super::Counts;
use crate::annotation::{LabelId, Span, TokenIdx};

#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// How many there are and how they are written matters to some analyses; strict scores look at mentions only.
    pub words: &'a [String],
    pub gold: &'a [(Span, LabelId)],
    pub predicted: &'a [(Span, LabelId)],
    /// Words that the model takes for first words of entities, where it predicts them.
    pub first_words: Option<&'a [TokenIdx]>,
    /// Spans that the model was asked about.
    pub candidates: usize,
}

impl Judged<'_> {
    /// Strict counts over all labels.
    pub fn counts(self) -> Counts {
        self.strict().into_iter().map(|(_, _, counts)| counts).sum()
    }

    /// Gold mentions in order, each once.
    pub(super) fn gold_set(self) -> Vec<(Span, LabelId)> {
        set(self.gold)
    }

    /// Predicted mentions in order, each once.
    pub(super) fn predicted_set(self) -> Vec<(Span, LabelId)> {
        set(self.predicted)
    }

    /// Every mention that is gold or predicted, with what it adds to strict counts.
    pub(super) fn strict(self) -> Vec<(Span, LabelId, Counts)> {
        let (gold, predicted) = (self.gold_set(), self.predicted_set());
        let mut all = Vec::with_capacity(gold.len() + predicted.len());
        for &(span, label) in &gold {
            all.push((span, label, Counts::of(true, predicted.binary_search(&(span, label)).is_ok())));
        }
        let made_up = predicted.iter().filter(|mention| gold.binary_search(mention).is_err());
        all.extend(made_up.map(|&(span, label)| (span, label, Counts::of(false, true))));
        all
    }
}

/// In order, each once.
pub(super) fn set<T: Ord + Copy>(items: &[T]) -> Vec<T> {
    let mut set = items.to_vec();
    set.sort_unstable();
    set.dedup();
    set
}
