//! Which files are opened, by whom, and how others are refused.

use super::*;

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
        this is not a Nestling project but an empty file; choose a .nestling file: empty.nestling
        this is not a Nestling project but a text file; make a project and import the file there: text.nestling
        this is not a Nestling project but a file of another program; choose a .nestling file: image.nestling
        this is not a Nestling project but another program's database; choose a .nestling file: other.nestling
        a project is one file, but this is a folder; choose a .nestling file: folder.nestling
        the project was written by a newer program (file version 99, this program knows up to 5); update the program, the file is as it was: newer.nestling
        the project can't be changed because the file is read-only; make it writable, or work on a copy: readonly.nestling
        the project file is damaged (it has 40,960 bytes and should have 81,920 bytes); it was left as it is; go back to a copy of it, or rescue what can be read: short.nestling"#]].assert_eq(&messages.join("\n"));
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

#[test]
fn a_project_that_is_open_can_be_read() {
    let mut project = Project::new();
    project.edit(Step::Do, Transaction::new("Skip", vec![status(0, Status::Untouched, Status::Skipped)]));
    let reader = Store::open_to_read(&project.path).unwrap();
    assert!(matches!(reader.read_only(), Some(WhyReadOnly::OpenElsewhere(_))));
    assert_same(&reader.load().unwrap().corpus, &project.corpus);
    project.edit(Step::Do, Transaction::new("Flag", vec![status(0, Status::Skipped, Status::Flagged)]));
    assert_same(&reader.load().unwrap().corpus, &project.corpus);
    drop(reader);
    let dir = project.reopen().2;
    assert_eq!(files(dir.path()), ["p.nestling"]);
}

#[test]
fn who_may_not_write_a_project_is_told_by_whom_it_is_open() {
    let mut project = Project::new();
    project.edit(Step::Do, Transaction::new("Skip", vec![status(0, Status::Untouched, Status::Skipped)]));
    let mut permissions = fs::metadata(&project.path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&project.path, permissions).unwrap();
    let reader = Store::open_to_read(&project.path).unwrap();
    assert!(matches!(reader.read_only(), Some(WhyReadOnly::OpenElsewhere(_))), "{:?}", reader.read_only());
    assert_same(&reader.load().unwrap().corpus, &project.corpus);
}

#[test]
fn a_project_that_nobody_can_write_can_be_read_and_is_not_touched() {
    let (_, path, dir) = Project::new().reopen();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let before = snapshot(dir.path());
    let store = Store::open_to_read(&path).unwrap();
    assert_eq!(store.read_only(), Some(&WhyReadOnly::NotWritable));
    assert_eq!(store.load().unwrap().corpus.sentence_count(), 3);
    assert_eq!(store.find("harbour bo").unwrap(), [SentenceId(1)]);
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    drop(store);
    assert_eq!(snapshot(dir.path()), before);
}

#[test]
fn a_copy_holds_all_and_is_made_once() {
    let mut project = Project::new();
    project.edit(Step::Do, Transaction::new("Skip", vec![status(0, Status::Untouched, Status::Skipped)]));
    let copy = project.dir.path().join("a copy.nestling");
    let reader = Store::open_to_read(&project.path).unwrap();
    reader.save_copy(&copy).unwrap();
    assert!(matches!(reader.save_copy(&copy), Err(StoreError::Exists { .. })));
    let nowhere = project.dir.path().join("no/copy.nestling");
    assert!(matches!(reader.save_copy(&nowhere), Err(StoreError::NoFolder { .. })));
    let store = Store::open(&copy).unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    assert_same(&store.load().unwrap().corpus, &project.corpus);
    assert_eq!(store.find("anna").unwrap(), [SentenceId(0)]);
    drop((store, reader));
    let (_, path, dir) = project.reopen();
    assert_eq!(files(dir.path()), ["a copy.nestling", "p.nestling"]);
    assert_eq!(dump(&path), dump(&copy));
}

#[test]
fn words_are_found_in_any_script() {
    let mut project = Project::new();
    let mut after = project.corpus.clone();
    let text = "北京大学在北京。\nกรุงเทพมหานคร\nÅrhus Café don't NF-kB2\nتورونتو مدينة\nhe said 'Anna: Berg' 💩";
    let sentences = split_sentences(text, SentenceSplit::Lines, Tokens::Words).into_iter();
    let sentences = sentences.map(|tokens| NewSentence { tokens, ..NewSentence::default() }).collect();
    let new = NewDocument { name: "b".into(), text: text.into(), kept: Kept::new(), sentences };
    after.add_document(new).unwrap();
    let import = Import::between(&project.corpus, after.clone(), "Import b", Stamp::default(), "{}");
    project.writer.import(import).unwrap();
    project.corpus = after;
    let reader = Store::open_to_read(&project.path).unwrap();
    let check = |query: &str| reader.find(query).unwrap().iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!((check("大学"), check("京大"), check("大北")), (vec![3], vec![3], vec![]));
    assert_eq!((check("เทพ"), check("ARHUS"), check("café d"), check("cafe")), (vec![4], vec![5], vec![5], vec![5]));
    assert_eq!((check("nf-kb"), check("kb"), check("مدينة"), check("💩")), (vec![5], vec![5], vec![6], vec![2, 7]));
    assert_eq!((check("anna berg"), check("ann"), check("berg anna")), (vec![0, 7], vec![0, 7], vec![]));
    assert_eq!((check(""), check(" \"*' OR - "), check("\" OR *")), (vec![], vec![], vec![]));
    drop(reader);
    // What is split anew is found anew.
    project.edit(Step::Do, Transaction::new("", vec![split_sentence(&project.corpus, SentenceId(0), 7).unwrap()]));
    let reader = Store::open_to_read(&project.path).unwrap();
    assert_eq!(reader.find("met anna").unwrap(), [SentenceId(8)]);
    assert_eq!(reader.find("aarhus met").unwrap(), []);
    drop(reader);
    project.reopen();
}
