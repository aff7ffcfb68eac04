//! What a tokenizer may be at most, and why one is refused.

use crate::wording::{counted, grouped};

/// Of `tokenizer.json` and of each file of a vocabulary; the largest ones published have some forty million.
pub(in crate::encoder) const MOST_BYTES: u64 = 128 << 20;
/// Characters of a word that are looked at. A window has room for as many subwords or fewer.
pub(in crate::encoder) const MOST_CHARS: usize = 2048;
/// Bytes of one subword. The trie of a Unigram model is as deep.
pub(super) const MOST_SUBWORD_BYTES: usize = 512;
/// Normalizers, and likewise pre-tokenizers, one after the other.
pub(super) const MOST_STEPS: usize = 64;
/// Bytes that one character can become in one step, and that one step can put before a word.
pub(super) const MOST_CONTENT_BYTES: usize = 64;

/// Why a tokenizer is refused.
#[derive(Debug, thiserror::Error)]
pub(in crate::encoder) enum Problem {
    #[error("the tokenizer can't be read ({0})")]
    Unreadable(String),
    #[error("{what}: {got}, but at most {most} can be used")]
    TooMuch { what: &'static str, got: usize, most: usize },
    #[error("the pattern {pattern:?} {problem}")]
    Pattern { pattern: String, problem: &'static str },
    #[error("precompiled_charsmap {0}")]
    Charsmap(&'static str),
    #[error("{0}")]
    Model(String),
    #[error(
        "the tokenizer numbers {}, but vocab_size of config.json says {}",
        counted(*numbers, "subword", "subwords"),
        grouped(*vocabulary)
    )]
    Numbers { numbers: usize, vocabulary: usize },
    #[error("the tokenizer fails at what it was given ({0})")]
    Fault(String),
}

impl Problem {
    /// For what a parser or the library says, which quotes the file and must not become as long.
    pub(in crate::encoder) fn unreadable(error: &dyn std::fmt::Display) -> Self {
        const MOST_CHARS: usize = 200;
        let said = error.to_string();
        let shown = if said.chars().count() > MOST_CHARS {
            said.chars().take(MOST_CHARS).chain(['…']).collect()
        } else {
            said
        };
        Self::Unreadable(shown)
    }

    pub(super) fn too_much(what: &'static str, got: usize, most: usize) -> Result<(), Self> {
        if got > most { Err(Self::TooMuch { what, got, most }) } else { Ok(()) }
    }
}
