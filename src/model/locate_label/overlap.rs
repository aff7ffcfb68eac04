//! How much two spans share.

use crate::annotation::Span;

/// Intersection over union in words (§2.2), from 0 to 1; 1 only for equal spans.
pub(super) fn iou(a: Span, b: Span) -> f32 {
    let start = a.start().max(b.start()).get();
    let shared = a.end().min(b.end()).get().saturating_sub(start);
    shared as f32 / (a.width_tokens() + b.width_tokens() - shared) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn shared_words_over_all_words() {
        // Shared 2 of 0..5; 1 of 3..6; 3 of 0..9; 7 of 0..10; all; touching; apart.
        assert_eq!(iou(span(0, 4), span(2, 5)), 2.0 / 5.0);
        assert_eq!(iou(span(4, 5), span(3, 6)), 1.0 / 3.0);
        assert_eq!(iou(span(0, 9), span(3, 6)), 3.0 / 9.0);
        assert_eq!(iou(span(0, 10), span(0, 7)), 0.7, "as the number is written");
        assert_eq!(iou(span(2, 3), span(2, 3)), 1.0);
        assert_eq!([iou(span(0, 2), span(2, 4)), iou(span(0, 1), span(5, 9))], [0.0, 0.0]);
    }
}
