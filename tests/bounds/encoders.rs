//! Encoders from strangers: whatever their files hold, opening them takes bounded memory and work, and ends with an encoder
//! or a message.
//!
//! `NESTLING_MUTATIONS=100000 cargo test --test bounds` tries more than the few hundred of every day.

use super::counting::{Taken, measured};
use nestling::encoder::{Encoder, EncoderError};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

const KINDS: [&str; 9] = [
    "tiny-bert",
    "tiny-distilbert",
    "tiny-electra",
    "tiny-electra-narrow",
    "tiny-roberta",
    "tiny-xlm-roberta",
    "tiny-modernbert",
    "tiny-deberta-v3",
    "tiny-deberta-v2",
];

/// More than opening a small encoder takes, much less than a hostile one asks for.
const MOST_HELD: usize = 96 << 20;
const MOST_ALLOCATED: usize = 512 << 20;

fn fixture(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/learner").join(kind)
}

fn copy_of(kind: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["config.json", "tokenizer.json", "vocab.txt", "model.safetensors"] {
        if fixture(kind).join(name).is_file() {
            std::fs::copy(fixture(kind).join(name), dir.path().join(name)).unwrap();
        }
    }
    dir
}

/// Words that tokenizers know least about.
fn words() -> Vec<String> {
    let mut words: Vec<String> = [
        "Anna",
        "a",
        "",
        " ",
        "''",
        "``",
        "\u{0}",
        "\u{fb01}nd",
        "\u{fdfa}",
        "\u{301}",
        "\u{10fffd}",
        "[SEP]",
        "1984",
        "日本",
    ]
    .map(str::to_owned)
    .to_vec();
    words.extend(["a".repeat(600), "ab1-".repeat(900), "\u{fdfa}".repeat(300)]);
    words
}

/// Opens a folder and takes words apart; a panic is a failure of the test.
fn open(folder: &Path, what: &str) -> (Result<usize, EncoderError>, Taken) {
    let (opened, taken) = measured(|| {
        catch_unwind(AssertUnwindSafe(|| {
            let encoder = Encoder::open(folder)?;
            let alignment = encoder.definition().subwords().align(&words(), 64)?;
            Ok(alignment.rows())
        }))
    });
    let opened = opened.unwrap_or_else(|_| panic!("{what}"));
    assert!(taken.most < MOST_HELD && taken.all < MOST_ALLOCATED, "{what}: {taken:?}");
    (opened, taken)
}

/// A generator of numbers that are the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(nodes).sum(),
        Value::Object(fields) => fields.values().map(nodes).sum(),
        _ => 0,
    }
}

/// The node of a number, counted from the root.
fn node<'a>(value: &'a mut Value, number: &mut usize) -> Option<&'a mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|inner| node(inner, number)),
        Value::Object(fields) => fields.values_mut().find_map(|inner| node(inner, number)),
        _ => None,
    }
}

/// Something else in a place of the tree, nearer to its top than to its leaves.
fn mutate(root: &mut Value, random: &mut Random) {
    let all = nodes(root);
    let mut number = if random.below(3) > 0 { random.below(all.min(120)) } else { random.below(all) };
    let mut other = random.below(all.min(120));
    let copied = node(root, &mut other).cloned();
    let Some(at) = node(root, &mut number) else { return };
    let deep = |value: Value, levels: usize| (0..levels).fold(value, |inner, _| json!([inner]));
    let new = match random.below(16) {
        0 => Value::Null,
        1 => json!(random.one_of(&[0i64, 1, -1, 100, 65_536, 4_294_967_295, 4_294_967_296, i64::MAX])),
        2 => json!(random.one_of(&[0.5, -1e300, 1e300])),
        3 => json!(random.one_of(&[
            "",
            "a",
            "[UNK]",
            "<s>",
            "\u{0}",
            "(a+)+$",
            "a*",
            "(?=a)",
            "[",
            "AAAA",
            "ÿ",
            "Replace",
            "Sequence",
            "FixedLength"
        ])),
        4 => json!("a".repeat(random.one_of(&[40, 513, 5000]))),
        5 => json!([]),
        6 => json!({}),
        7 => json!(random.below(2) == 0),
        8 => deep(at.clone(), random.one_of(&[1, 30, 100])),
        9 => json!(vec![at.clone(); random.one_of(&[2, 70, 300])]),
        10 => json!({"type": "Sequence", "normalizers": vec![at.clone(); random.one_of(&[1, 3, 60])]}),
        11 => {
            json!({"type": "Replace", "pattern": {"String": random.one_of(&["", "a", "aa"])}, "content": "a".repeat(random.one_of(&[0, 2, 64]))})
        }
        12 => {
            json!({"type": "Replace", "pattern": {"Regex": random.one_of(&["", "a?", "(a|a)*", "(a|b)+", r"\s+(?!\S)"])}, "content": "ab"})
        }
        13 => {
            json!({"type": "Precompiled", "precompiled_charsmap": random.one_of(&["", "AAAA", "/////w==", "BAAAAAAAAAA=", "AAQAAP//"])})
        }
        14 => {
            json!({"type": "Split", "pattern": {"Regex": random.one_of(&["a*", "a", "."])}, "behavior": random.one_of(&["Removed", "MergedWithNext"]), "invert": true})
        }
        _ => copied.unwrap_or(Value::Null),
    };
    match at {
        Value::Object(fields) if random.below(3) == 0 => {
            let keys: Vec<String> = fields.keys().cloned().collect();
            if !keys.is_empty() {
                let key = random.one_of(&keys);
                if random.below(2) == 0 {
                    fields.remove(&key)
                } else {
                    fields.insert(key, new)
                };
            }
        }
        Value::Array(list) if !list.is_empty() && random.below(3) == 0 => {
            let place = random.below(list.len());
            if random.below(2) == 0 {
                drop(list.remove(place))
            } else {
                list[place] = new
            };
        }
        at => *at = new,
    }
}

fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = if random.below(2) == 0 { random.below(bytes.len().min(4096)) } else { random.below(bytes.len()) };
        match random.below(5) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.splice(at..at, vec![random.below(256) as u8; random.one_of(&[1, 8, 5000])])),
            _ => {
                let end = bytes.len().min(at + random.one_of(&[1, 4, 100]));
                bytes.drain(at..end);
            }
        }
    }
}

#[test]
fn mutated_files_give_an_encoder_or_a_message() {
    let count = std::env::var("NESTLING_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(360);
    let mut random = Random(20);
    let (mut opened, mut refused) = (0, 0);
    let folders = KINDS.map(copy_of);
    for number in 0..count {
        let (kind, folder) = (KINDS[number % KINDS.len()], folders[number % KINDS.len()].path());
        let names =
            ["tokenizer.json", "tokenizer.json", "tokenizer.json", "config.json", "vocab.txt", "model.safetensors"];
        let name = random.one_of(&names);
        let name = if fixture(kind).join(name).is_file() { name } else { "config.json" };
        let before = std::fs::read(fixture(kind).join(name)).unwrap();
        let mut bytes = before.clone();
        if name.ends_with(".json") && random.below(4) > 0 {
            let mut json: Value = serde_json::from_slice(&bytes).unwrap();
            (0..1 + random.below(3)).for_each(|_| mutate(&mut json, &mut random));
            bytes = json.to_string().into_bytes();
        } else {
            mutate_bytes(&mut bytes, &mut random);
        }
        std::fs::write(folder.join(name), &bytes).unwrap();
        let what = format!("mutation {number}, {name} of {kind}");
        match open(folder, &what).0 {
            Ok(_) => opened += 1,
            Err(error) => {
                let message = error.to_string();
                assert!(
                    message.chars().count() < 700 && !message.contains("fails at what it was given"),
                    "{what}: {message}"
                );
                refused += 1;
            }
        }
        std::fs::write(folder.join(name), before).unwrap();
    }
    assert!(opened > count / 20 && refused > count / 4, "{opened} opened, {refused} refused");
}

/// A fixture with another tokenizer.json.
fn with_tokenizer(kind: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let dir = copy_of(kind);
    let path = dir.path().join("tokenizer.json");
    let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut json);
    std::fs::write(path, json.to_string()).unwrap();
    dir
}

fn refused(folder: &Path, want: &str) {
    let (opened, _) = open(folder, want);
    let message = opened.unwrap_err().to_string();
    assert!(message.contains(want), "{message}");
    assert!(message.contains("; ") && message.contains(": "), "what to do, and the path last: {message}");
}

#[test]
fn hostile_tokenizers_are_refused() {
    let normalizer = |json: Value| with_tokenizer("tiny-xlm-roberta", |t| t["normalizer"] = json);
    let empty = json!({"type": "Replace", "pattern": {"String": ""}, "content": "x"});
    refused(normalizer(empty).path(), "can match nothing");
    let charsmap = |base64: &str| normalizer(json!({"type": "Precompiled", "precompiled_charsmap": base64}));
    refused(charsmap("AAAA").path(), "precompiled_charsmap is cut off");
    // Says that it has four gigabytes.
    refused(charsmap("/P///w==").path(), "precompiled_charsmap is shorter than it says");
    refused(charsmap("BAAAAP///38=").path(), "leads out of its table");
    let regex = json!({"type": "Replace", "pattern": {"Regex": "(x+x+)+(?=y)"}, "content": "x"});
    refused(normalizer(regex).path(), "looks around");
    let number = with_tokenizer("tiny-distilbert", |t| t["model"]["vocab"]["sea"] = json!(u32::MAX));
    refused(number.path(), "numbers 4,294,967,296 subwords");
    let deep = with_tokenizer("tiny-roberta", |t| t["decoder"] = (0..100).fold(json!(1), |inner, _| json!([inner])));
    refused(deep.path(), "levels of arrays and objects");
    let wide = with_tokenizer("tiny-roberta", |t| t["decoder"] = json!(vec![0; 1_000_000]));
    refused(wide.path(), "values in the tokenizer");
    let long = with_tokenizer("tiny-xlm-roberta", |t| t["model"]["vocab"][50][0] = json!("a".repeat(1 << 20)));
    refused(long.path(), "bytes of a subword");
    let merge = with_tokenizer("tiny-roberta", |t| t["model"]["continuing_subword_prefix"] = json!("################"));
    refused(merge.path(), "merge 1");
    let split = json!({"type": "FixedLength", "length": 0});
    refused(with_tokenizer("tiny-roberta", |t| t["pre_tokenizer"] = split).path(), "can't be read");
}

#[test]
fn chained_replacements_end_and_what_they_blow_up_is_unknown() {
    let twice =
        json!({"type": "Replace", "pattern": {"Regex": "."}, "content": "abcdefghijabcdefghijabcdefghijabcdefghij"});
    let dir = with_tokenizer("tiny-xlm-roberta", |t| {
        t["normalizer"] = json!({"type": "Sequence", "normalizers": vec![twice; 30]});
    });
    let encoder = Encoder::open(dir.path()).unwrap();
    let (rows, taken) = measured(|| encoder.definition().subwords().align(&words(), 60).unwrap().rows());
    assert!(rows < 100 && taken.all < MOST_ALLOCATED, "{rows} {taken:?}");
}

#[test]
fn what_is_no_file_or_far_too_large_is_not_read() {
    let dir = copy_of("tiny-bert");
    let grow = |name: &str, bytes: u64| {
        // Without content: it takes no room on the disk.
        let file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(false).open(dir.path().join(name)).unwrap();
        let before = file.metadata().unwrap().len();
        file.set_len(bytes).unwrap();
        let (opened, taken) = open(dir.path(), name);
        let message = opened.unwrap_err().to_string();
        assert!(message.replace(',', "").contains(&format!("the file has {bytes} bytes but at most")), "{message}");
        assert!(taken.all < 8 << 20, "{taken:?}");
        if before == 0 { std::fs::remove_file(dir.path().join(name)).unwrap() } else { file.set_len(before).unwrap() }
    };
    grow("config.json", 1 << 31);
    grow("model.safetensors", 1 << 42);
    grow("tokenizer.json", 1 << 31);
    grow("vocab.txt", 1 << 31);
    grow("tokenizer_config.json", 1 << 31);
    open(dir.path(), "as it was").0.unwrap();
    #[cfg(unix)]
    {
        let fifo = dir.path().join("tokenizer.json");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        refused(dir.path(), "this is no file");
    }
}

#[test]
fn a_config_that_describes_more_than_a_computer_holds_is_refused() {
    for kind in ["tiny-bert", "tiny-modernbert", "tiny-deberta-v3", "tiny-deberta-v2"] {
        let dir = copy_of(kind);
        let path = dir.path().join("config.json");
        let mut json: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for (key, value) in [("hidden_size", 16_384), ("intermediate_size", 131_072), ("num_hidden_layers", 256)] {
            json[key] = json!(value);
        }
        json.as_object_mut().unwrap().remove("layer_types");
        std::fs::write(&path, json.to_string()).unwrap();
        refused(dir.path(), "describes an encoder of");
    }
    let header = |length: u64, text: &str| [&length.to_le_bytes(), text.as_bytes()].concat();
    let dir = copy_of("tiny-bert");
    for bytes in [header(u64::MAX, "{}"), header(100_000_000, "{}"), header(17 << 20, &" ".repeat(17 << 20))] {
        std::fs::write(dir.path().join("model.safetensors"), bytes).unwrap();
        refused(dir.path(), "header too large");
    }
    let overlapping = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#;
    let endless = r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#;
    for text in [overlapping, endless] {
        std::fs::write(dir.path().join("model.safetensors"), [header(text.len() as u64, text), vec![0; 12]].concat())
            .unwrap();
        refused(dir.path(), "no safetensors file");
    }
}
