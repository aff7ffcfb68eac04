//! What the offsets of a file count. Programs differ and files don't say, so it is found out from the file itself.
//!
//! ```text
//! text       😀  ‿  I  d  a         a  \r \n b
//! code point 0   1  2  3  4         0  1  2  3      or 0 1   2 where \r\n counts as one
//! UTF-16     0   2  3  4  5
//! byte       0   4  5  6  7
//! grapheme   0   1  2  3  4         0  1     2
//! ```
//!
//! [`Counting`] is one way to count, [`Evidence`] collects what a file says for and against each, and
//! [`Decision`] is what came of it. A reader of offsets hands all places of the file to the evidence first, and then asks
//! the decision for each document, as a document that quotes its words proves its own counting.

mod decide;
mod evidence;

pub(super) use decide::Decision;
pub(super) use evidence::{Evidence, Fit, Said, fit};

use super::{OptionSpec, Options, Use};
use crate::annotation::Span;
use crate::text::character_ends;
use std::fmt;
use std::ops::Range;

pub(super) const OFFSETS: OptionSpec = OptionSpec {
    key: "offsets",
    meaning: "what offsets in the text count: Unicode code points, UTF-16 units, bytes or grapheme clusters; \
              auto recognises it",
    values: &["auto", "chars", "utf16", "bytes", "graphemes"],
    default: "auto",
    used: Use::Reading,
};

/// What to say where the option for it is needed.
pub(super) const SAY_OFFSETS: &str = "offsets=chars, utf16, bytes or graphemes";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Chars,
    Utf16,
    Bytes,
    /// Grapheme clusters, of which `\r\n` is always one.
    Graphemes,
}

/// Whether an end names the last one or the one after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ends {
    Exclusive,
    Inclusive,
}

/// One way of counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counting {
    pub(super) unit: Unit,
    /// `\r\n` counts as one.
    pub(super) joins_crlf: bool,
    /// A byte order mark at the start of the text counts.
    pub(super) counts_bom: bool,
    pub(super) ends: Ends,
}

/// What of it the person has said.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Forced {
    pub(super) unit: Option<Unit>,
    pub(super) ends: Option<Ends>,
}

impl Unit {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "chars" => Some(Self::Chars),
            "utf16" => Some(Self::Utf16),
            "bytes" => Some(Self::Bytes),
            "graphemes" => Some(Self::Graphemes),
            _ => None,
        }
    }
}

impl Ends {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "exclusive" => Some(Ends::Exclusive),
            "inclusive" => Some(Ends::Inclusive),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Ends::Exclusive => "exclusive",
            Ends::Inclusive => "inclusive",
        }
    }

    /// `None` for an empty span.
    pub(super) fn span(self, start: usize, end: usize) -> Option<Span> {
        Span::from_range(start..self.after(end)?)
    }

    /// The number that stands for the end of `span`.
    pub(super) fn of(self, span: Span) -> usize {
        match self {
            Ends::Exclusive => span.end().get(),
            Ends::Inclusive => span.last().get(),
        }
    }

    /// The place after the last one.
    fn after(self, end: usize) -> Option<usize> {
        match self {
            Ends::Exclusive => Some(end),
            Ends::Inclusive => end.checked_add(1),
        }
    }
}

impl Forced {
    /// The unit that the options say, with any ends.
    pub(super) fn by(options: &Options) -> Self {
        Self { unit: Unit::from_name(options.value(&OFFSETS)), ends: None }
    }
}

impl Counting {
    /// What files are read as that say nothing against it.
    pub(super) const USUAL: Self =
        Self { unit: Unit::Chars, joins_crlf: false, counts_bom: true, ends: Ends::Exclusive };

    /// All ways that `forced` leaves, the likeliest first.
    pub(super) fn all(forced: Forced) -> Vec<Self> {
        let units = match forced.unit {
            Some(unit) => vec![unit],
            None => vec![Unit::Chars, Unit::Utf16, Unit::Bytes, Unit::Graphemes],
        };
        let ends = forced.ends.map_or(vec![Ends::Exclusive, Ends::Inclusive], |ends| vec![ends]);
        let mut all = Vec::new();
        for ends in ends {
            for &unit in &units {
                for (joins_crlf, counts_bom) in [(false, true), (true, true), (false, false), (true, false)] {
                    if unit != Unit::Graphemes || !joins_crlf {
                        all.push(Self { unit, joins_crlf, counts_bom, ends });
                    }
                }
            }
        }
        all
    }

    /// The first of the ways that give the same places in this text.
    fn in_text(self, text: &Traits) -> Self {
        let unit = match self.unit {
            Unit::Utf16 if !text.has_astral => Unit::Chars,
            Unit::Bytes if text.is_ascii => Unit::Chars,
            Unit::Graphemes if text.is_simple => Unit::Chars,
            unit => unit,
        };
        let joins = text.has_crlf && (self.joins_crlf || self.unit == Unit::Graphemes);
        Self {
            unit,
            joins_crlf: joins && unit != Unit::Graphemes,
            counts_bom: self.counts_bom || !text.has_bom,
            ends: self.ends,
        }
    }

    /// Where the offsets of pieces lie in the text. One pass over the text.
    pub(super) fn places<'p>(self, text: &str, pieces: impl Iterator<Item = &'p (usize, usize)>) -> Places {
        self.places_with(&[self.ends], text, pieces)
    }

    /// The same for each kind of end.
    fn places_with<'p>(self, ends: &[Ends], text: &str, pieces: impl Iterator<Item = &'p (usize, usize)>) -> Places {
        let mut offsets = Vec::new();
        for &(start, end) in pieces {
            offsets.push(start);
            offsets.extend(ends.iter().filter_map(|ends| ends.after(end)));
        }
        offsets.sort_unstable();
        offsets.dedup();
        let mut wanted = offsets.into_iter().peekable();
        let mut found = Vec::with_capacity(wanted.len());
        let mut seen = 0;
        for (byte, size) in self.steps(text) {
            while let Some(offset) = wanted.next_if(|offset| *offset < seen + size) {
                found.push((offset, Place { byte, is_inside: offset > seen }));
            }
            if wanted.peek().is_none() {
                return Places { ends: self.ends, found };
            }
            seen += size;
        }
        if let Some(end) = wanted.next_if_eq(&seen) {
            found.push((end, Place { byte: text.len(), is_inside: false }));
        }
        Places { ends: self.ends, found }
    }

    /// What is counted, each with the byte it begins at and by how much it counts.
    fn steps(self, text: &str) -> Box<dyn Iterator<Item = (usize, usize)> + '_> {
        let skipped = if text.starts_with('\u{feff}') && !self.counts_bom { '\u{feff}'.len_utf8() } else { 0 };
        let rest = text.get(skipped..).unwrap_or_default();
        if self.unit == Unit::Graphemes {
            let mut start = skipped;
            let step = move |end| (std::mem::replace(&mut start, skipped + end), 1);
            return Box::new(character_ends(rest).map(step));
        }
        let mut chars = rest.char_indices().peekable();
        Box::new(std::iter::from_fn(move || {
            let (at, c) = chars.next()?;
            if self.joins_crlf && c == '\r' {
                chars.next_if(|(_, next)| *next == '\n');
            }
            let size = match self.unit {
                Unit::Utf16 => c.len_utf16(),
                Unit::Bytes => c.len_utf8(),
                Unit::Chars | Unit::Graphemes => 1,
            };
            Some((skipped + at, size))
        }))
    }
}

/// Of U+0300, the first character that is one cluster with another.
const FIRST_BYTE_OF_JOINERS: u8 = 0xCC;

/// What tells ways of counting apart in a text.
struct Traits {
    is_ascii: bool,
    /// Each character is a grapheme cluster, but for `\r\n`.
    is_simple: bool,
    has_astral: bool,
    has_crlf: bool,
    has_bom: bool,
}

impl Traits {
    fn of(text: &str) -> Self {
        let is_ascii = text.is_ascii();
        Self {
            is_ascii,
            // Those that join others begin with U+0300; all before have one byte, or two of which the first is lower.
            is_simple: text.bytes().all(|byte| byte < FIRST_BYTE_OF_JOINERS),
            // Characters of two UTF-16 units are those of four bytes.
            has_astral: !is_ascii && text.bytes().any(|byte| byte >= 0xF0),
            has_crlf: text.contains("\r\n"),
            has_bom: text.starts_with('\u{feff}'),
        }
    }
}

#[derive(Clone, Copy)]
struct Place {
    /// Of the character that begins there or that it is inside of.
    byte: usize,
    is_inside: bool,
}

/// Where offsets lie.
pub(super) struct Places {
    ends: Ends,
    /// By offset, ascending; none for those outside the text.
    found: Vec<(usize, Place)>,
}

impl Places {
    /// The bytes of pieces that were asked for; `None` where one is empty, outside the text, or inside a character.
    pub(super) fn pieces(&self, pieces: &[(usize, usize)]) -> Option<Vec<Range<usize>>> {
        self.pieces_with(self.ends, pieces)
    }

    /// The same where `ends` were asked for.
    fn pieces_with(&self, ends: Ends, pieces: &[(usize, usize)]) -> Option<Vec<Range<usize>>> {
        let byte = |offset| self.find(offset).filter(|place| !place.is_inside).map(|place| place.byte);
        let range = |&(start, end): &(usize, usize)| {
            Some(byte(start)?..byte(ends.after(end)?)?).filter(|range| range.start < range.end)
        };
        pieces.iter().map(range).collect()
    }

    /// The byte of an offset that was asked for, or of the character that it is inside of.
    pub(super) fn before(&self, offset: usize) -> Option<usize> {
        self.find(offset).map(|place| place.byte)
    }

    fn find(&self, offset: usize) -> Option<Place> {
        let at = self.found.binary_search_by_key(&offset, |(offset, _)| *offset).ok()?;
        self.found.get(at).map(|(_, place)| *place)
    }
}

impl Unit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Chars => "chars",
            Self::Utf16 => "utf16",
            Self::Bytes => "bytes",
            Self::Graphemes => "graphemes",
        }
    }
}

/// Without the end, as `UTF-16 units, CR LF as one`.
impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.unit {
            Unit::Chars => "Unicode code points",
            Unit::Utf16 => "UTF-16 units",
            Unit::Bytes => "bytes",
            Unit::Graphemes => "grapheme clusters",
        })?;
        f.write_str(if self.joins_crlf { ", CR LF as one" } else { "" })?;
        f.write_str(if self.counts_bom { "" } else { ", without the byte order mark" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{ByteIdx, GraphemeIndex, OffsetIndex};
    use proptest::prelude::*;

    fn bytes(counting: Counting, text: &str, offsets: usize) -> Vec<Option<usize>> {
        let pairs: Vec<_> = (0..offsets).map(|at| (at, at)).collect();
        let places = counting.places(text, pairs.iter());
        (0..offsets).map(|at| places.find(at).filter(|place| !place.is_inside).map(|place| place.byte)).collect()
    }

    #[test]
    fn every_way_counts_as_it_says() {
        let text = "\u{feff}é😀\r\nb";
        let way = |unit, joins_crlf, counts_bom| Counting { unit, joins_crlf, counts_bom, ends: Ends::Exclusive };
        let all = |counting| bytes(counting, text, 9);
        let (n, s) = (None, Some);
        assert_eq!(all(way(Unit::Chars, false, true)), [s(0), s(3), s(5), s(9), s(10), s(11), s(12), n, n]);
        assert_eq!(all(way(Unit::Utf16, false, true)), [s(0), s(3), s(5), n, s(9), s(10), s(11), s(12), n]);
        assert_eq!(all(way(Unit::Utf16, true, false)), [s(3), s(5), n, s(9), s(11), s(12), n, n, n]);
        assert_eq!(all(way(Unit::Bytes, false, false)), [s(3), n, s(5), n, n, n, s(9), s(10), s(11)]);
        assert_eq!(all(way(Unit::Graphemes, false, true)), [s(0), s(3), s(5), s(9), s(11), s(12), n, n, n]);
        assert_eq!(all(way(Unit::Graphemes, false, false)), [s(3), s(5), s(9), s(11), s(12), n, n, n, n]);
    }

    proptest! {
        #[test]
        fn places_agree_with_the_indexes(text in "(\\PC|\r\n|e\u{301}|😀|[a-c \\r\\n]|🇩🇰){0,30}") {
            let way = |unit| Counting { unit, ..Counting::USUAL };
            let index = OffsetIndex::new(&text).unwrap();
            let graphemes = GraphemeIndex::new(&text);
            for byte in (0..=text.len()).filter(|byte| text.is_char_boundary(*byte)) {
                let at = ByteIdx::new(byte);
                let offsets = [
                    (Unit::Chars, index.byte_to_char(at).map(|at| at.get())),
                    (Unit::Utf16, index.byte_to_utf16(at).map(|at| at.get())),
                    (Unit::Bytes, Some(byte)),
                    (Unit::Graphemes, graphemes.byte_to_grapheme(at).map(|at| at.get())),
                ];
                for (unit, offset) in offsets {
                    let Some(offset) = offset else { continue };
                    prop_assert_eq!(bytes(way(unit), &text, offset + 1).pop().flatten(), Some(byte));
                }
            }
        }

        #[test]
        fn ways_that_are_one_in_a_text_give_the_same_places(text in "(\u{feff})?(\\PC|\r\n|e\u{301}|😀|[a-c \\r\\n]){0,20}") {
            let traits = Traits::of(&text);
            for counting in Counting::all(Forced::default()) {
                let same = counting.in_text(&traits);
                prop_assert_eq!(bytes(counting, &text, 60), bytes(same, &text, 60), "{:?} {:?}", counting, same);
            }
        }
    }
}
