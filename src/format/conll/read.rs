//! Reading columns.

use super::scheme::{Evidence, Scheme, faults, parts};
use super::{DOCSTART, LAYERS, SCHEME, TOKEN, number};
use crate::annotation::{Kept, Status};
use crate::format::{
    FormatError, ImportedDocument, ImportedMention, ImportedSentence, Input, Options, Sink, Warning, tags,
};
use crate::text::TextRange;
use crate::wording::counted;
use std::collections::BTreeMap;

/// Line numbers that a warning names at most.
const NAMED_LINES: usize = 10;

/// Where things stand in a row.
struct Columns {
    tabs: bool,
    count: usize,
    token: usize,
    layers: usize,
}

/// One row of a sentence.
struct Row<'t> {
    line: usize,
    token: &'t str,
    tags: Vec<&'t str>,
}

#[derive(Default)]
struct RawSentence<'t> {
    rows: Vec<Row<'t>>,
    /// A row is missing.
    is_damaged: bool,
}

pub(super) fn read(input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
    let (name, file) = (input.name().to_owned(), input.file_name().to_owned());
    let whole = input.text(sink)?;
    let text = whole.strip_prefix('\u{feff}').unwrap_or(&whole);
    let columns = Columns::find(text, options, &file)?;
    let mut warn = |line, message| sink.warning(Warning { file: file.clone(), line: Some(line), message });
    let (documents, comments) = rows(text, &columns, &mut warn);
    let sentences = || documents.iter().flatten();
    if sentences().all(|s| s.rows.is_empty()) {
        return Err(FormatError::NoSentence { file });
    }
    let mut evidence = Evidence::default();
    for (sentence, layer) in sentences().flat_map(|s| (0..columns.layers).map(move |layer| (s, layer))) {
        evidence.add(&sentence.tags(layer));
    }
    let scheme = Scheme::from_name(options.value(&SCHEME)).unwrap_or_else(|| {
        let found = evidence.scheme();
        sink.note(format!("read as {}; else set the option scheme=…: {file}", found.name()));
        found
    });
    let unread = columns.count - columns.layers - 1;
    if unread > 0 {
        let plural = if unread == 1 { "column was" } else { "columns were" };
        sink.note(format!("{unread} of {} {plural} not read: {file}", columns.count));
    }
    if comments > 0 {
        sink.note(format!(
            "{} not read: {file}",
            counted(comments, "line is a comment and was", "lines are comments and were")
        ));
    }
    let is_bare = sentences().flat_map(|s| &s.rows).flat_map(|row| &row.tags).all(|tag| *tag == "O");
    let mut building = Building {
        scheme,
        layers: columns.layers,
        is_bare,
        repaired: Vec::new(),
        bare: BTreeMap::new(),
        warnings: Vec::new(),
    };
    let several = documents.len() > 1;
    for (sentences, at) in documents.iter().zip(1..) {
        let name = if several { format!("{name}-{at}") } else { name.clone() };
        let document = building.document(name, sentences);
        for (line, message) in building.warnings.drain(..) {
            sink.warning(Warning { file: file.clone(), line: Some(line), message });
        }
        if sink.document(document).is_break() {
            return Err(FormatError::Stopped { file });
        }
    }
    for (tag, lines) in &building.bare {
        let message = format!(
            "the tag {tag:?} has no prefix of {} and was read as a label of this name ({})",
            scheme.name(),
            named(lines)
        );
        sink.warning(Warning { file: file.clone(), line: lines.first().copied(), message });
    }
    building.repaired.sort_unstable();
    if let Some(first) = building.repaired.first() {
        let message = format!(
            "{} follow {}; a mention was taken to begin or end there ({})",
            counted(building.repaired.len(), "tag doesn't", "tags don't"),
            scheme.name(),
            named(&building.repaired),
        );
        sink.warning(Warning { file, line: Some(*first), message });
    }
    Ok(())
}

/// "line 3", "lines 3, 7, 9".
fn named(lines: &[usize]) -> String {
    let first: Vec<String> = lines.iter().take(NAMED_LINES).map(usize::to_string).collect();
    let more = if lines.len() > NAMED_LINES { ", …" } else { "" };
    format!("{} {}{more}", if lines.len() == 1 { "line" } else { "lines" }, first.join(", "))
}

impl Columns {
    fn find(text: &str, options: &Options, file: &str) -> Result<Self, FormatError> {
        let (layers, token) = (number(options, &LAYERS)?, number(options, &TOKEN)? - 1);
        let lines = || text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#') && !l.starts_with(DOCSTART));
        let tabs = lines().next().is_some_and(|line| line.contains('\t'));
        let mut counts = BTreeMap::new();
        for line in lines() {
            *counts.entry(split(line, tabs).len()).or_insert(0usize) += 1;
        }
        let count = counts.iter().max_by_key(|(_, lines)| **lines).map_or(0, |(count, _)| *count);
        if count > 0 && (count < layers + 1 || token >= count - layers) {
            return Err(FormatError::WrongFormat {
                format: "CoNLL columns",
                found: format!(
                    "most rows have {count} columns; the token is sought in column {} and tags in the last {layers}",
                    token + 1
                ),
                file: file.to_owned(),
            });
        }
        Ok(Self { tabs, count, token, layers })
    }
}

/// At tabs, else at blanks: a no-break space belongs to its token.
fn split(line: &str, tabs: bool) -> Vec<&str> {
    if tabs { line.split('\t').collect() } else { line.split_ascii_whitespace().collect() }
}

/// Documents of sentences of rows, and how many comments there are.
fn rows<'t>(
    text: &'t str,
    columns: &Columns,
    warn: &mut dyn FnMut(usize, String),
) -> (Vec<Vec<RawSentence<'t>>>, usize) {
    let mut documents: Vec<Vec<RawSentence<'t>>> = vec![Vec::new()];
    let mut open = RawSentence::default();
    let mut comments = 0;
    let mut end = |open: &mut RawSentence<'t>, begins_document: bool| {
        let sentence = std::mem::take(open);
        let Some(last) = documents.last_mut() else { return };
        if !sentence.rows.is_empty() {
            last.push(sentence);
        }
        if begins_document && !last.is_empty() {
            documents.push(Vec::new());
        }
    };
    for (line, number) in text.split('\n').zip(1..) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let cells = split(line, columns.tabs);
        if line.trim().is_empty() {
            end(&mut open, false);
        } else if open.rows.is_empty() && line.split_whitespace().next() == Some(DOCSTART) {
            end(&mut open, true);
        } else if cells.len() == columns.count && cells.get(columns.token).is_some_and(|token| !token.trim().is_empty())
        {
            let tags: Vec<_> = cells.iter().skip(columns.count - columns.layers).map(|tag| tag.trim()).collect();
            let is_tag = |tag: &&str| *tag == "O" || super::scheme::parts(tag).is_some();
            if line.starts_with('#') && open.rows.is_empty() && !tags.iter().all(is_tag) {
                comments += 1;
                continue;
            }
            let token = cells.get(columns.token).copied().unwrap_or_default();
            open.rows.push(Row { line: number, token, tags });
        } else if line.starts_with('#') {
            comments += 1;
        } else {
            open.is_damaged = true;
            let found = cells.len();
            warn(
                number,
                format!(
                    "the row has {found} columns or no token, expected {} columns; it was left out, so the sentence is not complete",
                    columns.count
                ),
            );
        }
    }
    end(&mut open, false);
    if documents.len() > 1 && documents.last().is_some_and(Vec::is_empty) {
        documents.pop();
    }
    (documents, comments)
}

impl<'t> RawSentence<'t> {
    fn tags(&self, layer: usize) -> Vec<&'t str> {
        self.rows.iter().map(|row| row.tags.get(layer).copied().unwrap_or("O")).collect()
    }
}

struct Building {
    scheme: Scheme,
    layers: usize,
    /// The file has no mention at all: perhaps nobody has begun.
    is_bare: bool,
    /// Lines whose tag does not follow the scheme.
    repaired: Vec<usize>,
    /// Tags without a prefix among tags that have one, with their lines.
    bare: BTreeMap<String, Vec<usize>>,
    warnings: Vec<(usize, String)>,
}

impl Building {
    /// The tokens with one blank between them, a line a sentence.
    fn document(&mut self, name: String, raw: &[RawSentence<'_>]) -> ImportedDocument {
        let mut text = String::new();
        let mut sentences = Vec::with_capacity(raw.len());
        for sentence in raw {
            let mut tokens = Vec::with_capacity(sentence.rows.len());
            for (row, at) in sentence.rows.iter().zip(0..) {
                if at > 0 {
                    text.push(' ');
                }
                let start = text.len();
                text.push_str(row.token);
                tokens.extend(TextRange::in_text(&text, start..text.len()));
            }
            text.push('\n');
            let mut read = ImportedSentence { tokens, may_be_unread: self.is_bare, ..ImportedSentence::default() };
            read.status = sentence.is_damaged.then_some(Status::InProgress);
            for layer in 0..self.layers {
                self.add_mentions(sentence, layer, &mut read);
            }
            sentences.push(read);
        }
        ImportedDocument { name, text: text.into(), kept: Kept::new(), sentences }
    }

    fn add_mentions(&mut self, sentence: &RawSentence<'_>, layer: usize, read: &mut ImportedSentence) {
        let mut column = sentence.tags(layer);
        let line = |at: usize| sentence.rows.get(at).map_or(0, |row| row.line);
        let spans = loop {
            match tags::decode(&column) {
                Ok(spans) => break spans,
                Err((at, tag)) => {
                    let message =
                        format!("the tag {tag:?} names no label; it was left out, so the sentence is not complete");
                    self.warnings.push((line(at), message));
                    read.status = Some(Status::InProgress);
                    let Some(bad) = column.get_mut(at) else { return };
                    *bad = "O";
                }
            }
        };
        if self.scheme != Scheme::Io {
            for (at, tag) in column.iter().enumerate().filter(|(_, tag)| **tag != "O" && parts(tag).is_none()) {
                self.bare.entry((*tag).to_owned()).or_default().push(line(at));
            }
        }
        self.repaired.extend(faults(self.scheme, &column).into_iter().map(line));
        for (span, label) in spans {
            let mention = ImportedMention::new(span, label.trim());
            if read.mentions.iter().any(|m| m.fragments == mention.fragments && m.label == mention.label) {
                let message = format!("the same mention ({label}) is in two columns; it was kept once");
                self.warnings.push((line(span.start().get()), message));
            } else {
                read.mentions.push(mention);
            }
        }
    }
}
