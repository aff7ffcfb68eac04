//! Splitting and joining words and sentences, and what becomes of the place where the person is.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use nestling::session::{ImportAs, ImportHow};

fn call(page: &mut Page, command: &str) {
    page.press(Modifiers::COMMAND, Key::K);
    page.type_into("Command", command);
    page.key(Key::Enter);
}

fn words(page: &Page) -> Vec<String> {
    page.see(|workspace| workspace.view.content().words.iter().map(|w| w.text.clone()).collect())
}

#[test]
fn a_word_is_split_where_the_person_says_and_joined_again() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("We met Berglund there\n");
    page.keys(&[Key::ArrowRight, Key::ArrowRight]);
    page.character("p");
    call(&mut page, "split word");
    assert!(page.shows("split into Berg and lund") && page.shows("split into B and erglund"));
    page.keys(&[Key::Home, Key::ArrowRight, Key::ArrowRight, Key::ArrowRight]);
    page.key(Key::Enter);
    assert_eq!(words(&page), ["We", "met", "Berg", "lund", "there"]);
    assert_eq!(page.mentions(0), ["PER: Berglund"], "the mention goes along");

    page.key(Key::Escape);
    page.click("word 3: Berg");
    page.press(Modifiers::SHIFT, Key::ArrowRight);
    call(&mut page, "join selected");
    assert_eq!(words(&page), ["We", "met", "Berglund", "there"]);
    page.press(Modifiers::COMMAND, Key::Z);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(words(&page), ["We", "met", "Berglund", "there"]);
    assert!(page.shows("Undone: Split a token"));
}

#[test]
fn the_dialog_goes_by_mouse_too_and_escape_changes_nothing() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("We met Berglund there\n");
    page.click("word 3: Berglund");
    page.press(Modifiers::COMMAND, Key::D);
    page.key(Key::Escape);
    assert_eq!(words(&page).len(), 4);
    page.press(Modifiers::COMMAND, Key::D);
    page.click("split into Bergl and und");
    page.click("Split");
    assert_eq!(words(&page), ["We", "met", "Bergl", "und", "there"]);
}

#[test]
fn words_and_sentences_that_can_not_be_cut_say_why() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("A man met Anna Berg .\nIt rained .\n");
    call(&mut page, "split word");
    assert!(page.shows("A word of one character can't be split"));
    call(&mut page, "join selected");
    assert!(page.shows("Select the words to join"));
    page.press(Modifiers::SHIFT, Key::ArrowRight);
    call(&mut page, "join selected");
    assert!(page.shows_part("White space lies between these words"));
    page.key(Key::Home);
    call(&mut page, "split sentence");
    assert!(page.shows("Go to the word that starts the next sentence"));
    page.click("word 4: Anna");
    page.press(Modifiers::SHIFT, Key::ArrowRight);
    page.character("p");
    page.click("word 5: Berg");
    call(&mut page, "split sentence");
    assert!(page.shows_part("The mention \"Anna Berg\" (PER) lies on both sides"));
    page.key(Key::ArrowDown);
    call(&mut page, "join with next");
    assert!(page.shows_part("There is no next sentence"));
}

#[test]
fn a_sentence_is_split_and_joined_and_the_person_stays_with_the_words() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("Anna left ; Bo stayed .\nIt rained .\n");
    page.click("word 4: Bo");
    call(&mut page, "split sentence");
    assert_eq!((page.current(), words(&page).len()), (0, 3));
    page.key(Key::ArrowDown);
    assert_eq!((page.current(), words(&page)), (2, vec!["Bo".to_owned(), "stayed".to_owned(), ".".to_owned()]));
    page.character("p");
    // The sentence that is looked at is no more after the second undo.
    page.press(Modifiers::COMMAND, Key::Z);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!((page.current(), words(&page).len()), (0, 6));
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: Bo"], "the cursor is still at the same word");

    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::J);
    assert_eq!(words(&page).len(), 9);
    page.character("p");
    assert_eq!(page.mentions(0), ["PER: Bo", "PER: It"], "the cursor is at the joint");
}

#[test]
fn suggestions_go_along_with_their_words() {
    let fixture = Fixture::new();
    let line = r#"{"tokens":["Anna","saw","NewLund","and","Bo"],"entities":[{"start":0,"end":1,"label":"PER","score":0.9},{"start":4,"end":5,"label":"PER","score":0.8}]}"#;
    let file = fixture.write("suggested.jsonl", &format!("{line}\n"));
    let how = ImportHow { kind: Some(ImportAs::Suggestions), split: None };
    let mut page = fixture.open(&fixture.project(&["PER"], &file, how));
    page.click("suggestion PER 0.80: Bo");
    page.click("word 3: NewLund");
    page.press(Modifiers::COMMAND, Key::D);
    page.key(Key::Enter);
    assert_eq!(words(&page).len(), 6);
    assert!(page.shows("suggestion PER 0.80: Bo"), "not on the word that has its old number");
    page.click("word 5: and");
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::D);
    assert!(!page.shows_part("suggestion PER 0.80"));
    page.key(Key::ArrowDown);
    assert!(page.shows("suggestion PER 0.80: Bo"));
    page.keys(&[Key::Tab, Key::Enter]);
    assert_eq!(page.mentions(1), ["PER: Bo"]);
}

/// A project of one text with three sentences and a second one with one.
fn two_texts(fixture: &Fixture) -> Page {
    let mut page = fixture.annotating(STORY);
    let more = fixture.write("more.txt", "One more came .\n");
    page.drop_file(&more);
    page.wait("the preview", |page| page.shows("Import 1 sentence"));
    page.click("Import 1 sentence");
    page.wait("the import", |page| page.shows("Annotate"));
    page.key(Key::Enter);
    page
}

#[test]
fn whoever_is_in_a_text_that_is_taken_back_goes_to_a_neighbour_and_is_told() {
    let fixture = Fixture::new();
    let mut page = two_texts(&fixture);
    page.harness.get_by_label_contains("sentence 4, untouched").click();
    page.step();
    page.key(Key::End);
    assert_eq!(page.current(), 3);
    page.press(Modifiers::COMMAND, Key::Z);
    assert_eq!((page.current(), words(&page).len()), (2, 6));
    assert!(page.shows("Undone: Import more.txt · 1 sentence removed (Ctrl+Shift+Z to restore)"));
    page.character("p");
    assert_eq!(page.mentions(2), ["PER: Anna"]);
    page.press(Modifiers::COMMAND, Key::Z);
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    page.press(Modifiers::COMMAND, Key::Z);

    // The first import too: nothing is left.
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.shows("This project has no texts yet"));
    assert!(page.see(|workspace| workspace.view.current().is_none() && workspace.view.content().words.is_empty()));
    for key in [Key::ArrowRight, Key::Tab, Key::Enter, Key::Space, Key::ArrowDown, Key::Delete] {
        page.key(key);
    }
    for command in ["split word", "split sentence", "join selected", "join with", "wrap", "flag", "accept"] {
        call(&mut page, command);
    }
    page.press(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
    assert!(page.shows_part("3 sentences restored") && page.shows("word 1: The"));
}

#[test]
fn an_import_is_undone_while_its_sentences_are_listed() {
    let fixture = Fixture::new();
    let mut page = two_texts(&fixture);
    page.fill("Find sentences", "came");
    page.wait("the search", |page| page.shows("1 found"));
    page.key(Key::Enter);
    assert_eq!(page.current(), 3);
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.shows("no results"));
    assert_eq!(page.current(), 2);
}
