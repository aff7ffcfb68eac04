//! What a prediction takes does not grow with the length of a sentence.

use super::counting::{Taken, measured};
use nestling::annotation::{LabelId, Span};
use nestling::encoder::Encoders;
use nestling::session::{FilterRequest, Input, filter};
use nestling::train::{Config, Dataset, Example, PredictOptions, Predictor, Snapshot, TrainRequest, train};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn predictor(folder: &Path) -> Predictor {
    let example = |i: usize| {
        let text = ["Anna met Bo", "Bo met Anna", "it rained today"][i % 3];
        let gold = if i % 3 < 2 { vec![(Span::from_range(0..1).unwrap(), LabelId(0))] } else { Vec::new() };
        Example { tokens: text.split(' ').map(str::to_owned).collect(), gold, ..Example::default() }
    };
    let labels = vec![(LabelId(0), "PER".to_owned())];
    let dataset = Arc::new(Dataset::freeze(labels, (0..6).map(example).collect(), Vec::new()).unwrap());
    let config = Config { encoder: "small".to_owned(), epochs: Some(1), ..Config::default() };
    let (encoders, snapshot) = (Encoders::at(folder), folder.join("m"));
    let request = TrainRequest::new(dataset, config, encoders, snapshot);
    train(&request, &NEVER, &mut |_| {}).unwrap();
    Predictor::load_with_threads(&Snapshot::any(&folder.join("m")), Some(2)).unwrap()
}

/// What predicting a sentence takes, and how many spans are found.
fn taken(predictor: &Predictor, words: usize) -> (Taken, usize) {
    let sentences = [(0..words).map(|i| format!("w{}", i % 97)).collect::<Vec<_>>()];
    let options = PredictOptions { use_heads: false, floor: 2.0, ..PredictOptions::default() };
    let (said, taken) = measured(|| predictor.predict(&sentences, options, &NEVER).unwrap());
    assert_eq!(said[0].first_words.len(), words);
    assert!(said[0].candidates > 19 * words, "every candidate is asked about: {}", said[0].candidates);
    (taken, said[0].spans.len())
}

#[test]
fn a_sentence_several_times_as_long_takes_hardly_more_memory() {
    let dir = tempfile::tempdir().unwrap();
    let predictor = predictor(dir.path());
    let ((long, _), (longer, spans)) = (taken(&predictor, 8_000), taken(&predictor, 24_000));
    // What stays is what the sentence itself is (its subwords and places, the probability of each word) and what was found;
    // at once it would be some nine thousand bytes a word.
    let more = longer.most.saturating_sub(long.most);
    assert!(more < 16_000 * 500 + spans * 200, "{long:?} {longer:?}, {spans} spans");
    assert!(longer.most < (200 << 20) + spans * 200, "{longer:?}");
}

#[test]
fn a_word_of_a_megabyte_is_looked_at_in_its_beginning_alone() {
    let dir = tempfile::tempdir().unwrap();
    let predictor = predictor(dir.path());
    let sentence = [vec!["x".repeat(1 << 20), "met".to_owned()]];
    let (_, taken) = measured(|| predictor.predict(&sentence, PredictOptions::default(), &NEVER).unwrap());
    assert!(taken.most < 64 << 20, "{taken:?}");
}

#[test]
fn a_text_in_one_line_goes_through_the_filter_and_is_spoken_of() {
    let dir = tempfile::tempdir().unwrap();
    drop(predictor(dir.path()));
    let text = format!("{} {}\n", ["Anna met Bo"; 4001].join(" "), "x".repeat(1 << 20));
    let path = dir.path().join("line.txt");
    std::fs::write(&path, text).unwrap();
    let (model, predict) = (dir.path().join("m"), PredictOptions::default());
    let request = FilterRequest {
        model: &model,
        threads: Some(2),
        predict,
        format: Some("text"),
        options: &[],
        name: "line.txt",
    };
    let mut out = Vec::new();
    let input = Input::file(&path).unwrap();
    let (report, taken) = measured(|| filter(&request, input, &mut out, &NEVER).unwrap());
    assert_eq!(report.predicted.sentences, 1);
    assert!(taken.most < 256 << 20, "{taken:?}");
    let notes: Vec<&String> = report.notes.iter().filter(|note| note.contains("more than 500 words")).collect();
    assert_eq!(notes.len(), 1, "{:?}", report.notes);
    assert!(
        notes[0].contains("12,004") && notes[0].contains("1,048,576") && notes[0].contains("unit=prose"),
        "{}",
        notes[0]
    );
}
