//! What a model says, and what a person answers.

use crate::fixture::{Fixture, Page, clicked, dragged};
use eframe::egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable;
use nestling::session::{ImportAs, ImportHow};

/// One sentence with three suggestions.
fn suggesting(fixture: &Fixture) -> Page {
    let line = r#"{"text":"Anna Berg left Lund for the Board","tokens":["Anna","Berg","left","Lund","for","the","Board"],"entities":[{"start":0,"end":2,"label":"PER","score":0.9},{"start":3,"end":4,"label":"LOC","score":0.6},{"start":5,"end":7,"label":"ORG","score":0.85},{"start":6,"end":7,"label":"ORG","score":0.2}]}"#;
    let file = fixture.write("suggested.jsonl", &format!("{line}\n"));
    let how = ImportHow { kind: Some(ImportAs::Suggestions), split: None };
    let project = fixture.project(&["PER", "ORG", "LOC"], &file, how);
    fixture.open(&project)
}

#[test]
fn suggestions_are_accepted_and_rejected_with_keys() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    assert!(page.shows("suggestion PER 0.90: Anna Berg"));
    assert!(!page.shows_part("suggestion ORG 0.20"), "it is below the threshold");
    page.keys(&[Key::Tab, Key::Enter]);
    assert_eq!(page.mentions(0), ["PER: Anna Berg"]);
    page.character("x");
    assert!(!page.shows_part("suggestion LOC"), "rejected: the next one was picked after accepting");
    page.key(Key::Enter);
    assert_eq!(page.mentions(0), ["PER: Anna Berg", "ORG: the Board"]);
    page.press(Modifiers::COMMAND, Key::Z);
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.shows("suggestion LOC 0.60: Lund"));
}

#[test]
fn all_sure_suggestions_are_accepted_at_once_and_taken_back_at_once() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    page.press(Modifiers::SHIFT, Key::Enter);
    assert_eq!(page.mentions(0), ["PER: Anna Berg", "ORG: the Board"]);
    assert!(page.shows("suggestion LOC 0.60: Lund"), "it is not sure enough");
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.mentions(0).is_empty());
}

#[test]
fn suggestions_that_are_passed_over_are_counted() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    page.keys(&[Key::Tab, Key::Enter, Key::Space]);
    assert!(page.shows_part("Completed; 2 suggestions were not accepted (Ctrl+Z to undo)"));
    page.press(Modifiers::COMMAND, Key::Z);
    page.character("x");
    page.character("x");
    page.character("x");
    page.key(Key::Space);
    assert!(!page.shows_part("not accepted"), "none was left");
}

#[test]
fn nothing_waits_for_an_answer_in_a_complete_sentence() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    page.keys(&[Key::Tab, Key::Enter, Key::Space]);
    assert!(!page.shows_part("suggestion LOC") && page.shows("No suggestions from an imported file"));
    assert!(page.shows_part("its remaining suggestions are hidden"));
    page.press(Modifiers::SHIFT, Key::Enter);
    assert_eq!(page.mentions(0), ["PER: Anna Berg"], "nothing is there to be accepted");
    page.close();

    let mut page = fixture.open(&fixture.path("project.nestling"));
    assert!(!page.shows_part("suggestion LOC"), "nor when it was opened again");
    page.press(Modifiers::COMMAND, Key::R);
    assert!(page.shows("suggestion LOC 0.60: Lund"), "opened again, it asks again");
}

#[test]
fn a_double_click_within_one_frame_accepts() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    let at = page.center("suggestion LOC 0.60: Lund");
    page.at_once([clicked(at), clicked(at)].concat());
    assert_eq!(page.mentions(0), ["LOC: Lund"]);
}

#[test]
fn a_label_that_was_meant_for_what_is_gone_changes_nothing() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    page.click("suggestion LOC 0.60: Lund");
    let slider = page.harness.get_by_label("Minimum score of suggestions").rect();
    // Hidden and marked within one frame: nobody has seen that something else would be marked.
    let mut events = dragged(&[slider.center(), slider.right_center() - vec2(4.0, 0.0)]);
    events.extend(clicked(page.center("label PER")));
    page.at_once(events);
    assert!(page.mentions(0).is_empty(), "{:?}", page.mentions(0));
    assert!(page.shows_part("no longer exists"));
    page.click("label PER");
    assert_eq!(page.mentions(0), ["PER: Lund"], "the word at the cursor, as it is drawn now");
}

#[test]
fn every_command_is_in_the_menu_too() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    page.click("Menu");
    page.harness.get_by_label_contains("Mentions and suggestions").click();
    page.step();
    page.harness.get_by_label_contains("Accept all confident suggestions").click();
    page.step();
    assert_eq!(page.mentions(0), ["PER: Anna Berg", "ORG: the Board"]);
    assert!(!page.shows_part("Mentions and suggestions"), "the menu is closed");
}

#[test]
fn another_label_on_a_suggestion_corrects_it_and_a_double_click_accepts_it() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    page.click("suggestion LOC 0.60: Lund");
    page.character("o");
    assert_eq!(page.mentions(0), ["ORG: Lund"]);
    assert!(!page.shows_part("suggestion LOC 0.60"), "it was wrong, and is gone");
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.mentions(0).is_empty() && page.shows("suggestion LOC 0.60: Lund"), "one step took both back");
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    page.harness.run_steps(30);
    for _ in 0..2 {
        page.harness.get_by_label("suggestion PER 0.90: Anna Berg").click();
        page.harness.run_steps(1);
    }
    page.step();
    assert_eq!(page.mentions(0), ["PER: Anna Berg", "ORG: Lund"]);
}

#[test]
fn moving_an_end_of_a_suggestion_corrects_it() {
    let fixture = Fixture::new();
    let mut page = suggesting(&fixture);
    page.click("suggestion ORG 0.85: the Board");
    page.press(Modifiers::ALT.plus(Modifiers::SHIFT), Key::ArrowRight);
    assert_eq!(page.mentions(0), ["ORG: Board"]);
    assert!(!page.shows_part("suggestion ORG 0.85"));
    page.press(Modifiers::ALT.plus(Modifiers::SHIFT), Key::ArrowLeft);
    assert_eq!(page.mentions(0), ["ORG: the Board"], "the mention is selected and can be moved on");
}

/// Trains a model in earnest, which takes some seconds.
#[test]
fn a_model_learns_suggests_and_its_news_wait_until_they_are_asked_for() {
    let fixture = Fixture::new();
    let mut lines = String::new();
    for name in ["Anna", "Bo", "Ida", "Kai", "Mia", "Ole", "Pia", "Tom", "Uwe", "Eva"] {
        lines.push_str(&format!(
            r#"{{"tokens":["{name}","left","Lund","."],"entities":[{{"start":0,"end":1,"label":"PER"}},{{"start":2,"end":3,"label":"LOC"}}],"status":"complete"}}"#
        ));
        lines.push('\n');
    }
    for words in [r#""Anna","saw","Lund",".""#, r#""Bo","left","Lund",".""#] {
        lines.push_str(&format!("{{\"tokens\":[{words}],\"entities\":[],\"status\":\"untouched\"}}\n"));
    }
    let file = fixture.write("gold.jsonl", &lines);
    let how = ImportHow { kind: Some(ImportAs::Gold), split: None };
    let mut page = fixture.open(&fixture.project(&["PER", "LOC"], &file, how));
    assert_eq!(page.current(), 10);
    assert!(page.shows_part("No model yet"));

    page.press(Modifiers::COMMAND, Key::T);
    assert!(page.shows_part("Training model 1 on"));
    page.click("Pause");
    assert!(page.shows("paused"));
    let step = |page: &Page| page.see(|workspace| workspace.project.learner().clone());
    page.wait("the step that was under way", |page| {
        let before = step(page);
        std::thread::sleep(std::time::Duration::from_millis(60));
        step(page) == before
    });
    assert!(page.shows("paused") && !page.shows_part("Suggestions: model 1"));
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::T);
    assert!(page.shows("Pause"), "it goes on");
    page.wait("the first model", |page| page.shows_part("Suggestions: model 1"));
    page.wait("its suggestions", |page| page.shows_part("from model 1"));
    assert!(page.see(|workspace| workspace.view.model().is_some()), "they appear at once where there was nothing");

    page.see(|workspace| assert!(!workspace.view.has_news()));
    let shown = |page: &Page| {
        page.see(|workspace| {
            let suggestions = workspace.view.content().marks.iter().filter(|mark| mark.is_suggestion());
            (workspace.view.model().unwrap().0, suggestions.map(|mark| mark.spoken.clone()).collect::<Vec<_>>())
        })
    };
    let of_first = shown(&page);
    assert!(of_first.0 == 1 && !of_first.1.is_empty(), "{of_first:?}");
    page.press(Modifiers::COMMAND, Key::T);
    page.wait("the second model", |page| {
        page.see(|workspace| workspace.project.learner().current.as_ref().is_some_and(|m| m.id.0 == 2))
    });
    page.wait("its suggestions", |page| {
        page.see(|workspace| {
            let sentence = workspace.view.current().unwrap();
            workspace.project.suggestions(sentence).is_some_and(|s| s.model.0 == 2)
        })
    });
    assert!(page.see(|workspace| workspace.view.has_news()) && page.shows_part("New suggestions are ready"));
    assert_eq!(shown(&page), of_first, "nothing moves under the cursor");
    page.key(Key::F5);
    assert_eq!(shown(&page).0, 2);
}
