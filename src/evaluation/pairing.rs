//! Which spans of two sets can be taken for each other, one to one.

use crate::annotation::Span;
use std::collections::VecDeque;

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
/// Takes the span that ends first, of either list, and gives it the one of the other list that ends first of those that
/// overlap it. No choice is better. Let `x` be that span, `y` its partner, and suppose that the best choice pairs `x`
/// with `y'` and `x'` with `y`. `y` and `y'` both hold the last word of `x`, and `y` does not end after `y'`. `x'` begins
/// before `y` ends, so before `y'` ends; and it does not end before `x`, so it ends after `y'` begins. `x'` overlaps
/// `y'`, and `x y`, `x' y'` are as many pairs. Quadratic in the spans of one sentence at worst.
pub(super) fn most_overlaps(left: &[Span], right: &[Span]) -> usize {
    let (mut left, mut right) = (by_end(left), by_end(right));
    let mut pairs = 0;
    while let (Some(l), Some(r)) = (left.front(), right.front()) {
        let (from, to) = if l.end() <= r.end() { (&mut left, &mut right) } else { (&mut right, &mut left) };
        let Some(first) = from.pop_front() else { break };
        if let Some(at) = to.iter().position(|other| other.overlaps(first)) {
            to.remove(at);
            pairs += 1;
        }
    }
    pairs
}

fn by_end(spans: &[Span]) -> VecDeque<Span> {
    let mut spans = spans.to_vec();
    spans.sort_unstable_by_key(|span| span.end());
    spans.into()
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
