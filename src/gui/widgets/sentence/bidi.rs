//! In which direction the words of a sentence run (bidirectional text).

use super::content::Content;
use unicode_bidi::{BidiInfo, Level};

/// Embedding levels of the words and of the white space before them.
pub(super) struct Levels {
    words: Vec<Level>,
    gaps: Vec<Level>,
}

impl Levels {
    pub(super) fn of(content: &Content) -> Self {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(content.words.len());
        for word in &content.words {
            if word.gap_before && !text.is_empty() {
                text.push(' ');
            }
            starts.push(text.len());
            text.push_str(&word.text);
        }
        if text.is_ascii() {
            return Self { words: Vec::new(), gaps: Vec::new() };
        }
        let base = if content.rtl { Level::rtl() } else { Level::ltr() };
        let bidi = BidiInfo::new(&text, Some(base));
        let level = |at: usize| bidi.levels.get(at).copied().unwrap_or(Level::ltr());
        Self {
            words: starts.iter().map(|&at| level(at)).collect(),
            gaps: starts.iter().map(|&at| level(at.saturating_sub(1))).collect(),
        }
    }

    pub(super) fn of_token(&self, token: usize) -> Level {
        self.words.get(token).copied().unwrap_or(Level::ltr())
    }

    pub(super) fn gap_before(&self, token: usize) -> Level {
        self.gaps.get(token).copied().unwrap_or(Level::ltr())
    }
}
