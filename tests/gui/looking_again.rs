//! Going through gold that is doubtful: what is shown of it, what keys do, and that what was settled stays settled.

use crate::fixture::{Fixture, Page};
use eframe::egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use nestling::annotation::{SentenceId, Span, Status, TokenIdx};
use nestling::session::{Command, Driver, ImportHow};
use std::path::PathBuf;

/// Ten complete sentences about Lund, which is a place but for one where it is a person and one where it is nothing.
fn project(fixture: &Fixture) -> PathBuf {
    let text: String = (0..10).map(|i| format!("In year {i} they left for Lund again .\n")).collect();
    let path = fixture.project(&["PER", "LOC"], &fixture.write("lund.txt", &text), ImportHow::default());
    let mut project = Driver::open(&fixture.home(), &path).unwrap();
    let labels: Vec<_> = project.corpus().labels().iter().map(|label| label.id).collect();
    for sentence in (0..10).map(SentenceId) {
        let label = labels[usize::from(sentence.0 != 4)];
        if sentence.0 != 7 {
            let fragments = Span::from_range(6..7).unwrap().into();
            project.run(Command::Annotate { sentence, fragments, label }).unwrap();
        }
        project.run(Command::SetStatus { sentence, status: Status::Complete }).unwrap();
    }
    project.close().unwrap();
    path
}

fn look_again(page: &mut Page) {
    page.press(Modifiers::COMMAND, Key::G);
    page.harness.get_by_role_and_label(Role::Button, "Start review").click();
    page.step();
}

fn wait_for(page: &mut Page, text: &'static str) {
    page.wait(text, |page| page.shows_part(text));
}

#[test]
fn doubts_are_gone_through_with_single_keys_and_do_not_come_again() {
    let fixture = Fixture::new();
    let mut page = fixture.open(&project(&fixture));
    look_again(&mut page);
    wait_for(&mut page, "Review · 1 of 2");
    assert_eq!(page.current(), 4);
    assert!(page.shows_part("“Lund” is PER. The same words are LOC in 8 of 10 places"));
    page.key(Key::Enter);
    assert_eq!(page.mentions(4), ["LOC: Lund"]);

    assert!(page.shows("Review · 2 of 2") && page.shows_part("“Lund” is not marked. Maybe LOC?"));
    assert_eq!(page.current(), 7);
    let selected = page.see(|workspace| workspace.view.selection()).unwrap();
    assert_eq!((selected.start(), selected.last()), (TokenIdx::new(6), TokenIdx::new(6)));
    page.key(Key::Space);
    assert!(page.mentions(7).is_empty() && page.status(7) == Status::Complete);
    assert!(page.shows("Review finished") && !page.shows_part("Review · "));

    look_again(&mut page);
    wait_for(&mut page, "Nothing doubtful found");
    // Taken back, it is doubtful again.
    page.press(Modifiers::COMMAND, Key::Z);
    look_again(&mut page);
    wait_for(&mut page, "Review · 1 of 1");
    page.click("End review");
    assert!(!page.shows_part("Review · "));
    page.close();
}

#[test]
fn what_is_mended_by_hand_is_passed_over_and_what_is_passed_by_comes_again() {
    let fixture = Fixture::new();
    let mut page = fixture.open(&project(&fixture));
    look_again(&mut page);
    wait_for(&mut page, "Review · 1 of 2");
    page.character("n");
    assert!(page.shows("Review · 2 of 2"));
    page.character("n");
    assert!(page.shows("Review · 1 of 2"), "what was passed by comes again");
    page.key(Key::Delete);
    assert!(page.mentions(4).is_empty() && page.shows_part("You changed this"));
    page.key(Key::Space);
    assert!(page.shows("Review · 2 of 2"));
    page.key(Key::ArrowUp);
    assert!(page.shows("Go back"), "elsewhere the keys do what they always do");
    page.click("Go back");
    page.key(Key::Enter);
    assert_eq!(page.mentions(7), ["LOC: Lund"]);
    page.close();
}

#[test]
fn a_finding_whose_sentence_is_gone_is_passed_over() {
    let fixture = Fixture::new();
    let mut page = fixture.open(&project(&fixture));
    look_again(&mut page);
    wait_for(&mut page, "Review · 1 of 2");
    page.key(Key::ArrowUp);
    page.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::J);
    assert!(page.shows_part("The sentence no longer exists."));
    page.click("Continue");
    assert!(page.shows("Review · 2 of 2"));
    assert_eq!(page.current(), 7);
    page.close();
}

#[test]
fn what_models_say_waits_for_the_person() {
    let fixture = Fixture::new();
    let mut page = fixture.open(&project(&fixture));
    page.press(Modifiers::COMMAND, Key::G);
    page.click("Also check them with models");
    page.harness.get_by_role_and_label(Role::Button, "Start review").click();
    page.step();
    let before = page.current();
    wait_for(&mut page, " to review.");
    assert_eq!(page.current(), before, "nothing moves under the cursor");
    page.key(Key::Space);
    assert_eq!((page.mentions(4), page.mentions(7)), (vec!["PER: Lund".to_owned()], vec![]), "nor do keys answer it");
    page.press(Modifiers::COMMAND, Key::G);
    assert!(page.shows_part("Review · 1 of "));
    page.close();
}

#[test]
fn without_gold_there_is_nothing_to_look_at() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("Lund .\n");
    page.press(Modifiers::COMMAND, Key::G);
    assert!(page.shows("No sentence is complete yet."));
    page.key(Key::Escape);
    assert!(!page.shows("No sentence is complete yet."));
    page.key(Key::Space);
    page.press(Modifiers::COMMAND, Key::B);
    page.click("Review doubtful annotations");
    assert!(page.shows_part("1 complete sentence"), "the dashboard leads there, too");
    page.close();
}
