//! Scores that forgive a wrong label or wrong boundaries.
//!
//! The measures are those of SemEval-2013 task 9.1 (Segura-Bedmar, Martínez and Herrero-Zazo, "SemEval-2013 Task 9:
//! Extraction of Drug-Drug Interactions from Biomedical Texts", S13-2056), after MUC-6:
//!
//! - exact: boundaries equal, whatever the label;
//! - partial: equal boundaries count one, overlapping ones a half, whatever the label;
//! - type: the spans overlap (equal ones do) and the labels are equal.
//!
//! The source does not say what stands for what where several mentions overlap, as nested ones always do. Ours: one to
//! one, no mention stands for two, and of all ways to pair them the one that scores highest, so that no order of
//! mentions matters. In partial match equal boundaries are paired before overlapping ones. That costs no score: breaking
//! up a pair of equal ones frees two mentions, which make two halves at best.

use super::counts::ratio;
use super::pairing::{Equal, most_overlaps};
use super::{Counts, Judged};
use crate::annotation::{LabelId, Span};
use std::collections::BTreeMap;
use std::ops::AddAssign;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Matches {
    pub exact: Counts,
    pub partial: PartialCounts,
    /// Type match.
    pub same_label: Counts,
}

/// Counts in which some of the found are worth a half.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartialCounts {
    /// Pairs with equal boundaries.
    pub equal: usize,
    /// Pairs that only overlap.
    pub overlapping: usize,
    /// Predicted mentions without a partner.
    pub false_positives: usize,
    /// Gold mentions without a partner.
    pub false_negatives: usize,
}

impl Matches {
    /// Counts over all sentences.
    pub fn of<'a>(sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let mut matches = Self::default();
        for sentence in sentences {
            matches.add(&sentence.gold_set(), &sentence.predicted_set());
        }
        matches
    }

    fn add(&mut self, gold: &[(Span, LabelId)], predicted: &[(Span, LabelId)]) {
        let spans = |mentions: &[(Span, LabelId)]| -> Vec<Span> { mentions.iter().map(|(span, _)| *span).collect() };
        let equal = Equal::of(&spans(gold), &spans(predicted));
        self.exact += Counts::of_totals(gold.len(), predicted.len(), equal.pairs);
        let overlapping = most_overlaps(&equal.left, &equal.right);
        self.partial += PartialCounts {
            equal: equal.pairs,
            overlapping,
            false_positives: equal.right.len() - overlapping,
            false_negatives: equal.left.len() - overlapping,
        };
        let mut labels: BTreeMap<LabelId, (Vec<Span>, Vec<Span>)> = BTreeMap::new();
        gold.iter().for_each(|(span, label)| labels.entry(*label).or_default().0.push(*span));
        predicted.iter().for_each(|(span, label)| labels.entry(*label).or_default().1.push(*span));
        for (gold, predicted) in labels.values() {
            self.same_label += Counts::of_totals(gold.len(), predicted.len(), most_overlaps(gold, predicted));
        }
    }
}

impl PartialCounts {
    /// `(equal + overlapping / 2) / predicted`
    pub fn precision(self) -> Option<f64> {
        ratio(self.half_points(), 2 * self.predicted())
    }

    /// `(equal + overlapping / 2) / gold`
    pub fn recall(self) -> Option<f64> {
        ratio(self.half_points(), 2 * self.support())
    }

    /// Harmonic mean of precision and recall; 0 when there is gold or a prediction but nothing in common.
    pub fn f1(self) -> Option<f64> {
        ratio(self.half_points(), self.predicted() + self.support())
    }

    /// Number of gold ones.
    pub fn support(self) -> usize {
        self.equal + self.overlapping + self.false_negatives
    }

    /// Number of predicted ones.
    pub fn predicted(self) -> usize {
        self.equal + self.overlapping + self.false_positives
    }

    fn half_points(self) -> usize {
        2 * self.equal + self.overlapping
    }
}

/// Without any that are worth a half, so that what is shown of both can be made once.
impl From<Counts> for PartialCounts {
    fn from(counts: Counts) -> Self {
        let Counts { true_positives: equal, false_positives, false_negatives } = counts;
        Self { equal, overlapping: 0, false_positives, false_negatives }
    }
}

impl AddAssign for PartialCounts {
    fn add_assign(&mut self, other: Self) {
        self.equal += other.equal;
        self.overlapping += other.overlapping;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counts, judge};
    use super::*;

    #[test]
    fn the_scenarios_of_the_source() {
        // Found, missed, made up, wrong label, wrong boundaries, both wrong.
        let gold = [(0, 2, 1), (3, 4, 1), (8, 10, 1), (12, 14, 1), (16, 17, 2)];
        let predicted = [(0, 2, 1), (5, 7, 1), (8, 10, 3), (11, 14, 1), (15, 17, 3)];
        let matches = judge(&gold, &predicted, |sentence| Matches::of([sentence]));
        assert_eq!(matches.exact, counts(2, 3, 3));
        assert_eq!(matches.same_label, counts(2, 3, 3));
        let partial = PartialCounts { equal: 2, overlapping: 2, false_positives: 1, false_negatives: 1 };
        assert_eq!(matches.partial, partial);
        assert_eq!((partial.precision(), partial.recall(), partial.f1()), (Some(0.6), Some(0.6), Some(0.6)));
    }

    #[test]
    fn precision_and_recall_have_their_own_totals() {
        let partial = PartialCounts { equal: 1, overlapping: 1, false_positives: 0, false_negatives: 2 };
        assert_eq!((partial.precision(), partial.recall(), partial.f1()), (Some(0.75), Some(0.375), Some(0.5)));
        let none = PartialCounts::default();
        assert_eq!((none.precision(), none.recall(), none.f1()), (None, None, None));
    }

    #[test]
    fn no_mention_stands_for_two() {
        // Of an outer and an inner gold mention the prediction equals the inner one; the outer one is missed.
        let matches = judge(&[(0, 5, 1), (3, 5, 1)], &[(3, 5, 1)], |sentence| Matches::of([sentence]));
        assert_eq!(matches.exact, counts(1, 0, 1));
        assert_eq!(matches.same_label, counts(1, 0, 1));
        assert_eq!(matches.partial, PartialCounts { equal: 1, overlapping: 0, false_positives: 0, false_negatives: 1 });
        // Two labels on one span are two mentions.
        let matches = judge(&[(0, 2, 1), (0, 2, 2)], &[(0, 2, 3), (0, 2, 3)], |sentence| Matches::of([sentence]));
        assert_eq!(matches.exact, counts(1, 0, 1));
        assert_eq!(matches.same_label, counts(0, 1, 2));
    }
}
