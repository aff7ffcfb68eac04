//! Importing and exporting.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers, Role, pos2};
use egui_kittest::kittest::Queryable;
use nestling::session::{Driver, ImportHow, NewProject, SaveState};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[test]
fn a_file_with_bad_lines_is_shown_with_all_its_warnings() {
    let fixture = Fixture::new();
    let file = fixture.write("some.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[]}\n{broken\n");
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::I);
    *fixture.picker.next.lock().unwrap() = vec![file];
    page.click("Files …");
    page.wait("the preview", |page| page.shows("Import 1 sentence"));
    assert!(page.shows("1 warning"));
    assert!(page.shows_part("line 2"));
    page.key(Key::Escape);
    assert!(page.shows("word 1: The"));
}

#[test]
fn options_of_one_format_are_not_asked_of_another() {
    let fixture = Fixture::new();
    let text = fixture.write("more.txt", STORY);
    let lines = fixture.write("some.jsonl", "{\"tokens\":[\"Anna\"],\"entities\":[]}\n");
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::I);
    for (file, button) in [(&text, "Import 3 sentences"), (&lines, "Import 1 sentence"), (&text, "Import 3 sentences")]
    {
        *fixture.picker.next.lock().unwrap() = vec![file.clone()];
        page.click("Files …");
        page.wait("the preview", |page| page.shows(button));
    }
    page.harness.get_by_role_and_label(Role::ComboBox, "unit").click();
    page.step();
    page.click("prose");
    page.wait("the preview", |page| page.shows("Import 3 sentences"));
    *fixture.picker.next.lock().unwrap() = vec![lines];
    page.click("Files …");
    page.wait("the preview of the other", |page| page.shows("Import 1 sentence"));
}

#[test]
fn where_columns_can_t_be_told_apart_the_dialog_shows_them_and_asks() {
    let fixture = Fixture::new();
    let file = fixture.write("words.conll", "The\tDT\nmayor\tNN\nsang\tVBD\n\nIt\tPRP\nrained\tVBD\n");
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::I);
    *fixture.picker.next.lock().unwrap() = vec![file];
    page.click("Files …");
    page.wait("the question", |page| page.shows_part("column 1 (The, mayor, sang), column 2 (DT, NN, VBD)"));
    page.fill("tags", "none");
    page.key(Key::Enter);
    page.wait("the preview", |page| page.shows("Import 2 sentences"));
}

/// Keeps the file from being written; let go, it goes on. The writer waits for five seconds.
fn hold(project: &Path) -> rusqlite::Connection {
    let db = rusqlite::Connection::open(project).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    db
}

/// A window whose import is being written, and what keeps it from its end.
fn importing(fixture: &Fixture) -> (Page, PathBuf, rusqlite::Connection) {
    let file = fixture.write("story.txt", STORY);
    let project = fixture.project(&["PER"], &file, ImportHow::default());
    let mut page = fixture.open(&project);
    let held = hold(&project);
    let more = fixture.write("more.txt", "One more .\n");
    page.drop_file(&more);
    page.wait("the preview", |page| page.shows("Import 1 sentence"));
    page.click("Import 1 sentence");
    assert!(page.shows("Writing …") && page.shows("Cancel"));
    (page, project, held)
}

#[test]
fn nothing_gets_between_an_import_and_its_project() {
    let fixture = Fixture::new();
    let other = fixture.empty_project("other.nestling");
    let (mut page, _, held) = importing(&fixture);
    let more = fixture.path("more.txt");
    page.drop_file(&other);
    page.drop_file(&more);
    page.character("p");
    page.press(Modifiers::COMMAND, Key::W);
    page.keys(&[Key::Enter, Key::Enter]);
    page.harness.hover_at(pos2(5.0, 400.0));
    page.harness.drag_at(pos2(5.0, 400.0));
    page.harness.drop_at(pos2(5.0, 400.0));
    page.step();
    assert!(page.shows("Writing …"), "a click beside the dialog neither, nor Enter");
    drop(held);
    page.wait("the import", |page| page.shows("Annotate"));
    page.key(Key::Enter);
    assert_eq!(page.project_name(), "project");
    assert_eq!(page.see(|workspace| workspace.project.corpus().sentence_count()), 4);
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
}

/// What cancels, and how it is called.
type Way<'w> = (&'w str, &'w dyn Fn(&mut Page));

#[test]
fn an_import_is_cancelled_while_it_is_written() {
    let ways: [Way<'_>; 3] = [
        ("Escape", &|page| page.key(Key::Escape)),
        ("the cross", &|page| page.click("Close (Esc)")),
        ("the button", &|page| page.click("Cancel")),
    ];
    for (how, cancel) in ways {
        let fixture = Fixture::new();
        let (mut page, project, held) = importing(&fixture);
        let is_over = |page: &Page| page.shows_part("The import was cancelled; nothing was imported");
        cancel(&mut page);
        // What cancels it before it asks for the file ends it at once.
        assert!(page.shows("Cancelling …") || is_over(&page), "{how}");
        drop(held);
        page.wait("the end", is_over);
        assert_eq!(page.see(|workspace| workspace.project.corpus().sentence_count()), 3, "{how}");
        page.character("p");
        assert_eq!(page.mentions(0), ["PER: The"], "{how}: the work goes on");
        page.close();
        let page = fixture.open(&project);
        assert_eq!(
            (page.see(|workspace| workspace.project.corpus().sentence_count()), page.mentions(0).len()),
            (3, 1),
            "{how}"
        );
    }
}

#[test]
fn closing_the_window_cancels_an_import() {
    let fixture = Fixture::new();
    let (page, project, held) = importing(&fixture);
    let let_go = move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
    };
    let letting_go = std::thread::Builder::new().name("lets go".to_owned()).spawn(let_go).unwrap();
    page.close();
    letting_go.join().unwrap();
    let page = fixture.open(&project);
    assert_eq!(page.see(|workspace| workspace.project.corpus().sentence_count()), 3);
}

#[test]
fn an_import_names_every_format_that_it_reads() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let folder = fixture.path("mixed");
    std::fs::create_dir(&folder).unwrap();
    let line = r#"{"tokens":["Bo"],"entities":[{"start":0,"end":1,"label":"PER"}]}"#;
    for (name, text) in [
        ("a.jsonl", format!("{line}\n")),
        ("b.conll", "Lund\tB-LOC\n\n".to_owned()),
        ("c.conll", "Ida\tB-PER\n\n".to_owned()),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    page.drop_file(&folder);
    page.wait("the preview", |page| page.shows("Import 3 sentences"));
    assert!(page.shows_part("JSON lines (1 file) and CoNLL columns (2 files): 3 documents, 3 sentences, 3 mentions"));
}

#[test]
fn an_export_with_a_column_a_depth_holds_what_is_nested() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("Lund University\n");
    page.character("l");
    page.press(Modifiers::COMMAND, Key::ArrowUp);
    page.character("o");
    page.key(Key::Space);
    page.press(Modifiers::COMMAND, Key::E);
    page.choose("Format of the file", "CoNLL columns");
    assert!(!page.shows("token"), "that is for reading");
    page.fill("layers", "2");
    page.fill("File", &fixture.path("out.conll").display().to_string());
    page.click("Write file");
    page.wait("the export", |page| page.shows("Verified: nothing is missing."));
    let written = std::fs::read_to_string(fixture.path("out.conll")).unwrap();
    assert!(written.contains("Lund\tB-ORG\tB-LOC") || written.contains("Lund B-ORG B-LOC"), "{written}");
}

#[test]
fn an_export_proposes_a_free_name_and_says_when_it_replaces() {
    let fixture = Fixture::new();
    let there = |name: &str| fixture.write(name, "dear text");
    let (source, taken) = (there("project.jsonl"), there("project-annotated.jsonl"));
    let mut page = fixture.annotating(STORY);
    let proposal = |page: &Page| page.field("File").value().unwrap_or_default();
    page.press(Modifiers::COMMAND, Key::E);
    let free = fixture.path("project-annotated-2.jsonl");
    page.wait("a free name", |page| proposal(page) == free.display().to_string());
    assert!(page.shows("Write file"));

    // It comes between the look and the click.
    there("project-annotated-2.jsonl");
    page.click("Write file");
    page.wait("a second look", |page| page.shows("Replace file"));
    page.fill("File", &source.display().to_string());
    page.wait("a look", |page| page.shows("Replace file"));
    page.fill("File", &fixture.path("other.jsonl").display().to_string());
    page.wait("a look", |page| page.shows("Write file"));
    *fixture.picker.next.lock().unwrap() = vec![taken.clone()];
    page.click("Choose …");
    page.wait("the choice", |page| proposal(page) == taken.display().to_string());
    page.step();
    assert!(page.shows("Write file"), "the system's dialog has asked");
    page.fill("File", &free.display().to_string());
    page.wait("a look", |page| page.shows("Replace file"));
    page.click("Replace file");
    page.wait("the export", |page| page.shows_part("3 sentences were left out"));
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!((text(&source).as_str(), text(&taken).as_str()), ("dear text", "dear text"));
    assert!(text(&free) != "dear text");
}

#[test]
fn an_export_is_said_to_be_compared_only_when_it_was() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::E);
    page.fill("File", &fixture.path("out.jsonl").display().to_string());
    page.click("Write file");
    page.wait("the export", |page| page.shows_part("3 sentences were left out"));
    assert!(!page.shows_part("Verified"));
}

#[test]
fn an_import_takes_one_who_is_done_to_what_there_is_to_do() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("Anna left .\n");
    page.key(Key::Space);
    let more = fixture.write("more.txt", "One more .\nAnd another .\n");
    for (sentences, current) in [("Import 2 sentences", 1), ("Import 2 sentences", 1)] {
        page.drop_file(&more);
        page.wait("the preview", |page| page.shows(sentences));
        page.click(sentences);
        page.wait("the import", |page| page.shows("Annotate"));
        page.click("Annotate");
        assert_eq!(page.current(), current, "and who has begun stays");
    }
}

/// The message stays until it was read, whatever is done meanwhile, and no key is lost.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_while_it_is_open_is_told_and_the_work_goes_on_in_another_one() {
    let fixture = Fixture::new();
    let other = fixture.empty_project("other.nestling");
    let bytes = std::fs::read(&other).unwrap();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
    std::fs::rename(&other, fixture.path("project.nestling")).unwrap();
    page.wait("the message", |page| page.shows("Your work is now in another file"));
    assert!(page.shows_part("project.kept.nestling"));
    assert!(page.shows_part("Another file was put in the place of the project"));
    assert_eq!(page.project_name(), "project.kept");
    page.key(Key::Escape);
    page.character("o");
    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
    assert!(page.shows("Your work is now in another file"));
    page.click("Dismiss");
    assert!(!page.shows("Your work is now in another file"));
    let mentions = page.mentions(0);
    page.close();
    let page = fixture.open(&fixture.path("project.kept.nestling"));
    assert_eq!(page.mentions(0), mentions);
    assert_eq!(std::fs::read(fixture.path("project.nestling")).unwrap(), bytes);
}

#[test]
fn an_encoder_that_has_not_read_the_language_is_told_and_can_be_changed() {
    let fixture = Fixture::new();
    let project = fixture.path("project.nestling");
    let new = NewProject { encoder: Some("english".to_owned()), ..NewProject::with_labels(["PER"]).unwrap() };
    Driver::create(&fixture.home(), &project, &new).unwrap().close().unwrap();
    let mut page = fixture.open(&project);
    let text = "Der Hafen lag noch im Nebel, als die ersten Schiffe einliefen. Niemand wartete auf sie, nur ein Schreiber \
                der Zollbehörde stand am Kai und zählte die Kisten, die man von Bord trug.\n";
    page.drop_file(&fixture.write("hafen.txt", text));
    page.wait("the preview", |page| page.shows_part("Import 2 sentences"));
    let told = "The encoder english has not read German; multilingual has";
    assert!(page.shows_part(told));
    page.click("Import 2 sentences");
    page.wait("the import", |page| page.shows("Annotate"));
    assert!(page.shows_part(told) && page.shows_part("english does not know German"), "the status line, too");
    page.click("Start models from multilingual");
    page.wait("the change", |page| !page.shows("Start models from multilingual"));
    assert_eq!(page.see(|workspace| workspace.project.settings().encoder.clone()), "multilingual");
    page.click("Annotate");
    assert!(!page.shows_part("does not know German"));
    page.close();
}
