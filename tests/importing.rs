//! What an import makes of files: what is complete, what stays open, and what the person is told.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use nestling::annotation::{SentenceId, Status};
use nestling::session::{
    Command, ExportRequest, Home, ImportAs, ImportHow, NewProject, Part, Project, ReadRequest, read_files,
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
    let mut project = Project::create(&place.home, &place.path(), &NewProject::default()).unwrap();
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
    let mut project = Project::create(&place.home, &place.path(), &NewProject::default()).unwrap();
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
    let mut project = Project::create(&place.home, &place.path(), &NewProject::default()).unwrap();
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
        let incoming = read_files(&[path], &ReadRequest::default()).unwrap();
        incoming.notes.into_iter().filter(|note| note.contains("more than")).collect::<Vec<_>>()
    };
    assert_eq!(notes(short), [""; 0]);
    let said = notes(long);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("1 sentence has more than 500 words (700, in line.txt), and 1 word has more than 2,000"),
        "{}",
        said[0]
    );
}
