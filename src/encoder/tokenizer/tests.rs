//! Files as they are published for encoders of BERT's family: what is read here is what the library itself reads.

use super::charsmap::tests::{encode, table};
use super::*;
use crate::encoder::tests::fixtures;
use serde_json::{Value, json};

const WORDS: [&str; 16] = [
    "The",
    "mayor's",
    "Aarhus",
    "Caf\u{e9}",
    "\u{c5}rhus",
    "\u{fb01}nd",
    "1984",
    "re-read",
    "``x''",
    "[SEP]",
    "<s>",
    "\u{65e5}\u{672c}",
    "a\u{200b}b",
    "\u{301}",
    "\u{10fffd}",
    "tab\there",
];

/// Our reader's subwords are those of the library's own.
fn check(json: &Value) {
    let json = json.to_string();
    let ours = read(json.as_bytes(), 400).unwrap();
    let mut theirs = tokenizers::Tokenizer::from_bytes(json.as_bytes()).unwrap();
    theirs.set_encode_special_tokens(true);
    theirs.with_padding(None).with_truncation(None).unwrap();
    let (ours, theirs) = (ours.encode(&WORDS[..], false).unwrap(), theirs.encode(&WORDS[..], false).unwrap());
    assert_eq!((ours.get_ids(), ours.get_word_ids()), (theirs.get_ids(), theirs.get_word_ids()), "{json}");
    assert!(ours.get_ids().len() > WORDS.len(), "{:?}", ours.get_tokens());
}

fn fixture(kind: &str) -> Value {
    serde_json::from_slice(&std::fs::read(fixtures().join(kind).join("tokenizer.json")).unwrap()).unwrap()
}

#[test]
fn the_fixtures() {
    let of_bert = ["tiny-distilbert", "tiny-electra", "tiny-electra-narrow", "tiny-roberta", "tiny-xlm-roberta"];
    for kind in of_bert.into_iter().chain(["tiny-modernbert", "tiny-deberta-v3"]) {
        check(&fixture(kind));
    }
}

#[test]
fn bert_with_all_that_its_file_says() {
    let mut json = fixture("tiny-distilbert");
    json["truncation"] = json!({"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0});
    json["padding"] = json!({"strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
        "pad_type_id": 0, "pad_token": "[PAD]"});
    json["post_processor"] = json!({"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
            "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}});
    json["decoder"] = json!({"type": "WordPiece", "prefix": "##", "cleanup": true});
    check(&json);
    for accents in [json!(null), json!(false), json!(true)] {
        json["normalizer"] = json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": accents, "lowercase": false});
        check(&json);
    }
    json["normalizer"] =
        json!({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}]});
    json["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Digits", "individual_digits": true}]});
    check(&json);
}

#[test]
fn roberta_as_it_was_written_at_first() {
    let mut json = fixture("tiny-roberta");
    let model = json["model"].as_object_mut().unwrap();
    model.remove("type");
    model.insert("continuing_subword_prefix".to_owned(), json!(""));
    model.insert("end_of_word_suffix".to_owned(), json!(""));
    let merges = model["merges"].as_array().unwrap().iter();
    let merges = merges.map(|pair| format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap()));
    let merges: Value = merges.collect::<Vec<_>>().into();
    model.insert("merges".to_owned(), merges);
    json["pre_tokenizer"] = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true});
    json["decoder"] = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true});
    check(&json);
    let gpt = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
    json["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": gpt}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]});
    check(&json);
}

#[test]
fn xlm_roberta_and_those_made_of_it() {
    let mut json = fixture("tiny-xlm-roberta");
    let charsmap =
        encode(&table(&[("\u{fb01}", "fi"), ("\t", " "), ("\u{e9}", "e"), ("\u{200b}", ""), ("\u{c5}", "A")]));
    let precompiled = json!({"type": "Precompiled", "precompiled_charsmap": charsmap});
    json["normalizer"] = precompiled.clone();
    json["model"].as_object_mut().unwrap().remove("type");
    json["model"].as_object_mut().unwrap().remove("byte_fallback");
    json["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
        {"type": "Metaspace", "replacement": "\u{2581}", "str_rep": "\u{2581}", "add_prefix_space": true}]});
    check(&json);
    json["normalizer"] = json!({"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"String": "``"}, "content": "\""}, precompiled,
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "Strip", "strip_left": false, "strip_right": true}]});
    json["pre_tokenizer"] =
        json!({"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true});
    json["added_tokens"].as_array_mut().unwrap().push(json!({"id": 73, "content": "here", "single_word": true,
        "lstrip": true, "rstrip": false, "normalized": true, "special": false}));
    check(&json);
}

#[test]
fn a_subword_of_which_normalizing_leaves_nothing_is_not_found_everywhere() {
    let mut json = fixture("tiny-distilbert");
    json["added_tokens"].as_array_mut().unwrap().push(json!({"id": 90, "content": "\u{200b}", "single_word": false,
        "lstrip": false, "rstrip": false, "normalized": true, "special": false}));
    let tokenizer = read(json.to_string().as_bytes(), 400).unwrap();
    let encoding = tokenizer.encode(&WORDS[..], false).unwrap();
    assert!(encoding.get_ids().len() < 100, "{:?}", encoding.get_tokens());
}
