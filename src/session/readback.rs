//! Documents to a file or folder: written beside its place, read back and compared, then put there.
//!
//! # Invariants
//! - What is read back equals what was to be written without what the receipt lists as lost.
//! - One document that reads back differently costs itself only: the rest is written again without it.
//! - One document is compared at a time; nothing keeps the whole export in memory.

use super::SessionError;
use super::files::{fill_folder, write_checked};
use crate::annotation::Kept;
use crate::format::{
    Content, DocumentView, Folder, Format, FormatError, ImportedDocument, ImportedLabel, Input, Layout, LossKind,
    OneFile, Options, Output, Receipt, Sink, Warning,
};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written, and can be gone through twice.
pub(super) struct Source<'a, I> {
    pub(super) labels: &'a [ImportedLabel],
    pub(super) definitions: &'a Kept,
    pub(super) documents: &'a dyn Fn() -> I,
    /// Nothing is put in place once this is raised.
    pub(super) cancel: &'a AtomicBool,
}

/// How often the rest is written again without a document that reads back differently.
const MOST_ROUNDS: usize = 10;

/// Documents that read back differently.
struct Difference {
    /// By their numbers among all, with how.
    documents: Vec<(usize, String)>,
}

/// Writes to a file, replacing one of the same name, or to a new or empty folder, when all went well.
///
/// # Errors
/// A disk that does not take it, files that read back differently whatever is left out; with `strict` also anything that
/// can't be represented. Nothing is written then.
pub(super) fn write_read_back<'c, I: Iterator<Item = DocumentView<'c>>>(
    source: &Source<'_, I>,
    format: &dyn Format,
    options: &Options,
    strict: bool,
    path: &Path,
) -> Result<Receipt, SessionError> {
    let mut without = BTreeSet::new();
    for round in 0.. {
        let difference = RefCell::new(None);
        let writing = Writing { source, format, options, strict, path, without: &without, difference: &difference };
        let result = writing.write();
        match difference.into_inner() {
            Some(Difference { documents }) if round < MOST_ROUNDS && !documents.is_empty() => {
                without.extend(documents.into_iter().map(|(number, _)| number));
            }
            _ => return result,
        }
    }
    Err(SessionError::Stopped) // the last round has returned
}

/// One try.
struct Writing<'w, 'a, I> {
    source: &'w Source<'a, I>,
    format: &'w dyn Format,
    options: &'w Options,
    strict: bool,
    path: &'w Path,
    /// Documents that are left out, by their numbers among all.
    without: &'w BTreeSet<usize>,
    /// What is found on reading back.
    difference: &'w RefCell<Option<Difference>>,
}

impl<'c, I: Iterator<Item = DocumentView<'c>>> Writing<'_, '_, I> {
    fn write(&self) -> Result<Receipt, SessionError> {
        let replaces = self.path.is_file();
        let accept = |mut receipt: Receipt, files: &[PathBuf]| {
            stop_if(self.source.cancel)?;
            for (number, view) in (self.source.documents)().zip(1..).map(|(view, number)| (number, view)) {
                if self.without.contains(&number) {
                    receipt.leave_out(&view, "", LossKind::ReadsBackDifferently);
                }
            }
            if self.strict && !receipt.losses.is_empty() {
                return Err(SessionError::NotRepresented { count: receipt.losses.len() });
            }
            if self.format.holds().mentions && receipt.documents > 0 {
                self.read_back(&receipt, files)?;
            }
            stop_if(self.source.cancel)?;
            if replaces {
                receipt.notes.push(format!("the file that was there before was replaced: {}", self.path.display()));
            }
            Ok(receipt)
        };
        let write = |out: &mut dyn Output| {
            let documents = &mut self.documents().map(|(_, view)| view);
            let Source { labels, definitions, .. } = self.source;
            self.format.write(Content { labels, definitions, documents }, self.options, out)
        };
        match self.format.layout() {
            Layout::File => write_checked(
                self.path,
                |out| Ok(write(&mut OneFile(out))?),
                |file, receipt| accept(receipt, &[file.to_owned()]),
            ),
            Layout::Folder => fill_folder(self.path, |folder| {
                let mut out = Folder::at(folder);
                let receipt = write(&mut out)?;
                let is_first = |file: &&PathBuf| {
                    let ending = file.extension().and_then(|e| e.to_str());
                    ending.is_some_and(|ending| self.format.extensions().first() == Some(&ending))
                };
                let files: Vec<PathBuf> = out.files().iter().filter(is_first).cloned().collect();
                accept(receipt, &files)
            }),
        }
    }

    /// Those that are to be written, with their numbers among all.
    fn documents(&self) -> impl Iterator<Item = (usize, DocumentView<'c>)> {
        let all = (self.source.documents)().zip(1..).map(|(view, number)| (number, view));
        all.filter(|(number, _)| !self.without.contains(number))
    }

    /// Reads as anybody would.
    fn read_back(&self, receipt: &Receipt, files: &[PathBuf]) -> Result<(), SessionError> {
        let format = self.format;
        // The writer has counted those that it was given.
        let given = self.documents().zip(1..).filter(|(_, at)| !receipt.left_out.contains(at));
        let expected = given.map(|((number, view), at)| (number, units(&view, receipt, at, format)));
        let mut documents = Vec::new();
        if format.layout() == Layout::Folder {
            // A file is a document.
            let mut files = files.iter();
            for (number, units) in expected {
                let (Some(file), first) = (files.next(), units.first().map(Unit::shown)) else {
                    documents.push((number, "its file is missing".to_owned()));
                    break;
                };
                let found = self.compare(file, units.into_iter().map(|unit| (number, unit)))?;
                documents.extend(found.map(|(_, what)| (number, format!("{}: {what}", first.unwrap_or_default()))));
            }
        } else if let Some(file) = files.first() {
            let units = expected.flat_map(|(number, units)| units.into_iter().map(move |unit| (number, unit)));
            documents.extend(self.compare(file, units)?);
        }
        let Some((_, what)) = documents.first() else { return Ok(()) };
        let error = SessionError::ReadsBackDifferently { what: what.clone(), path: self.path.to_owned() };
        self.difference.replace(Some(Difference { documents }));
        Err(error)
    }

    /// The first difference between a file and what it is to hold, with the document where it is.
    fn compare(
        &self,
        file: &Path,
        expected: impl Iterator<Item = (usize, Unit)>,
    ) -> Result<Option<(usize, String)>, SessionError> {
        stop_if(self.source.cancel)?;
        let mut comparing = Comparing { expected: expected.peekable(), format: self.format, difference: None };
        let options = self.options.for_own_files(self.format);
        match self.format.read(Input::file(file)?, &options, &mut comparing) {
            // A document without sentences is nothing to compare.
            Ok(()) | Err(FormatError::Stopped { .. } | FormatError::NoSentence { .. } | FormatError::Empty { .. }) => {}
            Err(error) => {
                // What was written lies beside its place, under a name that means nothing to people.
                let place = self.path.display().to_string();
                let what = error.to_string().replace(&file.display().to_string(), &place);
                return Err(SessionError::ReadsBackDifferently { what, path: self.path.to_owned() });
            }
        }
        if let Some(difference) = comparing.difference.take() {
            return Ok(Some(difference));
        }
        Ok(comparing.expected.next().map(|(number, missing)| (number, format!("{:?} is missing", missing.shown()))))
    }
}

fn stop_if(cancel: &AtomicBool) -> Result<(), SessionError> {
    if cancel.load(Ordering::Relaxed) { Err(SessionError::Stopped) } else { Ok(()) }
}

/// What is compared: a sentence with its words, or a document with its text where the format does not hold the words.
#[derive(PartialEq)]
struct Unit {
    words: Vec<String>,
    /// In tokens of the sentence or in bytes of the text, with the label.
    mentions: Vec<(Vec<Range<usize>>, String)>,
}

impl Unit {
    fn shown(&self) -> String {
        self.words.join(" ").chars().take(80).collect()
    }
}

fn units(view: &DocumentView<'_>, receipt: &Receipt, number: usize, format: &dyn Format) -> Vec<Unit> {
    let by_text = format.holds().text && !format.holds().tokens;
    let lost = receipt.lost_mentions(number);
    let mut whole = Unit { words: vec![view.written_text()], mentions: Vec::new() };
    let mut sentences = Vec::new();
    let mut base = 0;
    for sentence in &view.sentences {
        let words = sentence.tokens.iter().map(|t| format.spelled(t.of(view.text))).collect();
        let mut unit = Unit { words, mentions: Vec::new() };
        let start = sentence.start();
        for mention in &sentence.mentions {
            if lost.contains(&(sentence.number, &mention.fragments, mention.label)) {
                continue;
            }
            let label = receipt.renamed_labels.get(mention.label).map_or(mention.label, String::as_str).to_owned();
            let spans = mention.fragments.iter().map(|span| span.range());
            if by_text {
                let bytes = spans.filter_map(|span| sentence.bytes(span));
                let moved = bytes.map(|range| range.start - start + base..range.end - start + base);
                whole.mentions.push((moved.collect(), label));
            } else {
                unit.mentions.push((spans.collect(), label));
            }
        }
        base += sentence.text.len() + sentence.gap.len();
        sentences.push(unit);
    }
    let mut units = if by_text { vec![whole] } else { sentences };
    for unit in &mut units {
        unit.mentions.sort_by(|a, b| (key(&a.0), &a.1).cmp(&(key(&b.0), &b.1)));
    }
    units
}

fn key(ranges: &[Range<usize>]) -> Vec<(usize, usize)> {
    ranges.iter().map(|r| (r.start, r.end)).collect()
}

/// Compares what comes with what was to come.
struct Comparing<'f, I: Iterator<Item = (usize, Unit)>> {
    expected: Peekable<I>,
    format: &'f dyn Format,
    /// The first one, with the number of its document.
    difference: Option<(usize, String)>,
}

impl<I: Iterator<Item = (usize, Unit)>> Sink for Comparing<'_, I> {
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()> {
        let mut last = 0;
        for got in units(&document.view(), &Receipt::default(), 1, self.format) {
            match self.expected.next() {
                Some((number, want)) if want == got => last = number,
                want => {
                    let number = want.as_ref().map_or(last, |(number, _)| *number);
                    let want = want.map(|(_, want)| (want.shown(), want.mentions));
                    let got = (got.shown(), got.mentions);
                    self.difference = Some((number, format!("expected {want:?}, got {got:?}")));
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn label(&mut self, _: ImportedLabel) {}

    fn warning(&mut self, warning: Warning) {
        let number = self.expected.peek().map_or(0, |(number, _)| *number);
        self.difference.get_or_insert((number, format!("{}, line {:?}", warning.message, warning.line)));
    }

    /// It was kept, and written as it is.
    fn kept(&mut self, _: Warning) {}

    fn note(&mut self, _: String) {}
}
