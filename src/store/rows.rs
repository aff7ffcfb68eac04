//! From edits to rows: the one place that keeps the tables equal to the corpus in memory.
//!
//! [`apply_edit`] mirrors [`Corpus::apply`](crate::annotation::Corpus::apply), which has checked each edit before.
//! A row that is not there as the edit expects it stops the whole transaction.

use super::codec::{pack_acquisition, pack_heads, pack_suggestions, pack_tokens};
use super::model_record::ModelRecord;
use super::row_error::RowError;
use super::{json, names, search};
use crate::annotation::{
    Document, DocumentId, Edit, Label, LabelId, LabelSet, Mention, MentionId, ModelId, NewSentence, Sentence,
    SentenceId, SentenceSuggestions,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;

/// The rows of a project without documents.
pub(super) fn insert_project(
    tx: &Connection,
    labels: &LabelSet,
    settings: &BTreeMap<String, String>,
) -> rusqlite::Result<()> {
    tx.execute(
        "INSERT INTO project (one, revision, next_mention, next_label, next_sentence, id)
            VALUES (1, 0, 0, ?1, 0, lower(hex(randomblob(16))))",
        [labels.next_id().0],
    )?;
    for (position, label) in labels.iter().enumerate() {
        insert_label_row(tx, position, label)?;
    }
    for (key, value) in settings {
        set_setting(tx, key, Some(value))?;
    }
    Ok(())
}

pub(super) fn revision(tx: &Connection) -> rusqlite::Result<u64> {
    let revision = tx.prepare_cached("SELECT revision FROM project")?.query_row([], |row| row.get::<_, i64>(0))?;
    Ok(revision.cast_unsigned())
}

pub(super) fn set_revision(tx: &Connection, revision: u64) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE project SET revision = ?1")?.execute([revision.cast_signed()])?;
    Ok(())
}

pub(super) fn apply_edit(tx: &Connection, edit: &Edit) -> Result<(), RowError> {
    match edit {
        Edit::AddMention { sentence, mention } => {
            insert_mention(tx, *sentence, mention)?;
            raise_next_mention(tx, MentionId(mention.id.0.saturating_add(1)))?;
        }
        Edit::RemoveMention { sentence, mention } => {
            let sql = "DELETE FROM mention WHERE sentence = ?1 AND id = ?2";
            one_row(tx.prepare_cached(sql)?.execute(params![sentence.0, mention.id.0.cast_signed()])?)?;
        }
        Edit::ReplaceMention { sentence, old, new } => {
            let sql = "DELETE FROM mention WHERE sentence = ?1 AND id = ?2";
            one_row(tx.prepare_cached(sql)?.execute(params![sentence.0, old.id.0.cast_signed()])?)?;
            insert_mention(tx, *sentence, new)?;
        }
        Edit::SetStatus { sentence, old, new } => {
            let sql = "UPDATE sentence SET status = ?3 WHERE id = ?1 AND status = ?2";
            let values = params![sentence.0, old.id(), new.id()];
            one_row(tx.prepare_cached(sql)?.execute(values)?)?;
        }
        Edit::SetSplit { sentence, old, new } => {
            let sql = "UPDATE sentence SET split = ?3 WHERE id = ?1 AND split = ?2";
            let values = params![sentence.0, old.id(), new.id()];
            one_row(tx.prepare_cached(sql)?.execute(values)?)?;
        }
        Edit::SetRejected { sentence, span, label, new } => {
            let sql = if *new {
                "INSERT INTO rejected (sentence, start_token, end_token, label) VALUES (?1, ?2, ?3, ?4)"
            } else {
                "DELETE FROM rejected WHERE sentence = ?1 AND start_token = ?2 AND end_token = ?3 AND label = ?4"
            };
            let values = params![sentence.0, span.start().get() as i64, span.end().get() as i64, label.0];
            one_row(tx.prepare_cached(sql)?.execute(values)?)?;
        }
        Edit::InsertLabel { at, label } => insert_label(tx, *at, label)?,
        Edit::RemoveLabel { label, .. } => remove_label(tx, label.id)?,
        Edit::ReplaceLabel { old, new } => {
            let sql = "UPDATE label SET name = ?2, title = ?3, color = ?4, key = ?5 WHERE id = ?1";
            let key = new.key.map(String::from);
            one_row(tx.prepare_cached(sql)?.execute(params![
                old.id.0,
                new.name,
                new.title,
                new.color.to_hex(),
                key
            ])?)?;
        }
        Edit::Resegment { document, old, new } => resegment(tx, *document, old, new)?,
        Edit::SetPresence { documents, old, new } => {
            let sql = "UPDATE document SET presence = ?3 WHERE id = ?1 AND presence = ?2";
            let mut statement = tx.prepare_cached(sql)?;
            for document in documents.iter() {
                one_row(statement.execute(params![document.0, old.id(), new.id()])?)?;
            }
        }
    }
    Ok(())
}

/// Sentences with all that belongs to them in the place of others. What models said of the old ones goes.
fn resegment(
    tx: &Connection,
    document: DocumentId,
    old: &[(SentenceId, NewSentence)],
    new: &[(SentenceId, NewSentence)],
) -> Result<(), RowError> {
    for (id, _) in old {
        for table in ["mention", "rejected", "suggestion"] {
            tx.prepare_cached(&format!("DELETE FROM {table} WHERE sentence = ?1"))?.execute([id.0])?;
        }
        search::remove(tx, *id)?;
        let sql = "DELETE FROM sentence WHERE id = ?1 AND document = ?2";
        one_row(tx.prepare_cached(sql)?.execute([id.0, document.0])?)?;
    }
    let sql = "SELECT text FROM document WHERE id = ?1";
    let text: String = tx.prepare_cached(sql)?.query_row([document.0], |row| row.get(0))?;
    for (id, content) in new {
        insert_sentence(tx, &Sentence::stored(*id, document, content.clone()), &text)?;
        raise_next_sentence(tx, SentenceId(id.0.saturating_add(1)))?;
    }
    Ok(())
}

/// Appends a label, or puts one back where it was.
pub(super) fn insert_label(tx: &Connection, at: usize, label: &Label) -> Result<(), RowError> {
    let count: i64 = tx.prepare_cached("SELECT count(*) FROM label")?.query_row([], |row| row.get(0))?;
    let at = i64::try_from(at).unwrap_or(i64::MAX).min(count);
    tx.prepare_cached("UPDATE label SET position = position + 1 WHERE position >= ?1")?.execute([at])?;
    insert_label_row(tx, at as usize, label)?;
    let next = LabelId(label.id.0.saturating_add(1));
    tx.prepare_cached("UPDATE project SET next_label = max(next_label, ?1)")?.execute([next.0])?;
    Ok(())
}

fn insert_label_row(tx: &Connection, position: usize, label: &Label) -> rusqlite::Result<()> {
    let sql = "INSERT INTO label (id, position, name, title, color, key) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let key = label.key.map(String::from);
    let values = params![label.id.0, position as i64, label.name, label.title, label.color.to_hex(), key];
    tx.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn remove_label(tx: &Connection, id: LabelId) -> Result<(), RowError> {
    let sql = "DELETE FROM label WHERE id = ?1 RETURNING position";
    let position: Option<i64> = tx.prepare_cached(sql)?.query_row([id.0], |row| row.get(0)).optional()?;
    let position = position.ok_or(RowError::OutOfStep)?;
    tx.prepare_cached("UPDATE label SET position = position - 1 WHERE position > ?1")?.execute([position])?;
    Ok(())
}

pub(super) fn insert_document(tx: &Connection, document: &Document) -> Result<(), RowError> {
    let sql = "INSERT INTO document (id, name, text, kept, presence) VALUES (?1, ?2, ?3, ?4, ?5)";
    let kept = match document.kept.is_empty() {
        true => None,
        false => Some(serde_json::to_string(&document.kept)?),
    };
    let values = params![document.id.0, document.name, &*document.text, kept, document.presence.id()];
    tx.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// A sentence of a text with its mentions, rejections and search terms.
pub(super) fn insert_sentence(tx: &Connection, sentence: &Sentence, text: &str) -> Result<(), RowError> {
    let sql = "INSERT INTO sentence (id, document, tokens, status, split) VALUES (?1, ?2, ?3, ?4, ?5)";
    tx.prepare_cached(sql)?.execute(params![
        sentence.id().0,
        sentence.document().0,
        pack_tokens(sentence.tokens()),
        sentence.status().id(),
        sentence.split().id(),
    ])?;
    for mention in sentence.mentions() {
        insert_mention(tx, sentence.id(), mention)?;
    }
    for &(span, label) in sentence.rejected() {
        apply_edit(tx, &Edit::SetRejected { sentence: sentence.id(), span, label, new: true })?;
    }
    search::insert(tx, sentence, text)
}

fn insert_mention(tx: &Connection, sentence: SentenceId, mention: &Mention) -> Result<(), RowError> {
    let sql = "INSERT INTO mention
        (sentence, id, label, start_token, end_token, fragments, attributes, note, provenance, model, source_id)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let fragments = match mention.fragments.contiguous() {
        Some(_) => None,
        None => Some(json::write_fragments(&mention.fragments)?),
    };
    let attributes = match mention.attributes.is_empty() {
        true => None,
        false => Some(serde_json::to_string(&mention.attributes)?),
    };
    let (provenance, model) = names::of_provenance(&mention.provenance);
    tx.prepare_cached(sql)?.execute(params![
        sentence.0,
        mention.id.0.cast_signed(),
        mention.label.0,
        mention.hull().start().get() as i64,
        mention.hull().end().get() as i64,
        fragments,
        attributes,
        mention.note,
        provenance,
        model,
        mention.source_id,
    ])?;
    Ok(())
}

pub(super) fn raise_next_mention(tx: &Connection, next: MentionId) -> rusqlite::Result<()> {
    let sql = "UPDATE project SET next_mention = max(next_mention, ?1)";
    tx.prepare_cached(sql)?.execute([next.0.cast_signed()])?;
    Ok(())
}

pub(super) fn raise_next_sentence(tx: &Connection, next: SentenceId) -> rusqlite::Result<()> {
    let sql = "UPDATE project SET next_sentence = max(next_sentence, ?1)";
    tx.prepare_cached(sql)?.execute([next.0])?;
    Ok(())
}

/// Puts what a model says of a sentence in the place of what another one said.
pub(super) fn set_suggestions(
    tx: &Connection,
    sentence: SentenceId,
    suggestions: &SentenceSuggestions,
) -> rusqlite::Result<()> {
    let sql =
        "INSERT OR REPLACE INTO suggestion (sentence, model, acquisition, heads, spans) VALUES (?1, ?2, ?3, ?4, ?5)";
    tx.prepare_cached(sql)?.execute(params![
        sentence.0,
        suggestions.model.0,
        suggestions.acquisition.as_ref().map(pack_acquisition),
        pack_heads(&suggestions.heads),
        pack_suggestions(&suggestions.spans),
    ])?;
    Ok(())
}

pub(super) fn set_model(tx: &Connection, model: &ModelRecord) -> rusqlite::Result<()> {
    // The directory is for older programs; it follows from the number.
    let sql = "INSERT INTO model (id, directory, manifest, created_ms, is_current, manifest_sha256)
            VALUES (?1, ?2, ?3, ?4, 0, ?5)
        ON CONFLICT (id) DO UPDATE SET directory = ?2, manifest = ?3, created_ms = ?4, manifest_sha256 = ?5";
    let ModelRecord { id, manifest, manifest_sha256, created_ms } = model;
    let directory = format!("model-{:04}", id.0);
    tx.prepare_cached(sql)?.execute(params![id.0, directory, manifest, created_ms, manifest_sha256])?;
    Ok(())
}

pub(super) fn set_current_model(tx: &Connection, model: Option<ModelId>) -> Result<(), RowError> {
    tx.prepare_cached("UPDATE model SET is_current = 0 WHERE is_current = 1")?.execute([])?;
    if let Some(model) = model {
        one_row(tx.prepare_cached("UPDATE model SET is_current = 1 WHERE id = ?1")?.execute([model.0])?)?;
    }
    Ok(())
}

pub(super) fn set_setting(tx: &Connection, key: &str, value: Option<&str>) -> rusqlite::Result<()> {
    match value {
        Some(value) => {
            let sql = "INSERT OR REPLACE INTO setting (key, value) VALUES (?1, ?2)";
            tx.prepare_cached(sql)?.execute([key, value])?;
        }
        None => {
            tx.prepare_cached("DELETE FROM setting WHERE key = ?1")?.execute([key])?;
        }
    }
    Ok(())
}

fn one_row(changed: usize) -> Result<(), RowError> {
    if changed == 1 { Ok(()) } else { Err(RowError::OutOfStep) }
}
