//! The documents of a project as a person sees them: those that are there, and those that are set aside.

use crate::annotation::{DocumentId, Presence, SentenceId, Status};
use crate::session::SessionError;
use crate::session::project::Project;
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
}
