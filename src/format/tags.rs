//! From a tag a token to spans, whichever [scheme](super::scheme) the tags follow and however they are spelled.
//!
//! A tag is a prefix and a label (`B-PER`), or a label and a prefix (`PER-B`), with `-`, `_`, `:`, `/` or `|` between
//! them, in capitals or small letters; or a label alone; or a prefix alone, and one label for all; or outside. How it is,
//! is found out from all tags of a file.
//!
//! One reading serves all schemes: a span goes on while its label does and no tag says that another begins.

use super::scheme::{Part, Scheme};
use crate::annotation::Span;
use std::collections::{BTreeMap, BTreeSet};

/// How the tags of a file are spelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Notation {
    pub(super) scheme: Scheme,
    place: Place,
    separator: char,
    /// The prefixes that there are, in capitals.
    letters: &'static str,
    takes_small_letters: bool,
    /// Tags such as `O_PER` and `BB_O_PER`, which say what stands beside, are outside.
    has_wide_outside: bool,
    /// `_`, `-` and `*` are outside, where no tag is `O`.
    has_fillers: bool,
    /// For tags without one.
    label: String,
    /// Mentions of several tokens have a tag for their last one.
    pub(super) has_ends: bool,
    /// Mentions of one token have a tag of their own.
    pub(super) has_singles: bool,
}

/// Where the prefix is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Before,
    After,
    /// There is no label.
    Alone,
    /// There is no prefix.
    Nowhere,
}

/// What one tag says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tag<'t> {
    Outside,
    /// Prefix and label.
    Of(char, &'t str),
    /// A label without a prefix.
    Bare(&'t str),
    /// It names no label.
    Nameless,
}

/// Why a person has to tell how tags are meant.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Doubt {
    #[error(
        "the tag {tag:?} begins like one of a scheme that is not known here ({prefix:?} and the label {label:?}): known \
         are I, B, E, S (bioes), L, U (bilou), M (bmes) and W (bmewo)"
    )]
    UnknownPrefix { tag: String, prefix: String, label: String },
    #[error("some tags have a prefix, such as {with:?}, and others have none, such as {without:?}")]
    Mixed { with: String, without: String },
    #[error(
        "the tag {tag:?} holds several tags, which are not told apart here; write them in columns (or lists) of their own, \
         one a depth, or take each for a label of its own"
    )]
    Several { tag: String },
    #[error("the tags name no label, only where mentions begin and go on (such as {tag:?})")]
    NoLabel { tag: String },
}

impl Doubt {
    /// The option that settles it.
    pub(super) fn option(&self) -> &'static str {
        match self {
            Self::UnknownPrefix { .. } | Self::Mixed { .. } | Self::Several { .. } => {
                "scheme=… (none takes each tag for a label as it stands)"
            }
            Self::NoLabel { .. } => "label=… (the label of all mentions)",
        }
    }
}

const PREFIXES: &str = "BIESLUMW";
const SEPARATORS: [char; 5] = ['-', '_', ':', '/', '|'];

impl Notation {
    /// Tags as most files have them.
    pub(super) fn usual(scheme: Scheme) -> Self {
        Self {
            scheme,
            place: if scheme == Scheme::Plain { Place::Nowhere } else { Place::Before },
            separator: '-',
            letters: PREFIXES,
            takes_small_letters: false,
            has_wide_outside: false,
            has_fillers: false,
            label: String::new(),
            has_ends: true,
            has_singles: true,
        }
    }

    /// Finds out from all tags of a file, with how often each occurs, how they are spelled; the scheme is not yet known
    /// where none is asked for.
    ///
    /// # Errors
    /// It can't be told.
    pub(super) fn find(counts: &BTreeMap<&str, usize>, asked: Option<Scheme>, label: &str) -> Result<Self, Doubt> {
        let mut found = Self::usual(asked.unwrap_or(Scheme::Iob2));
        found.letters = asked.map_or(PREFIXES, Scheme::letters);
        found.has_fillers = !counts.keys().any(|tag| is_o(tag));
        label.clone_into(&mut found.label);
        let marked: Vec<(&str, usize)> =
            counts.iter().filter(|(tag, _)| !is_o(tag) && !is_filler(tag)).map(|(tag, n)| (*tag, *n)).collect();
        if found.place == Place::Nowhere || marked.is_empty() {
            return Ok(found);
        }
        let letter = |tag: &str| only_letter(tag).filter(|c| found.letters.contains(c.to_ascii_uppercase()));
        if marked.iter().all(|(tag, _)| letter(tag).is_some()) && marked.iter().any(|(tag, _)| is_core(letter(tag))) {
            (found.place, found.takes_small_letters) = (Place::Alone, true);
            let tag = marked.first().map(|(tag, _)| (*tag).to_owned()).unwrap_or_default();
            return if label.is_empty() { Err(Doubt::NoLabel { tag }) } else { Ok(found) };
        }
        found.choose_place(&marked);
        found.has_wide_outside = found.sees_wide_outside(&marked, asked);
        found.doubt(&marked, asked)?;
        Ok(found)
    }

    /// What a tag says.
    pub(super) fn read<'t>(&'t self, tag: &'t str) -> Tag<'t> {
        if is_o(tag) || (self.has_fillers && is_filler(tag)) {
            return Tag::Outside;
        }
        if let Some((letter, label)) = self.cut(tag).filter(|(_, label)| !(self.has_wide_outside && is_o(label))) {
            return Tag::Of(letter, label);
        }
        if self.has_wide_outside && is_wide_outside(tag) {
            return Tag::Outside;
        }
        let is_prefix_alone = self.place != Place::Nowhere
            && only_letter(tag.trim_end_matches(self.separator))
                .is_some_and(|letter| self.letters.contains(letter) || self.place == Place::Alone);
        match self.place {
            Place::Alone if is_prefix_alone => {
                only_letter(tag).map_or(Tag::Nameless, |letter| Tag::Of(letter, &self.label))
            }
            _ if is_prefix_alone || is_filler(tag) => Tag::Nameless,
            _ => Tag::Bare(tag),
        }
    }

    /// The spans of one sentence, in the order of their starts; they never overlap.
    ///
    /// # Errors
    /// The position and text of a tag that names no label.
    pub(super) fn decode<'t>(&'t self, tags: &[&'t str]) -> Result<Vec<(Span, &'t str)>, (usize, &'t str)> {
        let mut spans = Vec::new();
        let mut open: Option<(usize, &str)> = None;
        let mut close = |open: &mut Option<(usize, &'t str)>, end: usize| {
            let span = open.take().and_then(|(start, label)| Some((Span::from_range(start..end)?, label)));
            spans.extend(span);
        };
        for (at, tag) in tags.iter().copied().enumerate() {
            let (part, label) = match self.read(tag) {
                Tag::Outside => {
                    close(&mut open, at);
                    continue;
                }
                Tag::Of(letter, label) => (Part::of(letter).unwrap_or(Part::Inside), label),
                Tag::Bare(label) => (Part::Inside, label),
                Tag::Nameless => return Err((at, tag)),
            };
            let goes_on = matches!(part, Part::Inside | Part::End) && open.is_some_and(|(_, last)| last == label);
            if !goes_on {
                close(&mut open, at);
                open = Some((at, label));
            }
            if matches!(part, Part::End | Part::Single) {
                close(&mut open, at + 1);
            }
        }
        close(&mut open, tags.len());
        Ok(spans)
    }

    /// The scheme and how it is spelled, for people.
    pub(super) fn shown(&self) -> String {
        let (name, separator) = (self.scheme.name(), self.separator);
        match self.place {
            Place::After => format!("{name} (the prefix after the label, as in PER{separator}B)"),
            Place::Before if separator != '-' => format!("{name} (as in B{separator}PER)"),
            Place::Nowhere if self.scheme == Scheme::Plain => "labels as they stand".to_owned(),
            _ => name.to_owned(),
        }
    }

    /// Prefix and label, if the tag has both.
    fn cut<'t>(&self, tag: &'t str) -> Option<(char, &'t str)> {
        let (prefix, label) = match self.place {
            Place::Before => tag.split_once(self.separator)?,
            Place::After => tag.rsplit_once(self.separator).map(|(label, prefix)| (prefix, label))?,
            Place::Alone | Place::Nowhere => return None,
        };
        let letter = only_letter(prefix)?;
        let is_known = self.letters.contains(letter)
            || (self.takes_small_letters && self.letters.contains(letter.to_ascii_uppercase()));
        (is_known && !label.trim().is_empty()).then_some((letter, label))
    }

    /// Takes the place and the separator that most tags have; another one than `B-` only where nearly all have it.
    fn choose_place(&mut self, marked: &[(&str, usize)]) {
        let is_prefix_alone = |tag: &str| only_letter(tag.trim_end_matches(SEPARATORS)).and_then(Part::of).is_some();
        let says = |tag: &str| !is_wide_outside(tag) && !is_prefix_alone(tag);
        let total: usize = marked.iter().filter(|(tag, _)| says(tag)).map(|(_, n)| n).sum();
        let mut best: Option<(usize, Self)> = None;
        for (place, separator) in
            [Place::Before, Place::After].into_iter().flat_map(|place| SEPARATORS.map(|separator| (place, separator)))
        {
            let mut tried = Self { place, separator, takes_small_letters: true, ..self.clone() };
            let cut =
                |tried: &Self| marked.iter().filter_map(|(tag, n)| Some((tried.cut(tag)?.0, *n))).collect::<Vec<_>>();
            // `e-mail` is a label unless other tags begin with `b-` or `i-`.
            tried.takes_small_letters = cut(&tried).iter().any(|(c, _)| c.is_ascii_lowercase() && is_core(Some(*c)));
            let found = cut(&tried);
            let hits: usize = found.iter().map(|(_, n)| n).sum();
            let is_usual = place == Place::Before && separator == '-';
            let is_sure = hits * 10 >= total * 9 && found.iter().any(|(c, _)| is_core(Some(*c)));
            if (is_usual || is_sure) && best.as_ref().is_none_or(|(most, _)| hits > *most) {
                best = Some((hits, tried));
            }
        }
        let Some((hits, tried)) = best else { return };
        *self = tried;
        let has_core = marked.iter().any(|(tag, _)| is_core(self.cut(tag).map(|(letter, _)| letter)));
        if (hits == 0 && total > 0) || (!has_core && hits < total) {
            self.place = Place::Nowhere; // `E-mail` among `PER` and `LOC`
        }
    }

    fn sees_wide_outside(&self, marked: &[(&str, usize)], asked: Option<Scheme>) -> bool {
        let is_of_bmewo = |tag: &str| {
            let letter = self.cut(tag).filter(|(_, label)| !is_o(label)).map(|(letter, _)| letter.to_ascii_uppercase());
            matches!(letter, Some('M' | 'W')) || has_doubled_prefix(tag)
        };
        let wide = |tag: &str| is_wide_outside(tag) && self.cut(tag).is_none_or(|(_, label)| is_o(label));
        marked.iter().any(|(tag, _)| wide(tag))
            && asked.map_or_else(|| marked.iter().any(|(tag, _)| is_of_bmewo(tag)), |s| s == Scheme::Bmewo)
    }

    fn doubt(&self, marked: &[(&str, usize)], asked: Option<Scheme>) -> Result<(), Doubt> {
        if asked.is_some() {
            return Ok(());
        }
        let (mut labels, mut bare) = (BTreeSet::new(), Vec::new());
        let (mut with, mut prefixed, mut unprefixed) = (None, 0, 0);
        for (tag, n) in marked {
            match self.read(tag) {
                Tag::Of(_, label) => {
                    if label.split(['|', ',', ';', '+']).skip(1).any(|part| self.cut(part.trim()).is_some()) {
                        return Err(Doubt::Several { tag: (*tag).to_owned() });
                    }
                    labels.insert(label);
                    with.get_or_insert(*tag);
                    prefixed += n;
                }
                Tag::Bare(label) => {
                    bare.push(label);
                    unprefixed += n;
                }
                Tag::Outside | Tag::Nameless => {}
            }
        }
        let separator = if self.place == Place::Before { self.separator } else { '-' };
        let cut = |tag: &str| {
            let (prefix, label) = tag.split_once(separator)?;
            let is_short = (1..=2).contains(&prefix.len()) && prefix.bytes().all(|b| b.is_ascii_alphabetic());
            (is_short && !label.is_empty()).then(|| (prefix.to_owned(), label.to_owned()))
        };
        let cuts: Vec<(String, String)> = bare.iter().filter_map(|tag| cut(tag)).collect();
        let looks_odd = |(prefix, label): &&(String, String)| {
            let shares = |(p, l): &(String, String)| (p == prefix && prefix.len() == 1) != (l == label);
            labels.contains(label.as_str()) || bare.contains(&label.as_str()) || cuts.iter().any(shares)
        };
        if let Some((prefix, label)) = cuts.iter().find(looks_odd).cloned() {
            return Err(Doubt::UnknownPrefix { tag: format!("{prefix}{separator}{label}"), prefix, label });
        }
        match (with, bare.first()) {
            (Some(with), Some(without)) if unprefixed * 5 > prefixed + unprefixed => {
                Err(Doubt::Mixed { with: with.to_owned(), without: (*without).to_owned() })
            }
            _ => Ok(()),
        }
    }
}

/// True for what is outside in all notations.
pub(super) fn is_o(tag: &str) -> bool {
    tag == "O" || tag == "o"
}

/// True for what stands where there is nothing.
pub(super) fn is_filler(cell: &str) -> bool {
    matches!(cell, "" | "_" | "-" | "*" | "–")
}

/// True for `B-PER`, `i_loc`, `S:X`: a known prefix, before a label.
pub(super) fn begins_like_tag(cell: &str) -> bool {
    let cut = cell.split_once(SEPARATORS);
    cut.is_some_and(|(prefix, label)| only_letter(prefix).and_then(Part::of).is_some() && !label.is_empty())
}

/// True for `PER-B`.
pub(super) fn ends_like_tag(cell: &str) -> bool {
    let cut = cell.rsplit_once(SEPARATORS);
    cut.is_some_and(|(label, prefix)| only_letter(prefix).and_then(Part::of).is_some() && !label.is_empty())
}

/// The letter of a text that is one.
pub(super) fn only_letter(text: &str) -> Option<char> {
    let mut letters = text.chars();
    letters.next().filter(|c| c.is_ascii_alphabetic() && letters.next().is_none())
}

fn is_core(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| matches!(letter.to_ascii_uppercase(), 'B' | 'I' | 'M'))
}

/// `MM_O`, `BB_O_PER`: LingPipe's way to say what stands around a word that is outside.
pub(super) fn has_doubled_prefix(tag: &str) -> bool {
    let mut parts = tag.split(['_', '-']);
    matches!(parts.next(), Some("BB" | "MM" | "EE" | "WW")) && parts.next() == Some("O")
}

/// `O_PER`, `PER_O` and those with doubled prefixes.
fn is_wide_outside(tag: &str) -> bool {
    let mut parts = tag.split(['_', '-']);
    let (first, last) = (parts.next(), parts.next_back());
    has_doubled_prefix(tag) || (last.is_some() && (first == Some("O") || last == Some("O")))
}

#[cfg(test)]
mod tests {
    use super::super::tag_order::Evidence;
    use super::*;
    use expect_test::{Expect, expect};

    fn found(tags: &[&str], asked: Option<Scheme>, label: &str) -> Result<Notation, Doubt> {
        let mut counts = BTreeMap::new();
        for tag in tags {
            *counts.entry(*tag).or_insert(0) += 1;
        }
        let mut notation = Notation::find(&counts, asked, label)?;
        let mut evidence = Evidence::default();
        evidence.add(tags, &notation);
        evidence.settle(&mut notation, asked);
        Ok(notation)
    }

    fn check_asked(tags: &str, asked: Option<Scheme>, label: &str, want: Expect) {
        let tags: Vec<_> = tags.split(' ').collect();
        want.assert_eq(&match found(&tags, asked, label) {
            Err(doubt) => doubt.to_string(),
            Ok(notation) => match notation.decode(&tags) {
                Ok(spans) => {
                    let spans: Vec<_> = spans.iter().map(|(span, label)| format!("{span:?} {label}")).collect();
                    format!("{}: {}", notation.shown(), spans.join(", "))
                }
                Err((at, tag)) => format!("bad {tag} at {at}"),
            },
        });
    }

    fn check(tags: &str, want: Expect) {
        check_asked(tags, None, "", want);
    }

    #[test]
    fn all_schemes_are_read() {
        check("B-PER I-PER B-PER O B-LOC", expect!["iob2: 0..2 PER, 2..3 PER, 4..5 LOC"]);
        check("I-PER I-PER B-PER O I-LOC I-ORG", expect!["iob1: 0..2 PER, 2..3 PER, 4..5 LOC, 5..6 ORG"]);
        check("I-A I-A E-A I-A O I-B", expect!["ioe1: 0..3 A, 3..4 A, 5..6 B"]);
        check("I-A E-A E-A O I-B E-B", expect!["ioe2: 0..2 A, 2..3 A, 4..6 B"]);
        check("B-PER I-PER E-PER S-LOC S-LOC", expect!["bioes: 0..3 PER, 3..4 LOC, 4..5 LOC"]);
        check("B-PER I-PER O S-LOC S-LOC", expect!["bioes: 0..2 PER, 3..4 LOC, 4..5 LOC"]);
        check("B-PER L-PER U-LOC I-LOC", expect!["bilou: 0..2 PER, 2..3 LOC, 3..4 LOC"]);
        check("B-ORG M-ORG M-ORG E-ORG S-ORG O B-X E-X", expect!["bmes: 0..4 ORG, 4..5 ORG, 6..8 X"]);
        check("B-ORG M-ORG E-ORG W-ORG O", expect!["bmewo: 0..3 ORG, 3..4 ORG"]);
        check("PER PER O T-cell", expect!["io: 0..2 PER, 3..4 T-cell"]);
        check("O B-cell-line", expect!["iob2: 1..2 cell-line"]);
        check("O B-", expect!["bad B- at 1"]);
        check("O I-X I", expect!["bad I at 2"]);
    }

    #[test]
    fn tags_are_spelled_in_many_ways() {
        check("B_PER I_PER O B_a-b", expect!["iob2 (as in B_PER): 0..2 PER, 3..4 a-b"]);
        check("PER-B PER-I O GPE-B", expect!["iob2 (the prefix after the label, as in PER-B): 0..2 PER, 3..4 GPE"]);
        check("B:PER E:PER O S:X", expect!["bioes (as in B:PER): 0..2 PER, 3..4 X"]);
        check("b-per i-per o s-loc", expect!["bioes: 0..2 per, 3..4 loc"]);
        check("e-mail O PER", expect!["io: 0..1 e-mail, 2..3 PER"]);
        check("E-mail E-mail O PER", expect!["io: 0..2 E-mail, 3..4 PER"]);
        check("B-PER I-PER _ _ B-LOC", expect!["iob2: 0..2 PER, 4..5 LOC"]);
        check(
            "BB_O MM_O EE_O_PER B_PER M_PER E_PER BB_O_PER EE_O_LOC W_LOC WW_O_LOC",
            expect!["bmewo (as in B_PER): 3..6 PER, 8..9 LOC"],
        );
        check("O O_PER B_PER M_PER E_PER PER_O O_LOC W_LOC LOC_O", expect!["bmewo (as in B_PER): 2..5 PER, 7..8 LOC"]);
        check_asked("B I O B", None, "Disease", expect!["iob2: 0..2 Disease, 3..4 Disease"]);
        check_asked(
            "B-cell T-cell O",
            Some(Scheme::Plain),
            "",
            expect!["labels as they stand: 0..1 B-cell, 1..2 T-cell"],
        );
        check_asked("B-X I-X Q-X O", Some(Scheme::Iob2), "", expect!["iob2: 0..2 X, 2..3 Q-X"]);
    }

    #[test]
    fn what_may_be_a_prefix_of_another_scheme_is_asked_about() {
        check(
            "B-PER Z-PER Z-PER O",
            expect![[
                r#"the tag "Z-PER" begins like one of a scheme that is not known here ("Z" and the label "PER"): known are I, B, E, S (bioes), L, U (bilou), M (bmes) and W (bmewo)"#
            ]],
        );
        check(
            "B-cell T-cell O O",
            expect![[
                r#"the tag "T-cell" begins like one of a scheme that is not known here ("T" and the label "cell"): known are I, B, E, S (bioes), L, U (bilou), M (bmes) and W (bmewo)"#
            ]],
        );
        check(
            "X-PER X-LOC O O",
            expect![[
                r#"the tag "X-LOC" begins like one of a scheme that is not known here ("X" and the label "LOC"): known are I, B, E, S (bioes), L, U (bilou), M (bmes) and W (bmewo)"#
            ]],
        );
        check(
            "B-PER I-PER LOC LOC O",
            expect![[r#"some tags have a prefix, such as "B-PER", and others have none, such as "LOC""#]],
        );
        check(
            "B-ORG|B-GPE I-ORG O",
            expect![[
                r#"the tag "B-ORG|B-GPE" holds several tags, which are not told apart here; write them in columns (or lists) of their own, one a depth, or take each for a label of its own"#
            ]],
        );
        check("B I O B", expect![[r#"the tags name no label, only where mentions begin and go on (such as "B")"#]]);
    }
}
