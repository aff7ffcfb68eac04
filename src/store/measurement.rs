//! How good models were: rows of the learning curve.

use super::fields::{BadField, Fields};
use crate::annotation::{ModelId, Split};
use rusqlite::{Connection, params};

/// A model's score on a part of the project.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measurement {
    pub model: ModelId,
    /// Dev or blind.
    pub split: Split,
    /// Since 1970, UTC.
    pub time_ms: i64,
    /// What the model learned from: sentences, and their tokens.
    pub train_sentences: usize,
    pub train_tokens: usize,
    /// Sentences that were scored.
    pub sentences: usize,
    /// Strict micro.
    pub true_positives: usize,
    pub false_positives: usize,
    pub false_negatives: usize,
    /// A band of 95 % around F1, in [0, 1].
    pub low: f64,
    pub high: f64,
}

/// Puts it in the place of an older one of the same model and split.
pub(super) fn set_measurement(tx: &Connection, m: &Measurement) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO measurement (model, split, time_ms, train_sentences, train_tokens, sentences,
        true_positives, false_positives, false_negatives, low, high) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    tx.prepare_cached(sql)?.execute(params![
        m.model.0,
        m.split.id(),
        m.time_ms,
        count(m.train_sentences),
        count(m.train_tokens),
        count(m.sentences),
        count(m.true_positives),
        count(m.false_positives),
        count(m.false_negatives),
        m.low,
        m.high,
    ])?;
    Ok(())
}

/// All of a project, by model.
pub(super) const SELECT: &str =
    "SELECT model, split, time_ms, train_sentences, train_tokens, sentences, true_positives,
    false_positives, false_negatives, low, high FROM measurement ORDER BY model, split";

/// A row of [`SELECT`].
pub(super) fn read_measurement(row: Fields<'_>) -> Result<Measurement, BadField> {
    Ok(Measurement {
        model: row.model(0)?,
        split: Split::from_id(row.text(1)?).ok_or_else(|| row.unknown(1, "a split that there is"))?,
        time_ms: row.time(2)?,
        train_sentences: row.count(3)?,
        train_tokens: row.count(4)?,
        sentences: row.count(5)?,
        true_positives: row.count(6)?,
        false_positives: row.count(7)?,
        false_negatives: row.count(8)?,
        low: row.share(9)?,
        high: row.share(10)?,
    })
}
