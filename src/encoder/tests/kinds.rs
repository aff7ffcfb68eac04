//! Each kind of encoder against transformers (`tests/fixtures/learner/make_kinds.py`), and its files.

use super::{batch, built, changed_kind, fixtures, greatest, predicted, spaced, without_padding, words};
use crate::encoder::{Definition, Encoder, Encoders, Start, Tape};
use crate::nn::{Gradients, Mode, Rng, as_slice, read_tensors};
use candle_core::Tensor;
use expect_test::expect;
use serde_json::Value;
use std::path::Path;

const KINDS: [&str; 5] = ["tiny-roberta", "tiny-xlm-roberta", "tiny-distilbert", "tiny-electra", "tiny-electra-narrow"];

/// The words of the script.
fn sentences() -> [Vec<String>; 3] {
    [
        words("The mayor of Aarhus did n't agree ."),
        words("Zürich , co-operation ( 1,204 ) harbours \u{201c}Åland\u{201d} …"),
        words("北京 emoji🦀 e\u{301}te\u{301} _x A.B.C. Ἀθῆναι ½ $5"),
    ]
}

fn numbers(tensor: &Tensor) -> Vec<Vec<i64>> {
    tensor.to_vec2().unwrap()
}

#[test]
fn subwords_words_and_hidden_states_are_those_of_transformers() {
    for kind in KINDS {
        let folder = fixtures().join(kind);
        let reference = read_tensors(&folder.join("reference.safetensors")).unwrap();
        let encoder = Encoder::open(spaced(kind).path()).unwrap();
        let sentences = sentences();
        let (subwords, config) = (encoder.definition().subwords(), encoder.definition().config());
        let (ids, word_ids) = (numbers(&reference["ids"]), numbers(&reference["words"]));
        for ((sentence, ids), word_ids) in sentences.iter().zip(&ids).zip(&word_ids) {
            let alignment = subwords.align(sentence, config.usable_positions()).unwrap();
            let [window] = alignment.windows() else { panic!("{kind}: several windows") };
            let got: Vec<i64> = window.ids.iter().map(|id| i64::from(*id)).collect();
            assert_eq!(got, ids[..window.positions], "{kind}");
            let place = |word: usize| {
                let is_of = |of: &i64| *of == word as i64;
                (word_ids.iter().position(is_of).unwrap(), word_ids.iter().rposition(is_of).unwrap())
            };
            let expected: Vec<_> = (0..sentence.len()).map(place).collect();
            assert_eq!(alignment.words().iter().map(|w| (w.first, w.last)).collect::<Vec<_>>(), expected, "{kind}");
        }
        let batch = batch(&encoder, &sentences);
        for (rows, word_ids) in batch.windows().iter().zip(&word_ids) {
            assert_eq!(rows.len(), word_ids.iter().rposition(|word| *word >= 0).unwrap() + 2);
        }
        let hidden = predicted(&built(&encoder).1, &batch);
        let off = greatest(&(hidden - without_padding(&batch, &reference["hidden"])).unwrap());
        assert!(off < 1e-5, "{kind}: hidden states are off by {off}");
    }
}

#[test]
fn variables_have_one_set_of_names_and_each_gets_a_gradient() {
    let bert = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    for kind in KINDS {
        let encoder = Encoder::open(&fixtures().join(kind)).unwrap();
        let (vars, module) = built(&encoder);
        let batch = batch(&encoder, &sentences());
        let (mut rng, mut tape, mut gradients) = (Rng::new(1, "none"), Tape::default(), Gradients::default());
        let hidden = module.forward(&batch, Start::Words, &mut Mode::Train(&mut rng), &mut tape).unwrap();
        let grad = hidden.sin().unwrap();
        module.backward(&batch, &mut tape, &as_slice(&grad).unwrap(), &mut gradients).unwrap();
        for (name, variable) in vars.iter() {
            let name = name.strip_prefix("e.").unwrap();
            let is_new = name.starts_with("embeddings_project.") && kind == "tiny-electra-narrow";
            assert!(is_new || bert.weights().contains_key(name), "{kind}: {name}");
            let gradient = gradients.dense(variable.var.as_tensor());
            assert!(gradient.is_some_and(|g| g.iter().any(|x| *x != 0.0)), "{kind}: {name} has no gradient");
        }
        let expected = match kind {
            "tiny-distilbert" => 36,
            "tiny-electra-narrow" => 39,
            _ => 37,
        };
        assert_eq!(vars.iter().count(), expected, "{kind}");
    }
}

#[test]
fn a_window_is_as_long_as_there_are_positions() {
    for kind in KINDS {
        let encoder = Encoder::open(&fixtures().join(kind)).unwrap();
        let config = encoder.definition().config();
        assert_eq!(config.max_positions, 64);
        assert_eq!(config.usable_positions(), if kind.ends_with("roberta") { 62 } else { 64 }, "{kind}");
        let long: Vec<String> = (0..90).map(|i| ["by", "the", "sea"][i % 3].to_owned()).collect();
        let batch = batch(&encoder, &[long]);
        assert!(batch.windows().len() > 1 && batch.longest() >= config.usable_positions() - 3, "{kind}");
        predicted(&built(&encoder).1, &batch);
    }
}

#[test]
fn a_definition_is_whole_by_its_files_alone() {
    for kind in KINDS {
        let definition = Definition::open(&fixtures().join(kind)).unwrap();
        let copy = tempfile::tempdir().unwrap();
        for (name, bytes) in definition.files() {
            std::fs::write(copy.path().join(name), bytes).unwrap();
        }
        let again = Definition::open(copy.path()).unwrap();
        assert_eq!(again.config(), definition.config());
        assert_eq!(again.is_uncased(), kind == "tiny-distilbert");
        let home = tempfile::tempdir().unwrap();
        let info = Encoders::at(home.path()).import(&fixtures().join(kind), "copy").unwrap();
        assert_eq!((info.hidden, info.layers, info.problem), (32, 2, None));
    }
}

/// The two files that RoBERTa had before tokenizer.json.
fn with_merges(folder: &Path) {
    let path = folder.join("tokenizer.json");
    let json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let merges = json["model"]["merges"].as_array().unwrap().iter().map(|pair| {
        let side = |i: usize| pair[i].as_str().unwrap();
        format!("{} {}\n", side(0), side(1))
    });
    std::fs::write(folder.join("merges.txt"), format!("#version: 0.2\n{}", merges.collect::<String>())).unwrap();
    std::fs::write(folder.join("vocab.json"), json["model"]["vocab"].to_string()).unwrap();
    std::fs::remove_file(path).unwrap();
}

#[test]
fn roberta_s_older_vocabulary_gives_the_same_subwords() {
    let now = Encoder::open(&fixtures().join("tiny-roberta")).unwrap();
    let folder = changed_kind("tiny-roberta", with_merges);
    let home = tempfile::tempdir().unwrap();
    let encoders = Encoders::at(home.path());
    encoders.import(folder.path(), "older").unwrap();
    let older = encoders.get("older").unwrap();
    for sentence in sentences() {
        let of = |encoder: &Encoder| encoder.definition().subwords().align(&sentence, 62).unwrap();
        assert_eq!(of(&older), of(&now));
    }
    assert_eq!(older.definition().files().count(), 3);
}

#[test]
fn a_bert_with_another_s_tokenizer_works() {
    // Multilingual MiniLM is BERT with the tokenizer of XLM-RoBERTa.
    let folder = changed_kind("tiny-xlm-roberta", |folder| {
        let path = folder.join("config.json");
        let json = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, json.replace("\"xlm-roberta\"", "\"bert\"")).unwrap();
    });
    let encoder = Encoder::open(folder.path()).unwrap();
    assert_eq!(encoder.definition().config().position_offset, 0);
    let batch = batch(&encoder, &sentences()[..1]);
    assert_eq!((batch.ids().first(), batch.ids().last()), (Some(&0), Some(&2)));
}

#[test]
fn a_file_without_a_model_type_is_known_by_its_class() {
    let folder = changed_kind("tiny-distilbert", |folder| {
        let path = folder.join("config.json");
        let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        json.as_object_mut().unwrap().remove("model_type");
        std::fs::write(path, json.to_string()).unwrap();
    });
    assert_eq!(Encoder::open(folder.path()).unwrap().weights().len(), 36);
}

#[test]
fn what_a_kind_lacks_is_called_as_in_its_files() {
    let refused = |kind: &str, change: &dyn Fn(&Path)| {
        let folder = changed_kind(kind, change);
        let message = Encoder::open(folder.path()).unwrap_err().to_string();
        message.replace(&folder.path().display().to_string(), "DIR").replace('\\', "/")
    };
    let remove = |name: &'static str| move |folder: &Path| std::fs::remove_file(folder.join(name)).unwrap();
    let replace = |from: &'static str, to: &'static str| {
        move |folder: &Path| {
            let path = folder.join("config.json");
            let json = std::fs::read_to_string(&path).unwrap();
            assert!(json.contains(from));
            std::fs::write(path, json.replace(from, to)).unwrap();
        }
    };
    expect![[r#"activation is "relu", but only "gelu" works here; choose another encoder: DIR/config.json"#]]
        .assert_eq(&refused("tiny-distilbert", &replace("\"gelu\"", "\"relu\"")));
    expect![[r#"the weight "transformer.layer.2.attention.q_lin.weight" is missing; choose a folder with all weights of the encoder: DIR/model.safetensors"#]].assert_eq(&refused("tiny-distilbert", &replace("\"n_layers\": 2", "\"n_layers\": 3")));
    expect![
        "dim 32 is not a multiple of n_heads 5; get the file again from where the encoder came from: DIR/config.json"
    ]
    .assert_eq(&refused("tiny-distilbert", &replace("\"n_heads\": 4", "\"n_heads\": 5")));
    expect![[r#"the weight "embeddings.word_embeddings.weight" has the shape [140, 16], but config.json says [140, 32]; get both files from the same encoder: DIR/model.safetensors"#]]
        .assert_eq(&refused("tiny-electra-narrow", &replace("\"embedding_size\": 16", "\"embedding_size\": 32")));
    expect!["max_position_embeddings is 64, expected a whole number from 74 to 1048576; get the file again from where the encoder came from: DIR/config.json"].assert_eq(&refused("tiny-roberta", &replace("\"pad_token_id\": 1", "\"pad_token_id\": 70")));
    expect!["an encoder folder needs tokenizer.json, and this one has none; get it, or vocab.json and merges.txt, from where the encoder came from: DIR"].assert_eq(&refused("tiny-roberta", &remove("tokenizer.json")));
    expect!["an encoder folder needs tokenizer.json, and this one has none; its vocabulary is SentencePiece's, which the Hugging Face libraries turn into tokenizer.json (AutoTokenizer.from_pretrained and save_pretrained): DIR"].assert_eq(&refused("tiny-xlm-roberta", &|folder| {
        std::fs::rename(folder.join("tokenizer.json"), folder.join("sentencepiece.bpe.model")).unwrap();
    }));
    expect!["the tokenizer can't be read (line 3 has no two subwords); get the file again from where the encoder came from: DIR/merges.txt"].assert_eq(&refused("tiny-roberta", &|folder| {
        with_merges(folder);
        std::fs::write(folder.join("merges.txt"), "#version: 0.2\nh e\nhe\n").unwrap();
    }));
    expect!["the tokenizer can't be read (expected an object with subwords and their numbers); get the file again from where the encoder came from: DIR/vocab.json"].assert_eq(&refused("tiny-roberta", &|folder| {
        with_merges(folder);
        std::fs::write(folder.join("vocab.json"), "[]").unwrap();
    }));
}
