//! Raw texts, and which sentences are parts of them.

use super::{Kept, NewSentence, SentenceId};
use std::sync::Arc;

/// Identity of a document in its project: the documents are numbered from 0 in the order in which they came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DocumentId(pub u32);

#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    pub id: DocumentId,
    pub name: String,
    pub text: Arc<str>,
    pub kept: Kept,
    /// In text order.
    pub sentences: Vec<SentenceId>,
    /// It and its sentences are out of the corpus, until undo brings them back.
    pub removed: bool,
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
    pub removed: bool,
    /// In text order.
    pub sentences: Vec<(SentenceId, NewSentence)>,
}
