//! The main job from nothing to an export and back: a new project, texts, labels, mentions, a model, its suggestions,
//! a file. Once by keyboard alone, once by mouse. The encoder is a tiny one with random weights.

use crate::fixture::{Fixture, Page};
use eframe::egui::{Key, Modifiers, vec2};
use egui_kittest::kittest::Queryable;
use nestling::annotation::{Provenance, SentenceId, Status};
use nestling::session::{LearnerState, SaveState};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Enough that a training begins by itself, and some for it to read.
const COMPLETE: u32 = 20;
const WORDS: [&str; 8] = ["red", "blue", "box", "sea", "hill", "tree", "lamp", "fish"];

/// "red met the mayor of aarhus .": the first word is a PER, "the mayor of aarhus" one with a LOC in it.
fn texts(fixture: &Fixture) -> PathBuf {
    let lines = (0..COMPLETE as usize + 6).map(|i| format!("{} met the mayor of aarhus .\n", WORDS[i % WORDS.len()]));
    fixture.write("news.txt", &lines.collect::<String>())
}

/// A window at its start page, texts to take in, and an encoder besides the built-in one.
fn begin(fixture: &Fixture) -> (PathBuf, Page) {
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
    fixture.home().encoders().import(&tiny, "tiny").unwrap();
    let mut page = fixture.window(None);
    page.wait("the start page", |page| page.shows("New project"));
    (texts(fixture), page)
}

fn provenance(page: &Page, sentence: u32) -> Vec<Provenance> {
    page.see(|workspace| {
        let sentence = workspace.project.corpus().sentence(SentenceId(sentence)).unwrap();
        sentence.mentions().iter().map(|m| m.provenance.clone()).collect()
    })
}

/// Waits until the model that trains by itself has suggested something for the sentence on screen.
fn wait_for_suggestions(page: &mut Page) {
    page.see(|workspace| {
        assert!(matches!(workspace.project.learner().state, LearnerState::Training(_)), "it began by itself")
    });
    page.wait("the model", |page| page.shows_part("Suggestions: model 1"));
    page.wait("its suggestions", |page| page.see(|workspace| workspace.view.model().is_some()));
    assert!(page.see(|workspace| workspace.view.suggestion_marks().count()) > 0, "it has learned something");
}

/// Opens the project again: all that was done is there, and can be undone.
fn open_again(fixture: &Fixture, mut page: Page, project: &Path) -> Page {
    page.wait("the disk", |page| page.see(|d| d.project.save_state()) == SaveState::AllSaved);
    page.close();
    let mut page = fixture.open(project);
    assert_eq!(page.see(|workspace| workspace.project.counts().complete), COMPLETE as usize);
    assert_eq!(page.mentions(0), ["PER: red", "PER: the mayor of aarhus", "LOC: aarhus"]);
    assert!(page.shows_part("Suggestions: model 1"));
    page.press(Modifiers::COMMAND, Key::Z);
    page
}

#[test]
fn by_keyboard() {
    let fixture = Fixture::new();
    let (text, mut page) = begin(&fixture);
    page.press(Modifiers::COMMAND, Key::N);
    page.wait("the encoder", |page| page.shows("tiny"));
    page.fill("Name", "Ferry news");
    let project = fixture.path("ferry.nestling");
    page.fill("File", &project.display().to_string());
    page.fill("Labels", "PER, ORG\nLOC");
    for control in ["tiny", "Create project"] {
        page.harness.get_by_label(control).focus();
        page.step();
        page.key(Key::Space);
    }
    page.wait("the project", Page::is_open);
    assert_eq!(page.see(|workspace| workspace.project.settings().encoder.clone()), "tiny");

    page.press(Modifiers::COMMAND, Key::I);
    page.type_into("Files", &text.display().to_string());
    page.key(Key::Enter);
    page.wait("the preview", |page| page.shows("Import 26 sentences"));
    page.harness.get_by_label("Import 26 sentences").focus();
    page.step();
    page.key(Key::Enter);
    page.wait("the import", |page| page.shows("Annotate"));
    page.key(Key::Enter);

    let mut seen = HashSet::new();
    for _ in 0..COMPLETE {
        assert!(seen.insert(page.current()), "what teaches most, each once");
        page.character("p");
        page.keys(&[Key::Home, Key::ArrowRight, Key::ArrowRight]);
        for _ in 0..3 {
            page.press(Modifiers::SHIFT, Key::ArrowRight);
        }
        page.character("P"); // however it is typed
        page.keys(&[Key::End, Key::ArrowLeft]);
        page.character("l");
        page.key(Key::Space);
    }
    wait_for_suggestions(&mut page);

    let (first, suggestions) = (page.current(), page.see(|workspace| workspace.view.suggestion_marks().count()));
    page.keys(&[Key::Tab, Key::Enter]);
    assert!(matches!(provenance(&page, first)[..], [Provenance::Accepted(_)]));
    page.press(Modifiers::COMMAND, Key::Z);
    assert!(page.mentions(first).is_empty());
    page.key(Key::Tab);
    page.character("o");
    let mentions = page.mentions(first);
    assert!(mentions.len() == 1 && mentions[0].starts_with("ORG: "), "corrected: {mentions:?}");
    assert_eq!(
        page.see(|workspace| workspace.view.suggestion_marks().count()),
        suggestions - 1,
        "what was wrong is gone"
    );

    page.press(Modifiers::COMMAND, Key::E);
    let file = fixture.path("out.jsonl");
    page.fill("File", &file.display().to_string());
    page.harness.get_by_label("Write file").focus();
    page.step();
    page.key(Key::Enter);
    page.wait("the export", |page| page.shows("Verified: nothing is missing."));
    assert!(page.shows("6 sentences were left out because incomplete."));
    assert_eq!(std::fs::read_to_string(&file).unwrap().matches("\"LOC\"").count(), COMPLETE as usize);
    page.key(Key::Escape);

    let page = open_again(&fixture, page, &project);
    assert!(page.mentions(first).is_empty(), "undo works after opening, too");
}

#[test]
fn by_mouse() {
    let fixture = Fixture::new();
    let (text, mut page) = begin(&fixture);
    page.drop_file(&text);
    page.wait("the encoder", |page| page.shows("tiny"));
    page.click("tiny");
    // The one thing that has to be typed: where it lies.
    let project = fixture.path("news.nestling");
    page.fill("File", &project.display().to_string());
    page.click("Create project");
    page.wait("the preview", |page| page.shows("Import 26 sentences"));
    page.click("Import 26 sentences");
    page.wait("the import", |page| page.shows("Annotate"));
    page.click("Annotate");

    for _ in 0..COMPLETE {
        let number = page.current();
        let first = page.center(&format!("word 1: {}", WORDS[number as usize % WORDS.len()]));
        page.drag(first - vec2(8.0, 0.0), first);
        page.click("PER  P");
        let (from, to) = (page.center("word 3: the"), page.center("word 6: aarhus"));
        page.drag(from - vec2(6.0, 0.0), to);
        page.click("PER  P");
        page.click("word 6: aarhus");
        page.click("label LOC");
        page.click("Complete and go to next");
        assert_eq!(page.status(number), Status::Complete);
    }
    wait_for_suggestions(&mut page);

    let first = page.current();
    let name = |page: &Page| {
        page.see(|workspace| {
            let suggestion = workspace.view.suggestion_marks().next().unwrap();
            let sentence = workspace.project.corpus().sentence(SentenceId(first)).unwrap();
            let words = workspace.project.corpus().span_text(sentence, suggestion.hull).to_owned();
            format!("suggestion {} {:.2}: {words}", suggestion.name, suggestion.score.unwrap())
        })
    };
    let suggestion = name(&page);
    page.click(&suggestion);
    page.click("Accept");
    assert!(matches!(provenance(&page, first)[..], [Provenance::Accepted(_)]));
    page.harness.get_by_label_contains("Undo (Ctrl+Z)").click();
    page.step();
    assert!(page.mentions(first).is_empty());
    page.click(&suggestion);
    page.click("label ORG");
    assert!(page.mentions(first)[0].starts_with("ORG: "), "corrected");

    page.click("Export");
    page.fill("File", &fixture.path("out.jsonl").display().to_string());
    page.click("Write file");
    page.wait("the export", |page| page.shows("Verified: nothing is missing."));
    page.click("Close");
    let page = open_again(&fixture, page, &project);
    assert!(page.mentions(first).is_empty(), "undo works after opening, too");
}
