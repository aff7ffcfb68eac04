//! Against PyTorch's numbers, made by `tests/fixtures/learner/make_reference.py`; what a folder may look like.

mod broken;
mod kinds;
mod other_program;
mod plain_kinds;
mod spaces;
mod spans;
mod two_ways;

use super::*;
use crate::nn::{
    Gradients, Mode, Operations, ParameterGroup, Rng, Vars, as_slice, read_tensors, select_rows, write_tensors,
};
use candle_core::{Device, Tensor};
use expect_test::expect;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner")
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn built(encoder: &Encoder) -> (Vars, Bert) {
    let mut vars = Vars::trainable(1, &Device::Cpu);
    vars.stock(encoder.weights().iter().map(|(name, t)| (format!("e.{name}"), t.clone())));
    let bert =
        Bert::new(vars.scope("e", ParameterGroup::Encoder), encoder.definition().config(), Learning::All, 0.0).unwrap();
    (vars, bert)
}

fn greatest(x: &Tensor) -> f32 {
    x.abs().unwrap().max_all().unwrap().to_scalar().unwrap()
}

fn batch(encoder: &Encoder, sentences: &[Vec<String>]) -> EncoderBatch {
    let (subwords, config) = (encoder.definition().subwords(), encoder.definition().config());
    let alignments: Vec<_> = sentences.iter().map(|s| subwords.align(s, config.usable_positions()).unwrap()).collect();
    EncoderBatch::new(&alignments.iter().collect::<Vec<_>>(), subwords.pieces())
}

/// `[B, T, …]` to `[N, …]`.
fn without_padding(batch: &EncoderBatch, x: &Tensor) -> Tensor {
    let rows = batch.windows().iter().enumerate().map(|(i, rows)| x.get(i).unwrap().narrow(0, 0, rows.len()).unwrap());
    Tensor::cat(&rows.collect::<Vec<_>>(), 0).unwrap().contiguous().unwrap()
}

/// Hidden states as they are predicted.
fn predicted(bert: &Bert, batch: &EncoderBatch) -> Tensor {
    bert.forward(batch, Start::Words, &mut Mode::Predict, &mut Tape::default()).unwrap()
}

/// Words of the fixture: subwords within and without the vocabulary, one that vanishes, one that is cut by punctuation.
fn reference_sentences() -> [Vec<String>; 2] {
    [words("The mayors of Aarhus met ."), words("Boxe-sea \u{200b} qqq")]
}

#[test]
fn subwords_hidden_states_and_gradients_are_pytorch_s() {
    let reference = read_tensors(&fixtures().join("reference.safetensors")).unwrap();
    let encoder = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    let batch = batch(&encoder, &reference_sentences());
    let ids = without_padding(&batch, &reference["ids"].unsqueeze(2).unwrap());
    let ids: Vec<i64> = ids.flatten_all().unwrap().to_vec1().unwrap();
    assert_eq!(batch.ids().iter().map(|id| i64::from(*id)).collect::<Vec<_>>(), ids);

    let (vars, bert) = built(&encoder);
    // No unit is dropped, but what a backward pass needs is kept.
    let (mut rng, mut tape, mut gradients) = (Rng::new(1, "none"), Tape::default(), Gradients::default());
    let hidden = bert.forward(&batch, Start::Words, &mut Mode::Train(&mut rng), &mut tape).unwrap();
    let off = greatest(&(&hidden - without_padding(&batch, &reference["hidden"])).unwrap());
    assert!(off < 5e-6, "hidden states are off by {off}");
    let factors = without_padding(&batch, &reference["factors"]);
    bert.backward(&batch, &mut tape, &as_slice(&factors).unwrap(), &mut gradients).unwrap();
    assert_eq!(vars.iter().count(), 5 + 2 * 16);
    for (name, variable) in vars.iter() {
        let expected = &reference[&name.replacen("e.", "grad.", 1)];
        let got = gradients.dense(variable.var.as_tensor()).unwrap();
        let got = Tensor::from_vec(got, expected.dims(), &Device::Cpu).unwrap();
        let (off, size) = (greatest(&(got - expected).unwrap()), greatest(expected));
        // A key bias shifts all scores of a row alike: its gradient is rounding noise around 0.
        assert!(size > 1e-2 || name.ends_with("key.bias"), "{name}: {size}");
        assert!(off < 5e-6 * size.max(1.0), "the gradient of {name} is off by {off} of {size}");
    }
}

#[test]
fn word_ends_are_the_first_and_the_last_subword() {
    let encoder = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    let sentences = reference_sentences();
    let batch = batch(&encoder, &sentences);
    assert_eq!(batch.sentences(), [0..6, 6..9]);
    let (_, bert) = built(&encoder);
    let encoded = batch.encoded(predicted(&bert, &batch)).unwrap();
    let ends = encoded.ends().unwrap();
    let (first, last) = (ends.narrow(0, 0, 9).unwrap(), ends.narrow(0, 9, 9).unwrap());
    let row = |x: &Tensor, i: usize| x.get(i).unwrap().to_vec1::<f32>().unwrap();
    let at = |window: usize, position: usize| row(encoded.hidden(), batch.windows()[window].start + position);
    // [CLS] the may ##or ##s of aar ##hus met . [SEP] and [CLS] box ##e - sea [UNK] [UNK] [SEP]
    assert_eq!((row(&first, 1), row(&last, 1)), (at(0, 2), at(0, 4)));
    assert_eq!((row(&first, 3), row(&last, 3)), (at(0, 6), at(0, 7)));
    assert_eq!((row(&first, 6), row(&last, 6)), (at(1, 1), at(1, 4)));
    assert_eq!((row(&first, 7), row(&last, 8)), (at(1, 5), at(1, 6)));
}

#[test]
fn a_long_sentence_keeps_all_words_and_company_changes_nothing() {
    let encoder = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    let long: Vec<String> = (0..200).map(|i| ["red", "mayors", "of", "sea"][i % 4].to_owned()).collect();
    let short = words("the box");
    let (_, bert) = built(&encoder);
    let ends = |sentences: &[Vec<String>]| {
        let batch = batch(&encoder, sentences);
        let ends = batch.encoded(predicted(&bert, &batch)).unwrap().ends().unwrap();
        let words = ends.dims()[0] / 2;
        ends.narrow(0, words, words).unwrap()
    };
    let (together, alone) = (ends(&[long.clone(), short.clone()]), ends(&[short]));
    assert_eq!(together.dims2().unwrap(), (202, 32));
    let off = greatest(&(together.narrow(0, 200, 2).unwrap() - alone).unwrap());
    assert!(off < 1e-6, "{off}");
    assert_eq!(ends(&[long]).dims2().unwrap(), (200, 32));
}

#[test]
fn rows_of_a_word_are_its_subwords_and_marks_those_of_its_window() {
    let encoder = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    let long: Vec<String> = (0..200).map(|i| ["red", "mayors", "of", "Aarhus"][i % 4].to_owned()).collect();
    let sentences = [words("the box"), long];
    let batch = batch(&encoder, &sentences);
    let (rows, [cls, sep]) = (batch.words(), [batch.ids()[0], batch.ids()[batch.windows()[0].end - 1]]);
    assert_eq!((rows.words(), rows.sentences(), batch.windows().len() > 10), (202, &[0..2, 2..202][..], true));
    let subwords = rows.subwords();
    // red, may ##or ##s, of, aar ##hus
    let counts: Vec<usize> = subwords.iter().map(ExactSizeIterator::len).collect();
    assert_eq!(counts[2..], [1, 3, 1, 2].repeat(50));
    let ids = |word: usize| &batch.ids()[subwords[word].clone()];
    for (word, own) in subwords.iter().enumerate().skip(2) {
        assert_eq!(ids(word), ids(2 + (word - 2) % 4), "the same word has the same subwords in any window");
        let window = batch.windows().iter().find(|window| window.contains(&own.start)).unwrap();
        assert!(window.end >= own.end, "all of them in one window");
        assert_eq!([rows.cls()[word], rows.sep()[word]], [window.start as u32, window.end as u32 - 1]);
        assert_eq!([rows.cls()[word], rows.sep()[word]].map(|row| batch.ids()[row as usize]), [cls, sep]);
        assert_eq!([rows.first()[word] as usize, rows.last()[word] as usize + 1], [own.start, own.end]);
    }
    let ends = |first: usize, last: usize| [batch.windows()[first].start as u32, batch.windows()[last].end as u32 - 1];
    assert_eq!(rows.marks(), [ends(0, 0), ends(1, batch.windows().len() - 1)]);

    // What is made of a word does not depend on how its sentence is divided.
    let (subwords, config) = (encoder.definition().subwords(), encoder.definition().config());
    let whole = subwords.align(&sentences[1], config.usable_positions()).unwrap();
    let (_, bert) = built(&encoder);
    let made = |alignment: &Alignment| {
        let batch = EncoderBatch::new(&[alignment], subwords.pieces());
        let encoded = batch.encoded(predicted(&bert, &batch)).unwrap();
        let words = encoded.max_of_subwords(encoded.hidden(), Operations::ByHand).unwrap();
        let marks = select_rows(encoded.hidden(), encoded.words().cls()).unwrap();
        Tensor::cat(&[words, marks], 1).unwrap().to_vec2::<f32>().unwrap()
    };
    assert!(made(&whole)[60..140] == made(&whole.part(60..140)));
}

#[test]
fn static_vectors_are_rows_of_the_table() {
    for folder in ["tiny-bert", "tiny-electra-narrow"] {
        let encoder = Encoder::open(&fixtures().join(folder)).unwrap();
        let (batch, (_, bert)) = (batch(&encoder, &reference_sentences()), built(&encoder));
        let vectors = plain::static_vectors(bert.word_table(), &batch).unwrap();
        let table = encoder.weights()["embeddings.word_embeddings.weight"].to_vec2::<f32>().unwrap();
        let expected: Vec<&Vec<f32>> = batch.ids().iter().map(|id| &table[*id as usize]).collect();
        assert_eq!(vectors.to_vec2::<f32>().unwrap().iter().collect::<Vec<_>>(), expected, "{folder}");
        let network = Network::from(bert);
        let (embedding, hidden) = (network.embedding(), network.hidden());
        assert_eq!((Layers::Static.width(&network), Layers::Last.width(&network)), (embedding, hidden));
        assert_eq!((table[0].len(), embedding == hidden), (embedding, folder == "tiny-bert"));
        assert!(vectors.sum_all().unwrap().backward().unwrap().get(network.word_table()).is_none());
    }
}

#[test]
fn case_is_seen_or_not() {
    assert!(Encoder::open(&fixtures().join("tiny-bert")).unwrap().definition().is_uncased());
    let cased =
        changed(|dir| std::fs::write(dir.join("tokenizer_config.json"), r#"{"do_lower_case": false}"#).unwrap());
    let cased = Encoder::open(cased.path()).unwrap();
    assert!(!cased.definition().is_uncased());
    assert_eq!(cased.definition().files().count(), 3);
}

/// A copy of the fixture whose words all stand after a space, as the libraries of Hugging Face take them.
fn spaced(kind: &str) -> tempfile::TempDir {
    let said = r#"{"spaces": "before every word"}"#;
    changed_kind(kind, |dir| std::fs::write(dir.join("nestling-words.json"), said).unwrap())
}

/// A copy of the fixture with something done to it.
fn changed(change: impl FnOnce(&Path)) -> tempfile::TempDir {
    changed_kind("tiny-bert", change)
}

fn changed_kind(kind: &str, change: impl FnOnce(&Path)) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(fixtures().join(kind)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    change(dir.path());
    dir
}

fn with_weights(dir: &Path, change: impl FnOnce(&mut BTreeMap<String, Tensor>)) {
    let path = dir.join("model.safetensors");
    let mut tensors = read_tensors(&path).unwrap().into_iter().collect();
    change(&mut tensors);
    write_tensors(&path, &tensors).unwrap();
}

#[test]
fn names_of_before_are_understood() {
    let dir = changed(|dir| {
        with_weights(dir, |t| {
            *t = std::mem::take(t)
                .into_iter()
                .map(|(name, tensor)| {
                    (name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"), tensor)
                })
                .collect();
        });
    });
    assert_eq!(Encoder::open(dir.path()).unwrap().weights().len(), 37);
}

#[test]
fn the_registry_imports_lists_and_removes() {
    let home = tempfile::tempdir().unwrap();
    let encoders = Encoders::at(home.path());
    let names = || encoders.list().unwrap().into_iter().map(|i| (i.name, i.problem.is_some())).collect::<Vec<_>>();
    let built_in: Vec<_> = built_in::names().map(|name| (name.to_owned(), false)).collect();
    assert_eq!(names(), built_in);
    let info = encoders.import(&fixtures().join("tiny-bert"), "tiny").unwrap();
    assert_eq!((info.hidden, info.layers, info.weights_bytes), (32, 2, 84_260));
    assert_eq!(encoders.get("tiny").unwrap().weights().len(), 37);
    assert!(encoders.get("small").unwrap().weights().is_empty());

    std::fs::create_dir(home.path().join("encoders/broken")).unwrap();
    assert_eq!(names()[built_in.len()..], [("broken".to_owned(), true), ("tiny".to_owned(), false)]);

    let message = |result: Result<EncoderInfo, EncoderError>| result.unwrap_err().to_string();
    let import = |name: &str| encoders.import(&fixtures().join("tiny-bert"), name);
    expect![[r#"there is already an encoder "tiny"; choose another name, or remove it first"#]]
        .assert_eq(&message(import("tiny")));
    for (name, _) in &built_in {
        assert!(matches!(import(name), Err(EncoderError::BuiltIn(_))));
        assert!(matches!(import(&name.to_uppercase()), Err(EncoderError::BuiltIn(_))));
        assert!(matches!(encoders.remove(name), Err(EncoderError::BuiltIn(_))));
    }
    for bad in ["", "../up", ".hidden", "a/b", "nul.x", "dot.", "ä"] {
        assert!(matches!(import(bad), Err(EncoderError::BadName(_))), "{bad}");
    }
    assert!(encoders.import(home.path(), "empty").is_err());
    assert_eq!(std::fs::read_dir(home.path().join("encoders")).unwrap().count(), 2, "nothing is left behind");

    encoders.remove("tiny").unwrap();
    let there = built_in::names().collect::<Vec<_>>().join(", ");
    let expected = format!("there is no encoder \"tiny\"; there are: {there}, broken");
    assert_eq!(encoders.get("tiny").unwrap_err().to_string(), expected);
}

#[test]
fn the_built_in_encoder_has_read_english_and_is_small() {
    let encoder = Encoders::at(Path::new("nowhere")).get("english").unwrap();
    assert_eq!(encoder.weights().len(), 5 + 16 * encoder.definition().config().layers);
    assert!(encoder.definition().is_uncased());
    // What an encoder has learned: words of one kind are nearer to each other than to others.
    let vectors = |sentence: &str| {
        let batch = batch(&encoder, &[words(sentence)]);
        let (_, bert) = built(&encoder);
        let ends = batch.encoded(predicted(&bert, &batch)).unwrap().ends().unwrap();
        ends.get(2).unwrap().to_vec1::<f32>().unwrap()
    };
    let [london, paris, green] = ["He likes London .", "He likes Paris .", "He likes green ."].map(vectors);
    let cosine = |a: &[f32], b: &[f32]| {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    let (near, far) = (cosine(&london, &paris), cosine(&london, &green));
    assert!(near > far + 0.1, "{near} {far}");
    let english = Encoders::at(Path::new("nowhere")).list().unwrap().swap_remove(0);
    assert!(english.name == ENGLISH && english.weights_bytes < 10_000_000);
}
