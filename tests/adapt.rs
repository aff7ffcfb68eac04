//! Adaptation to a small text: what is learned, what is written, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on fails")]

use nestling::adapt::{AdaptError, AdaptationRequest, Config, Event, Record, adapt};
use nestling::encoder::{Encoder, Encoders, EntityHeads, SMALL};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// "the mayor of the town met the box": where the fourth word from the start is one of two, so is the last one.
fn sentences(count: usize) -> Vec<Vec<String>> {
    let sentence = |i: usize| {
        let (place, thing) = [("town", "box"), ("sea", "boat")][i % 2];
        ["the", "mayor", "of", place, "met", "the", thing].map(str::to_owned).to_vec()
    };
    (0..count).map(sentence).collect()
}

fn request(output: &Path, settings: &[(&str, &str)]) -> AdaptationRequest {
    let mut config = Config::default();
    for (key, value) in [("batch_size", "8"), ("rate", "1e-3"), ("threads", "1")].iter().chain(settings) {
        config.set(key, value).unwrap();
    }
    let (sentences, output) = (sentences(200), output.to_owned());
    AdaptationRequest { encoder: tiny(), base: "tiny".to_owned(), sentences, config, output }
}

fn tiny() -> Encoder {
    Encoder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert")).unwrap()
}

fn run(request: &AdaptationRequest) -> Result<Record, AdaptError> {
    adapt(request, &AtomicBool::new(false), &mut |_| {})
}

fn values(encoder: &Encoder, name: &str) -> Vec<f32> {
    encoder.weights()[name].flatten_all().unwrap().to_vec1().unwrap()
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn blocks_learn_to_say_the_words_left_out_and_tables_stay() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("made/encoder");
    let mut events = Vec::new();
    let asked = request(&output, &[("epochs", "6")]);
    let record = adapt(&asked, &AtomicBool::new(false), &mut |event| events.push(event)).unwrap();
    assert_eq!((record.sentences, record.held_out, record.words), (196, 4, 196 * 7));
    assert_eq!(record.losses.len(), 7);
    assert!(record.losses[6] < record.losses[0] / 2.0, "{:?}", record.losses);
    assert!(matches!(events[0], Event::Started { sentences: 196, steps: 150, .. }), "{:?}", events[0]);
    assert!(matches!(events.last(), Some(Event::EpochDone { epoch: 6, .. })));
    let written: Record = serde_json::from_slice(&std::fs::read(output.join("adapted.json")).unwrap()).unwrap();
    assert_eq!(written, record);

    let (before, after) = (tiny(), Encoder::open(&output).unwrap());
    let is_same = |name: &str| values(&before, name) == values(&after, name);
    for name in before.weights().keys() {
        assert_eq!(is_same(name), name.starts_with("embeddings."), "{name}");
    }
}

#[test]
fn the_same_text_gives_the_same_encoder_at_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let made = ["one", "two", "other"].map(|name| dir.path().join(name));
    let settings: [&[(&str, &str)]; 3] = [&[("threads", "1")], &[("threads", "2")], &[("seed", "7")]];
    for (output, settings) in made.iter().zip(settings) {
        run(&request(output, settings)).unwrap();
    }
    let [one, two, other] = made.each_ref().map(|output| files(output));
    assert!(one == two);
    assert!(one != other);
}

#[test]
fn compact_weights_and_heads_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("compact");
    let heads = EntityHeads { note: "heads".to_owned(), tensors: BTreeMap::new() };
    let asked = request(&output, &[("compact", "true")]);
    run(&AdaptationRequest { encoder: tiny().with_entity_heads(heads), ..asked }).unwrap();
    assert!(output.join("compact.safetensors").exists() && !output.join("model.safetensors").exists());
    let made = Encoder::open(&output).unwrap();
    assert_eq!(made.entity_heads().map(|heads| heads.note.as_str()), Some("heads"));
    let (name, rounded) = ("embeddings.word_embeddings.weight", tiny().rounded().unwrap());
    assert!(values(&made, name) == values(&rounded, name), "rounded once, and then left alone");
}

#[test]
fn a_very_long_sentence_is_read_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let words: Vec<String> = sentences(300).concat();
    let long = AdaptationRequest { sentences: vec![words; 4], ..request(&dir.path().join("long"), &[]) };
    let record = run(&long).unwrap();
    assert_eq!(record.sentences + record.held_out, 4 * 5);
}

#[test]
fn what_can_t_be_done_is_refused_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("encoder");
    let asked = request(&output, &[]);
    let few = AdaptationRequest { sentences: sentences(19), ..asked.clone() };
    assert!(matches!(run(&few), Err(AdaptError::TooLittleText(19))));
    let nothing = AdaptationRequest { encoder: Encoders::at(dir.path()).get(SMALL).unwrap(), ..asked.clone() };
    assert!(matches!(run(&nothing), Err(AdaptError::NotPretrained)));

    let cancel = AtomicBool::new(false);
    let stop = &mut |event| {
        if let Event::Progress { step: 2, .. } = event {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    assert!(matches!(adapt(&asked, &cancel, stop), Err(AdaptError::Cancelled)));
    assert!(!output.exists());

    run(&asked).unwrap();
    assert!(matches!(run(&asked), Err(AdaptError::Exists(path)) if path == output));
}
