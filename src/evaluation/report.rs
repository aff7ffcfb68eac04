//! Strict scores: boundaries and label equal.

use super::judged::set;
use super::{Counts, Judged};
use crate::annotation::{LabelId, TokenIdx};
use std::collections::BTreeMap;

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
        for (_, label, counts) in sentence.strict() {
            *self.labels.entry(label).or_default() += counts;
            self.micro += counts;
        }
        match (sentence.heads, &mut self.heads) {
            (Some(heads), Some(total)) => *total += head_counts(sentence, heads),
            _ => self.heads = None,
        }
    }
}

/// Words that begin gold mentions against those that are predicted to.
fn head_counts(sentence: Judged<'_>, heads: &[TokenIdx]) -> Counts {
    let starts: Vec<TokenIdx> = sentence.gold.iter().map(|(span, _)| span.start()).collect();
    let (gold, predicted) = (set(&starts), set(heads));
    let same = predicted.iter().filter(|word| gold.binary_search(word).is_ok()).count();
    Counts::of_totals(gold.len(), predicted.len(), same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Span;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn strict_scores_want_boundaries_and_label() {
        let (person, place, never) = (LabelId(0), LabelId(4), LabelId(7));
        let gold = [(span(0, 3), person), (span(2, 3), place), (span(5, 6), place)];
        let predicted = [(span(0, 3), person), (span(0, 3), person), (span(2, 3), person), (span(5, 7), place)];
        let heads = [TokenIdx::new(0), TokenIdx::new(1)];
        let judged = Judged { words: &[], gold: &gold, predicted: &predicted, heads: Some(&heads), candidates: 0 };
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
