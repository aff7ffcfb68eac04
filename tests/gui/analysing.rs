//! Analysing models: from what is chosen to the numbers, from a number to its sentences, and from there to the page.

use crate::fixture::{Fixture, Page};
use eframe::egui::{Key, Modifiers, OutputCommand, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use nestling::annotation::{LabelId, SentenceId};
use nestling::session::{
    Command, Config, Driver, EvaluateReport, EvaluateRequest, ImportHow, NewProject, Part, ReadRequest, Setting,
    read_files,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// "NAME met the mayor of TOWN ." so many times, with name and town as gold, and the mayor too if `odd`: as ORG, which no
/// model of this project has seen.
fn gold(sentences: usize, odd: bool) -> String {
    let (names, towns) = (["Anna", "Zoë", "Maja", "Jens"], ["Aarhus", "Lund", "Turku"]);
    let mayor = if odd { ",{\"start\":3,\"end\":4,\"label\":\"ORG\"}" } else { "" };
    let line = |i: usize| {
        format!(
            "{{\"tokens\":[\"{}\",\"met\",\"the\",\"mayor\",\"of\",\"{}\",\".\"],\"entities\":[{{\"start\":0,\"end\":1,\
             \"label\":\"PER\"}},{{\"start\":5,\"end\":6,\"label\":\"LOC\"}}{mayor}]}}\n",
            names[i % 4],
            towns[i % 3]
        )
    };
    (0..sentences).map(line).collect()
}

fn import(fixture: &Fixture, sentences: usize, odd: bool, part: Part) {
    let mut project = Driver::open(&fixture.home(), &fixture.path("project.nestling")).unwrap();
    let file = fixture.write("gold.jsonl", &gold(sentences, odd));
    let request = ReadRequest { options: vec![("end".to_owned(), "exclusive".to_owned())], ..ReadRequest::default() };
    let how = ImportHow { split: Some(part), ..ImportHow::default() };
    project.import(read_files(&[file], &request).unwrap(), how).unwrap();
    project.close().unwrap();
}

/// A project with 24 complete sentences to train on, 24 of dev and 3 of test.
fn project(fixture: &Fixture) -> PathBuf {
    let path = fixture.path("project.nestling");
    let labels = NewProject::with_labels(["PER", "LOC", "ORG"]).unwrap();
    let new = NewProject { encoder: Some("small".to_owned()), ..labels };
    let mut project = Driver::create(&fixture.home(), &path, &new).unwrap();
    project.run(Command::Set(Setting::AutoTrain(false))).unwrap();
    project.close().unwrap();
    import(fixture, 24, false, Part::Train);
    import(fixture, 24, true, Part::Dev);
    import(fixture, 3, false, Part::Test);
    path
}

/// Trains a model, and says what it scores on dev.
fn train(fixture: &Fixture, path: &Path, settings: &[(&str, &str)]) -> EvaluateReport {
    let mut project = Driver::open(&fixture.home(), path).unwrap();
    let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
    settings.iter().for_each(|(key, value)| config.set(key, value).unwrap());
    let cancel = AtomicBool::new(false);
    let trained = project.train_now(config, &cancel, &mut |_| {}).unwrap();
    let request = EvaluateRequest { model: Some(trained.model), ..EvaluateRequest::of(Part::Dev) };
    let report = project.evaluate_now(request, &cancel).unwrap();
    project.close().unwrap();
    report
}

fn open_dialog(page: &mut Page) {
    page.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::A);
    page.wait("the models", |page| !page.shows("Reading …"));
}

fn analyse(page: &mut Page) {
    page.click("Analyse");
    page.wait("the analysis", |page| !page.shows("Analysing …"));
}

/// The first node with a role whose name begins so.
fn named(page: &Page, role: Role, start: &str) -> Option<String> {
    // The text of a label is its value.
    let name = |node: egui_kittest::Node<'_>| match role {
        Role::Label => node.accesskit_node().value(),
        _ => node.accesskit_node().label(),
    };
    page.harness.query_all_by_role(role).filter_map(name).find(|name| name.starts_with(start))
}

fn label(page: &Page, name: &str) -> LabelId {
    page.see(|workspace| workspace.project.corpus().labels().by_name(name).unwrap().id)
}

fn copied(page: &Page) -> Option<String> {
    page.harness.output().platform_output.commands.iter().find_map(|command| match command {
        OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    })
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

/// Trains a model in earnest, which takes some seconds.
#[test]
fn a_number_leads_to_its_sentences_and_a_sentence_to_the_page() {
    let fixture = Fixture::new();
    let path = project(&fixture);
    let report = train(&fixture, &path, &[("epochs", "6")]);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    assert_eq!(page.chosen("Sentences of"), "dev", "test is never proposed");
    assert!(page.shows_part("Dev also chooses between models") && !page.shows("Compared with"));
    page.key(Key::Enter);
    page.wait("the analysis", |page| named(page, Role::Label, "all labels: ").is_some());
    let counts = report.report.micro;
    let row = format!(
        "all labels: P {}, R {}, F1 {}, Gold 72, Predicted {}, Right {}",
        percent(counts.precision()),
        percent(counts.recall()),
        percent(counts.f1()),
        counts.predicted(),
        counts.true_positives,
    );
    assert!(page.shows(&row), "{row}");
    assert!(named(&page, Role::Label, "ORG: P –, R 0.0, F1 0.0, Gold 24").is_some());
    assert!(page.shows_part("Model 1 on 24 sentences of dev: F1 "));

    page.click("Tasks");
    assert!(page.shows_part("NEH: words that begin mentions: ") && page.shows_part("SP: all spans: "));
    assert!(page.shows_part("exact: boundaries: "));
    page.click("Length and nesting");
    let words = report.analyses.lengths.rows().next().unwrap().1;
    assert!(page.shows_part(&format!("1 word: P {}", percent(words.precision()))));
    page.click("Buckets");
    let f1 = percent(counts.f1());
    assert!(
        page.shows(&format!("Length of the mention, XS, 1 word: F1 {f1}, 72 gold mentions")),
        "all are of one word"
    );

    page.click("Errors");
    assert!(page.shows("Click a number to see its sentences."));
    let missed = report.analyses.confusion.count(Some(label(&page, "ORG")), None);
    assert!(missed > 0, "a model can't say a label that it has not seen");
    page.click(&format!("gold ORG, predicted none: {missed}"));
    assert!(page.shows_part("ORG not found with its boundaries"));
    let first = named(&page, Role::ListItem, "go to sentence ").expect("its sentences");
    assert!(first.contains("missed ORG: mayor"), "{first}");
    let number: u32 = first.trim_start_matches("go to sentence ").split(':').next().unwrap().parse().unwrap();
    // By keyboard, from the cell to the first sentence.
    page.harness.get_by_label(&first).focus();
    page.step();
    page.key(Key::Enter);
    assert_eq!(SentenceId(page.current()), SentenceId(number - 1));
    assert!(!page.shows("Close (Esc)"), "the dialog has gone");

    // It comes back as it was left, and says when it is of other sentences.
    open_dialog(&mut page);
    assert!(page.shows(&first) && !page.shows("Analyse"));
    assert!(!page.shows("The project has changed since. This is how it was.") && !page.shows("Analyse again"));
    page.click("Probabilities");
    let right = report.scores_by_label()[&label(&page, "PER")].right.len();
    let violin = named(&page, Role::Image, "PER: ").expect("one of each label");
    let right = nestling::wording::counted(right, "right prediction", "right predictions");
    assert!(violin.starts_with(&format!("PER: {right}")), "{violin}, {right}");
    page.key(Key::Escape);
    let revision = |page: &Page| page.see(|workspace| workspace.project.corpus().revision());
    let before = revision(&page);
    page.press(Modifiers::COMMAND, Key::R);
    assert_ne!(revision(&page), before, "the sentence is reopened");
    open_dialog(&mut page);
    assert!(page.shows("The project has changed since. This is how it was."));
    page.click("Analyse again");
    page.wait("the analysis", |page| !page.shows("Analysing …"));
    assert!(page.shows("By label") && !page.shows("Analyse again"));
    page.close();
}

#[test]
fn arrow_keys_go_from_cell_to_cell() {
    let fixture = Fixture::new();
    let path = project(&fixture);
    let report = train(&fixture, &path, &[("epochs", "1")]);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    analyse(&mut page);
    page.click("Errors");
    let labels = ["PER", "LOC", "ORG"];
    let ids = labels.map(|name| label(&page, name));
    let confusion = |gold: usize, predicted: usize| {
        let count = report.analyses.confusion.count(Some(ids[gold]), Some(ids[predicted]));
        format!("gold {}, predicted {}: {count}", labels[gold], labels[predicted])
    };
    page.harness.get_by_label(&confusion(0, 0)).focus();
    page.step();
    let is_focused = |page: &Page, name: &str| page.harness.get_by_label(name).accesskit_node().is_focused();
    for (key, at) in [
        (Key::ArrowRight, (0, 1)),
        (Key::ArrowDown, (1, 1)),
        (Key::ArrowLeft, (1, 0)),
        (Key::ArrowUp, (0, 0)),
        (Key::ArrowUp, (0, 0)),
    ] {
        page.key(key);
        assert!(is_focused(&page, &confusion(at.0, at.1)), "{key:?} leads to {}", confusion(at.0, at.1));
    }
    page.close();
}

/// Trains two models in earnest.
#[test]
fn two_models_are_compared_and_tables_copied_and_saved() {
    let fixture = Fixture::new();
    let path = project(&fixture);
    let worse = train(&fixture, &path, &[("epochs", "1")]);
    let better = train(&fixture, &path, &[("epochs", "8")]);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    assert_eq!(page.chosen("Model"), "Model 2: SmartSpanNER, 24 sentences (in use)");
    page.choose("Compared with", "Model 1: SmartSpanNER, 24 sentences");
    analyse(&mut page);
    let f1 = |report: &EvaluateReport| percent(report.report.f1());
    let by = 100.0 * (better.report.f1().unwrap() - worse.report.f1().unwrap());
    let row = format!("F1, model 1 {}, Difference {by:+.1}", f1(&worse));
    assert!(page.shows_part(&row), "{row}");
    assert!(page.shows_part(&format!("Model 1: F1 {} (precision ", f1(&worse))) && page.shows_part("95 % confidence"));

    page.click("Buckets");
    let bucket = "Length of the mention, XS, 1 word";
    assert!(page.shows(&format!("{bucket}: difference of F1 {by:+.1}, 72 gold mentions")));
    page.click("Model 1");
    assert!(page.shows(&format!("{bucket}: F1 {}, 72 gold mentions", f1(&worse))));
    page.harness.get_by_label("Copy").click();
    let text = (0..5).find_map(|_| {
        page.harness.run_steps(1);
        copied(&page)
    });
    let text = text.expect("something was copied");
    assert!(text.starts_with("Scores by bucket\nBucket\tP\tR\tF1\t") && text.lines().count() == 2 + 16, "{text}");
    for (what, extension, begins, lines) in [
        ("F1 by bucket as CSV", ".csv", "property,bucket,precision,recall,f1,", 1 + 16),
        ("F1 by bucket as SVG", ".svg", "<svg", 1),
    ] {
        page.click("Save …");
        page.choose("What to save", what);
        page.wait("the place", |page| page.field("File").value().is_some_and(|path| path.ends_with(extension)));
        page.click("Write file");
        page.wait("the file", |page| page.shows("Buckets"));
        let saved = std::fs::read_to_string(fixture.path(&format!("project-model-2-buckets{extension}"))).unwrap();
        assert!(saved.starts_with(begins) && saved.lines().count() >= lines, "{saved}");
    }

    // Errors are of one of both; what was analysed is there again at once.
    page.click("Errors");
    page.click("Model 1");
    let errors = worse.analyses.errors.false_negatives;
    let missed = nestling::wording::counted(errors.alone, "gold mention", "gold mentions");
    assert!(page.shows(&format!("{missed} missed")));
    page.choose("Compared with", "no other model");
    assert!(!page.shows("Errors") && page.shows("Analyse"));
    page.choose("Compared with", "Model 1: SmartSpanNER, 24 sentences");
    assert!(page.shows("Errors") && !page.shows("Analyse"));
    page.choose("Sentences of", "test (3 complete)");
    assert!(page.shows_part("makes test a second dev set") && page.shows_part("Only 3 sentences are scored"));
    page.close();
}

#[test]
fn it_says_what_is_missing() {
    let fixture = Fixture::new();
    let path = project(&fixture);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    assert!(page.shows_part("There is no model yet") && !page.shows("Analyse"));
    page.click("Close");
    assert!(!page.shows("Close (Esc)"));
    page.close();

    // One that tags words, and one that labels given words.
    train(&fixture, &path, &[("architecture", "seqlab"), ("epochs", "1")]);
    train(&fixture, &path, &[("architecture", "span_typing"), ("epochs", "1")]);
    let mut page = fixture.open(&path);
    open_dialog(&mut page);
    assert!(page.chosen("Model").contains("(in use)") && !page.shows("Compared with"), "nothing to compare it with");
    analyse(&mut page);
    page.click("Vectors");
    assert!(page.shows_part("This model tags words and classifies no spans"));
    let name = nestling::model::architecture("span_typing").unwrap().name();
    page.choose("Model", &format!("Model 2: {name}, 24 sentences"));
    analyse(&mut page);
    assert!(page.shows("Vectors of spans"), "the section that was shown, of another model");
    // The page behind the dialog has labels, too.
    let mut tabs = page.harness.query_all_by_label("Labels").filter(|n| n.accesskit_node().role() != Role::Label);
    tabs.next().expect("the first section").click();
    drop(tabs);
    page.step();
    assert!(named(&page, Role::Label, "all labels: Accuracy ").is_some());
    page.click("Buckets");
    assert!(page.shows_part("This model labels given words and finds no mentions"));
    page.close();
}
