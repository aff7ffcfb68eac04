//! Comparing models: from what is chosen to the table, and what is there after a stop and a restart.

use crate::fixture::{Fixture, Page};
use eframe::egui::{Key, Modifiers, OutputCommand, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use nestling::annotation::SentenceId;
use nestling::session::{Command, Driver, ImportHow, NewProject, Part, ReadRequest, Setting, read_files};
use std::path::PathBuf;

/// "NAME met the mayor of TOWN ." so many times, with both as gold.
fn gold(sentences: usize) -> String {
    let (names, towns) = (["Anna", "Zoë", "Maja", "Jens"], ["Aarhus", "Lund", "Turku"]);
    let line = |i: usize| {
        format!(
            "{{\"tokens\":[\"{}\",\"met\",\"the\",\"mayor\",\"of\",\"{}\"],\"entities\":[{{\"start\":0,\"end\":1,\
             \"label\":\"PER\"}},{{\"start\":5,\"end\":6,\"label\":\"LOC\"}}]}}\n",
            names[i % 4],
            towns[i % 3]
        )
    };
    (0..sentences).map(line).collect()
}

/// A project with so many complete sentences to train on and 24 to test on.
fn project(fixture: &Fixture, sentences: usize) -> PathBuf {
    let path = fixture.path("project.nestling");
    let new = NewProject { encoder: Some("small".to_owned()), ..NewProject::with_labels(["PER", "LOC"]).unwrap() };
    let mut project = Driver::create(&fixture.home(), &path, &new).unwrap();
    project.run(Command::Set(Setting::AutoTrain(false))).unwrap();
    project.close().unwrap();
    import(fixture, sentences, Part::Train);
    import(fixture, 24, Part::Test);
    path
}

/// Adds complete sentences to the project.
fn import(fixture: &Fixture, sentences: usize, part: Part) {
    let mut project = Driver::open(&fixture.home(), &fixture.path("project.nestling")).unwrap();
    let file = fixture.write("gold.jsonl", &gold(sentences));
    let request = ReadRequest { options: vec![("end".to_owned(), "exclusive".to_owned())], ..ReadRequest::default() };
    let how = ImportHow { split: Some(part), ..ImportHow::default() };
    project.import(read_files(&[file], &request).unwrap(), how).unwrap();
    project.close().unwrap();
}

fn open_dialog(page: &mut Page) {
    page.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::B);
    page.wait("what is kept", |page| !page.shows("Reading …"));
}

/// Two architectures, one epoch.
fn choose(page: &mut Page, seeds: &str) {
    for architecture in nestling::model::architectures() {
        let is_wanted = ["smartspanner", "spanner"].contains(&architecture.id());
        if !is_wanted && page.shows(architecture.name()) {
            page.click(architecture.name());
        }
    }
    page.fill("Seeds", seeds);
    page.fill("Epochs", "1");
}

fn is_running(page: &Page) -> bool {
    page.shows("Cancel comparison") || page.shows_part("Stopping")
}

/// The models of the table, as a screen reader says its rows.
fn rows(page: &Page) -> Vec<String> {
    let items = page.harness.query_all_by_role(Role::ListItem);
    let names = items.filter_map(|item| item.accesskit_node().label());
    names.filter(|name| name.contains(": F1 ")).collect()
}

fn copied(page: &Page) -> Option<String> {
    page.harness.output().platform_output.commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    })
}

/// Trains models in earnest, which takes some seconds.
#[test]
fn two_architectures_are_compared_and_the_table_is_sorted_copied_and_saved() {
    let fixture = Fixture::new();
    let path = project(&fixture, 20);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    assert!(page.shows_part("models are discarded"));
    choose(&mut page, "2");
    assert!(
        page.shows_part("4 models (2 architectures with seeds 1 and 2), each trained on 20 sentences and scored on 24")
    );
    page.fill("Seeds", "none");
    assert!(page.shows_part("Seeds: enter how many"));
    page.fill("Seeds", "2");
    page.click("Start comparison");
    // The work is the workspace's: it goes on while the dialog is closed, and the corpus may be edited.
    page.key(Key::Escape);
    assert!(page.shows_part("Comparing models"), "the status line tells of it");
    page.wait("the comparison", |page| !page.shows_part("Comparing models"));
    assert!(page.shows("The comparison of models is finished"));

    open_dialog(&mut page);
    page.wait("the table", |page| rows(page).len() == 2);
    assert!(page.shows_part("Comparison 1: 4 models, scored on 24 sentences of test"), "all seeds are there");
    assert!(!page.shows("Resume") && !page.shows_part("have changed since"));
    assert!(rows(&page)[0].starts_with("SmartSpanNER: F1 ") && rows(&page)[1].starts_with("SpanNER: F1 "));
    page.wait("the two", |page| page.shows_part("points of F1") || page.shows_part("have the same F1"));
    page.click("Sort by model");
    page.click("Sort by model, ascending");
    assert!(rows(&page)[0].starts_with("SpanNER: F1 "), "descending by name");
    assert!(page.shows_part("F1 of each seed with mean and standard deviation: SpanNER"));

    page.harness.get_by_label("Copy as Markdown").click();
    let text = (0..5).find_map(|_| {
        page.harness.run_steps(1);
        copied(&page)
    });
    let text = text.expect("something was copied");
    assert!(text.starts_with("| variant | F1 |") && text.lines().count() == 4, "{text}");
    page.click("Save …");
    page.choose("What to save", "Plot as SVG");
    page.wait("the look at the place", |page| page.field("File").value().is_some_and(|path| path.ends_with(".svg")));
    page.click("Write file");
    page.wait("the file", |page| page.shows("Comparison of models"));
    let saved = std::fs::read_to_string(fixture.path("project-comparison-1.svg")).unwrap();
    assert!(saved.starts_with("<svg") && saved.contains("smartspanner"));

    page.click("F1 by length");
    assert!(page.shows("Sort by 1 w"));
    page.click("Costs");
    assert!(page.shows("Sort by train s"));
    page.close();
}

#[test]
fn a_comparison_that_was_cancelled_is_there_after_a_restart_and_resumes() {
    let fixture = Fixture::new();
    let path = project(&fixture, 20);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    choose(&mut page, "10");
    // Long enough that no machine trains all before it is stopped.
    page.fill("Epochs", "5");
    page.click("Start comparison");
    let is_beyond = |page: &Page, first| (first..=20).any(|model| page.shows_part(&format!("Model {model} of 20")));
    page.wait("a model", |page| is_beyond(page, 2));
    page.click("Cancel comparison");
    page.wait("the stop", |page| !is_running(page));
    page.wait("what is kept", |page| page.shows("Resume"));
    assert!(page.shows_part(" of 20 models, scored on 24 sentences of test"));
    page.key(Key::Escape);
    page.close();

    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    page.wait("what is kept", |page| page.shows("Resume"));
    assert!(!page.shows_part("have changed since"));
    page.click("Resume");
    page.wait("the rest", |page| is_beyond(page, 3));
    page.click("Cancel comparison");
    page.wait("the stop", |page| !is_running(page) && page.shows("Resume"));
    page.key(Key::Escape);
    assert!(fixture.path("project.comparisons/1/runs").is_dir() && !fixture.path("project.comparisons/2").exists());
    page.close();

    // Two more sentences: what was compared stays as it was, and says so.
    import(&fixture, 2, Part::Test);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    page.wait("what is kept", |page| page.shows_part("have changed since"));
    assert!(page.shows_part("scored on 24 sentences of test"));
    page.close();
}

#[test]
fn a_sentence_in_which_they_differ_is_gone_to() {
    let fixture = Fixture::new();
    let path = project(&fixture, 20);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    choose(&mut page, "1");
    assert!(page.shows_part("With one seed"));
    page.click("Start comparison");
    page.wait("the comparison", |page| rows(page).len() == 2 && !is_running(page));
    let says = |page: &Page| page.shows_part("They differ in") || page.shows_part("Both found the same");
    page.wait("the two", says);
    // After one epoch they find something or nothing; where they differ, the list leads there.
    let first = page
        .harness
        .query_all_by_label_contains("go to sentence ")
        .next()
        .and_then(|node| node.accesskit_node().label());
    if let Some(name) = first {
        assert!(name.contains("; SmartSpanNER: ") || name.contains("; SpanNER: "), "what each found: {name}");
        assert!(name.contains("(right)") || name.contains("(wrong)"), "{name}");
        let number: u32 = name.trim_start_matches("go to sentence ").split(':').next().unwrap().parse().unwrap();
        page.scroll_to(&name);
        page.click(&name);
        assert_eq!(SentenceId(page.current()), SentenceId(number - 1));
        assert!(!page.shows("Comparison of models"));
    } else {
        assert!(page.shows_part("Both found the same"));
    }
    page.close();
}

#[test]
fn values_of_an_option_are_tried_as_variants() {
    let fixture = Fixture::new();
    let path = project(&fixture, 20);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    choose(&mut page, "1");
    page.click("Try several values of an option");
    page.choose("Option 1 to vary", "w");
    assert!(page.shows_part("enter the values to try"), "nothing is started without values");
    page.fill("Values of w", "0.1, 7");
    assert!(page.shows_part("w can't be “7”; it takes a number from 0 to 1"));
    page.fill("Values of w", "0.1, 0.5");
    assert!(page.shows_part("2 variants of SmartSpanNER") && page.shows_part("3 models (3 variants with seed 1)"));
    page.click("Start comparison");
    page.wait("the comparison", |page| rows(page).len() == 3 && !is_running(page));
    for name in ["SmartSpanNER w=0.1: ", "SmartSpanNER w=0.5: ", "SpanNER: "] {
        assert!(rows(&page).iter().any(|row| row.starts_with(name)), "{name}");
    }
    page.close();
}

#[test]
fn it_says_what_is_missing() {
    let fixture = Fixture::new();
    let mut page = fixture.annotating("Anna left .\n");
    open_dialog(&mut page);
    assert!(page.shows_part("There is nothing to train on") && !page.shows("Start comparison"));
    page.click("Close");
    assert!(!page.shows("Close (Esc)"));
}
