//! A project written anew from what is in memory: when another program has written over its file, and nothing that is read
//! from there can be trusted any more.
//!
//! Deliberately absent: the log of earlier edits, which was in the file alone.

use super::import::Import;
use super::measurement::{Measurement, set_measurement};
use super::model_record::ModelRecord;
use super::row_error::RowError;
use super::stamp::Stamp;
use super::{NewProject, StoreError, Watch, copy, file, rows};
use crate::annotation::{Corpus, MentionId, ModelId, SuggestionsById};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// All that a program has in memory of an open project.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub corpus: Arc<Corpus>,
    pub suggestions: Arc<SuggestionsById>,
    pub models: Vec<ModelRecord>,
    pub current_model: Option<ModelId>,
    pub settings: BTreeMap<String, String>,
    pub measurements: Vec<Measurement>,
}

/// Makes a project file of it, which appears whole or not at all.
///
/// # Errors
/// A file of this name, what can go wrong with a disk.
pub(super) fn write(memory: &Memory, id: Option<&str>, to: &Path) -> Result<(), StoreError> {
    const DOING: &str = "write what is in memory";
    let unfinished = copy::unfinished(DOING, to)?;
    let new = NewProject { labels: memory.corpus.labels().clone(), settings: memory.settings.clone() };
    file::fill(unfinished.path(), &new)
        .map_err(RowError::from)
        .and_then(|()| fill(memory, id, unfinished.path()))
        .map_err(|error| match error {
            RowError::Sqlite(source) => StoreError::sqlite(DOING, source, to),
            RowError::Json(source) => StoreError::Io { doing: DOING, source: source.into(), path: to.to_owned() },
            RowError::OutOfStep | RowError::Cancelled => StoreError::NotAsExpected { path: to.to_owned() },
        })?;
    copy::put(unfinished, to)
}

fn fill(memory: &Memory, id: Option<&str>, path: &Path) -> Result<(), RowError> {
    let mut connection = Connection::open(path)?;
    let tx = connection.transaction()?;
    let nothing = Corpus::new(memory.corpus.labels().clone(), MentionId(0), 0);
    let all = Import::between(&nothing, memory.corpus.clone(), "Kept what was in memory", Stamp::default(), "{}");
    all.insert(&tx, &Watch::default())?;
    for (sentence, suggestions) in memory.suggestions.iter() {
        rows::set_suggestions(&tx, sentence, suggestions)?;
    }
    for model in &memory.models {
        rows::set_model(&tx, model)?;
    }
    rows::set_current_model(&tx, memory.current_model)?;
    for measurement in &memory.measurements {
        set_measurement(&tx, measurement)?;
    }
    if let Some(id) = id {
        tx.execute("UPDATE project SET id = ?1", [id])?;
    }
    tx.commit()?;
    Ok(connection.close().map_err(|(_, error)| error)?)
}
