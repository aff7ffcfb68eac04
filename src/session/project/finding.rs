//! What is where in a project: its documents as a person sees them, also those that are set aside, and sentences by
//! their words.

use super::Project;
use super::driver::Driver;
use crate::annotation::{Corpus, Document, DocumentId, DocumentTally, Presence, SentenceId};
use crate::session::{SessionError, Task};
use std::collections::{HashMap, HashSet};

/// What a document holds, whether it is excluded or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DocumentRow {
    pub id: DocumentId,
    pub excluded: bool,
    pub sentences: usize,
    pub complete: usize,
    pub mentions: usize,
    /// Where to go to; `None` where nothing can be shown.
    pub first: Option<SentenceId>,
}

impl Project {
    /// All documents but the deleted ones, in their order. Linear in the documents.
    pub fn documents(&self) -> Vec<DocumentRow> {
        let known = self.corpus.all_documents().values().filter(|document| document.presence != Presence::Removed);
        let row = |document: &Document| {
            let DocumentTally { complete, mentions } = self.corpus.tally(document.id);
            DocumentRow {
                id: document.id,
                excluded: document.presence == Presence::Excluded,
                sentences: document.sentences.len(),
                complete,
                mentions,
                first: document.sentences.first().copied().filter(|_| document.is_there()),
            }
        };
        known.map(row).collect()
    }

    /// Looks, on a thread of its own, for the documents whose names hold `part`, whatever its case; also for deleted ones,
    /// which undo can bring back.
    pub fn find_documents(&self, part: &str) -> Task<HashSet<DocumentId>> {
        let (corpus, part) = (self.snapshot_of_corpus(), part.to_lowercase());
        Task::spawn("nestling-names", self.waker.as_waker(), move || {
            let found = corpus.all_documents().values().filter(|d| d.name.to_lowercase().contains(&part));
            found.map(|document| document.id).collect()
        })
    }

    /// Sorts all documents by their names, whatever their case, on a thread of its own; also deleted ones.
    pub fn documents_by_name(&self) -> Task<Vec<DocumentId>> {
        let corpus = self.snapshot_of_corpus();
        Task::spawn("nestling-names", self.waker.as_waker(), move || {
            let mut all: Vec<&Document> = corpus.all_documents().values().collect();
            all.sort_by_cached_key(|document| document.name.to_lowercase());
            all.into_iter().map(|document| document.id).collect()
        })
    }

    /// The documents of these names, in the order of the names. Of several that are called so `NAME#2` is the second,
    /// as [`Project::documents`] lists them.
    ///
    /// # Errors
    /// A name that no document has, or that several have.
    pub fn documents_named(&self, names: &[String]) -> Result<Vec<DocumentId>, SessionError> {
        let mut ids: HashMap<&str, Vec<DocumentId>> = HashMap::new();
        for document in self.corpus.all_documents().values().filter(|d| d.presence != Presence::Removed) {
            ids.entry(&document.name).or_default().push(document.id);
        }
        let numbered = |name: &str| {
            let (name, number) = name.rsplit_once('#')?;
            ids.get(name)?.get(number.parse::<usize>().ok()?.checked_sub(1)?)
        };
        let find = |name: &String| match ids.get(name.as_str()).map(Vec::as_slice) {
            Some([one]) => Ok(*one),
            Some(several) => Err(SessionError::SeveralDocumentsNamed { name: name.clone(), count: several.len() }),
            None => numbered(name).copied().ok_or_else(|| SessionError::NoDocumentNamed { name: name.clone() }),
        };
        names.iter().map(find).collect()
    }

    /// Searches on a thread of its own; hand the result to [`Project::found`].
    ///
    /// Finds sentences that hold the words of `query` in a row, the last one as the beginning of a word. Case,
    /// diacritics and punctuation don't matter; of Chinese, Japanese and Thai any piece is found.
    pub fn search(&self, query: &str) -> Task<Result<Vec<SentenceId>, SessionError>> {
        let (open, query, corpus) = (self.connect_again(), query.to_owned(), self.snapshot_of_corpus());
        // With a connection of its own it waits for nobody who writes.
        Task::spawn("nestling-search", self.waker.as_waker(), move || Ok(in_text_order(&corpus, open()?.find(&query)?)))
    }

    /// What a search has found that is still there, in text order. Quick, as long as that is about what it was.
    pub fn found(&self, sentences: Vec<SentenceId>) -> Vec<SentenceId> {
        in_text_order(&self.corpus, sentences)
    }
}

impl Driver {
    /// Searches what is on disk, after all that waits was written.
    ///
    /// # Errors
    /// Changes that could not be saved, a damaged file.
    pub fn search_now(&self, query: &str) -> Result<Vec<SentenceId>, SessionError> {
        self.flush()?;
        Ok(self.found(self.search(query).wait()??))
    }
}

/// Those that are there.
fn in_text_order(corpus: &Corpus, mut sentences: Vec<SentenceId>) -> Vec<SentenceId> {
    sentences.retain(|id| corpus.place(*id).is_some());
    sentences.sort_by_key(|id| corpus.place(*id));
    sentences
}
