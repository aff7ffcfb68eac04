//! Sentences that no one would write and every corpus holds: training, prediction and scoring go through them, and no
//! word is lost.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use nestling::annotation::{LabelId, Span, Status};
use nestling::encoder::Encoders;
use nestling::model::{MAX_WIDTH, OptionSpec, architectures, labels_given};
use nestling::parameter::Value;
use nestling::session::{Driver, EvaluateRequest, Home, ImportHow, NewProject, Part, Project, ReadRequest, read_files};
use nestling::train::{Config, Dataset, Example, PredictOptions, Predictor, TrainError, TrainRequest, evaluate, train};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// More labels than a person would set up by hand.
const LABELS: u32 = 66;

/// Characters that fonts, tokenizers and hashes know least about, a word each.
const ODD: [&str; 12] = [
    "🦀",
    "👩\u{200d}👩\u{200d}👧",
    "\u{378}",
    "\u{301}",
    "\u{200b}",
    "\u{feff}",
    "\u{10fffd}",
    "\u{202e}abc",
    "ﷺ",
    "İ",
    "ＦＵＬＬ",
    "\u{e000}",
];

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert")
}

fn words(count: usize) -> Vec<String> {
    (0..count).map(|i| ["the", "mayors", "of", "Aarhus", "sea"][i % 5].to_owned()).collect()
}

fn example(tokens: Vec<String>, gold: &[(usize, usize, u32)]) -> Example {
    let gold = gold.iter().map(|&(start, end, label)| (Span::from_range(start..end).unwrap(), LabelId(label)));
    Example { tokens, gold: gold.collect(), ..Example::default() }
}

/// 2,000 words, one word, odd characters, a word of 5,000 letters, a mention of 129 words, and every label once.
fn extremes() -> Vec<Example> {
    let odd = ODD.map(str::to_owned).to_vec();
    let mut all = vec![
        example(words(2000), &[(0, 1, 0), (0, 4, 1), (999, 1004, 2), (1995, 2000, 3), (1999, 2000, 3)]),
        example(words(1), &[(0, 1, 5)]),
        example(odd, &[(0, 1, 1), (3, 5, 2), (0, 12, 65)]),
        example(vec!["x".repeat(5000), "met".to_owned(), "ä".repeat(5000)], &[(0, 1, 1), (0, 3, 2)]),
        example(words(140), &[(2, 131, 7), (5, 6, 8)]),
        example(vec!["\u{301}".to_owned()], &[]),
    ];
    all.extend((0..LABELS).map(|label| example(words(3 + label as usize % 5), &[(1, 3, label), (1, 2, label / 2)])));
    all
}

fn labels() -> Vec<(LabelId, String)> {
    (0..LABELS).map(|id| (LabelId(id), format!("L{id}"))).collect()
}

/// Architectures that say of each word how likely it begins a mention.
const WITH_HEADS: [&str; 3] = ["smartspanner", "seqlab", "dspert"];

/// One epoch, and one on what the model labels itself, with no candidates of more than six words.
fn short(architecture: &str, encoder: &str) -> Config {
    let (architecture, encoder) = (architecture.to_owned(), encoder.to_owned());
    let mut config = Config { architecture, encoder, epochs: Some(1), self_epochs: Some(1), ..Config::default() };
    for width in [MAX_WIDTH, OptionSpec { name: "candidate_width", ..MAX_WIDTH }] {
        config.options.prefer(&width, Value::Whole(6));
    }
    config
}

/// Every architecture with the built-in encoder and with a pretrained one.
fn each_system(mut test: impl FnMut(&Encoders, &Path, Config)) {
    let home = tempfile::tempdir().unwrap();
    let encoders = Encoders::at(home.path());
    encoders.import(&fixture(), "tiny").unwrap();
    for architecture in architectures() {
        for encoder in ["small", "tiny"] {
            let config = short(architecture.id(), encoder);
            let snapshot = home.path().join(format!("{}-{encoder}", architecture.id()));
            test(&encoders, &snapshot, config);
        }
    }
}

#[test]
fn every_system_trains_on_extremes_and_loses_no_word() {
    each_system(|encoders, snapshot, config| {
        let system = format!("{} with {}", config.architecture, config.encoder);
        // Enough dev sentences for each epoch to be scored.
        let dataset = Arc::new(Dataset::freeze(labels(), extremes(), extremes()).unwrap());
        let (encoders, snapshot) = (encoders.clone(), snapshot.to_owned());
        let request = TrainRequest::new(dataset, config, encoders, snapshot);
        let trained = train(&request, &NEVER, &mut |_| {}).unwrap_or_else(|error| panic!("{system}: {error}"));
        let outcome = &trained.manifest.outcome;
        let max_width = trained.manifest.settings.max_width();
        // Of 129 and of 12 words; those of one span and two labels are no fault of the width.
        assert_eq!(outcome.unlearnable.too_wide, if max_width.is_some() { 2 } else { 0 }, "{system}");
        assert!(outcome.dev.is_some(), "{system}");

        let predictor = Predictor::load(&trained.snapshot).unwrap();
        let mentions: usize = extremes().iter().map(|example| example.gold.len()).sum();
        if labels_given(&trained.manifest.settings.architecture) {
            let report = evaluate(&predictor, &extremes(), PredictOptions::default(), &NEVER).unwrap();
            assert!(report.micro.support() == mentions && report.accuracy().is_some(), "{system}");
            return;
        }
        let mut sentences: Vec<Vec<String>> = extremes().into_iter().map(|example| example.tokens).collect();
        sentences.insert(3, Vec::new());
        for use_heads in [true, false] {
            let options = PredictOptions { use_heads, floor: 0.01, ..PredictOptions::default() };
            let predictions = predictor.predict(&sentences, options, &NEVER).unwrap();
            assert_eq!(predictions.len(), sentences.len());
            let without_heads = predictions.iter().all(|prediction| prediction.first_words.is_empty());
            let architecture = trained.manifest.settings.architecture.as_str();
            assert_eq!(without_heads, !WITH_HEADS.contains(&architecture), "{system}");
            for (words, prediction) in sentences.iter().zip(&predictions) {
                let heads = prediction.first_words.len();
                assert!(heads == words.len() || without_heads, "{system}: a word is lost");
                assert!(prediction.first_words.iter().all(|p| (0.0..=1.0).contains(p)), "{system}");
                for span in &prediction.spans {
                    assert!(
                        span.span.end().get() <= words.len()
                            && span.span.width_tokens() <= max_width.unwrap_or(usize::MAX),
                        "{system}"
                    );
                    assert!((0.0..=1.0).contains(&span.score) && span.label.0 < LABELS, "{system}: {span:?}");
                }
            }
            // Of an architecture without heads every span is a candidate, filter or not; where candidates are what seeds
            // come to, there are no more than seeds.
            if architecture == "locate_label" {
                let seeds: usize = sentences.iter().map(|words| candidates(words.len(), 15)).sum();
                assert!(predictions.iter().map(|p| p.candidates).sum::<usize>() <= seeds, "{system}");
            } else if !use_heads || without_heads {
                let all: usize = sentences.iter().map(|words| candidates(words.len(), 6)).sum();
                assert_eq!(predictions.iter().map(|p| p.candidates).sum::<usize>(), all, "{system}");
            }
        }
        let report = evaluate(&predictor, &extremes(), PredictOptions::default(), &NEVER).unwrap();
        // What is too wide to be found counts as not found.
        assert_eq!(report.micro.support(), mentions, "{system}");
    });
}

/// Spans of at most `width` words.
fn candidates(words: usize, width: usize) -> usize {
    (1..=width.min(words)).map(|wide| words + 1 - wide).sum()
}

#[test]
fn an_empty_sentence_is_no_example() {
    let empty = vec![example(words(2), &[]), example(Vec::new(), &[])];
    let refused = Dataset::freeze(labels(), empty, Vec::new());
    assert!(matches!(refused, Err(TrainError::EmptySentence { sentence: 2 })));
}

#[test]
fn a_project_with_extremes_trains_predicts_and_scores() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::at(dir.path().join("home"));
    home.encoders().import(&fixture(), "tiny").unwrap();
    let names: Vec<String> = labels().into_iter().map(|(_, name)| name).collect();
    let path = dir.path().join("p.nestling");
    let mut project = Driver::create(&home, &path, &NewProject::with_labels(names).unwrap()).unwrap();
    let file = dir.path().join("in.jsonl");
    let line = |example: &Example, status: &str| {
        let mentions = example.gold.iter().map(|(span, label)| {
            serde_json::json!({ "start": span.start().get(), "end": span.end().get(), "label": format!("L{}", label.0) })
        });
        let mentions: Vec<_> = mentions.collect();
        serde_json::json!({ "tokens": example.tokens, "entities": mentions, "status": status }).to_string()
    };
    let mut lines: Vec<String> = extremes().iter().map(|example| line(example, "complete")).collect();
    let empty = lines.len();
    lines.push(line(&example(Vec::new(), &[]), "complete"));
    lines.push(line(&example(Vec::new(), &[]), "untouched"));
    lines.extend(extremes().iter().map(|example| line(&example_without_gold(example), "untouched")));
    std::fs::write(&file, lines.join("\n")).unwrap();
    let incoming = read_files(&[file], &ReadRequest { format: None, options: [].into() }).unwrap();
    let receipt = project.import(incoming, ImportHow::default()).unwrap();
    // A sentence without words is none; which lines had none is told.
    let told: Vec<_> = receipt.warnings.iter().filter_map(|warning| warning.line).collect();
    assert_eq!((told, receipt.left_out), (vec![empty + 1, empty + 2], 2), "{receipt:?}");
    let count = 2 * extremes().len();
    assert_eq!((receipt.sentences, project.corpus().sentence_count()), (count, count), "{receipt:?}");

    // Some of the complete sentences may be kept aside for dev.
    let widths = |project: &Project| -> Vec<usize> {
        let mentions = project.corpus().sentences().filter(|s| s.trains()).flat_map(|s| s.mentions());
        mentions.map(|m| m.fragments.contiguous().unwrap().width_tokens()).collect()
    };
    let too_wide = widths(&project).iter().filter(|width| **width > 6).count();
    assert!(widths(&project).contains(&129), "the widest is among them");

    for architecture in architectures() {
        for encoder in ["small", "tiny"] {
            let has_heads = WITH_HEADS.contains(&architecture.id());
            let trained = project.train_now(short(architecture.id(), encoder), &NEVER, &mut |_| {}).unwrap();
            let expected = trained.manifest.settings.max_width().map_or(0, |_| too_wide);
            assert_eq!(trained.manifest.outcome.unlearnable.too_wide, expected);
            if labels_given(architecture.id()) {
                let before = project.current_model();
                assert!(before.is_some() && before != Some(trained.model), "it stands beside the model in use");
                let model = Some(trained.model);
                let request = EvaluateRequest { model, ..EvaluateRequest::of(Part::Train) };
                let score = project.evaluate_now(request, &NEVER).unwrap();
                assert_eq!(score.report.micro.support(), widths(&project).len());
                let options = PredictOptions::default();
                let refused = project.predict_now(Part::Pool, model, None, options, &NEVER, &mut |_, _| {});
                assert!(refused.unwrap_err().to_string().contains("finds no mentions"));
                continue;
            }
            let options = PredictOptions::default();
            let predicted = project.predict_now(Part::Pool, None, None, options, &NEVER, &mut |_, _| {}).unwrap();
            assert_eq!(predicted.sentences, extremes().len());
            for sentence in project.corpus().sentences().filter(|s| s.status() != Status::Complete) {
                let heads = project.suggestions(sentence.id()).map_or(0, |said| said.heads.len());
                let expected = if has_heads { sentence.tokens().len() } else { 0 };
                assert_eq!(heads, expected, "{:?}", sentence.id());
            }
            let request = EvaluateRequest { tasks: true, buckets: true, ..EvaluateRequest::of(Part::Train) };
            let score = project.evaluate_now(request, &NEVER).unwrap();
            assert_eq!(score.report.micro.support(), widths(&project).len());
        }
    }
    project.close().unwrap();

    let project = Driver::open(&home, &path).unwrap();
    assert_eq!(project.corpus().sentence_count(), count);
    for sentence in project.corpus().sentences().filter(|s| s.status() != Status::Complete) {
        assert!(project.suggestions(sentence.id()).is_some(), "{:?}", sentence.id());
    }
}

fn example_without_gold(example: &Example) -> Example {
    Example { tokens: example.tokens.clone(), gold: Vec::new(), ..Example::default() }
}
