//! Raw texts, and which sentences are parts of them.

use super::{Kept, NewSentence, SentenceId};
use std::sync::Arc;

/// Identity of a document in its project: the documents are numbered from 0 in the order in which they came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DocumentId(pub u32);

/// Whether a document takes part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Presence {
    #[default]
    There,
    /// A person has set it aside, and can take it in again at any time.
    Excluded,
    /// Gone, until undo brings it back as it was.
    Removed,
}

impl Presence {
    /// The word for it in project files: never changed.
    pub fn id(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Excluded => "excluded",
            Self::Removed => "removed",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        [Self::There, Self::Excluded, Self::Removed].into_iter().find(|p| p.id() == id)
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    pub id: DocumentId,
    pub name: String,
    pub text: Arc<str>,
    pub kept: Kept,
    /// In text order.
    pub sentences: Vec<SentenceId>,
    /// Its sentences are in the corpus only while it is there.
    pub presence: Presence,
}

impl Document {
    pub fn is_there(&self) -> bool {
        self.presence == Presence::There
    }
}

/// A document on its way into a corpus.
#[derive(Clone, Debug)]
pub struct NewDocument {
    pub name: String,
    pub text: Arc<str>,
    pub kept: Kept,
    pub sentences: Vec<NewSentence>,
}

/// A document as a project file has it.
#[derive(Clone, Debug)]
pub struct StoredDocument {
    pub name: String,
    pub text: Arc<str>,
    pub kept: Kept,
    pub presence: Presence,
    /// In text order.
    pub sentences: Vec<(SentenceId, NewSentence)>,
}
