//! Models that somebody has altered who knows how they are sealed: each is refused by the file and what is wrong in it.

use super::NEVER;
use crate::sealed::{copy, edit_manifest, reseal};
use candle_core::{DType, Device, Tensor};
use nestling::annotation::{LabelId, Span};
use nestling::encoder::Encoders;
use nestling::nn::{read_tensors, write_tensors};
use nestling::session::{Config, FilterRequest, Input, PredictOptions, filter};
use nestling::train::{Checkpoints, Dataset, Event, Example, Pace, Predictor, TrainError, TrainRequest, train};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A folder with a sound model, the checkpoint of an interrupted training, and the encoder of both.
pub(crate) struct Sound {
    dir: tempfile::TempDir,
}

impl Sound {
    /// Made once for all tests, which work on copies.
    pub(crate) fn get() -> &'static Self {
        static SOUND: OnceLock<Sound> = OnceLock::new();
        SOUND.get_or_init(|| {
            let sound = Self { dir: tempfile::tempdir().unwrap() };
            let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
            Encoders::at(sound.dir.path()).import(&tiny, "tiny").unwrap();
            train(&sound.request("model"), &NEVER, &mut |_| {}).unwrap();
            let request = TrainRequest {
                checkpoints: Some(Checkpoints { folder: sound.training(), pace: Pace::Steps(1) }),
                ..sound.request("unused")
            };
            // In a part with labels of the model's own, so that every kind of file is there.
            let (cancel, mut labelled) = (AtomicBool::new(false), 0);
            let stopped = train(&request, &cancel, &mut |event| match event {
                Event::LabelledItself { .. } => labelled += 1,
                Event::Kept { .. } => cancel.store(labelled == 2, Ordering::Relaxed),
                _ => {}
            });
            assert!(matches!(stopped, Err(TrainError::Cancelled)), "{stopped:?}");
            sound
        })
    }

    pub(crate) fn request(&self, name: &str) -> TrainRequest {
        let example = |i: usize| {
            let text = format!("{} met {} in Lund", ["Anna", "Bert", "Carla"][i % 3], ["Dora", "Emil"][i % 2]);
            let gold = [(0..1, 0), (2..3, 0), (4..5, 1)]
                .map(|(range, label)| (Span::from_range(range).unwrap(), LabelId(label)));
            Example { tokens: text.split(' ').map(str::to_owned).collect(), gold: gold.to_vec(), ..Example::default() }
        };
        let labels = vec![(LabelId(0), "PER".to_owned()), (LabelId(1), "LOC".to_owned())];
        let complete = Dataset::freeze(labels, (0..12).map(example).collect(), (12..34).map(example).collect());
        let dataset = complete.and_then(|data| data.with_unlabelled((34..40).map(|i| example(i).tokens).collect()));
        let (epochs, self_training, self_epochs) = (Some(2), Some(3), Some(2));
        let (batch_size, encoder, threads) = (6, "tiny".to_owned(), Some(1));
        let mut config =
            Config { epochs, self_training, self_epochs, batch_size, encoder, threads, ..Config::default() };
        config.set("max_width", "3").unwrap();
        TrainRequest::new(Arc::new(dataset.unwrap()), config, Encoders::at(self.dir.path()), self.dir.path().join(name))
    }

    pub(crate) fn model(&self) -> PathBuf {
        self.dir.path().join("model")
    }

    pub(crate) fn training(&self) -> PathBuf {
        self.dir.path().join("t.training")
    }
}

fn sentences() -> Vec<Vec<String>> {
    vec!["Anna met Emil in Lund".split(' ').map(str::to_owned).collect()]
}

pub(crate) fn predict(folder: &Path) -> Result<usize, TrainError> {
    let options = PredictOptions { use_heads: false, floor: 0.0, dropout_passes: 1, ..PredictOptions::default() };
    let said = Predictor::load(folder)?.predict(&sentences(), options, &NEVER)?;
    Ok(said.iter().map(|said| said.spans.len()).sum())
}

/// What is said of a model that was altered and sealed again.
fn refused(alter: impl FnOnce(&Path)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("m");
    copy(&Sound::get().model(), &folder);
    alter(&folder);
    reseal(&folder);
    predict(&folder).unwrap_err().to_string()
}

fn edit_json(folder: &Path, name: &str, edit: impl FnOnce(&mut Value)) {
    let path = folder.join(name);
    let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    edit(&mut json);
    std::fs::write(path, serde_json::to_vec(&json).unwrap()).unwrap();
}

fn edit_weights(folder: &Path, edit: impl FnOnce(&mut BTreeMap<String, Tensor>)) {
    let path = folder.join("weights.safetensors");
    let mut tensors: BTreeMap<String, Tensor> = read_tensors(&path).unwrap().into_iter().collect();
    edit(&mut tensors);
    write_tensors(&path, &tensors).unwrap();
}

const OUTPUT: &str = "head.span.output.weight";

#[test]
fn a_sound_model_predicts_for_anybody() {
    let model = Sound::get().model();
    assert!(predict(&model).unwrap() > 0);
    let request = FilterRequest {
        model: &model,
        threads: Some(1),
        predict: PredictOptions::default(),
        format: Some("text"),
        options: &[],
        name: "it",
    };
    let mut out = Vec::new();
    let input = Input::bytes("it", "Anna met Emil in Lund.").unwrap();
    assert_eq!(filter(&request, input, &mut out, &NEVER).unwrap().predicted.sentences, 1);
}

#[test]
fn weights_that_are_no_numbers_are_refused_by_name() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let said = refused(|folder| {
            edit_weights(folder, |tensors| {
                let (rows, width) = tensors[OUTPUT].dims2().unwrap();
                let mut values: Vec<f32> = tensors[OUTPUT].flatten_all().unwrap().to_vec1().unwrap();
                values[3] = value;
                tensors.insert(OUTPUT.to_owned(), Tensor::from_vec(values, (rows, width), &Device::Cpu).unwrap());
            });
        });
        assert!(said.contains(OUTPUT) && said.contains("weights.safetensors"), "{said}");
    }
}

#[test]
fn probabilities_that_are_no_numbers_are_an_error_and_not_silence() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("m");
    copy(&Sound::get().model(), &folder);
    edit_weights(&folder, |tensors| {
        for tensor in tensors.values_mut() {
            *tensor = (&*tensor * 1e36).unwrap();
        }
    });
    reseal(&folder);
    assert!(matches!(predict(&folder), Err(TrainError::NoProbabilities)), "{:?}", predict(&folder));
}

#[test]
fn weights_that_don_t_fit_are_refused_by_name() {
    let missing = refused(|folder| edit_weights(folder, |tensors| drop(tensors.remove(OUTPUT).unwrap())));
    assert!(missing.contains("lack") && missing.contains(OUTPUT), "{missing}");
    let other = || Tensor::zeros((2, 2), DType::F32, &Device::Cpu).unwrap();
    let extra = refused(|folder| edit_weights(folder, |tensors| drop(tensors.insert("head.more".to_owned(), other()))));
    assert!(extra.contains("head.more"), "{extra}");
    let shape = refused(|folder| edit_weights(folder, |tensors| drop(tensors.insert(OUTPUT.to_owned(), other()))));
    assert!(shape.contains(OUTPUT) && shape.contains("[2, 2]"), "{shape}");
    let of_type = refused(|folder| {
        edit_weights(folder, |tensors| {
            let halves = tensors[OUTPUT].to_dtype(DType::F16).unwrap();
            tensors.insert(OUTPUT.to_owned(), halves);
        });
    });
    assert!(of_type.contains(OUTPUT) && of_type.contains("F16"), "{of_type}");
}

#[test]
fn labels_that_don_t_fit_are_refused() {
    for (labels, word) in [
        (json!([{"id": 0, "name": "PER"}, {"id": 0, "name": "LOC"}]), "one number"),
        (json!([{"id": 0, "name": "PER"}, {"id": 1, "name": "PER"}]), "one name"),
        (json!([{"id": 0, "name": "PER"}, {"id": 1, "name": " "}]), "no name"),
        (json!([]), "no labels"),
        (json!([{"id": 0, "name": "PER"}]), "than its manifest says"),
        (json!([{"id": 0, "name": "PER"}, {"id": -1, "name": "LOC"}]), "labels.json"),
    ] {
        let said = refused(|folder| edit_json(folder, "labels.json", |json| *json = labels));
        assert!(said.contains(word), "{said}");
    }
    // Where the manifest agrees the output layer does not.
    let said = refused(|folder| {
        let labels = json!([{"id": 0, "name": "PER"}, {"id": 1, "name": "LOC"}, {"id": 2, "name": "ORG"}]);
        edit_json(folder, "labels.json", |json| *json = labels.clone());
        edit_manifest(folder, |manifest| drop(manifest.insert("labels".to_owned(), labels)));
    });
    assert!(said.contains("head.span.output"), "{said}");
}

#[test]
fn absurd_settings_are_refused_by_name() {
    let huge = json!(4_000_000_000_000_u64);
    for (key, value) in [
        ("max_width", huge.clone()),
        ("max_width", json!(0)),
        ("epochs", huge.clone()),
        ("batch_size", json!(0)),
        ("dropout", json!(7.5)),
        ("encoder_lr", json!(-1.0)),
        ("clip", json!(0.0)),
        ("threshold", json!(3.0)),
        ("self_training", huge.clone()),
        ("top_layers", huge),
    ] {
        let said = refused(|folder| edit_json(folder, "config.json", |json| json[key] = value));
        assert!(said.contains(&format!("the setting {key} is out of range")), "{said}");
    }
    let unknown = refused(|folder| edit_json(folder, "config.json", |json| json["architecture"] = json!("mine")));
    assert!(unknown.contains("mine") && unknown.contains("smartspanner"), "{unknown}");
    let other = refused(|folder| {
        edit_manifest(folder, |manifest| drop(manifest.insert("project".to_owned(), json!("../../x"))))
    });
    assert!(other.contains("project's id"), "{other}");
}

#[test]
fn counts_that_no_training_comes_to_are_refused() {
    let huge = json!(u64::MAX);
    for path in ["/train_sentences", "/parameters", "/samples/span/positive", "/dev/micro/tp"] {
        let said = refused(|folder| {
            edit_json(folder, "manifest.json", |json| *json.pointer_mut(path).unwrap() = huge.clone())
        });
        assert!(said.contains("manifest.json") && said.contains("a number in it"), "{path}: {said}");
    }
}

#[test]
fn an_encoder_of_other_sizes_is_refused() {
    for (key, value) in
        [("hidden_size", json!(16_384)), ("num_hidden_layers", json!(256)), ("vocab_size", json!(4_000_000))]
    {
        refused(|folder| edit_json(folder, "encoder/config.json", |json| json[key] = value));
    }
}

#[test]
fn files_that_are_missing_unnamed_or_no_files_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "{}").unwrap();
    for name in [
        "weights.safetensors",
        "config.json",
        "labels.json",
        "manifest.json",
        "encoder/config.json",
        "encoder/vocab.txt",
    ] {
        let missing = refused(|folder| std::fs::remove_file(folder.join(name)).unwrap());
        assert!(missing.contains(name), "{missing}");
        if name != "manifest.json" {
            let unnamed = refused(|folder| {
                edit_manifest(folder, |manifest| {
                    drop(manifest["sha256"].as_object_mut().unwrap().remove(name).unwrap())
                });
            });
            assert!(unnamed.contains(name) || unnamed.contains("encoder"), "{unnamed}");
        }
        #[cfg(unix)]
        for target in [secret.clone(), PathBuf::from("/dev/zero"), outside.path().to_owned()] {
            let link = refused(|folder| {
                std::fs::remove_file(folder.join(name)).unwrap();
                std::os::unix::fs::symlink(&target, folder.join(name)).unwrap();
            });
            assert!(link.contains(name), "{link}");
        }
        #[cfg(unix)]
        {
            let pipe = refused(|folder| {
                std::fs::remove_file(folder.join(name)).unwrap();
                let made = std::process::Command::new("mkfifo").arg(folder.join(name)).status();
                assert!(made.is_ok_and(|made| made.success()));
            });
            assert!(pipe.contains(name), "{pipe}");
        }
    }
    // A name that leads out is never opened: nothing of the program's has it.
    let folder = outside.path().join("m");
    copy(&Sound::get().model(), &folder);
    edit_manifest(&folder, |manifest| {
        manifest["sha256"].as_object_mut().unwrap().insert("../secret".to_owned(), json!("00"));
    });
    predict(&folder).unwrap();
}

#[test]
fn a_training_whose_numbers_run_away_says_so_and_leaves_no_model() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner/tiny-bert");
    let wild = dir.path().join("wild");
    copy(&tiny, &wild);
    let path = wild.join("model.safetensors");
    let tensors = read_tensors(&path).unwrap().into_iter();
    write_tensors(&path, &tensors.map(|(name, t)| (name, (t.to_dtype(DType::F32).unwrap() * 1e36).unwrap())).collect())
        .unwrap();
    let encoders = Encoders::at(&dir.path().join("home"));
    encoders.import(&wild, "wild").unwrap();
    let mut request = TrainRequest { encoders, snapshot: dir.path().join("model"), ..Sound::get().request("unused") };
    request.config.encoder = "wild".to_owned();
    request.checkpoints = Some(Checkpoints { folder: dir.path().join("t.training"), pace: Pace::Steps(1) });
    let stopped = train(&request, &NEVER, &mut |_| {});
    assert!(matches!(stopped, Err(TrainError::NotFinite { .. } | TrainError::NoProbabilities)), "{stopped:?}");
    assert!(!request.snapshot.exists());
}
