//! Where words begin, of tokenizers that mark spaces.

use super::{changed_kind, fixtures, spaced, words};
use crate::encoder::{Definition, Encoder, Encoders, WordPlace};
use expect_test::expect;
use proptest::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

const KINDS: [&str; 2] = ["tiny-xlm-roberta", "tiny-deberta-v3"];

/// The subwords of each word.
fn pieces(definition: &Definition, words: &[String]) -> Vec<Vec<String>> {
    let list = definition.subwords().list();
    let alignment = definition.subwords().align(words, 1 << 20).unwrap();
    let ids = &alignment.windows()[0].ids;
    let of_word = |place: &WordPlace| ids[place.first..=place.last].iter().map(|id| list[*id as usize].clone());
    alignment.words().iter().map(|place| of_word(place).collect()).collect()
}

fn shown(definition: &Definition, text: &str) -> String {
    pieces(definition, &words(text)).iter().map(|word| word.join("+")).collect::<Vec<_>>().join(" ")
}

#[test]
fn no_word_begins_with_a_space_and_nothing_else() {
    let text = "the mayor , Anna 's box ( of \u{65e5}\u{672c} ) \u{dc}lm .";
    for kind in KINDS {
        let now = Definition::open(&fixtures().join(kind)).unwrap();
        let before = Definition::open(spaced(kind).path()).unwrap();
        let shown = |of: &Definition| shown(of, text).replace("[UNK]", "<unk>");
        expect![["▁the ▁ma+y+o+r ▁+, ▁+A+n+n+a ▁+'+s ▁+bo+<unk> ▁+<unk> ▁o+f ▁+<unk> ▁+<unk> ▁+Ü+l+m ▁+."]]
            .assert_eq(&shown(&before));
        expect![["▁the ▁ma+y+o+r , A+n+n+a '+s bo+<unk> <unk> ▁o+f <unk> <unk> Ü+l+m ."]].assert_eq(&shown(&now));
    }
}

#[test]
fn models_go_on_as_they_learned() {
    for kind in KINDS {
        let folder = fixtures().join(kind);
        let of_model = |files: &HashMap<&str, Vec<u8>>| {
            Definition::from_bytes(Path::new("a model"), &mut |name| files.get(name).cloned()).unwrap()
        };
        let read = |name| (name, std::fs::read(folder.join(name)).unwrap());
        let older = of_model(&HashMap::from(["config.json", "tokenizer.json"].map(read)));
        assert_eq!(shown(&older, "the mayor ."), "▁the ▁ma+y+o+r ▁+.", "what it was trained with says nothing");
        let now = Definition::open(&folder).unwrap();
        for definition in [older, now] {
            // A model that is written again, or trained further.
            let again = of_model(&definition.files().map(|(name, bytes)| (name, bytes.to_vec())).collect());
            assert_eq!(shown(&again, "the mayor ."), shown(&definition, "the mayor ."));
        }
    }
}

#[test]
fn an_import_takes_along_how_words_stand() {
    let home = tempfile::tempdir().unwrap();
    let encoders = Encoders::at(home.path());
    encoders.import(spaced("tiny-xlm-roberta").path(), "spaced").unwrap();
    assert_eq!(shown(encoders.get("spaced").unwrap().definition(), "."), "▁+.");
    let bad = changed_kind("tiny-xlm-roberta", |dir| {
        std::fs::write(dir.join("nestling-words.json"), r#"{"spaces": "?"}"#).unwrap()
    });
    let message = Encoder::open(bad.path()).unwrap_err().to_string();
    assert!(message.contains("what can't be") && message.contains("nestling-words.json"), "{message}");
}

#[test]
fn normalizers_may_mark_the_spaces() {
    let folder = changed_kind("tiny-xlm-roberta", |dir| {
        let path = dir.join("tokenizer.json");
        let mut json: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        json["normalizer"] = serde_json::json!({"type": "Prepend", "prepend": "▁"});
        json["pre_tokenizer"] = serde_json::Value::Null;
        std::fs::write(&path, json.to_string()).unwrap();
    });
    let definition = Definition::open(folder.path()).unwrap();
    assert_eq!(shown(&definition, "the sea ."), "▁the se+a .");
}

/// Of each kind, as it is read now and as it was before.
static NOW_AND_BEFORE: LazyLock<Vec<[Definition; 2]>> = LazyLock::new(|| {
    let open = |folder: &Path| Definition::open(folder).unwrap();
    KINDS.map(|kind| [open(&fixtures().join(kind)), open(spaced(kind).path())]).into()
});

/// Characters of the fixtures' vocabulary, others, spaces, and marks of spaces.
fn word() -> impl Strategy<Value = String> {
    let char = prop::sample::select("thesamyor,.'(-Üü19 \u{3000}▁\u{65e5}\u{e44}\u{fb01}".chars().collect::<Vec<_>>());
    prop::collection::vec(char, 0..8).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn what_is_left_of_a_word_is_the_best_way_through_it(words in prop::collection::vec(word(), 1..12)) {
        for both in &*NOW_AND_BEFORE {
            let [now, before] = both.each_ref().map(|definition| pieces(definition, &words));
            for ((word, now), before) in words.iter().zip(now).zip(before) {
                prop_assert!(!now.is_empty());
                prop_assert!(now[0] != "▁" || now.len() == 1 && before.iter().all(|piece| piece == "▁"), "{word:?}: {now:?}");
                // Without the space that was marked before it, all of it is there.
                let text = |pieces: &[String]| pieces.concat().trim_start_matches('▁').to_owned();
                prop_assert_eq!(text(&now), text(&before));
                if before.first().is_some_and(|piece| piece == "▁") {
                    let rest = before.iter().skip_while(|piece| *piece == "▁").cloned().collect::<Vec<_>>();
                    prop_assert!(rest.is_empty() || now == rest, "{word:?}: {now:?}, before {before:?}");
                }
            }
        }
    }
}
