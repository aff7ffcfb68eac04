//! Getting out of a damaged file what can still be read, into a new one.
//!
//! # Invariants
//! - The damaged file stays as it is, byte for byte; a copy of it is read.
//! - Row by row, so that a broken page costs the rows on it and no others. Each row that breaks a rule is listed.
//! - Words outlive their sentences: where the rows of sentences are lost, the words are cut into sentences again.
//! - What comes out passes [`Store::check`].
//!
//! Deliberately absent: the history. Its edits expect a state that may be gone; the damaged file still has it.

use super::load::{ReadError, to_mention, to_sentence, to_span};
use super::{Import, NewProject, Stamp, Store, StoreError, Writer, copy, file};
use crate::annotation::{
    Corpus, Edit, Kept, Label, LabelId, LabelSet, Mention, MentionId, NewSentence, Presence, SentenceId, Split, Status,
    StoredDocument, Transaction,
};
use crate::text::{SentenceSplit, TextRange, Tokens, split_sentences};
use crate::wording::counted;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where nothing says how many rows there are, so many missing in a row are the end.
const MISSING_AT_END: i64 = 100_000;

/// What came out of a damaged file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rescued {
    /// The new project.
    pub path: PathBuf,
    /// The excluded ones among them, with what is in them.
    pub documents: usize,
    pub sentences: usize,
    pub mentions: usize,
    /// What could not be read or had to be changed, a line each.
    pub lost: Vec<String>,
}

/// Where the rescued project lies: `NAME.rescued.nestling`.
pub fn rescued_path(project: &Path) -> PathBuf {
    project.with_extension("rescued.nestling")
}

/// Reads what can be read of a project into a new one beside it; see [`rescued_path`]. The old one is not changed.
///
/// # Errors
/// A file that is no project, one of a newer program, one that another process writes, one of which nothing can be read;
/// a rescued project that is there already.
pub fn rescue(path: &Path) -> Result<Rescued, StoreError> {
    let to = rescued_path(path);
    let folder = copy::folder_of(&to)?;
    match file::check_header(path) {
        Ok(()) | Err(StoreError::Damaged { .. }) => {}
        Err(error) => return Err(error),
    }
    let _lock = super::lock::Lock::take(path)?;
    let workplace = tempfile::Builder::new().prefix(".rescue-").tempdir_in(folder);
    let workplace = workplace.map_err(|source| StoreError::io("copy the project", source, path))?;
    let connection = open_copy(path, workplace.path())?;
    let mut reading = Reading::start(&connection, path).map_err(|error| match error {
        StoreError::Damaged { detail, path } => StoreError::BeyondRescue { detail, path },
        other => other,
    })?;
    let found = reading.corpus()?;
    let lost = std::mem::take(&mut reading.lost);
    let broken_document = lost.iter().find(|line| line.starts_with("document "));
    if let Some(detail) = broken_document.filter(|_| found.all_documents().is_empty()) {
        return Err(StoreError::BeyondRescue { detail: detail.clone(), path: path.to_owned() });
    }
    let settings = reading.settings();

    let new = NewProject { labels: found.labels().clone(), settings };
    let unfinished = workplace.path().join("rescued.nestling");
    let store = Store::create(&unfinished, &new)?;
    let base = store.load()?.corpus;
    let mut rescued = Rescued { path: to.clone(), lost, ..Rescued::default() };
    rescued.documents = found.all_documents().len();
    rescued.sentences = found.all_sentences().count();
    rescued.mentions = found.all_sentences().map(|s| s.mentions().len()).sum();
    let receipt = serde_json::json!({ "rescued_from": path, "lost": rescued.lost }).to_string();
    let writer = Writer::start(store, |_| ())?;
    writer.import(Import::between(&base, found, "Rescue", Stamp::default(), receipt))?;
    writer.close()?;
    let store = Store::open(&unfinished)?;
    if let Some(detail) = store.check()?.into_iter().next() {
        return Err(StoreError::Damaged { detail, path: path.to_owned() });
    }
    store.save_copy(&to)?;
    Ok(rescued)
}

/// Opens a copy, so that SQLite may put in what waits in the write-ahead log.
fn open_copy(path: &Path, workplace: &Path) -> Result<Connection, StoreError> {
    let io = |source| StoreError::io("copy the project", source, path);
    let copied = workplace.join("damaged.nestling");
    std::fs::copy(path, &copied).map_err(io)?;
    fill_up(&copied).map_err(io)?;
    if file::log_path(path).is_file() {
        std::fs::copy(file::log_path(path), file::log_path(&copied)).map_err(io)?;
    }
    let failed = |source| StoreError::sqlite("read the project", source, path);
    let connection = Connection::open(&copied).map_err(failed)?;
    // Of a list of tables that breaks off, those before the break can be read: the first statement fails, the next ones know
    // what it has found.
    connection.pragma_update(None, "writable_schema", true).map_err(failed)?;
    let _first = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    Ok(connection)
}

/// Puts empty pages in the place of those that a file which was cut off lacks: SQLite reads nothing of one that is too short.
fn fill_up(path: &Path) -> std::io::Result<()> {
    let mut head = [0; 32];
    let mut file = File::open(path)?;
    if file.read_exact(&mut head).is_err() {
        return Ok(()); // too short for a header: SQLite says so
    }
    let (metadata, whole) = (file.metadata()?, file::bytes_of_whole(&head));
    // A header that is damaged itself may ask for any size.
    if metadata.len() >= whole || whole / 64 >= metadata.len() {
        return Ok(());
    }
    // The copy of a file that can't be written can't be written either.
    let mut permissions = metadata.permissions();
    #[expect(clippy::permissions_set_readonly_false, reason = "a copy of our own, deleted when it is read")]
    permissions.set_readonly(false);
    std::fs::set_permissions(path, permissions)?;
    File::options().write(true).open(path)?.set_len(whole)
}

struct Reading<'c> {
    connection: &'c Connection,
    path: &'c Path,
    version: i64,
    lost: Vec<String>,
}

impl<'c> Reading<'c> {
    fn start(connection: &'c Connection, path: &'c Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::sqlite("read the project", source, path);
        let version = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
        super::migrations::check_version(version, path)?;
        // Without the list of tables there is nothing to go by.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(failed)?;
        Ok(Self { connection, path, version, lost: Vec::new() })
    }

    fn corpus(&mut self) -> Result<Corpus, StoreError> {
        let labels = self.labels();
        let documents = self.rows("document", |reading, id| reading.document(id));
        let sentences = self.rows("sentence", |reading, id| reading.sentence(id));
        let mut of_documents: BTreeMap<i64, Vec<(SentenceId, NewSentence)>> = BTreeMap::new();
        for (_, (document, id, sentence)) in sentences {
            of_documents.entry(document).or_default().push((id, sentence));
        }
        let last = of_documents.values().flatten().map(|(id, _)| id.0).max();
        let mut next_id = last.map_or(0, |last| last.saturating_add(1));
        let mut corpus = Corpus::new(self.label_set(labels, &of_documents)?, MentionId(0), 1);
        let loses_sentences = self.lost.iter().any(|line| line.starts_with("sentence "));
        for (id, mut document) in documents {
            let mut sentences = of_documents.remove(&id).unwrap_or_default();
            if document.presence == Presence::Removed {
                self.lost.push(format!("the document {:?}, which had been removed", document.name));
                continue;
            }
            sentences.sort_by_key(|(_, sentence)| sentence.tokens.first().map(|token| token.start()));
            let all = sentences.len();
            document.sentences = self.fitting(&document, sentences);
            if loses_sentences || document.sentences.len() < all {
                self.cut_again(&mut document, &mut next_id);
            }
            corpus.restore_document(document).map_err(|error| self.damaged(error.to_string()))?;
        }
        for (document, sentences) in of_documents {
            self.lost.push(format!(
                "{} whose document {document} can't be read",
                counted(sentences.len(), "sentence", "sentences")
            ));
        }
        let entries: rusqlite::Result<i64> =
            self.connection.query_row("SELECT count(*) FROM log", [], |row| row.get(0));
        self.lost.push(match entries {
            Ok(count) => {
                let entries = counted(usize::try_from(count).unwrap_or_default(), "entry", "entries");
                format!("the history ({entries}) stays in the damaged file")
            }
            Err(_) => "the history stays in the damaged file".to_owned(),
        });
        self.lost.push("models and suggestions stay with the damaged file; train again".to_owned());
        Ok(corpus)
    }

    /// All rows of a table that can be read, by their ids; the others are noted.
    fn rows<T>(&mut self, table: &str, read: impl Fn(&mut Self, i64) -> Result<Option<T>, ReadError>) -> Vec<(i64, T)> {
        let sql = format!("SELECT max(id) FROM {table}");
        let last = self.connection.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0));
        let (last, mut missing) = (last.map(|last| last.unwrap_or(-1)), 0);
        let mut rows = Vec::new();
        // Those since the last row that could be read, up to so many: behind the end each id is on a page that can't be.
        let mut broken = Vec::new();
        for id in 0.. {
            let is_over = last.as_ref().map_or(missing > MISSING_AT_END, |last| id > *last);
            if is_over {
                break;
            }
            match read(self, id) {
                Ok(Some(row)) => {
                    missing = 0;
                    self.lost.append(&mut broken);
                    rows.push((id, row));
                }
                Ok(None) => missing += 1,
                Err(error) => {
                    missing += 1;
                    if last.is_ok() || missing < 100 {
                        broken.push(format!("{table} {id}: {error}"));
                    }
                }
            }
        }
        if last.is_err() && broken.len() > 1 {
            let first = broken.swap_remove(0);
            broken = vec![format!("{first}, and so with all that may come after it")];
        }
        self.lost.append(&mut broken);
        rows
    }

    fn document(&self, id: i64) -> Result<Option<StoredDocument>, ReadError> {
        let more = match self.version {
            ..2 => "NULL, 'there'",
            2 => "kept, iif(removed, 'removed', 'there')",
            _ => "kept, presence",
        };
        let sql = format!("SELECT name, text, {more} FROM document WHERE id = ?1");
        let read = |row: &Row<'_>| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, Option<String>>(2)?,
                row.get::<_, String>(3)?,
            ))
        };
        let Some((name, text, kept, presence)) =
            self.connection.prepare_cached(&sql)?.query_row([id], read).optional()?
        else {
            return Ok(None);
        };
        let kept: Kept = kept.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        // One of which it can't be told is there: to set it aside again is easy.
        let presence = Presence::from_id(&presence).unwrap_or_default();
        Ok(Some(StoredDocument { name, text: text.into(), kept, presence, sentences: Vec::new() }))
    }

    fn sentence(&mut self, id: i64) -> Result<Option<(i64, SentenceId, NewSentence)>, ReadError> {
        let sql = "SELECT id, document, tokens, status, split FROM sentence WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (document, number) = (row.get(1)?, row.get(0)?);
        let mut sentence = to_sentence(row)?;
        let known_losses = self.lost.len();
        sentence.mentions = self.mentions(id);
        if self.lost.len() > known_losses && sentence.status == Status::Complete {
            // What is missing would be learned as nothing.
            sentence.status = Status::InProgress;
        }
        let sql = "SELECT sentence, start_token, end_token, label FROM rejected WHERE sentence = ?1";
        let rejected = self.of_sentence(id, sql, "rejections", |row| Ok((to_span(row, 1)?, LabelId(row.get(3)?))));
        sentence.rejected = rejected.into_iter().collect();
        Ok(Some((document, SentenceId(number), sentence)))
    }

    fn mentions(&mut self, sentence: i64) -> Vec<Mention> {
        let source_id = if self.version >= 2 { "source_id" } else { "NULL" };
        let sql = format!(
            "SELECT sentence, id, label, start_token, end_token, fragments, attributes, note, provenance, model,
                {source_id} FROM mention WHERE sentence = ?1 ORDER BY id"
        );
        self.of_sentence(sentence, &sql, "mentions", to_mention)
    }

    /// The rows of a sentence up to the first one that can't be reached.
    fn of_sentence<T>(
        &mut self,
        id: i64,
        sql: &str,
        what: &str,
        read: impl Fn(&Row<'_>) -> Result<T, ReadError>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        let mut scan = || -> Result<(), ReadError> {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query([id])?;
            while let Some(row) = rows.next()? {
                match read(row) {
                    Ok(value) => found.push(value),
                    Err(error) => self.lost.push(format!("one of the {what} of sentence {id}: {error}")),
                }
            }
            Ok(())
        };
        if let Err(error) = scan() {
            self.lost.push(format!("{what} of sentence {id}: {error}"));
        }
        found
    }

    /// Without sentences that overlap or lie outside the text, and without mentions and rejections outside theirs.
    fn fitting(
        &mut self,
        document: &StoredDocument,
        sentences: Vec<(SentenceId, NewSentence)>,
    ) -> Vec<(SentenceId, NewSentence)> {
        let mut end = 0;
        let mut fitting = Vec::with_capacity(sentences.len());
        for (id, mut sentence) in sentences {
            let fits = !sentence.tokens.is_empty()
                && sentence
                    .tokens
                    .iter()
                    .try_fold(end, |end, token| {
                        (token.start().get() >= end && document.text.get(token.bytes()).is_some())
                            .then_some(token.end().get())
                    })
                    .is_some();
            if !fits {
                self.lost.push(format!("sentence {}: its tokens are not those of the text", id.0));
                continue;
            }
            end = sentence.tokens.last().map_or(end, |token| token.end().get());
            let tokens = sentence.tokens.len();
            let (mut ids, mut said) = (HashSet::new(), HashSet::new());
            let before = sentence.mentions.len();
            sentence.mentions.retain(|m| {
                let inside = m.hull().end().get() <= tokens;
                inside && ids.insert(m.id) && said.insert((m.fragments.clone(), m.label))
            });
            sentence.rejected.retain(|(span, _)| span.end().get() <= tokens);
            if sentence.mentions.len() < before {
                let count = before - sentence.mentions.len();
                self.lost.push(format!(
                    "{} of sentence {}: outside of it, or there twice",
                    counted(count, "mention", "mentions"),
                    id.0
                ));
                if sentence.status == Status::Complete {
                    sentence.status = Status::InProgress;
                }
            }
            fitting.push((id, sentence));
        }
        fitting
    }

    /// Words that are in no sentence any more become sentences again.
    fn cut_again(&mut self, document: &mut StoredDocument, next_id: &mut u32) {
        let ends = |s: &NewSentence| {
            let (first, last) = (s.tokens.first(), s.tokens.last());
            (first.map_or(0, |t| t.start().get()), last.map_or(0, |t| t.end().get()))
        };
        let mut gaps = Vec::new();
        let mut at = 0;
        for (start, end) in document.sentences.iter().map(|(_, s)| ends(s)).chain([(document.text.len(), 0)]) {
            gaps.push(at..start);
            at = end;
        }
        for gap in gaps {
            let words = document.text.get(gap.clone()).unwrap_or_default();
            for tokens in split_sentences(words, SentenceSplit::Prose, Tokens::Words) {
                let moved = |t: &TextRange| {
                    TextRange::in_text(&document.text, gap.start + t.start().get()..gap.start + t.end().get())
                };
                let tokens = tokens.iter().filter_map(moved).collect();
                let sentence = NewSentence { tokens, split: Split::Rest, ..NewSentence::default() };
                self.lost.push(format!("a sentence of {:?} was cut again, without its mentions", document.name));
                document.sentences.push((SentenceId(*next_id), sentence));
                *next_id = next_id.saturating_add(1);
            }
        }
        document.sentences.sort_by_key(|(_, s)| s.tokens.first().map(|t| t.start()));
    }

    fn labels(&mut self) -> Vec<Label> {
        let mut found = Vec::new();
        for (_, label) in self.rows("label", |reading, id| Ok(reading.label(id)?)) {
            found.push(label);
        }
        found.sort_by_key(|(position, _)| *position);
        found.into_iter().map(|(_, label)| label).collect()
    }

    fn label(&self, id: i64) -> rusqlite::Result<Option<(i64, Label)>> {
        let sql = "SELECT position, id, name, title, color, key FROM label WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let read = |row: &Row<'_>| {
            let (color, key): (String, Option<String>) = (row.get(4)?, row.get(5)?);
            let id = LabelId(row.get(1)?);
            let color = crate::annotation::Rgb::from_hex(&color).unwrap_or(LabelSet::default().propose("").color);
            let (name, title) = (row.get(2)?, row.get(3)?);
            Ok((row.get(0)?, Label { id, name, title, color, key: key.and_then(|k| k.chars().next()) }))
        };
        statement.query_row([id], read).optional()
    }

    /// The labels, with one made for each that only mentions know of.
    fn label_set(
        &mut self,
        mut labels: Vec<Label>,
        sentences: &BTreeMap<i64, Vec<(SentenceId, NewSentence)>>,
    ) -> Result<LabelSet, StoreError> {
        let used = sentences.values().flatten().flat_map(|(_, s)| s.mentions.iter().map(|m| m.label));
        let mut unknown: Vec<LabelId> = used.filter(|id| labels.iter().all(|l| l.id != *id)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        for id in unknown {
            let name = format!("label-{}", id.0);
            self.lost.push(format!("the name of a label, which is called {name} now"));
            labels.push(Label { id, key: None, ..LabelSet::default().propose(&name) });
        }
        let next = labels.iter().map(|l| l.id.0).max().map_or(0, |last| last.saturating_add(1));
        let mut corpus = Corpus::new(LabelSet::restore(Vec::new(), LabelId(next)).unwrap_or_default(), MentionId(0), 0);
        for mut label in labels {
            if corpus.labels().check(&label).is_err() {
                label.key = None;
            }
            while corpus.labels().check(&label).is_err() {
                self.lost.push(format!("the name of the label {:?}, which is there twice or empty", label.name));
                label.name += &format!("-{}", label.id.0);
            }
            let at = corpus.labels().len();
            corpus
                .apply(Transaction::new("", vec![Edit::InsertLabel { at, label }]))
                .map_err(|error| self.damaged(error.to_string()))?;
        }
        Ok(corpus.labels().clone())
    }

    fn settings(&self) -> BTreeMap<String, String> {
        let read = || -> rusqlite::Result<BTreeMap<String, String>> {
            let mut statement = self.connection.prepare("SELECT key, value FROM setting")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.filter_map(Result::ok).collect())
        };
        read().unwrap_or_default()
    }

    fn damaged(&self, detail: String) -> StoreError {
        StoreError::Damaged { detail, path: self.path.to_owned() }
    }
}
