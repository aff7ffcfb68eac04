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

/// What is wrong with a mention.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ErrorKind {
    Label,
    Boundaries,
    Both,
    /// Spurious or missed.
    Alone,
}

impl ErrorKind {
    pub const ALL: [Self; 4] = [Self::Label, Self::Boundaries, Self::Both, Self::Alone];
}

/// A mention that strict match calls wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WrongMention {
    pub span: Span,
    pub label: LabelId,
    /// Whether it was predicted, and is no gold mention; or is one, and was not.
    pub is_predicted: bool,
    pub kind: ErrorKind,
}

impl WrongMention {
    /// All of a sentence: first those that were made up, then those that were missed, each in order.
    pub fn of(sentence: Judged<'_>) -> Vec<Self> {
        let (gold, predicted) = (sentence.gold_set(), sentence.predicted_set());
        let made_up: Vec<_> = predicted.iter().copied().filter(|m| gold.binary_search(m).is_err()).collect();
        let missed: Vec<_> = gold.iter().copied().filter(|m| predicted.binary_search(m).is_err()).collect();
        let wrong = |mentions: &[(Span, LabelId)], others: &[(Span, LabelId)], is_predicted: bool| {
            let one = |&(span, label): &_| Self { span, label, is_predicted, kind: kind((span, label), others) };
            mentions.iter().map(one).collect::<Vec<_>>()
        };
        let mut all = wrong(&made_up, &missed, true);
        all.extend(wrong(&missed, &made_up, false));
        all
    }
}

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
        for wrong in sentences.into_iter().flat_map(WrongMention::of) {
            let side = if wrong.is_predicted { &mut errors.false_positives } else { &mut errors.false_negatives };
            side.add(wrong.kind);
        }
        errors
    }
}

impl ErrorKinds {
    pub fn total(self) -> usize {
        self.wrong_label + self.wrong_boundaries + self.both_wrong + self.alone
    }

    pub fn count(self, kind: ErrorKind) -> usize {
        match kind {
            ErrorKind::Label => self.wrong_label,
            ErrorKind::Boundaries => self.wrong_boundaries,
            ErrorKind::Both => self.both_wrong,
            ErrorKind::Alone => self.alone,
        }
    }

    fn add(&mut self, kind: ErrorKind) {
        *match kind {
            ErrorKind::Label => &mut self.wrong_label,
            ErrorKind::Boundaries => &mut self.wrong_boundaries,
            ErrorKind::Both => &mut self.both_wrong,
            ErrorKind::Alone => &mut self.alone,
        } += 1;
    }
}

/// The first that holds of a wrong mention and the wrong ones of the other side.
fn kind((span, label): (Span, LabelId), others: &[(Span, LabelId)]) -> ErrorKind {
    let any = |holds: &dyn Fn(Span, LabelId) -> bool| others.iter().any(|&(span, label)| holds(span, label));
    if any(&|s, _| s == span) {
        ErrorKind::Label
    } else if any(&|s, l| l == label && s.overlaps(span)) {
        ErrorKind::Boundaries
    } else if any(&|s, _| s.overlaps(span)) {
        ErrorKind::Both
    } else {
        ErrorKind::Alone
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
