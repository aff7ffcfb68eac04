//! Strict scores: boundaries and label equal.

use super::Counts;
use crate::annotation::{LabelId, Span, TokenIdx};
use std::collections::{BTreeMap, BTreeSet};

/// One sentence with what a person and a model say of it.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    pub gold: &'a [(Span, LabelId)],
    pub predicted: &'a [(Span, LabelId)],
    /// Words that the model takes for first words of entities, where it predicts them.
    pub heads: Option<&'a [TokenIdx]>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    pub sentences: usize,
    /// Sums over all labels.
    pub micro: Counts,
    /// Every label asked for, also those that never occur.
    pub labels: BTreeMap<LabelId, Counts>,
    /// Named entity heads; `None` when a sentence had no prediction of them.
    pub heads: Option<Counts>,
}

impl Report {
    /// Counts over all sentences.
    pub fn strict<'a>(labels: &[LabelId], sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let empty = labels.iter().map(|label| (*label, Counts::default())).collect();
        let mut report = Self { labels: empty, heads: Some(Counts::default()), ..Self::default() };
        for sentence in sentences {
            report.add(sentence);
        }
        report
    }

    fn add(&mut self, sentence: Judged<'_>) {
        self.sentences += 1;
        let gold: BTreeSet<_> = sentence.gold.iter().copied().collect();
        let predicted: BTreeSet<_> = sentence.predicted.iter().copied().collect();
        for &(span, label) in gold.union(&predicted) {
            let counts = compare(gold.contains(&(span, label)), predicted.contains(&(span, label)));
            *self.labels.entry(label).or_default() += counts;
            self.micro += counts;
        }
        let Some(heads) = sentence.heads else {
            self.heads = None;
            return;
        };
        let gold: BTreeSet<TokenIdx> = gold.iter().map(|(span, _)| span.start()).collect();
        let predicted: BTreeSet<TokenIdx> = heads.iter().copied().collect();
        for word in gold.union(&predicted) {
            if let Some(total) = &mut self.heads {
                *total += compare(gold.contains(word), predicted.contains(word));
            }
        }
    }
}

fn compare(gold: bool, predicted: bool) -> Counts {
    Counts {
        true_positives: usize::from(gold && predicted),
        false_positives: usize::from(!gold && predicted),
        false_negatives: usize::from(gold && !predicted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn strict_scores_want_boundaries_and_label() {
        let (person, place, never) = (LabelId(0), LabelId(4), LabelId(7));
        let gold = [(span(0, 3), person), (span(2, 3), place), (span(5, 6), place)];
        let predicted = [(span(0, 3), person), (span(0, 3), person), (span(2, 3), person), (span(5, 7), place)];
        let heads = [TokenIdx::new(0), TokenIdx::new(1)];
        let judged = Judged { gold: &gold, predicted: &predicted, heads: Some(&heads) };
        let report = Report::strict(&[person, place, never], [judged]);
        let counts = |true_positives, false_positives, false_negatives| Counts {
            true_positives,
            false_positives,
            false_negatives,
        };
        assert_eq!(report.micro, counts(1, 2, 2));
        assert_eq!(report.labels[&person], counts(1, 1, 0));
        assert_eq!(report.labels[&place], counts(0, 1, 2));
        assert_eq!(report.labels[&never], counts(0, 0, 0));
        assert_eq!(report.heads, Some(counts(1, 1, 2)));
        let none = Judged { heads: None, ..judged };
        assert_eq!(Report::strict(&[], [judged, none]).heads, None);
    }
}
