//! Positions in a text, one type a unit, and the only place that converts between them, with `graphemes.rs` for the
//! fourth unit.
//!
//! ```text
//! text      N  e  s  t  👍🏽        \r \n l  …
//! byte      0  1  2  3  4         12 13 14
//! char      0  1  2  3  4         6  7  8
//! UTF-16    0  1  2  3  4         8  9  10
//! grapheme  0  1  2  3  4         5     6
//! ```

use std::fmt;
use std::ops::Range;

/// Offset in bytes of UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ByteIdx(u32);

/// Offset in Unicode code points.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CharIdx(u32);

/// Offset in UTF-16 code units (Java, JavaScript).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Utf16Idx(u32);

/// A text of 4 GiB or more can't be indexed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the text has {bytes} bytes, more than the 4 GiB that one document can hold; split it into several documents")]
pub struct TextTooLong {
    bytes: usize,
}

macro_rules! index {
    ($name:ident) => {
        impl $name {
            /// The position `value` units from the start of the text.
            ///
            /// Saturates at `u32::MAX`, a position that no text has (see [`TextTooLong`](crate::text::TextTooLong)).
            pub fn new(value: usize) -> Self {
                Self(u32::try_from(value).unwrap_or(u32::MAX))
            }

            pub fn get(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}
pub(super) use index;
index!(ByteIdx);
index!(CharIdx);
index!(Utf16Idx);

/// A non-empty half-open range of bytes of one text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TextRange {
    start: ByteIdx,
    end: ByteIdx,
}

impl TextRange {
    /// `None` unless `start < end`.
    pub fn new(start: ByteIdx, end: ByteIdx) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    /// `None` unless the range is non-empty and both ends are character boundaries of `text`.
    pub fn in_text(text: &str, range: Range<usize>) -> Option<Self> {
        text.get(range.clone())?;
        Self::new(ByteIdx::new(range.start), ByteIdx::new(range.end))
    }

    pub fn start(self) -> ByteIdx {
        self.start
    }

    pub fn end(self) -> ByteIdx {
        self.end
    }

    pub fn bytes(self) -> Range<usize> {
        self.start.get()..self.end.get()
    }

    /// What this range covers in the text it was made for; empty for a text that is shorter.
    pub fn of(self, text: &str) -> &str {
        text.get(self.bytes()).unwrap_or_default()
    }
}

/// How many bytes lie between two remembered positions of an index.
pub(super) const STRIDE: usize = 256;

/// Conversion between the units of one text.
///
/// Built in one pass; a conversion looks at no more than 256 bytes. Memory: 8 bytes for each 256 bytes of text, and
/// nothing for ASCII, where all units agree.
pub struct OffsetIndex<'t> {
    text: &'t str,
    /// Code points and UTF-16 units before byte `k * STRIDE` (moved back to a character boundary); empty for ASCII.
    marks: Vec<(u32, u32)>,
}

impl<'t> OffsetIndex<'t> {
    /// # Errors
    /// A text of 4 GiB or more.
    pub fn new(text: &'t str) -> Result<Self, TextTooLong> {
        if u32::try_from(text.len()).is_err() {
            return Err(TextTooLong { bytes: text.len() });
        }
        let mut marks = Vec::new();
        if !text.is_ascii() {
            let (mut chars, mut units, mut at) = (0, 0, 0);
            for stride in 0..=text.len() / STRIDE {
                let boundary = text.floor_char_boundary(stride * STRIDE);
                let (c, u) = count(text.get(at..boundary).unwrap_or_default());
                (chars, units, at) = (chars + c, units + u, boundary);
                marks.push((chars, units));
            }
        }
        Ok(Self { text, marks })
    }

    /// `None` when `at` is outside the text or inside a character.
    pub fn byte_to_char(&self, at: ByteIdx) -> Option<CharIdx> {
        self.counts_before(at).map(|(chars, _)| CharIdx(chars))
    }

    /// `None` when `at` is outside the text or inside a character.
    pub fn byte_to_utf16(&self, at: ByteIdx) -> Option<Utf16Idx> {
        self.counts_before(at).map(|(_, units)| Utf16Idx(units))
    }

    /// `None` when `at` is outside the text.
    pub fn char_to_byte(&self, at: CharIdx) -> Option<ByteIdx> {
        self.find(at.0, |(chars, _)| chars, |_| 1)
    }

    /// `None` when `at` is outside the text or between the two halves of a surrogate pair.
    pub fn utf16_to_byte(&self, at: Utf16Idx) -> Option<ByteIdx> {
        self.find(at.0, |(_, units)| units, |c| c.len_utf16() as u32)
    }

    fn counts_before(&self, at: ByteIdx) -> Option<(u32, u32)> {
        if !self.text.is_char_boundary(at.get()) {
            return None;
        }
        let Some(&(chars, units)) = self.marks.get(at.get() / STRIDE) else {
            return Some((at.0, at.0)); // ASCII
        };
        let from = self.text.floor_char_boundary(at.get() / STRIDE * STRIDE);
        let (c, u) = count(self.text.get(from..at.get())?);
        Some((chars + c, units + u))
    }

    /// The byte position before which `wanted` units lie.
    fn find(&self, wanted: u32, unit: impl Fn((u32, u32)) -> u32, size: impl Fn(char) -> u32) -> Option<ByteIdx> {
        if self.marks.is_empty() {
            return (wanted as usize <= self.text.len()).then_some(ByteIdx(wanted));
        }
        let mark = self.marks.partition_point(|&m| unit(m) <= wanted).checked_sub(1)?;
        let mut seen = unit(*self.marks.get(mark)?);
        let mut at = self.text.floor_char_boundary(mark * STRIDE);
        let mut rest = self.text.get(at..)?.chars();
        while seen < wanted {
            let c = rest.next()?;
            seen += size(c);
            at += c.len_utf8();
        }
        (seen == wanted).then(|| ByteIdx::new(at))
    }
}

/// Code points and UTF-16 units of a piece of text.
fn count(piece: &str) -> (u32, u32) {
    piece.chars().fold((0, 0), |(chars, units), c| (chars + 1, units + c.len_utf16() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn emoji_counts_one_code_point_and_two_units() {
        let text = "💩This is an annotation.";
        let index = OffsetIndex::new(text).unwrap();
        let start = index.char_to_byte(CharIdx::new(12)).unwrap();
        let end = index.char_to_byte(CharIdx::new(22)).unwrap();
        assert_eq!(TextRange::new(start, end).unwrap().of(text), "annotation");
        assert_eq!(index.byte_to_utf16(start), Some(Utf16Idx::new(13)));
        assert_eq!(index.utf16_to_byte(Utf16Idx::new(1)), None, "half of a surrogate pair");
        assert_eq!(index.byte_to_char(ByteIdx::new(1)), None, "inside a character");
    }

    proptest! {
        #[test]
        fn every_boundary_converts_there_and_back(text in "(\\PC|[\\r\\n\\t\u{feff}e\u{301}]|👩\u{200d}👩){0,400}") {
            let index = OffsetIndex::new(&text).unwrap();
            let (mut chars, mut units) = (0, 0);
            for (byte, c) in text.char_indices().chain([(text.len(), '\0')]) {
                let at = ByteIdx::new(byte);
                prop_assert_eq!(index.byte_to_char(at), Some(CharIdx::new(chars)));
                prop_assert_eq!(index.byte_to_utf16(at), Some(Utf16Idx::new(units)));
                prop_assert_eq!(index.char_to_byte(CharIdx::new(chars)), Some(at));
                prop_assert_eq!(index.utf16_to_byte(Utf16Idx::new(units)), Some(at));
                chars += 1;
                units += c.len_utf16();
            }
            prop_assert_eq!(index.char_to_byte(CharIdx::new(chars)), None);
            prop_assert_eq!(index.byte_to_char(ByteIdx::new(text.len() + 1)), None);
        }
    }
}
