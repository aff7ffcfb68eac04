//! Reading lines that count characters.
//!
//! # Invariants
//! - What places count is found out by `units`; see there.
//! - The text is cut into sentences as plain text is, and into the words that the line gives, else also as plain text is.
//! - A mention that can't be placed is a warning, and the sentence it was in is not complete.

use super::line::{saying, to_text};
use super::sentence::{LineError, read_split, read_status};
use super::text_line::{Answer, Object, TextLine, Word};
use crate::annotation::Status;
use crate::format::fit::{Changes, Lost, RawMention, fit, quotes};
use crate::format::segments::{LineEvidence, segments};
use crate::format::units::{Counting, Fit, Places, SAY_OFFSETS, fit as fit_of};
use crate::format::{ImportedSentence, Input, Options};
use crate::text::{OffsetIndex, TextRange};
use crate::wording::counted;
use serde_json::Value;
use std::ops::Range;

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
    #[error("is outside the text, which has {}, or inside a character", counted(*chars, "character", "characters"))]
    Outside { chars: usize },
    #[error("quotes {quoted:?}, but there is {found:?} (counted in {counting})")]
    OtherWords { quoted: String, found: String, counting: Counting },
    #[error("has no label")]
    NoLabel,
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

/// Reads a line whose places count so; those that look wrong are reported unless somebody has told what they count.
pub(super) fn read_text(
    line: &TextLine,
    counting: Counting,
    is_told: bool,
    options: &Options,
) -> Result<ReadText, LineError> {
    OffsetIndex::new(&line.text)?;
    let said = line.said();
    let places = counting.places(&line.text, said.iter().flat_map(|said| &said.pieces));
    let mut warnings = Vec::new();
    let mut unknown_keys = line.unknown_keys();
    let cut = words(line, &places, segments(&line.text, options), &mut warnings);
    if cut.is_empty() {
        return Err(LineError::NoWords);
    }
    let answer = line.answer(&mut warnings);
    let (said_status, split) =
        (read_status(line.status.as_deref(), &mut warnings), read_split(line.split.as_deref(), &mut warnings));

    let mut reading =
        Reading { text: &line.text, places: &places, counting, is_told, mentions: Vec::new(), lost: Vec::new() };
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
    places: &Places,
    cut: Vec<Vec<TextRange>>,
    warnings: &mut Vec<String>,
) -> Vec<Vec<TextRange>> {
    let Some(given) = &line.tokens else { return cut };
    let Some(places) = word_places(&line.text, places, given) else {
        warnings.push("`tokens` does not fit the text, which was split into words again".to_owned());
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
fn word_places(text: &str, places: &Places, given: &[Word]) -> Option<Vec<TextRange>> {
    let mut found: Vec<TextRange> = Vec::with_capacity(given.len());
    for word in given {
        let range = places.pieces(&[(word.start, word.end)])?.pop();
        let range = range.filter(|range| text.get(range.clone()) == Some(&word.text))?;
        let start = range.start + (word.text.len() - word.text.trim_start().len());
        if found.last().is_some_and(|last| last.end().get() > range.start) {
            return None;
        }
        // Of white space nothing is left.
        found.extend(TextRange::in_text(text, start..start + word.text.trim().len()));
    }
    Some(found)
}

/// Mentions of one text on their way.
struct Reading<'t> {
    text: &'t str,
    places: &'t Places,
    counting: Counting,
    is_told: bool,
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
        let Some(object) = Object::of(entry) else {
            let expected = "expected [0,4,\"LABEL\"] or {\"start\":0,\"end\":4,\"label\":\"LABEL\"}";
            let got: String = entry.to_string().chars().take(80).collect();
            let meaning = Lost::Somewhere.meaning();
            warnings.push(format!("an entry of `{key}` is not a mention ({expected}), got {got}; {meaning}"));
            return self.lost.push(Lost::Somewhere);
        };
        unknown_keys.extend(saying(&object.other).map(|other| format!("{key}.{other}")));
        let label = object.label.to_string();
        let said = format!("the mention {}-{} ({label})", object.start, object.end);
        let pieces = match self.pieces(&object) {
            Ok(pieces) => pieces,
            Err(error) => {
                let first = object.pieces().first().and_then(|(start, _)| self.places.before(*start));
                let lost = first.map_or(Lost::Somewhere, Lost::At);
                warnings.push(format!("{said} {error}; {}", lost.meaning()));
                return self.lost.push(lost);
            }
        };
        if !self.is_told && object.text.is_none() && fit_of(self.text, &pieces, None) == Fit::Astride {
            let words: Vec<_> = pieces.iter().filter_map(|piece| self.text.get(piece.clone())).collect();
            warnings.push(format!(
                "{said} is {:?} (counted in {}) and begins or ends in the middle of a word, so its sentence is not complete; \
                 if places count something else, set the option {SAY_OFFSETS}",
                words.join(" "),
                self.counting
            ));
            self.lost.extend(pieces.first().map(|piece| Lost::At(piece.start)));
        }
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
        let pairs = object.pieces();
        if pairs.iter().any(|&(start, end)| self.counting.ends.span(start, end).is_none()) {
            return Err(PlaceError::Empty);
        }
        // Counted for a warning alone: not with every mention of a long text.
        let outside = || PlaceError::Outside { chars: self.text.chars().count() };
        let pieces = self.places.pieces(&pairs).ok_or_else(outside)?;
        if let Some(quoted) = object.text.as_ref().filter(|quoted| !quotes(self.text, &pieces, quoted)) {
            let found: Vec<_> = pieces.iter().filter_map(|piece| self.text.get(piece.clone())).collect();
            let (quoted, found) = (quoted.clone(), found.join(" "));
            return Err(PlaceError::OtherWords { quoted, found, counting: self.counting });
        }
        if object.label.to_string().trim().is_empty() {
            return Err(PlaceError::NoLabel);
        }
        Ok(pieces)
    }
}
