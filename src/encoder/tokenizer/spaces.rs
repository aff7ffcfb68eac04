//! Which words a space is marked before.
//!
//! SentencePiece writes a space as `▁` and takes it for a part of the word behind it. Words come here one by one, and an
//! encoder has read running text: in "Aarhus, Odense" it saw `▁Aarhus` `,` `▁Odense`. A mark before each word would have it
//! read `▁` `,` and, of scripts without blanks, `▁` `日本`: a subword that says nothing where the word begins.

use crate::text::is_unspaced;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use tokenizers::pre_tokenizers::metaspace::PrependScheme;
use tokenizers::{NormalizedString, PreTokenizedString, PreTokenizer, PreTokenizerWrapper};

/// SentencePiece's mark of a space.
pub(in super::super) const SPACE: char = '\u{2581}';

/// Which words are told to stand after a space. A model keeps to what it learned with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in super::super) enum Spaces {
    /// All, as in models of the first programs.
    #[serde(rename = "before every word")]
    BeforeEveryWord,
    /// Those that running text mostly has a space before; and no word begins with a mark and nothing else.
    #[serde(rename = "as in text")]
    AsInText,
}

/// How words are cut before the model of a tokenizer takes the parts apart.
#[derive(Clone, Debug)]
pub(in super::super) struct Splitter {
    splits: PreTokenizerWrapper,
    /// The mark of a space, which words don't get that no space stands before.
    left_out: Option<char>,
}

impl Splitter {
    /// As a tokenizer's file has it.
    pub(super) fn as_written(splits: PreTokenizerWrapper) -> Self {
        Self { splits, left_out: None }
    }

    /// For words that come one by one: each stands after a space, or most do.
    pub(in super::super) fn for_words(self, spaces: Spaces) -> Self {
        let left_out = self.mark().filter(|_| spaces == Spaces::AsInText);
        Self { splits: after_a_space(self.splits), left_out }
    }

    /// What stands for a space, where it marks spaces.
    pub(in super::super) fn mark(&self) -> Option<char> {
        mark_of(&self.splits)
    }
}

impl PreTokenizer for Splitter {
    fn pre_tokenize(&self, word: &mut PreTokenizedString) -> tokenizers::Result<()> {
        let Some(mark) = self.left_out else { return self.splits.pre_tokenize(word) };
        let joined = Cell::new(false);
        // As it was written: normalizers make a `(` of a full-width one.
        in_first_part(word, |part| joined.set(stands_after_no_space(part.get_original())))?;
        self.splits.pre_tokenize(word)?;
        if joined.get() {
            in_first_part(word, |part| leave_out_first(part, mark))?;
        }
        Ok(())
    }
}

/// Does something with the part of a word that it begins with.
fn in_first_part(word: &mut PreTokenizedString, work: impl Fn(&mut NormalizedString)) -> tokenizers::Result<()> {
    let is_first = Cell::new(true);
    word.normalize(|part| {
        if is_first.replace(false) {
            work(part);
        }
        Ok(())
    })
}

/// Takes a mark away from the beginning of a part that is more than it.
fn leave_out_first(part: &mut NormalizedString, mark: char) {
    if part.get().strip_prefix(mark).is_some_and(|rest| !rest.is_empty()) {
        let is_first = Cell::new(true);
        part.filter(|_| !is_first.replace(false));
    }
}

fn mark_of(splits: &PreTokenizerWrapper) -> Option<char> {
    match splits {
        PreTokenizerWrapper::Metaspace(spaces) => Some(spaces.get_replacement()),
        PreTokenizerWrapper::Sequence(steps) => steps.as_ref().iter().find_map(mark_of),
        _ => None,
    }
}

/// Each word is one after a space: tokenizers that mark the space must see it.
fn after_a_space(splits: PreTokenizerWrapper) -> PreTokenizerWrapper {
    match splits {
        PreTokenizerWrapper::ByteLevel(bytes) => bytes.add_prefix_space(true).into(),
        PreTokenizerWrapper::Metaspace(mut spaces) => {
            spaces.set_prepend_scheme(PrependScheme::Always);
            spaces.into()
        }
        PreTokenizerWrapper::Sequence(mut steps) => {
            // Steps after one that takes words apart see pieces.
            let whole = |step: &&mut PreTokenizerWrapper| !matches!(step, PreTokenizerWrapper::WhitespaceSplit(_));
            if let Some(step) = steps.as_mut().iter_mut().find(whole) {
                *step = after_a_space(step.clone());
            }
            steps.into()
        }
        other => other,
    }
}

/// Whether running text mostly has no space before a word: it is punctuation that closes, of a script without blanks, or an
/// English ending (`'s`, `'ll`). Quotation marks are not counted: what closes in one language opens in another.
fn stands_after_no_space(word: &str) -> bool {
    let Some(first) = word.chars().next() else { return false };
    is_unspaced(first) || is_of_east_asian_punctuation(first) || CLOSING.contains(first) || is_ending(word)
}

/// Of Latin, Greek, Armenian, Hebrew, Arabic, Indic, Thai, Ethiopic, Tibetan, Khmer and Burmese texts.
const CLOSING: &str = ",.;:!?%)]}\u{2026}\u{b7}\u{37e}\u{387}\u{589}\u{5c3}\u{60c}\u{61b}\u{61f}\u{66a}\u{6d4}\u{964}\u{965}\
                       \u{e2f}\u{e46}\u{f0b}\u{f0d}\u{104a}\u{104b}\u{1361}\u{1362}\u{1363}\u{1364}\u{17d4}\u{17d5}";

/// Brackets and quotes that open stand after no space either.
fn is_of_east_asian_punctuation(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{301f}' | '\u{30fb}' | '\u{fe10}'..='\u{fe19}'
        | '\u{fe30}'..='\u{fe6b}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff40}'
        | '\u{ff5b}'..='\u{ff65}')
}

/// An apostrophe and one letter or two.
fn is_ending(word: &str) -> bool {
    let letters = word.strip_prefix(['\'', '\u{2019}']).unwrap_or("");
    (1..=2).contains(&letters.chars().count()) && letters.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_no_space_stands_before() {
        for joined in [
            ",",
            "...",
            "!?",
            ")",
            "'s",
            "\u{2019}ll",
            "\u{65e5}\u{672c}",
            "\u{e44}\u{e17}\u{e22}",
            "\u{3002}",
            "\u{ff08}",
            "\u{30c8}",
            "\u{060c}",
            "\u{964}",
            "%",
        ] {
            assert!(stands_after_no_space(joined), "{joined}");
        }
        for spaced in [
            "",
            "Aarhus",
            "(",
            "\u{ab}",
            "\u{bb}",
            "\u{201c}",
            "\"",
            "'",
            "'tis",
            "-",
            "/",
            "7",
            "\u{d55c}\u{ad6d}",
            "\u{e51}",
            "\u{41c}",
            "\u{5e9}",
            "\u{1f980}",
            "'7",
        ] {
            assert!(!stands_after_no_space(spaced), "{spaced}");
        }
    }
}
