//! An acknowledged change survives the death of the program at any moment, and the file stays whole.
//!
//! The test starts itself as a child that brings an old file up to date, edits and imports, and prints each revision
//! once it is said to be saved. It kills the child at a random moment and looks at the file, 200 times.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on fails")]

use nestling::annotation::*;
use nestling::store::*;
use nestling::text::{ByteIdx, SentenceSplit, Tokens, split_sentences};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names the project that a child edits; absent in the test itself.
const CHILD: &str = "NESTLING_TEST_CRASH_PROJECT";
const ROUNDS: u64 = 200;
/// Every so many rounds the file is an old one again, and the child is killed while it may still migrate it.
const ROUNDS_A_FILE: u64 = 4;
const TEXT: &str = "The mayor of Aarhus met Anna Berg.\nIt rained all day.\n";

#[test]
fn every_acknowledged_change_survives_a_kill() {
    let dir = tempfile::TempDir::new().unwrap();
    let old = make_old_project(dir.path());
    let first = {
        let path = dir.path().join("migrated.nestling");
        std::fs::copy(&old, &path).unwrap();
        Store::open(&path).unwrap().load().unwrap().corpus
    };
    let path = dir.path().join("p.nestling");
    let backup = dir.path().join("p.version-1.nestling");
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let (mut expected, mut killed_before_edits, mut imports) = (first.clone(), 0, 0);
    for round in 0..ROUNDS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let starts_again = round.is_multiple_of(ROUNDS_A_FILE);
        if starts_again {
            for entry in std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap) {
                if entry.file_name().to_string_lossy().starts_with("p.") {
                    std::fs::remove_file(entry.path()).unwrap();
                }
            }
            std::fs::copy(&old, &path).unwrap();
            expected = first.clone();
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        if !starts_again {
            let ready = lines.by_ref().find(|line| line.contains("editing"));
            assert!(ready.is_some(), "round {round}: the child could not open the project");
        }
        std::thread::sleep(Duration::from_micros(random >> 33 & 0x1_FFFF)); // up to 131 ms
        child.kill().unwrap();
        child.wait().unwrap();
        let lines: Vec<String> = lines.collect();
        assert!(!lines.iter().any(|line| line.contains("failed")), "round {round}: {lines:?}");
        killed_before_edits += usize::from(starts_again && !lines.iter().any(|line| line.contains("editing")));
        let acknowledged = lines.iter().filter_map(|line| line.strip_prefix("saved ")?.parse().ok()).max();

        if backup.exists() {
            assert_eq!(sound_version(&backup), 1, "round {round}: the copy is not whole");
        }
        let store = Store::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new(), "round {round}");
        let corpus = store.load().unwrap().corpus;
        let stored = corpus.revision();
        let least = acknowledged.unwrap_or(expected.revision());
        assert!(stored >= least, "round {round}: {least} was acknowledged, {stored} is there");
        while expected.revision() < stored {
            imports += usize::from(is_import(&expected));
            expected = next(&expected);
        }
        assert!(corpus.sentences().eq(expected.sentences()), "round {round}");
        assert!(corpus.all_sentences().eq(expected.all_sentences()), "round {round}");
        assert_eq!(corpus.next_mention_id(), expected.next_mention_id());
        assert_eq!(corpus.next_sentence_id(), expected.next_sentence_id());
    }
    assert!(killed_before_edits > 0, "no child was killed while it brought the file up to date");
    assert!(imports > 10, "{imports} imports");
}

/// Names the program's folder of a child that breaks off; absent in the test itself.
const FAULTY: &str = "NESTLING_TEST_FAULTY_HOME";

#[test]
fn a_fault_leaves_a_report_with_the_names_of_functions() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["faulty_child", "--exact", "--nocapture"]).env(FAULTY, dir.path());
    assert!(!child.output().unwrap().status.success(), "it breaks off");
    let report = std::fs::read_dir(dir.path().join("faults")).unwrap().next().unwrap().unwrap().path();
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("a fault of a test"), "{report}");
    assert!(report.contains("crash::break_off"), "the trace names functions: {report}");
}

/// Does nothing but as a child.
#[test]
fn faulty_child() {
    let Some(home) = std::env::var_os(FAULTY) else { return };
    nestling::session::report_faults(&nestling::session::Home::at(home));
    break_off();
}

/// Has a frame of its own in every build.
#[inline(never)]
fn break_off() {
    #[expect(clippy::panic, reason = "the fault whose report is read")]
    std::panic::panic_any("a fault of a test");
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
        WriterEvent::News(news) => say(&format!("news: {news}")),
        WriterEvent::NeedsMemory => say("failed: the file was overwritten"),
    });
    let writer = writer.unwrap();
    say("editing");
    loop {
        step(&writer, &mut corpus).unwrap();
        if corpus.revision().is_multiple_of(7) {
            std::thread::sleep(Duration::from_millis(1)); // single edits and groups of them
        }
    }
}

/// Another file takes the name of an open project, and the program is killed before it can notice.
#[cfg(unix)]
#[test]
fn a_log_that_is_left_is_applied_to_no_other_file_and_not_lost() {
    let dir = tempfile::TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name);
    let old = make_old_project(dir.path());
    for (round, newcomer) in
        [Newcomer::Other, Newcomer::OldVersion, Newcomer::Backup, Newcomer::Same, Newcomer::Own, Newcomer::OtherLog]
            .into_iter()
            .cycle()
            .take(18)
            .enumerate()
    {
        let (path, moved, log) = (at("p.nestling"), at("moved.nestling"), at("p.nestling-wal"));
        std::fs::copy(&old, &path).unwrap();
        drop(Store::open(&path).unwrap());
        let first = Store::open(&path).unwrap().load().unwrap().corpus;
        std::fs::copy(&path, at("backup.nestling")).unwrap();

        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let saved = |line: &String| line.strip_prefix("saved ").and_then(|n| n.parse::<u64>().ok());
        let enough = first.revision() + 10 + 7 * round as u64;
        assert!(lines.by_ref().filter_map(|line| saved(&line)).any(|revision| revision >= enough));
        let stopped = Command::new("kill").args(["-STOP", &child.id().to_string()]).status().unwrap();
        assert!(stopped.success());
        std::thread::sleep(Duration::from_millis(50)); // until it has
        match newcomer {
            Newcomer::Other => make_other_project(&at("new.nestling")),
            Newcomer::OldVersion => drop(std::fs::copy(&old, at("new.nestling")).unwrap()),
            Newcomer::Backup => drop(std::fs::copy(at("backup.nestling"), at("new.nestling")).unwrap()),
            Newcomer::Same => drop(std::fs::copy(&path, at("new.nestling")).unwrap()),
            Newcomer::Own => {}
            Newcomer::OtherLog => {
                make_other_project(&at("new.nestling"));
                let other = rusqlite::Connection::open(at("new.nestling")).unwrap();
                other.execute_batch("INSERT INTO setting VALUES ('a', 'b')").unwrap();
                std::fs::rename(&log, at("moved.nestling-wal")).unwrap();
                std::fs::rename(at("new.nestling-wal"), &log).unwrap();
                std::mem::forget(other);
            }
        }
        if !matches!(newcomer, Newcomer::Own | Newcomer::OtherLog) {
            std::fs::rename(&path, &moved).unwrap();
            std::fs::rename(at("new.nestling"), &path).unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = lines.filter_map(|line| saved(&line)).max().unwrap_or(enough).max(enough);
        assert!(std::fs::metadata(&log).unwrap().len() > 0);

        let store = Store::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new(), "{newcomer:?}");
        let corpus = store.load().unwrap().corpus;
        let kept = match store.news() {
            [FileNews::LogSetAside { log, .. }] => Some(log.clone()),
            news => {
                assert_eq!(news, [], "{newcomer:?}");
                None
            }
        };
        drop(store);
        if newcomer == Newcomer::OtherLog {
            assert!(kept.is_some() && corpus.revision() >= first.revision());
            clear(dir.path(), &old);
            continue;
        }
        let is_own = matches!(newcomer, Newcomer::Same | Newcomer::Own);
        assert_eq!(kept.is_none(), is_own, "{newcomer:?}");
        let whole = match kept {
            None => corpus,
            Some(kept) => {
                let revision = if newcomer == Newcomer::Other { 1 } else { first.revision() };
                assert_eq!(corpus.revision(), revision, "{newcomer:?}");
                // As it is told: the changes fit the file that they are of.
                std::fs::rename(kept, at("moved.nestling-wal")).unwrap();
                let store = Store::open(&moved).unwrap();
                assert_eq!(store.check().unwrap(), Vec::<String>::new(), "{newcomer:?}");
                store.load().unwrap().corpus
            }
        };
        assert!(whole.revision() >= acknowledged, "{newcomer:?}: {acknowledged}, but {}", whole.revision());
        let mut expected = first;
        while expected.revision() < whole.revision() {
            expected = next(&expected);
        }
        assert!(whole.sentences().eq(expected.sentences()), "{newcomer:?}");
        clear(dir.path(), &old);
    }
}

#[cfg(unix)]
fn clear(dir: &Path, but: &Path) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path() != but {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// What takes the place of an open project.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Newcomer {
    Other,
    OldVersion,
    /// The project as it was before it was opened.
    Backup,
    /// A copy of the file as it lies there: the log is of it, too.
    Same,
    Own,
    /// The file stays, but its log is that of another project.
    OtherLog,
}

#[cfg(unix)]
fn make_other_project(path: &Path) {
    let store = Store::create(path, &NewProject::default()).unwrap();
    let before = store.load().unwrap().corpus;
    let mut after = before.clone();
    let sentences = split_sentences(TEXT, SentenceSplit::Prose, Tokens::Words).into_iter();
    let sentences = sentences.map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
    after.add_document(NewDocument { name: "b".into(), text: TEXT.into(), kept: Kept::new(), sentences }).unwrap();
    let writer = Writer::start(store, |_| ()).unwrap();
    writer.import(Import::between(&before, after, "Import", Stamp::default(), "{}")).unwrap();
    writer.close().unwrap();
}

/// What comes next, in memory and on its way to the file.
fn step(writer: &Writer, corpus: &mut Corpus) -> Result<(), StoreError> {
    if is_import(corpus) {
        let after = next(corpus);
        writer.flush()?;
        writer.import(Import::between(corpus, after.clone(), "Import", Stamp::default(), "{}"))?;
        *corpus = after;
    } else {
        send(writer, corpus, nth_edit(corpus));
    }
    Ok(())
}

fn send(writer: &Writer, corpus: &mut Corpus, transaction: Transaction) {
    let inverse = corpus.apply(transaction.clone()).unwrap();
    let (revision, stamp) = (corpus.revision(), Stamp::default());
    writer.apply(LogEntry { step: Step::Do, transaction, inverse, stamp, revision }).unwrap();
}

/// Like a disk that is full, for a process that may write files of half a megabyte only.
#[cfg(unix)]
#[test]
fn what_a_full_disk_does_not_take_is_told_and_the_rest_is_kept() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("p.nestling");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store/version-1.nestling");
    std::fs::copy(fixture, &path).unwrap();
    let before = Store::open(&path).unwrap().load().unwrap().corpus;
    // The signal would end the process; ignored, the write fails as it does on a full disk.
    let script = "trap '' XFSZ; ulimit -f 1024; exec \"$0\" child_on_a_full_disk --exact --nocapture";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(CHILD, &path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line = |start: &str| said.lines().rfind(|line| line.starts_with(start)).map(str::to_owned);
    let (failed, closed) = (line("failed: ").expect(&said), line("closed: ").expect(&said));
    assert!(failed.contains("check the disk") || failed.contains("disk is full"), "{failed}");
    // What came after the failure may have found room again; whatever is said must be true.
    let all_saved_at: Option<u64> = closed.strip_prefix("closed: all is saved at ").and_then(|at| at.parse().ok());
    let is_unsaved = |(count, rest): (&str, &str)| {
        let words = if count == "1" { "change could not be saved " } else { "changes could not be saved " };
        rest.starts_with(words)
    };
    let unsaved = closed.strip_prefix("closed: ").and_then(|told| told.split_once(' ')).is_some_and(is_unsaved);
    assert!(all_saved_at.is_some() || unsaved, "{closed}");
    let acknowledged: u64 = line("saved ").and_then(|line| line[6..].parse().ok()).unwrap();

    let store = Store::open(&path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let corpus = store.load().unwrap().corpus;
    assert!(acknowledged > before.revision() && corpus.revision() >= acknowledged, "{closed}");
    assert!(all_saved_at.is_none_or(|at| corpus.revision() == at), "{closed}, but revision {}", corpus.revision());
    // The last one that the child sent is empty; it is there if all is.
    let edits = corpus.revision() - u64::from(all_saved_at.is_some());
    let mut expected = before;
    while expected.revision() < edits {
        expected = next(&expected);
    }
    assert!(corpus.sentences().eq(expected.sentences()));
}

/// Does nothing but as a child: edits until something can't be saved.
#[test]
fn child_on_a_full_disk() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = Store::open(Path::new(&path)).unwrap();
    let mut corpus = store.load().unwrap().corpus;
    let (sender, failures) = std::sync::mpsc::channel();
    let writer = Writer::start(store, move |event| match event {
        WriterEvent::Saved { revision } => say(&format!("saved {revision}")),
        WriterEvent::Failed { error, .. } => {
            say(&format!("failed: {error}"));
            sender.send(()).unwrap();
        }
        WriterEvent::News(_) | WriterEvent::NeedsMemory => {}
    });
    let writer = writer.unwrap();
    while failures.try_recv().is_err() {
        if let Err(error) = step(&writer, &mut corpus) {
            say(&format!("failed: {error}"));
            break;
        }
    }
    // What waits can't be saved either.
    send(&writer, &mut corpus, Transaction::new("one more", vec![]));
    match writer.close() {
        Ok(()) => say(&format!("closed: all is saved at {}", corpus.revision())),
        Err(error) => say(&format!("closed: {error}")),
    }
}

/// One line in one write, so that a kill can't cut it.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// A project of version 1 that takes a while to bring up to date.
fn make_old_project(dir: &Path) -> PathBuf {
    let path = dir.join("old.nestling");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store/version-1.nestling");
    std::fs::copy(fixture, &path).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            SELECT i FROM n;
        INSERT INTO document SELECT id + 2 * i, name, text FROM document, n;
        INSERT INTO sentence SELECT id + 5 * i, document + 2 * i, tokens, status, split FROM sentence, n;
        INSERT INTO mention SELECT sentence + 5 * i, id + 10 * i, label, start_token, end_token, fragments, attributes,
            note, provenance, model FROM mention, n;
        UPDATE project SET next_mention = 10000;
        PRAGMA wal_checkpoint(TRUNCATE)",
    )
    .unwrap();
    path
}

/// The version of a file, once SQLite finds it sound.
fn sound_version(path: &Path) -> i64 {
    let db = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let said: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
    db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// What comes after a corpus depends on nothing but the corpus.
fn next(corpus: &Corpus) -> Corpus {
    let mut next = corpus.clone();
    if is_import(corpus) {
        let tokens = split_sentences(TEXT, SentenceSplit::Prose, Tokens::Words).into_iter();
        let sentences = tokens.map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
        let new = NewDocument { name: "a".into(), text: TEXT.into(), kept: Kept::new(), sentences };
        next.add_document(new).unwrap();
    } else {
        next.apply(nth_edit(corpus)).unwrap();
    }
    next
}

fn is_import(corpus: &Corpus) -> bool {
    corpus.revision() % 20 == 13
}

/// Marks words, takes marks back, sets a status, splits and joins, removes or excludes a document and brings it back.
fn nth_edit(corpus: &Corpus) -> Transaction {
    let n = corpus.revision() as usize;
    let last = corpus.all_documents().values().next_back().unwrap();
    if n % 20 == 5 || !last.is_there() {
        let new = if last.is_there() { [Presence::Removed, Presence::Excluded][n / 20 % 2] } else { Presence::There };
        let edit = Edit::SetPresence { documents: DocumentIds::from_iter([last.id]), old: last.presence, new };
        return Transaction::new("Remove", vec![edit]);
    }
    let sentence = corpus.sentence_at(n % 3).unwrap();
    let id = sentence.id();
    let segmented = match n % 20 {
        1 | 9 => split_sentence(corpus, id, sentence.tokens().len() / 2).ok(),
        2 | 10 => join_sentences(corpus, id).ok(),
        3 => split_token(corpus, id, 0, ByteIdx::new(sentence.tokens()[0].start().get() + 1)).ok(),
        _ => None,
    };
    if let Some(edit) = segmented {
        return Transaction::new("Segment", vec![edit]);
    }
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
