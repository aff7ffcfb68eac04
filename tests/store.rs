//! The project file equals the corpus in memory, and refuses what it can't keep safe.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use crossbeam_channel::{Receiver, unbounded};
use nestling::annotation::*;
use nestling::store::*;
use nestling::text::{SentenceSplit, Tokens, split_sentences};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const TEXT: &str =
    "\u{feff}The mayor of the city of Aarhus met Anna Berg.\r\nShe chairs the Harbour Board. It rained 💩 all day.";

// ---- what is stored comes back

#[test]
fn a_new_project_is_empty_and_one_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("new.nestling");
    let settings = BTreeMap::from([("theme".to_owned(), "dark".to_owned())]);
    let store =
        Store::create(&path, &NewProject { labels: labels(&["PER", "LOC"]), settings: settings.clone() }).unwrap();
    let contents = store.load().unwrap();
    assert_eq!(contents.corpus.labels(), &labels(&["PER", "LOC"]));
    assert_eq!((contents.corpus.revision(), contents.settings), (0, settings));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    Writer::start(store, |_| ()).unwrap().close().unwrap();
    assert_eq!(files(dir.path()), ["new.nestling"]);
}

#[test]
fn all_but_the_corpus_comes_back_too() {
    let project = Project::new();
    let spans = vec![
        Suggestion { span: span(0, 7), label: LabelId(0), score: 0.1 + 0.2, runner_up: Some((LabelId(1), 0.3)) },
        Suggestion { span: span(6, 7), label: LabelId(77), score: 1.0, runner_up: None },
    ];
    let older = SentenceSuggestions { model: ModelId(1), heads: vec![], spans: vec![], entropy: None };
    let newer = SentenceSuggestions { model: ModelId(2), heads: vec![0.1, 1.0, 0.0], spans, entropy: Some(0.7) };
    let model = |id, directory: &str| ModelRecord {
        id: ModelId(id),
        directory: directory.into(),
        manifest: "{}".into(),
        created_ms: 5,
    };
    let writer = &project.writer;
    writer.suggestions(vec![(SentenceId(0), older.clone()), (SentenceId(1), older.clone())]).unwrap();
    writer.suggestions(vec![(SentenceId(0), newer.clone())]).unwrap();
    for record in [model(1, "one"), model(2, "to be replaced"), model(2, "two")] {
        writer.model(record).unwrap();
    }
    writer.set_current_model(Some(ModelId(1))).unwrap();
    writer.set_current_model(Some(ModelId(2))).unwrap();
    writer.setting("a", Some("1".into())).unwrap();
    writer.setting("b", Some("2".into())).unwrap();
    writer.setting("a", None).unwrap();
    let contents = project.reopen().0;
    assert_eq!(contents.suggestions.get(&SentenceId(0)), Some(&newer));
    assert_eq!(contents.suggestions.get(&SentenceId(1)), Some(&older));
    assert_eq!(contents.models, [model(1, "one"), model(2, "two")]);
    assert_eq!(contents.current_model, Some(ModelId(2)));
    assert_eq!(contents.settings, BTreeMap::from([("b".to_owned(), "2".to_owned())]));
}

#[test]
fn an_import_comes_back_whole() {
    let mut project = Project::new();
    project.edit(Step::Do, Transaction::new("Complete", vec![status(0, Status::Untouched, Status::Complete)]));
    let before = project.corpus.clone();
    let after = with_second_document(&before);
    let mut import = Import::between(&before, &after, "Import b.txt", Stamp::default(), "{\"left_out\":0}");
    let suggestions = SentenceSuggestions { model: ModelId(0), heads: vec![], spans: vec![], entropy: None };
    import.suggestions.push((SentenceId(3), suggestions.clone()));
    project.writer.import(import).unwrap();
    project.corpus = after;
    project.edit(Step::Do, Transaction::new("Complete", vec![status(3, Status::Untouched, Status::Complete)]));
    let want = project.corpus.clone();
    let (contents, path, _dir) = project.reopen();
    assert_same(&contents.corpus, &want);
    assert_eq!(contents.suggestions.get(&SentenceId(3)), Some(&suggestions));
    let db = rusqlite::Connection::open(path).unwrap();
    let entry =
        db.query_row("SELECT intent, receipt, edits FROM log WHERE step = 'import' AND revision > 2", [], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
        });
    let (intent, receipt, edits) = entry.unwrap();
    assert_eq!((intent.as_str(), receipt.as_str()), ("Import b.txt", "{\"left_out\":0}"));
    assert!(edits.contains(r#""name":"GPE""#), "{edits}");
}

#[test]
fn the_log_tells_who_did_what_when_and_what_they_saw() {
    let mut project = Project::new();
    project.stamp = Stamp {
        author: "anna".into(),
        time_ms: 1_772_355_900_000,
        active_ms: 1500,
        visible: vec![VisibleSuggestions {
            sentence: SentenceId(0),
            model: ModelId(3),
            spans: vec![Suggestion { span: span(0, 7), label: LabelId(0), score: 0.5, runner_up: None }],
        }],
    };
    project.edit(Step::Do, Transaction::new("Skip", vec![status(0, Status::Untouched, Status::Skipped)]));
    let (_, path, _dir) = project.reopen();
    let db = rusqlite::Connection::open(path).unwrap();
    let row = db.query_row(
        "SELECT step, intent, author, time_ms, active_ms, visible, edits, inverse FROM log WHERE step <> 'import'",
        [],
        |row| (0..8).map(|at| row.get::<_, String>(at).or_else(|_| Ok(row.get::<_, i64>(at)?.to_string()))).collect(),
    );
    expect_test::expect![[r#"
        do
        Skip
        anna
        1772355900000
        1500
        [{"sentence":0,"model":3,"spans":[[0,7,0,0.5]]}]
        [{"edit":"set_status","sentence":0,"old":"untouched","new":"skipped"}]
        [{"edit":"set_status","sentence":0,"old":"skipped","new":"untouched"}]"#]]
    .assert_eq(&row.map(|columns: Vec<String>| columns.join("\n")).unwrap());
    assert!(db.execute("DELETE FROM log", []).is_err() && db.execute("UPDATE log SET author = ''", []).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_file_equals_the_corpus_after_any_edits(
        ops in prop::collection::vec(prop::collection::vec((0_u8..12, any::<usize>(), any::<usize>(), any::<usize>()), 1..4), 0..40),
    ) {
        let mut project = Project::new();
        let first = project.corpus.clone();
        for op in &ops {
            match op[0] {
                (9, ..) => drop(project.undo()),
                (10, ..) => drop(project.redo()),
                _ => project.try_edit(op),
            }
        }
        let want = project.corpus.clone();
        let (mut contents, path, dir) = project.reopen();
        assert_same(&contents.corpus, &want);

        // The history came back too: all of it can be undone, in memory and in the file.
        let mut project = Project::open(path, dir, &mut contents);
        while project.undo() {}
        let want = project.corpus.clone();
        prop_assert_eq!(visible(&want), visible(&first));
        assert_same(&project.reopen().0.corpus, &want);
    }
}

// ---- failures

#[test]
fn a_failed_write_keeps_its_queue_and_is_retried_on_demand() {
    let mut project = Project::new();
    let db = rusqlite::Connection::open(&project.path).unwrap();
    db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'no luck'); END").unwrap();
    let saved = project.corpus.revision();
    let steps = [Status::Untouched, Status::Complete, Status::Flagged, Status::Skipped];
    for pair in steps.windows(2) {
        project.send(Step::Do, Transaction::new("Status", vec![status(0, pair[0], pair[1])]));
    }
    match project.events.recv().unwrap() {
        WriterEvent::Failed { revision, error } => {
            assert_eq!(revision, Some(saved + 1));
            assert!(error.to_string().contains("no luck"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let import = Import::between(&project.corpus, &with_second_document(&project.corpus), "", Stamp::default(), "{}");
    assert!(matches!(project.writer.import(import), Err(StoreError::Stalled { .. })));
    assert!(project.writer.flush().is_err(), "flushing says what it could not write");

    db.execute_batch("DROP TRIGGER fail").unwrap();
    project.writer.retry().unwrap();
    for revision in saved + 1..=saved + 3 {
        assert!(matches!(project.events.recv().unwrap(), WriterEvent::Saved { revision: r } if r == revision));
    }
    drop(db);
    let want = project.corpus.clone();
    assert_same(&project.reopen().0.corpus, &want);
}

#[test]
fn closing_says_what_is_lost() {
    let mut project = Project::new();
    let db = rusqlite::Connection::open(&project.path).unwrap();
    db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'no luck'); END").unwrap();
    project.send(Step::Do, Transaction::new("Status", vec![status(0, Status::Untouched, Status::Complete)]));
    match project.writer.close() {
        Err(StoreError::Unsaved { edits: 1, cause, .. }) => assert!(cause.to_string().contains("no luck")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_import_leaves_the_file_as_it_was() {
    let project = Project::new();
    let db = rusqlite::Connection::open(&project.path).unwrap();
    db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'no luck'); END").unwrap();
    let after = with_second_document(&project.corpus);
    let import = Import::between(&project.corpus, &after, "Import", Stamp::default(), "{}");
    assert!(project.writer.import(import.clone()).is_err());
    db.execute_batch("DROP TRIGGER fail").unwrap();
    drop(db);
    let want = project.corpus.clone();
    let (mut contents, path, dir) = project.reopen();
    assert_same(&contents.corpus, &want);
    let project = Project::open(path, dir, &mut contents);
    project.writer.import(import.clone()).unwrap();
    assert!(matches!(project.writer.import(import), Err(StoreError::OutOfStep { .. })), "it is there already");
    assert_same(&project.reopen().0.corpus, &after);
}

#[test]
fn a_revision_that_does_not_follow_is_refused() {
    let project = Project::new();
    let entry = LogEntry { revision: project.corpus.revision() + 2, ..project.entry() };
    project.writer.apply(entry).unwrap();
    assert!(matches!(project.events.recv().unwrap(), WriterEvent::Failed { error: StoreError::OutOfStep { .. }, .. }));
}

#[test]
fn dropping_the_writer_saves_and_closes() {
    let mut project = Project::new();
    project.send(Step::Do, Transaction::new("Status", vec![status(0, Status::Untouched, Status::Complete)]));
    let Project { corpus, writer, path, dir, .. } = project;
    drop(writer);
    assert_eq!(files(dir.path()), ["p.nestling"]);
    assert_same(&Store::open(&path).unwrap().load().unwrap().corpus, &corpus);
}

// ---- refusals

#[test]
fn what_is_no_project_is_refused_and_left_alone() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("empty.nestling"), "").unwrap();
    fs::write(at("text.nestling"), "Anna Berg met the mayor.\n").unwrap();
    fs::write(at("image.nestling"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    rusqlite::Connection::open(at("other.nestling")).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    fs::create_dir(at("folder.nestling")).unwrap();
    Store::create(&at("newer.nestling"), &NewProject::default()).unwrap();
    rusqlite::Connection::open(at("newer.nestling")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    Store::create(&at("readonly.nestling"), &NewProject::default()).unwrap();
    let mut permissions = fs::metadata(at("readonly.nestling")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(at("readonly.nestling"), permissions).unwrap();
    Store::create(&at("short.nestling"), &NewProject::default()).unwrap();
    let whole = fs::read(at("short.nestling")).unwrap();
    fs::write(at("short.nestling"), &whole[..whole.len() / 2]).unwrap();

    let before = snapshot(dir.path());
    let message = |name: &str| {
        let error = Store::open(&at(name)).map(|_| ()).unwrap_err().to_string();
        error.replace(&format!("{}/", dir.path().display()), "")
    };
    let names = ["missing", "empty", "text", "image", "other", "folder", "newer", "readonly", "short"];
    let messages: Vec<_> = names.iter().map(|name| message(&format!("{name}.nestling"))).collect();
    expect_test::expect![[r#"
        there is no such project; check the name, or make a new project: missing.nestling
        this is no Nestling project but an empty file; choose a .nestling file: empty.nestling
        this is no Nestling project but a text file; make a project and import the file there: text.nestling
        this is no Nestling project but a file of another program; choose a .nestling file: image.nestling
        this is no Nestling project but another program's database; choose a .nestling file: other.nestling
        a project is one file, but this is a folder; choose a .nestling file: folder.nestling
        the project was written by a newer program (file version 99, this program knows up to 1); update the program, the file is as it was: newer.nestling
        the project can't be changed because the file is read-only; make it writable, or work on a copy: readonly.nestling
        the project file is damaged (it has 30720 bytes and should have 61440); it was left as it is, go back to a copy of it: short.nestling"#]].assert_eq(&messages.join("\n"));
    assert_eq!(snapshot(dir.path()), before);
}

#[test]
fn a_damaged_project_is_refused_and_left_alone() {
    for damage in [Damage::Pages, Damage::Sentence, Damage::Mention] {
        let mut project = Project::new();
        let mention = Mention::new(project.corpus.next_mention_id(), span(0, 2), LabelId(0), Provenance::Person);
        project.edit(Step::Do, Transaction::new("Add", vec![Edit::AddMention { sentence: SentenceId(0), mention }]));
        let (_, path, dir) = project.reopen();
        match damage {
            Damage::Pages => {
                let mut bytes = fs::read(&path).unwrap();
                bytes[8192..].fill(0xA5);
                fs::write(&path, bytes).unwrap();
            }
            Damage::Sentence => damage_by(&path, "UPDATE sentence SET tokens = x'80'"),
            Damage::Mention => damage_by(&path, "UPDATE mention SET end_token = 99"),
        }
        let before = snapshot(dir.path());
        let error = Store::open(&path).and_then(|store| store.load().map(|_| ())).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert_eq!(snapshot(dir.path()), before);
    }
}

enum Damage {
    Pages,
    Sentence,
    Mention,
}

fn damage_by(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn what_a_crash_left_is_put_together_unless_it_is_damaged() {
    for is_damaged in [false, true] {
        let mut project = Project::new();
        project.edit(Step::Do, Transaction::new("Skip", vec![status(0, Status::Untouched, Status::Skipped)]));
        if is_damaged {
            damage_by(&project.path, "UPDATE sentence SET tokens = x'80'");
        }
        // The files as they are while the project is open: most of it is in the write-ahead log.
        let left = TempDir::new().unwrap();
        for (name, bytes) in snapshot(project.dir.path()).iter().filter(|(name, _)| !name.ends_with("-shm")) {
            fs::write(left.path().join(name), bytes).unwrap();
        }
        let path = left.path().join("p.nestling");
        let before = fs::read(&path).unwrap();
        let loaded = Store::open(&path).and_then(|store| store.load());
        if is_damaged {
            assert!(matches!(loaded, Err(StoreError::Damaged { .. })));
            assert_eq!(fs::read(&path).unwrap(), before);
            assert!(fs::metadata(left.path().join("p.nestling-wal")).unwrap().len() > 0);
        } else {
            assert_same(&loaded.unwrap().corpus, &project.corpus);
            assert_eq!(files(left.path()), ["p.nestling"]);
        }
    }
}

#[test]
fn a_project_is_made_once() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("p.nestling");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(Store::create(&path, &NewProject::default()), Err(StoreError::Exists { .. })));
    assert_eq!(snapshot(dir.path()), [("p.nestling".to_owned(), b"mine".to_vec())]);
    let nowhere = dir.path().join("no/p.nestling");
    assert!(matches!(Store::create(&nowhere, &NewProject::default()), Err(StoreError::NoFolder { .. })));
}

#[test]
fn a_second_opener_is_told_who_is_first() {
    let project = Project::new();
    let error = Store::open(&project.path).map(|_| ()).unwrap_err();
    match &error {
        StoreError::Locked { holder, .. } => {
            assert_eq!(holder.process, Some(std::process::id()));
            assert!(holder.since_ms.unwrap() > 1_700_000_000_000);
        }
        other => panic!("{other:?}"),
    }
    assert!(error.to_string().contains(&format!("(process {})", std::process::id())), "{error}");
    project.reopen();
}

// ---- helpers

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
        let import = Import::between(&project.corpus, &after, "Import a", Stamp::default(), "{}");
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

    /// Edits that may not fit the state are tried on a copy first.
    fn try_edit(&mut self, op: &[(u8, usize, usize, usize)]) {
        let mut trial = self.corpus.clone();
        let mut edits = Vec::new();
        for &(kind, a, b, c) in op {
            let edit = edit(&trial, kind, a, b, c);
            if trial.apply(Transaction::new("", vec![edit.clone()])).is_ok() {
                edits.push(edit);
            }
        }
        if !edits.is_empty() {
            self.send(Step::Do, Transaction::new("Some edits", edits));
        }
    }
}

/// An edit that may or may not fit the state, made from random numbers.
fn edit(corpus: &Corpus, kind: u8, a: usize, b: usize, c: usize) -> Edit {
    let target = &corpus.sentences()[a % corpus.sentences().len()];
    let sentence = target.id();
    let label = LabelId((c % 5) as u32);
    let some = target.mentions().get(b % target.mentions().len().max(1)).cloned();
    let mention = |id| {
        let (start, width) = (b % 10, 1 + c % 4);
        let fragments = match c % 3 {
            0 => Fragments::new(vec![span(0, 1), span(2, 3 + b % 2), span(5, 6)]).unwrap(),
            _ => span(start, start + width).into(),
        };
        let provenance =
            [Provenance::Person, Provenance::Import, Provenance::Rule, Provenance::Accepted(ModelId(c as u32))];
        let mut mention = Mention::new(id, fragments, label, provenance[b % 4].clone());
        if c.is_multiple_of(2) {
            mention.attributes =
                Attributes::from([("kind \"x\"".into(), format!("värde {b}")), (String::new(), "".into())]);
            mention.note = "a note\nof two lines 💩".into();
        }
        mention
    };
    match (kind, some) {
        (1, Some(mention)) => Edit::RemoveMention { sentence, mention },
        (2, Some(old)) => Edit::ReplaceMention { sentence, new: mention(old.id), old },
        (3, _) => {
            let new = [Status::Untouched, Status::InProgress, Status::Complete, Status::Skipped, Status::Flagged];
            Edit::SetStatus { sentence, old: target.status(), new: new[b % 5] }
        }
        (4, _) => {
            let new = [Split::Rest, Split::Dev, Split::Test, Split::Blind];
            Edit::SetSplit { sentence, old: target.split(), new: new[b % 4] }
        }
        (5, _) => {
            let span = span(b % 6, b % 6 + 1);
            Edit::SetRejected { sentence, span, label, new: !target.rejected().contains(&(span, label)) }
        }
        (6, _) => Edit::InsertLabel { at: b % 4, label: corpus.labels().propose(&format!("L'{}", c % 9)) },
        (7, _) if !corpus.labels().is_empty() => {
            let at = b % corpus.labels().len();
            Edit::RemoveLabel { at, label: corpus.labels().iter().nth(at).unwrap().clone() }
        }
        (8, _) if !corpus.labels().is_empty() => {
            let old = corpus.labels().iter().nth(b % corpus.labels().len()).unwrap().clone();
            let new = Label {
                name: format!("N{}", c % 4),
                title: "A title".into(),
                color: Rgb(1, 2, c as u8),
                ..old.clone()
            };
            Edit::ReplaceLabel { old, new: Label { key: new.key.filter(|_| b.is_multiple_of(2)), ..new } }
        }
        _ => Edit::AddMention { sentence, mention: mention(corpus.next_mention_id()) },
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
    assert_eq!(got.documents(), want.documents());
    assert_eq!(got.sentences(), want.sentences());
    assert_eq!(got.next_mention_id(), want.next_mention_id());
    assert_eq!(got.revision(), want.revision());
}

/// All that a person can see of a corpus; its counters are left out.
fn visible(corpus: &Corpus) -> String {
    let labels: Vec<_> = corpus.labels().iter().collect();
    format!("{labels:#?}\n{:#?}\n{:#?}", corpus.documents(), corpus.sentences())
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
