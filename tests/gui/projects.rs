//! Opening, closing and losing projects.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use nestling::session::{Driver, ImportHow, SaveState, Strategy};

#[test]
fn an_error_says_what_to_do_and_the_window_goes_on() {
    let fixture = Fixture::new();
    let no_project = fixture.write("broken.nestling", "this is no project");
    let mut page = fixture.window(Some(&no_project));
    page.wait("the error", |page| page.shows("Something went wrong"));
    assert!(page.shows("Copy"));
    page.click("Close");
    assert!(page.shows("New project"));
}

#[test]
fn a_project_stays_open_when_another_one_can_not_be_opened() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::O);
    page.type_into("Project file", &fixture.path("missing.nestling").display().to_string());
    page.key(Key::Enter);
    page.wait("the error", |page| page.shows("Something went wrong"));
    page.click("Close");
    assert!(page.is_open());
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
}

#[test]
fn closing_the_window_waits_for_a_project_that_is_being_opened() {
    let fixture = Fixture::new();
    let project = fixture.empty_project("empty.nestling");
    let mut page = fixture.window(Some(&project));
    page.harness.run_steps(1);
    page.close();
    // Nobody holds it any more.
    Driver::open(&fixture.home(), &project).unwrap().close().unwrap();
}

#[test]
fn unsaved_changes_are_not_given_up_without_a_word() {
    let fixture = Fixture::new();
    let file = fixture.write("story.txt", STORY);
    let project = fixture.project(&["PER"], &file, ImportHow::default());
    let other = fixture.empty_project("other.nestling");
    let mut page = fixture.open(&project);
    let db = rusqlite::Connection::open(&project).unwrap();
    let break_it =
        || db.execute_batch("CREATE TRIGGER fail BEFORE INSERT ON log BEGIN SELECT RAISE(ABORT, 'no luck'); END");
    break_it().unwrap();
    let told = |page: &mut Page| {
        let told = page.shows("Some changes are not saved");
        if told {
            page.click("Close");
        }
        told && page.is_open() && page.project_name() == "project"
    };
    page.character("p");
    page.wait("the failure", |page| page.shows("Try again"));
    page.press(Modifiers::COMMAND, Key::W);
    assert!(told(&mut page), "by Ctrl+W");

    // Mended, and broken again: told again.
    for how in ["drop", "open", "new", "window"] {
        db.execute_batch("DROP TRIGGER fail").unwrap();
        page.click("Try again");
        page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
        break_it().unwrap();
        page.character("f");
        page.wait("the failure", |page| page.shows("Try again"));
        match how {
            "drop" => page.drop_file(&other),
            "open" => {
                page.press(Modifiers::COMMAND, Key::O);
                page.type_into("Project file", &other.display().to_string());
                page.key(Key::Enter);
            }
            "new" => {
                page.press(Modifiers::COMMAND, Key::N);
                page.click("Create project");
            }
            _ => {
                assert!(page.refuses_to_close());
                assert!(told(&mut page), "by {how}");
                assert!(!page.refuses_to_close(), "told once");
                continue;
            }
        }
        assert!(told(&mut page), "by {how}");
        if page.shows("Cancel") {
            page.click("Cancel");
        }
    }
    page.drop_file(&other);
    page.wait("the other project", |page| page.is_open() && page.project_name() == "other");
}

#[test]
fn dropped_texts_are_forgotten_when_no_project_is_made_for_them() {
    let fixture = Fixture::new();
    let text = fixture.write("more.txt", STORY);
    let project = fixture.empty_project("empty.nestling");
    let mut page = fixture.window(None);
    page.wait("the start page", |page| page.shows("New project"));
    page.drop_file(&text);
    assert!(page.shows("Create project"));
    page.click("Cancel");
    page.drop_file(&project);
    page.wait("the project", Page::is_open);
    assert!(page.shows("This project has no texts yet") && !page.shows("Read"), "no dialog");
    page.press(Modifiers::COMMAND, Key::W);
    page.wait("the start page", |page| page.shows("New project"));

    page.drop_file(&text);
    page.fill("File", &fixture.path("made.nestling").display().to_string());
    assert!(page.shows("Then more.txt will be imported."));
    // The dialog takes what is dropped on it, and keeps what was typed.
    page.drop_file(&project);
    assert!(page.shows("Create project"));
    page.drop_file(&fixture.write("other.txt", "One more came .\n"));
    assert!(page.shows("Then more.txt and 1 other file will be imported."));
    page.click("Create project");
    page.wait("the preview", |page| page.shows("Import 4 sentences"));
    assert!(fixture.path("made.nestling").exists());
}

#[test]
fn a_project_opens_where_it_was_left_and_goes_on_in_the_same_order() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    assert_eq!(page.chosen("Sentence order"), "Next: text order");
    page.keys(&[Key::ArrowDown, Key::ArrowDown]);
    page.choose("Sentence order", "Next: most informative");
    page.close();
    let mut page = fixture.open(&fixture.path("project.nestling"));
    assert_eq!(page.current(), 2);
    assert_eq!(page.chosen("Sentence order"), "Next: most informative");
    page.choose("Sentence order", "Next: search results");
    page.close();
    let page = fixture.open(&fixture.path("project.nestling"));
    assert_eq!(page.chosen("Sentence order"), "Next: most informative", "what was found is gone with the search");
}

#[test]
fn a_new_project_asks_for_what_teaches_most() {
    let fixture = Fixture::new();
    let page = fixture.open(&fixture.empty_project("new.nestling"));
    assert_eq!(page.chosen("Sentence order"), "Next: most informative");
}

#[test]
fn what_can_be_read_of_a_damaged_project_is_rescued_from_the_report() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.close();
    let project = fixture.path("project.nestling");
    let whole = std::fs::read(&project).unwrap();
    std::fs::write(&project, &whole[..whole.len() - 4096]).unwrap();
    let mut page = fixture.window(Some(&project));
    page.wait("the report", |page| page.shows("Something went wrong"));
    page.click("Rescue what can be read");
    page.wait("the new project", |page| page.is_open() && page.shows("Rescued"));
    assert!(page.shows_part("project.rescued.nestling"));
    assert_eq!(page.project_name(), "project.rescued");
    page.click("Close");
    assert_eq!(page.mentions(0), ["PER: The"]);
    page.close();
    assert_eq!(std::fs::read(&project).unwrap().len(), whole.len() - 4096, "the damaged one is as it was");
}

#[test]
fn a_setting_that_can_t_be_read_keeps_nobody_from_the_annotations() {
    let fixture = Fixture::new();
    let page = fixture.annotating(STORY);
    page.close();
    let project = fixture.path("project.nestling");
    let db = rusqlite::Connection::open(&project).unwrap();
    db.execute("INSERT OR REPLACE INTO setting (key, value) VALUES ('strategy', 'by-magic')", []).unwrap();
    drop(db);
    let page = fixture.open(&project);
    assert!(page.shows_part("by-magic"), "what it is");
    assert_eq!(page.see(|workspace| workspace.project.settings().strategy), Strategy::DEFAULT);
}

#[test]
fn history_tells_what_was_done_and_goes_there() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.keys(&[Key::Space, Key::ArrowDown]);
    page.character("o");
    page.press(Modifiers::COMMAND, Key::Z);
    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
    page.press(Modifiers::COMMAND, Key::H);
    page.wait("the log", |page| page.shows_part("Undo: "));
    let rows = |page: &Page| page.harness.query_all_by_label_contains(" ago, ").count();
    let all = rows(&page);
    assert!(all >= 5, "an import, PER, complete, ORG, undo: {all}");
    page.click("Only changes to the current sentence");
    page.wait("what changed this one", |page| rows(page) == 2);
    page.click("Only changes to the current sentence");
    page.wait("all", |page| rows(page) == all);
    page.harness.get_by_label_contains("Mark complete, ").click();
    page.step();
    assert_eq!(page.current(), 0);
    assert!(!page.shows("History"), "it is closed");
}
