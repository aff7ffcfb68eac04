//! Reading columns.

use super::assembly::{Assembly, Sentence, named, place};
use super::blocks::{Block, blocks, comment_value};
use super::layout::Layout;
use super::{LABEL, SCHEME, brackets, conllu, words};
use crate::annotation::{Fragments, Span, Status};
use crate::format::scheme::{Evidence, Scheme, faults};
use crate::format::tags::{Doubt, Notation, Tag};
use crate::format::{FormatError, ImportedMention, ImportedSentence, Input, Options, Sink, foreign};
use crate::wording::counted;
use std::collections::{BTreeMap, HashSet};

pub(super) fn read(input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
    foreign::refuse(&input)?;
    let (name, file) = (input.name().to_owned(), input.file_name().to_owned());
    let whole = input.text(sink)?;
    let text = whole.strip_prefix('\u{feff}').unwrap_or(&whole);
    let mut assembly = Assembly::new(name, file, text, sink);
    if let Some(fields) = conllu::Fields::find(text, options, assembly.file())? {
        return words::read(text, &fields, options, &mut assembly);
    }
    let layout = Layout::find(text, options, assembly.file())?;
    let mut tags = Tags::new(layout.are_brackets);
    if !layout.tags.is_empty() && !layout.are_brackets {
        tags.find(|| layout.tag_sequences(text), options, &mut assembly)?;
    } else if layout.are_brackets {
        tags.is_bare = layout.tag_sequences(text).flatten().all(|cell| !cell.contains('('));
    }
    for note in &layout.notes {
        assembly.note(note);
    }
    if let Some(unread) = &layout.unread_tags {
        assembly.warn(1, unread.clone());
    }
    Reader { layout, tags, has_header: false, comments: 0, unquoted: 0 }.run(text, &mut assembly)
}

/// How tags become mentions, and what was found wrong with them.
pub(super) struct Tags {
    notation: Notation,
    are_brackets: bool,
    /// The file has no mention at all: perhaps nobody has begun.
    pub(super) is_bare: bool,
    /// Lines whose tag does not follow the scheme.
    repaired: Vec<usize>,
    /// Tags without a prefix among tags that have one, with their lines.
    bare: BTreeMap<String, Vec<usize>>,
    /// Lines with a mention that was there before.
    doubled: Vec<usize>,
    /// The mentions of the sentence.
    seen: HashSet<(Fragments, String)>,
}

impl Tags {
    /// No tags.
    pub(super) fn new(are_brackets: bool) -> Self {
        Self {
            notation: Notation::usual(Scheme::Iob2),
            are_brackets,
            is_bare: true,
            repaired: Vec::new(),
            bare: BTreeMap::new(),
            doubled: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Finds out from all tags of a file how they are spelled and what their prefixes mean.
    ///
    /// # Errors
    /// It can't be told.
    pub(super) fn find<'t, I: Iterator<Item = Vec<&'t str>>>(
        &mut self,
        sequences: impl Fn() -> I,
        options: &Options,
        assembly: &mut Assembly<'_>,
    ) -> Result<(), FormatError> {
        let asked = Scheme::from_name(options.value(&SCHEME));
        let mut counts = BTreeMap::new();
        for tag in sequences().flatten() {
            *counts.entry(tag).or_insert(0) += 1;
        }
        let doubt = |doubt: Doubt| FormatError::NeedsOption {
            why: doubt.to_string(),
            option: doubt.option(),
            file: assembly.file().to_owned(),
        };
        self.notation = Notation::find(&counts, asked, options.value(&LABEL)).map_err(doubt)?;
        let mut evidence = Evidence::default();
        for tags in sequences() {
            evidence.add(&tags, &self.notation);
        }
        self.notation.settle(&evidence, asked);
        self.is_bare = evidence.is_empty();
        if asked.is_none() {
            assembly.note(&format!("read as {}; else set the option scheme=…", self.notation.shown()));
        }
        Ok(())
    }

    pub(super) fn notation(&self) -> &Notation {
        &self.notation
    }

    /// The mentions of one column of one sentence; `line` says where a row is, `span` which tokens rows are.
    pub(super) fn add(
        &mut self,
        column: &[&str],
        line: &dyn Fn(usize) -> usize,
        span: &dyn Fn(Span) -> Option<Span>,
        read: &mut ImportedSentence,
        assembly: &mut Assembly<'_>,
    ) {
        let spans: Vec<(Span, String)> = if self.are_brackets {
            let (spans, odd) = brackets::decode(column);
            for at in odd {
                read.status = Some(Status::InProgress);
                let cell = column.get(at).copied().unwrap_or_default();
                let message = format!(
                    "the bracket {cell:?} has no other one in its sentence; it was left out, so the sentence is not complete"
                );
                assembly.warn(line(at), message);
            }
            spans.into_iter().map(|(span, label)| (span, label.to_owned())).collect()
        } else {
            self.decode(column, line, read, assembly)
        };
        for (of_rows, label) in spans {
            let Some(span) = span(of_rows) else { continue };
            self.push(ImportedMention::new(span, label.trim()), line(of_rows.start().get()), read);
        }
    }

    /// Adds a mention unless it is there.
    pub(super) fn push(&mut self, mention: ImportedMention, line: usize, read: &mut ImportedSentence) {
        if read.mentions.is_empty() {
            self.seen.clear(); // another sentence
        }
        if self.seen.insert((mention.fragments.clone(), mention.label.clone())) {
            read.mentions.push(mention);
        } else {
            self.doubled.push(line);
        }
    }

    fn decode(
        &mut self,
        column: &[&str],
        line: &dyn Fn(usize) -> usize,
        read: &mut ImportedSentence,
        assembly: &mut Assembly<'_>,
    ) -> Vec<(Span, String)> {
        let mut column = column.to_vec();
        let spans = loop {
            match self.notation.decode(&column) {
                Ok(spans) => break spans,
                Err((at, tag)) => {
                    let message =
                        format!("the tag {tag:?} names no label; it was left out, so the sentence is not complete");
                    assembly.warn(line(at), message);
                    read.status = Some(Status::InProgress);
                    let Some(bad) = column.get_mut(at) else { return Vec::new() };
                    *bad = "O";
                }
            }
        };
        if !matches!(self.notation.scheme, Scheme::Io | Scheme::Plain) {
            for (at, tag) in column.iter().enumerate() {
                if matches!(self.notation.read(tag), Tag::Bare(_)) {
                    self.bare.entry((*tag).to_owned()).or_default().push(line(at));
                }
            }
        }
        self.repaired.extend(faults(&self.notation, &column).into_iter().map(line));
        spans.into_iter().map(|(span, label)| (span, label.to_owned())).collect()
    }

    /// What was found wrong, each kind once.
    pub(super) fn tell(mut self, assembly: &mut Assembly<'_>) {
        let scheme = self.notation.scheme.name();
        for (tag, lines) in &self.bare {
            let message = format!(
                "the tag {tag:?} has no prefix of {scheme} and was read as a label of this name ({})",
                named(lines)
            );
            assembly.warn(lines.first().copied().unwrap_or_default(), message);
        }
        self.repaired.sort_unstable();
        if let Some(first) = self.repaired.first() {
            let message = format!(
                "{} follow {scheme}; a mention was taken to begin or end there ({})",
                counted(self.repaired.len(), "tag doesn't", "tags don't"),
                named(&self.repaired),
            );
            assembly.warn(*first, message);
        }
        if let Some(first) = self.doubled.first() {
            let message = format!(
                "{} there twice, with the same words and label; each was kept once ({})",
                counted(self.doubled.len(), "mention is", "mentions are"),
                named(&self.doubled)
            );
            assembly.warn(*first, message);
        }
    }
}

impl Layout {
    /// The tags of each sentence and column.
    fn tag_sequences<'t>(&self, text: &'t str) -> impl Iterator<Item = Vec<&'t str>> {
        let mut header = self.has_header;
        blocks(text).flat_map(move |block| {
            let rows: Vec<Vec<&str>> = block
                .lines
                .iter()
                .map(|(_, line)| (line, self.separator.split(line)))
                .filter(|(line, cells)| {
                    let is_row = self.count.fits(cells) && (!line.starts_with('#') || self.is_row_of_tags(cells));
                    is_row && !std::mem::take(&mut header)
                })
                .map(|(_, cells)| cells)
                .collect();
            let column = |tag: &usize| rows.iter().map(|cells| cells.get(*tag).copied().unwrap_or("O")).collect();
            self.tags.iter().map(column).collect::<Vec<Vec<&str>>>()
        })
    }

    fn is_row_of_tags(&self, cells: &[&str]) -> bool {
        self.tags.iter().all(|tag| cells.get(*tag).is_some_and(|cell| super::profile::is_marked(cell)))
    }
}

struct Reader {
    layout: Layout,
    tags: Tags,
    /// The row that names the columns has been passed.
    has_header: bool,
    comments: usize,
    /// Sentences whose words are not those of the text that the file quotes.
    unquoted: usize,
}

/// One row of a sentence.
struct Row<'t> {
    line: usize,
    token: &'t str,
    tags: Vec<&'t str>,
}

impl Reader {
    fn run(mut self, text: &str, assembly: &mut Assembly<'_>) -> Result<(), FormatError> {
        for block in blocks(text) {
            if let Some(name) = &block.begins {
                assembly.begin(name.clone())?;
            }
            self.block(&block, assembly)?;
        }
        assembly.finish()?;
        if self.comments > 0 {
            let lines = counted(self.comments, "line is a comment and was", "lines are comments and were");
            assembly.note(&format!("{lines} not read"));
        }
        if self.unquoted > 0 {
            let sentences = counted(self.unquoted, "sentence", "sentences");
            assembly.note(&format!(
                "the text of {sentences} is quoted with other words; words were put together with blanks"
            ));
        }
        self.tags.tell(assembly);
        Ok(())
    }

    fn block(&mut self, block: &Block<'_>, assembly: &mut Assembly<'_>) -> Result<(), FormatError> {
        let mut read = ImportedSentence { may_be_unread: self.tags.is_bare, ..ImportedSentence::default() };
        let (mut rows, mut quoted): (Vec<Row<'_>>, _) = (Vec::new(), None);
        for (line, text) in block.lines.iter().copied() {
            let cells = self.layout.separator.split(text);
            let token = cells.get(self.layout.token).copied().unwrap_or_default();
            let fits = self.layout.count.fits(&cells) && !token.is_empty();
            if text.starts_with('#') && !(fits && (!rows.is_empty() || self.is_row_of_tags(&cells))) {
                match comment_value(text, "text").filter(|_| rows.is_empty()) {
                    Some(value) => quoted = Some(value),
                    None => self.comments += 1,
                }
            } else if fits && self.layout.has_header && !self.has_header {
                self.has_header = true;
            } else if fits {
                let tags = self.layout.tags.iter().map(|tag| cells.get(*tag).copied().unwrap_or("O")).collect();
                rows.push(Row { line, token, tags });
            } else {
                read.status = Some(Status::InProgress);
                let (found, expected) = (cells.len(), self.layout.count.get());
                assembly.warn(
                    line,
                    format!(
                        "the row has {found} columns or no token, expected {expected} columns; it was left out, so the sentence is not complete"
                    ),
                );
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let words: Vec<(&str, bool)> = rows.iter().map(|row| (row.token, true)).collect();
        let (text, tokens, is_unquoted) = place(&words, quoted);
        self.unquoted += usize::from(is_unquoted);
        read.tokens = tokens;
        let line = |at: usize| rows.get(at).map_or(0, |row| row.line);
        for layer in 0..self.layout.tags.len() {
            let column: Vec<&str> = rows.iter().map(|row| row.tags.get(layer).copied().unwrap_or("O")).collect();
            self.tags.add(&column, &line, &|span| Some(span), &mut read, assembly);
        }
        assembly.add(Sentence { text, sentence: read, begins_paragraph: false })
    }

    /// A row that begins with `#` is one only if its tags say something.
    fn is_row_of_tags(&self, cells: &[&str]) -> bool {
        let says = |cell: &&str| !matches!(self.tags.notation().read(cell), Tag::Bare(_) | Tag::Nameless);
        self.layout.tags.iter().all(|tag| cells.get(*tag).is_some_and(says))
    }
}
