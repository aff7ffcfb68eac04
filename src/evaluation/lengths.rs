//! Strict scores by the length of mentions.

use super::{Counts, Judged};

/// Name of a row and its greatest width in tokens. Ours; Figure 2 of "Deep Span Representations for Named Entity
/// Recognition" shows the same kind of groups.
const ROWS: [(&str, usize); 7] = [("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("6-10", 10), ("11+", usize::MAX)];

/// A gold mention counts in the row of its own width, a predicted one in the row of its own. Equal mentions have equal
/// widths, so the rows add up to the micro counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lengths {
    counts: [Counts; ROWS.len()],
}

impl Lengths {
    /// Counts over all sentences.
    pub fn of<'a>(sentences: impl IntoIterator<Item = Judged<'a>>) -> Self {
        let mut lengths = Self::default();
        for (span, _, counts) in sentences.into_iter().flat_map(Judged::strict) {
            let row = ROWS.iter().zip(&mut lengths.counts).find(|((_, widest), _)| span.width_tokens() <= *widest);
            if let Some((_, total)) = row {
                *total += counts;
            }
        }
        lengths
    }

    /// Widths in tokens (`1`, `6-10`, `11+`) with their counts, from the shortest.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Counts)> {
        ROWS.iter().map(|(name, _)| *name).zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{counts, judge};
    use super::*;

    #[test]
    fn each_mention_counts_where_its_own_width_is() {
        // 1 found; a gold one of 10 predicted with 11 is missed in one row and made up in another.
        let gold = [(0, 1, 1), (2, 12, 1), (3, 8, 1), (20, 26, 2)];
        let predicted = [(0, 1, 1), (2, 13, 1), (3, 8, 2)];
        let lengths = judge(&gold, &predicted, |sentence| Lengths::of([sentence]));
        let some: Vec<_> = lengths.rows().filter(|(_, c)| *c != Counts::default()).collect();
        assert_eq!(
            some,
            [("1", counts(1, 0, 0)), ("5", counts(0, 1, 1)), ("6-10", counts(0, 0, 2)), ("11+", counts(0, 1, 0))]
        );
    }
}
