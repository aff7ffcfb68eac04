//! Reading a whole project into memory.

use super::codec::{Malformed, unpack_acquisition, unpack_heads, unpack_suggestions, unpack_tokens};
use super::measurement::{self, Measurement};
use super::{Store, StoreError, json, names};
use crate::annotation::{
    ApplyError, Attributes, Corpus, Fragments, History, Kept, Label, LabelId, LabelSet, Mention, MentionId, ModelId,
    NewSentence, Presence, ProjectId, Rgb, SentenceId, SentenceSuggestions, Span, Split, Status, Step, StoredDocument,
    Transaction,
};
use rusqlite::config::DbConfig;
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
use rusqlite::{Row, Rows, TransactionBehavior};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// All that a project file holds, as it is worked with.
#[derive(Debug, Default)]
pub struct Contents {
    pub project: ProjectId,
    pub corpus: Corpus,
    pub history: History,
    pub suggestions: HashMap<SentenceId, SentenceSuggestions>,
    /// By their ids.
    pub models: Vec<ModelRecord>,
    pub current_model: Option<ModelId>,
    pub settings: BTreeMap<String, String>,
    /// By model.
    pub measurements: Vec<Measurement>,
}

/// A model snapshot as the project knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelRecord {
    pub id: ModelId,
    /// What is remembered of the snapshot, JSON.
    pub manifest: String,
    /// SHA-256 of the snapshot's manifest.json in hexadecimal digits; `None` for a model of an older program.
    pub manifest_sha256: Option<String>,
    /// Since 1970, UTC.
    pub created_ms: i64,
}

impl Store {
    /// Reads the project.
    ///
    /// Linear in its size: half a second for 105,000 sentences with 2.5 million tokens, 195,000 mentions, suggestions
    /// for all of them and 20,000 logged edits (52 MB; warm disk cache, one core of a server).
    ///
    /// # Errors
    /// A damaged file: one that SQLite can't read, or whose rows break an invariant of the corpus.
    pub fn load(&self) -> Result<Contents, StoreError> {
        let contents = self.read().map_err(|error| self.explain_read(error))?;
        self.merge_log_on_close(true)?;
        Ok(contents)
    }

    /// Closing leaves the file and a log beside it as they are.
    pub(super) fn keep_log(&self) -> Result<(), StoreError> {
        self.merge_log_on_close(false)
    }

    fn merge_log_on_close(&self, merges: bool) -> Result<(), StoreError> {
        let set = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !merges);
        set.map(drop).map_err(|source| StoreError::sqlite("read the project", source, &self.path))
    }

    pub(super) fn explain_read(&self, error: ReadError) -> StoreError {
        match error {
            ReadError::Sqlite(source) => StoreError::sqlite("read the project", source, &self.path),
            ReadError::Malformed(error) => self.damaged(error.to_string()),
            ReadError::Corpus(error) => self.damaged(error.to_string()),
        }
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { detail, path: self.path.clone() }
    }

    fn read(&self) -> Result<Contents, ReadError> {
        // One state of the file, also while another process writes it.
        let _reading = rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        let (models, current_model) = self.read_models()?;
        Ok(Contents {
            project: self.read_project_id()?,
            corpus: self.read_corpus()?,
            history: self.read_history()?,
            suggestions: self.read_suggestions()?,
            models,
            current_model,
            settings: self.read_settings()?,
            measurements: self.read_measurements()?,
        })
    }

    fn read_project_id(&self) -> Result<ProjectId, ReadError> {
        let id: String = self.connection.query_row("SELECT id FROM project", [], |row| row.get(0))?;
        Ok(ProjectId::parse(&id).ok_or(Malformed("the project's id is not 32 hexadecimal digits"))?)
    }

    fn read_corpus(&self) -> Result<Corpus, ReadError> {
        let sql = "SELECT revision, next_mention, next_label, next_sentence FROM project";
        let counters = |row: &Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, u32>(2)?, row.get::<_, u32>(3)?))
        };
        let (revision, next_mention, next_label, next_sentence) = self.connection.query_row(sql, [], counters)?;
        let labels = LabelSet::restore(self.read_labels()?, LabelId(next_label))
            .map_err(|_| Malformed("two labels share a name or a key, or one has no name"))?;
        let next_mention = u64::try_from(next_mention).map_err(|_| Malformed("the next mention id is negative"))?;
        let revision = u64::try_from(revision).map_err(|_| Malformed("the revision is negative"))?;
        let mut corpus = Corpus::new(labels, MentionId(next_mention), revision);
        corpus.reserve_sentence_ids(SentenceId(next_sentence));

        let mut sentences = self.read_sentences()?;
        let mut statement =
            self.connection.prepare("SELECT id, name, text, kept, presence FROM document ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let kept: Kept = match row.get_ref(3)?.as_str_or_null().map_err(rusqlite::Error::from)? {
                Some(json) => serde_json::from_str(json).map_err(|_| Malformed("what a document keeps is no JSON"))?,
                None => Kept::new(),
            };
            let mut sentences = sentences.remove(&id).unwrap_or_default();
            // Splitting and joining changed the order; else this only looks.
            sentences.sort_by_key(|(_, sentence)| sentence.tokens.first().map(|token| token.start()));
            let text: Arc<str> = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?.into();
            let presence = Presence::from_id(row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?)
                .ok_or(Malformed("a document is neither there, excluded nor removed"))?;
            let added =
                corpus.restore_document(StoredDocument { name: row.get(1)?, text, kept, presence, sentences })?;
            if i64::from(added.0) != id {
                return Err(Malformed("a document is missing").into());
            }
        }
        if !sentences.is_empty() {
            return Err(Malformed("a sentence belongs to no document").into());
        }
        let counted = corpus.next_sentence_id() == SentenceId(next_sentence);
        let counted = counted && corpus.next_mention_id() == MentionId(next_mention);
        if counted { Ok(corpus) } else { Err(Malformed("an id is in use that was never given").into()) }
    }

    /// The sentences of each document, in one pass over each table.
    fn read_sentences(&self) -> Result<HashMap<i64, Vec<(SentenceId, NewSentence)>>, ReadError> {
        let prepare = |sql| self.connection.prepare(sql);
        let mut sentences = prepare("SELECT id, document, tokens, status, split FROM sentence ORDER BY id")?;
        let mut mentions = prepare(
            "SELECT sentence, id, label, start_token, end_token, fragments, attributes, note, provenance, model,
                source_id FROM mention ORDER BY sentence, id",
        )?;
        let mut rejected = prepare("SELECT sentence, start_token, end_token, label FROM rejected ORDER BY sentence")?;
        let (mut mentions, mut rejected) = (Ahead::new(mentions.query([])?)?, Ahead::new(rejected.query([])?)?);
        let mut rows = sentences.query([])?;
        let mut of_documents: HashMap<i64, Vec<_>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let id = row.get::<_, i64>(0)?;
            let mut sentence = to_sentence(row)?;
            while let Some(row) = mentions.row_of(id)? {
                sentence.mentions.push(to_mention(row)?);
                mentions.advance()?;
            }
            while let Some(row) = rejected.row_of(id)? {
                sentence.rejected.insert((to_span(row, 1)?, LabelId(row.get(3)?)));
                rejected.advance()?;
            }
            of_documents.entry(row.get(1)?).or_default().push((SentenceId(row.get(0)?), sentence));
        }
        if mentions.row().is_some() || rejected.row().is_some() {
            return Err(Malformed("a mention or a rejection belongs to no sentence").into());
        }
        Ok(of_documents)
    }

    fn read_labels(&self) -> Result<Vec<Label>, ReadError> {
        let mut statement =
            self.connection.prepare("SELECT id, name, title, color, key FROM label ORDER BY position")?;
        let mut rows = statement.query([])?;
        let mut labels = Vec::new();
        while let Some(row) = rows.next()? {
            let color: String = row.get(3)?;
            let key: Option<String> = row.get(4)?;
            labels.push(Label {
                id: LabelId(row.get(0)?),
                name: row.get(1)?,
                title: row.get(2)?,
                color: Rgb::from_hex(&color).ok_or(Malformed("a label's colour is not #RRGGBB"))?,
                key: key.and_then(|k| k.chars().next()),
            });
        }
        Ok(labels)
    }

    fn read_history(&self) -> Result<History, ReadError> {
        let mut statement = self.connection.prepare("SELECT step, intent, inverse FROM log ORDER BY seq")?;
        let mut rows = statement.query([])?;
        let mut history = History::default();
        while let Some(row) = rows.next()? {
            let edits = json::read_edits(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?)?;
            let step = match row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)? {
                "import" if edits.is_empty() => continue, // one of version 1, which can't be taken back
                "import" => Step::Do,
                name => names::to_step(name).ok_or(Malformed("the log names a step that there is not"))?,
            };
            history.record(step, Transaction::new(row.get::<_, String>(1)?, edits));
        }
        Ok(history)
    }

    fn read_measurements(&self) -> Result<Vec<Measurement>, ReadError> {
        let mut statement = self.connection.prepare(measurement::SELECT)?;
        let rows = statement.query_map([], measurement::read_measurement)?;
        rows.map(|row| Ok(row??)).collect()
    }

    fn read_suggestions(&self) -> Result<HashMap<SentenceId, SentenceSuggestions>, ReadError> {
        let mut statement =
            self.connection.prepare("SELECT sentence, model, acquisition, heads, spans FROM suggestion")?;
        let mut rows = statement.query([])?;
        let mut suggestions = HashMap::new();
        while let Some(row) = rows.next()? {
            let of_sentence = SentenceSuggestions {
                model: ModelId(row.get(1)?),
                acquisition: row
                    .get_ref(2)?
                    .as_blob_or_null()
                    .map_err(rusqlite::Error::from)?
                    .map(unpack_acquisition)
                    .transpose()?,
                heads: unpack_heads(row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?)?,
                spans: unpack_suggestions(row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?)?,
            };
            suggestions.insert(SentenceId(row.get(0)?), of_sentence);
        }
        Ok(suggestions)
    }

    fn read_models(&self) -> Result<(Vec<ModelRecord>, Option<ModelId>), ReadError> {
        let sql = "SELECT id, manifest, manifest_sha256, created_ms, is_current FROM model ORDER BY id";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let (mut models, mut current) = (Vec::new(), None);
        while let Some(row) = rows.next()? {
            let id = ModelId(row.get(0)?);
            current = if row.get(4)? { Some(id) } else { current };
            let (manifest, manifest_sha256, created_ms) = (row.get(1)?, row.get(2)?, row.get(3)?);
            models.push(ModelRecord { id, manifest, manifest_sha256, created_ms });
        }
        Ok((models, current))
    }

    fn read_settings(&self) -> Result<BTreeMap<String, String>, ReadError> {
        let mut statement = self.connection.prepare("SELECT key, value FROM setting")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Corpus(#[from] ApplyError),
}

/// Rows with the next one in view.
struct Ahead<'r>(Rows<'r>);

impl<'r> Ahead<'r> {
    fn new(mut rows: Rows<'r>) -> rusqlite::Result<Self> {
        rows.advance()?;
        Ok(Self(rows))
    }

    fn row(&self) -> Option<&Row<'r>> {
        self.0.get()
    }

    /// The next row if its first column, the sentence, is `id`.
    fn row_of(&self, id: i64) -> rusqlite::Result<Option<&Row<'r>>> {
        match self.row() {
            Some(row) if row.get::<_, i64>(0)? == id => Ok(Some(row)),
            _ => Ok(None),
        }
    }

    fn advance(&mut self) -> rusqlite::Result<()> {
        self.0.advance()
    }
}

pub(super) fn to_sentence(row: &Row<'_>) -> Result<NewSentence, ReadError> {
    let text = |column| -> rusqlite::Result<&str> { Ok(row.get_ref(column)?.as_str()?) };
    Ok(NewSentence {
        tokens: unpack_tokens(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?)?,
        mentions: Vec::new(),
        rejected: BTreeSet::new(),
        status: Status::from_id(text(3)?).ok_or(Malformed("a sentence has a status that there is not"))?,
        split: Split::from_id(text(4)?).ok_or(Malformed("a sentence has a split that there is not"))?,
    })
}

/// From a column and the one after it.
pub(super) fn to_span(row: &Row<'_>, column: usize) -> Result<Span, ReadError> {
    let (start, end): (u32, u32) = (row.get(column)?, row.get(column + 1)?);
    Ok(Span::from_range(start as usize..end as usize).ok_or(Malformed("a span is empty"))?)
}

pub(super) fn to_mention(row: &Row<'_>) -> Result<Mention, ReadError> {
    let text = |column| -> rusqlite::Result<Option<&str>> { Ok(row.get_ref(column)?.as_str_or_null()?) };
    let fragments = match text(5)? {
        Some(json) => json::read_fragments(json)?,
        None => Fragments::from(to_span(row, 3)?),
    };
    let attributes: Attributes = match text(6)? {
        Some(json) => serde_json::from_str(json).map_err(|_| Malformed("the attributes of a mention are no JSON"))?,
        None => Attributes::new(),
    };
    Ok(Mention {
        id: MentionId(row.get::<_, i64>(1)?.cast_unsigned()),
        fragments,
        label: LabelId(row.get(2)?),
        attributes,
        note: row.get(7)?,
        provenance: names::to_provenance(text(8)?.unwrap_or_default(), row.get(9)?)
            .ok_or(Malformed("a mention has an origin that there is not"))?,
        source_id: row.get(10)?,
    })
}
