//! Gold that is worth a second look, with the reason: what a model that had not seen the sentence disagrees with, the same
//! words labelled in two ways, nestings that hardly ever occur.
//!
//! Nothing here is wrong for sure. Findings are ranked by how likely a person would change something, so that the first
//! ones are worth the time; see Northcutt et al. 2021 on confident learning and Klie et al. 2023 on what of this family of
//! methods finds errors.

use crate::annotation::{LabelId, SentenceId, Span};
use std::collections::{BTreeMap, HashMap};

/// A complete sentence.
#[derive(Clone, Debug)]
pub struct Labelled<'a> {
    pub id: SentenceId,
    pub words: Vec<&'a str>,
    pub mentions: Vec<(Span, LabelId)>,
}

/// What a model says of a sentence that it did not learn from: spans with their most probable label and its probability.
pub type Held<'a> = &'a [(Span, LabelId, f32)];

/// Why something is worth a second look.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Doubt {
    /// The model marks it, and nobody has.
    Missing,
    /// The model does not believe in it.
    Unlikely,
    /// The model has another label for it.
    OtherLabel { label: LabelId },
    /// The same words have another label in most places: so many of all.
    OftenOtherwise { label: LabelId, times: usize, of: usize },
    /// The same words have this label in most places, and none here.
    OftenMarked { times: usize, of: usize },
    /// A label inside another one that hardly ever has such a one inside.
    RareNesting { outer: LabelId, times: usize, of: usize },
}

/// Something to look at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Finding {
    pub sentence: SentenceId,
    pub span: Span,
    /// Of the gold mention, or, where none is there, the one that it might have.
    pub label: LabelId,
    pub doubt: Doubt,
    /// In [0, 1]: how likely it is that something is to be changed, roughly.
    pub weight: f32,
}

/// What would settle a doubt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proposal {
    /// To mark the words, which nobody has.
    Mark(LabelId),
    /// To give the mention this label.
    Relabel(LabelId),
    Remove,
}

impl Finding {
    /// `None` where only a person can tell.
    pub fn proposal(&self) -> Option<Proposal> {
        match self.doubt {
            Doubt::Missing | Doubt::OftenMarked { .. } => Some(Proposal::Mark(self.label)),
            Doubt::OtherLabel { label } | Doubt::OftenOtherwise { label, .. } => Some(Proposal::Relabel(label)),
            Doubt::Unlikely => Some(Proposal::Remove),
            Doubt::RareNesting { .. } => None,
        }
    }

    /// The label that the words have not, and would have by the proposal.
    pub fn proposed_label(&self) -> Option<LabelId> {
        match self.proposal()? {
            Proposal::Mark(label) | Proposal::Relabel(label) => Some(label),
            Proposal::Remove => None,
        }
    }
}

/// Findings with less weight are not worth the time.
const LEAST_WEIGHT: f32 = 0.5;
/// The same words must come so often before a label of theirs is unusual.
const FEWEST_TIMES: usize = 4;
/// So many mentions with others inside must there be before one of them is rare.
const FEWEST_NESTINGS: usize = 50;
/// Of the mentions with some label, this share at most has such a label inside.
const RARE: f32 = 0.01;
/// Longer strings are hardly ever repeated.
const LONGEST_WORDS: usize = 6;

/// The mentions that models look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sought {
    /// Words of the widest.
    pub max_width: usize,
    /// Whether they may overlap.
    pub overlapping: bool,
}

/// All doubts, those with most weight first. `held` holds what a model that had not learned from it says of each sentence;
/// `None` where no model was asked.
pub fn look_again(sentences: &[Labelled<'_>], held: Option<&[Held<'_>]>, sought: Sought) -> Vec<Finding> {
    let mut found = Vec::new();
    let held = held.unwrap_or_default();
    let recall = recall(sentences, held, sought);
    for (sentence, said) in sentences.iter().zip(held) {
        disagreements(sentence, said, &recall, sought, &mut found);
    }
    inconsistencies(sentences, &mut found);
    rare_nestings(sentences, &mut found);
    found.retain(|finding| finding.weight >= LEAST_WEIGHT);
    let key = |f: &Finding| (f.sentence, f.span, f.label);
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(key(a).cmp(&key(b))));
    // The same thing once, for its best reason.
    let mut seen = std::collections::HashSet::new();
    found.retain(|finding| seen.insert((finding.sentence, finding.span)));
    found
}

/// How many of the mentions of each label the models find, in [0, 1].
fn recall(sentences: &[Labelled<'_>], held: &[Held<'_>], sought: Sought) -> BTreeMap<LabelId, f32> {
    let mut counts: BTreeMap<LabelId, (usize, usize)> = BTreeMap::new();
    for (sentence, said) in sentences.iter().zip(held) {
        for &(span, label) in sentence.mentions.iter().filter(|mention| can_say(sentence, said, **mention, sought)) {
            let (found, all) = counts.entry(label).or_default();
            *found += usize::from(score_of(said, span, label) > 0.5);
            *all += 1;
        }
    }
    counts.into_iter().map(|(label, (found, all))| (label, found as f32 / all as f32)).collect()
}

/// How probable models find a label of a span; 0 where they don't name it.
fn score_of(said: Held<'_>, span: Span, label: LabelId) -> f32 {
    said.iter().filter(|(s, l, _)| (*s, *l) == (span, label)).map(|(.., p)| *p).fold(0.0, f32::max)
}

/// Whether a model could have found a mention: none is sought that is too wide, and of two labels of the same words it says
/// the likelier one alone; where mentions may not overlap, of all that do.
fn can_say(sentence: &Labelled<'_>, said: Held<'_>, mention: (Span, LabelId), sought: Sought) -> bool {
    let (span, _) = mention;
    let excludes = |other: Span| if sought.overlapping { other == span } else { other.overlaps(span) };
    let mut others = sentence.mentions.iter().filter(|other| **other != mention && excludes(other.0));
    span.width_tokens() <= sought.max_width && !others.any(|(span, other)| score_of(said, *span, *other) > 0.5)
}

fn disagreements(
    sentence: &Labelled<'_>,
    said: Held<'_>,
    recall: &BTreeMap<LabelId, f32>,
    sought: Sought,
    found: &mut Vec<Finding>,
) {
    let mut push = |span, label, doubt, weight| {
        found.push(Finding { sentence: sentence.id, span, label, doubt, weight });
    };
    for &(span, label) in &sentence.mentions {
        let score = score_of(said, span, label);
        // One that is marked beside it is no other label for it.
        let others = said.iter().filter(|(s, l, _)| *s == span && !sentence.mentions.contains(&(*s, *l)));
        let other = others.max_by(|a, b| a.2.total_cmp(&b.2));
        match other {
            Some(&(_, other, p)) if p > 0.5 => push(span, label, Doubt::OtherLabel { label: other }, p),
            // Where models miss much of a label anyway, one more that they miss says nothing.
            _ if score < 0.1 && can_say(sentence, said, (span, label), sought) => {
                let recall = recall.get(&label).copied().unwrap_or(0.0);
                push(span, label, Doubt::Unlikely, recall * (1.0 - score));
            }
            _ => {}
        }
    }
    for &(span, label, score) in said {
        if score > 0.5 && !sentence.mentions.iter().any(|(other, _)| *other == span) {
            push(span, label, Doubt::Missing, score);
        }
    }
}

/// Where the same words were met.
#[derive(Default)]
struct Uses {
    labels: BTreeMap<LabelId, usize>,
    /// With all labels that they have there.
    places: Vec<(SentenceId, Span, Vec<LabelId>)>,
}

fn inconsistencies(sentences: &[Labelled<'_>], found: &mut Vec<Finding>) {
    let mut uses: HashMap<&[&str], Uses> = HashMap::new();
    for sentence in sentences {
        let mut labels: BTreeMap<Span, Vec<LabelId>> = BTreeMap::new();
        sentence.mentions.iter().for_each(|(span, label)| labels.entry(*span).or_default().push(*label));
        for (span, labels) in labels {
            if let Some(words) = words_of(sentence, span).filter(|words| words.len() <= LONGEST_WORDS) {
                let uses = uses.entry(words).or_default();
                labels.iter().for_each(|label| *uses.labels.entry(*label).or_default() += 1);
                uses.places.push((sentence.id, span, labels));
            }
        }
    }
    // Where words are not marked that are elsewhere; inside a mention they may well be a part of its name.
    for sentence in sentences {
        let covered = |span: Span| sentence.mentions.iter().any(|(mention, _)| mention.overlaps(span));
        for start in 0..sentence.words.len() {
            for end in start + 1..=sentence.words.len().min(start + LONGEST_WORDS) {
                let Some(span) = Span::from_range(start..end).filter(|span| !covered(*span)) else { continue };
                if let Some(uses) = words_of(sentence, span).and_then(|words| uses.get_mut(words)) {
                    uses.places.push((sentence.id, span, Vec::new()));
                }
            }
        }
    }
    for Uses { labels, places } in uses.into_values() {
        let (of, Some((&usual, &times))) = (places.len(), labels.iter().max_by_key(|(_, n)| **n)) else { continue };
        if of < FEWEST_TIMES || times == of {
            continue;
        }
        // One of twenty is more surely wrong than one of four.
        let weight = times as f32 / of as f32 * (1.0 - 1.0 / of as f32);
        for (sentence, span, labels) in places {
            let (label, doubt) = match labels.first() {
                Some(_) if labels.contains(&usual) => continue,
                Some(label) => (*label, Doubt::OftenOtherwise { label: usual, times, of }),
                None => (usual, Doubt::OftenMarked { times, of }),
            };
            found.push(Finding { sentence, span, label, doubt, weight });
        }
    }
}

fn words_of<'s, 'a>(sentence: &'s Labelled<'a>, span: Span) -> Option<&'s [&'a str]> {
    sentence.words.get(span.start().get()..span.end().get())
}

fn rare_nestings(sentences: &[Labelled<'_>], found: &mut Vec<Finding>) {
    let mut times: BTreeMap<(LabelId, LabelId), usize> = BTreeMap::new();
    let mut pairs = Vec::new();
    let mut outers: BTreeMap<LabelId, usize> = BTreeMap::new();
    for sentence in sentences {
        for &(outer, outer_label) in &sentence.mentions {
            let inside = |(inner, _): &&(Span, LabelId)| *inner != outer && outer.contains(*inner);
            let inner: Vec<_> = sentence.mentions.iter().filter(inside).collect();
            *outers.entry(outer_label).or_default() += usize::from(!inner.is_empty());
            for &&(span, label) in &inner {
                *times.entry((outer_label, label)).or_default() += 1;
                pairs.push((sentence.id, span, outer_label, label));
            }
        }
    }
    for (sentence, span, outer, label) in pairs {
        let (times, of) = (times.get(&(outer, label)).copied().unwrap_or(0), outers.get(&outer).copied().unwrap_or(0));
        let share = times as f32 / of.max(1) as f32;
        if of >= FEWEST_NESTINGS && share <= RARE {
            let doubt = Doubt::RareNesting { outer, times, of };
            found.push(Finding { sentence, span, label, doubt, weight: 0.7 * (1.0 - share) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PER: LabelId = LabelId(0);
    const LOC: LabelId = LabelId(1);

    fn span(start: usize, end: usize) -> Span {
        Span::from_range(start..end).unwrap()
    }

    fn sentence<'a>(id: u32, text: &'a str, mentions: &[(usize, usize, LabelId)]) -> Labelled<'a> {
        let mentions = mentions.iter().map(|&(s, e, l)| (span(s, e), l)).collect();
        Labelled { id: SentenceId(id), words: text.split(' ').collect(), mentions }
    }

    fn up_to(max_width: usize) -> Sought {
        Sought { max_width, overlapping: true }
    }

    #[test]
    fn a_model_that_is_sure_of_something_else_comes_first() {
        let gold = [
            sentence(3, "Anna met Turku", &[(0, 1, LOC), (1, 2, PER)]),
            sentence(4, "Zoë and Maja left", &[(0, 1, PER), (2, 3, PER)]),
        ];
        let said = [(span(0, 1), PER, 0.97), (span(2, 3), LOC, 0.8), (span(1, 2), PER, 0.02)];
        let agreed = [(span(0, 1), PER, 0.9), (span(2, 3), PER, 0.9)];
        let found = look_again(&gold, Some(&[&said[..], &agreed[..]]), up_to(20));
        let seen: Vec<_> = found.iter().map(|f| (f.span, f.label, f.doubt)).collect();
        assert_eq!(
            seen,
            [
                (span(0, 1), LOC, Doubt::OtherLabel { label: PER }),
                (span(2, 3), LOC, Doubt::Missing),
                (span(1, 2), PER, Doubt::Unlikely),
            ]
        );
        assert!(look_again(&gold, None, up_to(20)).is_empty());
    }

    #[test]
    fn models_that_find_little_make_nothing_doubtful() {
        let gold = [sentence(3, "Anna met Maja", &[(0, 1, PER), (2, 3, PER)]), sentence(4, "Zoë left", &[(0, 1, PER)])];
        let found = |second: &[(Span, LabelId, f32)]| look_again(&gold, Some(&[&[], second]), up_to(20)).len();
        assert_eq!((found(&[]), found(&[(span(0, 1), PER, 0.9)])), (0, 0), "none, or one of three");
    }

    #[test]
    fn the_same_words_with_another_label_or_none_are_found() {
        let mut gold: Vec<_> = (0..8).map(|id| sentence(id, "in New York now", &[(1, 3, LOC)])).collect();
        gold.push(sentence(8, "of New York", &[(1, 3, PER)]));
        gold.push(sentence(9, "of New York", &[]));
        gold.push(sentence(10, "of New York Times", &[(1, 4, PER)]));
        let found = look_again(&gold, None, up_to(20));
        let seen: Vec<_> = found.iter().map(|f| (f.sentence.0, f.label, f.doubt)).collect();
        assert_eq!(
            seen,
            [
                (8, PER, Doubt::OftenOtherwise { label: LOC, times: 8, of: 10 }),
                (9, LOC, Doubt::OftenMarked { times: 8, of: 10 }),
            ]
        );
    }

    #[test]
    fn two_labels_on_the_same_words_are_no_doubt_of_each_other() {
        let both = |id| sentence(id, "in Lund now", &[(1, 2, PER), (1, 2, LOC)]);
        let mut gold = vec![both(0)];
        gold.extend((1..8).map(|id| sentence(id, "in Lund now", &[(1, 2, LOC)])));
        let said = [(span(1, 2), LOC, 0.9)];
        let found = look_again(&gold, Some(&[&said[..]; 8]), up_to(20));
        assert_eq!(found, [], "it is marked already what they say");
        // Nor is the second label one that models would find if it were right: they say one label of the same words.
        gold.extend((8..12).map(|id| sentence(id, "then Bo left", &[(1, 2, PER)])));
        let bo = [(span(1, 2), PER, 0.9)];
        let held: Vec<Held<'_>> = (0..12).map(|id| if id < 8 { &said[..] } else { &bo[..] }).collect();
        assert_eq!(look_again(&gold, Some(&held), up_to(20)), []);
    }

    #[test]
    fn what_is_wider_than_models_look_is_not_doubted_by_them() {
        let mut gold = vec![sentence(0, "the mayor of the old town of Lund left", &[(0, 8, PER)])];
        gold.extend((1..5).map(|id| sentence(id, "then Bo left", &[(1, 2, PER)])));
        let bo = [(span(1, 2), PER, 0.9)];
        let held: Vec<Held<'_>> = (0..5).map(|id| if id == 0 { &[][..] } else { &bo[..] }).collect();
        assert_eq!(look_again(&gold, Some(&held), up_to(7)), []);
        assert_eq!(look_again(&gold, Some(&held), up_to(8)).len(), 1);
    }

    #[test]
    fn what_models_without_nesting_can_t_say_is_not_doubted_by_them() {
        let mut gold = vec![sentence(0, "mayor of Lund", &[(0, 3, PER), (2, 3, LOC)])];
        gold.extend((1..5).map(|id| sentence(id, "in Lund now", &[(1, 2, LOC)])));
        let (outer, lund) = ([(span(0, 3), PER, 0.9)], [(span(1, 2), LOC, 0.9)]);
        let held: Vec<Held<'_>> = (0..5).map(|id| if id == 0 { &outer[..] } else { &lund[..] }).collect();
        assert_eq!(look_again(&gold, Some(&held), Sought { overlapping: false, ..up_to(20) }), []);
        assert_eq!(look_again(&gold, Some(&held), up_to(20)).len(), 1);
    }

    #[test]
    fn a_nesting_that_hardly_ever_occurs_is_found() {
        let mut gold: Vec<_> = (0..120).map(|id| sentence(id, "mayor of Lund", &[(0, 3, PER), (2, 3, LOC)])).collect();
        gold.push(sentence(500, "mayor of many", &[(0, 3, PER), (1, 2, PER)]));
        let found = look_again(&gold, None, up_to(20));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].sentence.0, found[0].span), (500, span(1, 2)));
        assert_eq!(found[0].doubt, Doubt::RareNesting { outer: PER, times: 1, of: 121 });
    }
}
