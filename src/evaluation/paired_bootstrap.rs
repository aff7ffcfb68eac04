//! Whether one model is better than another, or only luckier with the sentences that were scored.

use super::{ConfidenceInterval, Counts};
use crate::nn::Rng;

/// The difference of two micro-F1 on the same sentences.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct F1Difference {
    /// F1 of the second minus F1 of the first, in [-1, 1].
    pub difference: f64,
    /// In which the difference lies in 95 % of the samples.
    pub interval: ConfidenceInterval,
    /// Two-sided p-value of "they are equally good".
    pub p: f64,
}

/// Samples of the bootstrap: enough for a p-value of 0.001.
const SAMPLES: usize = 2_000;

impl F1Difference {
    /// Paired bootstrap (Efron and Tibshirani 1993, chapter 16; for comparing systems on one test set Koehn 2004): sentences are
    /// drawn with replacement, each with what both models made of it. The p-value is twice the share of the samples in
    /// which the difference has the other sign or is 0, with one sample added to both numbers so that it is never 0
    /// (Davison and Hinkley 1997, equation 4.11). The same counts give the same result. `None` unless both have counts for
    /// equally many sentences, with something to score.
    ///
    /// Cost: two thousand draws for each sentence.
    pub fn of(first: &[Counts], second: &[Counts]) -> Option<Self> {
        if first.len() != second.len() {
            return None;
        }
        let pairs: Vec<(Counts, Counts)> = first.iter().copied().zip(second.iter().copied()).collect();
        let observed = difference(pairs.iter())?;
        let mut rng = Rng::new(0, "paired bootstrap");
        let samples: Vec<f64> = (0..SAMPLES)
            .filter_map(|_| difference((0..pairs.len()).filter_map(|_| pairs.get(rng.below(pairs.len())))))
            .collect();
        let share = |other: fn(f64) -> bool| {
            let count = samples.iter().filter(|difference| other(**difference)).count();
            (count + 1) as f64 / (samples.len() + 1) as f64
        };
        let other_sign = share(|d| d <= 0.0).min(share(|d| d >= 0.0));
        Some(Self {
            difference: observed,
            p: (2.0 * other_sign).min(1.0),
            interval: ConfidenceInterval::of_samples(samples)?,
        })
    }
}

fn difference<'a>(pairs: impl Iterator<Item = &'a (Counts, Counts)>) -> Option<f64> {
    let (mut first, mut second) = (Counts::default(), Counts::default());
    for (of_first, of_second) in pairs {
        first += *of_first;
        second += *of_second;
    }
    second.f1_above(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(true_positives: usize, false_negatives: usize) -> Counts {
        Counts { true_positives, false_positives: 0, false_negatives }
    }

    #[test]
    fn a_model_that_finds_more_everywhere_is_better() {
        let worse = vec![found(1, 2); 50];
        let better = vec![found(2, 1); 50];
        let F1Difference { difference, interval, p } = F1Difference::of(&worse, &better).unwrap();
        assert!((difference - 0.3).abs() < 1e-12 && interval.low > 0.29 && interval.high < 0.31);
        assert!(p < 0.002, "{p}");
        let back = F1Difference::of(&better, &worse).unwrap();
        assert!((back.difference + difference).abs() < 1e-12 && back.p < 0.002);
    }

    #[test]
    fn a_few_sentences_decide_nothing() {
        // Each is better in as many sentences, but for one.
        let first: Vec<Counts> = (0..41).map(|i| if i % 2 == 0 { found(2, 0) } else { found(1, 1) }).collect();
        let second: Vec<Counts> = (0..41).map(|i| if i % 2 == 1 { found(2, 0) } else { found(1, 1) }).collect();
        let F1Difference { difference, interval, p } = F1Difference::of(&first, &second).unwrap();
        assert!(difference < 0.0 && interval.low < difference && interval.high > 0.0 && p > 0.5, "{p}");
    }

    #[test]
    fn equal_models_do_not_differ() {
        let same = vec![found(2, 1), found(0, 3), found(1, 0)];
        let equal = F1Difference::of(&same, &same).unwrap();
        assert_eq!((equal.difference, equal.p), (0.0, 1.0));
        assert_eq!(F1Difference::of(&same, &same[1..]), None);
        assert_eq!(F1Difference::of(&[], &[]), None);
    }
}
