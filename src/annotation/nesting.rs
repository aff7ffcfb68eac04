//! How spans of one sentence lie in each other.

use super::Span;

/// A lane for each span such that spans of one lane don't overlap, and a span lies below (in a higher lane than)
/// those that it holds.
///
/// Short spans come first, so that an inner mention is nearest to its words and adding an outer one moves nothing.
/// Quadratic in the number of spans of one sentence.
pub fn assign_lanes(spans: &[Span]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&i| spans.get(i).map(|s| (s.width_tokens(), s.start())));
    let mut lanes = vec![0; spans.len()];
    for (rank, &i) in order.iter().enumerate() {
        let Some(&span) = spans.get(i) else { continue };
        let taken = order.iter().take(rank).filter(|&&j| spans.get(j).is_some_and(|s| s.overlaps(span)));
        let above = taken.filter_map(|&j| lanes.get(j).copied()).max();
        if let Some(lane) = lanes.get_mut(i) {
            *lane = above.map_or(0, |lane: usize| lane + 1);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ranges: &[(usize, usize)]) -> Vec<Span> {
        ranges.iter().map(|&(s, e)| Span::from_range(s..e).unwrap()).collect()
    }

    #[test]
    fn an_inner_span_is_in_a_lane_of_its_own_nearer_to_the_words() {
        let s = spans(&[(0, 6), (3, 6), (5, 6), (8, 9), (5, 6)]);
        assert_eq!(assign_lanes(&s), [3, 2, 0, 0, 1]);
    }

    #[test]
    fn crossing_spans_get_two_lanes() {
        assert_eq!(assign_lanes(&spans(&[(0, 3), (2, 5)])), [0, 1]);
    }
}
