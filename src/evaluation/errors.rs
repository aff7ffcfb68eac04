//! What is wrong with the mentions that strict match calls wrong.
//!
//! Every false positive is compared with the false negatives of its sentence, and every false negative with the false
//! positives; the first that holds of these is its kind:
//!
//! 1. wrong label: one of the others has the same boundaries;
//! 2. wrong boundaries: one of the others overlaps it and has the same label;
//! 3. both wrong: one of the others overlaps it;
//! 4. alone: none of the others overlaps it. The prediction is spurious, the gold mention was missed.
//!
//! Mentions that were found explain no error: in nested text a missed inner mention would otherwise be a wrong boundary
//! of the outer one that the model found. Several errors may be explained by one mention, so the kinds of false
//! positives and of false negatives need not be equally many.

use super::Judged;
use crate::annotation::{LabelId, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Errors {
    pub false_positives: ErrorKinds,
    pub false_negatives: ErrorKinds,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ErrorKinds {
    pub wrong_label: usize,
    pub wrong_boundaries: usize,
    pub both_wrong: usize,
    /// Spurious or missed.
    pub alone: usize,
}

impl Errors {
    /// Counts over all sentences.
    pub fn of<'a>(sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let mut errors = Self::default();
        for sentence in sentences {
            let (gold, predicted) = (sentence.gold_set(), sentence.predicted_set());
            let made_up: Vec<_> = predicted.iter().copied().filter(|m| gold.binary_search(m).is_err()).collect();
            let missed: Vec<_> = gold.iter().copied().filter(|m| predicted.binary_search(m).is_err()).collect();
            made_up.iter().for_each(|mention| errors.false_positives.add(*mention, &missed));
            missed.iter().for_each(|mention| errors.false_negatives.add(*mention, &made_up));
        }
        errors
    }
}

impl ErrorKinds {
    pub fn total(self) -> usize {
        self.wrong_label + self.wrong_boundaries + self.both_wrong + self.alone
    }

    fn add(&mut self, (span, label): (Span, LabelId), others: &[(Span, LabelId)]) {
        let any = |holds: &dyn Fn(Span, LabelId) -> bool| others.iter().any(|&(span, label)| holds(span, label));
        let kind = if any(&|s, _| s == span) {
            &mut self.wrong_label
        } else if any(&|s, l| l == label && s.overlaps(span)) {
            &mut self.wrong_boundaries
        } else if any(&|s, _| s.overlaps(span)) {
            &mut self.both_wrong
        } else {
            &mut self.alone
        };
        *kind += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::judge;
    use super::*;

    fn check(
        gold: &[(usize, usize, u32)],
        predicted: &[(usize, usize, u32)],
        false_positives: [usize; 4],
        false_negatives: [usize; 4],
    ) {
        let errors = judge(gold, predicted, |sentence| Errors::of([sentence]));
        let list = |k: ErrorKinds| [k.wrong_label, k.wrong_boundaries, k.both_wrong, k.alone];
        assert_eq!(list(errors.false_positives), false_positives, "label, boundaries, both, spurious");
        assert_eq!(list(errors.false_negatives), false_negatives, "label, boundaries, both, missed");
    }

    #[test]
    fn each_kind_once() {
        let gold = [(0, 2, 1), (3, 4, 1), (8, 10, 1), (12, 14, 1), (16, 17, 2)];
        let predicted = [(0, 2, 1), (5, 7, 1), (8, 10, 3), (11, 14, 1), (15, 17, 3)];
        check(&gold, &predicted, [1, 1, 1, 1], [1, 1, 1, 1]);
    }

    #[test]
    fn the_same_boundaries_explain_before_the_same_label() {
        // 0..3 label 1 has a twin with another label and an overlap with its own.
        check(&[(0, 3, 1)], &[(0, 3, 2), (0, 2, 1)], [1, 1, 0, 0], [1, 0, 0, 0]);
        check(&[(0, 3, 1)], &[(0, 2, 1), (0, 2, 2)], [0, 1, 1, 0], [0, 1, 0, 0]);
    }

    #[test]
    fn what_was_found_explains_nothing() {
        // The outer mention was found: the inner one is missed, and the one made up in it spurious.
        check(&[(0, 6, 1), (4, 6, 1)], &[(0, 6, 1)], [0, 0, 0, 0], [0, 0, 0, 1]);
        check(&[(0, 6, 1)], &[(0, 6, 1), (0, 6, 2), (0, 2, 1)], [0, 0, 0, 2], [0, 0, 0, 0]);
    }
}
