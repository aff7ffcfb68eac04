//! What goes wrong is told where it was asked for: what, where, what to do. Nothing that was typed or done is lost.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use nestling::session::{Command, Setting};
use std::path::Path;

/// Every path in `names` is asked for in turn; what is said must hold the words beside it.
fn opening_is_refused(page: &mut Page, path: &Path, words: &[&str]) {
    page.press(Modifiers::COMMAND, Key::O);
    page.type_into("Project file", &path.display().to_string());
    page.key(Key::Enter);
    page.wait("the report", |page| page.shows("Something went wrong"));
    for word in words {
        assert!(page.shows_part(word), "{word:?} for {}", path.display());
    }
    page.click("Copy");
    page.click("Close");
    assert!(!page.shows("Something went wrong"));
}

#[test]
fn a_project_that_can_t_be_opened_says_why_and_the_open_one_comes_back() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    let text = fixture.write("text.nestling", "this is no project");
    let empty = fixture.write("empty.nestling", "");
    let folder = fixture.path("folder.nestling");
    std::fs::create_dir(&folder).unwrap();
    let cut = fixture.path("cut.nestling");
    let whole = std::fs::read(fixture.empty_project("whole.nestling")).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for (path, words) in [
        (fixture.path("gone.nestling"), ["gone.nestling"].as_slice()),
        (text, &["text.nestling"]),
        (empty, &["empty.nestling"]),
        (folder, &["folder.nestling"]),
        (cut, &["cut.nestling"]),
    ] {
        opening_is_refused(&mut page, &path, words);
        page.wait("the project of before", Page::is_open);
        assert_eq!(page.mentions(0), ["PER: The"]);
    }
}

#[test]
fn a_project_is_not_made_over_another_file_or_where_nothing_can_be_written() {
    let fixture = Fixture::new();
    let file = fixture.write("taken.nestling", "something else");
    let mut page = fixture.window(None);
    page.wait("the start page", |page| page.shows("New project"));
    page.press(Modifiers::COMMAND, Key::N);
    page.fill("File", &file.display().to_string());
    page.wait("the look", |page| page.shows_part("This file already exists"));
    assert!(page.harness.get_by_label("Create project").accesskit_node().is_disabled());
    page.fill("Labels", "GENE, DISEASE");
    page.fill("File", &file.join("below a file.nestling").display().to_string());
    page.click("Create project");
    page.wait("the report", |page| page.shows("Something went wrong"));
    assert!(page.shows_part("taken.nestling"));
    page.click("Close");
    // What was typed is there again.
    page.fill("File", &fixture.path("free.nestling").display().to_string());
    page.click("Create project");
    page.wait("the project", Page::is_open);
    assert_eq!(
        page.see(|workspace| workspace.project.corpus().labels().iter().map(|l| l.name.clone()).collect::<Vec<_>>()),
        ["GENE", "DISEASE"]
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), "something else");
}

#[test]
fn an_import_that_can_t_be_read_says_why_and_can_be_tried_again() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    std::fs::write(fixture.path("binary.txt"), [0, 159, 146, 150, 0, 1]).unwrap();
    fixture.write("nothing.jsonl", "");
    for (name, word) in [("gone.txt", "gone.txt"), ("binary.txt", "binary.txt"), ("nothing.jsonl", "nothing.jsonl")] {
        page.press(Modifiers::COMMAND, Key::I);
        page.type_into("Files", &fixture.path(name).display().to_string());
        page.key(Key::Enter);
        page.wait("an answer", |page| !page.shows("Reading …") && !page.shows_part("Import 0"));
        assert!(page.shows_part(word) && page.shows("Read"), "{name}: the reason, and the way to try again");
        page.key(Key::Escape);
        assert_eq!(page.see(|workspace| workspace.project.corpus().sentence_count()), 3);
    }
}

#[test]
fn a_file_that_can_t_be_written_says_why_and_what_was_chosen_stays() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let nowhere = fixture.path("no/such/folder");
    for (key, modifiers, field, button) in [
        (Key::E, Modifiers::COMMAND, "File", "Write file"),
        (Key::S, Modifiers::COMMAND.plus(Modifiers::SHIFT), "Save copy as", "Save copy"),
    ] {
        page.press(modifiers, key);
        page.fill(field, &nowhere.join("out.nestling").display().to_string());
        page.click(button);
        page.wait("the reason", |page| page.shows(button) && page.shows_part("no such"));
        page.key(Key::Escape);
    }
}

#[test]
fn a_label_that_can_t_be_is_refused_while_it_is_typed() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::L);
    page.type_into("Name in files", "PER");
    assert!(page.shows_part("There is already a label \"PER\""));
    page.key(Key::Enter);
    page.key(Key::Escape);
    page.click("edit label ORG");
    page.fill("Key (one character, optional)", "p");
    assert!(page.shows_part("PER"), "who has the key");
    page.click("Save");
    page.key(Key::Escape);
    let keys = page.see(|workspace| workspace.project.corpus().labels().iter().map(|l| l.key).collect::<Vec<_>>());
    assert_eq!(keys, [Some('p'), Some('o'), Some('l')]);
}

#[test]
fn a_training_that_fails_says_why_and_the_labels_stay() {
    let fixture = Fixture::new();
    let file = fixture.write("story.txt", STORY);
    let path = fixture.project(&["PER"], &file, Default::default());
    let mut project = nestling::session::Driver::open(&fixture.home(), &path).unwrap();
    project.run(Command::Set(Setting::Encoder("gone".to_owned()))).unwrap();
    project.close().unwrap();
    let mut page = fixture.open(&path);
    page.press(Modifiers::COMMAND, Key::T);
    assert!(page.shows_part("No sentence to learn from is complete"), "nothing to train on");
    page.character("p");
    page.key(Key::Space);
    page.press(Modifiers::COMMAND, Key::T);
    page.wait("the failure", |page| page.shows_part("Training failed"));
    assert!(page.shows_part("gone"));
    assert_eq!(page.mentions(0), ["PER: The"]);
    page.press(Modifiers::COMMAND, Key::Comma);
    assert!(page.shows_part("The encoder \"gone\" is not on this computer"), "and the way out");
}

#[test]
fn what_broke_the_program_off_is_told_at_the_next_start_once() {
    let fixture = Fixture::new();
    let faults = fixture.home().dir().join("faults");
    std::fs::create_dir_all(&faults).unwrap();
    std::fs::write(faults.join("ended-1764400000000.txt"), "index out of bounds, backtrace").unwrap();
    // Also where a project is opened at once.
    let project = fixture.project(&["PER"], &fixture.write("story.txt", STORY), Default::default());
    let mut page = fixture.window(Some(&project));
    page.wait("the report", |page| page.shows("Nestling crashed last time"));
    assert!(page.shows_part("index out of bounds, backtrace") && page.shows("Copy"));
    page.wait("the project", Page::is_open);
    assert!(page.shows("Nestling crashed last time"), "it stays");
    page.click("Close");
    page.close();
    std::fs::write(faults.join("unsaved-1764400000001.txt"), "3 changes could not be saved").unwrap();
    let mut page = fixture.window(None);
    page.wait("the report", |page| page.shows("Some changes were not saved when the window closed"));
    assert!(page.shows_part("3 changes could not be saved"));
    page.click("Close");
    page.wait("the start page", |page| page.shows("New project"));
    let mut again = fixture.window(None);
    again.wait("the start page", |page| page.shows("New project"));
    for _ in 0..50 {
        again.step();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(!again.shows_part("crashed last time") && !again.shows_part("were not saved when"));
}
