//! What the places of a file say for and against each way of counting: quoted words that are there or not, and edges
//! that are between words or inside them.
//!
//! Linear in the texts, times the units that differ in them: one for plain ASCII, two for most that are written in Latin
//! letters.

use super::{Counting, Ends, Forced, Places, Traits};
use crate::format::fit::quotes;
use crate::text::cuts_word;
use std::ops::Range;

/// A place as a file gives it.
pub(in crate::format) struct Said<'t> {
    pub(in crate::format) pieces: Vec<(usize, usize)>,
    /// The words, where the file repeats them.
    pub(in crate::format) quoted: Option<&'t str>,
}

/// How well a place fits under one way of counting, worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::format) enum Fit {
    /// Empty, outside the text, inside a character, or not what is quoted.
    Impossible,
    /// It begins in the middle of a word and ends beyond that word, or the other way round: nobody marks that.
    Astride,
    /// One of its edges is inside a word, or both inside the same: people mark parts of words.
    PartOfWord,
    /// White space at its edges.
    Blank,
    /// Whole words, or what is quoted.
    Whole,
}

/// What speaks for a way of counting.
#[derive(Clone, Default, Debug)]
pub(super) struct Tally {
    /// Places that are [`Fit::Whole`].
    pub(super) whole: usize,
    /// Whole places that are no whole words in the usual way, and those of them that are far from it or quoted.
    pub(super) wins: usize,
    pub(super) strong_wins: usize,
    /// Places that are whole in the usual way alone.
    pub(super) losses: usize,
    /// Places that cut words though ways differ there, and quote nothing.
    pub(super) open: usize,
    /// Places that are [`Fit::Astride`].
    pub(super) astride: usize,
    /// Of inclusive ends, compared with exclusive ones of the same unit.
    pub(super) ends: EndTally,
    /// The same where the same words come out.
    pub(super) words: u64,
}

#[derive(Clone, Default, Debug)]
pub(super) struct EndTally {
    pub(super) wins: usize,
    pub(super) quoted_wins: usize,
    pub(super) losses: usize,
    last: Option<char>,
    /// The letters that exclusive ends leave out differ: they are no case ending that annotators leave out.
    pub(super) letters_differ: bool,
}

/// What a file says of how it counts.
#[derive(Clone)]
pub(in crate::format) struct Evidence {
    pub(super) forced: Forced,
    /// The usual way first.
    pub(super) ways: Vec<(Counting, Tally)>,
    pub(super) places: usize,
    /// The first place that is no whole word in the usual way, for messages.
    pub(super) first: Option<String>,
}

/// All places of a document, counted in one way.
struct Counted {
    counting: Counting,
    places: Vec<(Fit, Option<Vec<Range<usize>>>)>,
}

impl Evidence {
    pub(in crate::format) fn new(forced: Forced) -> Self {
        let ways = Counting::all(forced).into_iter().map(|counting| (counting, Tally::default())).collect();
        Self { forced, ways, places: 0, first: None }
    }

    /// Takes in the places of a document that messages call `name`. Whether it depends on the unit what they are.
    pub(in crate::format) fn add(&mut self, name: &dyn Fn() -> String, text: &str, said: &[Said<'_>]) -> bool {
        let Some(&(usual, _)) = self.ways.first().filter(|_| !said.is_empty()) else { return false };
        let traits = Traits::of(text);
        let all = in_all_ways(text, said, self.ways.iter().map(|(way, _)| way.in_text(&traits)));
        let find = |way: Counting| all.iter().find(|counted| counted.counting == way.in_text(&traits));
        let Some(expected) = find(usual) else { return false };
        let of_unit = || all.iter().filter(|counted| counted.counting.ends == usual.ends);
        let is_contested = |at: usize| {
            let ranges = expected.places.get(at).map(|(_, ranges)| ranges);
            of_unit().any(|counted| counted.places.get(at).map(|(_, ranges)| ranges) != ranges)
        };
        let contested: Vec<bool> = (0..said.len()).map(is_contested).collect();
        for (way, tally) in &mut self.ways {
            let Some(counted) = find(*way) else { continue };
            let exclusive = (way.ends == Ends::Inclusive).then(|| find(Counting { ends: Ends::Exclusive, ..*way }));
            let exclusive = exclusive.flatten();
            for (at, (fit, ranges)) in counted.places.iter().enumerate() {
                let fits_usual = expected.places.get(at).map_or(Fit::Impossible, |(fit, _)| *fit);
                let is_quoted = said.get(at).is_some_and(|said| said.quoted.is_some());
                tally.add(*fit, fits_usual, is_quoted, contested.get(at) == Some(&true));
                tally.words = ranges
                    .iter()
                    .flatten()
                    .fold(mixed(tally.words, at), |words, range| mixed(mixed(words, range.start), range.end));
                if let Some((fits_exclusive, _)) = exclusive.and_then(|counted| counted.places.get(at)) {
                    let last =
                        || ranges.as_ref()?.last().and_then(|range| text.get(range.clone())?.chars().next_back());
                    tally.ends.add(*fit, *fits_exclusive, is_quoted, last);
                }
            }
        }
        if self.first.is_none()
            && let Some(at) = expected.places.iter().position(|(fit, _)| *fit < Fit::Blank)
        {
            self.first = said.get(at).map(|said| format!("{} ({})", shown(&said.pieces), name()));
        }
        self.places += said.len();
        contested.contains(&true)
    }
}

/// Each way once; ways that differ in their ends alone share the pass over the text.
fn in_all_ways(text: &str, said: &[Said<'_>], ways: impl Iterator<Item = Counting>) -> Vec<Counted> {
    let mut different: Vec<Counting> = Vec::new();
    for way in ways {
        if !different.contains(&way) {
            different.push(way);
        }
    }
    let mut ends: Vec<Ends> = different.iter().map(|way| way.ends).collect();
    ends.dedup();
    let mut passes: Vec<(Counting, Places)> = Vec::new();
    let counted = |way: Counting| {
        let pass = Counting { ends: Ends::Exclusive, ..way };
        let places = match passes.iter().position(|(known, _)| *known == pass) {
            Some(known) => known,
            None => {
                passes.push((pass, pass.places_with(&ends, text, said.iter().flat_map(|said| &said.pieces))));
                passes.len() - 1
            }
        };
        let places = passes.get(places).map(|(_, places)| places);
        let place = |said: &Said<'_>| {
            let ranges = places.and_then(|places| places.pieces_with(way.ends, &said.pieces));
            let fit = ranges.as_ref().map_or(Fit::Impossible, |ranges| fit(text, ranges, said.quoted));
            (fit, ranges)
        };
        Counted { counting: way, places: said.iter().map(place).collect() }
    };
    different.into_iter().map(counted).collect()
}

/// How many quotes of a document are there, by the ways that differ in it.
pub(super) fn quotes_found(
    text: &str,
    said: &[Said<'_>],
    ways: impl IntoIterator<Item = Counting>,
) -> Vec<(Counting, usize)> {
    let traits = Traits::of(text);
    let quoting: Vec<bool> = said.iter().map(|said| said.quoted.is_some()).collect();
    let ways = ways.into_iter().map(|way| way.in_text(&traits));
    let found = |counted: Counted| {
        let whole = counted.places.iter().zip(&quoting).filter(|((fit, _), quotes)| **quotes && *fit == Fit::Whole);
        (counted.counting, whole.count())
    };
    in_all_ways(text, said, ways).into_iter().map(found).collect()
}

/// How well pieces fit in a text.
pub(in crate::format) fn fit(text: &str, pieces: &[Range<usize>], quoted: Option<&str>) -> Fit {
    match quoted {
        Some(quoted) if quotes(text, pieces, quoted) => Fit::Whole,
        Some(_) => Fit::Impossible,
        None => pieces.iter().map(|piece| fit_of_piece(text, piece)).min().unwrap_or(Fit::Impossible),
    }
}

fn fit_of_piece(text: &str, piece: &Range<usize>) -> Fit {
    let raw = text.get(piece.clone()).unwrap_or_default();
    let (Some(first), Some(last)) = (raw.chars().next(), raw.chars().next_back()) else { return Fit::Impossible };
    if raw.trim().is_empty() {
        return Fit::Impossible;
    }
    match (cuts_word(text, piece.start), cuts_word(text, piece.end)) {
        (true, true) if raw.chars().all(char::is_alphanumeric) => Fit::PartOfWord,
        (true, true) => Fit::Astride,
        (true, false) if !last.is_alphanumeric() => Fit::Astride,
        (false, true) if !first.is_alphanumeric() => Fit::Astride,
        (true, false) | (false, true) => Fit::PartOfWord,
        (false, false) if first.is_whitespace() || last.is_whitespace() => Fit::Blank,
        (false, false) => Fit::Whole,
    }
}

impl Tally {
    fn add(&mut self, fit: Fit, usual: Fit, is_quoted: bool, is_contested: bool) {
        let wins = fit == Fit::Whole && usual < Fit::Blank;
        self.whole += usize::from(fit == Fit::Whole);
        self.wins += usize::from(wins);
        self.strong_wins += usize::from(wins && (is_quoted || usual < Fit::PartOfWord));
        self.losses += usize::from(usual == Fit::Whole && fit < Fit::Whole);
        self.open += usize::from(fit < Fit::Blank && is_contested && !is_quoted);
        self.astride += usize::from(fit == Fit::Astride);
    }
}

impl EndTally {
    fn add(&mut self, fit: Fit, exclusive: Fit, is_quoted: bool, last: impl Fn() -> Option<char>) {
        if fit == Fit::Whole && exclusive < Fit::Blank {
            self.wins += 1;
            self.quoted_wins += usize::from(is_quoted);
            let last = last();
            self.letters_differ |= self.last.is_some() && last != self.last;
            self.last = self.last.or(last);
        }
        self.losses += usize::from(exclusive == Fit::Whole && fit < Fit::Whole);
    }
}

fn mixed(words: u64, number: usize) -> u64 {
    (words.rotate_left(5) ^ number as u64).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// `3-6` or `3-6;8-9`
fn shown(pieces: &[(usize, usize)]) -> String {
    pieces.iter().map(|(start, end)| format!("{start}-{end}")).collect::<Vec<_>>().join(";")
}
