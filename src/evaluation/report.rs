//! Strict scores: boundaries and label equal. Of models that label given words, how many labels are right.

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
    /// First words of entities (NEH); `None` when a sentence had no prediction of them.
    pub first_words: Option<Counts>,
    /// Whether the model was told which words are the mentions: then the counts are of labels alone, and make an accuracy.
    pub labels_given: bool,
}

impl Report {
    /// Of `sentences` whose mentions were given to a model: of each the gold labels and the label that the model says. The label
    /// is right if it is one of them.
    pub fn of_given<'a>(
        labels: &[LabelId],
        sentences: usize,
        mentions: impl IntoIterator<Item = (&'a [LabelId], LabelId)>,
    ) -> Self {
        let empty = labels.iter().map(|label| (*label, Counts::default())).collect();
        let mut report = Self { labels: empty, sentences, labels_given: true, ..Self::default() };
        for (gold, said) in mentions {
            let is_right = gold.contains(&said);
            let others = gold.iter().filter(|label| **label != said).map(|label| (*label, Counts::of(true, false)));
            for (label, counts) in others.chain([(said, Counts::of(is_right, true))]) {
                *report.labels.entry(label).or_default() += counts;
                report.micro += counts;
            }
        }
        report
    }

    /// The share of the given mentions whose label is right; `None` for a model that finds mentions, and without any.
    pub fn accuracy(&self) -> Option<f64> {
        self.micro.precision().filter(|_| self.labels_given)
    }

    /// Strict micro-F1; `None` for a model that finds none, and without any mentions.
    pub fn f1(&self) -> Option<f64> {
        self.micro.f1().filter(|_| !self.labels_given)
    }

    /// The one of both that the model has: what models of a kind are compared by.
    pub fn figure(&self) -> Option<f64> {
        self.accuracy().or(self.f1())
    }

    /// Counts over all sentences.
    pub fn strict<'a>(labels: &[LabelId], sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let empty = labels.iter().map(|label| (*label, Counts::default())).collect();
        let mut report = Self { labels: empty, first_words: Some(Counts::default()), ..Self::default() };
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
        match (sentence.first_words, &mut self.first_words) {
            (Some(first_words), Some(total)) => *total += first_word_counts(sentence, first_words),
            _ => self.first_words = None,
        }
    }
}

/// Words that begin gold mentions against those that are predicted to.
fn first_word_counts(sentence: Judged<'_>, first_words: &[TokenIdx]) -> Counts {
    let starts: Vec<TokenIdx> = sentence.gold.iter().map(|(span, _)| span.start()).collect();
    let (gold, predicted) = (set(&starts), set(first_words));
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
        let first_words = [TokenIdx::new(0), TokenIdx::new(1)];
        let judged =
            Judged { words: &[], gold: &gold, predicted: &predicted, first_words: Some(&first_words), candidates: 0 };
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
        assert_eq!(report.first_words, Some(counts(1, 1, 2)));
        assert_eq!((report.accuracy(), report.figure()), (None, report.f1()));
        let none = Judged { first_words: None, ..judged };
        assert_eq!(Report::strict(&[], [judged, none]).first_words, None);
    }

    #[test]
    fn labels_of_given_mentions_are_right_or_wrong() {
        let (person, place, never) = (LabelId(0), LabelId(4), LabelId(7));
        let mentions: [(&[LabelId], LabelId); 4] =
            [(&[person], person), (&[place], person), (&[person, place], place), (&[place], place)];
        let report = Report::of_given(&[person, place, never], 3, mentions);
        assert_eq!((report.sentences, report.accuracy(), report.f1()), (3, Some(0.75), None));
        assert_eq!(report.figure(), Some(0.75));
        let places = report.labels[&place];
        assert_eq!((places.true_positives, places.false_positives, places.false_negatives), (2, 0, 1));
        assert_eq!(report.labels[&never], Counts::default());
        assert_eq!(Report::of_given(&[], 2, []).accuracy(), None);
    }
}
