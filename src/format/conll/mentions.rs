//! From the tags of columns to mentions.

use super::assembly::{Assembly, named};
use super::brackets;
use super::options::{LABEL, SCHEME};
use crate::annotation::{Fragments, Span, Status};
use crate::format::scheme::Scheme;
use crate::format::tag_order::{Evidence, faults};
use crate::format::tags::{Doubt, Notation, Tag};
use crate::format::{FormatError, ImportedMention, ImportedSentence, Options};
use crate::wording::counted;
use std::collections::{BTreeMap, HashSet};

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
        evidence.settle(&mut self.notation, asked);
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
