//! Projects that can't be changed, and copies of projects.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use nestling::annotation::Status;
use nestling::session::{Driver, ImportHow};
use std::path::PathBuf;

/// A window on a project that somebody else has open.
fn looking(fixture: &Fixture) -> (Page, PathBuf, Driver) {
    let path = fixture.project(&["PER"], &fixture.write("story.txt", STORY), ImportHow::default());
    let other = Driver::open(&fixture.home(), &path).unwrap();
    let page = fixture.open(&path);
    (page, path, other)
}

#[test]
fn a_project_that_is_open_elsewhere_is_opened_to_be_read() {
    let fixture = Fixture::new();
    let (mut page, _, other) = looking(&fixture);
    assert!(page.shows_part("It is open already, by"));
    assert!(page.shows("Training is off") && !page.shows("All saved") && !page.shows("Train now"));
    page.fill("Find sentences", "lund");
    page.wait("the search", |page| page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 2);

    page.press(Modifiers::COMMAND, Key::E);
    page.click("Also the 3 sentences that are not complete");
    page.fill("File", &fixture.path("out.jsonl").display().to_string());
    page.click("Write file");
    page.wait("the export", |page| page.shows("Exported"));
    page.click("Close");

    other.close().unwrap();
    page.click("Reopen for editing");
    page.wait("the project", |page| page.is_open() && !page.shows_part("Read-only"));
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
}

#[test]
fn what_would_change_it_is_refused_in_words() {
    let fixture = Fixture::new();
    let (mut page, _, _other) = looking(&fixture);
    let refused = |page: &mut Page, what: &str| {
        assert!(page.shows_part("This project is read-only: it is open already"), "{what}");
        page.harness.run_steps(700);
        assert!(!page.shows_part("This project is read-only"), "{what}: it passes");
    };
    page.character("p");
    refused(&mut page, "a label");
    page.key(Key::Space);
    refused(&mut page, "a status");
    page.press(Modifiers::COMMAND, Key::Z);
    refused(&mut page, "undo");
    page.press(Modifiers::COMMAND, Key::L);
    refused(&mut page, "a new label");
    page.press(Modifiers::COMMAND, Key::D);
    refused(&mut page, "a split");
    page.drop_file(&fixture.path("story.txt"));
    refused(&mut page, "an import");
    page.click("edit label PER");
    refused(&mut page, "a label's name");
    assert_eq!((page.status(0), page.mentions(0).len(), page.current()), (Status::Untouched, 0, 0));
    assert!(page.harness.get_by_label("Import texts").accesskit_node().is_disabled());
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", "accept");
    assert!(page.shows("No matching command or label"));
}

#[test]
fn a_file_that_is_read_only_says_so_and_a_copy_can_be_changed() {
    let fixture = Fixture::new();
    let path = fixture.project(&["PER"], &fixture.write("story.txt", STORY), ImportHow::default());
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let mut page = fixture.open(&path);
    assert!(page.shows_part("The file or its folder can't be written. You can view"));
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S);
    page.fill("Save copy as", &path.display().to_string());
    page.click("Save copy");
    page.wait("the refusal", |page| page.shows_part("There is a file of this name already"));
    let copy = fixture.path("mine.nestling");
    page.fill("Save copy as", &copy.display().to_string());
    page.key(Key::Enter);
    page.wait("the copy", |page| page.shows(&format!("Copy saved: {}", copy.display())));
    page.drop_file(&copy);
    page.wait("the copy", |page| page.is_open() && page.project_name() == "mine");
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
}

#[test]
fn a_copy_holds_what_was_done_up_to_now() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S);
    assert!(page.field("Save copy as").value().is_some_and(|path| path.ends_with("project copy.nestling")));
    let copy = fixture.path("copied");
    *fixture.picker.next.lock().unwrap() = vec![copy.clone()];
    page.click("Choose …");
    page.wait("the choice", |page| page.field("Save copy as").value().is_some_and(|p| p.ends_with("copied")));
    page.click("Save copy");
    page.wait("the copy", |page| page.shows_part("Copy saved"));
    page.character("f");
    let page = fixture.open(&copy.with_extension("nestling"));
    assert_eq!((page.mentions(0), page.status(0)), (vec!["PER: The".to_owned()], Status::InProgress));
}
