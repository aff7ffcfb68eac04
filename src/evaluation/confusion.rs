//! Which labels are taken for which, and for none.

use super::Judged;
use crate::annotation::{LabelId, Span};
use std::collections::BTreeMap;

/// How often spans with a gold label get which label; `None` stands for no mention with just these boundaries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Confusion(BTreeMap<(Option<LabelId>, Option<LabelId>), usize>);

impl Confusion {
    /// Of equal boundaries only. Where a span has several labels, those that agree are paired first, then the others in
    /// their order.
    pub fn of<'a>(sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let mut confusion = Self::default();
        for sentence in sentences {
            let mut spans: BTreeMap<Span, (Vec<LabelId>, Vec<LabelId>)> = BTreeMap::new();
            for (span, label, counts) in sentence.strict() {
                let (gold, predicted) = spans.entry(span).or_default();
                match (counts.support() > 0, counts.predicted() > 0) {
                    (true, true) => confusion.add(Some(label), Some(label)),
                    (true, false) => gold.push(label),
                    _ => predicted.push(label),
                }
            }
            for (gold, predicted) in spans.into_values() {
                let at = |labels: &[LabelId], i| labels.get(i).copied();
                (0..gold.len().max(predicted.len())).for_each(|i| confusion.add(at(&gold, i), at(&predicted, i)));
            }
        }
        confusion
    }

    /// Gold, predicted, how often; what never occurs is left out.
    pub fn rows(&self) -> impl Iterator<Item = (Option<LabelId>, Option<LabelId>, usize)> + '_ {
        self.0.iter().map(|(&(gold, predicted), &count)| (gold, predicted, count))
    }

    pub fn count(&self, gold: Option<LabelId>, predicted: Option<LabelId>) -> usize {
        self.0.get(&(gold, predicted)).copied().unwrap_or(0)
    }

    fn add(&mut self, gold: Option<LabelId>, predicted: Option<LabelId>) {
        *self.0.entry((gold, predicted)).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mentions(all: &[(usize, usize, u32)]) -> Vec<(Span, LabelId)> {
        all.iter().map(|&(s, e, l)| (Span::from_range(s..e).unwrap(), LabelId(l))).collect()
    }

    #[test]
    fn each_gold_and_each_predicted_mention_is_counted_once() {
        let gold = mentions(&[(0, 1, 1), (2, 3, 1), (4, 5, 2), (6, 7, 1), (6, 7, 2)]);
        let predicted = mentions(&[(0, 1, 1), (2, 3, 2), (8, 9, 1), (6, 7, 2), (6, 7, 3)]);
        let judged = Judged { words: &[], gold: &gold, predicted: &predicted, first_words: None, candidates: 0 };
        let (one, two, three) = (Some(LabelId(1)), Some(LabelId(2)), Some(LabelId(3)));
        let rows: Vec<_> = Confusion::of([judged]).rows().collect();
        assert_eq!(
            rows,
            [(None, one, 1), (one, one, 1), (one, two, 1), (one, three, 1), (two, None, 1), (two, two, 1)]
        );
    }
}
