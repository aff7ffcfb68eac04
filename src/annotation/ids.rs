//! What documents, sentences, mentions and models are told apart by.

use super::limits::MODEL_IDS;
use std::fmt;

/// Identity of a document in its project: the documents are numbered from 0 in the order in which they came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DocumentId(pub u32);

/// Identity of a sentence in its project, never given to another one. Ids don't tell the order of the text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SentenceId(pub u32);

/// Identity of a mention in its project, never given to another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MentionId(pub u64);

/// Number of a model snapshot in its project, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModelId(pub u32);

impl ModelId {
    /// Stands for suggestions that came with a file, from no model of the project.
    pub const FROM_FILE: Self = Self(0);

    /// Stands for names that an encoder finds without having learned from the project.
    pub const NAMES: Self = Self(MODEL_IDS - 1);
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NAMES { f.write_str("names") } else { self.0.fmt(f) }
    }
}
