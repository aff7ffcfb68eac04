//! How good models were: rows of the learning curve.

use super::codec::Malformed;
use crate::annotation::{ModelId, Split};
use rusqlite::{Connection, Row, params};

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
pub(super) fn read_measurement(row: &Row<'_>) -> rusqlite::Result<Result<Measurement, Malformed>> {
    let count = |column| -> rusqlite::Result<usize> { Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(0)) };
    let split = Split::from_id(&row.get::<_, String>(1)?).ok_or(Malformed("a score is of a split that there is not"));
    let measurement = Measurement {
        model: ModelId(row.get(0)?),
        split: split.as_ref().copied().unwrap_or_default(),
        time_ms: row.get(2)?,
        train_sentences: count(3)?,
        train_tokens: count(4)?,
        sentences: count(5)?,
        true_positives: count(6)?,
        false_positives: count(7)?,
        false_negatives: count(8)?,
        low: row.get(9)?,
        high: row.get(10)?,
    };
    Ok(split.map(|_| measurement))
}
