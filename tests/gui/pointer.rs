//! The pointer and the keys while frames are slow: what came in one frame does what it would have done in many.

use crate::fixture::{Fixture, Page, STORY, clicked, dragged, typed};
use eframe::egui::{Key, Modifiers, Pos2, Role, Vec2, vec2};
use egui_kittest::kittest::Queryable;
use nestling::annotation::Status;
use nestling::format::formats;

const LONG: &str = "a very long sentence ";

/// From one word to another, with some moves between.
fn over(page: &Page, from: &str, to: &str) -> Vec<Pos2> {
    let (from, to) = (page.center(from) - vec2(8.0, 0.0), page.center(to));
    (0..=4).map(|step| from + (to - from) * (step as f32 / 4.0)).collect()
}

fn press(key: Key) -> Vec<eframe::egui::Event> {
    typed(key, Modifiers::NONE, "")
}

#[test]
fn a_drag_within_one_frame_selects_from_the_press_to_the_release() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.click("word 4: Aarhus");
    page.character("l");
    let way = over(&page, "word 6: Anna", "word 7: Berg");
    page.at_once(dragged(&way));
    assert_eq!(page.see(|workspace| workspace.view.picked()), None, "the mention of before is no longer selected");
    page.click("label PER");
    assert_eq!(page.mentions(0), ["LOC: Aarhus", "PER: Anna Berg"]);
    // Without a move between, and from right to left.
    let (from, to) = (page.center("word 13: Board"), page.center("word 11: the"));
    page.at_once(dragged(&[from, to]));
    page.character("o");
    assert_eq!(page.mentions(0), ["LOC: Aarhus", "PER: Anna Berg", "ORG: the Harbour Board"]);
}

#[test]
fn a_drag_and_the_click_on_a_label_may_come_in_one_frame() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.click("word 4: Aarhus");
    page.character("l");
    let mut events = dragged(&over(&page, "word 6: Anna", "word 7: Berg"));
    events.extend(clicked(page.center("label PER")));
    page.at_once(events);
    assert_eq!(page.mentions(0), ["LOC: Aarhus", "PER: Anna Berg"]);
}

#[test]
fn a_drag_may_be_spread_over_two_frames_anyhow() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let events = dragged(&over(&page, "word 6: Anna", "word 7: Berg"));
    for cut in 1..events.len() {
        page.key(Key::Home);
        page.at_once(events[..cut].to_vec());
        page.at_once(events[cut..].to_vec());
        let span = page.see(|workspace| workspace.view.selection()).map(|span| span.range());
        assert_eq!(span, Some(5..7), "cut after {cut}");
    }
}

#[test]
fn a_click_whose_pointer_trembles_is_no_drag_and_a_slow_one_is_a_click() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let at = page.center("word 6: Anna");
    page.at_once(dragged(&[at, at + vec2(2.0, 1.0), at + vec2(1.0, 0.0)]));
    assert_eq!(page.see(|workspace| workspace.view.selection()).map(|span| span.range()), Some(5..6));
    let complete = page.center("Complete and go to next");
    let events = clicked(complete);
    page.at_once(events[..2].to_vec());
    page.harness.run_steps(120);
    page.at_once(events[2..].to_vec());
    assert_eq!(page.status(0), Status::Complete, "two seconds later it is a click still");
}

#[test]
fn two_clicks_in_one_frame_are_two_clicks() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let mut events = clicked(page.center("word 6: Anna"));
    events.extend(clicked(page.center("label PER")));
    events.extend(clicked(page.center("word 4: Aarhus")));
    events.extend(clicked(page.center("label LOC")));
    page.at_once(events);
    assert_eq!(page.mentions(0), ["LOC: Aarhus", "PER: Anna"]);
}

#[test]
fn a_slider_is_dragged_within_one_frame() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let threshold = |page: &Page| page.see(|workspace| workspace.project.settings().threshold);
    let before = threshold(&page);
    let rect = page.harness.get_by_label("Minimum score of suggestions").rect();
    page.at_once(dragged(&[rect.center(), rect.center() + vec2(20.0, 0.0), rect.right_center() - vec2(4.0, 0.0)]));
    assert!(threshold(&page) > 0.9, "{} before, {} now", before, threshold(&page));
}

#[test]
fn the_edge_of_a_panel_is_dragged_within_one_frame() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let left = |page: &Page| page.center("word 1: The").x;
    let before = left(&page);
    let row = page.harness.get_by_label_contains("sentence 1, untouched").rect();
    let edge = Pos2::new(row.right() + 6.0, 500.0);
    page.at_once(dragged(&[edge, edge + vec2(40.0, 0.0), edge + vec2(90.0, 0.0)]));
    assert!(left(&page) > before + 20.0, "{} before, {} now", before, left(&page));
}

#[test]
fn a_drop_down_of_a_dialog_opens_over_it_when_press_and_release_are_one() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::E);
    for title in formats().iter().map(|format| format.title()).cycle().skip(1).take(8) {
        let list = page.harness.get_by_role_and_label(Role::ComboBox, "Format of the file").rect();
        page.at_once(clicked(list.center()));
        let option = page.center(title);
        // What is under the pointer is the list, not the dialog.
        page.at_once(clicked(option));
        assert_eq!(page.chosen("Format of the file"), title);
    }
}

#[test]
fn the_colour_picker_opens_over_its_dialog_when_press_and_release_are_one() {
    // egui's picker has a sign that no font here has.
    let fixture = Fixture { foreign: true, ..Fixture::new() };
    let mut page = fixture.annotating(STORY);
    let pickers = |page: &Page| page.harness.query_all_by_role(Role::SpinButton).count();
    page.click("edit label PER");
    let button = page.harness.get_by_role(Role::ColorWell).rect().center();
    for round in 0..4 {
        page.at_once(clicked(button));
        assert!(pickers(&page) > 0, "round {round}: it is open");
        // A click into it, where the dialog lies below, leaves it open.
        let inside = page.harness.get_all_by_role(Role::SpinButton).next().unwrap().rect();
        page.at_once(clicked(inside.right_center() + Vec2::new(6.0, 0.0)));
        assert!(pickers(&page) > 0, "round {round}: the click was in it");
        page.key(Key::Escape);
        assert!(pickers(&page) == 0 && page.shows("Save"), "round {round}: Escape closes it alone");
    }
}

#[test]
fn keys_of_one_frame_go_where_they_would_have_gone_one_by_one() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    // A dialog that opens, what is typed into it, Enter that closes it, and a label's key.
    let mut events = typed(Key::L, Modifiers::COMMAND, "");
    for (key, text) in [(Key::D, "D"), (Key::A, "A"), (Key::T, "T"), (Key::E, "E")] {
        events.extend(typed(key, Modifiers::NONE, text));
    }
    events.extend(press(Key::Enter));
    events.extend(typed(Key::P, Modifiers::NONE, "p"));
    page.at_once(events);
    page.step();
    assert!(page.shows("label DATE"));
    assert_eq!(page.mentions(0), ["PER: The"], "the key that came after Enter is the sentence's");
    // Two commands.
    let mut events = typed(Key::Space, Modifiers::NONE, " ");
    events.extend(press(Key::ArrowDown));
    events.extend(typed(Key::L, Modifiers::NONE, "l"));
    page.at_once(events);
    assert_eq!((page.status(0), page.current()), (Status::Complete, 2));
    assert_eq!(page.mentions(2), ["LOC: Anna"]);
}

#[test]
fn the_palette_takes_what_was_typed_before_enter_in_the_same_frame() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let mut events = press(Key::F2);
    events.extend(typed(Key::L, Modifiers::NONE, "l"));
    events.extend(typed(Key::O, Modifiers::NONE, "o"));
    events.extend(press(Key::Enter));
    events.extend(press(Key::ArrowRight));
    events.extend(typed(Key::P, Modifiers::NONE, "p"));
    page.at_once(events);
    page.step();
    assert_eq!(page.mentions(0), ["LOC: The", "PER: mayor"]);
}

#[test]
fn two_tabs_and_enter_in_one_frame_lead_two_controls_on() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::O);
    let mut events = press(Key::Tab);
    events.extend(press(Key::Tab));
    events.extend(press(Key::Enter));
    page.at_once(events);
    assert!(!page.shows("Project file"), "from the field over Choose to Cancel");
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: The"]);
}

#[test]
fn what_is_selected_out_of_sight_is_brought_into_sight_and_not_changed() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(&format!("{}end\n", LONG.repeat(200)));
    page.key(Key::End);
    page.character("l");
    assert_eq!(page.mentions(0), ["LOC: end"]);
    for ways in [["label PER", ""], ["", "p"], ["", "x"]] {
        page.harness.get_by_label("word 1: a").scroll_to_me();
        page.harness.run_steps(60);
        assert!(page.harness.get_by_label("word 1: a").rect().top() > 0.0, "the beginning is in sight");
        match ways {
            ["", "x"] => page.key(Key::Delete),
            ["", key] => page.character(key),
            [label, _] => page.click(label),
        }
        assert_eq!(page.mentions(0), ["LOC: end"], "{ways:?}");
        assert!(page.shows_part("out of sight"));
        page.harness.run_steps(60);
        let word = page.harness.get_by_label("word 801: end").rect();
        assert!(word.top() > 60.0 && word.bottom() < 820.0, "{word}");
    }
    page.click("label PER");
    assert_eq!(page.mentions(0), ["PER: end"]);
}

#[test]
fn a_label_says_what_it_changed_and_offers_to_take_it_back() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.click("word 6: Anna");
    page.click("label PER");
    assert!(page.shows("“Anna” is PER · Ctrl+Z to undo"));
    page.click("label ORG");
    assert!(page.shows("“Anna” is now ORG, no longer PER · Ctrl+Z to undo"));
    page.click("label ORG");
    assert!(page.shows("“Anna” is already ORG"));
    page.click("word 4: Aarhus");
    page.click("label LOC");
    page.click("Undo");
    assert_eq!(page.mentions(0), ["ORG: Anna"]);
    page.character("p");
    assert_eq!(page.mentions(0).len(), 2, "a click leaves the keyboard where it was");
}
