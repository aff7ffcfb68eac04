//! Folders that can't be used, and what is said of each.

use super::{changed, fixtures, with_weights};
use crate::encoder::{Encoder, EncoderError, Encoders};
use candle_core::{DType, Tensor};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::path::Path;

fn refused(change: impl FnOnce(&Path), want: Expect) {
    let dir = changed(change);
    let message = Encoder::open(dir.path()).unwrap_err().to_string();
    want.assert_eq(&message.replace(&dir.path().display().to_string(), "DIR").replace('\\', "/"));
    assert!(message.contains("; ") && message.contains(": "), "what to do, and the path last: {message}");
    // The registry says the same and keeps nothing.
    let home = tempfile::tempdir().unwrap();
    let imported = Encoders::at(home.path()).import(dir.path(), "broken").unwrap_err();
    assert_eq!(imported.to_string(), message);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

fn write(name: &'static str, content: impl AsRef<[u8]>) -> impl FnOnce(&Path) {
    move |dir| std::fs::write(dir.join(name), content).unwrap()
}

fn with_config(key: &'static str, value: impl Into<Value>) -> impl FnOnce(&Path) {
    let value = value.into();
    move |dir| {
        let path = dir.join("config.json");
        let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let fields = json.as_object_mut().unwrap();
        if value.is_null() {
            fields.remove(key);
        } else {
            fields.insert(key.to_owned(), value);
        }
        std::fs::write(path, json.to_string()).unwrap();
    }
}

/// Replaces a weight by what is made of it.
fn with_weight(name: &'static str, change: impl FnOnce(&Tensor) -> Tensor) -> impl FnOnce(&Path) {
    move |dir| {
        with_weights(dir, |weights| {
            let name = format!("bert.{name}");
            let new = change(&weights[&name]);
            weights.insert(name, new);
        });
    }
}

fn cut_weights(dir: &Path, keep: impl FnOnce(usize) -> usize) {
    let path = dir.join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(path, &bytes[..keep(bytes.len())]).unwrap();
}

#[test]
fn no_folder() {
    let message = |path: &Path| {
        let message = Encoder::open(path).unwrap_err().to_string();
        message.replace(&path.display().to_string(), "PATH")
    };
    let dir = tempfile::tempdir().unwrap();
    expect!["there is no such folder, expected a folder with an encoder in the format of Hugging Face; choose another one: PATH"].assert_eq(&message(&dir.path().join("gone")));
    expect![
        "this is a file, expected a folder with an encoder in the format of Hugging Face; choose another one: PATH"
    ]
    .assert_eq(&message(&fixtures().join("tiny-bert/config.json")));
}

#[test]
fn missing_files() {
    let remove = |name: &'static str| move |dir: &Path| std::fs::remove_file(dir.join(name)).unwrap();
    let rename = |to: &'static str| {
        move |dir: &Path| {
            std::fs::rename(dir.join("model.safetensors"), dir.join(to)).unwrap();
        }
    };
    refused(
        remove("config.json"),
        expect![
            "an encoder folder needs config.json, and this one has none; choose a folder with an encoder in the format of Hugging Face: DIR"
        ],
    );
    refused(
        remove("vocab.txt"),
        expect![
            "an encoder folder needs vocab.txt, and this one has none; get it, or tokenizer.json, from where the encoder came from: DIR"
        ],
    );
    refused(
        remove("model.safetensors"),
        expect![
            "an encoder folder needs model.safetensors, and this one has none; get it from where the encoder came from: DIR"
        ],
    );
    refused(
        rename("pytorch_model.bin"),
        expect![
            "an encoder folder needs model.safetensors, and this one has none; its pytorch_model.bin is a pickle, which can run any code when read; convert it with the Hugging Face libraries (save_pretrained writes safetensors): DIR"
        ],
    );
    refused(
        |dir| {
            rename("model-00001-of-00002.safetensors")(dir);
            write("model.safetensors.index.json", "{}")(dir);
        },
        expect![
            "an encoder folder needs model.safetensors, and this one has none; its weights are in several files; write them as one with the Hugging Face libraries (save_pretrained with a larger max_shard_size), or choose a smaller encoder: DIR"
        ],
    );
}

#[test]
fn a_config_that_describes_nothing_that_runs_here() {
    refused(
        write("config.json", "model_type: bert"),
        expect![
            "the file is not JSON (expected value at line 1 column 1); get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    refused(
        write("config.json", "[1, 2]"),
        expect![[
            r#"the model type is missing, but only "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "roberta" or "xlm-roberta" works here; choose another encoder: DIR/config.json"#
        ]],
    );
    refused(
        write("config.json", r#"{"model_type": "t5"}"#),
        expect![[
            r#"the model type is "t5", but only "bert", "camembert", "deberta-v2", "distilbert", "electra", "modernbert", "roberta" or "xlm-roberta" works here; choose another encoder: DIR/config.json"#
        ]],
    );
    refused(
        with_config("hidden_act", "relu"),
        expect![[r#"hidden_act is "relu", but only "gelu" works here; choose another encoder: DIR/config.json"#]],
    );
    refused(
        with_config("hidden_size", Value::Null),
        expect![
            "hidden_size is missing, expected a whole number from 1 to 16384; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    refused(
        with_config("hidden_size", "32"),
        expect![[
            r#"hidden_size is "32", expected a whole number from 1 to 16384; get the file again from where the encoder came from: DIR/config.json"#
        ]],
    );
    refused(
        with_config("num_attention_heads", 5),
        expect![
            "hidden_size 32 is not a multiple of num_attention_heads 5; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    refused(
        with_config("max_position_embeddings", 2),
        expect![
            "max_position_embeddings is 2, expected a whole number from 3 to 1048576; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    refused(
        with_config("layer_norm_eps", -1.0),
        expect![
            "layer_norm_eps is -1.0, expected a number between 0 and 1; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    refused(
        with_config("vocab_size", json!(vec![55; 100])),
        expect![
            "vocab_size is [55,55,55,55,55,55,55,55,55,55,55,55,55,…, expected a whole number from 1 to 4000000; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
}

#[test]
fn numbers_that_would_ask_for_all_memory() {
    refused(
        with_config("num_hidden_layers", 1_000_000_000),
        expect![
            "num_hidden_layers is 1000000000, expected a whole number from 1 to 256; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    refused(
        with_config("hidden_size", u64::MAX),
        expect![
            "hidden_size is 18446744073709551615, expected a whole number from 1 to 16384; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    refused(
        with_config("vocab_size", 1u64 << 40),
        expect![
            "vocab_size is 1099511627776, expected a whole number from 1 to 4000000; get the file again from where the encoder came from: DIR/config.json"
        ],
    );
    // Within the bounds, but not what is in the file: told before anything of that size is made.
    refused(
        with_config("hidden_size", 16_384),
        expect![[
            r#"the weight "embeddings.word_embeddings.weight" has the shape [55, 32], but config.json says [55, 16384]; get both files from the same encoder: DIR/model.safetensors"#
        ]],
    );
}

#[test]
fn a_tokenizer_that_does_not_fit() {
    refused(
        write("tokenizer.json", "{}"),
        expect![
            "the tokenizer can't be read (missing field `model` at line 1 column 2); get the file again from where the encoder came from: DIR/tokenizer.json"
        ],
    );
    refused(
        write("vocab.txt", [0xff, 0xfe, b'\n']),
        expect![
            "the tokenizer can't be read (stream did not contain valid UTF-8); get the file again from where the encoder came from: DIR/vocab.txt"
        ],
    );
    refused(
        write("vocab.txt", "[CLS]\n[SEP]\n"),
        expect![
            "the tokenizer has no [UNK], expected [CLS], [SEP] and [UNK], or <s>, </s> and <unk>; get tokenizer and config.json from the same encoder: DIR/vocab.txt"
        ],
    );
    refused(
        |dir| {
            let vocabulary = std::fs::read_to_string(dir.join("vocab.txt")).unwrap();
            write("vocab.txt", vocabulary + "one\nmore\n")(dir);
        },
        expect![
            "the tokenizer numbers 57 subwords, but vocab_size of config.json says 55; get tokenizer and config.json from the same encoder: DIR/vocab.txt"
        ],
    );
    refused(
        write("tokenizer_config.json", "do_lower_case"),
        expect![
            "the file is not JSON (expected value at line 1 column 1); get the file again from where the encoder came from: DIR/tokenizer_config.json"
        ],
    );
    let word_level = |vocabulary: Value| {
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": null, "post_processor": null, "decoder": null,
            "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>" },
        })
    };
    // A mark too few; numbers with a gap; a name for unknown subwords that is none.
    let without_end = word_level(json!({"<s>": 0, "[CLS]": 1, "[UNK]": 2, "<unk>": 3})).to_string();
    refused(
        write("tokenizer.json", without_end),
        expect![
            "the tokenizer has no [SEP], expected [CLS], [SEP] and [UNK], or <s>, </s> and <unk>; get tokenizer and config.json from the same encoder: DIR/tokenizer.json"
        ],
    );
    let with_gap = word_level(json!({"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "<unk>": 3, "sea": 4000})).to_string();
    refused(
        write("tokenizer.json", with_gap),
        expect![
            "the tokenizer numbers 4,001 subwords, but vocab_size of config.json says 55; get tokenizer and config.json from the same encoder: DIR/tokenizer.json"
        ],
    );
    let without_unknown = word_level(json!({"[CLS]": 0, "[SEP]": 1, "[UNK]": 2})).to_string();
    refused(
        write("tokenizer.json", without_unknown),
        expect![
            "the tokenizer fails at an unknown character (can't split words into subwords: WordLevel error: Missing [UNK] token from the vocabulary); get tokenizer and config.json from the same encoder: DIR/tokenizer.json"
        ],
    );
}

#[test]
fn weights_that_are_none() {
    refused(
        write("model.safetensors", ""),
        expect!["the file is empty; get the file again from where the encoder came from: DIR/model.safetensors"],
    );
    refused(
        write("model.safetensors", "PK\u{3}\u{4} an archive of some other kind"),
        expect![
            "the file is cut off or no safetensors file (header too large); get the file again from where the encoder came from: DIR/model.safetensors"
        ],
    );
    refused(
        write("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
        expect![[
            r#"the file only says where Git LFS keeps the weights; fetch them with "git lfs pull": DIR/model.safetensors"#
        ]],
    );
    refused(
        |dir| cut_weights(dir, |len| len - 1),
        expect![
            "the file is cut off, or something was added to its end; get the file again from where the encoder came from: DIR/model.safetensors"
        ],
    );
    refused(
        |dir| cut_weights(dir, |_| 100),
        expect![
            "the file is cut off or no safetensors file (invalid header length); get the file again from where the encoder came from: DIR/model.safetensors"
        ],
    );
}

#[test]
fn weights_that_do_not_fit() {
    refused(
        |dir| {
            with_weights(dir, |weights| {
                weights.remove("bert.encoder.layer.1.output.dense.bias");
            });
        },
        expect![[
            r#"the weight "encoder.layer.1.output.dense.bias" is missing; choose a folder with all weights of the encoder: DIR/model.safetensors"#
        ]],
    );
    refused(
        with_weight("embeddings.LayerNorm.bias", |t| t.narrow(0, 0, 5).unwrap().contiguous().unwrap()),
        expect![[
            r#"the weight "embeddings.LayerNorm.bias" has the shape [5], but config.json says [32]; get both files from the same encoder: DIR/model.safetensors"#
        ]],
    );
    refused(
        with_weight("encoder.layer.0.output.dense.bias", |t| t.to_dtype(DType::I64).unwrap()),
        expect![[
            r#"the weight "encoder.layer.0.output.dense.bias" is of the type I64, but only F32, F16, BF16 and F64 work here; choose another encoder: DIR/model.safetensors"#
        ]],
    );
    let with_bad = |bad: f32| {
        with_weight("embeddings.word_embeddings.weight", move |t| {
            let mut values = t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            values[7] = bad;
            Tensor::from_vec(values, t.dims(), t.device()).unwrap()
        })
    };
    refused(
        with_bad(f32::NAN),
        expect![[
            r#"the weight "embeddings.word_embeddings.weight" holds numbers that are not finite, such as NaN; get the file again from where the encoder came from, or choose another encoder: DIR/model.safetensors"#
        ]],
    );
    for bad in [f32::INFINITY, f32::NEG_INFINITY] {
        let error = Encoder::open(changed(with_bad(bad)).path()).unwrap_err();
        assert!(matches!(error, EncoderError::WeightNotFinite { .. }), "{error}");
    }
    // Finite as it is stored, but not as it is used.
    refused(
        with_weight("embeddings.LayerNorm.bias", |t| (t.to_dtype(DType::F64).unwrap() + 1e300).unwrap()),
        expect![[
            r#"the weight "embeddings.LayerNorm.bias" holds numbers that are not finite, such as NaN; get the file again from where the encoder came from, or choose another encoder: DIR/model.safetensors"#
        ]],
    );
}

#[test]
fn shorter_floats_work_and_stay_what_they_are() {
    let whole = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
    for (dtype, step) in [(DType::F16, 1.0 / 1024.0), (DType::BF16, 1.0 / 128.0), (DType::F64, 0.0)] {
        let dir = changed(|dir| {
            with_weights(dir, |weights| {
                weights.values_mut().for_each(|t| *t = t.to_dtype(dtype).unwrap());
            });
        });
        let home = tempfile::tempdir().unwrap();
        let encoders = Encoders::at(home.path());
        encoders.import(dir.path(), "short").unwrap();
        let encoder = encoders.get("short").unwrap();
        assert_eq!(encoder.weights().len(), whole.weights().len());
        for (name, weight) in encoder.weights() {
            assert_eq!(weight.dtype(), DType::F32);
            let numbers = |t: &Tensor| t.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            for (got, expected) in numbers(weight).into_iter().zip(numbers(&whole.weights()[name])) {
                assert!((got - expected).abs() <= expected.abs() * step + 1e-6, "{name}: {got} for {expected}");
            }
        }
    }
}

#[test]
fn what_else_is_in_the_file_does_not_matter() {
    let dir = changed(|dir| {
        with_weights(dir, |weights| {
            let ids = Tensor::arange(0i64, 32, &candle_core::Device::Cpu).unwrap();
            weights.insert("bert.embeddings.position_ids".to_owned(), ids.clone());
            weights.insert("cls.predictions.bias".to_owned(), ids.to_dtype(DType::U8).unwrap());
        });
    });
    assert_eq!(Encoder::open(dir.path()).unwrap().weights().len(), 37);
}
