//! Strict scores by how mentions lie in the gold ones of their sentence.
//!
//! The groups are those of "Deep Span Representations for Named Entity Recognition", section 4.5 and Figure 3. They are
//! defined for any span, so a wrong prediction has its group as a gold mention has:
//!
//! - nested: inside a gold mention that covers gold mentions;
//! - covering: covers a gold mention that is inside another one;
//! - both: nested and covering;
//! - flat: neither.
//!
//! Ours, where the paper is silent: "inside" and "covers" are strict, so equal spans with different labels are one span
//! and don't nest, and spans that cross don't either. Inside a gold mention that covers nothing, or around one that lies
//! in nothing, a wrong prediction is flat. As in the paper nested and covering hold those that are both:
//! `micro = nested + covering - both + flat`.

use super::judged::set;
use super::{Counts, Judged};
use crate::annotation::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nesting {
    pub nested: Counts,
    pub covering: Counts,
    pub both: Counts,
    pub flat: Counts,
}

impl Nesting {
    /// Each group with its name. Nested and covering hold those that are both.
    pub fn rows(self) -> [(&'static str, Counts); 4] {
        [("nested", self.nested), ("covering", self.covering), ("both", self.both), ("flat", self.flat)]
    }

    /// Counts over all sentences.
    pub fn of<'a>(sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let mut nesting = Self::default();
        for sentence in sentences {
            nesting.add(sentence);
        }
        nesting
    }

    fn add(&mut self, sentence: Judged<'_>) {
        let gold: Vec<Span> = sentence.gold.iter().map(|(span, _)| *span).collect();
        let gold = set(&gold);
        let among_gold = |keep: fn(Span, Span) -> bool| -> Vec<Span> {
            gold.iter().copied().filter(|span| gold.iter().any(|other| keep(*span, *other))).collect()
        };
        let outer = among_gold(|span, other| is_inside(other, span));
        let inner = among_gold(is_inside);
        for (span, _, counts) in sentence.strict() {
            let nested = outer.iter().any(|around| is_inside(span, *around));
            let covering = inner.iter().any(|within| is_inside(*within, span));
            let groups = [
                (&mut self.nested, nested),
                (&mut self.covering, covering),
                (&mut self.both, nested && covering),
                (&mut self.flat, !nested && !covering),
            ];
            for (total, _) in groups.into_iter().filter(|(_, belongs)| *belongs) {
                *total += counts;
            }
        }
    }
}

fn is_inside(span: Span, other: Span) -> bool {
    span != other && other.contains(span)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counts, judge};
    use super::*;

    fn check(gold: &[(usize, usize, u32)], predicted: &[(usize, usize, u32)], expected: [Counts; 4]) {
        let Nesting { nested, covering, both, flat } = judge(gold, predicted, |sentence| Nesting::of([sentence]));
        assert_eq!([nested, covering, both, flat], expected, "nested, covering, both, flat");
    }

    #[test]
    fn the_example_of_the_paper() {
        // "Mr. John Smith graduated from New York University last year": the model finds the inner one, and makes up
        // "York University" inside the outer one and "from New York" around the inner one.
        let gold = [(1, 3, 0), (5, 8, 1), (5, 7, 2)];
        let predicted = [(1, 3, 0), (5, 7, 2), (6, 8, 1), (4, 7, 2)];
        check(&gold, &predicted, [counts(1, 1, 0), counts(0, 1, 1), counts(0, 0, 0), counts(1, 0, 0)]);
    }

    #[test]
    fn the_middle_of_three_layers_is_both() {
        let gold = [(0, 6, 0), (2, 6, 0), (4, 6, 0)];
        check(&gold, &[(2, 6, 0)], [counts(1, 0, 1), counts(1, 0, 1), counts(1, 0, 0), counts(0, 0, 0)]);
    }

    #[test]
    fn equal_crossing_and_lonely_spans_are_flat() {
        // Two labels on one span, two that cross, a prediction inside a mention that covers nothing.
        let gold = [(0, 2, 0), (0, 2, 1), (3, 6, 0), (5, 8, 0)];
        check(&gold, &[(0, 1, 0), (3, 6, 0)], [counts(0, 0, 0), counts(0, 0, 0), counts(0, 0, 0), counts(1, 1, 3)]);
    }
}
