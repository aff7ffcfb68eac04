//! An import: new labels and documents that come in one transaction, all or nothing.
//!
//! ```text
//! let mut after = corpus.clone();                     // texts are shared, not copied
//! …InsertLabel edits and add_document on `after`…     // the corpus checks them
//! writer.import(Import::between(&corpus, &after, …))  // on disk, or nowhere
//! corpus = after;                                     // only then in memory
//! ```
//!
//! So memory and disk can't end up different: the rows are made from the very documents that the corpus took.

use super::rows::{self, RowError};
use super::{Stamp, json};
use crate::annotation::{Corpus, Document, Edit, Label, MentionId, Sentence, SentenceId, SentenceSuggestions};
use rusqlite::{Connection, params};

/// What was added to a corpus, on its way to the file.
#[derive(Clone, Debug)]
pub struct Import {
    labels: Vec<(usize, Label)>,
    documents: Vec<Document>,
    sentences: Vec<Sentence>,
    next_mention: MentionId,
    base_revision: u64,
    revision: u64,
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
    /// `after` must be `before` with nothing but added labels and documents. Copies the added sentences, not the texts.
    pub fn between(
        before: &Corpus,
        after: &Corpus,
        intent: impl Into<String>,
        stamp: Stamp,
        receipt: impl Into<String>,
    ) -> Self {
        let known = |label: &Label| before.labels().get(label.id).is_some();
        let labels = after.labels().iter().enumerate().filter(|(_, label)| !known(label));
        Self {
            labels: labels.map(|(at, label)| (at, label.clone())).collect(),
            documents: after.documents().iter().skip(before.documents().len()).cloned().collect(),
            sentences: after.sentences().iter().skip(before.sentences().len()).cloned().collect(),
            next_mention: after.next_mention_id(),
            base_revision: before.revision(),
            revision: after.revision(),
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
        self.revision
    }

    pub(super) fn insert(&self, tx: &Connection) -> Result<(), RowError> {
        let mut edits = Vec::with_capacity(self.labels.len());
        for (at, label) in &self.labels {
            rows::insert_label(tx, *at, label)?;
            edits.push(Edit::InsertLabel { at: *at, label: label.clone() });
        }
        for document in &self.documents {
            rows::insert_document(tx, document)?;
        }
        for sentence in &self.sentences {
            rows::insert_sentence(tx, sentence)?;
        }
        for (sentence, suggestions) in &self.suggestions {
            rows::set_suggestions(tx, *sentence, suggestions)?;
        }
        rows::raise_next_mention(tx, self.next_mention)?;
        rows::set_revision(tx, self.revision)?;
        let sql =
            "INSERT INTO log (revision, step, intent, edits, inverse, author, time_ms, active_ms, visible, receipt)
            VALUES (?1, 'import', ?2, ?3, '[]', ?4, ?5, ?6, ?7, ?8)";
        tx.execute(
            sql,
            params![
                self.revision.cast_signed(),
                self.intent,
                json::write_edits(&edits)?,
                self.stamp.author,
                self.stamp.time_ms,
                self.stamp.active_ms,
                json::write_visible(&self.stamp.visible)?,
                self.receipt,
            ],
        )?;
        Ok(())
    }
}
