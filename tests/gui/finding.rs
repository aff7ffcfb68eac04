//! The list of sentences and the search in it.

use crate::stage::{STORY, Stage};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use nestling::annotation::Status;
use std::time::{Duration, Instant};

#[test]
fn keys_belong_to_a_field_while_somebody_types_in_it() {
    let stage = Stage::new();
    let mut page = stage.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::F);
    page.type_into("Find sentences", "p rained x");
    page.key(Key::Space);
    assert!(page.mentions(0).is_empty());
    assert_eq!((page.status(0), page.current()), (Status::Untouched, 0));
    assert!(page.shows("nothing found"));
    page.fill("Find sentences", "rained");
    assert!(page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 1);
    page.step();
    page.character("p");
    assert_eq!(page.mentions(1), ["PER: It"], "after Enter the keys are the sentence's again");
}

#[test]
fn what_comes_next_is_in_sight_in_the_list() {
    let stage = Stage::new();
    let mut text = String::new();
    for number in 1..=200 {
        text.push_str(&format!("Ship number {number} left .\n"));
    }
    let mut page = stage.annotating(&text);
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
    let stage = Stage::new();
    let mut text = String::new();
    for number in 0..20_000 {
        text.push_str(&format!("Ship number {number} left .\n"));
    }
    let mut page = stage.annotating(&text);
    page.press(Modifiers::COMMAND, Key::F);
    page.type_into("Find sentences", "number 19999");
    page.wait("the search", |page| page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 19_999);
    let start = Instant::now();
    page.harness.run_steps(20);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?} for 20 frames", start.elapsed());
}
