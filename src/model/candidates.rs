//! Candidate spans: which ones train, and what a model says of those that it was asked about.

use super::{Class, FirstWord, ModelError, Sentence};
use crate::annotation::Span;
use crate::nn::{NnError, Rng, cross_entropy, select_rows};
use candle_core::Tensor;
use std::ops::Range;

/// Samples of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleCounts {
    pub positive: usize,
    pub negative: usize,
}

impl SampleCounts {
    pub(super) fn count(&mut self, positive: bool) {
        if positive { self.positive += 1 } else { self.negative += 1 }
    }
}

/// What a loss was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Samples {
    pub first_words: SampleCounts,
    pub spans: SampleCounts,
    /// Of tags; those of words in mentions are positive.
    pub words: SampleCounts,
}

impl std::ops::AddAssign for Samples {
    fn add_assign(&mut self, other: Self) {
        let Self { first_words, spans, words } = other;
        for (mine, others) in [(&mut self.first_words, first_words), (&mut self.spans, spans), (&mut self.words, words)]
        {
            mine.positive += others.positive;
            mine.negative += others.negative;
        }
    }
}

/// Candidates of a batch as rows of tensors: N of them, words counted over the whole batch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Rows {
    /// First word of each.
    pub first: Vec<u32>,
    /// Last word of each.
    pub last: Vec<u32>,
    /// Width in words, less 1.
    pub width: Vec<u32>,
    /// Gold class of each; in training only.
    pub classes: Vec<Class>,
    /// One for each sentence, in order.
    pub groups: Vec<Group>,
}

/// The candidates of one sentence: they touch no word of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Group {
    pub rows: Range<usize>,
    pub words: Range<usize>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    pub(super) fn push(&mut self, first_word: usize, span: Span) {
        self.first.push((first_word + span.start().get()) as u32);
        self.last.push((first_word + span.last().get()) as u32);
        self.width.push((span.width_tokens() - 1) as u32);
    }

    /// Ends the candidates of a sentence whose words begin at `first_word`.
    pub(super) fn end_sentence(&mut self, first_word: usize, words: usize) {
        let from = self.groups.last().map_or(0, |group| group.rows.end);
        self.groups.push(Group { rows: from..self.len(), words: first_word..first_word + words });
    }

    /// The rows from `from`, `count` at most.
    pub(super) fn slice(&self, from: usize, count: usize) -> (&[u32], &[u32], &[u32]) {
        let to = self.len().min(from + count);
        let part = |rows: &'_ [u32]| -> std::ops::Range<usize> { from.min(rows.len())..to };
        (&self.first[part(&self.first)], &self.last[part(&self.last)], &self.width[part(&self.width)])
    }
}

/// Spans that start at `start` and are at most `max_width` wide, shortest first.
pub(super) fn spans_from(start: usize, words: usize, max_width: usize) -> impl Iterator<Item = Span> {
    (start + 1..=words.min(start + max_width)).filter_map(move |end| Span::from_range(start..end))
}

/// The spans that train: those of gold first words, and of the others each with the chance `sampling` (SmartSpanNER's Eq. 8).
pub(super) fn sample(batch: &[&Sentence], max_width: usize, sampling: f32, rng: &mut Rng) -> (Rows, SampleCounts) {
    let (mut rows, mut counts, mut first_word) = (Rows::default(), SampleCounts::default(), 0);
    for sentence in batch {
        for (start, first_word_is) in sentence.first_words(max_width).into_iter().enumerate() {
            for span in spans_from(start, sentence.len(), max_width) {
                if first_word_is != FirstWord::Yes && rng.unit() >= sampling {
                    continue;
                }
                let class = sentence.class(span);
                rows.push(first_word, span);
                rows.classes.push(class);
                counts.count(class != 0);
            }
        }
        rows.end_sentence(first_word, sentence.len());
        first_word += sentence.len();
    }
    (rows, counts)
}

/// Words of a batch that train who is a first word: of neither answer to the others it could be said that it is right.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FirstWords {
    /// Numbers of the words; ascending.
    pub words: Vec<u32>,
    /// For each of them, 1 if it is a gold first word.
    pub classes: Vec<Class>,
    pub counts: SampleCounts,
}

impl FirstWords {
    /// Of a batch, for candidates up to `max_width`.
    pub(super) fn of(batch: &[&Sentence], max_width: usize) -> Self {
        let mut all = Self::default();
        for (word, is) in (0..).zip(batch.iter().flat_map(|sentence| sentence.first_words(max_width))) {
            if is != FirstWord::Unlearnable {
                all.words.push(word);
                all.classes.push(Class::from(is == FirstWord::Yes));
                all.counts.count(is == FirstWord::Yes);
            }
        }
        all
    }

    /// Mean cross-entropy of these words, a scalar, from the logits of all words, `[W, 2]`.
    pub(super) fn loss(&self, logits: &Tensor) -> Result<Tensor, NnError> {
        let (count, _) = logits.dims2()?;
        match self.words.len() {
            all if all == count => cross_entropy(logits, &self.classes),
            // The mean of nothing would be no number.
            0 => Ok((logits.sum_all()? * 0.0)?),
            _ => cross_entropy(&select_rows(logits, &self.words)?, &self.classes),
        }
    }
}

/// The candidates of a batch in prediction: of the words that `may_start` says yes to. One list a sentence.
pub(super) fn enumerate(
    batch: &[&Sentence],
    max_width: usize,
    may_start: impl Fn(usize) -> bool,
) -> (Rows, Vec<Vec<Span>>) {
    let (mut rows, mut lists, mut first_word) = (Rows::default(), Vec::with_capacity(batch.len()), 0);
    for sentence in batch {
        let starts = (0..sentence.len()).filter(|start| may_start(first_word + start));
        let spans: Vec<Span> = starts.flat_map(|start| spans_from(start, sentence.len(), max_width)).collect();
        spans.iter().for_each(|span| rows.push(first_word, *span));
        rows.end_sentence(first_word, sentence.len());
        lists.push(spans);
        first_word += sentence.len();
    }
    (rows, lists)
}

/// Given spans of a batch as rows, one list a sentence.
pub(super) fn rows_of(batch: &[&Sentence], spans: &[Vec<Span>]) -> Rows {
    let (mut rows, mut first_word) = (Rows::default(), 0);
    for (sentence, spans) in batch.iter().zip(spans) {
        spans.iter().for_each(|span| rows.push(first_word, *span));
        rows.end_sentence(first_word, sentence.len());
        first_word += sentence.len();
    }
    rows
}

/// Deals out the probabilities of a batch to the sentences that [`enumerate`] listed.
pub(super) fn split_up(
    lists: Vec<Vec<Span>>,
    classes: usize,
    probabilities: Vec<f32>,
) -> Result<Vec<Candidates>, ModelError> {
    let mut row = probabilities.into_iter();
    let deal = |spans: Vec<Span>| {
        let table = row.by_ref().take(spans.len() * classes).collect();
        Candidates::new(spans, classes, table).ok_or(ModelError::Incomplete)
    };
    lists.into_iter().map(deal).collect()
}

/// Candidates of a sentence with a probability for each class.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidates {
    spans: Vec<Span>,
    classes: usize,
    /// One row a span.
    probabilities: Vec<f32>,
}

impl Candidates {
    /// `None` unless there are `classes` probabilities for each span.
    pub fn new(spans: Vec<Span>, classes: usize, probabilities: Vec<f32>) -> Option<Self> {
        (classes > 0 && spans.len() * classes == probabilities.len()).then_some(Self { spans, classes, probabilities })
    }

    /// No candidates.
    pub fn none(classes: usize) -> Self {
        Self { spans: Vec::new(), classes: classes.max(1), probabilities: Vec::new() }
    }

    /// Those that start before the word number `end`.
    #[must_use]
    pub fn before(self, end: usize) -> Self {
        if self.spans.iter().all(|span| span.start().get() < end) {
            return self;
        }
        let classes = self.classes;
        let kept = self.iter().filter(|(span, _)| span.start().get() < end);
        let (spans, rows): (Vec<Span>, Vec<&[f32]>) = kept.unzip();
        Self { spans, classes, probabilities: rows.concat() }
    }

    /// The same with `classes` others: each class gets what those of ours have that `to` says are part of it.
    #[must_use]
    pub(super) fn regrouped(self, to: &[Class], classes: usize) -> Self {
        let mut probabilities = vec![0.0; self.spans.len() * classes];
        let rows = self.probabilities.chunks_exact(self.classes).zip(probabilities.chunks_exact_mut(classes));
        for (row, regrouped) in rows {
            for (p, class) in row.iter().zip(to) {
                if let Some(sum) = regrouped.get_mut(*class as usize) {
                    *sum += p;
                }
            }
        }
        Self { classes, probabilities, ..self }
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Each span with the probabilities of its classes, "none" first.
    pub fn iter(&self) -> impl Iterator<Item = (Span, &[f32])> {
        self.spans.iter().copied().zip(self.probabilities.chunks_exact(self.classes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(words: usize, gold: &[(usize, usize, Class)]) -> Sentence {
        let words = vec!["x".to_owned(); words];
        let gold: Vec<_> = gold.iter().map(|&(s, e, c)| (Span::from_range(s..e).unwrap(), c)).collect();
        Sentence::new(&words, &gold)
    }

    #[test]
    fn all_spans_of_heads_train_and_a_share_of_the_others() {
        let (a, b) = (sentence(5, &[(1, 3, 2)]), sentence(2, &[(1, 2, 1)]));
        let (rows, spans) = sample(&[&a, &b], 3, 0.0, &mut Rng::new(1, "t"));
        let first_words = FirstWords::of(&[&a, &b], 3);
        assert_eq!(first_words.words, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(first_words.classes, [0, 1, 0, 0, 0, 0, 1]);
        assert_eq!(rows.first, [1, 1, 1, 6]);
        assert_eq!(rows.last, [1, 2, 3, 6]);
        assert_eq!(rows.width, [0, 1, 2, 0]);
        assert_eq!(rows.classes, [0, 2, 0, 1]);
        assert_eq!(first_words.counts, SampleCounts { positive: 2, negative: 5 });
        assert_eq!(spans, SampleCounts { positive: 2, negative: 2 });

        let long = sentence(2000, &[]);
        let (rows, _) = sample(&[&long], 3, 0.05, &mut Rng::new(1, "t"));
        assert!(rows.len().abs_diff(300) < 60, "{}", rows.len());
        let (all, _) = sample(&[&long], 3, 1.0, &mut Rng::new(1, "t"));
        assert_eq!(all.len(), 3 * 2000 - 3);
    }

    #[test]
    fn words_that_begin_only_what_is_too_wide_train_neither_answer() {
        let (a, b) = (sentence(5, &[(0, 4, 1), (2, 5, 1), (2, 3, 2)]), sentence(2, &[(0, 2, 1)]));
        let first_words = FirstWords::of(&[&a, &b], 2);
        assert_eq!(first_words.words, [1, 2, 3, 4, 5, 6]);
        assert_eq!(first_words.classes, [0, 1, 0, 0, 1, 0]);
        assert_eq!(first_words.counts, SampleCounts { positive: 2, negative: 4 });
        // The narrower spans that begin there are no mentions, as those of any other word.
        let (rows, spans) = sample(&[&a], 2, 0.0, &mut Rng::new(1, "t"));
        assert_eq!((rows.first, spans.positive), (vec![2, 2], 1));
    }

    #[test]
    fn a_second_epoch_draws_other_spans() {
        let long = sentence(300, &[]);
        let mut rng = Rng::new(1, "t");
        let mut draw = || sample(&[&long], 3, 0.05, &mut rng).0;
        assert_ne!(draw(), draw());
    }

    #[test]
    fn prediction_asks_about_every_span_of_a_starting_word() {
        let (a, b) = (sentence(3, &[]), sentence(4, &[]));
        let (rows, spans) = enumerate(&[&a, &b], 2, |word| word == 2 || word == 4);
        assert_eq!(rows.first, [2, 4, 4]);
        assert_eq!(rows.last, [2, 4, 5]);
        assert_eq!(format!("{spans:?}"), "[[2..3], [1..2, 1..3]]");
    }
}
