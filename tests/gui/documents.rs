//! The dialog of the documents: going to one, setting it aside, deleting it, taking that back.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers, pos2, vec2};
use egui_kittest::kittest::Queryable;
use nestling::session::{Driver, Home, ImportHow, ReadRequest, read_files};
use std::path::Path;
use std::time::{Duration, Instant};

const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// With "story" of three sentences, and a document for each of these names with a sentence of its own.
fn project(fixture: &Fixture, names: &[&str]) -> Page {
    let file = fixture.write("story.txt", STORY);
    let project = fixture.project(&["PER", "ORG", "LOC"], &file, ImportHow::default());
    let folder = fixture.path("more");
    std::fs::create_dir(&folder).unwrap();
    for name in names {
        std::fs::write(folder.join(format!("{name}.txt")), format!("{name} is a ship .\n")).unwrap();
    }
    if !names.is_empty() {
        import(&fixture.home(), &project, &folder);
    }
    fixture.open(&project)
}

fn import(home: &Home, project: &Path, folder: &Path) {
    let mut project = Driver::open(home, project).unwrap();
    let incoming = read_files(&[folder.to_owned()], &ReadRequest::default()).unwrap();
    project.import(incoming, ImportHow::default()).unwrap();
    project.close().unwrap();
}

fn open_dialog(page: &mut Page) {
    page.press(CTRL_SHIFT, Key::O);
    assert!(page.shows("Find by name"));
}

/// Documents and sentences that are there.
fn size(page: &Page) -> (usize, usize) {
    page.see(|workspace| (workspace.project.counts().documents, workspace.project.corpus().sentence_count()))
}

#[test]
fn a_document_is_found_by_its_name_and_gone_to() {
    let fixture = Fixture::new();
    let mut page = project(&fixture, &["Anna", "Berta", "Cilla"]);
    page.character("p");
    open_dialog(&mut page);
    assert!(page.shows("4 documents"));
    assert!(page.shows("document story, 3 sentences, 0 complete, 1 mention"));
    assert!(page.shows("document Anna, 1 sentence, 0 complete, 0 mentions"));
    page.type_into("Find by name", "BERT");
    page.wait("the name", |page| page.shows_part("document Berta") && !page.shows_part("document Anna"));
    page.fill("Find by name", "nothing of the kind");
    page.wait("nothing", |page| page.shows("No document matches."));
    page.fill("Find by name", "berta");
    page.wait("the name", |page| page.shows_part("document Berta"));
    page.click("document Berta, 1 sentence, 0 complete, 0 mentions");
    assert!(!page.shows("Find by name"), "it closes");
    assert_eq!(page.current(), 4);
    assert!(page.shows("word 1: Berta"));
}

#[test]
fn what_is_excluded_is_listed_and_can_be_included_again() {
    let fixture = Fixture::new();
    let mut page = project(&fixture, &["Anna"]);
    page.character("p");
    open_dialog(&mut page);
    page.click("Exclude story");
    assert_eq!(size(&page), (1, 1));
    assert!(page.shows("2 documents, 1 excluded"));
    assert!(page.shows("document story, excluded, 3 sentences, 0 complete, 1 mention"));
    assert!(page.shows("Excluded story"), "it tells what it did");
    assert_eq!(page.current(), 3, "the sentence that was on screen is gone");
    page.click("document story, excluded, 3 sentences, 0 complete, 1 mention");
    assert!(page.shows("Find by name"), "there is nothing to go to");
    page.click("Include story");
    assert_eq!(size(&page), (2, 4));
    assert!(page.shows("Included story"));
    assert_eq!(page.mentions(0), ["PER: The"]);
    page.click("Undo");
    assert_eq!(size(&page), (1, 1));
    assert!(page.shows("Excluded story"), "what was done before it can be taken back, too");
    page.click("Undo");
    assert_eq!(size(&page), (2, 4));
    assert!(!page.shows("Undo"), "no more than was done here");
    page.click("Done");
    assert!(!page.shows("Find by name"));
}

#[test]
fn what_is_deleted_is_gone_until_undo_brings_it_back() {
    let fixture = Fixture::new();
    let mut page = project(&fixture, &["Anna"]);
    open_dialog(&mut page);
    page.click("Exclude Anna");
    page.click("Delete Anna");
    assert!(page.shows("1 document") && !page.shows_part("document Anna"));
    assert!(page.shows("Deleted Anna") && page.shows("Ctrl+Z also undoes it later"));
    page.key(Key::Escape);
    page.press(Modifiers::COMMAND, Key::Z);
    open_dialog(&mut page);
    assert!(page.shows("document Anna, excluded, 1 sentence, 0 complete, 0 mentions"), "as it was before");
    assert!(!page.shows("Undo"));
    page.key(Key::Escape);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(size(&page), (2, 4));
}

#[test]
fn nothing_moves_under_the_hand_when_a_document_goes() {
    let fixture = Fixture::new();
    let mut page = project(&fixture, &["Anna", "Berta", "Cilla", "Dora", "Elsa"]);
    open_dialog(&mut page);
    page.step();
    let top = |page: &Page| page.harness.get_by_label_contains("document Anna").rect().top();
    let before = top(&page);
    // The ring around the field goes with the keyboard: that is a point.
    let stays = |page: &Page| (top(page) - before).abs() <= 1.0;
    page.click("Exclude Berta");
    assert!(stays(&page));
    page.click("Delete Cilla");
    page.click("Delete Dora");
    assert!(stays(&page));
    page.type_into("Find by name", "a");
    page.fill("Find by name", "");
    page.click("Undo");
    assert!(stays(&page));
}

#[test]
fn without_a_document_that_is_there_the_page_says_so() {
    let fixture = Fixture::new();
    let mut page = project(&fixture, &[]);
    open_dialog(&mut page);
    page.click("Exclude story");
    page.click("Done");
    assert!(page.shows("All documents are excluded") && !page.shows_part("no texts yet"));
    page.click("Documents");
    // The first one is above the page.
    page.harness.get_all_by_label("Import texts").last().unwrap().click();
    page.step();
    assert!(!page.shows("Find by name") && page.shows("Files …"), "the import dialog");
    page.key(Key::Escape);
    open_dialog(&mut page);
    page.click("Delete story");
    assert!(page.shows("This project has no texts yet. Import some."));
}

#[test]
fn a_label_of_an_excluded_document_stays() {
    let fixture = Fixture::new();
    let mut page = project(&fixture, &["Anna"]);
    page.character("p");
    open_dialog(&mut page);
    page.click("Exclude story");
    page.click("Done");
    page.click("edit label PER");
    assert!(page.shows_part("Used by 1 mention in excluded documents"));
}

#[test]
fn a_project_that_cant_be_changed_shows_its_documents_only() {
    let fixture = Fixture::new();
    let file = fixture.write("story.txt", STORY);
    let path = fixture.project(&["PER"], &file, ImportHow::default());
    let elsewhere = Driver::open(&fixture.home(), &path).unwrap();
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    assert!(page.shows("document story, 3 sentences, 0 complete, 0 mentions"));
    assert!(!page.shows("Exclude story") && !page.shows("Delete story"));
    page.click("document story, 3 sentences, 0 complete, 0 mentions");
    assert!(!page.shows("Find by name"));
    elsewhere.close().unwrap();
}

#[test]
fn names_may_be_long_or_from_right_to_left() {
    let fixture = Fixture { foreign: true, ..Fixture::new() };
    let long = "a name that goes on ".repeat(10);
    let mut page = project(&fixture, &[long.trim(), "מסמך על הנמל"]);
    open_dialog(&mut page);
    let row = page.harness.get_by_label_contains(&format!("document {}", long.trim())).rect();
    let delete = page.harness.get_by_label(&format!("Delete {}", long.trim())).rect();
    assert!(row.contains_rect(delete), "{delete} in {row}");
    page.click("Exclude מסמך על הנמל");
    page.click(&format!("Exclude {}", long.trim()));
    assert!(page.shows(&format!("Excluded {}", long.trim())));
    assert_eq!(size(&page), (1, 3));
    let undo = page.harness.get_by_label("Undo").rect();
    assert!(row.right() >= undo.right(), "{undo}");
}

#[test]
fn headers_sort_and_their_borders_are_dragged() {
    let fixture = Fixture::new();
    let mut page = project(&fixture, &["Anna", "Zoe"]);
    open_dialog(&mut page);
    let order = |page: &Page| {
        let mut rows = ["Anna", "Zoe", "story"].map(|name| {
            let label = format!("document {name}");
            let row = page.harness.get_by_label_contains(&label);
            (row.rect().top() as i32, name)
        });
        rows.sort();
        rows.map(|(_, name)| name)
    };
    assert_eq!(order(&page), ["story", "Anna", "Zoe"], "as in the project");
    page.click("Sort by name");
    page.wait("the names to be sorted", |page| order(page) == ["Anna", "story", "Zoe"]);
    page.click("Sort by name, ascending");
    assert_eq!(order(&page), ["Zoe", "story", "Anna"]);
    page.harness.get_by_label("Sort by sentences").focus();
    page.step();
    page.key(Key::Enter);
    assert_eq!(order(&page), ["Anna", "Zoe", "story"], "by a key; those alike as they came");
    page.key(Key::Enter);
    page.key(Key::Enter);
    assert_eq!(order(&page), ["story", "Anna", "Zoe"], "as they came");

    let width = |page: &Page, name: &str| page.harness.get_by_label(name).rect().width();
    let before = width(&page, "Sort by complete");
    let header = page.harness.get_by_label("Sort by complete").rect();
    let border = pos2(header.right() + 4.0, header.center().y);
    page.drag(border, border - vec2(30.0, 0.0));
    assert!((width(&page, "Sort by complete") - before + 30.0).abs() <= 2.0, "{}", width(&page, "Sort by complete"));
    assert!((width(&page, "Sort by mentions") - before - 30.0).abs() <= 2.0, "what one gets the other gives");
}

#[test]
fn ten_thousand_documents_scroll_filter_and_go() {
    let fixture = Fixture::new();
    let lines = (0..10_000).map(|n| format!("{{\"doc\":\"text {n}\",\"tokens\":[\"It\",\"rained\"]}}\n"));
    let file = fixture.write("many.jsonl", &lines.collect::<String>());
    let path = fixture.project(&["PER"], &file, ImportHow::default());
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    assert!(page.shows("10,000 documents"));
    assert!(!page.shows_part("document text 9000"), "only rows in sight are painted");
    let start = Instant::now();
    page.harness.run_steps(20);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?} for 20 frames", start.elapsed());
    let row = |number: usize| format!("document text {number}, 1 sentence, 0 complete, 0 mentions");
    page.harness.get_by_label(&row(0)).focus();
    page.step();
    page.keys(&[Key::ArrowDown, Key::ArrowDown, Key::ArrowUp]);
    assert!(page.harness.get_by_label(&row(1)).is_focused());
    page.key(Key::End);
    assert!(page.harness.get_by_label(&row(9999)).is_focused(), "also where it was out of sight");
    page.type_into("Find by name", "text 9999");
    page.wait("the name", |page| page.shows("Exclude text 9999"));
    page.click("Exclude text 9999");
    assert_eq!(size(&page), (9999, 9999));
    page.click("Undo");
    page.click("document text 9999, 1 sentence, 0 complete, 0 mentions");
    assert_eq!(page.current(), 9999);
}
