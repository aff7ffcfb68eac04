//! A model as a filter: documents in, the same documents with what the model finds out. No project, constant memory.

use crate::annotation::Kept;
use crate::format::{
    Content, Format, ImportedDocument, ImportedLabel, ImportedMention, Input, OneFile, Options, Sink, Warning, by_id,
    detect,
};
use crate::session::PredictReport;
use crate::session::SessionError;
use crate::session::error::stopped;
use crate::session::import::lengths::Lengths;
use crate::train::{PredictOptions, Predictor, Snapshot};
use crate::wording::counted;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Sentences that are in memory at a time, at most, where the format allows.
const PART: usize = 256;

/// What goes through which model.
#[derive(Clone, Copy, Debug)]
pub struct FilterRequest<'a> {
    /// A model's folder.
    pub model: &'a Path,
    pub threads: Option<usize>,
    pub predict: PredictOptions,
    /// Format id of the input; `None`: tell it from what is in it.
    pub format: Option<&'a str>,
    /// Of this format.
    pub options: &'a [(String, String)],
    /// What messages call the input.
    pub name: &'a str,
}

/// What a filtering did.
#[derive(Clone, Debug, Default)]
pub struct FilterReport {
    pub documents: usize,
    pub predicted: PredictReport,
    /// Mentions of the input that are not in the output. A warning says so, too.
    pub replaced: usize,
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
}

/// Reads documents, predicts, and writes them as JSONL with scores, one document at a time.
///
/// # Errors
/// A model that can't be loaded, an option that the format does not have, an input that can't be read, an output that
/// can't be written, a stop.
pub fn filter(
    request: &FilterRequest<'_>,
    input: Input,
    out: &mut dyn Write,
    cancel: &AtomicBool,
) -> Result<FilterReport, SessionError> {
    let (reader, found) = match request.format {
        Some(id) => (by_id(id)?, None),
        None => {
            let detected = detect(request.name, &input.sample())?;
            (detected.format, Some(format!("{}: {}", request.name, detected.found)))
        }
    };
    let reading = Options::new(request.options.iter().cloned(), &[reader])?;
    let predictor = Predictor::load_with_threads(&Snapshot::any(request.model), request.threads)?;
    let predict = request.predict;
    let writer = by_id("jsonl")?;
    let started = Instant::now();
    let (options, mut report) = (Options::default(), FilterReport::default());
    report.notes.extend(found);
    let (lengths, failure) = (Lengths::default(), None);
    let mut pipe = Pipe { predictor: &predictor, predict, writer, options, out, cancel, report, lengths, failure };
    let read = reader.read(input, &reading, &mut pipe);
    let Pipe { mut report, failure, lengths, .. } = pipe;
    report.notes.extend(lengths.note());
    match failure {
        Some(error) => return Err(error),
        None => read?,
    }
    if report.replaced > 0 {
        let were = counted(report.replaced, "mention was", "mentions were");
        let message = format!("{were} left out: what the model predicts takes their place");
        report.warnings.push(Warning { file: request.name.to_owned(), line: None, message });
    }
    report.predicted.wall_secs = started.elapsed().as_secs_f64();
    Ok(report)
}

struct Pipe<'a> {
    predictor: &'a Predictor,
    predict: PredictOptions,
    writer: &'static dyn Format,
    options: Options,
    out: &'a mut dyn Write,
    cancel: &'a AtomicBool,
    report: FilterReport,
    lengths: Lengths,
    failure: Option<SessionError>,
}

impl Pipe<'_> {
    fn pass(&mut self, mut document: ImportedDocument) -> Result<(), SessionError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(SessionError::Stopped);
        }
        self.lengths.add(&document);
        let texts: Vec<Vec<String>> = document.words().collect();
        let predictions = self.predictor.predict(&texts, self.predict, self.cancel).map_err(stopped)?;
        let manifest = self.predictor.manifest();
        for (sentence, prediction) in document.sentences.iter_mut().zip(predictions) {
            self.report.predicted.sentences += 1;
            self.report.predicted.candidates += prediction.candidates;
            self.report.predicted.heads += prediction.first_words_from(self.predictor.threshold(self.predict));
            let named = prediction.spans.iter().filter(|s| s.chosen).filter_map(|s| {
                let (_, name) = manifest.labels.iter().find(|(id, _)| *id == s.label)?;
                Some(ImportedMention { score: Some(s.score), ..ImportedMention::new(s.span, name) })
            });
            self.report.replaced += sentence.mentions.len();
            sentence.mentions = named.collect();
            self.report.predicted.suggestions += sentence.mentions.len();
        }
        self.report.documents += 1;
        let content =
            Content { labels: &[], definitions: &Kept::new(), documents: &mut std::iter::once(document.view()) };
        self.writer.write(content, &self.options, &mut OneFile(&mut *self.out))?;
        // One header for all: later documents, and the parts of a long one, are appended.
        self.options = Options::new([("header".to_owned(), "no".to_owned())], &[self.writer])?;
        Ok(())
    }
}

impl Sink for Pipe<'_> {
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()> {
        if let Err(why) = document.check() {
            let message = format!("the document was left out: {why}");
            self.report.warnings.push(Warning { file: document.name, line: None, message });
            return ControlFlow::Continue(());
        }
        match self.pass(document) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn label(&mut self, _: ImportedLabel) {} // the model has its own

    fn longest_document(&self) -> usize {
        PART
    }

    fn warning(&mut self, warning: Warning) {
        self.report.warnings.push(warning);
    }

    fn note(&mut self, note: String) {
        self.report.notes.push(note);
    }
}
