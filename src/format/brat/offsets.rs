//! How a file counts: found out by comparing what its lines quote with what the text has there.

use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Chars,
    Utf16,
    Bytes,
}

/// One way of counting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counting {
    pub(super) unit: Unit,
    /// `\r\n` counts as one.
    pub(super) joins_crlf: bool,
    /// A byte order mark counts.
    pub(super) counts_bom: bool,
}

impl Unit {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "chars" => Some(Self::Chars),
            "utf16" => Some(Self::Utf16),
            "bytes" => Some(Self::Bytes),
            _ => None,
        }
    }
}

impl Counting {
    /// All that can differ for this text, the likeliest first.
    pub(super) fn all(text: &str, unit: Option<Unit>) -> Vec<Self> {
        let units = match unit {
            Some(ref unit) => std::slice::from_ref(unit),
            None if text.is_ascii() => &[Unit::Chars],
            None => &[Unit::Chars, Unit::Utf16, Unit::Bytes],
        };
        let crlf: &[bool] = if text.contains("\r\n") { &[false, true] } else { &[false] };
        let bom: &[bool] = if text.starts_with('\u{feff}') { &[true, false] } else { &[true] };
        let mut all = Vec::new();
        for (&unit, &joins_crlf, &counts_bom) in
            units.iter().flat_map(|u| crlf.iter().flat_map(move |c| bom.iter().map(move |b| (u, c, b))))
        {
            all.push(Self { unit, joins_crlf, counts_bom });
        }
        all
    }

    /// The byte at each offset; none inside a character.
    pub(super) fn table(self, text: &str) -> Vec<Option<usize>> {
        let mut table = Vec::with_capacity(text.len() + 1);
        let mut rest = text.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            if at == 0 && c == '\u{feff}' && !self.counts_bom {
                continue;
            }
            table.push(Some(at));
            let units = match self.unit {
                Unit::Chars => 1,
                Unit::Utf16 => c.len_utf16(),
                Unit::Bytes => c.len_utf8(),
            };
            table.extend(std::iter::repeat_n(None, units - 1));
            if self.joins_crlf && c == '\r' {
                rest.next_if(|(_, next)| *next == '\n');
            }
        }
        table.push(Some(text.len()));
        table
    }

    pub(super) fn shown(self) -> String {
        let unit = match self.unit {
            Unit::Chars => "code points",
            Unit::Utf16 => "UTF-16 units",
            Unit::Bytes => "bytes",
        };
        let crlf = if self.joins_crlf { ", CR LF as one" } else { "" };
        let bom = if self.counts_bom { "" } else { ", without the byte order mark" };
        format!("{unit}{crlf}{bom}")
    }
}

/// The bytes of pieces that are given in offsets.
pub(super) fn to_bytes(table: &[Option<usize>], pieces: &[(usize, usize)]) -> Option<Vec<Range<usize>>> {
    let byte = |at: usize| table.get(at).copied().flatten();
    pieces.iter().map(|&(start, end)| Some(byte(start)?..byte(end)?).filter(|range| range.start < range.end)).collect()
}
