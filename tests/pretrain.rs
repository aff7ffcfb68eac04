//! Pretraining on entities from two small corpora: what is learnt, what is written, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on fails")]

use nestling::annotation::Span;
use nestling::encoder::{Encoder, Encoders, SMALL};
use nestling::pretrain::{
    AnnotatedCorpus, AnnotatedSentence, LabelMap, PretrainError, PretrainSettings, PretrainingRequest, Record, pretrain,
};
use nestling::train::TrainError;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// "the mayor of NAME met the box", with a mention of each label, which the third word from the end tells apart.
fn corpus(name: &str, labels: [&str; 2], sentences: usize) -> AnnotatedCorpus {
    let sentence = |i: usize| {
        let words = ["the", "mayor", "of", ["town", "sea"][i % 2], "met", "the", "box", ["red", "old"][i % 3 % 2]];
        let span = |start, end| Span::from_range(start..end).unwrap();
        AnnotatedSentence {
            words: words[..7 + i % 2].iter().map(|word| (*word).to_owned()).collect(),
            mentions: vec![(span(0, 4), labels[0].to_owned()), (span(3, 4), labels[1].to_owned())],
            discontinuous: i % 2,
        }
    };
    AnnotatedCorpus { name: name.to_owned(), sentences: (0..sentences).map(sentence).collect(), files: Vec::new() }
}

fn request(encoder: Encoder, output: &Path) -> PretrainingRequest {
    let mut settings = PretrainSettings::with_limit(Some(24));
    for (key, value) in [("epochs", "4"), ("batch_size", "8"), ("threads", "1"), ("bf16", "false")] {
        settings.set(key, value).unwrap();
    }
    PretrainingRequest {
        encoder,
        base: "base".to_owned(),
        corpora: vec![corpus("news", ["PER", "LOC"], 40), corpus("novels", ["person", "place"], 16)],
        labels: LabelMap::default(),
        settings,
        output: output.to_owned(),
    }
}

fn small(dir: &Path) -> Encoder {
    Encoders::at(dir).get(SMALL).unwrap()
}

fn tiny() -> Encoder {
    Encoder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert")).unwrap()
}

fn run(request: &PretrainingRequest) -> Result<Record, PretrainError> {
    pretrain(request, &AtomicBool::new(false), &mut |_| {})
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

fn labels(record: &Record) -> Vec<(&str, usize)> {
    record.labels.iter().map(|label| (label.name.as_str(), label.mentions)).collect()
}

fn largest_difference(a: &Encoder, b: &Encoder, name: &str) -> f32 {
    let difference = (&a.weights()[name] - &b.weights()[name]).unwrap().abs().unwrap();
    difference.flatten_all().unwrap().max(0).unwrap().to_scalar().unwrap()
}

#[test]
fn an_encoder_is_trained_on_all_corpora_and_written_as_encoders_are() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("made/encoder");
    let record = run(&request(small(dir.path()), &output)).unwrap();
    assert_eq!(labels(&record), [("news:LOC", 24), ("news:PER", 24), ("novels:person", 16), ("novels:place", 16)]);
    let counts =
        |i: usize| (record.corpora[i].name.as_str(), record.corpora[i].sentences, record.corpora[i].of_sentences);
    assert_eq!((counts(0), counts(1), record.sentences), (("news", 24, 40), ("novels", 16, 16), 40));
    let unlearnt = (record.corpora[1].discontinuous_mentions, record.too_wide_mentions, record.doubled_mentions);
    assert_eq!(unlearnt, (8, 0, 0));
    let losses = &record.losses;
    assert!(losses.len() == 4 && losses[3] < 0.8 * losses[0], "{losses:?}");

    let made = Encoder::open(&output).unwrap();
    assert_eq!(made.parameters(), record.parameters);
    let written: Record = serde_json::from_slice(&std::fs::read(output.join("entities.json")).unwrap()).unwrap();
    assert_eq!(written, record);
    assert_eq!(std::fs::read_dir(dir.path().join("made")).unwrap().count(), 1, "nothing else is left");
    let info = Encoders::at(dir.path()).import(&output, "entities").unwrap();
    assert_eq!(info.name, "entities");
    assert!(Encoders::at(dir.path()).is_pretrained("entities"));
}

#[test]
fn the_same_call_writes_the_same_bytes_at_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let made = ["one", "three", "other"].map(|name| dir.path().join(name));
    for (output, (threads, seed)) in made.iter().zip([("1", "7"), ("3", "7"), ("1", "8")]) {
        let mut request = request(tiny(), output);
        request.settings.set("threads", threads).unwrap();
        request.settings.set("seed", seed).unwrap();
        run(&request).unwrap();
    }
    let [one, three, other] = made.map(|output| files(&output));
    assert!(one == three && one != other);
}

#[test]
fn labels_are_merged_where_every_corpus_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let table = |text: &str| LabelMap::read(text, Path::new("labels.tsv")).unwrap();
    let merged = table("*\tPER\tperson\nnovels\tperson\tperson\n");
    let request =
        |labels: LabelMap, name: &str| PretrainingRequest { labels, ..request(tiny(), &dir.path().join(name)) };
    let record = run(&request(merged.clone(), "merged")).unwrap();
    assert_eq!(labels(&record), [("news:LOC", 24), ("novels:place", 16), ("person", 40)]);

    let mut lacking = request(merged, "lacking");
    lacking.corpora.push(corpus("cells", ["protein", "cell"], 8));
    let message = run(&lacking).unwrap_err().to_string();
    assert!(message.contains("merges \"person\"") && message.contains("cells has no such label"), "{message}");
    lacking.labels = table("news\tPER\tperson\nnews\tLOC\tperson\n");
    let record = run(&lacking).unwrap();
    assert_eq!(labels(&record)[4], ("person", 48), "labels of one corpus may be merged");
}

#[test]
fn a_compact_encoder_keeps_its_table_as_it_was_rounded() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(tiny(), &dir.path().join("compact"));
    request.settings.set("compact", "true").unwrap();
    let record = run(&request).unwrap();
    assert!(record.compact && record.settings["effort"] == "top");
    assert!(!request.output.join("model.safetensors").exists());
    let (made, rounded) = (Encoder::open(&request.output).unwrap(), tiny().rounded().unwrap());
    assert_eq!(largest_difference(&made, &rounded, "embeddings.word_embeddings.weight"), 0.0);
    assert!(largest_difference(&made, &rounded, "encoder.layer.0.attention.self.query.weight") > 0.0);
    request.encoder = small(dir.path());
    request.output = dir.path().join("none");
    assert!(matches!(run(&request), Err(PretrainError::NotPretrained)));
}

#[test]
fn what_can_t_be_learnt_from_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("encoder");
    let refused = |change: &dyn Fn(&mut PretrainingRequest)| {
        let mut request = request(tiny(), &output);
        change(&mut request);
        let message = run(&request).unwrap_err().to_string();
        assert!(!output.exists());
        message
    };
    assert_eq!(
        refused(&|r| r.corpora[1].sentences.iter_mut().for_each(|sentence| sentence.mentions.clear())),
        "no entity is marked in the 16 sentences of novels, so there is nothing to learn from it; leave this corpus out, or \
         name a file with annotations"
    );
    assert!(refused(&|r| r.corpora[0].sentences.clear()).contains("no sentence of news is complete"));
    assert!(refused(&|r| r.corpora[0].name = "novels".to_owned()).contains("NAME=PATH"));
    assert!(refused(&|r| r.corpora.clear()).contains("no corpus to learn from"));

    let stopped = pretrain(&request(tiny(), &output), &AtomicBool::new(true), &mut |_| {});
    assert!(matches!(stopped, Err(PretrainError::Train(TrainError::Cancelled))) && !output.exists());
    std::fs::create_dir(&output).unwrap();
    assert!(matches!(run(&request(tiny(), &output)), Err(PretrainError::Exists(_))));
}
