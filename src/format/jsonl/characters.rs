//! Lines that count characters: a raw text, and mentions that are places in it, as doccano, Prodigy and spaCy have them.
//!
//! | written by | mentions | a mention |
//! |---|---|---|
//! | doccano | `label`, `labels` | `[0,4,"PER"]` |
//! | doccano, with relations | `entities` | `{"id":1,"start_offset":0,"end_offset":4,"label":"PER"}` |
//! | Prodigy, spaCy | `spans` | `{"start":0,"end":4,"label":"PER"}` |
//! | others | `entities` | either |
//!
//! # Invariants
//! - Places count Unicode code points.
//! - The text is cut into sentences as plain text is, and into the words that the line gives, else also as plain text is.
//! - A mention that can't be placed is a warning, and the sentence it was in is not complete.

use super::ends::Ends;
use super::line::{saying, to_text};
use super::sentence::{LineError, read_split, read_status};
use crate::annotation::Status;
use crate::format::fit::{Changes, Lost, RawMention, fit, quotes};
use crate::format::segments::{LineEvidence, segments};
use crate::format::{FormatError, ImportedSentence, Input, Options};
use crate::text::{CharIdx, OffsetIndex, TextRange};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;
use std::ops::Range;

/// A line as it is spelled.
#[derive(Deserialize)]
pub(super) struct TextLine {
    pub(super) doc: Option<String>,
    /// What doccano calls the text.
    id: Option<Value>,
    pub(super) text: String,
    pub(super) gap: Option<String>,
    status: Option<String>,
    split: Option<String>,
    tokens: Option<Vec<Word>>,
    entities: Option<Value>,
    spans: Option<Value>,
    label: Option<Value>,
    labels: Option<Value>,
    /// What a person said of the line in Prodigy.
    answer: Option<Value>,
    /// How Prodigy showed it.
    #[serde(rename = "_view_id")]
    view: Option<Value>,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

/// A token as Prodigy has it; what else it says follows from the text.
#[derive(Deserialize)]
struct Word {
    text: String,
    start: usize,
    end: usize,
}

/// A name, or the number of one in old files.
#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
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

#[derive(Deserialize)]
struct Object {
    #[serde(alias = "start_offset")]
    start: usize,
    #[serde(alias = "end_offset")]
    end: usize,
    label: Name,
    /// The words, as far as the file repeats them.
    text: Option<String>,
    fragments: Option<Vec<(usize, usize)>>,
    #[serde(default)]
    attributes: BTreeMap<String, Value>,
    #[serde(default)]
    note: String,
    score: Option<f32>,
    id: Option<Value>,
    /// With `token_end`: the same place in words.
    #[serde(rename = "token_start")]
    _token_start: Option<IgnoredAny>,
    #[serde(rename = "token_end")]
    _token_end: Option<IgnoredAny>,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

/// What a person said of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Accept,
    Reject,
    Ignore,
    /// Nothing that Prodigy says.
    Unknown,
}

/// A text whose sentences are ranges of it.
pub(super) struct ReadText {
    pub(super) sentences: Vec<ImportedSentence>,
    /// What was left out of it.
    pub(super) warnings: Vec<String>,
    pub(super) changes: Changes,
    /// Mentions that were left out because of the answer.
    pub(super) refused: usize,
    pub(super) unknown_keys: Vec<String>,
}

/// Why a mention can't be placed.
#[derive(Debug, thiserror::Error)]
enum PlaceError {
    #[error("is empty")]
    Empty,
    #[error("is outside the text, which has {chars} characters")]
    Outside { chars: usize },
    #[error("quotes {quoted:?}, but there is {found:?} (characters are Unicode code points)")]
    OtherWords { quoted: String, found: String },
    #[error("has no label")]
    NoLabel,
}

/// True when the first line that tells counts characters and not words; texts without mentions are then read alike.
pub(super) fn are_counted(input: &Input) -> Result<bool, FormatError> {
    let (mut lines, _) = input.look()?;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(|error| FormatError::read(error, input.file_name()))? > 0 {
        let bytes = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).trim_ascii();
        if TextLine::parse(bytes).is_some_and(|text| text.counts_characters()) {
            return Ok(true);
        }
        if serde_json::from_slice::<Telling>(bytes).is_ok_and(|t| t.tokens.is_some() || t.nestling.is_some()) {
            return Ok(false);
        }
        line.clear();
    }
    Ok(false)
}

/// The texts whose words are not given, at the start of the file.
pub(super) fn look_at_lines(input: &Input, evidence: &mut LineEvidence) {
    for line in input.sample().bytes.split(|byte| *byte == b'\n') {
        let without_words = TextLine::parse(line.trim_ascii()).filter(|text| text.tokens.is_none());
        if let Some(text) = without_words {
            evidence.add(&text.text);
        }
    }
}

/// What only lines that count words have, once it is clear that a line is none that counts characters.
#[derive(Deserialize)]
struct Telling {
    nestling: Option<IgnoredAny>,
    tokens: Option<IgnoredAny>,
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

    fn keys(&self) -> [(&'static str, Option<&Value>); 4] {
        [
            ("entities", self.entities.as_ref()),
            ("spans", self.spans.as_ref()),
            ("label", self.label.as_ref()),
            ("labels", self.labels.as_ref()),
        ]
    }

    /// The lists of mentions that there are, by key.
    fn lists(&self) -> impl Iterator<Item = (&'static str, &[Value])> {
        self.keys().into_iter().filter_map(|(key, value)| Some((key, list(value?)?)))
    }

    fn answer(&self, warnings: &mut Vec<String>) -> Option<Answer> {
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
    fn unknown_keys(&self) -> Vec<String> {
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

pub(super) fn read_text(line: &TextLine, ends: Ends, options: &Options) -> Result<ReadText, LineError> {
    let index = OffsetIndex::new(&line.text)?;
    let mut warnings = Vec::new();
    let mut unknown_keys = line.unknown_keys();
    let cut = words(line, &index, segments(&line.text, options), &mut warnings);
    if cut.is_empty() {
        return Err(LineError::NoWords);
    }
    let answer = line.answer(&mut warnings);
    let (said_status, split) =
        (read_status(line.status.as_deref(), &mut warnings), read_split(line.split.as_deref(), &mut warnings));

    let mut reading = Reading { text: &line.text, index: &index, ends, mentions: Vec::new(), lost: Vec::new() };
    let entries: Vec<(&str, &Value)> =
        line.lists().flat_map(|(key, list)| list.iter().map(move |entry| (key, entry))).collect();
    let is_refused = matches!(answer, Some(Answer::Reject | Answer::Ignore));
    if !is_refused {
        for (key, entry) in &entries {
            reading.add(key, entry, answer, &mut warnings, &mut unknown_keys);
        }
    }
    let Reading { mentions, mut lost, .. } = reading;
    let (names, mentions): (Vec<String>, Vec<RawMention>) = mentions.into_iter().unzip();
    let mut fitted = fit(&line.text, &cut, &mentions);
    for (number, why) in &fitted.left_out {
        let Some((name, mention)) = names.get(*number).zip(mentions.get(*number)) else { continue };
        let (message, place) = why.of(name, mention);
        warnings.push(message);
        lost.extend(place);
    }
    // Prodigy's way of asking about one mention at a time.
    let is_one_of_many = line.view.as_ref().and_then(Value::as_str) == Some("ner");
    let is_listed = line.lists().next().is_some();
    let says_none = line.entities.is_some() || answer == Some(Answer::Accept);
    let status = said_status.or(match answer {
        Some(Answer::Reject) => Some(Status::Untouched),
        Some(Answer::Ignore) => Some(Status::Skipped),
        Some(Answer::Unknown) => Some(Status::InProgress),
        _ if is_one_of_many => Some(Status::InProgress),
        _ if !is_listed => Some(Status::Untouched),
        _ => None,
    });
    for sentence in &mut fitted.sentences {
        sentence.status = status;
        sentence.split = split;
        sentence.may_be_unread = status.is_none() && entries.is_empty() && !says_none;
    }
    lost.into_iter().for_each(|lost| fitted.reopen(lost));
    let refused = if is_refused { entries.len() } else { 0 };
    Ok(ReadText { changes: fitted.changes, sentences: fitted.sentences, warnings, refused, unknown_keys })
}

/// The words of the line in the sentences of `cut`, else those of `cut`.
fn words(
    line: &TextLine,
    index: &OffsetIndex<'_>,
    cut: Vec<Vec<TextRange>>,
    warnings: &mut Vec<String>,
) -> Vec<Vec<TextRange>> {
    let Some(given) = &line.tokens else { return cut };
    let Some(places) = places(&line.text, index, given) else {
        warnings.push("`tokens` does not fit the text, which was cut into words anew".to_owned());
        return cut;
    };
    let starts: Vec<usize> = cut.iter().skip(1).filter_map(|s| s.first()).map(|t| t.start().get()).collect();
    let mut sentences: Vec<Vec<TextRange>> = vec![Vec::new(); starts.len() + 1];
    for place in places {
        let of = starts.partition_point(|start| *start <= place.start().get());
        if let Some(sentence) = sentences.get_mut(of) {
            sentence.push(place);
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// Where words are, without white space; `None` where one is not there or not after the one before.
fn places(text: &str, index: &OffsetIndex<'_>, given: &[Word]) -> Option<Vec<TextRange>> {
    let mut places: Vec<TextRange> = Vec::with_capacity(given.len());
    for word in given {
        let range = bytes(index, word.start, word.end).filter(|range| text.get(range.clone()) == Some(&word.text))?;
        let start = range.start + (word.text.len() - word.text.trim_start().len());
        if places.last().is_some_and(|last| last.end().get() > range.start) {
            return None;
        }
        // Of white space nothing is left.
        places.extend(TextRange::in_text(text, start..start + word.text.trim().len()));
    }
    Some(places)
}

fn bytes(index: &OffsetIndex<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let byte = |char| index.char_to_byte(CharIdx::new(char)).map(|byte| byte.get());
    Some(byte(start)?..byte(end)?)
}

/// Mentions of one text on their way.
struct Reading<'t> {
    text: &'t str,
    index: &'t OffsetIndex<'t>,
    ends: Ends,
    /// Each with what warnings call it.
    mentions: Vec<(String, RawMention)>,
    lost: Vec<Lost>,
}

impl Reading<'_> {
    fn add(
        &mut self,
        key: &str,
        entry: &Value,
        answer: Option<Answer>,
        warnings: &mut Vec<String>,
        unknown_keys: &mut Vec<String>,
    ) {
        let object = match Entry::deserialize(entry) {
            Ok(Entry::Triple(start, end, label)) => Object::plain(start, end, label),
            Ok(Entry::Object(object)) => *object,
            Err(_) => {
                let expected = "expected [0,4,\"LABEL\"] or {\"start\":0,\"end\":4,\"label\":\"LABEL\"}";
                let got: String = entry.to_string().chars().take(80).collect();
                let meaning = Lost::Somewhere.meaning();
                warnings.push(format!("an entry of `{key}` is no mention ({expected}), got {got}; {meaning}"));
                return self.lost.push(Lost::Somewhere);
            }
        };
        unknown_keys.extend(saying(&object.other).map(|other| format!("{key}.{other}")));
        let label = object.label.to_string();
        let said = format!("the mention {}-{} ({label})", object.start, object.end);
        let pieces = match self.pieces(&object) {
            Ok(pieces) => pieces,
            Err(error) => {
                let place = bytes(self.index, object.start, object.start);
                let lost = place.map_or(Lost::Somewhere, |place| Lost::At(place.start));
                warnings.push(format!("{said} {error}; {}", lost.meaning()));
                return self.lost.push(lost);
            }
        };
        let name = label.trim().to_owned();
        if name != label {
            warnings.push(format!("the label {label:?} was taken as {name:?}"));
        }
        // A person stands for what was accepted, whatever a program has said of it.
        let mut score = object.score.filter(|_| answer != Some(Answer::Accept));
        if score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            warnings.push(format!("{said} has a score outside 0 to 1, which was left out"));
            score = None;
        }
        let mention = RawMention {
            pieces,
            label: name,
            score,
            attributes: object.attributes.into_iter().map(|(key, value)| (key, to_text(value))).collect(),
            note: object.note,
            source_id: object.id.map(to_text),
        };
        self.mentions.push((said, mention));
    }

    fn pieces(&self, object: &Object) -> Result<Vec<Range<usize>>, PlaceError> {
        let pairs = object.fragments.as_deref().unwrap_or(&[]);
        let pairs = if pairs.is_empty() { &[(object.start, object.end)] } else { pairs };
        let mut pieces = Vec::with_capacity(pairs.len());
        for &(start, end) in pairs {
            let span = self.ends.span(start, end).ok_or(PlaceError::Empty)?;
            let range = bytes(self.index, span.start().get(), span.end().get());
            // Counted for a warning alone: not with every mention of a long text.
            pieces.push(range.ok_or_else(|| PlaceError::Outside { chars: self.text.chars().count() })?);
        }
        if let Some(quoted) = object.text.as_ref().filter(|quoted| !quotes(self.text, &pieces, quoted)) {
            let found: Vec<_> = pieces.iter().filter_map(|piece| self.text.get(piece.clone())).collect();
            return Err(PlaceError::OtherWords { quoted: quoted.clone(), found: found.join(" ") });
        }
        if object.label.to_string().trim().is_empty() {
            return Err(PlaceError::NoLabel);
        }
        Ok(pieces)
    }
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
