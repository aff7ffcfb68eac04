//! A sentence as the architectures see it.

use super::word_shape;
use crate::annotation::{Fragments, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// Number of a class: 0 is "none", the others are labels.
pub type Class = u32;

/// Gold mentions that an architecture can't learn from, each counted once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unlearnable {
    /// Wider than the max width.
    pub too_wide: usize,
    /// A second label on a span where the classes exclude each other, so that the first one is learnt.
    pub doubled: usize,
    /// What its answers have no way to say for another reason: a mention within another of one that gives each word one tag,
    /// or one in fragments of one that gives spans.
    pub hidden: usize,
}

impl std::ops::AddAssign for Unlearnable {
    fn add_assign(&mut self, other: Self) {
        self.too_wide += other.too_wide;
        self.doubled += other.doubled;
        self.hidden += other.hidden;
    }
}

impl Unlearnable {
    /// Of all kinds.
    pub fn total(self) -> usize {
        self.too_wide + self.doubled + self.hidden
    }

    /// Of one that gives each span up to `max_width` one class.
    pub fn by_spans(sentence: &Sentence, max_width: usize) -> Self {
        let (mut unlearnable, mut spans) = (Self::default(), 0);
        for mention in sentence.mentions() {
            match mention.fragments.contiguous() {
                None => unlearnable.hidden += 1,
                Some(span) if span.width_tokens() > max_width => unlearnable.too_wide += 1,
                Some(_) => spans += 1,
            }
        }
        let learnt = sentence.by_span.keys().filter(|span| span.width_tokens() <= max_width).count();
        Self { doubled: spans - learnt, ..unlearnable }
    }
}

/// A gold mention as the annotation has it. In a sentence to predict, words that are to be labelled: its class is 0 then.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GoldMention {
    pub fragments: Fragments,
    pub class: Class,
}

/// Whether a word is the first of a mention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstWord {
    No,
    Yes,
    /// It is in gold, but of such mentions only as can't be learnt, so that neither answer would be right to train.
    Unlearnable,
}

/// The words and the gold mentions of a sentence.
#[derive(Clone, PartialEq, Debug)]
pub struct Sentence {
    /// All words, one behind the other, and where each ends in bytes.
    text: String,
    ends: Vec<usize>,
    word_shapes: Vec<u32>,
    /// In order, each once.
    mentions: Vec<GoldMention>,
    /// The contiguous ones; of several classes on a span the lowest.
    by_span: BTreeMap<Span, Class>,
    /// First words of mentions that end outside, of a part.
    cut: Vec<usize>,
}

impl Sentence {
    /// Mentions without gaps. Spans must lie inside the sentence.
    pub fn new(words: &[String], gold: &[(Span, Class)]) -> Self {
        let mention = |&(span, class): &(Span, Class)| GoldMention { fragments: Fragments::from(span), class };
        Self::with_mentions(words, gold.iter().map(mention).collect())
    }

    /// Mentions of any kind. They must lie inside the sentence.
    pub fn with_mentions(words: &[String], mentions: Vec<GoldMention>) -> Self {
        Self::of_words(words.iter().map(String::as_str), mentions, Vec::new())
    }

    fn of_words<'a>(words: impl Iterator<Item = &'a str>, mut mentions: Vec<GoldMention>, cut: Vec<usize>) -> Self {
        let (mut text, mut ends, mut word_shapes) = (String::new(), Vec::new(), Vec::new());
        for word in words {
            text.push_str(word);
            ends.push(text.len());
            word_shapes.push(word_shape(word));
        }
        mentions.sort_unstable();
        mentions.dedup();
        let mut by_span = BTreeMap::new();
        for mention in &mentions {
            if let Some(span) = mention.fragments.contiguous() {
                by_span.entry(span).or_insert(mention.class);
            }
        }
        Self { text, ends, word_shapes, mentions, by_span, cut }
    }

    /// Some of the words, with the mentions that lie among them.
    #[must_use]
    pub fn part(&self, words: Range<usize>) -> Self {
        let moved = |span: Span| {
            let range = span.start().get().checked_sub(words.start)?..span.end().get().checked_sub(words.start)?;
            Span::from_range(range).filter(|span| span.end().get() <= words.len())
        };
        let within = |mention: &GoldMention| {
            let spans = mention.fragments.iter().map(moved).collect::<Option<Vec<Span>>>()?;
            Some(GoldMention { fragments: Fragments::new(spans).ok()?, class: mention.class })
        };
        let starts_only = |mention: &&GoldMention| {
            let hull = mention.fragments.hull();
            words.contains(&hull.start().get()) && hull.end().get() > words.end
        };
        let start = |mention: &GoldMention| mention.fragments.hull().start().get() - words.start;
        let mut cut: Vec<usize> = self.mentions.iter().filter(starts_only).map(start).collect();
        let again = self.cut.iter().filter(|word| words.contains(word));
        cut.extend(again.map(|word| word - words.start));
        let mentions = self.mentions.iter().filter_map(within).collect();
        Self::of_words(words.map_while(|word| self.word(word)), mentions, cut)
    }

    /// The last place up to `end` where the words can be parted without parting a mention that would fit; `end` itself where
    /// there is none after `start`.
    pub fn border(&self, start: usize, end: usize) -> usize {
        let hulls = || self.mentions.iter().map(|mention| mention.fragments.hull());
        let mut border = end;
        loop {
            let is_cut = |span: &Span| span.start().get() < border && border < span.end().get();
            let fits = |span: &Span| span.width_tokens() <= end - start;
            match hulls().filter(|span| is_cut(span) && fits(span)).map(|span| span.start().get()).min() {
                None if border > start => return border,
                Some(first) if first > start => border = first,
                _ => return end,
            }
        }
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The word of a number.
    pub fn word(&self, number: usize) -> Option<&str> {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..*self.ends.get(number)?)
    }

    /// The words in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|number| self.word(number))
    }

    /// One number below [`super::WORD_SHAPES`] for each word.
    pub fn word_shapes(&self) -> &[u32] {
        &self.word_shapes
    }

    /// All gold mentions: wide ones, several on the same words, ones in fragments. In order, each once.
    pub fn mentions(&self) -> &[GoldMention] {
        &self.mentions
    }

    /// The words of the mentions, whatever class they have, each once.
    pub fn given(&self) -> Vec<Fragments> {
        self.mentions_of_given().filter_map(|mentions| Some(mentions.first()?.fragments.clone())).collect()
    }

    /// The class of each of [`Sentence::given`], of several the lowest.
    pub fn first_classes(&self) -> impl Iterator<Item = Class> {
        self.mentions_of_given().filter_map(|mentions| Some(mentions.first()?.class))
    }

    /// The mentions on each of [`Sentence::given`].
    pub fn mentions_of_given(&self) -> impl Iterator<Item = &[GoldMention]> {
        self.mentions.chunk_by(|a, b| a.fragments == b.fragments)
    }

    /// The class of a span in gold, of several the lowest.
    pub fn class(&self, span: Span) -> Class {
        self.by_span.get(&span).copied().unwrap_or(0)
    }

    /// For each word, whether it is the first of a gold mention, of which those without gaps up to `max_width` can be learnt.
    pub fn first_words(&self, max_width: usize) -> Vec<FirstWord> {
        let mut first_words = vec![FirstWord::No; self.len()];
        let starts = self.mentions.iter().map(|mention| mention.fragments.hull().start().get());
        for word in starts.chain(self.cut.iter().copied()) {
            if let Some(place) = first_words.get_mut(word) {
                *place = FirstWord::Unlearnable;
            }
        }
        for span in self.by_span.keys().filter(|span| span.width_tokens() <= max_width) {
            if let Some(place) = first_words.get_mut(span.start().get()) {
                *place = FirstWord::Yes;
            }
        }
        first_words
    }
}

#[cfg(test)]
mod tests {
    use super::FirstWord::{No, Unlearnable as Never, Yes};
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn what_can_t_be_learnt_is_counted_and_kept() {
        let gold = [(span(0, 5), 1), (span(1, 3), 2), (span(1, 3), 1), (span(1, 3), 1), (span(4, 5), 2)];
        let sentence = Sentence::new(&words("a b c d e"), &gold);
        let counted = Unlearnable { too_wide: 1, doubled: 1, hidden: 0 };
        assert_eq!(Unlearnable::by_spans(&sentence, 4), counted);
        assert_eq!(Unlearnable::by_spans(&sentence, 5), Unlearnable { too_wide: 0, ..counted });
        assert_eq!(Unlearnable::by_spans(&sentence, 1), Unlearnable { too_wide: 3, doubled: 0, hidden: 0 });
        assert_eq!(sentence.mentions().len(), 4);
        assert_eq!(sentence.first_words(4), [Never, Yes, No, No, Yes]);
        assert_eq!(sentence.first_words(5), [Yes, Yes, No, No, Yes]);
        assert_eq!(sentence.first_words(1), [Never, Never, No, No, Yes]);
        assert_eq!([sentence.class(span(1, 3)), sentence.class(span(4, 5)), sentence.class(span(2, 5))], [1, 2, 0]);
    }

    #[test]
    fn fragments_are_no_spans() {
        let fragments = Fragments::new(vec![span(0, 1), span(2, 4)]).unwrap();
        let mentions =
            vec![GoldMention { fragments, class: 1 }, GoldMention { fragments: span(2, 3).into(), class: 2 }];
        let sentence = Sentence::with_mentions(&words("a b c d e"), mentions.clone());
        assert_eq!(Unlearnable::by_spans(&sentence, 4), Unlearnable { hidden: 1, ..Unlearnable::default() });
        assert_eq!(sentence.class(span(0, 4)), 0);
        assert_eq!(sentence.first_words(4), [Never, No, Yes, No, No]);
        assert_eq!(sentence.mentions(), mentions);
        assert_eq!(sentence.part(0..4).mentions(), mentions);
        let part = sentence.part(2..5);
        assert_eq!((part.mentions().len(), part.class(span(0, 1))), (1, 2));
    }

    #[test]
    fn words_are_kept_as_they_are() {
        let sentence = Sentence::new(&words("Ærø  met 北京"), &[]);
        assert_eq!(sentence.words().collect::<Vec<_>>(), ["Ærø", "", "met", "北京"]);
        assert_eq!((sentence.word(1), sentence.word(3), sentence.word(4)), (Some(""), Some("北京"), None));
        assert_eq!(sentence.part(2..4).words().collect::<Vec<_>>(), ["met", "北京"]);
        assert_eq!(sentence.part(2..4).word_shapes(), &sentence.word_shapes()[2..]);
    }

    #[test]
    fn words_are_parted_where_no_mention_is() {
        let sentence = Sentence::new(
            &words("a b c d e f g"),
            &[(span(1, 3), 1), (span(2, 5), 2), (span(6, 7), 3), (span(0, 7), 1)],
        );
        assert_eq!([6, 5, 4, 3, 2, 1].map(|end| sentence.border(0, end)), [6, 5, 1, 1, 1, 1]);
        assert_eq!(sentence.border(1, 4), 4, "no place is left, so a mention is parted");
        let part = sentence.part(1..5);
        assert_eq!((part.len(), part.class(span(0, 2)), part.class(span(1, 4))), (4, 1, 2));
        assert_eq!(sentence.part(2..7).first_words(4), [Yes, No, No, No, Yes]);
        assert_eq!(sentence.part(1..4).first_words(4), [Yes, Never, No], "the second one ends outside");
        assert_eq!(sentence.part(1..4).part(1..3).first_words(4), [Never, No]);
        assert_eq!(sentence.part(0..7), sentence);
    }
}
