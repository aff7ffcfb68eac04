//! Documents to a file or folder: written beside its place, read back and compared, then put there.
//!
//! # Invariants
//! - What is read back equals what was to be written without the mentions that the receipt lists as lost.
//! - One document is compared at a time; nothing keeps the whole export in memory.

use super::SessionError;
use super::files::{fill_folder, write_checked};
use super::resegmented::{self, Places};
use crate::annotation::LabelSet;
use crate::format::{
    Content, DocumentView, Folder, Format, FormatError, ImportedDocument, ImportedLabel, Input, Layout, OneFile,
    Options, Output, Receipt, Sink, Warning, choose_unit,
};
use crate::wording::{counted, listed};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written, and can be gone through twice.
pub(super) struct Source<'a, I> {
    pub(super) labels: &'a [ImportedLabel],
    pub(super) documents: &'a dyn Fn() -> I,
    /// Nothing is put in place once this is raised.
    pub(super) cancel: &'a AtomicBool,
}

/// Writes to a file, replacing one of the same name, or to a new or empty folder, when all went well.
///
/// # Errors
/// A disk that does not take it, something that reads back differently; with `strict` also anything that can't be
/// represented. Nothing is written then.
pub(super) fn write_read_back<'c, I: Iterator<Item = DocumentView<'c>>>(
    source: &Source<'_, I>,
    format: &dyn Format,
    options: &Options,
    strict: bool,
    path: &Path,
) -> Result<Receipt, SessionError> {
    let replaces = path.is_file();
    let refuse_losses = |receipt: &Receipt| match receipt.losses.len() {
        count if strict && count > 0 => Err(SessionError::NotRepresented { count }),
        _ => Ok(()),
    };
    let accept = |mut receipt: Receipt, files: &[PathBuf]| {
        stop_if(source.cancel)?;
        refuse_losses(&receipt)?;
        if receipt.documents > 0 {
            let found = read_back(source, format, options, &receipt, files, path)?;
            if !format.holds().tokens {
                receipt.losses.extend(resegmented::losses((source.documents)(), &found));
            }
            refuse_losses(&receipt)?;
        }
        if !format.holds().label_looks {
            receipt.notes.extend(lost_looks(source.labels));
        }
        stop_if(source.cancel)?;
        if replaces {
            receipt.notes.push(format!("the file that was there before was replaced: {}", path.display()));
        }
        Ok(receipt)
    };
    let write = |out: &mut dyn Output| {
        let documents = &mut (source.documents)();
        format.write(Content { labels: source.labels, documents }, options, out)
    };
    match format.layout() {
        Layout::File => write_checked(
            path,
            |out| Ok(write(&mut OneFile(out))?),
            |file, receipt| accept(receipt, &[file.to_owned()]),
        ),
        Layout::Folder => fill_folder(path, |folder| {
            let mut out = Folder::at(folder);
            let receipt = write(&mut out)?;
            let is_first = |file: &&PathBuf| {
                let ending = file.extension().and_then(|e| e.to_str());
                ending.is_some_and(|ending| format.extensions().first() == Some(&ending))
            };
            let files: Vec<PathBuf> = out.files().iter().filter(is_first).cloned().collect();
            accept(receipt, &files)
        }),
    }
}

fn stop_if(cancel: &AtomicBool) -> Result<(), SessionError> {
    if cancel.load(Ordering::Relaxed) { Err(SessionError::Stopped) } else { Ok(()) }
}

/// What is not in the file of how labels look, unless that is what an import would propose anyway.
fn lost_looks(labels: &[ImportedLabel]) -> Option<String> {
    let proposed = LabelSet::proposed(labels.iter().map(|label| label.name.as_str()));
    let is_lost = |label: &&ImportedLabel| {
        proposed.by_name(&label.name).is_none_or(|plain| {
            !label.title.is_empty()
                || label.color.is_some_and(|color| color != plain.color)
                || (label.key.is_some() && label.key != plain.key)
        })
    };
    let lost: Vec<&str> = labels.iter().filter(is_lost).map(|label| label.name.as_str()).collect();
    let what = counted(lost.len(), "label is", "labels are");
    (!lost.is_empty()).then(|| format!("the title, colour and key of {what} not in the file: {}", listed(&lost)))
}

/// Reads as anybody would; gives the words and sentences that were found.
fn read_back<'c, I: Iterator<Item = DocumentView<'c>>>(
    source: &Source<'_, I>,
    format: &dyn Format,
    options: &Options,
    receipt: &Receipt,
    files: &[PathBuf],
    path: &Path,
) -> Result<Places, SessionError> {
    let differs = |what: String| SessionError::ReadsBackDifferently { what, path: path.to_owned() };
    let expected = (source.documents)().enumerate();
    let expected = expected.flat_map(|(at, view)| units(&view, receipt, at + 1, format));
    let mut comparing = Comparing { expected, format, difference: None, found: Places::default() };
    let mut given: Vec<(String, String)> = options.given().collect();
    given.extend(format.options_to_read_back().iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    let inputs = files.iter().filter_map(|file| Some((format, Input::file(file).ok()?)));
    given.extend(choose_unit(inputs, &given).map(|(option, _)| option));
    let options = Options::new(given, &[format])?;
    for file in files {
        stop_if(source.cancel)?;
        match format.read(Input::file(file)?, &options, &mut comparing) {
            // A document without sentences is nothing to compare.
            Ok(()) | Err(FormatError::Stopped { .. } | FormatError::NoSentence { .. } | FormatError::Empty { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(difference) = comparing.difference.take() {
            return Err(differs(difference));
        }
    }
    match comparing.expected.next().filter(|_| format.holds().mentions) {
        Some(missing) => Err(differs(format!("{:?} is missing", missing.shown()))),
        None => Ok(comparing.found),
    }
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
struct Comparing<'f, I> {
    expected: I,
    format: &'f dyn Format,
    difference: Option<String>,
    found: Places,
}

impl<I: Iterator<Item = Unit>> Sink for Comparing<'_, I> {
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()> {
        if !self.format.holds().tokens {
            self.found.add(&document);
        }
        if !self.format.holds().mentions {
            return ControlFlow::Continue(()); // of plain text the words alone are left, which may be split otherwise
        }
        for got in units(&document.view(), &Receipt::default(), 1, self.format) {
            match self.expected.next() {
                Some(want) if want == got => {}
                want => {
                    let want = want.map(|want| (want.shown(), want.mentions));
                    let got = (got.shown(), got.mentions);
                    self.difference = Some(format!("expected {want:?}, got {got:?}"));
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn label(&mut self, _: ImportedLabel) {}

    fn warning(&mut self, warning: Warning) {
        self.difference.get_or_insert(warning.to_string());
    }

    fn note(&mut self, _: String) {}
}
