//! General names before the first label: the card says what they are, the settings which labels they have.

use crate::fixture::{Fixture, Page};
use crate::knowing::learn_names;
use eframe::egui::{Key, Modifiers};
use nestling::annotation::{ModelId, Provenance, SentenceId};
use nestling::session::{Command, Driver, ImportHow, NewProject, Order, ReadRequest, SaveState, Setting, read_files};

const CARD: &str = "Known from other texts, not learned from you.";

/// A project of two labels whose encoder knows persons and places.
fn open(fixture: &Fixture, encoder: &str) -> Page {
    learn_names(&fixture.home(), fixture.dir.path());
    let path = fixture.path("names.nestling");
    let new =
        NewProject { encoder: Some(encoder.to_owned()), ..NewProject::with_labels(["Personne", "Town"]).unwrap() };
    let mut project = Driver::create(&fixture.home(), &path, &new).unwrap();
    for setting in [Setting::AutoTrain(false), Setting::Order(Order::Text)] {
        project.run(Command::Set(setting)).unwrap();
    }
    let file = fixture.write("names.txt", "Anna met the mayor of Lund.\nZoe met the mayor of Turku.\n");
    project.import(read_files(&[file], &ReadRequest::default()).unwrap(), ImportHow::default()).unwrap();
    project.close().unwrap();
    fixture.open(&path)
}

/// The labels of what is suggested in the first sentence, once nothing is being looked for.
fn suggested(page: &mut Page, expected: &[&str]) {
    page.wait(&format!("{expected:?} to be suggested"), |page| {
        page.see(|workspace| {
            let project = &workspace.project;
            let label = |id| project.corpus().labels().get(id).unwrap().name.clone();
            let said: Vec<String> =
                project.visible_suggestions(SentenceId(0)).into_iter().map(|s| label(s.label)).collect();
            said == expected && project.learner().predicting.is_none()
        })
    });
    page.step();
}

#[test]
fn names_are_shown_as_what_they_are_and_taken_with_a_key() {
    let fixture = Fixture::new();
    let mut page = open(&fixture, "knowing");
    suggested(&mut page, &["Personne"]);
    assert!(page.shows(CARD));
    page.press(Modifiers::NONE, Key::Tab);
    page.key(Key::Enter);
    let taken = page.see(|workspace| {
        let sentence = workspace.project.corpus().sentence(SentenceId(0)).unwrap();
        sentence.mentions().iter().map(|mention| mention.provenance.clone()).collect::<Vec<_>>()
    });
    assert_eq!(taken, [Provenance::Accepted(ModelId::NAMES)]);
    assert!(!page.shows(CARD), "nothing of them is left in this sentence");
}

#[test]
fn the_settings_say_which_label_a_name_has() {
    let fixture = Fixture::new();
    let mut page = open(&fixture, "knowing");
    suggested(&mut page, &["Personne"]);
    page.press(Modifiers::COMMAND, Key::Comma);
    page.choose("Place", "Town");
    page.choose("Person", "Not suggested");
    page.click("Close");
    suggested(&mut page, &["Town"]);
    page.press(Modifiers::COMMAND, Key::Comma);
    page.scroll_to("Suggest general names until there is a model");
    page.click("Suggest general names until there is a model");
    assert!(!page.shows("Place"));
    page.click("Close");
    suggested(&mut page, &[]);
    assert!(!page.shows(CARD));
    page.wait("the disk", |page| page.see(|workspace| workspace.project.save_state()) == SaveState::AllSaved);
    page.close();
    let mut page = fixture.open(&fixture.path("names.nestling"));
    suggested(&mut page, &[]);
}

#[test]
fn an_encoder_that_knows_no_names_has_no_such_settings() {
    let fixture = Fixture::new();
    let mut page = open(&fixture, "small");
    page.press(Modifiers::COMMAND, Key::Comma);
    assert!(!page.shows("Suggest general names until there is a model"));
}
