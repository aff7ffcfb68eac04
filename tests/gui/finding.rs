//! The list of sentences and the search in it.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use nestling::annotation::Status;
use std::time::{Duration, Instant};

#[test]
fn keys_belong_to_a_field_while_somebody_types_in_it() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::F);
    page.type_into("Find sentences", "p rained x");
    page.key(Key::Space);
    assert!(page.mentions(0).is_empty());
    assert_eq!((page.status(0), page.current()), (Status::Untouched, 0));
    page.wait("the search", |page| page.shows("no results"));
    page.fill("Find sentences", "rained");
    page.wait("the search", |page| page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 1);
    page.step();
    page.character("p");
    assert_eq!(page.mentions(1), ["PER: It"], "after Enter the keys are the sentence's again");
}

#[test]
fn enter_that_comes_with_the_last_character_goes_to_what_was_found() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::F);
    page.field("Find sentences").type_text("rained");
    page.harness.key_press(Key::Enter);
    page.wait("the search", |page| page.shows("1 found"));
    assert_eq!(page.current(), 1);
}

#[test]
fn going_on_follows_what_was_found() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("Anna left .\nIt rained .\nAnna came .\nIt rained .\nAnna went .\n");
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", "search results");
    page.key(Key::Enter);
    page.character("n");
    assert!(page.shows("Search for something first (Ctrl+F)"));
    page.press(Modifiers::COMMAND, Key::F);
    page.type_into("Find sentences", "anna");
    page.wait("the search", |page| page.shows("3 found"));
    page.key(Key::Enter);
    page.step();
    page.character("n");
    assert_eq!(page.current(), 2);
    page.key(Key::Space);
    page.character("n");
    assert_eq!(page.current(), 0, "round it goes");
    page.key(Key::Space);
    assert_eq!(page.current(), 4, "what is complete is passed over");
    page.key(Key::Space);
    assert!(page.shows("All other sentences found are complete or skipped"));
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::F);
    page.harness.get_by_label_contains("sentence 2, untouched");
}

#[test]
fn what_comes_next_is_in_sight_in_the_list() {
    let fixture = Fixture::new();
    let mut text = String::new();
    for number in 1..=200 {
        text.push_str(&format!("Ship number {number} left .\n"));
    }
    let mut page = fixture.annotating(&text);
    for number in 1..60 {
        page.key(Key::ArrowDown);
        assert_eq!(page.current(), number);
        let next = format!("sentence {}, untouched", number + 3);
        let row = page.harness.get_by_label_contains(&next).rect();
        assert!(row.bottom() < 780.0, "{next}: {row}");
    }
}

#[test]
fn a_hundred_thousand_sentences_scroll_and_search() {
    let fixture = Fixture::new();
    let mut text = String::new();
    for number in 0..100_000 {
        text.push_str(&format!("Ship number {number} left .\n"));
    }
    let mut page = fixture.annotating(&text);
    page.press(Modifiers::COMMAND, Key::F);
    page.type_into("Find sentences", "number 99999");
    page.wait("the search", |page| page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 99_999);
    let start = Instant::now();
    page.harness.run_steps(20);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?} for 20 frames", start.elapsed());
}

const CITIES: &str = "Anna Berg visited the Café Århus.\n\
                      The café was closed; Anna-Berg went home.\n\
                      She read about 北京大学 in Lund.\n\
                      Berg, Anna stayed.\n";

/// The numbers of the sentences in the list.
fn listed(page: &Page) -> Vec<u32> {
    page.see(|workspace| {
        let (corpus, finder) = (workspace.project.corpus(), &workspace.view.finder);
        (0..finder.rows(corpus)).filter_map(|row| finder.row(corpus, row)).map(|id| id.0).collect()
    })
}

fn find(page: &mut Page, words: &str) -> Vec<u32> {
    page.fill("Find sentences", words);
    page.wait("the search", |page| !page.see(|workspace| workspace.view.finder.is_searching()));
    listed(page)
}

#[test]
fn words_are_found_in_a_row_whatever_their_case_accents_and_script() {
    let fixture = Fixture { foreign: true, ..Fixture::new() };
    let mut page = fixture.annotating(CITIES);
    assert_eq!(find(&mut page, "anna berg"), [0, 1]);
    assert_eq!(find(&mut page, "CAFE"), [0, 1]);
    assert_eq!(find(&mut page, "cafe ar"), [0], "the last word may be the beginning of one");
    assert_eq!(find(&mut page, "京大"), [2]);
    assert!(find(&mut page, "lund anna").is_empty());
    assert!(page.shows_part("these words in sequence"), "it says how it finds");
    page.click("Show all");
    assert_eq!(listed(&page), [0, 1, 2, 3]);
}

#[test]
fn old_rows_stay_until_the_answer_and_enter_waits_for_it() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    assert_eq!(find(&mut page, "rained"), [1]);
    page.field("Find sentences").focus();
    page.harness.run_steps(1);
    page.press(Modifiers::COMMAND, Key::A);
    page.field("Find sentences").type_text("lund");
    page.harness.run_steps(2);
    assert!(page.see(|workspace| workspace.view.finder.is_searching()));
    assert_eq!(listed(&page), [1]);
    page.harness.key_press(Key::Enter);
    page.wait("the answer", |page| !page.see(|workspace| workspace.view.finder.is_searching()));
    assert_eq!((listed(&page), page.current()), (vec![2], 2));
}

#[test]
fn a_search_and_a_status_hold_together_and_rows_stay_under_the_hand() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    assert_eq!(find(&mut page, "anna berg"), [0, 2]);
    page.click("3 to do");
    assert_eq!(listed(&page), [0, 2]);
    page.click("word 1: The");
    page.key(Key::Space);
    assert_eq!((page.status(0), listed(&page)), (Status::Complete, vec![0, 2]), "it was only just completed");
    page.click("2 to do");
    assert_eq!(listed(&page), [0, 2], "every status");
    page.click("2 to do");
    assert_eq!(listed(&page), [2], "chosen again");
}

#[test]
fn found_sentences_that_are_cut_anew_are_found_as_they_are_now() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("Anna left ; Bo and Anna met\nIt rained\n");
    assert_eq!(find(&mut page, "anna"), [0]);
    page.click("word 4: Bo");
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::D);
    page.wait("the new half", |page| listed(page) == [0, 2]);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(listed(&page), [0], "what is gone goes at once");
    page.click("word 2: left");
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::D);
    find(&mut page, "bo and");
    page.wait("the new half", |page| listed(page) == [3]);
}
