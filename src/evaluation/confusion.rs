//! Which labels are taken for which, and for none.

use super::Judged;
use crate::annotation::{LabelId, Span};
use std::collections::BTreeMap;

/// How often spans with a gold label get which label; `None` stands for no mention with just these boundaries.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Confusion(BTreeMap<(Option<LabelId>, Option<LabelId>), usize>);

/// A span with the label that it has and the one that it got; `None` stands for no mention with just these boundaries, and
/// never for both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PairedLabels {
    pub span: Span,
    pub gold: Option<LabelId>,
    pub predicted: Option<LabelId>,
}

impl PairedLabels {
    /// All of a sentence, ordered by span, of equal boundaries only. Where a span has several labels, those that agree are
    /// paired first, then the others in their order.
    pub fn of(sentence: Judged<'_>) -> Vec<Self> {
        let mut spans: BTreeMap<Span, [Vec<LabelId>; 3]> = BTreeMap::new();
        for (span, label, counts) in sentence.strict() {
            let [right, gold, predicted] = spans.entry(span).or_default();
            match (counts.support() > 0, counts.predicted() > 0) {
                (true, true) => right.push(label),
                (true, false) => gold.push(label),
                _ => predicted.push(label),
            }
        }
        let mut all = Vec::new();
        for (span, [right, gold, predicted]) in spans {
            let at = |labels: &[LabelId], i: usize| labels.get(i).copied();
            all.extend(right.into_iter().map(|label| Self { span, gold: Some(label), predicted: Some(label) }));
            let others = 0..gold.len().max(predicted.len());
            all.extend(others.map(|i| Self { span, gold: at(&gold, i), predicted: at(&predicted, i) }));
        }
        all
    }

    pub fn is_right(self) -> bool {
        self.gold == self.predicted
    }
}

impl Confusion {
    /// Of the [`PairedLabels`] of all sentences.
    pub fn of<'a>(sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let mut confusion = Self::default();
        for pair in sentences.into_iter().flat_map(PairedLabels::of) {
            *confusion.0.entry((pair.gold, pair.predicted)).or_default() += 1;
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
