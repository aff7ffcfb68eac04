//! The file under an open project is moved, deleted, replaced or overwritten, or what lies beside it is.

use super::*;
use std::time::Duration;

/// What comes anyway must come within that; nothing waits for it to pass.
const LIMIT: Duration = Duration::from_secs(60);

impl Project {
    fn next_event(&self) -> WriterEvent {
        self.events.recv_timeout(LIMIT).unwrap()
    }

    fn news(&self) -> FileNews {
        loop {
            match self.next_event() {
                WriterEvent::News(news) => return news,
                WriterEvent::Saved { .. } | WriterEvent::NeedsMemory => {}
                WriterEvent::Failed { error, .. } => panic!("{error}"),
            }
        }
    }

    /// The next statuses of the first sentence, as many as are asked for.
    fn work(&mut self, edits: usize) {
        for _ in 0..edits {
            let old = self.corpus.sentence(SentenceId(0)).unwrap().status();
            let new = if old == Status::Complete { Status::Flagged } else { Status::Complete };
            self.send(Step::Do, Transaction::new("Status", vec![status(0, old, new)]));
        }
    }

    fn wait_for_all(&self) {
        let want = self.corpus.revision();
        while !matches!(self.next_event(), WriterEvent::Saved { revision } if revision == want) {}
    }
}

/// Another project, with one document that no other one has.
fn other_project(dir: &Path) -> PathBuf {
    let path = dir.join("other.nestling");
    let store = Store::create(&path, &NewProject { labels: labels(&["GENE"]), ..NewProject::default() }).unwrap();
    let before = store.load().unwrap().corpus;
    let mut after = before.clone();
    after.add_document(document("of the other one", "Quite another text.\n")).unwrap();
    let writer = Writer::start(store, |_| ()).unwrap();
    writer.import(Import::between(&before, after, "Import", Stamp::default(), "{}")).unwrap();
    writer.close().unwrap();
    path
}

fn assert_is_the_other(path: &Path) {
    let store = Store::open(path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert_eq!(store.load().unwrap().corpus.document(DocumentId(0)).unwrap().name, "of the other one");
}

fn assert_holds(path: &Path, want: &Corpus) {
    let store = Store::open(path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert_same(&store.load().unwrap().corpus, want);
}

fn moved_on(news: FileNews) -> (Lost, PathBuf) {
    match news {
        FileNews::MovedOn { why, to, .. } => (why, to),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_is_replaced_while_nothing_is_done_is_noticed_and_the_work_goes_on_beside_it() {
    let mut project = Project::new();
    project.work(3);
    project.wait_for_all();
    let other = other_project(project.dir.path());
    let bytes = fs::read(&other).unwrap();
    fs::rename(&other, &project.path).unwrap();
    let news = project.news();
    let said = news.to_string();
    let (why, kept) = moved_on(news);
    assert_eq!((why, kept.file_name().unwrap().to_str()), (Lost::Replaced, Some("p.kept.nestling")));
    assert!(said.contains("p.kept.nestling") && said.contains("p.nestling"), "{said}");
    assert_eq!(files(project.dir.path()).first().map(String::as_str), Some("p.kept.nestling"));
    assert!(!project.path.with_extension("nestling-wal").exists(), "our log lies beside another file");
    assert_eq!(fs::read(&project.path).unwrap(), bytes);

    // It is locked in its new place, and what is done goes there.
    assert!(matches!(Store::open(&kept), Err(StoreError::Locked { .. })));
    project.work(3);
    project.wait_for_all();
    let Project { writer, corpus, dir, path, .. } = project;
    assert_same(&writer.place().open().unwrap().load().unwrap().corpus, &corpus);
    writer.close().unwrap();
    assert_eq!(files(dir.path()), ["p.kept.nestling", "p.nestling"]);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_holds(&kept, &corpus);
    assert_is_the_other(&path);
}

#[test]
fn an_edit_is_not_acknowledged_before_it_is_where_the_work_goes_on() {
    for replaced in [true, false] {
        let mut project = Project::new();
        project.work(2);
        project.wait_for_all();
        let other = other_project(project.dir.path());
        if replaced {
            fs::rename(&other, &project.path).unwrap();
        } else {
            fs::remove_file(&project.path).unwrap();
        }
        project.work(5);
        // The news come first.
        let event = project.next_event();
        let WriterEvent::News(news) = event else { panic!("{event:?}") };
        let (why, kept) = moved_on(news);
        assert_eq!(why, if replaced { Lost::Replaced } else { Lost::Gone });
        project.wait_for_all();
        let Project { writer, corpus, path, .. } = project;
        writer.close().unwrap();
        assert_holds(&kept, &corpus);
        if replaced {
            assert_is_the_other(&path);
        }
    }
}

#[test]
fn closing_and_importing_notice_too() {
    let mut project = Project::new();
    fs::remove_file(&project.path).unwrap();
    let after = with_second_document(&project.corpus);
    let import = Import::between(&project.corpus, after.clone(), "Import b", Stamp::default(), "{}");
    project.writer.import(import).unwrap();
    project.corpus = after;
    let (_, kept) = moved_on(project.news());
    project.work(1);
    project.wait_for_all();
    let other = other_project(project.dir.path());
    fs::rename(&other, &kept).unwrap();
    let Project { writer, corpus, events, dir, .. } = project;
    writer.close().unwrap();
    let news = events.iter().find_map(|event| match event {
        WriterEvent::News(news) => Some(news),
        _ => None,
    });
    let (why, again) = moved_on(news.unwrap());
    assert_eq!((why, again.file_name().unwrap().to_str()), (Lost::Replaced, Some("p.kept-2.nestling")));
    assert_holds(&again, &corpus);
    assert_is_the_other(&kept);
    assert_eq!(files(dir.path()), ["p.kept-2.nestling", "p.kept.nestling"]);
}

#[test]
fn models_go_along_and_a_name_that_is_taken_is_not_used() {
    let project = Project::new();
    let model = project.dir.path().join("p.models/model-0001");
    fs::create_dir_all(&model).unwrap();
    fs::write(model.join("weights"), "w").unwrap();
    fs::create_dir(project.dir.path().join("p.kept.models")).unwrap();
    fs::remove_file(&project.path).unwrap();
    let (_, kept) = moved_on(project.news());
    assert_eq!(kept.file_name().unwrap(), "p.kept-2.nestling");
    assert_eq!(fs::read_to_string(models_dir(&kept).join("model-0001/weights")).unwrap(), "w");
    assert!(model.join("weights").is_file());
}

#[test]
fn a_folder_that_is_renamed_leaves_the_work_in_a_refuge_or_in_memory() {
    let outer = TempDir::new().unwrap();
    let (folder, renamed, refuge) =
        (outer.path().join("folder"), outer.path().join("renamed"), outer.path().join("refuge"));
    fs::create_dir(&folder).unwrap();
    fs::write(&refuge, "in the way").unwrap();
    let path = folder.join("p.nestling");
    let store = Store::create(&path, &NewProject::default()).unwrap().with_refuges(vec![refuge.join("kept")]);
    let mut corpus = store.load().unwrap().corpus;
    let (sender, events) = unbounded();
    let writer = Writer::start(store, move |event| sender.send(event).unwrap_or_default()).unwrap();
    let edit = |corpus: &mut Corpus, name: &str| {
        let (at, label) = (corpus.labels().len(), corpus.labels().propose(name));
        let transaction = Transaction::new("Add", vec![Edit::InsertLabel { at, label }]);
        let inverse = corpus.apply(transaction.clone()).unwrap();
        let (revision, stamp) = (corpus.revision(), Stamp::default());
        writer.apply(LogEntry { step: Step::Do, transaction, inverse, stamp, revision }).unwrap();
    };
    edit(&mut corpus, "ONE");
    assert!(matches!(events.recv_timeout(LIMIT).unwrap(), WriterEvent::Saved { revision: 1 }));
    fs::rename(&folder, &renamed).unwrap();
    edit(&mut corpus, "TWO");
    let event = events.recv_timeout(LIMIT).unwrap();
    let WriterEvent::Failed { error, .. } = event else { panic!("{event:?}") };
    let said = error.to_string();
    assert!(said.contains("moved or deleted") && said.contains("in memory"), "{said}");
    edit(&mut corpus, "THREE");
    assert!(writer.flush().is_err(), "nothing is said to be saved that is not");

    // Room is made, and everything is there without being asked for.
    fs::remove_file(&refuge).unwrap();
    let kept = loop {
        match events.recv_timeout(LIMIT).unwrap() {
            WriterEvent::News(news) => break moved_on(news).1,
            WriterEvent::Failed { .. } => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kept, refuge.join("kept/p.kept.nestling"));
    while !matches!(events.recv_timeout(LIMIT).unwrap(), WriterEvent::Saved { revision: 3 }) {}
    writer.close().unwrap();
    assert_holds(&kept, &corpus);
    // What was renamed is whole, up to then.
    let store = Store::open(&renamed.join("p.nestling")).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert!(store.load().unwrap().corpus.revision() >= 1);
}

#[test]
fn closing_without_any_place_says_what_is_lost_and_harms_nothing() {
    let outer = TempDir::new().unwrap();
    let folder = outer.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("p.nestling");
    let store = Store::create(&path, &NewProject::default()).unwrap();
    store.load().unwrap();
    let writer = Writer::start(store, |_| ()).unwrap();
    writer.flush().unwrap();
    fs::rename(&folder, outer.path().join("renamed")).unwrap();
    assert!(matches!(writer.close(), Err(StoreError::Unsaved { .. })));
    assert_eq!(files(outer.path()), ["renamed"]);
}

#[test]
fn a_log_that_is_taken_away_is_mended() {
    for replaced in [false, true] {
        let mut project = Project::new();
        project.work(3);
        project.wait_for_all();
        let log = project.dir.path().join("p.nestling-wal");
        fs::remove_file(&log).unwrap();
        if replaced {
            fs::write(&log, "of another one").unwrap();
        }
        let news = project.news();
        let FileNews::LogMended { of, set_aside } = &news else { panic!("{news:?}") };
        assert_eq!((of, set_aside.is_some()), (&project.path, replaced));
        project.work(3);
        project.wait_for_all();
        let expected: &[_] =
            if replaced { &["p.nestling", "p.nestling-wal.of-another-file-1"] } else { &["p.nestling"] };
        let Project { writer, corpus, dir, path, .. } = project;
        writer.close().unwrap();
        assert_eq!(files(dir.path()), expected);
        assert_holds(&path, &corpus);
    }
}

#[test]
fn a_lock_that_is_taken_away_is_taken_again() {
    let project = Project::new();
    let lock = project.dir.path().join("p.nestling.lock");
    fs::remove_file(&lock).unwrap();
    project.writer.flush().unwrap();
    assert!(matches!(Store::open(&project.path), Err(StoreError::Locked { .. })));
    let dir = project.reopen().2;
    assert_eq!(files(dir.path()), ["p.nestling"]);
}

#[test]
fn a_file_that_is_touched_or_written_by_the_rules_is_still_the_file() {
    let mut project = Project::new();
    let file = fs::File::options().append(true).open(&project.path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    std::mem::forget(file); // closing it would take SQLite's locks away
    project.work(2);
    project.wait_for_all();
    let db = rusqlite::Connection::open(&project.path).unwrap();
    db.execute_batch("INSERT INTO setting VALUES ('theirs', 'x'); PRAGMA wal_checkpoint").unwrap();
    drop(db);
    project.work(2);
    project.wait_for_all();
    let want = project.corpus.clone();
    assert_same(&project.reopen().0.corpus, &want);
}

#[test]
fn the_log_of_a_deleted_project_is_not_applied_to_a_new_one_of_its_name() {
    let mut project = Project::new();
    project.work(3);
    project.wait_for_all();
    let left = TempDir::new().unwrap();
    fs::copy(project.dir.path().join("p.nestling-wal"), left.path().join("n.nestling-wal")).unwrap();
    let path = left.path().join("n.nestling");
    let store = Store::create(&path, &NewProject::default()).unwrap();
    let [FileNews::LogSetAside { log, .. }] = store.news() else { panic!("{:?}", store.news()) };
    assert!(log.is_file());
    let corpus = store.load().unwrap().corpus;
    assert_eq!((corpus.revision(), corpus.all_documents().len()), (0, 0));
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_file_that_is_overwritten_where_it_lies_is_not_trusted_and_the_work_is_written_from_memory() {
    let mut project = Project::new();
    project.work(3);
    project.wait_for_all();
    let other = other_project(project.dir.path());
    let bytes = fs::read(&other).unwrap();
    fs::write(&project.path, &bytes).unwrap();
    project.work(2);
    let mut asked = false;
    let kept = loop {
        match project.next_event() {
            WriterEvent::NeedsMemory if !asked => {
                asked = true;
                let memory = Memory { corpus: project.corpus.clone().into(), ..Memory::default() };
                project.writer.restore(memory).unwrap();
                // What comes after it is written after it.
                project.work(2);
            }
            WriterEvent::NeedsMemory => {}
            WriterEvent::Failed { error, .. } => assert!(error.to_string().contains("overwrote"), "{error}"),
            WriterEvent::News(news) => {
                let (why, kept) = moved_on(news);
                assert_eq!(why, Lost::Overwritten);
                break kept;
            }
            WriterEvent::Saved { revision } => panic!("{revision} is said to be saved"),
        }
    };
    project.wait_for_all();
    let Project { writer, corpus, path, .. } = project;
    writer.close().unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_holds(&kept, &corpus);
    assert_is_the_other(&path);
}
