//! How sure a score is.

use super::Counts;
use crate::nn::Rng;

/// A confidence interval of 95 %.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConfidenceInterval {
    pub low: f64,
    pub high: f64,
}

/// Samples of the bootstrap.
const SAMPLES: usize = 1000;

impl ConfidenceInterval {
    /// Around the micro-F1 of sentences, each with its own counts: between the percentiles 2.5 and 97.5 of the F1 of samples
    /// of as many sentences, drawn with replacement (Efron 1979). Sentences are what is drawn, since mentions of one
    /// sentence are found or missed together. The same counts give the same interval. `None` without anything to score.
    pub fn around_f1(sentences: &[Counts]) -> Option<Self> {
        let mut rng = Rng::new(0, "confidence bands");
        let scores = (0..SAMPLES).filter_map(|_| {
            let drawn = (0..sentences.len()).filter_map(|_| sentences.get(rng.below(sentences.len())));
            drawn.copied().sum::<Counts>().f1()
        });
        Self::of_samples(scores.collect())
    }

    /// Between the percentiles 2.5 and 97.5 of samples; `None` without any.
    pub(super) fn of_samples(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        let at = |share: f64| samples.get(((samples.len() as f64 - 1.0) * share).round() as usize).copied();
        Some(Self { low: at(0.025)?, high: at(0.975)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(true_positives: usize, false_negatives: usize) -> Counts {
        Counts { true_positives, false_positives: 0, false_negatives }
    }

    #[test]
    fn more_sentences_make_it_narrower() {
        let some = |n: usize| -> Vec<Counts> {
            (0..n).map(|i| if i % 2 == 0 { counts(2, 0) } else { counts(0, 2) }).collect()
        };
        let width = |n| {
            let ConfidenceInterval { low, high } = ConfidenceInterval::around_f1(&some(n)).unwrap();
            assert!(low < 2.0 / 3.0 && 2.0 / 3.0 < high, "{low} {high}");
            high - low
        };
        assert!(width(400) < 0.5 * width(40), "{} {}", width(400), width(40));
        assert_eq!(ConfidenceInterval::around_f1(&some(30)), ConfidenceInterval::around_f1(&some(30)));
    }

    #[test]
    fn of_what_is_always_right_it_has_no_width_and_of_nothing_there_is_none() {
        assert_eq!(ConfidenceInterval::around_f1(&[counts(1, 0); 9]), Some(ConfidenceInterval { low: 1.0, high: 1.0 }));
        assert_eq!(ConfidenceInterval::around_f1(&[]), None);
        assert_eq!(ConfidenceInterval::around_f1(&[Counts::default(); 3]), None);
    }
}
