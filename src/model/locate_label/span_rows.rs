//! Spans of a batch as rows of tensors.

use crate::annotation::Span;
use std::ops::Range;

/// N spans, and for each the two words whose vectors stand beside its greatest values. Words are counted over the batch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SpanRows {
    pub words: Vec<Range<usize>>,
    pub left: Vec<u32>,
    pub right: Vec<u32>,
}

impl SpanRows {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// A span of the sentence that has these words, beside its own first and last word (Eq. 2 and 9).
    pub(super) fn push_with_inner(&mut self, sentence: &Range<usize>, span: Span) {
        self.push(sentence, span, [span.start().get(), span.last().get()]);
    }

    /// The same beside the words around it (Eq. 4). Where the sentence begins or ends, its own boundary word stands for them
    /// (as in the authors' program).
    pub(super) fn push_with_outer(&mut self, sentence: &Range<usize>, span: Span) {
        let last = sentence.len().saturating_sub(1);
        self.push(sentence, span, [span.start().get().saturating_sub(1), span.end().get().min(last)]);
    }

    fn push(&mut self, sentence: &Range<usize>, span: Span, beside: [usize; 2]) {
        let [left, right] = beside.map(|word| (sentence.start + word) as u32);
        self.words.push(sentence.start + span.start().get()..sentence.start + span.end().get());
        self.left.push(left);
        self.right.push(right);
    }

    /// The rows in parts that are worked on one after the other: of `most` words or a single row, where each row counts as
    /// `of_row` says.
    pub(super) fn parts(&self, most: usize, of_row: impl Fn(&Range<usize>) -> usize) -> Vec<Range<usize>> {
        let (mut parts, mut from, mut widest) = (Vec::new(), 0, 0);
        for (row, words) in self.words.iter().enumerate() {
            let wider = of_row(words).max(widest);
            if row > from && wider * (row + 1 - from) > most {
                parts.push(from..row);
                (from, widest) = (row, of_row(words));
            } else {
                widest = wider;
            }
        }
        if from < self.len() {
            parts.push(from..self.len());
        }
        parts
    }

    pub(super) fn part(&self, rows: Range<usize>) -> (&[Range<usize>], &[u32], &[u32]) {
        (&self.words[rows.clone()], &self.left[rows.clone()], &self.right[rows])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_beside_a_span_stay_in_its_sentence() {
        let mut inner = SpanRows::default();
        let mut outer = SpanRows::default();
        for span in [0..2, 1..4, 2..5, 0..5] {
            let span = Span::from_range(span).unwrap();
            inner.push_with_inner(&(10..15), span);
            outer.push_with_outer(&(10..15), span);
        }
        assert_eq!(inner.words, [10..12, 11..14, 12..15, 10..15]);
        assert_eq!((inner.left, inner.right), (vec![10, 11, 12, 10], vec![11, 13, 14, 14]));
        assert_eq!((outer.left, outer.right), (vec![10, 10, 11, 10], vec![12, 14, 14, 14]));
    }

    #[test]
    fn a_part_holds_what_fits() {
        let mut rows = SpanRows::default();
        for span in [0..1, 0..2, 0..2, 0..9, 0..3, 0..1, 0..1] {
            rows.push_with_inner(&(0..9), Span::from_range(span).unwrap());
        }
        assert_eq!(rows.parts(6, Range::len), [0..3, 3..4, 4..6, 6..7]);
        assert_eq!(rows.parts(4, |_| 1), [0..4, 4..7]);
        assert!(SpanRows::default().parts(4, |_| 1).is_empty());
    }
}
