//! What a writer wrote and what it could not represent.

use std::fmt;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Receipt {
    pub documents: usize,
    pub sentences: usize,
    /// Written, in whole or in part.
    pub mentions: usize,
    /// Empty when reading the file back gives the same.
    pub losses: Vec<Loss>,
}

/// One thing that the format has no place for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    pub document: String,
    /// Of the document, from 1.
    pub sentence: usize,
    /// The words that it is about.
    pub words: String,
    /// Of the mention; none when the words themselves are changed.
    pub label: Option<String>,
    pub kind: LossKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LossKind {
    /// The format holds no mentions.
    Mention,
    /// A line break inside the sentence was written as a blank.
    LineBreak,
}

impl LossKind {
    pub fn meaning(self) -> &'static str {
        match self {
            LossKind::Mention => "the format holds no mentions",
            LossKind::LineBreak => "a line break in the sentence became a blank",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, sentence, words, label, kind } = self;
        write!(f, "{document}, sentence {sentence}: {words:?}")?;
        if let Some(label) = label {
            write!(f, " ({label})")?;
        }
        write!(f, ": {}", kind.meaning())
    }
}
