//! Lines that count characters as they are spelled: a raw text, and mentions that are places in it, as doccano, Prodigy and
//! spaCy have them.
//!
//! | written by | mentions | a mention |
//! |---|---|---|
//! | doccano | `label`, `labels` | `[0,4,"PER"]` |
//! | doccano, with relations | `entities` | `{"id":1,"start_offset":0,"end_offset":4,"label":"PER"}` |
//! | Prodigy, spaCy | `spans` | `{"start":0,"end":4,"label":"PER"}` |
//! | others | `entities` | either |

use super::keys;
use super::line::{saying, to_text};
use crate::format::units::Said;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

keys::line! {
    /// A line whose mentions count characters.
    TextLine {
        /// What doccano calls the text.
        id: Option<Value>,
        pub(super) text: String,
        pub(super) tokens: Option<Vec<Word>>,
        pub(super) entities: Option<Value>,
        spans: Option<Value>,
        label: Option<Value>,
        labels: Option<Value>,
        /// What a person said of the line in Prodigy.
        answer: Option<Value>,
        /// How Prodigy showed it.
        #[serde(rename = "_view_id")]
        pub(super) view: Option<Value>,
    }
}

/// A token as Prodigy has it; what else it says follows from the text.
#[derive(Deserialize)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A name, or the number of one in old files.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Name {
    Text(String),
    Number(u64),
}

/// A mention as it is spelled.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Triple(usize, usize, Name),
    Object(Box<Object>),
}

keys::mention! {
    /// A mention of characters.
    Object {
        #[serde(alias = "start_offset")]
        pub(super) start: usize,
        #[serde(alias = "end_offset")]
        pub(super) end: usize,
        pub(super) label: Name,
        /// The words, as far as the file repeats them.
        pub(super) text: Option<String>,
        /// With `token_end`: the same place in words.
        #[serde(rename = "token_start")]
        _token_start: Option<IgnoredAny>,
        #[serde(rename = "token_end")]
        _token_end: Option<IgnoredAny>,
    }
}

/// What a person said of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Accept,
    Reject,
    Ignore,
    /// Nothing that Prodigy says.
    Unknown,
}

impl TextLine {
    /// `None` for a line without a text, and for one whose tokens are words without places.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn counts_characters(&self) -> bool {
        let says = |(key, list): (&str, &[Value])| key != "entities" || !list.is_empty();
        self.tokens.as_ref().is_some_and(|words| !words.is_empty()) || self.lists().any(says)
    }

    /// What tells it from others of its file; none where neither a text nor a number does.
    pub(super) fn own_name(&self) -> Option<String> {
        let id = self.id.as_ref().filter(|id| id.is_string() || id.is_number()).cloned().map(to_text);
        id.filter(|id| !id.trim().is_empty())
    }

    /// All places of the line, those of its words first.
    pub(super) fn said(&self) -> Vec<Said<'_>> {
        let words = self.tokens.iter().flatten();
        let words = words.map(|word| Said { pieces: vec![(word.start, word.end)], quoted: Some(&word.text) });
        let entries = self.lists().flat_map(|(_, list)| list).filter_map(|entry| {
            let object = Object::of(entry)?;
            Some(Said { pieces: object.pieces(), quoted: entry.get("text").and_then(Value::as_str) })
        });
        words.chain(entries).collect()
    }

    fn keys(&self) -> [(&'static str, Option<&Value>); 4] {
        [
            ("entities", self.entities.as_ref()),
            ("spans", self.spans.as_ref()),
            ("label", self.label.as_ref()),
            ("labels", self.labels.as_ref()),
        ]
    }

    /// The lists of mentions that there are, by key.
    pub(super) fn lists(&self) -> impl Iterator<Item = (&'static str, &[Value])> {
        self.keys().into_iter().filter_map(|(key, value)| Some((key, list(value?)?)))
    }

    pub(super) fn answer(&self, warnings: &mut Vec<String>) -> Option<Answer> {
        match self.answer.as_ref()?.as_str() {
            Some("accept") => Some(Answer::Accept),
            Some("reject") => Some(Answer::Reject),
            Some("ignore") => Some(Answer::Ignore),
            _ => {
                let message = "the `answer` is not accept, reject or ignore, so no sentence of the line is complete";
                warnings.push(message.to_owned());
                Some(Answer::Unknown)
            }
        }
    }

    /// What it says that means nothing here.
    pub(super) fn unknown_keys(&self) -> Vec<String> {
        let no_lists = self.keys().into_iter().filter(|(_, value)| value.is_some_and(|value| list(value).is_none()));
        let no_name = self.id.is_some() && (self.doc.is_some() || self.own_name().is_none());
        let no_name = no_name.then(|| "id".to_owned());
        saying(&self.other).cloned().chain(no_name).chain(no_lists.map(|(key, _)| key.to_owned())).collect()
    }
}

/// Mentions; `"label":["sad"]` is none, as it says something of the whole text.
fn list(value: &Value) -> Option<&[Value]> {
    value.as_array().map(Vec::as_slice).filter(|list| list.iter().all(|v| v.is_array() || v.is_object()))
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl Object {
    /// `None` for what is no mention.
    pub(super) fn of(entry: &Value) -> Option<Self> {
        Some(match Entry::deserialize(entry).ok()? {
            Entry::Triple(start, end, label) => Self::plain(start, end, label),
            Entry::Object(object) => *object,
        })
    }

    /// Its fragments, else itself.
    pub(super) fn pieces(&self) -> Vec<(usize, usize)> {
        match &self.fragments {
            Some(fragments) if !fragments.is_empty() => fragments.clone(),
            _ => vec![(self.start, self.end)],
        }
    }

    fn plain(start: usize, end: usize, label: Name) -> Self {
        Self {
            start,
            end,
            label,
            text: None,
            fragments: None,
            attributes: BTreeMap::new(),
            note: String::new(),
            score: None,
            id: None,
            _token_start: None,
            _token_end: None,
            other: BTreeMap::new(),
        }
    }
}
