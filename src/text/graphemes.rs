//! Positions in grapheme clusters, the characters that people see (UAX #29), beside the units of [`OffsetIndex`].
//!
//! An index of its own, because it costs more and few formats count so.
//!
//! [`OffsetIndex`]: super::OffsetIndex

use super::ByteIdx;
use super::offsets::{STRIDE, index};
use std::fmt;
use unicode_segmentation::UnicodeSegmentation;

/// Offset in grapheme clusters. `\r\n` is one, so that even ASCII bytes and clusters can differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct GraphemeIdx(u32);
index!(GraphemeIdx);

/// Conversion between bytes and grapheme clusters of one text.
///
/// Built in one pass over all clusters, some ten times as slow as [`OffsetIndex`](super::OffsetIndex); a conversion
/// looks at no more than 256 bytes and one cluster. Memory: 8 bytes for each 256 bytes of text, and nothing for ASCII
/// without `\r\n`, where bytes and clusters agree.
pub struct GraphemeIndex<'t> {
    text: &'t str,
    /// Cluster boundaries at least [`STRIDE`] bytes apart, as (bytes, clusters) before them; empty where these agree.
    marks: Vec<(u32, u32)>,
}

impl<'t> GraphemeIndex<'t> {
    /// For a text that fits an [`OffsetIndex`](super::OffsetIndex); positions from 4 GiB on are not found.
    pub fn new(text: &'t str) -> Self {
        let mut marks = Vec::new();
        if !text.is_ascii() || text.contains("\r\n") {
            let mut next = 0;
            for ((at, _), clusters) in text.grapheme_indices(true).zip(0..) {
                if at >= next {
                    marks.push((ByteIdx::new(at).get() as u32, clusters));
                    next = at + STRIDE;
                }
            }
        }
        Self { text, marks }
    }

    /// `None` when `at` is outside the text or inside a cluster.
    pub fn byte_to_grapheme(&self, at: ByteIdx) -> Option<GraphemeIdx> {
        self.find(at.get() as u32, |&(bytes, _)| bytes).map(|(_, clusters)| GraphemeIdx(clusters))
    }

    /// `None` when `at` is outside the text.
    pub fn grapheme_to_byte(&self, at: GraphemeIdx) -> Option<ByteIdx> {
        self.find(at.0, |&(_, clusters)| clusters).map(|(bytes, _)| ByteIdx::new(bytes as usize))
    }

    /// The boundary before which `wanted` bytes or clusters lie.
    fn find(&self, wanted: u32, unit: impl Fn(&(u32, u32)) -> u32) -> Option<(u32, u32)> {
        if self.marks.is_empty() {
            return (wanted as usize <= self.text.len()).then_some((wanted, wanted));
        }
        let mark = self.marks.partition_point(|m| unit(m) <= wanted).checked_sub(1)?;
        let mut at = *self.marks.get(mark)?;
        let mut rest = self.text.get(at.0 as usize..)?.graphemes(true);
        while unit(&at) < wanted {
            at = (at.0 + rest.next()?.len() as u32, at.1 + 1);
        }
        (unit(&at) == wanted).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{CharIdx, OffsetIndex, Utf16Idx};
    use proptest::prelude::*;

    #[test]
    fn a_line_end_is_one_cluster_and_nothing_is_inside_it() {
        let index = GraphemeIndex::new("a\r\nb");
        let clusters: Vec<_> =
            (0..6).map(|at| index.byte_to_grapheme(ByteIdx::new(at)).map(GraphemeIdx::get)).collect();
        assert_eq!(clusters, [Some(0), Some(1), None, Some(2), Some(3), None]);
        assert_eq!(index.grapheme_to_byte(GraphemeIdx::new(2)), Some(ByteIdx::new(3)));
        assert_eq!(index.grapheme_to_byte(GraphemeIdx::new(4)), None);
    }

    #[test]
    fn a_cluster_longer_than_a_stride_is_one() {
        let text = format!("a{}b", "\u{301}".repeat(400));
        let index = GraphemeIndex::new(&text);
        assert_eq!(index.byte_to_grapheme(ByteIdx::new(801)), Some(GraphemeIdx::new(1)));
        assert_eq!(index.byte_to_grapheme(ByteIdx::new(401)), None);
    }

    /// What breaks other tools: clusters of many code points, of all kinds.
    fn nasty() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("👩\u{200d}👩\u{200d}👧"),
            Just("👍🏽"),
            Just("🇩🇰"),
            Just("🇩"),
            Just("e\u{301}\u{323}"),
            Just("\r\n"),
            Just("\n"),
            Just("\r"),
            Just("\u{1100}\u{1161}\u{11a8}"),
            Just("각"),
            Just("น้ำ"),
            Just("กำ"),
            Just("क्षि"),
            Just("त्र"),
            Just("\u{200b}"),
            Just("\u{200d}"),
            Just("\u{feff}"),
            Just("\u{ad}"),
            Just("\u{fe0f}"),
            Just("\u{600}"),
            Just("plain words "),
            Just("北京"),
            Just("\u{301}"),
            Just("💩"),
        ];
        prop_oneof![
            prop::collection::vec(piece, 0..150).prop_map(|pieces| pieces.concat()),
            "\\PC{0,200}",
            "[a\\r\\n]{0,600}",
        ]
    }

    proptest! {
        #[test]
        fn all_four_units_agree_with_a_naive_count(text in nasty()) {
            let (offsets, graphemes) = (OffsetIndex::new(&text).unwrap(), GraphemeIndex::new(&text));
            let boundaries: Vec<usize> =
                text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            for byte in 0..=text.len() + 1 {
                let at = ByteIdx::new(byte);
                let before = text.get(..byte);
                let chars = before.map(|b| CharIdx::new(b.chars().count()));
                let units = before.map(|b| Utf16Idx::new(b.encode_utf16().count()));
                let clusters = boundaries.binary_search(&byte).ok().map(GraphemeIdx::new);
                prop_assert_eq!(offsets.byte_to_char(at), chars);
                prop_assert_eq!(offsets.byte_to_utf16(at), units);
                prop_assert_eq!(graphemes.byte_to_grapheme(at), clusters);
                prop_assert!(chars.is_none_or(|c| offsets.char_to_byte(c) == Some(at)));
                prop_assert!(units.is_none_or(|u| offsets.utf16_to_byte(u) == Some(at)));
                prop_assert!(clusters.is_none_or(|c| graphemes.grapheme_to_byte(c) == Some(at)));
            }
            prop_assert_eq!(graphemes.grapheme_to_byte(GraphemeIdx::new(boundaries.len())), None);
        }
    }
}
