//! What is where in a project: its documents as a person sees them, also those that are set aside, and sentences by
//! their words.

use super::Project;
use crate::annotation::{DocumentId, Presence, SentenceId, Status};
use crate::session::{SessionError, Task};
use std::collections::HashMap;

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
    /// All documents but the deleted ones, in their order. Linear in the number of sentences: keep it for as long as
    /// the revision stays.
    pub fn documents(&self) -> Vec<DocumentRow> {
        let row = |sentences: &[SentenceId], id, presence| DocumentRow {
            id,
            excluded: presence == Presence::Excluded,
            sentences: 0,
            complete: 0,
            mentions: 0,
            first: sentences.first().copied().filter(|_| presence == Presence::There),
        };
        // Indexed by document id.
        let mut rows: Vec<_> =
            self.corpus.all_documents().iter().map(|d| row(&d.sentences, d.id, d.presence)).collect();
        for sentence in self.corpus.all_sentences() {
            if let Some(row) = rows.get_mut(sentence.document().0 as usize) {
                row.sentences += 1;
                row.complete += usize::from(sentence.status() == Status::Complete);
                row.mentions += sentence.mentions().len();
            }
        }
        rows.retain(|row| self.corpus.document(row.id).is_some_and(|d| d.presence != Presence::Removed));
        rows
    }

    /// The documents of these names, in the order of the names. Of several that are called so `NAME#2` is the second,
    /// as [`Project::documents`] lists them.
    ///
    /// # Errors
    /// A name that no document has, or that several have.
    pub fn documents_named(&self, names: &[String]) -> Result<Vec<DocumentId>, SessionError> {
        let mut ids: HashMap<&str, Vec<DocumentId>> = HashMap::new();
        for document in self.corpus.all_documents().iter().filter(|d| d.presence != Presence::Removed) {
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
        let (open, query) = (self.connect_again(), query.to_owned());
        // With a connection of its own it waits for nobody who writes.
        Task::spawn("nestling-search", self.waker.as_waker(), move || Ok(open()?.find(&query)?))
    }

    /// What a search has found that is still there, in text order.
    pub fn found(&self, mut sentences: Vec<SentenceId>) -> Vec<SentenceId> {
        sentences.retain(|id| self.corpus.place(*id).is_some());
        sentences.sort_by_key(|id| self.corpus.place(*id));
        sentences
    }

    /// Searches and waits: for the command line, not for the window.
    ///
    /// # Errors
    /// Changes that could not be saved, a damaged file.
    pub fn search_now(&self, query: &str) -> Result<Vec<SentenceId>, SessionError> {
        self.flush()?;
        Ok(self.found(self.search(query).wait()??))
    }
}
