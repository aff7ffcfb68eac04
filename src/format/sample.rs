//! What formats are told apart by.

use std::borrow::Cow;

/// The start of a file, and lines from all over it.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'s> {
    /// Lower case, without the dot; empty where there is none.
    pub extension: &'s str,
    pub bytes: &'s [u8],
}

impl<'s> Sample<'s> {
    /// True where there is nothing to tell a format by: an empty file, unless its name says enough.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.extension != "ann"
    }

    /// As text, with what is none replaced, and without a byte order mark.
    pub(super) fn text(&self) -> Cow<'s, str> {
        let decode = |unit: fn([u8; 2]) -> u16| {
            let units: Vec<u16> = self.bytes.as_chunks::<2>().0.iter().skip(1).map(|pair| unit(*pair)).collect();
            Cow::Owned(String::from_utf16_lossy(&units))
        };
        match self.bytes {
            [0xFF, 0xFE, ..] => decode(u16::from_le_bytes),
            [0xFE, 0xFF, ..] => decode(u16::from_be_bytes),
            bytes => String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)),
        }
    }
}

/// A format's opinion of a sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sniff {
    pub confidence: Confidence,
    /// What was found, to be shown: "JSON lines with tokens".
    pub found: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Confidence {
    /// Nothing speaks against it.
    Possible,
    /// The name or the content says so.
    Likely,
    /// The content says so, and no other format looks like that.
    Certain,
}
