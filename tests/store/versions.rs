//! Files of older versions of the program. `tests/fixtures/store/version-1.nestling` was written by version 0.1.0 with
//! files of version 1: two documents, three labels, mentions with all that they can have, an import, edits, undo, redo.
//! `version-2.nestling` is of the same program when it knew no excluded documents: three documents, "lund" removed, the
//! other two removed and brought back by undo. `version-3.nestling` is of the same program when it knew of one score for what
//! a sentence teaches: two documents, two complete sentences, a model's suggestions for the other two.
//! `version-4.nestling` is of the same program when projects had no identity: three documents, four complete sentences, a
//! model and its suggestions for the other four.

use super::*;

#[test]
fn a_file_of_version_1_is_brought_up_to_date_after_a_copy() {
    let (dir, path) = old_project(1);
    let old = fs::read(&path).unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let Contents { corpus, mut history, suggestions, models, current_model, settings, .. } = store.load().unwrap();
    let shown: Vec<_> = corpus.sentences().map(|s| show(&corpus, s)).collect();
    expect_test::expect![[r#"
        The|mayor|of|the|city|of|Aarhus|met|Anna|Berg|. Complete Dev
          [0..1, 6..7] 1 Import {"sure": "nej \"x\""} "a note\nof two lines 💩"
          [0..7] 0 Rule {} ""
          [8..10] 0 Person {} ""
        She|chairs|the|Harbour|Board|. Untouched Rest
          [2..5] 2 Accepted(ModelId(1)) {} ""
          rejected 0..1 0
        It|rained|💩|all|day|. Flagged Rest
        北|京|大|学|在|北|京|。 Untouched Rest
        东|京|is|in|ป|ร|ะ|เ|ท|ศ|ไ|ท|ย|. Untouched Rest"#]]
    .assert_eq(&shown.join("\n"));
    let labels: Vec<_> = corpus.labels().iter().map(|l| format!("{} {:?}", l.name, l.title)).collect();
    assert_eq!(labels, [r#"PER """#, r#"ORG """#, r#"LOC """#]);
    assert_eq!((suggestions.len(), models.len(), current_model), (2, 1, Some(ModelId(1))));
    assert_eq!(settings.get("threshold").map(String::as_str), Some("0.4"));
    let found = |query: &str| store.find(query).unwrap().iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!((found("harbour"), found("大学"), found("aarhus met")), (vec![1], vec![3], vec![0]));

    // The history goes on from where it was; the import of then can't be taken back.
    let mut corpus = corpus;
    assert_eq!(history.next_redo().unwrap().intent, "Change the label PER");
    let mut intents = Vec::new();
    while let Some(undo) = history.next_undo().cloned() {
        intents.push(undo.intent.clone());
        let inverse = corpus.apply(undo).unwrap();
        history.record(Step::Undo, inverse);
    }
    assert_eq!(intents, ["Accept ORG", "Add the label ORG", "Add PER"]);

    let names = files(dir.path());
    assert_eq!(names, ["p.nestling", "p.nestling-shm", "p.nestling-wal", "p.nestling.lock", "p.version-1.nestling"]);
    drop(store);
    assert!(fs::read(&path).unwrap() != old);
    let copy = rusqlite::Connection::open(dir.path().join("p.version-1.nestling")).unwrap();
    let version: i64 = copy.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let mentions: i64 = copy.query_row("SELECT count(*) FROM mention", [], |row| row.get(0)).unwrap();
    assert_eq!((version, mentions), (1, 4));
}

#[test]
fn in_a_file_of_version_2_a_removed_document_is_so_and_the_history_goes_on() {
    let (dir, path) = old_project(2);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let Contents { mut corpus, mut history, .. } = store.load().unwrap();
    let presences = |corpus: &Corpus| -> Vec<_> {
        corpus.all_documents().values().map(|d| format!("{} {}", d.name, d.presence.id())).collect()
    };
    let first = presences(&corpus);
    assert_eq!(first, ["harbour there", "lund removed", "turku there"]);
    assert_eq!(corpus.sentence_count(), 4);

    assert_eq!(history.next_redo().unwrap().intent, "Remove 2 documents");
    let inverse = corpus.apply(history.next_redo().unwrap().clone()).unwrap();
    assert_eq!(presences(&corpus), ["harbour removed", "lund removed", "turku removed"]);
    corpus.apply(inverse).unwrap();
    assert_eq!(presences(&corpus), first);
    let mut intents = Vec::new();
    while let Some(undo) = history.next_undo().cloned() {
        intents.push(format!("{}: {}", undo.intent, corpus.sentence_count()));
        let inverse = corpus.apply(undo).unwrap();
        history.record(Step::Undo, inverse);
    }
    expect_test::expect![[r#"
        Remove lund: 4
        Add LOC: 5
        Mark complete: 5
        Add LOC: 5
        Add PER: 5
        Import turku.txt: 5
        Import lund.txt: 3
        Import harbour.txt: 2"#]]
    .assert_eq(&intents.join("\n"));
    assert_eq!(presences(&corpus), ["harbour removed", "lund removed", "turku removed"]);
    assert!(dir.path().join("p.version-2.nestling").is_file());
}

#[test]
fn in_a_file_of_version_3_suggestions_stay_and_say_nothing_of_what_they_teach() {
    let (_dir, path) = old_project(3);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    let Contents { suggestions, measurements, corpus, .. } = store.load().unwrap();
    let mut heads: Vec<_> = suggestions.values().map(|said| said.heads.len()).collect();
    heads.sort_unstable();
    assert_eq!((heads, corpus.sentence_count()), (vec![6, 8], 4));
    assert!(suggestions.values().all(|said| said.model == ModelId(1) && said.acquisition.is_none()));
    assert!(measurements.is_empty());
}

#[test]
fn a_file_of_version_4_gets_an_identity_and_keeps_its_model_without_a_hash() {
    let (_dir, path) = old_project(4);
    let identity = || {
        let store = Store::open(&path).unwrap();
        assert_eq!(store.check().unwrap(), Vec::<String>::new());
        let Contents { project, corpus, suggestions, models, current_model, .. } = store.load().unwrap();
        let mentions: usize = corpus.sentences().map(|s| s.mentions().len()).sum();
        assert_eq!((corpus.sentence_count(), mentions, suggestions.len()), (8, 10, 4));
        assert!(suggestions.values().all(|said| said.acquisition.is_some()));
        let [model] = models.as_slice() else { panic!("{models:?}") };
        assert_eq!((model.id, current_model, model.manifest_sha256.as_deref()), (ModelId(1), Some(ModelId(1)), None));
        project
    };
    assert_eq!(identity(), identity(), "made once");
    let (_other, other) = old_project(4);
    assert_ne!(identity(), Store::open(&other).unwrap().load().unwrap().project);
}

#[test]
fn an_old_file_is_rescued_as_it_is() {
    for (version, documents, lost) in [(1, 2, None), (2, 2, Some("the document \"lund\", which had been removed"))] {
        let (_dir, path) = old_project(version);
        let rescued = rescue(&path).unwrap();
        assert_eq!(rescued.documents, documents);
        assert!(lost.is_none_or(|lost| rescued.lost.iter().any(|line| line == lost)), "{:?}", rescued.lost);
        assert!(Store::open(&rescued.path).unwrap().load().unwrap().corpus.documents().all(|d| !d.text.is_empty()));
    }
}

#[test]
fn an_old_file_that_cant_be_written_is_left_alone() {
    let (dir, path) = old_project(1);
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let before = snapshot(dir.path());
    let error = Store::open_to_read(&path).map(|_| ()).unwrap_err();
    assert!(matches!(error, StoreError::Old { .. }), "{error}");
    assert_eq!(snapshot(dir.path()), before);
}

#[test]
fn a_migration_that_fails_leaves_the_file_as_it_was() {
    let (dir, path) = old_project(1);
    // What the index can't be made of.
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("UPDATE sentence SET tokens = x'80' WHERE id = 3; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    let old = fs::read(&path).unwrap();
    let error = Store::open(&path).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("damaged (the tokens of a sentence can't be read)"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), old);
    assert_eq!(files(dir.path()), ["p.nestling", "p.version-1.nestling"]);
}

fn old_project(version: u32) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("p.nestling");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store");
    fs::copy(fixture.join(format!("version-{version}.nestling")), &path).unwrap();
    (dir, path)
}

fn show(corpus: &Corpus, sentence: &Sentence) -> String {
    let mut lines = vec![format!(
        "{} {:?} {:?}",
        corpus.words(sentence).collect::<Vec<_>>().join("|"),
        sentence.status(),
        sentence.split()
    )];
    for mention in sentence.mentions() {
        let Mention { fragments, label, attributes, note, provenance, .. } = mention;
        lines.push(format!(
            "  {:?} {} {provenance:?} {attributes:?} {note:?}",
            fragments.iter().collect::<Vec<_>>(),
            label.0
        ));
    }
    lines.extend(sentence.rejected().iter().map(|(span, label)| format!("  rejected {span:?} {}", label.0)));
    lines.join("\n")
}
