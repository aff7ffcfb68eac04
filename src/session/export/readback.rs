//! Documents to a file or folder: written beside its place, read back and compared, then put there.
//!
//! # Invariants
//! - What is read back equals what was to be written without what the receipt lists as lost.
//! - One document that reads back differently costs itself only: the rest is written again without it.
//! - One document is compared at a time; nothing keeps the whole export in memory.

use crate::annotation::{Kept, LabelSet};
use crate::format::{
    Content, DocumentView, Folder, Format, FormatError, ImportedDocument, ImportedLabel, Input, Layout, LossKind,
    OneFile, Options, Output, Receipt, Sink, Warning, choose_unit,
};
use crate::session::SessionError;
use crate::session::export::resegmented::{self, Places};
use crate::session::files::{fill_folder, write_checked};
use crate::wording::{counted, listed};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is written, and can be gone through twice.
pub(in crate::session) struct Source<'a, I> {
    pub(in crate::session) labels: &'a [ImportedLabel],
    pub(in crate::session) definitions: &'a Kept,
    pub(in crate::session) documents: &'a dyn Fn() -> I,
    /// Nothing is put in place once this is raised.
    pub(in crate::session) cancel: &'a AtomicBool,
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
pub(in crate::session) fn write_read_back<'c, I: Iterator<Item = DocumentView<'c>>>(
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
            let refuse_losses = |receipt: &Receipt| match receipt.losses.len() {
                count if self.strict && count > 0 => Err(SessionError::NotRepresented { count }),
                _ => Ok(()),
            };
            refuse_losses(&receipt)?;
            if receipt.documents > 0 {
                let found = self.read_back(&receipt, files)?;
                if !self.format.holds().tokens {
                    let written = self.written(&receipt).map(|(_, view, _)| view);
                    receipt.losses.extend(resegmented::losses(written, &found));
                }
                refuse_losses(&receipt)?;
            }
            if !self.format.holds().label_looks {
                receipt.notes.extend(lost_looks(self.source.labels));
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

    /// Those that the writer has not left out, with their numbers among all and among those that it was given.
    fn written(&self, receipt: &Receipt) -> impl Iterator<Item = (usize, DocumentView<'c>, usize)> {
        let left_out = receipt.left_out.clone();
        let given = self.documents().zip(1..).map(|((number, view), at)| (number, view, at));
        given.filter(move |(_, _, at)| !left_out.contains(at))
    }

    /// Reads as anybody would; gives the words and sentences that were found.
    fn read_back(&self, receipt: &Receipt, files: &[PathBuf]) -> Result<Places, SessionError> {
        let format = self.format;
        let mut options: Vec<(String, String)> = self.options.for_own_files(format).given().collect();
        let own = format.options_to_read_back().iter();
        options.extend(own.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        let inputs = files.iter().filter_map(|file| Some((format, Input::file(file).ok()?)));
        options.extend(choose_unit(inputs, &options).map(|(option, _)| option));
        let options = Options::new(options, &[format])?;

        let expected = self.written(receipt).map(|(number, view, at)| (number, units(&view, receipt, at, format)));
        let (mut differing, mut found) = (Vec::new(), Places::default());
        if format.layout() == Layout::Folder {
            // A file is a document.
            let mut files = files.iter();
            for (number, units) in expected {
                let Some(file) = files.next() else {
                    differing.push((number, "its file is missing".to_owned()));
                    break;
                };
                let units = units.into_iter().map(|unit| (number, unit));
                differing.extend(self.compare(file, &options, units, &mut found)?);
            }
        } else if let Some(file) = files.first() {
            let units = expected.flat_map(|(number, units)| units.into_iter().map(move |unit| (number, unit)));
            differing.extend(self.compare(file, &options, units, &mut found)?);
        }
        let Some((_, what)) = differing.first() else { return Ok(found) };
        let error = SessionError::ReadsBackDifferently { what: what.clone(), path: self.path.to_owned() };
        self.difference.replace(Some(Difference { documents: differing }));
        Err(error)
    }

    /// The first difference between a file and what it is to hold, with the document where it is.
    fn compare(
        &self,
        file: &Path,
        options: &Options,
        expected: impl Iterator<Item = (usize, Unit)>,
        found: &mut Places,
    ) -> Result<Option<(usize, String)>, SessionError> {
        stop_if(self.source.cancel)?;
        let mut comparing = Comparing { expected: expected.peekable(), format: self.format, difference: None, found };
        match self.format.read(Input::file(file)?, options, &mut comparing) {
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
        let missing = comparing.expected.next().filter(|_| self.format.holds().mentions);
        Ok(missing.map(|(number, missing)| (number, format!("{:?} is missing", missing.shown()))))
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
    found: &'f mut Places,
}

impl<I: Iterator<Item = (usize, Unit)>> Sink for Comparing<'_, I> {
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()> {
        if !self.format.holds().tokens {
            self.found.add(&document);
        }
        if !self.format.holds().mentions {
            return ControlFlow::Continue(()); // of plain text the words alone are left, which may be split otherwise
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Span;
    use crate::format::{Holds, ImportedMention, ImportedSentence, OptionSpec, Sample, Sniff, by_id};
    use crate::text::tokenize;

    /// Writes as another format does, but for the mentions of some documents.
    struct Forgetful(&'static dyn Format);

    impl Format for Forgetful {
        fn id(&self) -> &'static str {
            self.0.id()
        }

        fn title(&self) -> &'static str {
            self.0.title()
        }

        fn extensions(&self) -> &'static [&'static str] {
            self.0.extensions()
        }

        fn holds(&self) -> Holds {
            self.0.holds()
        }

        fn layout(&self) -> Layout {
            self.0.layout()
        }

        fn options(&self) -> &'static [OptionSpec] {
            self.0.options()
        }

        fn sniff(&self, sample: &Sample<'_>) -> Option<Sniff> {
            self.0.sniff(sample)
        }

        fn read(&self, input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
            self.0.read(input, options, sink)
        }

        fn write(
            &self,
            content: Content<'_, '_>,
            options: &Options,
            out: &mut dyn Output,
        ) -> Result<Receipt, FormatError> {
            let Content { labels, definitions, documents } = content;
            let documents = &mut documents.map(|mut view| {
                let mut sentences = view.sentences.iter_mut().filter(|_| view.name.starts_with("bad"));
                if let Some(sentence) = sentences.next() {
                    sentence.mentions.clear();
                }
                view
            });
            self.0.write(Content { labels, definitions, documents }, options, out)
        }
    }

    #[test]
    fn documents_that_read_back_differently_cost_themselves_only() {
        let document = |name: &str| {
            let sentence = ImportedSentence {
                tokens: tokenize("Anna left."),
                mentions: vec![ImportedMention::new(Span::from_range(0..1).unwrap(), "PER")],
                ..ImportedSentence::default()
            };
            let (name, text) = (name.to_owned(), "Anna left.".into());
            ImportedDocument { name, text, kept: Kept::new(), sentences: vec![sentence] }
        };
        let all = ["a", "bad 1", "b", "bad 2", "c"].map(document);
        let dir = tempfile::tempdir().unwrap();
        for (id, name) in [("brat", "out"), ("jsonl", "out.jsonl"), ("conll", "out.conll")] {
            let format = Forgetful(by_id(id).unwrap());
            let documents = || all.iter().map(ImportedDocument::view);
            let (cancel, definitions) = (AtomicBool::new(false), Kept::new());
            let source = Source { labels: &[], definitions: &definitions, documents: &documents, cancel: &cancel };
            let path = dir.path().join(name);
            let receipt = write_read_back(&source, &format, &Options::default(), false, &path).unwrap();
            assert_eq!((receipt.documents, receipt.sentences, receipt.left_out_sentences), (3, 3, 2), "{id}");
            let losses: Vec<_> = receipt.losses.iter().map(ToString::to_string).collect();
            assert_eq!(losses.len(), 2, "{id}: {losses:?}");
            assert!(losses[0].starts_with("bad 1: the document was left out"), "{losses:?}");
            assert!(path.exists(), "{id}");
            let strict = write_read_back(&source, &format, &Options::default(), true, &dir.path().join("strict"));
            assert!(strict.is_err(), "{id}");
        }
    }
}
