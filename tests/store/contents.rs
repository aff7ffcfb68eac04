//! What is stored comes back.

use super::*;
use std::collections::BTreeMap;

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
    let older = SentenceSuggestions { model: ModelId(1), heads: vec![], spans: vec![], acquisition: None };
    let acquisition = Some(Acquisition { entropy: 0.7, direction: vec![-128, 0, 127], ..Acquisition::default() });
    let newer = SentenceSuggestions { model: ModelId(2), heads: vec![0.1, 1.0, 0.0], spans, acquisition };
    let model = |id, manifest: &str| ModelRecord {
        id: ModelId(id),
        manifest: manifest.into(),
        manifest_sha256: (id == 2).then(|| format!("hash of {manifest}")),
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
    let score = |split, high| Measurement {
        model: ModelId(2),
        split,
        time_ms: 7,
        train_sentences: 40,
        train_tokens: 900,
        sentences: 25,
        true_positives: 12,
        false_positives: 3,
        false_negatives: 5,
        low: 0.1 + 0.2,
        high,
    };
    for measurement in [score(Split::Dev, 0.5), score(Split::Blind, 0.6), score(Split::Dev, 0.9)] {
        writer.measurement(measurement).unwrap();
    }
    let contents = project.reopen().0;
    assert_eq!(contents.measurements, [score(Split::Blind, 0.6), score(Split::Dev, 0.9)]);
    assert_eq!(contents.suggestions.get(SentenceId(0)), Some(&newer));
    assert_eq!(contents.suggestions.get(SentenceId(1)), Some(&older));
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
    let mut import = Import::between(&before, after.clone(), "Import b.txt", Stamp::default(), "{\"left_out\":0}");
    let suggestions = SentenceSuggestions { model: ModelId(0), heads: vec![], spans: vec![], acquisition: None };
    import.suggestions.push((SentenceId(3), suggestions.clone()));
    project.writer.import(import).unwrap();
    project.corpus = after;
    project.edit(Step::Do, Transaction::new("Complete", vec![status(3, Status::Untouched, Status::Complete)]));
    let want = project.corpus.clone();
    let (contents, path, _dir) = project.reopen();
    assert_same(&contents.corpus, &want);
    assert_eq!(contents.suggestions.get(SentenceId(3)), Some(&suggestions));
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
        presses: 4,
        visible: vec![VisibleSuggestions {
            sentence: SentenceId(0),
            model: ModelId(3),
            spans: vec![Suggestion { span: span(0, 7), label: LabelId(0), score: 0.5, runner_up: None }],
        }],
    };
    project.edit(Step::Do, Transaction::new("Skip", vec![status(0, Status::Untouched, Status::Skipped)]));
    let (_, path, _dir) = project.reopen();
    let mut read = Vec::new();
    Store::open_to_read(&path).unwrap().read_log(|entry| read.push(entry)).unwrap();
    let [import, skip] = read.as_slice() else { panic!("two entries: {read:?}") };
    assert!(import.step == Step::Do && import.edits.is_empty(), "{import:?}");
    assert_eq!((skip.presses, skip.active_ms, &*skip.author), (4, 1500, "anna"));
    assert_eq!(skip.visible, [(SentenceId(0), ModelId(3))]);
    let db = rusqlite::Connection::open(path).unwrap();
    let row = db.query_row(
        "SELECT step, intent, author, time_ms, active_ms, presses, visible, edits, inverse FROM log WHERE step <> 'import'",
        [],
        |row| (0..9).map(|at| row.get::<_, String>(at).or_else(|_| Ok(row.get::<_, i64>(at)?.to_string()))).collect(),
    );
    expect_test::expect![[r#"
        do
        Skip
        anna
        1772355900000
        1500
        4
        [{"sentence":0,"model":3,"spans":[[0,7,0,0.5]]}]
        [{"edit":"set_status","sentence":0,"old":"untouched","new":"skipped"}]
        [{"edit":"set_status","sentence":0,"old":"skipped","new":"untouched"}]"#]]
    .assert_eq(&row.map(|columns: Vec<String>| columns.join("\n")).unwrap());
    assert!(db.execute("DELETE FROM log", []).is_err() && db.execute("UPDATE log SET author = ''", []).is_err());
}
