//! From probabilities to mentions, for all architectures.

use super::{Class, Prediction};
use crate::annotation::Span;

/// A span that may be a mention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    pub span: Span,
    /// The most probable label, never "none".
    pub class: Class,
    pub score: f32,
    /// The next label and its probability.
    pub runner_up: Option<(Class, f32)>,
    /// Whether the label is more probable than "none": the model's final answer.
    pub chosen: bool,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Decoded {
    /// Ordered by span.
    pub found: Vec<Found>,
    /// Mean entropy in nats of the candidates; `None` without one.
    pub entropy: Option<f32>,
}

/// Nested decoding: every candidate stands for itself.
///
/// Keeps the chosen ones, and those whose best label has a probability of `floor` or more.
pub fn decode(prediction: &Prediction, floor: f32) -> Decoded {
    let mut found = Vec::new();
    let mut entropy = 0.0;
    for (span, probabilities) in prediction.candidates.iter() {
        entropy -= probabilities.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f32>();
        found.extend(best(span, probabilities).filter(|f| f.chosen || f.score >= floor));
    }
    found.sort_by_key(|f: &Found| f.span);
    let count = prediction.candidates.len();
    Decoded { found, entropy: (count > 0).then(|| entropy / count as f32) }
}

fn best(span: Span, probabilities: &[f32]) -> Option<Found> {
    let (none, labels) = probabilities.split_first()?;
    let mut ranked: [Option<(Class, f32)>; 2] = [None; 2];
    for (class, &p) in (1..).zip(labels) {
        let beats = |other: Option<(Class, f32)>| other.is_none_or(|(_, q)| p > q);
        if beats(ranked[0]) {
            ranked = [Some((class, p)), ranked[0]];
        } else if beats(ranked[1]) {
            ranked[1] = Some((class, p));
        }
    }
    let (class, score) = ranked[0]?;
    Some(Found { span, class, score, runner_up: ranked[1], chosen: score > *none })
}

#[cfg(test)]
mod tests {
    use super::super::Candidates;
    use super::*;

    #[test]
    fn keeps_what_is_chosen_and_what_is_worth_showing() {
        let spans = [0..2, 0..1, 1..2, 1..3].map(|r| Span::from_range(r).unwrap()).to_vec();
        #[rustfmt::skip]
        let probabilities = vec![
            0.2, 0.3, 0.5,
            0.8, 0.15, 0.05,
            1.0, 0.0, 0.0,
            0.34, 0.33, 0.33,
        ];
        let candidates = Candidates::new(spans, 3, probabilities).unwrap();
        let decoded = decode(&Prediction { heads: None, candidates }, 0.1);
        let seen: Vec<_> =
            decoded.found.iter().map(|f| (format!("{:?}", f.span), f.class, f.runner_up, f.chosen)).collect();
        assert_eq!(
            seen,
            [
                ("0..1".to_owned(), 1, Some((2, 0.05)), false),
                ("0..2".to_owned(), 2, Some((1, 0.3)), true),
                ("1..3".to_owned(), 1, Some((2, 0.33)), false),
            ]
        );
        // Natural entropies by hand: 1.0297, 0.6128, 0, 1.0985.
        assert!((decoded.entropy.unwrap() - 0.685_2).abs() < 1e-3, "{:?}", decoded.entropy);
    }

    #[test]
    fn without_candidates_nothing_is_certain() {
        let candidates = Candidates::new(Vec::new(), 2, Vec::new()).unwrap();
        assert_eq!(decode(&Prediction { heads: None, candidates }, 0.1), Decoded::default());
    }
}
