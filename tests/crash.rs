//! An acknowledged edit survives the death of the program at any moment.
//!
//! The test starts itself as a child that edits and prints each revision once it is said to be saved, kills the child
//! after a while, and looks at the file.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use nestling::annotation::*;
use nestling::store::*;
use nestling::text::{SentenceSplit, Tokens, split_sentences};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names the project that a child edits; absent in the test itself.
const CHILD: &str = "NESTLING_TEST_CRASH_PROJECT";
const ROUNDS: u64 = 20;
const TEXT: &str = "The mayor of Aarhus met Anna Berg.\nIt rained all day.\n";

#[test]
fn every_acknowledged_edit_survives_a_kill() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("p.nestling");
    make_project(&path);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut most = 0;
    for round in 0..ROUNDS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let ready = lines.by_ref().find(|line| line.contains("editing"));
        assert!(ready.is_some(), "round {round}: the child could not open the project");
        std::thread::sleep(Duration::from_micros(random >> 33 & 0x1_FFFF)); // up to 131 ms
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = lines.filter_map(|line| line.strip_prefix("saved ")?.parse().ok()).max().unwrap_or(most);

        let store = Store::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new(), "round {round}");
        let corpus = store.load().unwrap().corpus;
        let stored = corpus.revision();
        assert!(stored >= acknowledged, "round {round}: {acknowledged} was acknowledged, {stored} is there");
        most = stored;
        let want = replay(stored);
        assert!(corpus.sentences().eq(want.sentences()), "round {round}");
        assert_eq!(corpus.next_mention_id(), want.next_mention_id());
    }
    assert!(most > ROUNDS, "the children edited");
}

/// Does nothing but as a child.
#[test]
fn child() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = Store::open(Path::new(&path)).unwrap();
    let mut corpus = store.load().unwrap().corpus;
    let writer = Writer::start(store, |event| match event {
        WriterEvent::Saved { revision } => say(&format!("saved {revision}")),
        WriterEvent::Failed { error, .. } => say(&format!("failed: {error}")),
    });
    let writer = writer.unwrap();
    say("editing");
    loop {
        let transaction = nth_edit(&corpus);
        let inverse = corpus.apply(transaction.clone()).unwrap();
        let (revision, stamp) = (corpus.revision(), Stamp::default());
        writer.apply(LogEntry { step: Step::Do, transaction, inverse, stamp, revision }).unwrap();
        if revision.is_multiple_of(7) {
            std::thread::sleep(Duration::from_millis(1)); // single edits and groups of them
        }
    }
}

/// One line in one write, so that a kill can't cut it.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

fn make_project(path: &Path) {
    let mut labels = Corpus::default();
    let label = labels.labels().propose("PER");
    labels.apply(Transaction::new("", vec![Edit::InsertLabel { at: 0, label }])).unwrap();
    let store = Store::create(path, &NewProject { labels: labels.labels().clone(), ..Default::default() }).unwrap();
    let before = store.load().unwrap().corpus;
    let writer = Writer::start(store, |_| ()).unwrap();
    writer.import(Import::between(&before, &replay(1), "Import", Stamp::default(), "{}")).unwrap();
    writer.close().unwrap();
}

/// The corpus that all children together have made when it is at `revision`.
fn replay(revision: u64) -> Corpus {
    let mut labels = Corpus::default();
    let label = labels.labels().propose("PER");
    labels.apply(Transaction::new("", vec![Edit::InsertLabel { at: 0, label }])).unwrap();
    let mut corpus = Corpus::new(labels.labels().clone(), MentionId(0), 0);
    let sentences = split_sentences(TEXT, SentenceSplit::Prose, Tokens::Words).into_iter();
    let sentences = sentences.map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
    corpus.add_document(NewDocument { name: "a".into(), text: TEXT.into(), kept: Kept::new(), sentences }).unwrap();
    while corpus.revision() < revision {
        corpus.apply(nth_edit(&corpus)).unwrap();
    }
    corpus
}

/// Depends on nothing but the revision: marks words, and every third time takes a mark back and sets a status.
fn nth_edit(corpus: &Corpus) -> Transaction {
    let n = corpus.revision() as usize;
    let sentence = corpus.sentence_at(n % 2).unwrap();
    let id = sentence.id();
    let free = (0..sentence.tokens().len()).filter_map(|at| Span::from_range(at..at + 1));
    let free = free.into_iter().find(|span| !sentence.has_mention(*span, LabelId(0)));
    let add = |span| {
        let mention = Mention::new(corpus.next_mention_id(), span, LabelId(0), Provenance::Person);
        Edit::AddMention { sentence: id, mention }
    };
    match free {
        Some(span) if !n.is_multiple_of(3) || sentence.mentions().is_empty() => {
            Transaction::new("Add", vec![add(span)])
        }
        _ => {
            let mention = sentence.mentions()[n % sentence.mentions().len()].clone();
            let old = sentence.status();
            let new = if n.is_multiple_of(2) { Status::Complete } else { Status::InProgress };
            let edits = vec![Edit::RemoveMention { sentence: id, mention }, Edit::SetStatus { sentence: id, old, new }];
            Transaction::new("Remove", edits)
        }
    }
}
