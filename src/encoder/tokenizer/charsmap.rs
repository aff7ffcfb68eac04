//! SentencePiece's table of what characters become (`precompiled_charsmap`): a trie in two arrays in one, and texts that
//! its leaves point at, each up to a NUL.
//!
//! The library allocates by the length that the table gives itself and follows every offset in it. Here the trie is walked
//! once through all that can be reached.

use super::problem::{MOST_CONTENT_BYTES, Problem};
use tokenizers::normalizers::Precompiled;

/// Those of published encoders have 240 to 320 thousand.
const MOST_BYTES: usize = 4 << 20;
/// The greatest byte of UTF-8.
const LAST_BYTE: usize = 0xF4;

/// Reads a table from its base64.
pub(super) fn read(base64: &str) -> Result<Precompiled, Problem> {
    // Four characters for three bytes.
    Problem::too_much("bytes of precompiled_charsmap", base64.len() / 4 * 3, MOST_BYTES)?;
    let bytes = decode(base64).ok_or(Problem::Charsmap("is not base64"))?;
    check(&bytes).map_err(Problem::Charsmap)?;
    Precompiled::from(&bytes).map_err(|e| Problem::unreadable(&e))
}

fn check(bytes: &[u8]) -> Result<(), &'static str> {
    let (size, rest) = bytes.split_first_chunk::<4>().ok_or("is cut off")?;
    let size = u32::from_le_bytes(*size) as usize;
    if size == 0 || !size.is_multiple_of(4) {
        return Err("has a table of a length that can't be");
    }
    let (table, texts) = rest.split_at_checked(size).ok_or("is shorter than it says")?;
    let texts = std::str::from_utf8(texts).map_err(|_| "has texts that are not UTF-8")?;
    let (units, _) = table.as_chunks::<4>();
    let units: Vec<u32> = units.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
    let unit = |at: usize| units.get(at).copied().ok_or("leads out of its table");
    let mut seen = vec![false; units.len()];
    let mut waiting = vec![offset(unit(0)?)];
    while let Some(base) = waiting.pop() {
        // A place beyond the table has no unit of its own, but those beside it may be inside.
        match seen.get_mut(base) {
            Some(seen) if *seen => continue,
            Some(seen) => *seen = true,
            None => return Err("leads out of its table"),
        }
        for byte in 1..=LAST_BYTE {
            let at = base ^ byte;
            let child = unit(at)?;
            if label(child) != byte as u32 {
                continue;
            }
            let below = at ^ offset(child);
            if has_leaf(child) {
                let from = (unit(below)? & 0x7fff_ffff) as usize;
                let text = texts.get(from..).ok_or("points at a text that isn't there")?;
                let length = text.find('\0').unwrap_or(text.len());
                if length > MOST_CONTENT_BYTES {
                    return Err("makes more than 64 bytes of a character");
                }
            }
            waiting.push(below);
        }
    }
    Ok(())
}

// The fields of a unit are those of the Darts-clone library.

fn offset(unit: u32) -> usize {
    let unit = unit as usize;
    (unit >> 10) << ((unit & (1 << 9)) >> 6)
}

fn label(unit: u32) -> u32 {
    unit & ((1 << 31) | 0xff)
}

fn has_leaf(unit: u32) -> bool {
    (unit >> 8) & 1 == 1
}

/// Base64 with padding (RFC 4648, section 4).
fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    let data = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for four in data.chunks(4) {
        let mut bits = 0u32;
        for character in four {
            let value = match character {
                b'A'..=b'Z' => character - b'A',
                b'a'..=b'z' => character - b'a' + 26,
                b'0'..=b'9' => character - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = (bits << 6) | u32::from(value);
        }
        bits <<= 6 * (4 - four.len());
        let [_, triple @ ..] = bits.to_be_bytes();
        bytes.extend(&triple[..four.len() - 1]);
    }
    Some(bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::nn::Rng;
    use tokenizers::{NormalizedString, Normalizer};

    pub(in super::super) fn encode(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in bytes.chunks(3) {
            let mut group = [0; 4];
            group[1..=three.len()].copy_from_slice(three);
            let bits = u32::from_be_bytes(group);
            let digit = |i: usize| DIGITS[(bits >> (18 - 6 * i)) as usize & 63] as char;
            text.extend((0..4).map(|i| if i <= three.len() { digit(i) } else { '=' }));
        }
        text
    }

    /// A table that turns some texts into others. Each node of the trie has a block of 256 units for its children.
    pub(in super::super) fn table(rules: &[(&str, &str)]) -> Vec<u8> {
        let mut nodes: Vec<&[u8]> = vec![b""];
        for (from, _) in rules {
            for end in 1..=from.len() {
                if !nodes.contains(&&from.as_bytes()[..end]) {
                    nodes.push(&from.as_bytes()[..end]);
                }
            }
        }
        let base = |node: usize| 256 * (node + 1);
        let (mut units, mut texts) = (vec![0u32; base(nodes.len())], String::new());
        units[0] = (base(0) << 10) as u32;
        for (node, prefix) in nodes.iter().enumerate().skip(1) {
            let (byte, parent) = prefix.split_last().unwrap();
            let parent = nodes.iter().position(|p| p == &parent).unwrap();
            let at = base(parent) ^ usize::from(*byte);
            units[at] = ((at ^ base(node)) << 10) as u32 | u32::from(*byte);
            if let Some((_, to)) = rules.iter().find(|(from, _)| from.as_bytes() == *prefix) {
                units[at] |= 1 << 8;
                units[base(node)] = texts.len() as u32;
                texts.push_str(to);
                texts.push('\0');
            }
        }
        let units: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        [&(units.len() as u32).to_le_bytes(), units.as_slice(), texts.as_bytes()].concat()
    }

    fn replaced(table: &Precompiled, text: &str) -> String {
        let mut string = NormalizedString::from(text);
        table.normalize(&mut string).unwrap();
        string.get().to_owned()
    }

    #[test]
    fn base64_of_any_length_comes_back() {
        // From RFC 4648, section 10.
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for bad in ["A", "AA", "AAA", "A===", "AA=A", "Zg==Zg==", "Z\u{fc}==", "AAAA AAA"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_table_does_what_it_says() {
        let table = read(&encode(&table(&[("\u{fb01}", "fi"), ("ab", "X"), ("\t", " "), ("z", "")]))).unwrap();
        assert_eq!(replaced(&table, "\u{fb01}nd\tabz\u{e4}"), "find\tabz\u{e4}".replace('\t', " ").replace('z', ""));
    }

    #[test]
    fn tables_that_lead_astray_are_refused() {
        let good = table(&[("\u{fb01}", "fi"), ("a", "b")]);
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            read(&encode(&bytes)).unwrap_err().to_string()
        };
        let starts_with = |message: String, want: &str| assert!(message.contains(want), "{message}");
        starts_with(refused(&|b| b.truncate(3)), "is cut off");
        starts_with(refused(&|b| b.truncate(100)), "shorter than it says");
        // The library would allocate eight times four gigabytes for this.
        starts_with(refused(&|b| b[..4].fill(0xfc)), "shorter than it says");
        starts_with(refused(&|b| b[..4].fill(0)), "a length that can't be");
        starts_with(refused(&|b| b[4..8].fill(0x7f)), "out of its table");
        starts_with(refused(&|b| *b.last_mut().unwrap() = 0xff), "not UTF-8");
        let long = table(&[("a", &"b".repeat(65))]);
        starts_with(read(&encode(&long)).unwrap_err().to_string(), "more than 64 bytes");
        starts_with(read("no base64").unwrap_err().to_string(), "not base64");
    }

    #[test]
    fn what_is_let_through_never_panics() {
        let good = table(&[("\u{fb01}", "fi"), ("ab", "X"), ("\t", " "), ("z", ""), ("\u{65e5}", "nichi")]);
        let texts: Vec<String> = (1..0x300u32)
            .chain(0xfb00..0xfb10)
            .chain([0x65e5, 0x10ffff])
            .filter_map(char::from_u32)
            .map(String::from)
            .collect();
        let (mut rng, mut let_through) = (Rng::new(3, "tables"), 0);
        for _ in 0..200 {
            let mut bytes = good.clone();
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(bytes.len());
                bytes[at] = rng.below(256) as u8;
            }
            let Ok(table) = read(&encode(&bytes)) else { continue };
            let_through += 1;
            texts.iter().for_each(|text| drop(replaced(&table, text)));
        }
        assert!((20..200).contains(&let_through), "{let_through}");
    }
}
