//! One line as it is spelled.

use super::keys;
use crate::annotation::Kept;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version in the header; a newer one is refused.
pub(super) const VERSION: u32 = 1;

keys::line! {
    /// A line whose mentions count tokens, or one without mentions.
    Line {
        /// Only in a header.
        pub(super) nestling: Option<u32>,
        /// Only in a header.
        pub(super) end: Option<String>,
        pub(super) text: Option<String>,
        pub(super) tokens: Option<Vec<String>>,
        pub(super) offsets: Option<Vec<(usize, usize)>>,
        pub(super) entities: Option<Vec<Entity>>,
        pub(super) ner_tags: Option<Vec<Tag>>,
        /// Only in a header, or in a line that begins a document.
        pub(super) kept: Option<Kept>,
    }
}

keys::mention! {
    /// A mention of tokens.
    Entity {
        pub(super) start: usize,
        pub(super) end: usize,
        pub(super) label: String,
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Tag {
    /// Index in the list of names; negative for a tag that is missing.
    Number(i64),
    Name(String),
}

impl Line {
    /// False where words are given, or nothing to find in the text: then it can be told without another look.
    pub(super) fn may_count_characters(&self) -> bool {
        self.nestling.is_none() && self.text.is_some() && self.tokens.is_none() && self.ner_tags.is_none()
    }

    /// A line with nothing but a name, and what is kept of another file, begins a document.
    pub(super) fn is_separator(&self) -> bool {
        self.doc.is_some() && self.text.is_none() && self.tokens.is_none() && self.entities.is_none()
    }

    pub(super) fn unknown_keys(&self) -> impl Iterator<Item = String> {
        let in_entities =
            self.entities.iter().flatten().flat_map(|e| saying(&e.other)).map(|k| format!("entities.{k}"));
        saying(&self.other).cloned().chain(in_entities)
    }
}

/// The keys that say something: `"Comments":[]` does not.
pub(super) fn saying(other: &BTreeMap<String, Value>) -> impl Iterator<Item = &String> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    other.iter().filter(move |(_, value)| !is_empty(value)).map(|(key, _)| key)
}

/// A string as it is, other JSON as it is spelled.
pub(super) fn to_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// What is wrong with a line that is no such object.
pub(super) fn explain(error: &serde_json::Error, line: &[u8]) -> String {
    if !line.starts_with(b"{") {
        return "it does not begin with {, so it is not a JSON object".to_owned();
    }
    if error.is_eof() {
        return "the JSON object is cut off".to_owned();
    }
    let message = error.to_string();
    let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
    match std::str::from_utf8(line) {
        Ok(_) => format!("{} (at byte {} of the line)", what.replace("usize", "a whole number"), error.column()),
        Err(error) => format!("byte {} of the line is not UTF-8", error.valid_up_to() + 1),
    }
}
