//! What an import makes of files: what is complete, what stays open, and what the person is told.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use nestling::annotation::{SentenceId, Status};
use nestling::session::{
    Command, Driver, ExportRequest, Home, ImportAs, ImportHow, Language, Misfit, NewProject, Part, Project,
    ReadRequest, read_files,
};
use std::path::{Path, PathBuf};

struct Place {
    dir: tempfile::TempDir,
    home: Home,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        Self { dir, home }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("p.nestling")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The statuses of what an import brings, and what it says at the end.
fn imported(place: &Place, path: &Path, how: ImportHow) -> (Vec<&'static str>, Vec<String>) {
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    let incoming = read_files(&[path.to_owned()], &ReadRequest::default()).unwrap();
    let notes = incoming.notes.len();
    let receipt = project.import(incoming, how).unwrap();
    let statuses = project.corpus().sentences().map(|s| s.status().id()).collect();
    project.close().unwrap();
    std::fs::remove_file(place.path()).unwrap();
    (statuses, receipt.notes[notes..].to_vec())
}

#[test]
fn a_document_that_nobody_has_annotated_yet_stays_open() {
    let place = Place::new();
    let folder = place.dir.path().join("brat");
    std::fs::create_dir(&folder).unwrap();
    for (name, annotations) in [("a", "T1\tPER 0 4\tAnna\n"), ("b", ""), ("c", "#1\tAnnotatorNotes T9\tlater\n")] {
        std::fs::write(folder.join(format!("{name}.txt")), "Anna met Bo.\nIt rained.\n").unwrap();
        std::fs::write(folder.join(format!("{name}.ann")), annotations).unwrap();
    }
    let gold = |split| ImportHow { kind: None, split };
    let open = ["complete", "complete", "untouched", "untouched", "untouched", "untouched"];
    let note = "2 documents have no annotations and stay open; imported into the split train they count as complete";
    assert_eq!(imported(&place, &folder, gold(None)), (open.to_vec(), vec![note.to_owned()]));
    assert_eq!(imported(&place, &folder, gold(Some(Part::Blind))).0, open);
    for split in [Part::Train, Part::Dev, Part::Test] {
        assert_eq!(imported(&place, &folder, gold(Some(split))), (vec!["complete"; 6], vec![]));
    }
    let pool = imported(&place, &folder, gold(Some(Part::Pool))).0;
    assert_eq!(pool, ["in_progress", "untouched", "untouched", "untouched", "untouched", "untouched"]);

    // A text of which there are no annotations is taken along, and nobody vouches for it.
    std::fs::write(folder.join("b0.txt"), "It snowed.\n").unwrap();
    let statuses = imported(&place, &folder, gold(Some(Part::Train))).0;
    assert_eq!(statuses, ["complete", "complete", "complete", "complete", "untouched", "complete", "complete"]);
}

#[test]
fn what_is_said_of_sentences_without_mentions_counts() {
    let place = Place::new();
    let gold = |split| ImportHow { kind: None, split };
    let text = place.write("a.txt", "It rained.\nIt poured.\n");
    assert_eq!(imported(&place, &text, gold(None)), (vec!["untouched"; 2], vec![]));
    assert_eq!(imported(&place, &text, gold(Some(Part::Pool))).0, ["untouched"; 2]);
    for split in [Part::Train, Part::Dev, Part::Test] {
        assert_eq!(imported(&place, &text, gold(Some(split))), (vec!["complete"; 2], vec![]));
    }
    let none =
        place.write("b.jsonl", "{\"tokens\":[\"It\",\"rained\"],\"entities\":[]}\n{\"tokens\":[\"It\",\"poured\"]}\n");
    assert_eq!(imported(&place, &none, gold(None)).0, ["complete", "untouched"]);
    let as_text = ImportHow { kind: Some(ImportAs::Text), split: None };
    assert_eq!(imported(&place, &none, as_text).0, ["untouched"; 2]);
    let silent = place.write("c.jsonl", "{\"tokens\":[\"It\",\"rained\"]}\n{\"text\":\"It poured.\"}\n");
    assert_eq!(imported(&place, &silent, gold(None)).0, ["untouched"; 2]);
    let columns = place.write("d.conll", "It O\nrained O\n\nIt O\npoured O\n");
    assert_eq!(imported(&place, &columns, gold(None)).0, ["untouched"; 2]);
    assert_eq!(imported(&place, &columns, gold(Some(Part::Train))).0, ["complete"; 2]);
}

#[test]
fn an_export_without_mentions_comes_back_as_it_was() {
    let place = Place::new();
    let text = place.write("a.txt", &"It rained.\n".repeat(5));
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    project.import(read_files(&[text], &ReadRequest::default()).unwrap(), ImportHow::default()).unwrap();
    let ids: Vec<SentenceId> = project.corpus().sentences().map(|s| s.id()).collect();
    let statuses = [Status::Complete, Status::Skipped, Status::Flagged, Status::InProgress, Status::Untouched];
    for (id, status) in ids.into_iter().zip(statuses) {
        project.run(Command::SetStatus { sentence: id, status }).unwrap();
    }
    let before: Vec<_> = project.corpus().sentences().map(|s| s.status()).collect();
    assert_eq!(before, statuses);
    let out = place.dir.path().join("out.jsonl");
    let request = ExportRequest { format: "jsonl".into(), all_statuses: true, ..ExportRequest::default() };
    project.export_view().export(&request, &out).unwrap();
    project.close().unwrap();
    std::fs::remove_file(place.path()).unwrap();
    let ids: Vec<&str> = statuses.iter().map(|status| status.id()).collect();
    assert_eq!(imported(&place, &out, ImportHow::default()).0, ids);
}

#[test]
fn a_document_that_is_there_already_is_told() {
    let place = Place::new();
    let (a, b) = (place.write("a.txt", "It rained.\n"), place.write("b.txt", "It poured.\n"));
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    let mut last_note = |files: &[PathBuf]| {
        let incoming = read_files(files, &ReadRequest::default()).unwrap();
        let told = incoming.already_there(project.corpus());
        let receipt = project.import(incoming, ImportHow::default()).unwrap();
        assert_eq!(told.as_ref(), receipt.notes.last().filter(|note| note.contains("there already")));
        told
    };
    assert_eq!(last_note(std::slice::from_ref(&a)), None);
    let once = "1 document of this name is there already; it comes in a second time";
    assert_eq!(last_note(std::slice::from_ref(&a)).as_deref(), Some(once));
    assert_eq!(last_note(std::slice::from_ref(&b)), None);
    let twice = "2 documents of these names are there already; they come in a second time";
    assert_eq!(last_note(&[a, b]).as_deref(), Some(twice));
    project.close().unwrap();
}

#[test]
fn very_long_sentences_and_words_are_spoken_of_in_one_remark() {
    let place = Place::new();
    let long = place.write("line.txt", &format!("{}\nIt rained.\n{}\n", "word ".repeat(700), "x".repeat(3000)));
    let short = place.write("short.txt", "Anna met Bo.\n");
    let notes = |path: PathBuf| {
        let options = vec![("unit".to_owned(), "lines".to_owned())];
        let incoming = read_files(&[path], &ReadRequest { options, ..ReadRequest::default() }).unwrap();
        incoming.notes.into_iter().filter(|note| note.contains("more than 500 words")).collect::<Vec<_>>()
    };
    assert_eq!(notes(short), [""; 0]);
    let said = notes(long);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("1 sentence has more than 500 words (700, in line), and 1 word has more than 2,000"),
        "{}",
        said[0]
    );
}

#[test]
fn what_a_line_is_is_chosen_once_for_all_files() {
    let place = Place::new();
    let folder = place.dir.path().join("texts");
    std::fs::create_dir(&folder).unwrap();
    // By itself the second would be read as one sentence a line.
    std::fs::write(
        folder.join("a.txt"),
        "Harbour opens again\nAnna met Bo at noon. It rained.\nIt poured. It snowed.\n",
    )
    .unwrap();
    std::fs::write(folder.join("b.txt"), "Anna met Bo.\nThey spoke\nfor an hour.\n").unwrap();
    let incoming = read_files(std::slice::from_ref(&folder), &ReadRequest::default()).unwrap();
    let sentences: Vec<Vec<String>> = incoming
        .documents
        .iter()
        .map(|d| {
            d.sentences.iter().map(|s| s.tokens.iter().map(|t| t.of(&d.text)).collect::<Vec<_>>().join(" ")).collect()
        })
        .collect();
    assert_eq!(
        sentences,
        [
            vec!["Harbour opens again", "Anna met Bo at noon .", "It rained .", "It poured .", "It snowed ."],
            vec!["Anna met Bo .", "They spoke for an hour ."]
        ]
    );
    let about_lines: Vec<_> = incoming.notes.iter().filter(|note| note.contains("unit=")).collect();
    assert_eq!(
        about_lines,
        ["read as prose, because 2 lines of 6 hold several sentences; the option unit=lines reads it the other way"]
    );
    let asked = ReadRequest { options: vec![("unit".to_owned(), "lines".to_owned())], ..ReadRequest::default() };
    assert_eq!(read_files(&[folder], &asked).unwrap().sentences, 6);
}

#[test]
fn notes_of_many_files_are_said_once() {
    let place = Place::new();
    let folder = place.dir.path().join("brat");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..40 {
        std::fs::write(folder.join(format!("{number:02}.txt")), "💩 Anna met Bo.\n").unwrap();
        std::fs::write(folder.join(format!("{number:02}.ann")), "T1\tPER 3 7\tAnna\n").unwrap();
    }
    let notes = read_files(&[folder], &ReadRequest::default()).unwrap().notes;
    assert_eq!(notes.len(), 2, "{notes:#?}");
    let said = notes.iter().find(|note| note.contains("UTF-16")).unwrap();
    assert!(said.ends_with("00.ann (and 39 more like this)"), "{said}");
}

/// Pipes are made by a program of the system.
#[cfg(unix)]
#[test]
fn pipes_and_links_that_lead_out_of_a_folder_are_left_out_and_told() {
    let place = Place::new();
    let outside = place.write("secret.txt", "A secret.\n");
    let folder = place.dir.path().join("texts");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::write(folder.join("a.txt"), "It rained.\n").unwrap();
    std::fs::write(folder.join("inner/b.ann"), "T1\tPER 0 4\tAnna\n").unwrap();
    let link = |from: &Path, to: &str| std::os::unix::fs::symlink(from, folder.join(to)).unwrap();
    link(&outside, "out.txt");
    link(&outside, "inner/b.txt");
    link(place.dir.path(), "up");
    link(&folder.join("a.txt"), "within.txt");
    link(Path::new("nowhere"), "broken.txt");
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe.txt")).status().unwrap().success());

    let incoming =
        read_files(std::slice::from_ref(&folder), &ReadRequest { format: Some("text".into()), ..Default::default() });
    let incoming = incoming.unwrap();
    let names: Vec<_> = incoming.documents.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["a", "within"]);
    let left_out: Vec<String> = incoming.warnings.iter().map(ToString::to_string).collect();
    for (file, why) in
        [("out.txt", "leads out"), ("up", "folder"), ("broken.txt", "no such file"), ("pipe.txt", "a pipe")]
    {
        let path = folder.join(file).display().to_string();
        let told = left_out.iter().any(|line| line.matches(&path).count() == 1 && line.contains(why));
        assert!(told, "{file}: {left_out:#?}");
    }
    assert!(!incoming.documents.iter().any(|d| d.text.contains("secret")));

    // The text of annotations is no way out either, nor is a pipe that is named.
    let error = read_files(&[folder.join("inner")], &ReadRequest::default()).unwrap_err().to_string();
    assert!(error.contains("leads out of the imported folder"), "{error}");
    let error = read_files(&[folder.join("pipe.txt")], &ReadRequest::default()).unwrap_err().to_string();
    assert!(error.contains("this is a pipe"), "{error}");
}

#[test]
fn a_receipt_lists_words_and_borders_that_brat_and_text_do_not_hold() {
    let place = Place::new();
    let gold = place.write(
        "a.jsonl",
        "{\"doc\":\"d\",\"tokens\":[\"Anna-Berg\",\"did\",\"n't\",\"go\"],\"entities\":[{\"start\":0,\"end\":1,\"label\":\"PER\"}]}\n\
         {\"doc\":\"d\",\"tokens\":[\"home\",\".\"],\"entities\":[]}\n{\"doc\":\"d\",\"tokens\":[\"It\",\"rained\",\".\"],\"entities\":[]}\n",
    );
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    project.import(read_files(&[gold], &ReadRequest::default()).unwrap(), ImportHow::default()).unwrap();
    let losses = |format: &str, strict: bool| {
        let request = ExportRequest { format: format.into(), strict, ..ExportRequest::default() };
        let receipt = project.export_view().export(&request, &place.dir.path().join(format!("{format}-{strict}")));
        receipt.map(|receipt| receipt.written.losses.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let cut = "reading it splits it otherwise";
    let (brat, text) = (losses("brat", false).unwrap(), losses("text", false).unwrap());
    assert!(brat.iter().any(|loss| loss.starts_with("d: \"2 tokens, first ") && loss.ends_with(cut)), "{brat:#?}");
    assert!(brat.iter().any(|loss| loss.starts_with("d: \"1 sentence border\"")), "{brat:#?}");
    assert!(text.iter().any(|loss| loss.ends_with(cut)), "{text:#?}");
    assert!(!text.iter().any(|loss| loss.contains("border")), "{text:#?}");
    assert!(losses("brat", true).is_err());
    assert_eq!(losses("jsonl", true).unwrap(), Vec::<String>::new());
    project.close().unwrap();
}

#[test]
fn how_labels_look_is_told_where_a_file_has_no_place_for_it() {
    let place = Place::new();
    let folder = place.dir.path().join("brat");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.txt"), "Anna met Bo.\n").unwrap();
    std::fs::write(folder.join("a.ann"), "T1\tPER 0 4\tAnna\nT2\tORG 9 11\tBo\n").unwrap();
    std::fs::write(folder.join("annotation.conf"), "[entities]\nPER\nORG\n").unwrap();
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    project
        .import(read_files(std::slice::from_ref(&folder), &ReadRequest::default()).unwrap(), ImportHow::default())
        .unwrap();
    let notes = |project: &Project, name: &str| {
        let request = ExportRequest { format: "jsonl".into(), ..ExportRequest::default() };
        project.export_view().export(&request, &place.dir.path().join(name)).unwrap().written.notes
    };
    assert_eq!(notes(&project, "plain.jsonl"), Vec::<String>::new());
    project.close().unwrap();
    std::fs::remove_file(place.path()).unwrap();

    std::fs::write(folder.join("visual.conf"), "[labels]\nPER | Person\n[drawing]\nORG\tbgColor:#123456\n").unwrap();
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    project.import(read_files(&[folder], &ReadRequest::default()).unwrap(), ImportHow::default()).unwrap();
    let told = "the title, colour and key of 2 labels are not in the file: PER and ORG";
    assert_eq!(notes(&project, "titled.jsonl"), [told]);
    project.close().unwrap();
}

#[test]
fn what_looks_like_data_and_is_left_out_of_a_folder_counts() {
    let place = Place::new();
    let folder = place.dir.path().join("corpus");
    std::fs::create_dir(&folder).unwrap();
    let outside = "word O\n".repeat(9) + "\n";
    for (name, text) in [
        ("tags.txt", outside.repeat(30) + "Ada B-PER\nsang O\n"),
        ("raw.txt", "Ada met Bo at the harbour.\n".to_owned()),
        ("other.tsv", "#FORMAT=WebAnno TSV 3.3\n\n#Text=Ada\n1-1\t0-3\tAda\t\n".to_owned()),
        ("README.md", "A corpus.\n".to_owned()),
        ("LICENSE", "CC BY 4.0\n".to_owned()),
        ("make.py", "print('x')\n".to_owned()),
        ("config.json", "{\"version\": 1}\n".to_owned()),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let read = |format: Option<&str>| {
        let request = ReadRequest { format: format.map(str::to_owned), options: Vec::new() };
        read_files(std::slice::from_ref(&folder), &request)
    };
    let incoming = read(None).unwrap();
    assert_eq!((incoming.format_id, incoming.documents.len(), incoming.mentions), ("conll", 1, 1));
    let warnings: Vec<String> = incoming.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("WebAnno TSV") && warnings[0].contains("export the document as CoNLL 2002"));
    assert!(warnings[1].contains("only files with mentions were read") && warnings[1].contains("raw.txt"));
    assert!(incoming.notes.iter().any(|note| note.starts_with("4 other files of the folder were not read")));

    // Whoever asks for a format gets its files, by name or by content, and no complaint about the others.
    let asked = read(Some("conll")).unwrap();
    assert_eq!((asked.mentions, asked.warnings.len()), (1, 0));

    // Where nothing can be read the message says the way.
    for name in ["tags.txt", "raw.txt", "README.md"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    let refused = read(None).unwrap_err().to_string();
    assert!(refused.contains("WebAnno TSV") && refused.contains("other.tsv"), "{refused}");
}

#[test]
fn a_format_that_is_asked_for_does_not_make_text_of_data() {
    let place = Place::new();
    let read = |name: &str, text: &str, options: &[(&str, &str)]| {
        let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let request = ReadRequest { format: Some("text".to_owned()), options };
        read_files(&[place.write(name, text)], &request)
    };
    let json = "[{\"text\": \"Ada met Bo.\", \"label\": [[0, 3, \"PER\"]]}]\n";
    let refused = read("a.json", json, &[]).unwrap_err().to_string();
    assert!(refused.contains("a JSON array") && refused.contains("jq") && refused.contains("unit=prose"), "{refused}");
    let refused = read("a.txt", "Ada B-PER\nsang O\nloud O\n", &[]).unwrap_err().to_string();
    assert!(refused.contains("choose the format conll"), "{refused}");
    assert_eq!(read("a.json", json, &[("unit", "lines")]).unwrap().sentences, 1);
    assert!(read("b.txt", "Ada met Bo.\nIt rained.\n", &[]).is_ok());
}

/// Reads, imports and exports; what was warned of on the way in, what came out, and what is listed.
fn through(place: &Place, paths: &[PathBuf], format: &str, output: &str) -> (Vec<String>, PathBuf, Vec<String>) {
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    let receipt = project.import(read_files(paths, &ReadRequest::default()).unwrap(), ImportHow::default()).unwrap();
    let out = place.dir.path().join(output);
    let losses = exported(&project, format, &out);
    project.close().unwrap();
    std::fs::remove_file(place.path()).unwrap();
    (receipt.warnings.iter().map(|warning| warning.message.clone()).collect(), out, losses)
}

fn exported(project: &Project, format: &str, out: &Path) -> Vec<String> {
    let request = ExportRequest { format: format.to_owned(), all_statuses: true, ..ExportRequest::default() };
    let written = project.export_view().export(&request, out).unwrap().written;
    written.losses.iter().map(ToString::to_string).collect()
}

#[test]
fn a_text_that_no_format_can_hold_is_left_out_at_the_door_and_blocks_no_export() {
    let place = Place::new();
    let line = |text: &str, note: &str| {
        serde_json::json!({"text": text, "entities": [{"start": 0, "end": 4, "label": "PER", "note": note}]})
            .to_string()
    };
    let lines = [line("Anna left.", ""), line("Anna\ncame\0.", ""), line("Anna sang.", "a\0b")].join("\n");
    let file = place.write("a.jsonl", &lines);
    let mut incoming = read_files(std::slice::from_ref(&file), &ReadRequest::default()).unwrap();
    assert_eq!(incoming.documents.len(), 1);
    let warnings: Vec<_> = incoming.warnings.iter().map(|w| w.message.as_str()).collect();
    assert_eq!(
        warnings,
        [
            "the document \"a-2\" was left out: character 10 (line 2) is NUL (U+0000), which no text can hold; remove it or write a blank there: in its text",
            "the document \"a-3\" was left out: character 2 (line 1) is NUL (U+0000), which no text can hold; remove it or write a blank there: in the note \"a\\0b\"",
        ]
    );

    // A project from before there was a door: its other documents come out of it.
    let mut damaged = incoming.documents[0].clone();
    (damaged.name, damaged.text) = ("old".to_owned(), "Anna left\0".into());
    incoming.documents.insert(0, damaged);
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    project.import(incoming, ImportHow::default()).unwrap();
    let listed = "old: \"character 10 (line 1) is NUL (U+0000), which no text can hold; remove it or write a blank there\": \
                  the document was left out: its text holds a character that the format can't";
    for (format, name) in [("brat", "out"), ("conll", "out.conll"), ("text", "out.txt")] {
        let out = place.dir.path().join(name);
        let losses = exported(&project, format, &out);
        assert!(losses.iter().any(|loss| loss == listed), "{format}: {losses:?}");
        let read = read_files(&[out], &ReadRequest::default()).unwrap();
        assert!(read.documents.iter().all(|document| document.text.contains("Anna left")), "{format}");
        assert_eq!(read.sentences, 1, "{format}");
    }
    assert_eq!(exported(&project, "jsonl", &place.dir.path().join("out.jsonl")), Vec::<String>::new());
    project.close().unwrap();
}

#[test]
fn what_people_type_goes_through_the_same_door() {
    let place = Place::new();
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    let refused = project.run(Command::AddLabel { name: "A\0".to_owned() }).unwrap_err().to_string();
    assert!(refused.starts_with("the name can't be used: character 2"), "{refused}");
    project.run(Command::AddLabel { name: "A".to_owned() }).unwrap();
    let mut label = project.corpus().labels().by_name("A").unwrap().clone();
    label.title = "\0".to_owned();
    assert!(project.run(Command::EditLabel { label }).is_err());
    project.close().unwrap();
}

fn brat_folder(place: &Place, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = place.dir.path().join(name);
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn a_broken_line_of_brat_goes_out_as_it_came_in() {
    let place = Place::new();
    let annotations = "T1\tPER 0 4\tAnna\nwhat is this\nR1 In Arg1:T1\nX1\tno such thing\n";
    let folder = brat_folder(&place, "in", &[("a.txt", "Anna left.\n"), ("a.ann", annotations)]);
    let (warnings, out, losses) = through(&place, &[folder], "brat", "out");
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert_eq!(losses, Vec::<String>::new());
    assert_eq!(std::fs::read_to_string(out.join("a.ann")).unwrap(), annotations);
}

#[test]
fn a_kept_line_that_would_be_read_as_something_else_is_listed() {
    let place = Place::new();
    let kept = serde_json::json!({"doc": "a", "kept": {"brat": "T9\tPER 0 4\tAnna\nR1\tIn Arg1:T9 Arg2:T9"}});
    let line = r#"{"doc":"a","tokens":["Anna","left"],"entities":[{"start":0,"end":1,"label":"PER","id":"T9"}]}"#;
    let header = r#"{"nestling":1,"end":"exclusive"}"#;
    let file = place.write("a.jsonl", &format!("{header}\n{kept}\n{line}\n"));
    let (_, out, losses) = through(&place, &[file], "brat", "out");
    assert_eq!(losses, ["a: \"T9\\tPER 0 4\\tAnna\": it would be read as something else, and was left out"]);
    assert_eq!(std::fs::read_to_string(out.join("a.ann")).unwrap(), "T9\tPER 0 4\tAnna\nR1\tIn Arg1:T9 Arg2:T9\n");
}

const ANNOTATION: &str = "\
# Who and what there is
[entities]
Living
\tPerson
\tAnimal
!Thing
\tPlace

[relations]
In\tArg1:Person, Arg2:Place
<OVERLAP> Arg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>

[events]
<WHO>=Person|Animal
Meeting Who+:<WHO>, Where?:Place

[attributes]
Sure\tArg:<ENTITY>, Value:Low|High
Negated\tArg:<EVENT>
";

const VISUAL: &str = "\
[labels]
Person | A person | Pers | P
In | is in
[drawing]
SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen
Person\tfgColor:white, bgColor:#f80
In\tcolor:blue, dashArray:3-3
";

#[test]
fn the_configuration_of_brat_goes_out_as_it_came_in() {
    let place = Place::new();
    let files = [
        ("annotation.conf", ANNOTATION),
        ("visual.conf", VISUAL),
        ("tools.conf", "[search]\nWiki <URL>:http://example.org/%s\n"),
        ("kb_shortcuts.conf", "P Person\nI In\n"),
        ("a.txt", "Anna met Bo.\n"),
        ("a.ann", "T1\tPerson 0 4\tAnna\n"),
        ("b/annotation.conf", "[entities]\nOther\n"),
        ("b/c.txt", "Kim left.\n"),
        ("b/c.ann", "T1\tOther 0 3\tKim\n"),
    ];
    let folder = brat_folder(&place, "in", &files);
    let (warnings, out, losses) = through(&place, &[folder], "brat", "out");
    assert_eq!((warnings, losses), (vec![], vec![]));
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(text("annotation.conf"), ANNOTATION.replace("\tPlace\n\n", "\tPlace\nOther\n\n"));
    assert!(text("b/annotation.conf").starts_with("[entities]\nOther\nLiving\n"), "{}", text("b/annotation.conf"));
    assert_eq!(text("tools.conf"), files[2].1);
    assert!(text("visual.conf").starts_with(VISUAL.split("[drawing]").next().unwrap()), "{}", text("visual.conf"));
    for line in VISUAL.lines() {
        assert!(text("visual.conf").lines().any(|written| written == line), "{line}: {}", text("visual.conf"));
    }
    assert!(text("kb_shortcuts.conf").starts_with("P Person\nI In\n"));

    // By way of our own format, too; others say that they have no place for it.
    let (_, jsonl, losses) = through(&place, std::slice::from_ref(&out), "jsonl", "out.jsonl");
    assert_eq!(losses, Vec::<String>::new());
    let (_, again, losses) = through(&place, &[jsonl], "brat", "again");
    assert_eq!(losses, Vec::<String>::new());
    assert_eq!(std::fs::read_to_string(again.join("annotation.conf")).unwrap(), text("annotation.conf"));
    let (_, _, losses) = through(&place, &[out], "conll", "out.conll");
    assert!(losses.iter().any(|loss| loss.starts_with("brat:annotation.conf: the format has no place")), "{losses:?}");
}

#[test]
fn the_configuration_follows_the_labels_of_the_project() {
    let place = Place::new();
    let files = [
        ("annotation.conf", ANNOTATION),
        ("visual.conf", VISUAL),
        ("a.txt", "Anna met Bo.\n"),
        ("a.ann", "T1\tPerson 0 4\tAnna\nA1\tSure T1 Middle\nR1\tBy Arg1:T1 Arg2:T1\n"),
    ];
    let folder = brat_folder(&place, "in", &files);
    let mut project = Driver::create(&place.home, &place.path(), &NewProject::default()).unwrap();
    project.import(read_files(&[folder], &ReadRequest::default()).unwrap(), ImportHow::default()).unwrap();
    let label = |name: &str| project.corpus().labels().by_name(name).unwrap().clone();
    let (living, animal, mut person) = (label("Living"), label("Animal"), label("Person"));
    project.run(Command::RemoveLabel { label: living.id }).unwrap();
    project.run(Command::RemoveLabel { label: animal.id }).unwrap();
    (person.title, person.color) = ("Somebody".to_owned(), nestling::annotation::Rgb(1, 2, 3));
    project.run(Command::EditLabel { label: person }).unwrap();
    project.run(Command::AddLabel { name: "New".to_owned() }).unwrap();
    project.close().unwrap();
    // It is in the project file.
    let project = Driver::open(&place.home, &place.path()).unwrap();
    let out = place.dir.path().join("out");
    assert_eq!(exported(&project, "brat", &out), Vec::<String>::new());
    project.close().unwrap();
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let expected = ANNOTATION
        .replace("Living\n", "!Living\n")
        .replace("\tAnimal\n", "")
        .replace("\tPlace\n\n", "\tPlace\nNew\n\n")
        .replace("\n\n[events]", "\nBy\tArg1:<ANY>, Arg2:<ANY>\n\n[events]")
        .replace("Low|High", "Low|High|Middle");
    assert_eq!(text("annotation.conf"), expected);
    assert!(text("visual.conf").contains("Person | Somebody | Pers | P\n"), "{}", text("visual.conf"));
    assert!(text("visual.conf").contains("Person\tbgColor:#010203, fgColor:white\n"), "{}", text("visual.conf"));
}

const GERMAN: &str = "Der Hafen lag noch im Nebel, als die ersten Schiffe einliefen. Niemand wartete auf sie.\n\nNur ein Schreiber \
                      der Zollbehörde stand am Kai und zählte die Kisten, die man von Bord trug.\n";
const ENGLISH: &str = "It was a bright cold day in the harbour, and the clocks of the town were striking nine. Nobody \
                       waited.\n\nOnly a clerk of the customs house stood on the quay and counted the boxes.\n";

/// The encoder of a project after an import, and what the receipt says of it.
fn encoder_after(place: &Place, chosen: Option<&str>, texts: &[&str]) -> (String, Vec<Option<Misfit>>) {
    let new = NewProject { encoder: chosen.map(str::to_owned), ..NewProject::default() };
    let mut project = Driver::create(&place.home, &place.path(), &new).unwrap();
    let mut misfits = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let path = place.write(&format!("text-{number}.txt"), text);
        let receipt =
            project.import(read_files(&[path], &ReadRequest::default()).unwrap(), ImportHow::default()).unwrap();
        assert_eq!(receipt.encoder, project.settings().encoder);
        assert_eq!(receipt.misfit, project.misfit());
        let says = |name: &str| receipt.notes.iter().any(|note| note.contains(name));
        assert!(receipt.language.is_none_or(|language| says(language.name())), "{:?}", receipt.notes);
        misfits.push(receipt.misfit);
    }
    project.close().unwrap();
    // It is known again when the project is opened.
    let project = Driver::open(&place.home, &place.path()).unwrap();
    assert_eq!(Some(&project.misfit()), misfits.last());
    let encoder = project.settings().encoder.clone();
    project.close().unwrap();
    std::fs::remove_file(place.path()).unwrap();
    (encoder, misfits)
}

#[test]
fn the_language_of_what_is_imported_chooses_the_encoder_unless_a_person_has() {
    let place = Place::new();
    let language = |code| Language::of_code(code).unwrap();
    let misfit = |code, encoder: &str| Misfit {
        language: language(code),
        encoder: encoder.to_owned(),
        better: Some("multilingual"),
    };
    assert_eq!(encoder_after(&place, None, &[GERMAN]), ("multilingual".to_owned(), vec![None]));
    assert_eq!(encoder_after(&place, None, &[ENGLISH]), ("english".to_owned(), vec![None]));
    // Chosen by a person: doubted, and kept.
    let doubted = encoder_after(&place, Some("english"), &[GERMAN]);
    assert_eq!(doubted, ("english".to_owned(), vec![Some(misfit("deu", "english"))]));
    assert_eq!(doubted.1[0].as_ref().unwrap().in_words(), "The encoder english has not read German; multilingual has");
    // Nothing is known of it.
    assert_eq!(encoder_after(&place, Some("small"), &[GERMAN]), ("small".to_owned(), vec![None]));
    // The first texts that say something choose, and no later ones.
    let later = encoder_after(&place, None, &["12 34\n", ENGLISH, &GERMAN.repeat(4)]);
    assert_eq!(later, ("english".to_owned(), vec![None, None, Some(misfit("deu", "english"))]));
}
