//! An import: new labels and documents that come in one transaction, all or nothing.
//!
//! ```text
//! let mut after = corpus.clone();                        // what it has is shared, not copied
//! …InsertLabel edits and add_document on `after`…        // the corpus checks them
//! let after = Arc::new(after);
//! writer.import(Import::between(&corpus, after.clone(), …))  // on disk, or nowhere
//! corpus = after;                                        // only then in memory
//! ```
//!
//! So memory and disk can't end up different: the rows are made from the very documents that the corpus took.

use super::row_error::RowError;
use super::stamp::Stamp;
use super::watch::Watch;
use super::{json, rows};
use crate::annotation::{
    Corpus, Document, DocumentIds, Edit, Label, Presence, Sentence, SentenceId, SentenceSuggestions, Transaction,
};
use rusqlite::{Connection, params};
use std::collections::HashMap;
use std::sync::Arc;

/// What was added to a corpus, on its way to the file.
#[derive(Clone, Debug)]
pub struct Import {
    labels: Vec<(usize, Label)>,
    after: Arc<Corpus>,
    /// What was there before: so many documents, and the sentences before this one.
    known_documents: usize,
    first_sentence: SentenceId,
    base_revision: u64,
    /// What a person would call it, for the audit trail: "Import news.jsonl".
    pub intent: String,
    pub stamp: Stamp,
    /// What came from where and what was left out, as JSON.
    pub receipt: String,
    /// What the file says as suggestions and not as gold, by the sentences' new ids.
    pub suggestions: Vec<(SentenceId, SentenceSuggestions)>,
}

impl Import {
    /// The labels and documents that `after` has and `before` has not.
    ///
    /// `after` must be `before` with nothing but added labels and documents.
    pub fn between(
        before: &Corpus,
        after: impl Into<Arc<Corpus>>,
        intent: impl Into<String>,
        stamp: Stamp,
        receipt: impl Into<String>,
    ) -> Self {
        let after = after.into();
        let known = |label: &Label| before.labels().get(label.id).is_some();
        let labels = after.labels().iter().enumerate().filter(|(_, label)| !known(label));
        Self {
            labels: labels.map(|(at, label)| (at, label.clone())).collect(),
            known_documents: before.all_documents().len(),
            first_sentence: before.next_sentence_id(),
            base_revision: before.revision(),
            after,
            intent: intent.into(),
            stamp,
            receipt: receipt.into(),
            suggestions: Vec::new(),
        }
    }

    /// Of the project before it.
    pub fn base_revision(&self) -> u64 {
        self.base_revision
    }

    /// Of the project after it.
    pub fn revision(&self) -> u64 {
        self.after.revision()
    }

    fn documents(&self) -> impl Iterator<Item = &Document> {
        self.after.all_documents().values().skip(self.known_documents)
    }

    fn sentences(&self) -> impl Iterator<Item = &Sentence> {
        self.after.all_sentences().filter(|s| s.id() >= self.first_sentence)
    }

    /// What takes it back: the documents are removed, then the labels that it brought.
    pub fn inverse(&self) -> Transaction {
        self.transaction().inverse()
    }

    /// What brings it back, once its documents are there.
    fn transaction(&self) -> Transaction {
        let labels = self.labels.iter().map(|(at, label)| Edit::InsertLabel { at: *at, label: label.clone() });
        let mut edits: Vec<Edit> = labels.collect();
        for new in [Presence::There, Presence::Excluded] {
            let documents = self.documents().filter(|document| document.presence == new);
            let documents: DocumentIds = documents.map(|document| document.id).collect();
            // An import is never without an edit: those of version 1, which can't be taken back, are told by that.
            if new == Presence::There || !documents.is_empty() {
                edits.push(Edit::SetPresence { documents, old: Presence::Removed, new });
            }
        }
        Transaction::new(self.intent.clone(), edits)
    }

    /// # Errors
    /// Also that it is cancelled, at any moment until all is inserted.
    pub(super) fn insert(&self, tx: &Connection, watch: &Watch) -> Result<(), RowError> {
        watch.begin(self.sentences().count());
        for (at, label) in &self.labels {
            rows::insert_label(tx, *at, label)?;
        }
        let mut texts = HashMap::new();
        for document in self.documents() {
            check(watch)?;
            rows::insert_document(tx, document)?;
            texts.insert(document.id, &*document.text);
        }
        for sentence in self.sentences() {
            let text = texts.get(&sentence.document()).ok_or(RowError::OutOfStep)?;
            check(watch)?;
            rows::insert_sentence(tx, sentence, text)?;
            watch.advance(1);
        }
        for (sentence, suggestions) in &self.suggestions {
            rows::set_suggestions(tx, *sentence, suggestions)?;
        }
        rows::raise_next_mention(tx, self.after.next_mention_id())?;
        rows::raise_next_sentence(tx, self.after.next_sentence_id())?;
        rows::set_revision(tx, self.revision())?;
        let sql =
            "INSERT INTO log (revision, step, intent, edits, inverse, author, time_ms, active_ms, visible, receipt,
            presses) VALUES (?1, 'import', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        tx.execute(
            sql,
            params![
                self.revision().cast_signed(),
                self.intent,
                json::write_edits(&self.transaction().edits)?,
                json::write_edits(&self.inverse().edits)?,
                self.stamp.author,
                self.stamp.time_ms,
                self.stamp.active_ms,
                json::write_visible(&self.stamp.visible)?,
                self.receipt,
                self.stamp.presses,
            ],
        )?;
        check(watch)
    }
}

fn check(watch: &Watch) -> Result<(), RowError> {
    if watch.is_cancelled() { Err(RowError::Cancelled) } else { Ok(()) }
}
