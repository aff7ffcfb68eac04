//! From the rows of a damaged file to a corpus: each row for itself, and then only what fits together.

use super::fit::{Fitting, FreeIds, label_set};
use super::losses::Losses;
use super::table::{Column, Table, columns_of};
use crate::annotation::limits::LABELS;
use crate::annotation::{
    Corpus, Kept, Label, LabelId, LabelSet, Mention, MentionId, NewSentence, Presence, Rgb, SentenceId, Span, Split,
    Status, StoredDocument,
};
use crate::store::StoreError;
use crate::store::codec::{Malformed, unpack_tokens};
use crate::store::fields::Fields;
use crate::store::guard::{Allowance, bytes_of};
use crate::store::load::{ReadError, to_mention, to_span};
use crate::store::migrations::{VERSION, check_version};
use crate::store::schema;
use crate::wording::counted;
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// What could be read.
pub(super) struct Read {
    pub(super) corpus: Corpus,
    pub(super) settings: BTreeMap<String, String>,
    /// What could not, a line each.
    pub(super) lost: Vec<String>,
}

/// # Errors
/// A file of a newer program, one of which nothing can be read.
pub(super) fn read(connection: &Connection, allowance: &Allowance, path: &Path) -> Result<Read, StoreError> {
    let failed = |source| StoreError::sqlite("read the project", source, path);
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    check_version(version, path)?;
    // Without the list of tables there is nothing to go by.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(failed)?;
    let version = if version < 1 { VERSION } else { version };
    let file_bytes = connection.path().map_or(0, |path| bytes_of(Path::new(path)));
    let mut reading = Reading { connection, allowance, file_bytes, version, losses: Losses::default() };
    reading.tell_what_is_not_ours();
    let corpus = reading.corpus().map_err(|detail| StoreError::Damaged { detail, path: path.to_owned() })?;
    if let Some(detail) = reading.losses.first(DOCUMENTS).filter(|_| corpus.all_documents().is_empty()) {
        return Err(StoreError::Damaged { detail: detail.to_owned(), path: path.to_owned() });
    }
    let settings = reading.settings();
    Ok(Read { corpus, settings, lost: reading.losses.into_lines() })
}

const DOCUMENTS: &str = "rows of document";
const SENTENCES: &str = "rows of sentence";
const MENTIONS: &str = "mentions of sentence";
const REJECTIONS: &str = "rejections of sentence";

type Sentences = HashMap<i64, Vec<(SentenceId, NewSentence)>>;

struct Reading<'c> {
    connection: &'c Connection,
    allowance: &'c Allowance,
    file_bytes: u64,
    version: i64,
    losses: Losses,
}

impl<'c> Reading<'c> {
    fn tell_what_is_not_ours(&mut self) {
        // Where the list of tables breaks off, the tables themselves tell.
        let Ok(differences) = schema::compare(self.connection, self.version) else { return };
        for line in differences.foreign_in_words() {
            self.losses.add("things that are not ours", line);
        }
    }

    /// # Errors
    /// In words, why not even an empty corpus came out.
    fn corpus(&mut self) -> Result<Corpus, String> {
        let labels = self.labels();
        let documents = self.documents();
        let (mut sentences, mut loses_sentences) = self.sentences();
        let used = sentences.values().flatten().flat_map(|(_, s)| s.mentions.iter().map(|m| m.label));
        let labels = label_set(labels, used.collect(), &mut self.losses).map_err(|error| error.to_string())?;
        let ids: HashSet<u32> = sentences.values().flatten().map(|(id, _)| id.0).collect();
        let there: HashSet<i64> = documents.iter().map(|(id, _)| *id).collect();
        let orphans: Vec<i64> = sentences.keys().filter(|id| !there.contains(id)).copied().collect();
        for document in orphans {
            let count = sentences.remove(&document).map_or(0, |lost| lost.len());
            loses_sentences = true;
            let sentences = counted(count, "sentence", "sentences");
            self.losses.add(
                "groups of sentences without a document",
                format!("{sentences} whose document {document} can't be read"),
            );
        }
        let mut corpus = Corpus::new(labels, MentionId(0), 1);
        let mut fitting = Fitting { losses: &mut self.losses, ids: FreeIds::besides(ids), loses_sentences };
        for (id, mut document) in documents {
            if document.presence == Presence::Removed {
                let line = format!("the document {:?}, which had been removed", document.name);
                fitting.losses.add("documents that had been removed", line);
                continue;
            }
            let of_document = sentences.remove(&id).unwrap_or_default();
            document.sentences = fitting.fit(&document, of_document, corpus.labels());
            let name = document.name.clone();
            if let Err(error) = corpus.restore_document(document) {
                fitting.losses.add(DOCUMENTS, format!("the document {name:?}: {error}"));
            }
        }
        let entries: rusqlite::Result<i64> =
            self.connection.query_row("SELECT count(*) FROM log", [], |row| row.get(0));
        let history = match entries {
            Ok(count) => {
                let entries = counted(usize::try_from(count).unwrap_or_default(), "entry", "entries");
                format!("the history ({entries}) stays in the damaged file")
            }
            Err(_) => "the history stays in the damaged file".to_owned(),
        };
        self.losses.add("histories", history);
        self.losses.add("models", "models and suggestions stay with the damaged file; train again");
        Ok(corpus)
    }

    fn documents(&mut self) -> Vec<(i64, StoredDocument)> {
        let mut documents = Vec::new();
        let columns = columns_of(self.connection, "document").unwrap_or_default();
        // Of version 2, where a document was removed or not.
        let removed = if columns.contains("removed") { "iif(removed = 1, 'removed', 'there')" } else { "'there'" };
        let columns = [
            ("id", "rowid", 1),
            ("name", "'document ' || rowid", 1),
            ("text", "NULL", 1),
            ("kept", "NULL", 2),
            ("presence", removed, 3),
        ];
        let Some(table) = self.table(("document", DOCUMENTS), 1, &columns) else { return documents };
        table.each(&mut self.losses, |row, losses| {
            let id = row.integer(0)?;
            let (text, replaced) = whole_text(row.bytes(2)?);
            if replaced > 0 {
                let bytes = counted(replaced, "byte", "bytes");
                let line = format!("document {id}: {bytes} of its text, not UTF-8, replaced by \"?\"");
                losses.add("texts that are not UTF-8", line);
            }
            let mut tell = |error: ReadError| losses.add("parts of documents", error.to_string());
            let name = row
                .text(1)
                .map_err(Into::into)
                .map_err(&mut tell)
                .map_or_else(|()| format!("document {id}"), str::to_owned);
            let kept = row.text_or_null(3).map_err(ReadError::from).and_then(|json| match json {
                Some(json) => {
                    let no_json = |_| row.because(3, Malformed("what a document keeps is not JSON")).into();
                    serde_json::from_str(json).map_err(no_json)
                }
                None => Ok(Kept::new()),
            });
            let kept = kept.map_err(&mut tell).unwrap_or_default();
            // One of which it can't be told is there: to set it aside again is easy.
            let presence = row
                .text(4)
                .and_then(|word| Presence::from_id(word).ok_or_else(|| row.unknown(4, "there, excluded or removed")));
            let presence = presence.map_err(Into::into).map_err(&mut tell).unwrap_or_default();
            documents.push((id, StoredDocument { name, text: text.into(), kept, presence, sentences: Vec::new() }));
            Ok(())
        });
        documents
    }

    /// By their documents, and whether some are lost.
    fn sentences(&mut self) -> (Sentences, bool) {
        let mut rows: Vec<(i64, SentenceId, NewSentence)> = Vec::new();
        let columns = [
            ("id", "rowid", 1),
            ("document", "NULL", 1),
            ("tokens", "NULL", 1),
            ("status", "'untouched'", 1),
            ("split", "'rest'", 1),
        ];
        let mut loses_sentences = true;
        if let Some(table) = self.table(("sentence", SENTENCES), 1, &columns) {
            let reached_all = table.each(&mut self.losses, |row, losses| {
                let tokens = unpack_tokens(row.blob(2)?).map_err(|error| row.because(2, error))?;
                let mut tell = |error: ReadError| losses.add("parts of sentences", error.to_string());
                let status = row
                    .text(3)
                    .and_then(|word| Status::from_id(word).ok_or_else(|| row.unknown(3, "a status that there is")));
                let split = row
                    .text(4)
                    .and_then(|word| Split::from_id(word).ok_or_else(|| row.unknown(4, "a split that there is")));
                let is_sure = status.is_ok() && split.is_ok();
                let status = status.map_err(Into::into).map_err(&mut tell).unwrap_or_default();
                let split = split.map_err(Into::into).map_err(&mut tell).unwrap_or_default();
                // What may be kept for scoring is not to train.
                let status = if is_sure { status } else { Status::InProgress };
                rows.push((
                    row.integer(1)?,
                    row.sentence(0)?,
                    NewSentence { tokens, status, split, ..NewSentence::default() },
                ));
                Ok(())
            });
            // A row that could be reached and not read is told as one of these, too.
            loses_sentences = !reached_all || self.losses.first(SENTENCES).is_some();
        }
        self.add_mentions(&mut rows);
        self.add_rejections(&mut rows);
        let mut sentences: Sentences = HashMap::new();
        for (document, id, sentence) in rows {
            sentences.entry(document).or_default().push((id, sentence));
        }
        (sentences, loses_sentences)
    }

    fn add_mentions(&mut self, rows: &mut [(i64, SentenceId, NewSentence)]) {
        let provenance = match columns_of(self.connection, "mention") {
            Ok(columns) if !columns.contains("model") => "iif(provenance = 'accepted', 'person', provenance)",
            _ => "'import'",
        };
        let columns = [
            ("sentence", "NULL", 1),
            ("id", "NULL", 1),
            ("label", "NULL", 1),
            ("start_token", "NULL", 1),
            ("end_token", "NULL", 1),
            ("fragments", "NULL", 1),
            ("attributes", "NULL", 1),
            ("note", "''", 1),
            ("provenance", provenance, 1),
            ("model", "NULL", 1),
            ("source_id", "NULL", 2),
        ];
        let Some(table) = self.table(("mention", MENTIONS), 2, &columns) else {
            rows.iter_mut().for_each(|(_, _, sentence)| sentence.doubt());
            return;
        };
        let read = |row: Fields<'_>| to_mention(row);
        let found: Found<Mention> = self.of_sentences(&table, rows, &read);
        for (_, id, sentence) in rows.iter_mut() {
            if found.doubtful.contains(&id.0) || found.all_are_doubtful {
                sentence.doubt();
            }
        }
        let mut of_sentences = found.rows;
        for (_, id, sentence) in rows.iter_mut() {
            sentence.mentions = of_sentences.remove(&id.0).unwrap_or_default();
        }
        self.tell_orphans(of_sentences.values().map(Vec::len).sum(), "mention", "mentions");
    }

    fn add_rejections(&mut self, rows: &mut [(i64, SentenceId, NewSentence)]) {
        let columns =
            [("sentence", "NULL", 1), ("start_token", "NULL", 1), ("end_token", "NULL", 1), ("label", "NULL", 1)];
        let Some(table) = self.table(("rejected", REJECTIONS), 4, &columns) else { return };
        let read = |row: Fields<'_>| Ok((to_span(row, 1)?, row.label(3)?));
        let mut found: Found<(Span, LabelId)> = self.of_sentences(&table, rows, &read);
        for (_, id, sentence) in rows.iter_mut() {
            sentence.rejected = found.rows.remove(&id.0).unwrap_or_default().into_iter().collect();
        }
        self.tell_orphans(found.rows.values().map(Vec::len).sum(), "rejection", "rejections");
    }

    fn tell_orphans(&mut self, count: usize, one: &str, several: &str) {
        if count > 0 {
            let rows = counted(count, one, several);
            self.losses.add("groups of rows without a sentence", format!("{rows} whose sentence can't be read"));
        }
    }

    /// The rows of a table that belong to sentences: in one pass, or where that breaks off sentence by sentence.
    fn of_sentences<T: PartialEq>(
        &mut self,
        table: &Table<'_>,
        sentences: &[(i64, SentenceId, NewSentence)],
        read: &dyn Fn(Fields<'_>) -> Result<T, ReadError>,
    ) -> Found<T> {
        let mut found = Found::with_room(self.file_bytes);
        let mut losses = Losses::default();
        let reached_all = table.each(&mut losses, |row, _| found.take(row, read));
        if reached_all {
            self.losses.append(losses);
            return found;
        }
        let scanned = std::mem::replace(&mut found, Found::with_room(self.file_bytes));
        self.allowance.renew(self.file_bytes);
        let known = |found: &Found<T>| found.rows.values().map(Vec::len).sum::<usize>();
        let mut looked_up = Losses::default();
        for (_, id, _) in sentences {
            let all = table.of_sentence(i64::from(id.0), &mut looked_up, |row| found.take(row, read));
            if !all {
                found.doubtful.insert(id.0);
            }
        }
        // By sentence nothing is found where the table is another one.
        if known(&found) >= known(&scanned) {
            self.losses.append(looked_up);
            return found;
        }
        self.losses.append(losses);
        Found { all_are_doubtful: true, ..scanned }
    }

    fn labels(&mut self) -> Vec<Label> {
        let mut found: Vec<(i64, Label)> = Vec::new();
        let columns = [
            ("id", "rowid", 1),
            ("position", "rowid", 1),
            ("name", "'label-' || rowid", 1),
            ("title", "''", 1),
            ("color", "''", 1),
            ("key", "NULL", 1),
        ];
        let Some(table) = self.table(("label", "rows of label"), 1, &columns) else { return Vec::new() };
        let mut ids = HashSet::new();
        table.each(&mut self.losses, |row, losses| {
            let mut tell = |error: ReadError| losses.add("parts of labels", error.to_string());
            let (id, name) = (row.label(0)?, row.text(2)?.to_owned());
            let position = row.integer(1).map_err(Into::into).map_err(&mut tell).unwrap_or(i64::MAX);
            let title = row.text(3).map_err(Into::into).map_err(&mut tell).unwrap_or_default().to_owned();
            let color =
                row.text(4).and_then(|hex| Rgb::from_hex(hex).ok_or_else(|| row.unknown(4, "a colour as #RRGGBB")));
            let color = color.map_err(Into::into).map_err(&mut tell);
            let color = color.unwrap_or(LabelSet::default().propose("").color);
            let key = row.text_or_null(5).map_err(Into::into).map_err(&mut tell).unwrap_or_default();
            let key = key.and_then(|key| key.chars().next());
            if found.len() < LABELS && ids.insert(id) {
                found.push((position, Label { id, name, title, color, key }));
                return Ok(());
            }
            Err(row.because(0, Malformed("there twice, or more labels than a project has room for")).into())
        });
        found.sort_by_key(|(position, _)| *position);
        found.into_iter().map(|(_, label)| label).collect()
    }

    fn settings(&mut self) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::new();
        let columns = [("key", "NULL", 1), ("value", "NULL", 1)];
        if let Some(table) = self.table(("setting", "settings"), 1, &columns) {
            table.each(&mut self.losses, |row, _| {
                settings.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
                Ok(())
            });
        }
        settings
    }

    fn table(
        &mut self,
        name: (&'static str, &'static str),
        key_columns: usize,
        columns: &[Column],
    ) -> Option<Table<'c>> {
        self.allowance.renew(self.file_bytes);
        Table::find(self.connection, self.allowance, self.version, name, key_columns, columns, &mut self.losses)
    }
}

/// Rows that belong to sentences.
struct Found<T> {
    rows: HashMap<u32, Vec<T>>,
    /// Sentences of which rows are lost.
    doubtful: HashSet<u32>,
    all_are_doubtful: bool,
    room: u64,
}

/// No row is shorter.
const BYTES_OF_ROW: u64 = 4;

impl<T: PartialEq> Found<T> {
    /// As many rows as a file of this size can hold.
    fn with_room(file_bytes: u64) -> Self {
        let room = file_bytes / BYTES_OF_ROW;
        Self { rows: HashMap::new(), doubtful: HashSet::new(), all_are_doubtful: false, room }
    }

    fn take(&mut self, row: Fields<'_>, read: &dyn Fn(Fields<'_>) -> Result<T, ReadError>) -> Result<(), ReadError> {
        let sentence = row.sentence(0)?;
        let value = read(row);
        if value.is_err() {
            self.doubtful.insert(sentence.0);
        }
        let value = value?;
        let others = self.rows.entry(sentence.0).or_default();
        // Pages that are reached twice give the same rows again.
        if others.last() != Some(&value) {
            self.room = self.room.checked_sub(1).ok_or(Malformed("more rows than the file has room for"))?;
            others.push(value);
        }
        Ok(())
    }
}

impl NewSentence {
    /// What is missing would be learned as nothing.
    pub(super) fn doubt(&mut self) {
        if self.status == Status::Complete {
            self.status = Status::InProgress;
        }
    }
}

/// A text, with "?" for each byte that is not UTF-8, so that offsets stay; and how many these are.
fn whole_text(bytes: &[u8]) -> (String, usize) {
    let (mut text, mut replaced) = (String::with_capacity(bytes.len()), 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
        replaced += chunk.invalid().len();
    }
    (text, replaced)
}
