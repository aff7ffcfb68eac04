//! Settings: of the project, stored at once, and of the window.

use crate::fixture::{Fixture, Page, STORY};
use crate::hub::{Faults, Server};
use eframe::egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use nestling::model::{architectures, labels_given};
use nestling::session::{Hub, SaveState, Strategy};
use std::path::Path;

#[test]
fn settings_hold_at_once_and_after_opening_again() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::Comma);
    page.fill("Your name", "Zoë");
    page.click("Train automatically as sentences are completed");
    page.click("Light");
    page.scroll_to("Also learn from open sentences");
    page.click("Also learn from open sentences");
    page.choose("Architecture for the next model", "SpanNER");
    page.click("Close");
    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
    assert_eq!(page.harness.ctx.theme(), Theme::Light);
    page.close();
    let page = fixture.open(&fixture.path("project.nestling"));
    let settings = page.see(|workspace| workspace.project.settings().clone());
    assert_eq!((settings.author.as_str(), settings.architecture.as_str()), ("Zoë", "spanner"));
    assert!(settings.auto_train, "the fixture had switched it off");
    assert!(!settings.self_training);
}

#[test]
fn options_of_an_architecture_are_set_refused_kept_and_taken_back() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::Comma);
    let set = |page: &Page, name: &str| {
        let asked = page.see(|workspace| workspace.project.settings().config().identity());
        asked.get(name).map(|value| value.to_string())
    };
    page.scroll_to("Option w");
    page.fill("Option w", "1.5");
    assert!(page.shows("It takes a number from 0 to 1."), "at once");
    page.key(Key::Enter);
    assert_eq!((set(&page, "w"), page.shows("Settings")), (None, true), "it is not taken over, and the dialog stays");
    page.fill("Option w", "0.35");
    assert!(!page.shows_part("It takes a number"));
    page.key(Key::Enter);
    assert_eq!(set(&page, "w").as_deref(), Some("0.35"));
    page.fill("Option max_width", "2");
    page.key(Key::Enter);
    assert_eq!(set(&page, "max_width").as_deref(), Some("2"));
    page.choose("Option word_shapes", "on");
    assert_eq!(set(&page, "word_shapes").as_deref(), Some("true"));

    page.choose("Architecture for the next model", "Bundling");
    assert!(!page.shows("Option w") && page.shows("Option alpha"));
    assert_eq!(set(&page, "word_shapes"), None, "another architecture has its own values");
    assert_eq!(set(&page, "max_width").as_deref(), Some("2"), "but for the longest mention");
    assert!(page.shows_part("It learns mentions without gaps of up to 2 words"));
    page.choose("Architecture for the next model", "SeqLab");
    page.choose("Option level", "innermost");
    assert!(page.shows_part("It learns the innermost mentions"));
    page.choose("Architecture for the next model", "SmartSpanNER");
    assert_eq!(set(&page, "w").as_deref(), Some("0.35"), "they come back");
    page.scroll_to("Default of w");
    page.click("Default of w");
    assert_eq!(set(&page, "w"), None);
    assert!(!page.shows("Default of w"));
    // What is still being typed outlives the window.
    page.fill("Option sp", "0.5");
    page.close();
    let page = fixture.open(&fixture.path("project.nestling"));
    assert_eq!(set(&page, "sp").as_deref(), Some("0.5"));
    assert_eq!(set(&page, "word_shapes").as_deref(), Some("true"));
}

#[test]
fn every_architecture_shows_all_its_options() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::Comma);
    let finders = architectures().iter().filter(|architecture| !labels_given(architecture.id()));
    for architecture in finders {
        page.choose("Architecture for the next model", architecture.name());
        assert!(page.shows(architecture.summary()), "{}", architecture.id());
        for option in architecture.options() {
            assert!(page.shows(&format!("Option {}", option.name)), "{} {}", architecture.id(), option.name);
        }
    }
}

#[test]
fn a_name_that_is_being_typed_outlives_its_field() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::Comma);
    page.fill("Your name", "Zoë");
    page.close();
    let page = fixture.open(&fixture.path("project.nestling"));
    assert_eq!(page.see(|workspace| workspace.project.settings().author.clone()), "Zoë");
}

#[test]
fn what_teaches_most_and_the_threshold_are_chosen() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::Comma);
    let switch = "Let each model choose the threshold that saves the most work";
    let by_effort = |page: &Page| page.see(|workspace| workspace.project.settings().threshold_by_effort);
    assert!(by_effort(&page));
    page.click(switch);
    assert!(!by_effort(&page));
    page.click(switch);
    assert!(by_effort(&page));
    let strategy = |page: &Page| page.see(|workspace| workspace.project.settings().strategy.to_string());
    page.choose("Most informative", "Most uncertainty about mentions");
    assert_eq!(strategy(&page), "entropy+diverse");
    page.choose("Also consider", "Nothing");
    assert_eq!(strategy(&page), "entropy");
    page.choose("Most informative", "At random");
    assert_eq!(strategy(&page), "random");
    assert!(page.harness.query_by_label("Also consider").is_none(), "nothing counts besides");
    page.choose("Most informative", "Least confident predictions");
    page.choose("Also consider", "Sentences unlike each other");
    assert_eq!(page.see(|workspace| workspace.project.settings().strategy), Strategy::DEFAULT);
    page.click("Close");
    page.harness.get_by_label("Minimum score of suggestions").focus();
    page.step();
    page.key(Key::ArrowRight);
    assert!(!by_effort(&page), "a person has chosen");
}

#[test]
fn an_encoder_is_brought_in_from_a_folder_or_refused_with_the_reason() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.press(Modifiers::COMMAND, Key::Comma);
    page.harness.get_by_label("Add an encoder from a folder").scroll_to_me();
    page.harness.run_steps(30);
    page.click("Add an encoder from a folder");
    let empty = fixture.path("not-an-encoder");
    std::fs::create_dir(&empty).unwrap();
    page.fill("Encoder folder", &empty.display().to_string());
    page.key(Key::Enter);
    page.wait("the refusal", |page| page.shows_part("config.json"));

    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
    page.fill("Encoder folder", &tiny.display().to_string());
    page.click("Add encoder");
    page.wait("the encoder", |page| page.see(|d| d.project.settings().encoder.clone()) == "tiny-bert");
    assert!(page.shows_part("Pretrained · "));
    page.click("Close");

    // A new project offers it, too.
    page.press(Modifiers::COMMAND, Key::N);
    page.wait("the dialog", |page| page.shows_part("tiny-bert"));
}

#[test]
fn an_encoder_is_fetched_from_the_hub_stopped_and_taken_up_again() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-electra");
    let server = Server::start(&fixture, Faults { stall_at: Some(20_000), ..Faults::default() });
    page.harness.state().borrow_mut().as_mut().unwrap().set_hub(Hub::at(&server.endpoint));
    page.press(Modifiers::COMMAND, Key::Comma);
    page.harness.get_by_label("Download one from the hub").scroll_to_me();
    page.harness.run_steps(30);
    page.click("Download one from the hub");
    assert!(page.field("Name on the hub").is_focused(), "the keyboard is where one types");
    page.fill("Name on the hub", "acme/other");
    page.key(Key::Enter);
    page.wait("the refusal", |page| page.shows_part("The hub has no repository"));

    page.fill("Name on the hub", "acme/tiny");
    page.click("Download encoder");
    page.wait("the first bytes", |page| page.shows_part("model.safetensors: 0.0 of 0.1 MB"));
    page.click("Stop download");
    page.wait("the end", |page| page.shows_part("What was downloaded is kept: the next download"));

    // Closing the dialog stops it, too; what comes again goes on from where it was.
    page.click("Download encoder");
    page.wait("the second try", |_| server.of_weights().len() == 2);
    page.click("Close");
    server.set(|faults| faults.stall_at = None);
    page.press(Modifiers::COMMAND, Key::Comma);
    page.harness.get_by_label("Download one from the hub").scroll_to_me();
    page.harness.run_steps(30);
    page.click("Download one from the hub");
    page.fill("Name on the hub", "acme/tiny");
    page.click("Download encoder");
    page.wait("the encoder", |page| page.see(|d| d.project.settings().encoder.clone()) == "tiny");
    assert!(page.shows_part("Pretrained · "));
    assert_eq!(server.of_weights().last().unwrap().range.as_deref(), Some("bytes=20000-"));
}

#[test]
fn without_a_project_the_window_alone_is_set() {
    let fixture = Fixture::new();
    let mut page = fixture.window(None);
    page.wait("the start page", |page| page.shows("New project"));
    page.press(Modifiers::COMMAND, Key::Comma);
    assert!(page.shows("Window") && !page.shows("This project"));
    page.click("Larger");
    assert!(page.harness.ctx.zoom_factor() > 1.05);
}
