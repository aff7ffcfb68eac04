//! Raw text and the units in which it is counted: bytes, code points, UTF-16, grapheme clusters,
//! tokens.
//!
//! # Invariants
//! - A document's raw text is never changed, not even its line ends, byte order mark or normalisation form. What may not
//!   be in one is refused at the door ([`check_text`]).
//! - Positions of different units are different types; they convert only through the text that they index
//!   ([`OffsetIndex`], [`GraphemeIndex`]).
//! - Tokens are found by Unicode rules and hold no white space. What lies between tokens belongs to no token.
//! - A language is a guess by [`Language::of_texts`]; nothing is cut or kept by it.
//!
//! Deliberately absent: subwords. They belong to an encoder and are never shown.

mod abbreviations;
mod allowed;
mod edges;
mod graphemes;
mod inside;
mod language;
mod offsets;
mod scripts;
mod search;
mod sentences;
mod tokens;
mod web;
mod wrapping;

pub use allowed::{ForbiddenCharacter, check_text};
pub use edges::cuts_word;
pub use graphemes::{GraphemeIdx, GraphemeIndex};
pub use language::Language;
pub use offsets::{ByteIdx, CharIdx, OffsetIndex, TextRange, TextTooLong, Utf16Idx};
pub use scripts::is_unspaced;
pub use search::search_terms;
pub use sentences::{SentenceSplit, split_sentences};
pub use tokens::{Tokens, character_ends, tokenize, tokenize_blanks};
pub use wrapping::ends_sentence;
