//! BIO tags: O outside mentions, B-x for the first word of a mention with the label x, I-x for its other words.
//!
//! Tags hold no mentions that overlap: [`seen_in`] says which of a sentence's mentions they hold, [`unlearnable`] counts the others.

use super::{Class, OptionDefault, OptionError, OptionSpec, OptionValues, Sentence, Unlearnable};
use crate::annotation::Span;
use crate::nn::NnError;
use crate::nn::crf::{AllowedTags, Run, Tag};
use crate::parameter::{Kind, Value};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// See [`Level`].
pub(super) const LEVEL: OptionSpec = OptionSpec {
    name: "level",
    takes: Kind::Choice(&["outermost", "innermost"]),
    default: OptionDefault::Fixed(Value::Choice("outermost")),
    shapes_weights: false,
    help: "which of overlapping mentions tags hold",
};

/// Which of mentions that overlap are learnt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Level {
    /// The widest.
    #[default]
    Outermost,
    /// The narrowest.
    Innermost,
}

impl Level {
    /// # Errors
    /// When [`LEVEL`] is none of the options.
    pub(super) fn of(options: &OptionValues) -> Result<Self, OptionError> {
        Ok(if options.choice(&LEVEL)? == "innermost" { Self::Innermost } else { Self::Outermost })
    }
}

/// The mentions of a sentence that tags hold.
pub(super) fn seen_in(sentence: &Sentence, level: Level) -> Vec<(Span, Class)> {
    seen(contiguous(sentence), level)
}

/// What tags can't hold: second labels on the same words, and mentions that overlap one that is held or are in fragments.
pub(super) fn unlearnable(sentence: &Sentence, level: Level) -> Unlearnable {
    let spans: BTreeSet<Span> = contiguous(sentence).map(|(span, _)| span).collect();
    let doubled = contiguous(sentence).count() - spans.len();
    let hidden = sentence.mentions().len() - doubled - seen_in(sentence, level).len();
    Unlearnable { too_wide: 0, doubled, hidden }
}

fn contiguous(sentence: &Sentence) -> impl Iterator<Item = (Span, Class)> {
    sentence.mentions().iter().filter_map(|mention| Some((mention.fragments.contiguous()?, mention.class)))
}

/// The mentions that tags hold, ordered by span: the widest come first (the narrowest with [`Level::Innermost`]), of equally
/// wide ones those further ahead in the sentence, of those on the same words that of the lowest class; each stays that shares no
/// word with one that came before it. Of nested mentions that leaves the outermost (innermost) ones, of crossing ones the wider
/// (narrower) one, of two labels on the same words the first.
fn seen(mentions: impl IntoIterator<Item = (Span, Class)>, level: Level) -> Vec<(Span, Class)> {
    let mut mentions: Vec<(Span, Class)> = mentions.into_iter().collect();
    match level {
        Level::Outermost => mentions.sort_by_key(|&(span, class)| (Reverse(span.width_tokens()), span, class)),
        Level::Innermost => mentions.sort_by_key(|&(span, class)| (span.width_tokens(), span, class)),
    }
    let words = mentions.iter().map(|(span, _)| span.end().get()).max().unwrap_or(0);
    let mut taken = vec![false; words];
    mentions.retain(|(span, _)| {
        let words = &mut taken[span.start().get()..span.end().get()];
        let is_free = words.iter().all(|taken| !taken);
        if is_free {
            words.fill(true);
        }
        is_free
    });
    mentions.sort_by_key(|&(span, class)| (span, class));
    mentions
}

/// The tags of C classes, "none" included: 0 is O, `2c - 1` is B and `2c` is I of the class `c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BioTags {
    classes: usize,
}

pub(super) const OUTSIDE: Tag = 0;

impl BioTags {
    pub(super) fn new(classes: usize) -> Self {
        Self { classes }
    }

    /// T = 2C - 1
    pub(super) fn count(self) -> usize {
        (2 * self.classes).saturating_sub(1).max(1)
    }

    /// B and I of each class but "none".
    pub(super) fn runs(self) -> Vec<Run> {
        (1..self.classes as Class).map(run).collect()
    }

    /// I-x follows B-x and I-x alone; the others follow every tag.
    ///
    /// # Errors
    /// None: O may stand everywhere.
    pub(super) fn allowed(self) -> Result<AllowedTags, NnError> {
        let follows = |from: Tag, to: Tag| !is_inside(to) || class(from) == class(to);
        AllowedTags::new(self.count(), |tag| !is_inside(tag), follows, |_| true)
    }

    /// The tags of a sentence with mentions that don't overlap and lie inside it.
    pub(super) fn encode(self, words: usize, mentions: &[(Span, Class)]) -> Vec<Tag> {
        let mut tags = vec![OUTSIDE; words];
        for (span, class) in mentions {
            let Run { begin, inside } = run(*class);
            if let Some([first, others @ ..]) = tags.get_mut(span.start().get()..span.end().get()) {
                *first = begin;
                others.fill(inside);
            }
        }
        tags
    }

    /// The mentions of a sentence's tags, in order. I-x begins a mention where it follows neither B-x nor I-x, as the shared
    /// task's `conlleval` reads it (Tjong Kim Sang and De Meulder 2003): tags that were chosen word by word can be so.
    pub(super) fn decode(self, tags: &[Tag]) -> Vec<(Span, Class)> {
        let mut mentions = Vec::new();
        let mut start = 0;
        for end in 1..=tags.len() {
            let (tag, next) = (tags[end - 1], tags.get(end).copied().unwrap_or(OUTSIDE));
            if is_inside(next) && class(next) == class(tag) {
                continue;
            }
            mentions.extend(Span::from_range(start..end).filter(|_| tag != OUTSIDE).map(|span| (span, class(tag))));
            start = end;
        }
        mentions
    }
}

fn run(class: Class) -> Run {
    Run { begin: 2 * class - 1, inside: 2 * class }
}

/// 0 for O.
fn class(tag: Tag) -> Class {
    tag.div_ceil(2)
}

fn is_inside(tag: Tag) -> bool {
    tag != OUTSIDE && tag.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::super::GoldMention;
    use super::*;
    use crate::annotation::Fragments;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    #[test]
    fn what_tags_can_t_hold_is_counted() {
        let words = vec!["x".to_owned(); 9];
        let fragments = Fragments::new(vec![span(6, 7), span(8, 9)]).unwrap();
        let contiguous = [(0, 4, 1), (0, 4, 2), (0, 2, 1), (1, 2, 2), (3, 6, 1), (5, 6, 2)];
        let contiguous =
            contiguous.map(|(start, end, class)| GoldMention { fragments: span(start, end).into(), class });
        let mentions = contiguous.into_iter().chain([GoldMention { fragments, class: 1 }]).collect();
        let sentence = Sentence::with_mentions(&words, mentions);
        // Outermost: 0..4 hides two within it and 3..6, which crosses it and is narrower, so that 5..6 is free. The fourth is in
        // fragments.
        assert_eq!(unlearnable(&sentence, Level::Outermost), Unlearnable { too_wide: 0, doubled: 1, hidden: 4 });
        assert_eq!(seen_in(&sentence, Level::Outermost), [(span(0, 4), 1), (span(5, 6), 2)]);
        // Innermost: 1..2 and 5..6 hide three.
        assert_eq!(seen_in(&sentence, Level::Innermost), [(span(1, 2), 2), (span(5, 6), 2)]);
        assert_eq!(unlearnable(&sentence, Level::Innermost), Unlearnable { too_wide: 0, doubled: 1, hidden: 4 });
    }

    fn check(mentions: &[(usize, usize, Class)], outermost: Expect, innermost: Expect) {
        let mentions: Vec<_> = mentions.iter().map(|&(start, end, class)| (span(start, end), class)).collect();
        outermost.assert_eq(&format!("{:?}", seen(mentions.clone(), Level::Outermost)));
        innermost.assert_eq(&format!("{:?}", seen(mentions, Level::Innermost)));
    }

    #[test]
    fn of_mentions_that_overlap_one_is_seen() {
        // Nested three deep, beside a flat one.
        check(
            &[(5, 6, 1), (1, 2, 1), (1, 3, 2), (0, 4, 1)],
            expect!["[(0..4, 1), (5..6, 1)]"],
            expect!["[(1..2, 1), (5..6, 1)]"],
        );
        // Two inside one.
        check(&[(0, 5, 1), (0, 1, 2), (3, 5, 2)], expect!["[(0..5, 1)]"], expect!["[(0..1, 2), (3..5, 2)]"]);
        // Crossing, of one width and of two.
        check(&[(1, 3, 2), (0, 2, 3)], expect!["[(0..2, 3)]"], expect!["[(0..2, 3)]"]);
        check(&[(0, 2, 1), (1, 4, 2)], expect!["[(1..4, 2)]"], expect!["[(0..2, 1)]"]);
        // Two labels on the same words.
        check(&[(2, 4, 2), (2, 4, 1)], expect!["[(2..4, 1)]"], expect!["[(2..4, 1)]"]);
        check(&[], expect!["[]"], expect!["[]"]);
    }

    #[test]
    fn tags_say_where_mentions_begin_and_go_on() {
        let bio = BioTags::new(3);
        assert_eq!(bio.count(), 5);
        let mentions = [(span(0, 1), 2), (span(1, 4), 1), (span(5, 6), 1)];
        let tags = bio.encode(6, &mentions);
        assert_eq!(tags, [3, 1, 2, 2, 0, 1]);
        assert_eq!(bio.decode(&tags), mentions);
        assert_eq!(bio.runs(), [Run { begin: 1, inside: 2 }, Run { begin: 3, inside: 4 }]);
        assert_eq!(BioTags::new(1).count(), 1);
    }

    #[test]
    fn an_inside_without_its_beginning_begins_a_mention() {
        let check = |tags: &[Tag], expected: Expect| expected.assert_eq(&format!("{:?}", BioTags::new(3).decode(tags)));
        check(&[2, 2, 0], expect!["[(0..2, 1)]"]);
        check(&[1, 4, 4], expect!["[(0..1, 1), (1..3, 2)]"]);
        check(&[0, 4, 2, 1], expect!["[(1..2, 2), (2..3, 1), (3..4, 1)]"]);
        check(&[], expect!["[]"]);
    }

    proptest! {
        #[test]
        fn only_tags_that_mentions_have_are_allowed(tags in prop::collection::vec(0u32..7, 0..8)) {
            let bio = BioTags::new(4);
            let is_of_mentions = bio.encode(tags.len(), &bio.decode(&tags)) == tags;
            prop_assert_eq!(bio.allowed().unwrap().allows(&tags), is_of_mentions);
        }

        #[test]
        fn what_is_seen_overlaps_nothing_and_leaves_nothing_out_that_could_be_seen(
            mentions in prop::collection::btree_set((0usize..9, 1usize..6, 1u32..4), 0..12), innermost: bool,
        ) {
            let mentions: Vec<_> = mentions.into_iter().map(|(start, width, class)| (span(start, start + width), class)).collect();
            let kept = seen(mentions.clone(), if innermost { Level::Innermost } else { Level::Outermost });
            let overlap = |a: Span, b: Span| a.start() < b.end() && b.start() < a.end();
            for (i, (a, _)) in kept.iter().enumerate() {
                prop_assert!(kept[..i].iter().all(|(b, _)| !overlap(*a, *b)));
            }
            for mention in &mentions {
                prop_assert!(kept.contains(mention) || kept.iter().any(|(other, _)| overlap(mention.0, *other)));
            }
            let bio = BioTags::new(4);
            prop_assert_eq!(bio.decode(&bio.encode(14, &kept)), kept);
        }
    }
}
