//! What was found, what was made up, what was missed.

use std::iter::Sum;
use std::ops::AddAssign;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub true_positives: usize,
    pub false_positives: usize,
    pub false_negatives: usize,
}

impl Counts {
    /// What one mention, word or span adds that is in the gold, predicted, or both.
    pub(super) fn of(gold: bool, predicted: bool) -> Self {
        Self {
            true_positives: usize::from(gold && predicted),
            false_positives: usize::from(!gold && predicted),
            false_negatives: usize::from(gold && !predicted),
        }
    }

    /// From how many are gold, how many are predicted, and how many of them are the same.
    pub(super) fn of_totals(gold: usize, predicted: usize, same: usize) -> Self {
        Self {
            true_positives: same,
            false_positives: predicted.saturating_sub(same),
            false_negatives: gold.saturating_sub(same),
        }
    }

    /// Share of the predicted that is right.
    pub fn precision(self) -> Option<f64> {
        ratio(self.true_positives, self.predicted())
    }

    /// Share of the gold that was found.
    pub fn recall(self) -> Option<f64> {
        ratio(self.true_positives, self.support())
    }

    /// Harmonic mean of precision and recall; 0 when there is gold or a prediction but nothing in common.
    pub fn f1(self) -> Option<f64> {
        let wrong = self.false_positives + self.false_negatives;
        ratio(2 * self.true_positives, 2 * self.true_positives + wrong)
    }

    /// How much F1 is above that of others; `None` where one of them has none.
    pub fn f1_above(self, other: Self) -> Option<f64> {
        Some(self.f1()? - other.f1()?)
    }

    /// Number of gold ones.
    pub fn support(self) -> usize {
        self.true_positives + self.false_negatives
    }

    /// Number of predicted ones.
    pub fn predicted(self) -> usize {
        self.true_positives + self.false_positives
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, counts| {
            sum += counts;
            sum
        })
    }
}

pub(super) fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_divide_is_none() {
        let none = Counts::default();
        assert_eq!((none.precision(), none.recall(), none.f1()), (None, None, None));
        let missed = Counts { false_negatives: 2, ..none };
        assert_eq!((missed.precision(), missed.recall(), missed.f1()), (None, Some(0.0), Some(0.0)));
        let some = Counts { true_positives: 3, false_positives: 1, false_negatives: 3 };
        assert_eq!((some.precision(), some.recall(), some.f1()), (Some(0.75), Some(0.5), Some(0.6)));
    }
}
