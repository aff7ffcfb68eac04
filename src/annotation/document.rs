//! Raw texts, and which sentences are parts of them.

use super::{DocumentId, Kept, NewSentence, SentenceId};
use std::sync::Arc;

/// Documents in a list, told as runs of ids that follow each other: an import can bring 50,000 of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocumentIds {
    /// First and last.
    runs: Vec<(u32, u32)>,
}

impl DocumentIds {
    /// From the first and the last id of each run. `None` for a run that ends before it begins.
    pub fn from_runs(runs: Vec<(u32, u32)>) -> Option<Self> {
        runs.iter().all(|(first, last)| first <= last).then_some(Self { runs })
    }

    /// The first and the last id of each run.
    pub fn runs(&self) -> &[(u32, u32)] {
        &self.runs
    }

    pub fn iter(&self) -> impl Iterator<Item = DocumentId> + '_ {
        self.runs.iter().flat_map(|(first, last)| *first..=*last).map(DocumentId)
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// A document that is in the list twice.
    pub(super) fn first_twice(&self) -> Option<DocumentId> {
        let mut runs = self.runs.clone();
        runs.sort_unstable();
        let overlap = runs.windows(2).find(|pair| matches!(pair, [(_, last), (first, _)] if first <= last));
        overlap.and_then(|pair| pair.last()).map(|(first, _)| DocumentId(*first))
    }
}

impl FromIterator<DocumentId> for DocumentIds {
    fn from_iter<I: IntoIterator<Item = DocumentId>>(ids: I) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for id in ids {
            match runs.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(id.0) => *last = id.0,
                _ => runs.push((id.0, id.0)),
            }
        }
        Self { runs }
    }
}

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
