//! From probabilities to mentions, for all architectures.

use super::prediction::{Found, Prediction};
use super::sentence::Class;
use crate::annotation::Span;
use std::collections::{BTreeMap, HashSet};

/// Whether mentions of one sentence may overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Nesting {
    /// Every candidate stands for itself.
    #[default]
    Nested,
    /// Of candidates that overlap the most probable one stays (SpanNER's heuristic decoding).
    Flat,
}

impl Nesting {
    pub const ALL: [Self; 2] = [Self::Nested, Self::Flat];

    pub const fn id(self) -> &'static str {
        match self {
            Self::Nested => "nested",
            Self::Flat => "flat",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|nesting| nesting.id() == id)
    }
}

/// The chosen candidates, and those whose best label has a probability of `floor` or more, ordered by span.
pub fn decode(prediction: &Prediction, nesting: Nesting, floor: f32) -> Vec<Found> {
    settle(likely(prediction, floor), nesting)
}

/// The chosen candidates, and those whose best label has a probability of `floor` or more: those of a part of a sentence,
/// say. Where the architecture has decided itself, what it decided is chosen and no candidate else; a candidate on the same
/// words is not shown again.
pub fn likely(prediction: &Prediction, floor: f32) -> Vec<Found> {
    let candidates = prediction.candidates.iter();
    let ranked = candidates.filter_map(|(span, probabilities)| best(span, probabilities));
    let Some(decided) = &prediction.decided else {
        return ranked.filter(|f| f.chosen || f.score >= floor).collect();
    };
    let spans: HashSet<Span> = decided.iter().map(|found| found.span).collect();
    let others = ranked.filter(|f| f.score >= floor && !spans.contains(&f.span));
    let others = others.map(|found| Found { chosen: false, ..found });
    decided.iter().copied().chain(others).collect()
}

/// Which of those found in a whole sentence stay, ordered by span.
pub fn settle(mut found: Vec<Found>, nesting: Nesting) -> Vec<Found> {
    if nesting == Nesting::Flat {
        found = most_probable(found);
    }
    found.sort_by_key(|f: &Found| f.span);
    found
}

/// Those that overlap no better one: what is chosen goes before what is only worth showing.
fn most_probable(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        b.chosen.cmp(&a.chosen).then(by_score).then(a.span.cmp(&b.span))
    });
    let (mut kept, mut taken) = (Vec::new(), BTreeMap::new());
    for candidate in found {
        let (start, end) = (candidate.span.start(), candidate.span.end());
        // The kept spans don't overlap, so only the last one that starts before this one's end can reach into it.
        let before = taken.range(..end).next_back();
        if before.is_none_or(|(_, other_end)| *other_end <= start) {
            taken.insert(start, end);
            kept.push(candidate);
        }
    }
    kept
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
    use super::super::candidates::Candidates;
    use super::*;
    use proptest::prelude::*;

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
        let decoded = decode(&Prediction::of_candidates(candidates), Nesting::Nested, 0.1);
        let seen: Vec<_> = decoded.iter().map(|f| (format!("{:?}", f.span), f.class, f.runner_up, f.chosen)).collect();
        assert_eq!(
            seen,
            [
                ("0..1".to_owned(), 1, Some((2, 0.05)), false),
                ("0..2".to_owned(), 2, Some((1, 0.3)), true),
                ("1..3".to_owned(), 1, Some((2, 0.33)), false),
            ]
        );
    }

    #[test]
    fn what_an_architecture_decides_itself_is_its_answer() {
        let span = |start, end| Span::from_range(start..end).unwrap();
        let spans = vec![span(0, 2), span(1, 2), span(3, 4), span(5, 6)];
        let candidates = Candidates::new(spans, 2, vec![0.2, 0.8, 0.1, 0.9, 0.6, 0.4, 0.95, 0.05]).unwrap();
        let decided = Some(vec![Found::decided(span(3, 4), 1, 0.4), Found::decided(span(0, 2), 1, 0.7)]);
        let prediction = Prediction { first_words: None, candidates, decided };
        let seen = |prediction: &Prediction, nesting| -> Vec<(usize, f32, bool)> {
            let decoded = decode(prediction, nesting, 0.1);
            decoded.iter().map(|f| (f.span.start().get(), f.score, f.chosen)).collect()
        };
        let expected = [(0, 0.7, true), (1, 0.9, false), (3, 0.4, true)];
        assert_eq!(seen(&prediction, Nesting::Nested), expected);
        assert_eq!(seen(&prediction, Nesting::Flat), [expected[0], expected[2]]);
        assert_eq!(seen(&prediction.clone().before(1), Nesting::Nested), expected[..1]);
        let nothing = Prediction { decided: Some(Vec::new()), ..prediction };
        assert!(decode(&nothing, Nesting::Nested, 0.1).iter().all(|found| !found.chosen), "it may decide on nothing");
    }

    #[test]
    fn without_candidates_nothing_is_certain() {
        let candidates = Candidates::new(Vec::new(), 2, Vec::new()).unwrap();
        assert_eq!(decode(&Prediction::of_candidates(candidates), Nesting::Nested, 0.1), []);
    }

    #[test]
    fn in_flat_projects_of_overlapping_spans_the_most_probable_stays() {
        let spans = [0..2, 0..4, 3..5, 6..7, 6..8, 9..10].map(|r| Span::from_range(r).unwrap()).to_vec();
        #[rustfmt::skip]
        let probabilities = vec![
            0.3, 0.7,
            0.1, 0.9,
            0.2, 0.8,
            0.4, 0.6,
            0.55, 0.45,
            0.85, 0.15,
        ];
        let prediction = Prediction::of_candidates(Candidates::new(spans, 2, probabilities).unwrap());
        let kept = |nesting| -> Vec<String> {
            decode(&prediction, nesting, 0.1).iter().map(|f| format!("{:?}", f.span)).collect()
        };
        assert_eq!(kept(Nesting::Nested).len(), 6);
        assert_eq!(kept(Nesting::Flat), ["0..4", "6..7", "9..10"]);
    }

    proptest! {
        #[test]
        fn flat_mentions_don_t_overlap_and_what_is_left_out_overlaps_a_better_one(
            spans in prop::collection::btree_map((0usize..12, 1usize..5), 0.01f32..0.99, 0..25),
        ) {
            let (spans, scores): (Vec<Span>, Vec<f32>) = spans
                .into_iter()
                .map(|((start, width), p)| (Span::from_range(start..start + width).unwrap(), p))
                .unzip();
            let table = scores.iter().flat_map(|p| [1.0 - p, *p]).collect();
            let candidates = Candidates::new(spans, 2, table).unwrap();
            let prediction = Prediction::of_candidates(candidates);
            let all = decode(&prediction, Nesting::Nested, 0.0);
            let kept = decode(&prediction, Nesting::Flat, 0.0);
            let overlap = |a: &Found, b: &Found| a.span.start() < b.span.end() && b.span.start() < a.span.end();
            for found in &all {
                let rivals = kept.iter().filter(|k| *k != found && overlap(k, found)).count();
                match kept.contains(found) {
                    true => prop_assert_eq!(rivals, 0),
                    false => prop_assert!(kept.iter().any(|k| overlap(k, found) && k.score >= found.score)),
                }
            }
        }
    }
}
