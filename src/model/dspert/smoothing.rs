//! Boundary smoothing (Zhu and Li 2022): a gold span gives a share of its mass to the spans around it, because where a
//! mention ends is a matter of opinion more often than what it is.

use crate::annotation::Span;
use crate::model::Class;
use std::collections::BTreeMap;

/// How much mass a gold span gives away, and how far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Smoothing {
    /// ε: the share, spread evenly over the distances, and at each over all its places.
    pub epsilon: f32,
    /// D: the greatest Manhattan distance, |start - start'| + |end - end'|.
    pub distance: usize,
}

/// Masses of labels on spans of one sentence. What a span has left up to 1 is "none"; a span that is not named is that only.
pub(super) type LabelMasses = BTreeMap<Span, BTreeMap<Class, f32>>;

impl Smoothing {
    /// What would fall on no span of the sentence, or on one wider than `max_width`, stays where it is. Masses on one span
    /// add up; where they exceed 1 they are divided by their sum.
    pub(super) fn apply(
        self,
        gold: impl IntoIterator<Item = (Span, Class)>,
        words: usize,
        max_width: usize,
    ) -> LabelMasses {
        let mut masses = LabelMasses::new();
        let mut add = |span: Span, class: Class, mass: f32| {
            *masses.entry(span).or_default().entry(class).or_default() += mass;
        };
        for (span, class) in gold {
            let mut kept = 1.0;
            for distance in 1..=self.distance {
                let around = around(span, distance);
                let each = self.epsilon / (self.distance * around.len()) as f32;
                let is_there = |span: &Span| span.end().get() <= words && span.width_tokens() <= max_width;
                for other in around.into_iter().flatten().filter(is_there) {
                    add(other, class, each);
                    kept -= each;
                }
            }
            add(span, class, kept);
        }
        for labels in masses.values_mut() {
            let sum: f32 = labels.values().sum();
            if sum > 1.0 {
                labels.values_mut().for_each(|mass| *mass /= sum);
            }
        }
        masses
    }
}

/// The places at a Manhattan distance, four for each step of it; `None` where there can be no span.
fn around(span: Span, distance: usize) -> Vec<Option<Span>> {
    let moved = |start: isize, end: isize| {
        let start = span.start().get().checked_add_signed(start)?;
        Span::from_range(start..span.end().get().checked_add_signed(end)?)
    };
    let steps = 0..distance as isize;
    let corner = |step: isize| {
        let rest = distance as isize - step;
        [moved(-step, -rest), moved(-rest, step), moved(step, rest), moved(rest, -step)]
    };
    steps.flat_map(corner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::read_tensors;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    fn smoothed(epsilon: f32, distance: usize, gold: &[(Span, Class)], words: usize, max_width: usize) -> String {
        let masses = Smoothing { epsilon, distance }.apply(gold.iter().copied(), words, max_width);
        let one = |(span, labels): (&Span, &BTreeMap<Class, f32>)| {
            let labels: Vec<String> = labels.iter().map(|(class, mass)| format!("{class}:{mass:.3}")).collect();
            format!("{span:?} {}", labels.join(" "))
        };
        masses.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_share_goes_to_the_four_neighbours() {
        let got = smoothed(0.1, 1, &[(span(2, 4), 1)], 6, 5);
        assert_eq!(got, "1..4 1:0.025, 2..3 1:0.025, 2..4 1:0.900, 2..5 1:0.025, 3..4 1:0.025");
    }

    #[test]
    fn what_falls_outside_stays() {
        // Left of the sentence, right of it, a span without words, and one that is too wide.
        assert_eq!(smoothed(0.1, 1, &[(span(0, 2), 3)], 2, 5), "0..1 3:0.025, 0..2 3:0.950, 1..2 3:0.025");
        assert_eq!(smoothed(0.1, 1, &[(span(1, 2), 3)], 3, 2), "0..2 3:0.025, 1..2 3:0.950, 1..3 3:0.025");
        assert_eq!(smoothed(0.1, 1, &[(span(1, 3), 3)], 4, 2), "1..2 3:0.025, 1..3 3:0.950, 2..3 3:0.025");
        assert_eq!(smoothed(0.1, 1, &[(span(0, 1), 3)], 1, 5), "0..1 3:1.000");
    }

    #[test]
    fn each_distance_has_its_share() {
        // Four places at the distance 1, eight at 2.
        let got = smoothed(0.4, 2, &[(span(5, 9), 1)], 20, 20);
        assert_eq!(got.matches("1:0.050").count(), 4, "{got}");
        assert_eq!(got.matches("1:0.025").count(), 8, "{got}");
        assert!(got.contains("5..9 1:0.600") && got.contains("6..8 1:0.025") && got.contains("5..7 1:0.025"), "{got}");
    }

    #[test]
    fn overlapping_masses_add_up_to_1_at_most() {
        // 1..2 keeps 0.9, since two of its neighbours are no spans, and gets 0.05 each from 0..2 and 1..3.
        let got = smoothed(0.2, 1, &[(span(1, 2), 1), (span(0, 2), 1), (span(1, 3), 2)], 4, 4);
        assert!(got.contains("1..2 1:0.950 2:0.050"), "{got}");
        // 0..2 and 1..3 both reach 0..3, with different labels.
        assert!(got.contains("0..3 1:0.050 2:0.050"), "{got}");
        let twice = smoothed(0.1, 1, &[(span(1, 2), 1), (span(1, 2), 2)], 3, 3);
        assert!(twice.contains("1..2 1:0.500 2:0.500"), "{twice}");
    }

    /// Masses by the definition, over a table of all starts and ends: `tests/fixtures/learner/make_spans.py`.
    #[test]
    fn masses_are_those_of_the_definition() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/spans.safetensors");
        let reference = read_tensors(&path).unwrap();
        let numbers = |name: &str| reference[name].to_vec2::<i64>().unwrap();
        let place = |row: &[i64]| span(row[0] as usize, row[1] as usize);
        let gold: Vec<(Span, Class)> =
            numbers("smoothed.gold").iter().map(|row| (place(row), row[2] as Class)).collect();
        let masses = Smoothing { epsilon: 0.2, distance: 2 }.apply(gold, 8, 5);
        let expected = reference["smoothed.masses"].to_vec2::<f32>().unwrap();
        for (row, expected) in numbers("smoothed.spans").iter().zip(expected) {
            let labels = masses.get(&place(row)).cloned().unwrap_or_default();
            let got = [1.0 - labels.values().sum::<f32>()].into_iter();
            let got = got.chain([1, 2].map(|class| labels.get(&class).copied().unwrap_or(0.0)));
            for (got, expected) in got.zip(&expected) {
                assert!((got - expected).abs() < 1e-6, "{row:?}: {labels:?} {expected:?}");
            }
        }
        assert!(masses.keys().all(|span| span.end().get() <= 8 && span.width_tokens() <= 5));
    }
}
