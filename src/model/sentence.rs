//! A sentence as the architectures see it.

use super::word_shape;
use crate::annotation::Span;
use std::collections::BTreeMap;
use std::ops::Range;

/// Number of a class: 0 is "none", the others are labels.
pub type Class = u32;

/// Mentions that an architecture with candidate spans can't learn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unlearnable {
    /// Wider than the max width.
    pub too_wide: usize,
    /// A second label on a span: the classes exclude each other, so the first one is learnt.
    pub doubled: usize,
}

/// The words' features and the gold mentions of a sentence.
#[derive(Clone, PartialEq, Debug)]
pub struct Sentence {
    word_shapes: Vec<u32>,
    gold: BTreeMap<Span, Class>,
    unlearnable: Unlearnable,
}

impl Sentence {
    /// Keeps the mentions up to `max_width` and counts the others. Spans must lie inside the sentence.
    pub fn new(words: &[String], gold: &[(Span, Class)], max_width: usize) -> Self {
        let word_shapes = words.iter().map(|word| word_shape(word)).collect();
        let mut sentence = Self { word_shapes, gold: BTreeMap::new(), unlearnable: Unlearnable::default() };
        for &(span, class) in gold {
            if span.width_tokens() > max_width {
                sentence.unlearnable.too_wide += 1;
            } else if let Some(first) = sentence.gold.get_mut(&span) {
                sentence.unlearnable.doubled += usize::from(*first != class);
                *first = class.min(*first);
            } else {
                sentence.gold.insert(span, class);
            }
        }
        sentence
    }

    /// Some of the words, with the mentions that lie among them.
    #[must_use]
    pub fn part(&self, words: Range<usize>) -> Self {
        let within = |(span, class): (&Span, &Class)| {
            let range = span.start().get().checked_sub(words.start)?..span.end().get().checked_sub(words.start)?;
            let span = Span::from_range(range).filter(|span| span.end().get() <= words.len())?;
            Some((span, *class))
        };
        Self {
            word_shapes: self.word_shapes.get(words.clone()).unwrap_or_default().to_vec(),
            gold: self.gold.iter().filter_map(within).collect(),
            unlearnable: Unlearnable::default(),
        }
    }

    /// The last place up to `end` where the words can be parted without parting a mention; `end` itself where there is none
    /// after `start`.
    pub fn border(&self, start: usize, end: usize) -> usize {
        let mut border = end;
        loop {
            let is_cut = |span: &&Span| span.start().get() < border && border < span.end().get();
            match self.gold.keys().filter(is_cut).map(|span| span.start().get()).min() {
                None if border > start => return border,
                Some(first) if first > start => border = first,
                _ => return end,
            }
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.word_shapes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.word_shapes.is_empty()
    }

    /// One number below [`super::WORD_SHAPES`] for each word.
    pub fn word_shapes(&self) -> &[u32] {
        &self.word_shapes
    }

    /// The class of a span in gold.
    pub fn class(&self, span: Span) -> Class {
        self.gold.get(&span).copied().unwrap_or(0)
    }

    /// For each word, whether it is the first of a gold mention that can be learnt.
    pub fn first_words(&self) -> Vec<bool> {
        let mut first_words = vec![false; self.len()];
        for span in self.gold.keys() {
            if let Some(is_first) = first_words.get_mut(span.start().get()) {
                *is_first = true;
            }
        }
        first_words
    }

    pub fn unlearnable(&self) -> Unlearnable {
        self.unlearnable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_t_be_learnt_is_counted() {
        let words: Vec<String> = "a b c d e".split(' ').map(str::to_owned).collect();
        let span = |start, end| Span::from_range(start..end).unwrap();
        let gold = [(span(0, 5), 1), (span(1, 3), 2), (span(1, 3), 1), (span(1, 3), 1), (span(4, 5), 2)];
        let sentence = Sentence::new(&words, &gold, 4);
        assert_eq!(sentence.unlearnable(), Unlearnable { too_wide: 1, doubled: 1 });
        assert_eq!(sentence.first_words(), [false, true, false, false, true]);
        assert_eq!([sentence.class(span(1, 3)), sentence.class(span(4, 5)), sentence.class(span(0, 5))], [1, 2, 0]);
    }

    #[test]
    fn words_are_parted_where_no_mention_is() {
        let words: Vec<String> = "a b c d e f g".split(' ').map(str::to_owned).collect();
        let span = |start, end| Span::from_range(start..end).unwrap();
        let sentence = Sentence::new(&words, &[(span(1, 3), 1), (span(2, 5), 2), (span(6, 7), 3)], 4);
        assert_eq!([6, 5, 4, 3, 2, 1].map(|end| sentence.border(0, end)), [6, 5, 1, 1, 1, 1]);
        assert_eq!(sentence.border(1, 4), 4, "no place is left, so a mention is parted");
        let part = sentence.part(1..5);
        assert_eq!((part.len(), part.class(span(0, 2)), part.class(span(1, 4))), (4, 1, 2));
        assert_eq!(sentence.part(2..7).first_words(), [true, false, false, false, true]);
        assert_eq!(sentence.part(0..7), Sentence { unlearnable: Unlearnable::default(), ..sentence });
    }
}
