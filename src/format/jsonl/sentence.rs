//! From a line to a sentence.

use super::line::{Entity, Line, Tag, to_text};
use super::locate::locate;
use crate::annotation::{Fragments, FragmentsError, Span, Split, Status};
use crate::format::tags::Notation;
use crate::format::units::{Counting, Ends, Forced, Places};
use crate::format::{ImportedMention, ImportedSentence};
use crate::text::{TextRange, TextTooLong, tokenize};
use crate::wording::counted;

/// A sentence whose tokens are ranges of its own text.
pub(super) struct ReadSentence {
    pub(super) text: String,
    pub(super) sentence: ImportedSentence,
    /// What was left out of it.
    pub(super) warnings: Vec<String>,
    /// One that would be a single token if ends were inclusive.
    pub(super) has_empty_entity: bool,
}

/// Why a line can't be a sentence.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("it has neither `tokens` nor `text`")]
    NoText,
    #[error("`text` holds no words")]
    NoWords,
    #[error(transparent)]
    TooLong(#[from] TextTooLong),
    #[error("`tokens` is empty")]
    NoTokens,
    #[error("token {0} is empty")]
    EmptyToken(usize),
    #[error("token {position}, {token:?}, is not in the text after the tokens before it")]
    TokenNotInText { position: usize, token: String },
    #[error("`offsets` does not fit: token {position}, {token:?}, is not there in the text")]
    TokenNotThere { position: usize, token: String },
    #[error("`offsets` has {} for {}", counted(*found, "pair", "pairs"), counted(*tokens, "token", "tokens"))]
    OffsetCount { found: usize, tokens: usize },
    #[error("it has entities but no `tokens` for them to count")]
    EntitiesWithoutTokens,
    #[error("`ner_tags` has {} for {}", counted(*found, "tag", "tags"), counted(*tokens, "token", "tokens"))]
    TagCount { found: usize, tokens: usize },
    #[error("`ner_tags` holds numbers, and what they stand for is not in the file")]
    NoNames,
    #[error("`ner_tags` holds {0}, and the option names has fewer names")]
    NoSuchName(i64),
    #[error("tag {position} is {tag:?}, which names no label")]
    BadTag { position: usize, tag: String },
}

/// Why an entity can't be a mention; the rest of its line can be read.
#[derive(Debug, thiserror::Error)]
enum EntityError {
    #[error("has no token")]
    Empty,
    #[error("has no token (if `end` names the last token, set the option end=inclusive)")]
    EmptyIfExclusive,
    #[error("is outside the sentence of {}", counted(*tokens, "token", "tokens"))]
    Outside { tokens: usize },
    #[error("can't be read because {0}")]
    Fragments(#[from] FragmentsError),
    #[error("has no label")]
    NoLabel,
}

impl LineError {
    pub(super) fn needs_option(&self) -> bool {
        matches!(self, LineError::NoNames)
    }
}

pub(super) fn read_sentence(
    line: Line,
    ends: Ends,
    names: &[String],
    notation: &Notation,
) -> Result<ReadSentence, LineError> {
    let (text, tokens) = text_and_tokens(&line)?;
    let mut read = ReadSentence {
        text,
        sentence: ImportedSentence { tokens, ..ImportedSentence::default() },
        warnings: Vec::new(),
        has_empty_entity: false,
    };
    read.sentence.status = read_status(line.status.as_deref(), &mut read.warnings);
    read.sentence.split = read_split(line.split.as_deref(), &mut read.warnings);
    match (line.entities, line.ner_tags) {
        (Some(entities), tags) => {
            if line.tokens.is_none() && !entities.is_empty() {
                return Err(LineError::EntitiesWithoutTokens);
            }
            if tags.is_some() {
                read.warnings.push("it has both entities and ner_tags; ner_tags were left out".to_owned());
            }
            for entity in entities {
                read.add_entity(entity, ends);
            }
        }
        (None, Some(tags)) => read.add_tags(&tags, names, notation)?,
        // It says nothing of what the sentence holds.
        (None, None) if read.sentence.status.is_none() => read.sentence.status = Some(Status::Untouched),
        (None, None) => {}
    }
    Ok(read)
}

pub(super) fn read_status(name: Option<&str>, warnings: &mut Vec<String>) -> Option<Status> {
    let status = Status::from_id(name?);
    if status.is_none() {
        warnings.push(format!("the status {:?} is unknown and was left out", name.unwrap_or_default()));
    }
    status
}

pub(super) fn read_split(name: Option<&str>, warnings: &mut Vec<String>) -> Option<Split> {
    let split = to_split(name?);
    if split.is_none() {
        warnings.push(format!("the split {:?} is unknown and was left out", name.unwrap_or_default()));
    }
    split
}

fn text_and_tokens(line: &Line) -> Result<(String, Vec<TextRange>), LineError> {
    match (&line.text, &line.tokens) {
        (None, None) => Err(LineError::NoText),
        (Some(text), None) => Ok((text.clone(), tokenize(text))),
        (None, Some(tokens)) => {
            if tokens.is_empty() {
                return Err(LineError::NoTokens);
            }
            let mut text = String::new();
            let mut places = Vec::with_capacity(tokens.len());
            for (position, token) in tokens.iter().enumerate() {
                if position > 0 {
                    text.push(' ');
                }
                let start = text.len();
                text.push_str(token);
                places.push(TextRange::in_text(&text, start..text.len()).ok_or(LineError::EmptyToken(position))?);
            }
            Ok((text, places))
        }
        (Some(text), Some(tokens)) => {
            if let Some(position) = tokens.iter().position(String::is_empty) {
                return Err(LineError::EmptyToken(position));
            }
            let places = match &line.offsets {
                Some(offsets) => check_offsets(text, tokens, offsets)?,
                None => locate(text, tokens.iter().map(String::as_str)).map_err(|position| {
                    let token = tokens.get(position).cloned().unwrap_or_default();
                    LineError::TokenNotInText { position, token }
                })?,
            };
            Ok((text.clone(), places))
        }
    }
}

/// Offsets of tokens, half-open: counted in code points, or in whatever finds the tokens there.
fn check_offsets(text: &str, tokens: &[String], offsets: &[(usize, usize)]) -> Result<Vec<TextRange>, LineError> {
    if offsets.len() != tokens.len() {
        return Err(LineError::OffsetCount { found: offsets.len(), tokens: tokens.len() });
    }
    let forced = Forced { unit: None, ends: Some(Ends::Exclusive) };
    let mut problem = None;
    for counting in Counting::all(forced) {
        match check_counted(text, tokens, offsets, &counting.places(text, offsets.iter())) {
            Ok(places) => return Ok(places),
            Err(error) => problem.get_or_insert(error),
        };
        if text.is_ascii() {
            break;
        }
    }
    Err(problem.unwrap_or(LineError::NoTokens))
}

fn check_counted(
    text: &str,
    tokens: &[String],
    offsets: &[(usize, usize)],
    counted: &Places,
) -> Result<Vec<TextRange>, LineError> {
    let mut at = 0;
    let mut places = Vec::with_capacity(tokens.len());
    for (position, (token, offset)) in tokens.iter().zip(offsets).enumerate() {
        let range = counted.pieces(std::slice::from_ref(offset)).and_then(|mut pieces| pieces.pop());
        let place = range.and_then(|range| TextRange::in_text(text, range));
        let place = place.filter(|place| place.start().get() >= at && place.of(text) == token);
        let place = place.ok_or_else(|| LineError::TokenNotThere { position, token: token.clone() })?;
        at = place.end().get();
        places.push(place);
    }
    Ok(places)
}

impl ReadSentence {
    fn add_entity(&mut self, entity: Entity, ends: Ends) {
        let Entity { start, end, label, .. } = &entity;
        let said = format!("the entity {start}-{end} ({label})");
        self.has_empty_entity |= ends == Ends::Exclusive && start == end;
        let pairs = entity.fragments.as_deref().unwrap_or(&[(*start, *end)]).to_vec();
        let fragments = match to_fragments(&pairs, ends, self.sentence.tokens.len()) {
            Ok(_) if label.trim().is_empty() => return self.leave_out(&said, EntityError::NoLabel),
            Ok(fragments) => fragments,
            Err(error) => return self.leave_out(&said, error),
        };
        let name = label.trim().to_owned();
        if name != *label {
            self.warnings.push(format!("the label {label:?} was taken as {name:?}"));
        }
        let attributes = entity.attributes.into_iter().map(|(key, value)| (key, to_text(value))).collect();
        if let Some(same) = self.sentence.mentions.iter_mut().find(|m| m.fragments == fragments && m.label == name) {
            self.warnings.push(format!("{said} is there twice; it was kept once"));
            return same.absorb(&attributes, &entity.note);
        }
        let mut score = entity.score;
        if score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
            self.warnings.push(format!("{said} has a score outside 0 to 1, which was left out"));
            score = None;
        }
        self.sentence.mentions.push(ImportedMention {
            fragments,
            label: name,
            score,
            attributes,
            note: entity.note,
            source_id: entity.id.map(to_text),
        });
    }

    /// The sentence lacks an entity now, so it can't say that everything else is outside.
    fn leave_out(&mut self, said: &str, why: EntityError) {
        self.warnings.push(format!("{said} {why}; it was left out, so the sentence is not complete"));
        self.sentence.status = Some(Status::InProgress);
    }

    fn add_tags(&mut self, tags: &[Tag], names: &[String], notation: &Notation) -> Result<(), LineError> {
        let tokens = self.sentence.tokens.len();
        if tags.len() != tokens {
            return Err(LineError::TagCount { found: tags.len(), tokens });
        }
        let mut missing = 0;
        let mut texts = Vec::with_capacity(tags.len());
        for tag in tags {
            texts.push(match tag {
                Tag::Name(name) => name.trim(),
                Tag::Number(-100) => {
                    missing += 1;
                    "O"
                }
                Tag::Number(_) if names.is_empty() => return Err(LineError::NoNames),
                Tag::Number(number) => {
                    let name = usize::try_from(*number).ok().and_then(|at| names.get(at));
                    name.ok_or(LineError::NoSuchName(*number))?
                }
            });
        }
        let spans =
            notation.decode(&texts).map_err(|(position, tag)| LineError::BadTag { position, tag: tag.to_owned() })?;
        let mentions = spans.into_iter().map(|(span, label)| ImportedMention::new(span, label.trim()));
        self.sentence.mentions.extend(mentions);
        if missing > 0 {
            let message = format!("{missing} of {tokens} tags are missing (-100), so the sentence is not complete");
            self.warnings.push(message);
            self.sentence.status = Some(Status::InProgress);
        }
        Ok(())
    }
}

fn to_fragments(pairs: &[(usize, usize)], ends: Ends, tokens: usize) -> Result<Fragments, EntityError> {
    let empty = match ends {
        Ends::Exclusive => EntityError::EmptyIfExclusive,
        Ends::Inclusive => EntityError::Empty,
    };
    let spans: Option<Vec<Span>> = pairs.iter().map(|&(start, end)| ends.span(start, end)).collect();
    let spans = spans.ok_or(empty)?;
    if spans.iter().any(|span| span.end().get() > tokens) {
        return Err(EntityError::Outside { tokens });
    }
    Ok(Fragments::new(spans)?)
}

/// The command line's words for the rest are understood, too.
fn to_split(name: &str) -> Option<Split> {
    match name {
        "train" | "pool" => Some(Split::Rest),
        other => Split::from_id(other),
    }
}
