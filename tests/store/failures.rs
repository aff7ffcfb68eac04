//! Writes that fail.

use super::*;

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
    let import = Import::between(&project.corpus, with_second_document(&project.corpus), "", Stamp::default(), "{}");
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
fn closing_does_not_fail_for_what_is_nice_to_have() {
    let project = Project::new();
    let db = rusqlite::Connection::open(&project.path).unwrap();
    db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON setting BEGIN SELECT RAISE(ABORT, 'no luck'); END").unwrap();
    project.writer.convenience("place", Some("3".to_owned())).unwrap();
    project.writer.close().unwrap();
    let project = Project::new();
    let db = rusqlite::Connection::open(&project.path).unwrap();
    db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON setting BEGIN SELECT RAISE(ABORT, 'no luck'); END").unwrap();
    project.writer.convenience("place", Some("3".to_owned())).unwrap();
    project.writer.setting("threshold", Some("0.3".to_owned())).unwrap();
    assert!(matches!(project.writer.close(), Err(StoreError::Unsaved { edits: 0, .. })));
}

#[test]
fn a_failed_import_leaves_the_file_as_it_was() {
    let project = Project::new();
    let db = rusqlite::Connection::open(&project.path).unwrap();
    db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'no luck'); END").unwrap();
    let after = with_second_document(&project.corpus);
    let import = Import::between(&project.corpus, after.clone(), "Import", Stamp::default(), "{}");
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

#[test]
fn an_import_that_is_cancelled_leaves_the_file_as_it_was() {
    let mut project = Project::new();
    let after = with_second_document(&project.corpus);
    let import = || Import::between(&project.corpus, after.clone(), "Import b", Stamp::default(), "{}");
    let watch = Watch::default();
    watch.cancel();
    assert!(matches!(project.writer.import_watched(import(), &watch), Err(StoreError::Stopped { .. })));
    let watch = Watch::default();
    project.writer.import_watched(import(), &watch).unwrap();
    assert_eq!(watch.progress(), (1, 1), "it tells of each sentence");
    project.corpus = after;
    let want = project.corpus.clone();
    assert_same(&project.reopen().0.corpus, &want);
}
