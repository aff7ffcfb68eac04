//! Reading a whole project into memory.

use super::codec::{Malformed, unpack_acquisition, unpack_heads, unpack_suggestions, unpack_tokens};
use super::fields::{BadField, Fields};
use super::measurement::{self, Measurement};
use super::model_record::ModelRecord;
use super::{Store, StoreError, guard, json, names};
use crate::annotation::limits::{LABEL_IDS, LABELS, MENTION_IDS, REVISIONS, SENTENCE_IDS};
use crate::annotation::{
    Acquisition, ApplyError, Attributes, Corpus, Fragments, History, Kept, Label, LabelError, LabelId, LabelSet,
    Mention, MentionId, ModelId, NewSentence, Presence, ProjectId, Rgb, SentenceId, SentenceSuggestions, Span, Split,
    Status, Step, StoredDocument, SuggestionsById, Transaction,
};
use crate::disk::Noted as _;
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
    /// As they were stored: they may reach beyond their sentences, and name labels that there are not.
    pub suggestions: SuggestionsById,
    /// By their ids.
    pub models: Vec<ModelRecord>,
    pub current_model: Option<ModelId>,
    pub settings: BTreeMap<String, String>,
    /// By model.
    pub measurements: Vec<Measurement>,
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
        self.begin_reading();
        let contents = self.read().map_err(|error| self.explain_read(error))?;
        self.merge_log_on_close(true)?;
        Ok(contents)
    }

    /// What reading takes is counted anew.
    pub(super) fn begin_reading(&self) {
        self.allowance.renew(guard::bytes_of(&self.path));
    }

    /// Closing leaves the file and a log beside it as they are.
    pub(super) fn keep_log(&self) -> Result<(), StoreError> {
        self.merge_log_on_close(false)
    }

    /// As [`Store::keep_log`], for a store that is let go whatever happens.
    pub(super) fn keep_log_if_possible(&self) {
        self.keep_log().noted("SQLite may merge the write-ahead log into what lies there now");
    }

    fn merge_log_on_close(&self, merges: bool) -> Result<(), StoreError> {
        let set = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !merges);
        set.map(drop).map_err(|source| StoreError::sqlite("read the project", source, &self.path))
    }

    pub(super) fn explain_read(&self, error: ReadError) -> StoreError {
        match error {
            ReadError::Sqlite(source) => StoreError::sqlite("read the project", source, &self.path),
            other => self.damaged(other.to_string()),
        }
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { detail, path: self.path.clone() }
    }

    fn read(&self) -> Result<Contents, ReadError> {
        // One state of the file, also while another process writes it.
        let _reading = rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        let (models, current_model) = self.read_models()?;
        let corpus = self.read_corpus()?;
        Ok(Contents {
            project: self.read_project_id()?,
            history: self.read_history()?,
            suggestions: self.read_suggestions(&corpus)?,
            corpus,
            models,
            current_model,
            settings: self.read_settings()?,
            measurements: self.read_measurements()?,
        })
    }

    /// Hands over the rows of a query, in the order of their keys. No key comes twice, which it would where pages of the
    /// file are reached twice.
    fn each<K: PartialOrd>(
        &self,
        table: &'static str,
        key_columns: usize,
        sql: &str,
        mut row: impl FnMut(Fields<'_>) -> Result<K, ReadError>,
    ) -> Result<(), ReadError> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut last = None;
        while let Some(next) = rows.next()? {
            let key = row(Fields::new(table, key_columns, next, &self.allowance))?;
            check_order(table, &mut last, key)?;
        }
        Ok(())
    }

    fn read_project_id(&self) -> Result<ProjectId, ReadError> {
        let mut id = None;
        self.each("project", 1, "SELECT one, id FROM project WHERE one = 1", |row| {
            let malformed = || row.because(1, Malformed("the project's id is not 32 hexadecimal digits"));
            id = Some(ProjectId::parse(row.text(1)?).ok_or_else(malformed)?);
            Ok(row.integer(0)?)
        })?;
        Ok(id.ok_or(Malformed("the table project is empty"))?)
    }

    fn read_corpus(&self) -> Result<Corpus, ReadError> {
        let mut counters = None;
        let sql = "SELECT one, revision, next_mention, next_label, next_sentence FROM project WHERE one = 1";
        self.each("project", 1, sql, |row| {
            let revision = row.integer_in(1, 0..REVISIONS.cast_signed())?.cast_unsigned();
            let next_label = LabelId(row.id(3, LABEL_IDS + 1)?);
            let next_sentence = SentenceId(row.id(4, SENTENCE_IDS + 1)?);
            let next_mention = MentionId(row.integer_in(2, 0..MENTION_IDS.cast_signed() + 1)?.cast_unsigned());
            counters = Some((revision, next_mention, next_label, next_sentence));
            Ok(row.integer(0)?)
        })?;
        let (revision, next_mention, next_label, next_sentence) =
            counters.ok_or(Malformed("the table project is empty"))?;
        let labels = LabelSet::restore(self.read_labels()?, next_label)?;
        let mut corpus = Corpus::new(labels, next_mention, revision);
        corpus.reserve_sentence_ids(next_sentence);

        let mut sentences = self.read_sentences()?;
        self.each("document", 1, "SELECT id, name, text, kept, presence FROM document ORDER BY id", |row| {
            let id = row.integer(0)?;
            let kept: Kept = match row.text_or_null(3)? {
                Some(json) => serde_json::from_str(json)
                    .map_err(|_| row.because(3, Malformed("what a document keeps is not JSON")))?,
                None => Kept::new(),
            };
            let mut sentences = sentences.remove(&id).unwrap_or_default();
            // Splitting and joining changed the order; else this only looks.
            sentences.sort_by_key(|(_, sentence)| sentence.tokens.first().map(|token| token.start()));
            let presence =
                Presence::from_id(row.text(4)?).ok_or_else(|| row.unknown(4, "there, excluded or removed"))?;
            let (name, text) = (row.text(1)?.to_owned(), Arc::from(row.text(2)?));
            let added = corpus
                .restore_document(StoredDocument { name, text, kept, presence, sentences })
                .map_err(|error| ReadError::Document(id, error))?;
            if i64::from(added.0) != id {
                return Err(Malformed("a document is missing").into());
            }
            Ok(id)
        })?;
        if let Some(id) = sentences.keys().min() {
            return Err(ReadError::NoDocument(*id));
        }
        let counted = corpus.next_sentence_id() == next_sentence && corpus.next_mention_id() == next_mention;
        if counted { Ok(corpus) } else { Err(Malformed("an id is in use that was never given").into()) }
    }

    /// The sentences of each document, in one pass over each table.
    fn read_sentences(&self) -> Result<HashMap<i64, Vec<(SentenceId, NewSentence)>>, ReadError> {
        let prepare = |sql| self.connection.prepare(sql);
        let mut mentions = prepare(
            "SELECT sentence, id, label, start_token, end_token, fragments, attributes, note, provenance, model,
                source_id FROM mention ORDER BY sentence, id",
        )?;
        let mut rejected = prepare(
            "SELECT sentence, start_token, end_token, label FROM rejected
                ORDER BY sentence, start_token, end_token, label",
        )?;
        let mut mentions = Ahead::new("mention", mentions.query([])?)?;
        let mut rejected = Ahead::new("rejected", rejected.query([])?)?;
        let mut of_documents: HashMap<i64, Vec<_>> = HashMap::new();
        let sql = "SELECT id, document, tokens, status, split FROM sentence ORDER BY id";
        self.each("sentence", 1, sql, |row| {
            let id = row.sentence(0)?;
            let mut sentence = to_sentence(row)?;
            let tokens = sentence.tokens.len();
            let mut last = None;
            while let Some(row) = mentions.row_of(id)? {
                let row = Fields::new("mention", 2, row, &self.allowance);
                let mention = to_mention(row)?;
                if mention.hull().end().get() > tokens {
                    return Err(row.because(4, Malformed("outside its sentence")).into());
                }
                check_order("mention", &mut last, mention.id)?;
                sentence.mentions.push(mention);
                mentions.advance()?;
            }
            while let Some(row) = rejected.row_of(id)? {
                let row = Fields::new("rejected", 4, row, &self.allowance);
                let span = to_span(row, 1)?;
                if span.end().get() > tokens {
                    return Err(row.because(2, Malformed("outside its sentence")).into());
                }
                if !sentence.rejected.insert((span, row.label(3)?)) {
                    return Err(row.because(1, Malformed("there twice")).into());
                }
                rejected.advance()?;
            }
            of_documents.entry(row.integer(1)?).or_default().push((id, sentence));
            Ok(id)
        })?;
        mentions.check_ended()?;
        rejected.check_ended()?;
        Ok(of_documents)
    }

    fn read_labels(&self) -> Result<Vec<Label>, ReadError> {
        let mut labels = Vec::new();
        self.each("label", 1, "SELECT id, position, name, title, color, key FROM label ORDER BY id", |row| {
            let (position, label) = to_label(row)?;
            if labels.len() >= LABELS {
                return Err(Malformed("there are more labels than a project has room for").into());
            }
            let id = label.id;
            labels.push((position, label));
            Ok(id)
        })?;
        labels.sort_by_key(|(position, _)| *position);
        Ok(labels.into_iter().map(|(_, label)| label).collect())
    }

    fn read_history(&self) -> Result<History, ReadError> {
        let mut history = History::default();
        self.each("log", 1, "SELECT seq, step, intent, inverse FROM log ORDER BY seq", |row| {
            let edits = json::read_edits(row.text(3)?).map_err(|error| row.because(3, error))?;
            let step = match row.text(1)? {
                // Of version 1, where it can't be taken back.
                "import" if edits.is_empty() => return Ok(row.integer(0)?),
                "import" => Step::Do,
                name => names::to_step(name).ok_or_else(|| row.unknown(1, "do, undo, redo or import"))?,
            };
            history.record(step, Transaction::new(row.text(2)?, edits));
            Ok(row.integer(0)?)
        })?;
        Ok(history)
    }

    fn read_measurements(&self) -> Result<Vec<Measurement>, ReadError> {
        let mut measurements = Vec::new();
        self.each("measurement", 2, measurement::SELECT, |row| {
            measurements.push(measurement::read_measurement(row)?);
            Ok((row.model(0)?, row.text(1)?.to_owned()))
        })?;
        Ok(measurements)
    }

    fn read_suggestions(&self, corpus: &Corpus) -> Result<SuggestionsById, ReadError> {
        let mut suggestions = SuggestionsById::default();
        let sql = "SELECT sentence, model, acquisition, heads, spans FROM suggestion ORDER BY sentence";
        self.each("suggestion", 1, sql, |row| {
            let id = row.sentence(0)?;
            let acquisition = row.blob_or_null(2)?.map(unpack_acquisition).transpose();
            let of_sentence = SentenceSuggestions {
                model: row.model(1)?,
                // What is no number can't be compared; the model says it anew.
                acquisition: acquisition.map_err(|error| row.because(2, error))?.filter(is_finite),
                heads: unpack_heads(row.blob(3)?).map_err(|error| row.because(3, error))?,
                spans: unpack_suggestions(row.blob(4)?).map_err(|error| row.because(4, error))?,
            };
            if corpus.any_sentence(id).is_none() {
                return Err(row.because(0, Malformed("there is no such sentence")).into());
            }
            suggestions.put(id, of_sentence);
            Ok(id)
        })?;
        Ok(suggestions)
    }

    fn read_models(&self) -> Result<(Vec<ModelRecord>, Option<ModelId>), ReadError> {
        let (mut models, mut current) = (Vec::new(), None);
        let sql = "SELECT id, manifest, manifest_sha256, created_ms, is_current FROM model ORDER BY id";
        self.each("model", 1, sql, |row| {
            let id = row.model(0)?;
            current = if row.switch(4)? { Some(id) } else { current };
            let (manifest, manifest_sha256) = (row.text(1)?.to_owned(), row.text_or_null(2)?.map(str::to_owned));
            models.push(ModelRecord { id, manifest, manifest_sha256, created_ms: row.time(3)? });
            Ok(id)
        })?;
        Ok((models, current))
    }

    fn read_settings(&self) -> Result<BTreeMap<String, String>, ReadError> {
        let mut settings = BTreeMap::new();
        self.each("setting", 1, "SELECT key, value FROM setting ORDER BY key", |row| {
            let key = row.text(0)?.to_owned();
            settings.insert(key.clone(), row.text(1)?.to_owned());
            Ok(key)
        })?;
        Ok(settings)
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Malformed(#[from] Malformed),
    #[error(transparent)]
    Field(#[from] BadField),
    #[error("label: {0}")]
    Labels(#[from] LabelError),
    #[error("document {0}: {1}")]
    Document(i64, ApplyError),
    #[error("a sentence is of document {0}, which there is not")]
    NoDocument(i64),
    #[error("a row of {0} is of a sentence that there is not, or not in its place")]
    NoSentence(&'static str),
    #[error("rows of {0} are there twice, or not in their order")]
    Order(&'static str),
}

/// Rows in the order of their keys, each once.
fn check_order<K: PartialOrd>(table: &'static str, last: &mut Option<K>, key: K) -> Result<(), ReadError> {
    if last.as_ref().is_some_and(|last| *last >= key) {
        return Err(ReadError::Order(table));
    }
    *last = Some(key);
    Ok(())
}

/// Rows with the next one in view.
struct Ahead<'r> {
    table: &'static str,
    rows: Rows<'r>,
}

impl<'r> Ahead<'r> {
    fn new(table: &'static str, mut rows: Rows<'r>) -> rusqlite::Result<Self> {
        rows.advance()?;
        Ok(Self { table, rows })
    }

    /// The next row if its first column, the sentence, is `id`.
    fn row_of(&self, id: SentenceId) -> rusqlite::Result<Option<&Row<'r>>> {
        match self.rows.get() {
            Some(row) if row.get_ref(0)?.as_i64_or_null().ok().flatten() == Some(id.0.into()) => Ok(Some(row)),
            _ => Ok(None),
        }
    }

    fn advance(&mut self) -> rusqlite::Result<()> {
        self.rows.advance()
    }

    /// # Errors
    /// A row that belongs to no sentence.
    fn check_ended(&self) -> Result<(), ReadError> {
        if self.rows.get().is_some() { Err(ReadError::NoSentence(self.table)) } else { Ok(()) }
    }
}

fn is_finite(scores: &Acquisition) -> bool {
    let Acquisition { least_confidence, entropy, head_entropy, mentions, disagreement, direction: _ } = scores;
    let numbers = [*least_confidence, *entropy, *head_entropy, *mentions, disagreement.unwrap_or_default()];
    numbers.iter().all(|number| number.is_finite())
}

/// From the columns id, document, tokens, status and split.
pub(super) fn to_sentence(row: Fields<'_>) -> Result<NewSentence, ReadError> {
    Ok(NewSentence {
        tokens: unpack_tokens(row.blob(2)?).map_err(|error| row.because(2, error))?,
        mentions: Vec::new(),
        rejected: BTreeSet::new(),
        status: Status::from_id(row.text(3)?).ok_or_else(|| row.unknown(3, "a status that there is"))?,
        split: Split::from_id(row.text(4)?).ok_or_else(|| row.unknown(4, "a split that there is"))?,
    })
}

/// From the columns id, position, name, title, color and key; with the position.
pub(super) fn to_label(row: Fields<'_>) -> Result<(i64, Label), ReadError> {
    let color = Rgb::from_hex(row.text(4)?).ok_or_else(|| row.unknown(4, "a colour as #RRGGBB"))?;
    let key = row.text_or_null(5)?.and_then(|key| key.chars().next());
    let (name, title) = (row.text(2)?.to_owned(), row.text(3)?.to_owned());
    Ok((row.integer(1)?, Label { id: row.label(0)?, name, title, color, key }))
}

/// From a column and the one after it.
pub(super) fn to_span(row: Fields<'_>, column: usize) -> Result<Span, ReadError> {
    // Beyond what a sentence can have it is refused by whoever knows the sentence.
    let end = |column| Ok::<_, ReadError>(row.id(column, u32::MAX)? as usize);
    let span = Span::from_range(end(column)?..end(column + 1)?);
    Ok(span.ok_or_else(|| row.because(column + 1, Malformed("a span is empty")))?)
}

/// From the columns sentence, id, label, start, end, fragments, attributes, note, provenance, model and source id.
pub(super) fn to_mention(row: Fields<'_>) -> Result<Mention, ReadError> {
    let fragments = match row.text_or_null(5)? {
        Some(json) => json::read_fragments(json).map_err(|error| row.because(5, error))?,
        None => Fragments::from(to_span(row, 3)?),
    };
    let attributes: Attributes = match row.text_or_null(6)? {
        Some(json) => serde_json::from_str(json)
            .map_err(|_| row.because(6, Malformed("the attributes of a mention are no JSON")))?,
        None => Attributes::new(),
    };
    let model = row.model_or_null(9)?.map(|model| model.0);
    Ok(Mention {
        id: row.mention(1)?,
        fragments,
        label: row.label(2)?,
        attributes,
        note: row.text(7)?.to_owned(),
        provenance: names::to_provenance(row.text(8)?, model)
            .ok_or_else(|| row.unknown(8, "an origin that there is"))?,
        source_id: row.text_or_null(10)?.map(str::to_owned),
    })
}
