//! What moves the boundaries of a span.
//!
//! ```text
//! words      the  mayor  of  Aarhus  met
//! seed            [----------)             1..3
//! mention    [------------------)          0..4      offsets -1, 1
//! ```

use crate::annotation::Span;

/// How far the boundaries of a mention lie behind those of a seed, left and right, in words: what the regressor learns
/// (§2.2).
pub(super) fn offsets(seed: Span, mention: Span) -> [f32; 2] {
    let behind = |a: usize, b: usize| a as f32 - b as f32;
    [behind(mention.start().get(), seed.start().get()), behind(mention.end().get(), seed.end().get())]
}

/// A seed with its boundaries moved by offsets rounded to whole words, inside a sentence of `words` words (Eq. 6 and 7, which
/// clamp to the longest seed where the sentence is meant). `None` when nothing is left between them.
pub(super) fn moved(seed: Span, [left, right]: [f32; 2], words: usize) -> Option<Span> {
    // A cast of what is too large gives the largest, and of what is no number 0.
    let by = |boundary: usize, offset: f32| (boundary as i64).saturating_add((offset + 0.5).floor() as i64);
    let start = by(seed.start().get(), left).max(0);
    let end = by(seed.end().get(), right).min(words as i64);
    Span::from_range(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn boundaries_move_by_whole_words_within_the_sentence() {
        assert_eq!(offsets(span(1, 3), span(0, 4)), [-1.0, 1.0]);
        assert_eq!(offsets(span(5, 6), span(7, 12)), [2.0, 6.0]);
        let moved = |left, right| moved(span(3, 5), [left, right], 9).map(|span| format!("{span:?}"));
        let span = |text: &str| Some(text.to_owned());
        // floor(t + 1/2): a half goes up, on both sides of 0.
        assert_eq!([moved(0.49, -0.5), moved(-0.51, 0.5)], [span("3..5"), span("2..6")]);
        assert_eq!([moved(-1.5, 1.49), moved(1.0, 0.0)], [span("2..6"), span("4..5")]);
        assert_eq!(moved(-3.6, 4.6), span("0..9"), "no further than the sentence");
        assert_eq!([moved(2.0, 0.0), moved(1.0, -2.0), moved(0.0, -9.0), moved(6.0, 9.0)], [None, None, None, None]);
        assert_eq!(moved(f32::NEG_INFINITY, f32::INFINITY), span("0..9"));
        assert_eq!(moved(f32::NAN, f32::NAN), span("3..5"));
    }

    proptest! {
        #[test]
        fn the_offsets_of_a_mention_lead_to_it(a in 0usize..30, b in 1usize..9, c in 0usize..30, d in 1usize..30) {
            let (seed, mention) = (span(a, a + b), span(c, c + d));
            prop_assert_eq!(moved(seed, offsets(seed, mention), 60), Some(mention));
        }
    }
}
