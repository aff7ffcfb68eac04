//! Distillation from a fixture: the student learns, comes out the same whatever happens on the way, and is an encoder like
//! any other.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on fails")]

use nestling::distill::{Config, DistillError, DistillationRequest, Event, Record, distill};
use nestling::encoder::{Cut, Encoder};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn teacher() -> Encoder {
    Encoder::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert")).unwrap()
}

/// Words of the fixture's vocabulary and others, in sentences of different lengths.
fn sentences(count: usize) -> Vec<Vec<String>> {
    let list = teacher().definition().subwords().list();
    let words: Vec<&String> = list.iter().filter(|w| w.chars().all(char::is_alphanumeric)).collect();
    let word = |i: usize| words[i * 7919 % words.len()].clone();
    (0..count).map(|s| (0..3 + s % 9).map(|i| word(s * 31 + i * i)).collect()).collect()
}

fn request(output: &Path) -> DistillationRequest {
    let config = Config { layers: Some(1), inner: Some(8), epochs: 8, batch_size: 8, rate: 3e-3, ..Config::default() };
    let (teacher_name, output) = ("tiny-bert".to_owned(), output.to_owned());
    DistillationRequest {
        teacher: teacher(),
        teacher_name,
        texts: vec![sentences(120)],
        config,
        output,
        resume: false,
        pace_secs: 3600,
    }
}

fn run(request: &DistillationRequest) -> Result<Record, DistillError> {
    distill(request, &AtomicBool::new(false), &mut |_| {})
}

fn weights(folder: &Path) -> Vec<(String, Vec<f32>)> {
    let encoder = Encoder::open(folder).unwrap();
    let values =
        |(name, t): (&String, &candle_core::Tensor)| (name.clone(), t.flatten_all().unwrap().to_vec1().unwrap());
    let mut all: Vec<(String, Vec<f32>)> = encoder.weights().iter().map(values).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn a_student_comes_near_its_teacher() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("made/student");
    let record = run(&request(&output)).unwrap();
    assert_eq!((record.layers, record.inner, record.errors.len(), record.held_out), (1, 8, 9, 2));
    let (before, after) = (record.errors[0], record.errors[8]);
    assert!(after < 0.5 * before, "{:?}", record.errors);
    let student = Encoder::open(&output).unwrap();
    assert_eq!(student.definition().config().layers, 1);
    let table = "embeddings.word_embeddings.weight";
    let same = (&student.weights()[table] - &teacher().weights()[table]).unwrap().abs().unwrap().max_all().unwrap();
    assert_eq!(same.to_scalar::<f32>().unwrap(), 0.0, "tables stay as they are");
    let written: Record = serde_json::from_slice(&std::fs::read(output.join("distilled.json")).unwrap()).unwrap();
    assert_eq!(written, record);
    assert_eq!(std::fs::read_dir(dir.path().join("made")).unwrap().count(), 1, "no checkpoint is left");
    assert!(matches!(run(&request(&output)), Err(DistillError::Exists(_))));
}

#[test]
fn a_teacher_of_other_blocks_is_refused() {
    for (kind, name) in [("tiny-modernbert", "ModernBERT"), ("tiny-deberta-v3", "DeBERTa")] {
        let dir = tempfile::tempdir().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner").join(kind);
        let request =
            DistillationRequest { teacher: Encoder::open(&folder).unwrap(), ..request(&dir.path().join("student")) };
        let message = run(&request).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("choose"), "{message}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[test]
fn neither_threads_nor_an_interruption_change_the_student() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = ["one", "three", "broken-off"].map(|name| dir.path().join(name));
    let mut scored = Vec::new();
    for (output, threads) in outputs.iter().zip([1, 3]) {
        let mut request = request(output);
        request.config.threads = Some(threads);
        scored.push(run(&request).unwrap().errors);
    }
    let expected = weights(&outputs[0]);
    assert!(weights(&outputs[1]) == expected, "threads");

    let mut request = request(&outputs[2]);
    let mut stops = 0;
    loop {
        let cancel = AtomicBool::new(false);
        // In the middle of the second epoch, then just before the end.
        let stop_at = [20, 119, usize::MAX][stops];
        let result = distill(&request, &cancel, &mut |event| {
            if matches!(event, Event::Progress { step, .. } if step >= stop_at) {
                cancel.store(true, Ordering::Relaxed);
            }
        });
        match result {
            Ok(record) => {
                scored.push(record.errors);
                break;
            }
            Err(DistillError::Interrupted(_)) => (stops, request.resume) = (stops + 1, true),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(scored[1] == scored[0] && scored[2] == scored[0], "{scored:?}");
    assert!(stops == 2 && weights(&outputs[2]) == expected, "an interruption");
}

#[test]
fn a_compact_student_with_a_part_of_the_vocabulary_is_an_encoder_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(&dir.path().join("student"));
    let all = teacher().definition().config().vocabulary;
    (request.config.vocabulary, request.config.compact, request.config.last) = (Some(all / 2), true, Some(2));
    let record = run(&request).unwrap();
    assert!(record.vocabulary <= all / 2 && record.errors[8] < record.errors[0], "{record:?}");
    let student = Encoder::open(&request.output).unwrap();
    assert_eq!(student.definition().config().vocabulary, record.vocabulary);
    assert!(!request.output.join("model.safetensors").exists());
    let alignment = student.definition().subwords().align(&sentences(1)[0], 32).unwrap();
    assert_eq!(alignment.words().len(), 3);
}

#[test]
fn a_unigram_vocabulary_is_cut_by_language() {
    let fixture = |kind| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner").join(kind);
    let dir = tempfile::tempdir().unwrap();
    let sentences = |text: &str| vec![text.split(' ').map(str::to_owned).collect::<Vec<_>>(); 30];
    let mut request = request(&dir.path().join("student"));
    request.teacher = Encoder::open(&fixture("tiny-xlm-roberta")).unwrap();
    request.texts = vec![sentences("the mayor , by the sea"), sentences("lamp of Aarhus")];
    (request.config.vocabulary, request.config.compact, request.config.text_weight) = (Some(60), true, 1.0);
    let record = run(&request).unwrap();
    assert!(record.vocabulary == 60 && record.errors[8] < record.errors[0], "{record:?}");
    let student = Encoder::open(&request.output).unwrap();
    let [kept, all] = [&student, &request.teacher].map(|encoder| encoder.definition().subwords().list());
    assert!(kept.iter().all(|piece| all.contains(piece)) && all.len() > 60);
    for used in ["<s>", "<pad>", "</s>", "<unk>", ",", "\u{2581}the", "\u{2581}ma"] {
        assert!(kept.iter().any(|piece| piece == used), "{used}: {kept:?}");
    }
    let read = |encoder: &Encoder| encoder.definition().subwords().align(&request.texts[0][0], 32).unwrap();
    assert_eq!(read(&student).positions(), read(&request.teacher).positions(), "its words are taken apart as before");

    // The teacher reads with the same pieces: it is as if it had no others.
    let number = |piece: &String| all.iter().position(|other| other == piece).unwrap() as u32;
    let config = request.teacher.definition().config();
    let blocks = (0..config.layers).map(|block| (block, (0..config.inner as u32).collect())).collect();
    let cut = request.teacher.cut(&Cut { blocks, subwords: Some(kept.iter().map(number).collect()) }).unwrap();
    let mut of_cut = request.clone();
    (of_cut.teacher, of_cut.config.vocabulary, of_cut.output) = (cut, None, dir.path().join("of-cut"));
    assert_eq!(run(&of_cut).unwrap().errors, record.errors);
    assert_eq!(weights(&of_cut.output), weights(&request.output));

    // Which sentences are of one language is a part of what is resumed.
    let mut cancelled = request.clone();
    cancelled.output = dir.path().join("other");
    let cancel = AtomicBool::new(false);
    let stop = &mut |event| cancel.store(matches!(event, Event::Progress { step: 2.., .. }), Ordering::Relaxed);
    assert!(matches!(distill(&cancelled, &cancel, stop), Err(DistillError::Interrupted(_))));
    cancelled.resume = true;
    cancelled.texts = vec![cancelled.texts.concat()];
    assert!(matches!(run(&cancelled), Err(DistillError::OtherDistillation(_))));
}

#[test]
fn what_can_t_be_done_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("student");
    let with = |change: &dyn Fn(&mut DistillationRequest)| {
        let mut request = request(&output);
        change(&mut request);
        let error = run(&request).unwrap_err();
        assert!(!output.exists());
        error
    };
    assert!(matches!(with(&|r| r.texts[0].truncate(19)), DistillError::TooLittleText(19)));
    assert!(matches!(with(&|r| r.resume = true), DistillError::NothingToResume(_)));
    assert!(matches!(with(&|r| r.config.rate = f64::NAN), DistillError::NotFinite(_)));
    let message = with(&|r| r.config.layers = Some(7)).to_string();
    assert_eq!(message, "layers can't be \"7\"; it takes a number from 1 to 2 with this teacher");
    let without = teacher().with_weights(std::collections::HashMap::new());
    assert!(matches!(with(&|r| r.teacher = without.clone()), DistillError::NotPretrained));

    // A checkpoint of another one is not gone on with, and one that is there is not written over.
    let cancel = AtomicBool::new(false);
    let stop = &mut |event: Event| cancel.store(matches!(event, Event::Progress { step: 5.., .. }), Ordering::Relaxed);
    assert!(matches!(distill(&request(&output), &cancel, stop), Err(DistillError::Interrupted(_))));
    assert!(matches!(with(&|_| {}), DistillError::Unfinished(_)));
    assert!(matches!(with(&|r| (r.resume, r.config.rate) = (true, 1e-3)), DistillError::OtherDistillation(_)));
    let checkpoint = dir.path().join("student.unfinished");
    std::fs::write(&checkpoint, b"nothing").unwrap();
    assert!(matches!(with(&|r| r.resume = true), DistillError::Damaged { .. }));
}
