//! What comes out of damaged files.

use super::*;

/// A project of `documents` documents of 3 sentences, each with a mention; closed.
fn project(documents: usize) -> (Corpus, PathBuf, TempDir) {
    let mut project = Project::new();
    let mut after = project.corpus.clone();
    for number in 0..documents {
        let mut new = document(&format!("d{number}"), TEXT);
        for (sentence, id) in new.sentences.iter_mut().zip(after.next_mention_id().0..) {
            sentence.mentions.push(Mention::new(MentionId(id), span(0, 2), LabelId(0), Provenance::Person));
            sentence.status = Status::Complete;
        }
        after.add_document(new).unwrap();
    }
    let import = Import::between(&project.corpus, after.clone(), "Import", Stamp::default(), "{}");
    project.writer.import(import).unwrap();
    project.corpus = after;
    let corpus = project.corpus.clone();
    let (_, path, dir) = project.reopen();
    (corpus, path, dir)
}

fn counts(corpus: &Corpus) -> (usize, usize, usize) {
    (corpus.document_count(), corpus.sentence_count(), corpus.sentences().map(|s| s.mentions().len()).sum())
}

#[test]
fn a_sound_project_is_rescued_whole() {
    let (corpus, path, dir) = project(3);
    let before = fs::read(&path).unwrap();
    let rescued = rescue(&path).unwrap();
    assert_eq!((rescued.documents, rescued.sentences, rescued.mentions), counts(&corpus));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(files(dir.path()), ["p.nestling", "p.rescued.nestling"]);
    assert!(matches!(rescue(&path), Err(StoreError::Exists { .. })));
    let again = Store::open(&rescued.path).unwrap().load().unwrap().corpus;
    assert!(again.sentences().eq(corpus.sentences()));
    assert_eq!(again.labels(), corpus.labels());
    let lost = rescued.lost.join("\n");
    expect_test::expect![[r#"
        the history (2 entries) stays in the damaged file
        models and suggestions stay with the damaged file; train again"#]]
    .assert_eq(&lost);
}

#[test]
fn a_file_that_was_cut_off_gives_what_it_has() {
    let (corpus, path, _dir) = project(300);
    let whole = fs::read(&path).unwrap();
    let (documents, sentences, mentions) = counts(&corpus);
    let rescued = |bytes: usize| {
        fs::write(&path, &whole[..bytes]).unwrap();
        let rescued = rescue(&path).unwrap();
        fs::remove_file(&rescued.path).unwrap();
        assert!(bytes == whole.len() || !rescued.lost.is_empty(), "what is missing is told");
        (rescued.documents, rescued.sentences, rescued.mentions)
    };
    assert_eq!(rescued(whole.len()), (documents, sentences, mentions));
    let (_, most, _) = rescued(whole.len() - 4096);
    let (_, some, _) = rescued(whole.len() / 2 + 1);
    assert!(most >= sentences * 9 / 10 && some >= sentences / 10, "{most} and {some} of {sentences}");
    fs::write(&path, &whole[..3 * 4096]).unwrap();
    assert!(matches!(rescue(&path), Err(StoreError::BeyondRescue { .. })), "no document is there");
    assert!(!rescued_path(&path).exists());
}

#[test]
fn excluded_documents_are_rescued_as_such_and_removed_ones_are_listed() {
    let (corpus, path, _dir) = project(3);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "UPDATE document SET presence = 'excluded' WHERE id = 1;
        UPDATE document SET presence = 'removed' WHERE id = 2;
        PRAGMA wal_checkpoint(TRUNCATE)",
    )
    .unwrap();
    drop(db);
    let rescued = rescue(&path).unwrap();
    let (documents, sentences, mentions) = counts(&corpus);
    assert_eq!((rescued.documents, rescued.sentences, rescued.mentions), (documents - 1, sentences - 3, mentions - 3));
    assert_eq!(rescued.lost[0], "the document \"d1\", which had been removed");
    let Contents { corpus: mut again, mut history, .. } = Store::open(&rescued.path).unwrap().load().unwrap();
    let presences = |corpus: &Corpus| -> Vec<_> { corpus.all_documents().values().map(|d| d.presence).collect() };
    let (there, excluded, removed) = (Presence::There, Presence::Excluded, Presence::Removed);
    assert_eq!(presences(&again), [there, excluded, there]);
    let back = Edit::SetPresence { documents: DocumentIds::from_iter([DocumentId(1)]), old: excluded, new: there };
    let inverse = again.apply(Transaction::new("Include", vec![back])).unwrap();
    assert_eq!(counts(&again), (documents - 1, sentences - 3, mentions - 3));
    again.apply(inverse).unwrap();

    // The rescue is an import, and can be undone and done again as one.
    let inverse = again.apply(history.next_undo().unwrap().clone()).unwrap();
    assert_eq!(presences(&again), [removed; 3]);
    history.record(Step::Undo, inverse);
    again.apply(history.next_redo().unwrap().clone()).unwrap();
    assert_eq!(presences(&again), [there, excluded, there]);
}

#[test]
fn broken_rows_cost_themselves_and_are_listed() {
    let (corpus, path, _dir) = project(3);
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "PRAGMA foreign_keys = OFF;
        PRAGMA ignore_check_constraints = ON;
        UPDATE sentence SET tokens = x'80' WHERE id = 3;
        UPDATE mention SET end_token = 99 WHERE sentence = 4;
        UPDATE mention SET label = 7 WHERE sentence = 5;
        UPDATE mention SET provenance = 'nobody' WHERE sentence = 9;
        UPDATE sentence SET tokens = (SELECT tokens FROM sentence WHERE id = 11) WHERE id = 10;
        DELETE FROM document WHERE id = 2;
        PRAGMA wal_checkpoint(TRUNCATE)",
    )
    .unwrap();
    drop(db);
    assert!(Store::open(&path).and_then(|store| store.load()).is_err());
    let rescued = rescue(&path).unwrap();
    let lost = rescued.lost.join("\n");
    expect_test::expect![[r#"
        sentence 3, column tokens: the tokens of a sentence can't be read
        mention 9 6, column provenance: the text "nobody", expected an origin that there is
        1 mention whose sentence can't be read
        the name of a label, which is called label-7 now
        3 sentences whose document 2 can't be read
        1 mention of sentence 4: outside of it, or there twice
        a sentence of "d0" was cut again, without its mentions
        a sentence of "d2" was cut again, without its mentions
        sentence 11: its tokens are not those of the text
        the history (2 entries) stays in the damaged file
        models and suggestions stay with the damaged file; train again"#]]
    .assert_eq(&lost);
    let (documents, sentences, mentions) = counts(&corpus);
    assert_eq!((rescued.documents, rescued.sentences, rescued.mentions), (documents - 1, sentences - 3, mentions - 7));
    let again = Store::open(&rescued.path).unwrap().load().unwrap().corpus;
    assert_eq!(again.document(DocumentId(1)).unwrap().sentences.len(), 3, "the words of sentence 3 are there");
    assert!(again.labels().by_name("label-7").is_some());
    let statuses = |document: u32| -> Vec<Status> {
        let ids = &again.document(DocumentId(document)).unwrap().sentences;
        ids.iter().map(|id| again.sentence(*id).unwrap().status()).collect()
    };
    use Status::{Complete, InProgress, Untouched};
    assert_eq!(statuses(1), [Untouched, InProgress, Complete]);
    assert_eq!(statuses(2), [InProgress, Untouched, Complete], "what lacks mentions is not complete");
}

#[test]
fn garbage_anywhere_costs_little_and_never_the_file_itself() {
    let (corpus, path, dir) = project(300);
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    let db = rusqlite::Connection::open(&path).unwrap();
    let root = |table: &str| -> i64 {
        let sql = "SELECT rootpage - 1 FROM sqlite_schema WHERE name = ?1";
        db.query_row(sql, [table], |row| row.get(0)).unwrap()
    };
    let [documents, sentences, mentions] = ["document", "sentence", "mention"].map(root);
    drop(db);
    let (mut random, mut rescued_files, mut most) = (0x9E37_79B9_7F4A_7C15_u64, 0, 0);
    for round in 0..60 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = whole.clone();
        let page = 1 + (random >> 33) as usize % (pages - 1);
        bytes[page * 4096..(page + 1) * 4096].fill((random >> 20) as u8);
        if round % 10 == 9 {
            bytes.truncate(whole.len() * (round + 30) / 100);
        }
        fs::write(&path, &bytes).unwrap();
        let outcome = rescue(&path);
        assert!(fs::read(&path).unwrap() == bytes, "round {round}: the damaged file was changed");
        match outcome {
            Ok(rescued) => {
                rescued_files += 1;
                most = most.max(rescued.mentions);
                let is_whole = round % 10 != 9;
                // Without its first page no document is found, and the words are in the documents; another one holds 33 of
                // 301 at most.
                let words_are_there = !is_whole || page as i64 == documents || rescued.sentences >= 800;
                // A page holds 159 of 900 mentions at most, or the sentences of fewer.
                let is_first = [documents, sentences, mentions].contains(&(page as i64));
                let mentions_are_there = !is_whole || is_first || rescued.mentions >= 740;
                let found = (rescued.sentences, rescued.mentions);
                assert!(
                    words_are_there && mentions_are_there,
                    "round {round}, page {page}: {found:?} {:?}",
                    rescued.lost
                );
                fs::remove_file(&rescued.path).unwrap();
            }
            Err(StoreError::BeyondRescue { .. }) => drop(fs::remove_file(rescued_path(&path))),
            Err(error) => panic!("round {round}: {error}"),
        }
    }
    assert!(rescued_files >= 40, "{rescued_files} of 60 were rescued");
    assert_eq!(most, counts(&corpus).2, "a page that holds no mention costs none");
    assert_eq!(files(dir.path()), ["p.nestling"]);
}

#[test]
fn what_is_no_project_is_not_rescued() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("text.nestling");
    fs::write(&path, "Anna Berg\n").unwrap();
    assert!(matches!(rescue(&path), Err(StoreError::Foreign { .. })));
    let project = Project::new();
    assert!(matches!(rescue(&project.path), Err(StoreError::Locked { .. })));
    project.reopen();
}
