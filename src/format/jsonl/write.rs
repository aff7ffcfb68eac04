//! Writing JSON lines.

use super::line::VERSION;
use super::locate::locate;
use super::options::{END, HEADER};
use crate::annotation::{Attributes, Kept, Split, Status};
use crate::format::units::Ends;
use crate::format::{Content, DocumentView, FormatError, MentionView, Options, Receipt, SentenceView};
use crate::text::{ByteIdx, CharIdx, OffsetIndex, TextRange};
use serde::Serialize;
use std::io::{self, Write};

pub(super) fn write(content: Content<'_, '_>, options: &Options, out: &mut dyn Write) -> Result<Receipt, FormatError> {
    let ends = if options.value(&END) == "inclusive" { Ends::Inclusive } else { Ends::Exclusive };
    if options.value(&HEADER) == "yes" {
        let kept = Some(content.definitions).filter(|definitions| !definitions.is_empty());
        write_line(out, &Header { nestling: VERSION, end: ends.name(), kept })?;
    }
    let mut receipt = Receipt::default();
    if options.value(&HEADER) == "no" {
        receipt.lose_definitions(content.definitions, "jsonl");
    }
    let mut last_name: Option<&str> = None;
    for document in content.documents {
        if last_name == Some(document.name) && document.kept.is_empty() {
            write_line(out, &Line { doc: document.name, ..Line::default() })?; // parts it from the one before
        }
        last_name = Some(document.name);
        if !document.kept.is_empty() {
            write_line(out, &Line { doc: document.name, kept: Some(document.kept), ..Line::default() })?;
        }
        if document.sentences.is_empty() {
            let tokens = Some(Vec::new());
            let text = Some(document.text);
            write_line(out, &Line { doc: document.name, text, gap: Some(""), tokens, ..Line::default() })?;
        }
        for sentence in &document.sentences {
            write_line(out, &line_of(&document, sentence, ends))?;
            receipt.mentions += sentence.mentions.len();
        }
        receipt.begin(&document);
    }
    out.flush()?;
    Ok(receipt)
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

fn line_of<'c>(document: &DocumentView<'c>, sentence: &SentenceView<'c>, ends: Ends) -> Line<'c> {
    let says_nothing = sentence.may_be_unread && sentence.mentions.is_empty();
    let tokens: Vec<&str> = sentence.tokens.iter().map(|token| token.of(document.text)).collect();
    Line {
        doc: document.name,
        text: Some(sentence.text),
        gap: Some(sentence.gap).filter(|gap| *gap != "\n"),
        offsets: offsets_if_needed(sentence, &tokens),
        tokens: Some(tokens),
        entities: (!says_nothing).then(|| sentence.mentions.iter().map(|mention| entity_of(mention, ends)).collect()),
        kept: None,
        status: sentence.status.map(Status::id),
        split: sentence.split.map(Split::id),
    }
}

/// The places of the tokens in the sentence's text in code points, unless a reader that looks for the tokens in order
/// finds just these places.
fn offsets_if_needed(sentence: &SentenceView<'_>, tokens: &[&str]) -> Option<Vec<(usize, usize)>> {
    let base = sentence.start();
    let places = sentence.tokens.iter().map(|token| token.start().get() - base..token.end().get() - base);
    let found = locate(sentence.text, tokens.iter().copied());
    if found.is_ok_and(|found| found.iter().map(|range| range.bytes()).eq(places)) {
        return None;
    }
    let index = OffsetIndex::new(sentence.text).ok()?;
    let chars = |byte| index.byte_to_char(ByteIdx::new(byte)).map(CharIdx::get);
    let pair = |token: &TextRange| Some((chars(token.start().get() - base)?, chars(token.end().get() - base)?));
    sentence.tokens.iter().map(pair).collect()
}

fn entity_of<'c>(mention: &MentionView<'c>, ends: Ends) -> EntityLine<'c> {
    let hull = mention.fragments.hull();
    let several = mention.fragments.contiguous().is_none();
    EntityLine {
        start: hull.start().get(),
        end: ends.of(hull),
        label: mention.label,
        fragments: several.then(|| mention.fragments.iter().map(|f| (f.start().get(), ends.of(f))).collect()),
        attributes: mention.attributes.filter(|attributes| !attributes.is_empty()),
        note: Some(mention.note).filter(|note| !note.is_empty()),
        score: mention.score,
        id: mention.source_id,
    }
}

#[derive(Serialize)]
struct Header<'c> {
    nestling: u32,
    end: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<&'c Kept>,
}

#[derive(Serialize, Default)]
struct Line<'c> {
    doc: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Vec<&'c str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offsets: Option<Vec<(usize, usize)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entities: Option<Vec<EntityLine<'c>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    split: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<&'c Kept>,
}

#[derive(Serialize)]
struct EntityLine<'c> {
    start: usize,
    end: usize,
    label: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fragments: Option<Vec<(usize, usize)>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'c Attributes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'c str>,
}
