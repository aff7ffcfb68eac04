//! The project file equals the corpus in memory, and refuses what it can't keep safe.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

#[cfg(unix)]
mod companions;
mod contents;
mod edits;
mod failures;
mod opening;
mod rescue;
#[cfg(unix)]
mod taken;
mod versions;

use crossbeam_channel::{Receiver, unbounded};
use nestling::annotation::*;
use nestling::store::*;
use nestling::text::{SentenceSplit, Tokens, split_sentences};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const TEXT: &str =
    "\u{feff}The mayor of the city of Aarhus met Anna Berg.\r\nShe chairs the Harbour Board. It rained 💩 all day.";

/// A project as the session keeps it: corpus, history and writer.
struct Project {
    corpus: Corpus,
    history: History,
    writer: Writer,
    events: Receiver<WriterEvent>,
    stamp: Stamp,
    path: PathBuf,
    dir: TempDir,
}

impl Project {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("p.nestling");
        let store =
            Store::create(&path, &NewProject { labels: labels(&["PER", "LOC"]), ..Default::default() }).unwrap();
        let mut contents = store.load().unwrap();
        drop(store);
        let mut project = Self::open(path, dir, &mut contents);
        let mut after = project.corpus.clone();
        after.add_document(document("a", TEXT)).unwrap();
        let import = Import::between(&project.corpus, after.clone(), "Import a", Stamp::default(), "{}");
        project.history.record(Step::Do, import.inverse());
        project.writer.import(import).unwrap();
        assert!(matches!(project.events.recv().unwrap(), WriterEvent::Saved { revision: 1 }));
        project.corpus = after;
        project
    }

    fn open(path: PathBuf, dir: TempDir, contents: &mut Contents) -> Self {
        let (sender, events) = unbounded();
        let store = Store::open(&path).unwrap();
        let writer = Writer::start(store, move |event| sender.send(event).unwrap_or_default()).unwrap();
        let Contents { corpus, history, .. } = std::mem::take(contents);
        Self { corpus, history, writer, events, stamp: Stamp::default(), path, dir }
    }

    fn reopen(self) -> (Contents, PathBuf, TempDir) {
        self.writer.close().unwrap();
        let store = Store::open(&self.path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        (store.load().unwrap(), self.path.clone(), self.dir)
    }

    fn entry(&self) -> LogEntry {
        let transaction = Transaction::new("nothing", vec![]);
        let inverse = transaction.clone().inverse();
        LogEntry { step: Step::Do, transaction, inverse, stamp: Stamp::default(), revision: 0 }
    }

    /// Applies in memory and sends to the file, without waiting.
    fn send(&mut self, step: Step, transaction: Transaction) {
        let inverse = self.corpus.apply(transaction.clone()).unwrap();
        self.history.record(step, inverse.clone());
        let (stamp, revision) = (self.stamp.clone(), self.corpus.revision());
        self.writer.apply(LogEntry { step, transaction, inverse, stamp, revision }).unwrap();
    }

    fn edit(&mut self, step: Step, transaction: Transaction) {
        self.send(step, transaction);
        let want = self.corpus.revision();
        while !matches!(self.events.recv().unwrap(), WriterEvent::Saved { revision } if revision == want) {}
    }

    fn undo(&mut self) -> bool {
        let next = self.history.next_undo().cloned();
        next.map(|transaction| self.send(Step::Undo, transaction)).is_some()
    }

    fn redo(&mut self) -> bool {
        let next = self.history.next_redo().cloned();
        next.map(|transaction| self.send(Step::Redo, transaction)).is_some()
    }
}

fn status(sentence: u32, old: Status, new: Status) -> Edit {
    Edit::SetStatus { sentence: SentenceId(sentence), old, new }
}

fn span(start: usize, end: usize) -> Span {
    Span::from_range(start..end).unwrap()
}

fn labels(names: &[&str]) -> LabelSet {
    let mut corpus = Corpus::default();
    for name in names {
        let (at, label) = (corpus.labels().len(), corpus.labels().propose(name));
        corpus.apply(Transaction::new("", vec![Edit::InsertLabel { at, label }])).unwrap();
    }
    corpus.labels().clone()
}

fn document(name: &str, text: &str) -> NewDocument {
    let sentences = split_sentences(text, SentenceSplit::Prose, Tokens::Words).into_iter();
    let sentences = sentences.map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
    NewDocument { name: name.into(), text: text.into(), kept: Kept::new(), sentences }
}

/// With a new label, a mention of it, a rejection, and a document without sentences.
fn with_second_document(corpus: &Corpus) -> Corpus {
    let mut after = corpus.clone();
    let label = after.labels().propose("GPE");
    let (at, id) = (after.labels().len(), label.id);
    after.apply(Transaction::new("", vec![Edit::InsertLabel { at, label }])).unwrap();
    let mut new = document("b", "Grelsund lies by the sea.\n");
    new.sentences[0].mentions.push(Mention::new(after.next_mention_id(), span(0, 1), id, Provenance::Import));
    new.sentences[0].rejected.insert((span(3, 5), id));
    after.add_document(new).unwrap();
    after.add_document(document("empty", "\u{feff}\n")).unwrap();
    after
}

fn assert_same(got: &Corpus, want: &Corpus) {
    assert_eq!(got.labels(), want.labels());
    assert_eq!(got.all_documents(), want.all_documents());
    assert!(got.all_sentences().eq(want.all_sentences()) && got.sentences().eq(want.sentences()));
    assert_eq!(got.next_sentence_id(), want.next_sentence_id());
    assert_eq!(got.next_mention_id(), want.next_mention_id());
    assert_eq!(got.revision(), want.revision());
}

/// Every row of every table but the log and the counters, and every term of the search index.
fn dump(path: &Path) -> String {
    let db = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    db.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'search', 'instance')").unwrap();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%' ORDER BY name";
    let mut statement = db.prepare(tables).unwrap();
    let tables: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut lines = Vec::new();
    for table in tables.iter().map(String::as_str).filter(|t| !["log", "project"].contains(t)).chain(["terms"]) {
        let mut statement = db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut of_table = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap()));
            of_table.push(format!("{table} {}", values.collect::<Vec<_>>().join(" ")));
        }
        of_table.sort();
        lines.append(&mut of_table);
    }
    lines.join("\n")
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Names and bytes of all files.
fn snapshot(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let files = files(dir).into_iter().filter(|name| dir.join(name).is_file());
    files.map(|name| (name.clone(), fs::read(dir.join(name)).unwrap())).collect()
}
