//! The dashboard: what it says with nothing, without and with measurements, and how a blind set is made and annotated.

use crate::fixture::{Fixture, Page, STORY};
use eframe::egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use nestling::annotation::{ModelId, Sentence, SentenceId, Span, Split, Status};
use nestling::session::{Command, Config, Driver, ImportHow, Project};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// "NAME met the mayor of TOWN ." so many times.
fn met(sentences: usize) -> String {
    let (names, towns) = (["Anna", "Zoë", "Maja", "Jens"], ["Aarhus", "Lund", "Turku"]);
    (0..sentences).map(|i| format!("{} met the mayor of {} .\n", names[i % 4], towns[i % 3])).collect()
}

fn project(fixture: &Fixture, sentences: usize) -> PathBuf {
    let file = fixture.write("met.txt", &met(sentences));
    fixture.project(&["PER", "LOC"], &file, ImportHow::default())
}

fn annotate(project: &mut Driver, sentence: SentenceId) {
    let labels: Vec<_> = project.corpus().labels().iter().map(|label| label.id).collect();
    for (at, label) in [(0, labels[0]), (5, labels[1])] {
        let fragments = Span::from_range(at..at + 1).unwrap().into();
        project.run(Command::Annotate { sentence, fragments, label }).unwrap();
    }
    project.run(Command::SetStatus { sentence, status: Status::Complete }).unwrap();
}

fn of_split(project: &Project, split: Split) -> Vec<SentenceId> {
    project.corpus().sentences().filter(|s| s.split() == split).map(Sentence::id).collect()
}

/// A blind set of 25 complete sentences, and models that learned from more and more others.
fn measured(fixture: &Fixture, path: &Path, batches: &[usize]) {
    let mut project = Driver::open(&fixture.home(), path).unwrap();
    project.run(Command::SetAside { sentences: 25 }).unwrap();
    let mut others = of_split(&project, Split::Rest).into_iter();
    of_split(&project, Split::Blind).into_iter().for_each(|id| annotate(&mut project, id));
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "4").unwrap();
    for batch in batches {
        others.by_ref().take(*batch).for_each(|id| annotate(&mut project, id));
        project.train_now(config.clone(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    }
    project.close().unwrap();
}

fn open_dashboard(page: &mut Page) {
    page.press(Modifiers::COMMAND, Key::B);
    assert!(page.shows("Learning curve"));
}

#[test]
fn an_empty_project_is_told_what_is_missing() {
    let fixture = Fixture::new();
    let mut page = fixture.open(&fixture.empty_project("empty.nestling"));
    page.click("Dashboard");
    assert!(page.shows_part("This project has no sentences yet"));
    assert!(page.shows_part("Nothing measured yet"));
    assert!(page.shows_part("There are no untouched sentences to set aside") && !page.shows("Set aside"));
    assert!(page.shows("PER: 0 mentions"));
    page.key(Key::Escape);
    assert!(!page.shows("Learning curve"), "Escape closes it");
}

#[test]
fn progress_is_counted_by_state_and_split_and_label() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating(STORY);
    page.character("p");
    page.key(Key::Space);
    page.press(Modifiers::SHIFT, Key::Space);
    page.character("f");
    open_dashboard(&mut page);
    assert!(page.shows_part("1 of 3 sentences complete (33 %)"));
    for part in ["1 complete", "1 flagged", "1 skipped", "0 open"] {
        assert!(page.harness.query_all_by_label(part).next().is_some(), "{part}");
    }
    assert!(page.shows_part("train: ") && !page.shows_part("test: "), "splits that are empty are left out");
    assert!(page.shows("PER: 1 mention") && page.shows("ORG: 0 mentions"));
    assert!(page.shows_part("of the blind set, which is empty"));
}

#[test]
fn a_blind_set_is_set_aside_and_annotated_without_suggestions() {
    let fixture = Fixture::new();
    let mut page = fixture.open(&project(&fixture, 40));
    page.character("p");
    open_dashboard(&mut page);
    assert!(page.shows("of 39 untouched"), "the number asked for is at most that");
    page.click("Sentences to set aside");
    page.character("3");
    page.key(Key::Enter);
    page.click("Set aside");
    let blind = page.see(|workspace| of_split(&workspace.project, Split::Blind));
    assert_eq!(blind.len(), 3);
    assert!(page.shows("blind set: 0 of 3 complete") && page.shows("Set more aside"));
    assert!(page.shows_part("20 more complete sentences until"));

    page.click("Annotate the blind set");
    assert!(!page.shows("Learning curve"));
    let mut seen = Vec::new();
    for _ in 0..3 {
        assert!(page.shows("split: blind") && page.shows("Suggestions hidden on purpose"));
        assert!(page.shows_part("This sentence belongs to the blind set"));
        seen.push(SentenceId(page.current()));
        page.key(Key::Space);
    }
    assert_eq!(seen, blind, "in the order of the text, and round");
    assert!(page.shows_part("All other sentences of the blind set are complete or skipped"));
    open_dashboard(&mut page);
    assert!(
        page.shows("blind set: 3 of 3 complete") && page.shows_part("All of its sentences are complete or skipped")
    );
    assert!(!page.shows("Annotate the blind set"));
}

/// Trains models in earnest, which takes some seconds.
#[test]
fn the_curve_of_the_blind_set_grows_into_a_forecast() {
    let fixture = Fixture::new();
    let path = project(&fixture, 80);
    measured(&fixture, &path, &[8, 6]);
    let mut page = fixture.open(&path);
    open_dashboard(&mut page);
    page.wait("the curve", |page| page.shows("learning curve, 2 models"));
    assert!(page.shows_part("Measured on 25 sentences of the blind set, which no model learned from"));
    assert!(page.shows_part("No forecast yet. It needs 5 measured models with the same encoder (2 so far)"));
    assert!(!page.shows("Set aside") && !page.shows("Set more aside"), "a model has learned");
    page.key(Key::Escape);
    page.close();

    let mut project = Driver::open(&fixture.home(), &path).unwrap();
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "4").unwrap();
    for _ in 0..3 {
        let open: Vec<_> = project.corpus().sentences().filter(|s| s.status().waits()).map(Sentence::id).collect();
        open.into_iter().take(12).for_each(|id| annotate(&mut project, id));
        project.train_now(config.clone(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    }
    let curve = project.learning_curve();
    assert!(curve.forecast.is_some(), "{curve:?}");
    project.close().unwrap();
    let mut page = fixture.open(&path);
    open_dashboard(&mut page);
    page.wait("the curve", |page| page.shows("learning curve, 5 models"));
    assert!(page.shows_part("Model 5, trained on"));
    assert!(page.shows_part("100 more sentences: about "));
    let little = curve.forecast.is_some_and(|forecast| forecast.is_little());
    assert_eq!(page.shows_part("That is little"), little);
    assert!(page.shows_part("next point of F1"));

    page.wait("the models", |page| page.shows("in use"));
    page.scroll_to("Compare models");
    let older = page.harness.query_all_by_label("Use").count();
    assert!((1..=3).contains(&older), "the one before it and the best: {older}");
    page.harness.get_all_by_label("Use").last().unwrap().scroll_to_me();
    page.harness.run_steps(30);
    page.harness.get_all_by_label("Use").last().unwrap().click();
    page.wait("another model", |page| page.see(|workspace| workspace.project.current_model()) < Some(ModelId(5)));
    assert_eq!(page.harness.query_all_by_label("Use").count(), older, "the newest stays there to be used");

    page.wait("the log", |page| page.shows("added by hand"));
    assert!(page.shows_part("sentences completed"));
    page.click("Score the model in use");
    page.wait("the scores", |page| page.shows_part("all labels: F1"));
    assert!(page.shows_part("sentences of the blind set.") && page.shows("Score the model in use"));
}

#[test]
fn without_a_blind_set_it_is_too_late_once_a_model_has_learned() {
    let fixture = Fixture::new();
    let path = project(&fixture, 30);
    let mut project = Driver::open(&fixture.home(), &path).unwrap();
    (0..8).for_each(|number| annotate(&mut project, SentenceId(number)));
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    config.set("epochs", "1").unwrap();
    project.train_now(config, &AtomicBool::new(false), &mut |_| {}).unwrap();
    project.close().unwrap();
    let mut page = fixture.open(&path);
    open_dashboard(&mut page);
    assert!(page.shows_part("a model has already learned") && !page.shows("Set aside"));
    assert!(page.shows_part("Nothing measured yet"));
    assert!(page.harness.query_by_label("Sentences to set aside").is_none());
}
