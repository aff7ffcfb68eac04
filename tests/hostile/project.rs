//! A project that has something of everything, and ways to alter it that the program itself does not have.

use nestling::annotation::*;
use nestling::store::*;
use nestling::text::{SentenceSplit, Tokens, split_sentences};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

const TEXT: &str =
    "The mayor of the city of Aarhus met Anna Berg.\r\nShe chairs the Harbour Board. It rained 💩 all day.";
/// Enough for tables of several pages.
const DOCUMENTS: u32 = 60;

/// A folder with one project file in it.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
}

impl Place {
    pub(crate) fn with(file: &[u8]) -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("p.nestling"), file).unwrap();
        Self { dir }
    }

    /// A sound project with something of everything.
    pub(crate) fn rich() -> Self {
        Self::with(rich())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("p.nestling")
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }

    /// Changes rows by SQL, without any of what protects them.
    pub(crate) fn alter(self, sql: &str) -> Self {
        loosely(&self.path(), |db| db.execute_batch(sql)).unwrap();
        self
    }

    /// Changes the file by SQL as any other program could.
    pub(crate) fn execute(self, sql: &str) -> Self {
        let db = Connection::open(self.path()).unwrap();
        db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        db.execute_batch(sql).unwrap();
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(db);
        self
    }

    /// What opening and reading says.
    pub(crate) fn refusal(&self) -> String {
        let error = Store::open_to_read(&self.path()).and_then(|store| store.load()).map(drop).unwrap_err();
        error.to_string().replace(&self.path().display().to_string(), "PATH")
    }

    pub(crate) fn rescue(&self) -> (Rescued, Contents) {
        let before = self.bytes();
        let rescued = rescue(&self.path()).unwrap();
        assert!(self.bytes() == before, "the damaged file is as it was");
        let store = Store::open(&rescued.path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        let contents = store.load().unwrap();
        assert_eq!(contents.corpus.all_sentences().count(), rescued.sentences);
        (rescued, contents)
    }
}

/// The bytes of a sound project.
pub(crate) fn rich() -> &'static [u8] {
    static RICH: OnceLock<Vec<u8>> = OnceLock::new();
    RICH.get_or_init(make)
}

fn make() -> Vec<u8> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("p.nestling");
    let settings =
        BTreeMap::from([("threshold".to_owned(), "0.4".to_owned()), ("max_width".to_owned(), "12".to_owned())]);
    let store = Store::create(&path, &NewProject { labels: labels(&["PER", "LOC", "ORG"]), settings }).unwrap();
    let base = store.load().unwrap().corpus;
    let mut corpus = base.clone();
    for number in 0..DOCUMENTS {
        corpus.add_document(document(number, corpus.next_mention_id())).unwrap();
    }
    let writer = Writer::start(store, |_| ()).unwrap();
    writer.import(Import::between(&base, corpus.clone(), "Import", Stamp::default(), "{}")).unwrap();
    let mut history = History::default();
    let mut step = |corpus: &mut Corpus, step: Step, transaction: Transaction| {
        let inverse = corpus.apply(transaction.clone()).unwrap();
        history.record(step, inverse.clone());
        let stamp =
            Stamp { author: "Ada".into(), time_ms: 1_700_000_000_000, active_ms: 2500, presses: 3, visible: vec![] };
        writer.apply(LogEntry { step, transaction, inverse, stamp, revision: corpus.revision() }).unwrap();
        (history.next_undo().cloned(), history.next_redo().cloned())
    };
    let add = Mention::new(corpus.next_mention_id(), span(8, 10), LabelId(0), Provenance::Accepted(ModelId(2)));
    let edits = vec![
        Edit::AddMention { sentence: SentenceId(0), mention: add },
        Edit::SetStatus { sentence: SentenceId(0), old: Status::Complete, new: Status::Flagged },
    ];
    step(&mut corpus, Step::Do, Transaction::new("Add PER", edits));
    let split = split_sentence(&corpus, SentenceId(3), 7).unwrap();
    let (undo, _) = step(&mut corpus, Step::Do, Transaction::new("Split a sentence", vec![split]));
    let (_, redo) = step(&mut corpus, Step::Undo, undo.unwrap());
    step(&mut corpus, Step::Redo, redo.unwrap());
    let label = corpus.labels().propose("GPE");
    let insert = Edit::InsertLabel { at: corpus.labels().len(), label };
    step(&mut corpus, Step::Do, Transaction::new("Add the label GPE", vec![insert]));
    for (documents, new) in [(vec![2, 3, 4], Presence::Excluded), (vec![7], Presence::Removed)] {
        let documents = documents.into_iter().map(DocumentId).collect();
        let edit = Edit::SetPresence { documents, old: Presence::There, new };
        step(&mut corpus, Step::Do, Transaction::new("Set documents aside", vec![edit]));
    }
    let reject = Edit::SetRejected { sentence: SentenceId(1), span: span(0, 1), label: LabelId(0), new: true };
    let (undo, _) = step(&mut corpus, Step::Do, Transaction::new("Reject PER", vec![reject]));
    step(&mut corpus, Step::Undo, undo.unwrap());
    for id in [1, 2] {
        let manifest = r#"{"architecture":"smartspanner","encoder":"small","train_sentences":20,"dev_f1":0.5,"calibration":[1.5,0.2,0.1],"bias":0.1}"#;
        let (manifest, manifest_sha256) = (manifest.to_owned(), None);
        writer
            .model(ModelRecord { id: ModelId(id), manifest, manifest_sha256, created_ms: 1_700_000_000_000 })
            .unwrap();
    }
    writer.set_current_model(Some(ModelId(2))).unwrap();
    let said = |s: &Sentence| SentenceSuggestions {
        model: ModelId(2),
        heads: vec![0.25; s.tokens().len()],
        spans: vec![Suggestion {
            span: span(0, 2),
            label: LabelId(1),
            score: 0.75,
            runner_up: Some((LabelId(0), 0.2)),
        }],
        acquisition: Some(Acquisition { entropy: 0.5, direction: vec![-3, 0, 7], ..Acquisition::default() }),
    };
    writer.suggestions(corpus.sentences().take(40).map(|s| (s.id(), said(s))).collect()).unwrap();
    for (model, split) in [(1, Split::Dev), (2, Split::Dev), (2, Split::Blind)] {
        writer.measurement(measurement(model, split)).unwrap();
    }
    writer.close().unwrap();
    std::fs::read(&path).unwrap()
}

fn measurement(model: u32, split: Split) -> Measurement {
    Measurement {
        model: ModelId(model),
        split,
        time_ms: 1_700_000_000_000,
        train_sentences: 20 * model as usize,
        train_tokens: 400,
        sentences: 25,
        true_positives: 12,
        false_positives: 3,
        false_negatives: 5,
        low: 0.4,
        high: 0.8,
    }
}

fn document(number: u32, first: MentionId) -> NewDocument {
    let sentences = split_sentences(TEXT, SentenceSplit::Prose, Tokens::Words).into_iter();
    let mut sentences: Vec<NewSentence> =
        sentences.map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
    let mention = |at: u64, spans: Vec<Span>, label, provenance| {
        Mention::new(MentionId(first.0 + at), Fragments::new(spans).unwrap(), LabelId(label), provenance)
    };
    sentences[0].mentions = vec![
        mention(0, vec![span(0, 1), span(6, 7)], 1, Provenance::Import),
        mention(1, vec![span(0, 7)], 0, Provenance::Person),
        mention(2, vec![span(6, 7)], 1, Provenance::Accepted(ModelId(1))),
    ];
    sentences[0].mentions[0].attributes = BTreeMap::from([("sure".to_owned(), "no".to_owned())]);
    sentences[0].mentions[1].note = "a note\nof two lines 💩".to_owned();
    sentences[0].mentions[1].source_id = Some("T1".to_owned());
    sentences[0].status = Status::Complete;
    sentences[1].mentions = vec![mention(3, vec![span(2, 5)], 2, Provenance::Rule)];
    sentences[1].rejected.insert((span(0, 1), LabelId(1)));
    sentences[1].split = if number.is_multiple_of(5) { Split::Test } else { Split::Rest };
    let kept = BTreeMap::from([("brat".to_owned(), "R1\tof Arg1:T1 Arg2:T2".to_owned())]);
    NewDocument { name: format!("d{number}"), text: TEXT.into(), kept, sentences }
}

fn labels(names: &[&str]) -> LabelSet {
    let mut corpus = Corpus::default();
    for name in names {
        let (at, label) = (corpus.labels().len(), corpus.labels().propose(name));
        corpus.apply(Transaction::new("", vec![Edit::InsertLabel { at, label }])).unwrap();
    }
    corpus.labels().clone()
}

pub(crate) fn span(start: usize, end: usize) -> Span {
    Span::from_range(start..end).unwrap()
}

/// Lets `change` write what the tables would refuse: any kind of value, in any number, anywhere.
pub(crate) fn loosely<T>(path: &Path, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let open = || -> rusqlite::Result<Connection> {
        let db = Connection::open(path)?;
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        db.execute_batch(
            "PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF",
        )?;
        Ok(db)
    };
    let db = open()?;
    let mut statement = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL")?;
    let tables: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    drop(statement);
    db.execute_batch(
        "UPDATE sqlite_schema SET sql = replace(replace(sql, 'STRICT, ', ''), ' STRICT', '')
        WHERE type = 'table' AND sql LIKE '%STRICT%'",
    )?;
    for kind in ["INTEGER", "TEXT", "BLOB", "REAL"] {
        let sql = "UPDATE sqlite_schema SET sql = replace(sql, ?1 || ' NOT NULL', ?1) WHERE type = 'table'";
        db.execute(sql, [kind])?;
    }
    drop(db);
    let changed = open().and_then(|db| change(&db));
    let db = open()?;
    for (name, sql) in tables {
        db.execute("UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1", [name, sql])?;
    }
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    changed
}

#[test]
fn the_rich_project_is_sound_and_rescued_whole() {
    let place = Place::rich();
    assert_eq!(Store::open(&place.path()).unwrap().check().unwrap(), Vec::<String>::new());
    // Loosening alone changes nothing.
    let place = place.alter("");
    assert_eq!(Store::open(&place.path()).unwrap().check().unwrap(), Vec::<String>::new());
    let (rescued, contents) = place.rescue();
    let (documents, sentences) = (DOCUMENTS as usize - 1, 3 * (DOCUMENTS as usize - 1) + 1);
    assert_eq!((rescued.documents, rescued.sentences), (documents, sentences));
    assert_eq!(contents.settings.len(), 2);
    expect_test::expect![[r#"
        the document "d7", which had been removed
        the history (10 entries) stays in the damaged file
        models and suggestions stay with the damaged file; train again"#]]
    .assert_eq(&rescued.lost.join("\n"));
}
