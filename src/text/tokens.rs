//! Words as an annotator expects them, by Unicode word boundaries (UAX #29) with four changes:
//!
//! - a possessive `'s` is a token of its own, so that "Anna" can be marked in "Anna's";
//! - the dot of a known abbreviation or a single initial stays with it (`Dr.`, `J.`);
//! - `_` parts words, as in gene and file names;
//! - a piece without anything visible (a zero-width space, a byte order mark, a control character) is no token.
//!
//! Chinese, Japanese and Thai come as single characters with their marks, as UAX #29 has it, so that any span of them
//! can be selected.

use super::{ByteIdx, TextRange};
use unicode_segmentation::UnicodeSegmentation;

/// Abbreviations that end in a dot which ends no sentence, in lower case, without the dot.
const ABBREVIATIONS: &[&str] = &[
    "al", "approx", "capt", "cf", "co", "col", "corp", "dept", "dr", "e.g", "etc", "fig", "figs", "gen", "gov", "hon",
    "i.e", "inc", "jr", "lt", "ltd", "maj", "mr", "mrs", "ms", "mt", "prof", "rep", "rev", "sen", "sgt", "sr", "st",
    "vol", "vs",
];

/// The tokens of `text`: non-empty, ascending, disjoint, on character boundaries.
///
/// Linear in the length of the text.
pub fn tokenize(text: &str) -> Vec<TextRange> {
    let mut tokens: Vec<TextRange> = Vec::with_capacity(text.len() / 5);
    for (start, piece) in text.split_word_bound_indices() {
        if !piece.chars().any(is_visible) {
            continue;
        }
        if piece == "." && takes_dot(text, tokens.last().copied(), start) {
            if let Some(last) = tokens.last_mut() {
                let grown = TextRange::new(last.start(), ByteIdx::new(start + 1));
                *last = grown.unwrap_or(*last);
            }
            continue;
        }
        push_parts(&mut tokens, text, start, piece);
    }
    tokens
}

/// What is between blanks, for a text that was tokenised before (`He 's here .`): as [`tokenize`], but split at Unicode
/// white space only. A piece without anything visible is no token here either.
pub fn tokenize_blanks(text: &str) -> Vec<TextRange> {
    let mut start = 0;
    let mut tokens = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| c.is_whitespace()).chain([(text.len(), ' ')]) {
        let piece = text.get(start..at).unwrap_or_default();
        if piece.chars().any(is_visible) {
            tokens.extend(TextRange::in_text(text, start..at));
        }
        start = at + c.len_utf8();
    }
    tokens
}

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tokens {
    /// Words and punctuation, see [`tokenize`].
    #[default]
    Words,
    /// Whatever stands between blanks, see [`tokenize_blanks`].
    Blanks,
}

impl Tokens {
    pub fn of(self, text: &str) -> Vec<TextRange> {
        match self {
            Self::Words => tokenize(text),
            Self::Blanks => tokenize_blanks(text),
        }
    }
}

/// Where the characters end that people see (UAX #29 grapheme clusters), in bytes; the last one is the text's end.
pub fn character_ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.grapheme_indices(true).map(|(at, character)| at + character.len())
}

/// True when `token` (its dot included) is an abbreviation or a single initial.
pub(super) fn is_abbreviation(token: &str) -> bool {
    token.strip_suffix('.').is_some_and(is_abbreviated)
}

fn is_abbreviated(word: &str) -> bool {
    let mut chars = word.chars();
    let initial = chars.next().is_some_and(|c| c.is_alphabetic() && c.is_uppercase()) && chars.next().is_none();
    initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

fn takes_dot(text: &str, last: Option<TextRange>, dot: usize) -> bool {
    last.is_some_and(|last| last.end().get() == dot && is_abbreviated(last.of(text)))
}

fn is_visible(c: char) -> bool {
    let invisible = c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    !invisible
}

/// Adds one piece between word boundaries, parted at `_` and before a possessive `'s`.
fn push_parts(tokens: &mut Vec<TextRange>, text: &str, start: usize, piece: &str) {
    let body = piece.strip_suffix(['s', 'S']).and_then(|p| p.strip_suffix(['\'', '’'])).filter(|p| !p.is_empty());
    let body_len = body.map_or(piece.len(), str::len);
    let mut from = 0;
    let cuts = piece.char_indices().filter(|&(at, c)| c == '_' && at < body_len);
    let edges = cuts.flat_map(|(at, c)| [at, at + c.len_utf8()]).chain([body_len, piece.len()]);
    for to in edges {
        tokens.extend(TextRange::in_text(text, start + from..start + to));
        from = to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(text: &str, want: Expect) {
        want.assert_eq(&tokenize(text).iter().map(|t| t.of(text)).collect::<Vec<_>>().join("|"));
    }

    #[test]
    fn splits_as_annotators_expect() {
        check(
            "Dr. Anna Berg's IL-2 cost $3.5, don't you?",
            expect!["Dr.|Anna|Berg|'s|IL|-|2|cost|$|3.5|,|don't|you|?"],
        );
        check("Mr.Bean met J. K. Rowling.", expect!["Mr.Bean|met|J.|K.|Rowling|."]);
        check("北京大学在北京", expect!["北|京|大|学|在|北|京"]);
        check("AHU-G1 NF_kB\u{200b}x", expect!["AHU|-|G1|NF|_|kB|x"]);
        check("\u{feff}Text: Berlin,  Germany.\r\n", expect!["Text|:|Berlin|,|Germany|."]);
        check("e\u{301}te\u{301} 💩This", expect!["e\u{301}te\u{301}|💩|This"]);
    }

    #[test]
    fn blanks_part_what_was_tokenised_before() {
        let text = "He 's\u{a0}here\u{3000}. \u{200b} Mr.Bean\r\n北京 ";
        let tokens: Vec<_> = tokenize_blanks(text).iter().map(|t| t.of(text)).collect();
        assert_eq!(tokens, ["He", "'s", "here", ".", "Mr.Bean", "北京"]);
    }

    #[test]
    fn a_letter_keeps_its_marks() {
        let ends: Vec<_> = character_ends("e\u{301}a👩\u{200d}👩").collect();
        assert_eq!(ends, [3, 4, 15]);
    }

    proptest! {
        #[test]
        fn tokens_ascend_and_leave_out_only_what_is_invisible(text in "(\\PC|[ \\r\\n\\t_.'s\u{200b}]){0,80}") {
            let tokens = tokenize(&text);
            let mut at = 0;
            for token in &tokens {
                prop_assert!(token.start().get() >= at && !token.of(&text).is_empty());
                prop_assert!(!text[at..token.start().get()].chars().any(is_visible));
                at = token.end().get();
            }
            prop_assert!(!text[at..].chars().any(is_visible));
        }
    }
}
