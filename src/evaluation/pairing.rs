//! Which spans of two sets can be taken for each other, one to one.

use crate::annotation::Span;

/// Spans that are in both lists, each of them as often as in the list that has it less often.
pub(super) struct Equal {
    pub pairs: usize,
    /// What is left of the first list.
    pub left: Vec<Span>,
    /// What is left of the second list.
    pub right: Vec<Span>,
}

impl Equal {
    /// Of two lists in order.
    pub(super) fn of(left: &[Span], right: &[Span]) -> Self {
        let mut found = Self { pairs: 0, left: Vec::new(), right: Vec::new() };
        let mut others = right.iter().copied().peekable();
        for &span in left {
            while let Some(smaller) = others.next_if(|other| *other < span) {
                found.right.push(smaller);
            }
            match others.next_if_eq(&span) {
                Some(_) => found.pairs += 1,
                None => found.left.push(span),
            }
        }
        found.right.extend(others);
        found
    }
}

/// The most pairs of overlapping spans that can be made when each span is in one pair at most.
///
/// Goes through the left spans from the one that ends first, and gives each the right one that ends first of those that
/// overlap it and are free. No choice is better. Let `x` be the first left span and `y` its partner, and suppose that the
/// best choice pairs `x` with `y'` and `x'` with `y`. `x'` begins before `y` ends, and `y` does not end after `y'`; `y'`
/// begins before `x` ends, and `x` does not end after `x'`. So `x'` and `y'` overlap, and `x y`, `x' y'` are as many pairs.
/// The product of both lengths at worst.
pub(super) fn most_overlaps(left: &[Span], right: &[Span]) -> usize {
    let mut free = by_end(right);
    let mut pairs = 0;
    for span in by_end(left) {
        if let Some(at) = free.iter().position(|other| other.overlaps(span)) {
            free.remove(at);
            pairs += 1;
        }
    }
    pairs
}

fn by_end(spans: &[Span]) -> Vec<Span> {
    let mut spans = spans.to_vec();
    spans.sort_unstable_by_key(|span| span.end());
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ranges: &[(usize, usize)]) -> Vec<Span> {
        ranges.iter().map(|&(s, e)| Span::from_range(s..e).unwrap()).collect()
    }

    #[test]
    fn equal_spans_pair_as_often_as_both_lists_have_them() {
        let equal = Equal::of(&spans(&[(0, 1), (0, 2), (0, 2), (4, 5)]), &spans(&[(0, 2), (1, 3), (4, 5), (4, 5)]));
        assert_eq!(equal.pairs, 2);
        assert_eq!((equal.left, equal.right), (spans(&[(0, 1), (0, 2)]), spans(&[(1, 3), (4, 5)])));
    }

    #[test]
    fn a_span_that_overlaps_several_is_left_to_the_one_that_has_no_other() {
        // 0..9 overlaps both, 0..2 only the first: two pairs, though 0..9 comes first in the order of spans.
        assert_eq!(most_overlaps(&spans(&[(0, 9), (0, 2)]), &spans(&[(1, 3), (4, 6)])), 2);
        assert_eq!(most_overlaps(&spans(&[(0, 2), (1, 3), (2, 4)]), &spans(&[(0, 4)])), 1);
        assert_eq!(most_overlaps(&spans(&[(0, 2)]), &spans(&[(2, 4)])), 0);
    }
}
