//! From a project to a file.

use crate::annotation::{Corpus, Kept, Label, Sentence, Status, SuggestionsById};
use crate::format::{DocumentView, ImportedLabel, Options, Receipt, Shown, by_id, views};
use crate::session::export::readback::{Source, write_read_back};
use crate::session::project::Project;
use crate::session::{Part, SessionError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(super) mod readback;
pub(super) mod resegmented;

/// Which annotations to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExportWhat {
    #[default]
    Gold,
    Suggestions,
}

/// What to write, and how.
#[derive(Clone, Debug, Default)]
pub struct ExportRequest {
    /// Format id.
    pub format: String,
    pub options: Vec<(String, String)>,
    /// `None`: all.
    pub split: Option<Part>,
    pub what: ExportWhat,
    /// Also sentences that are not complete.
    pub all_statuses: bool,
    /// Write nothing when something can't be represented.
    pub strict: bool,
}

/// What an export did.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportReceipt {
    pub format: &'static str,
    pub written: Receipt,
    /// Sentences of the split that were left out because they are not complete.
    pub left_out: usize,
}

/// A project as it is now, to be exported on another thread.
#[derive(Clone)]
pub struct ExportView {
    corpus: Arc<Corpus>,
    suggestions: Arc<SuggestionsById>,
    definitions: Kept,
}

impl Project {
    pub fn export_view(&self) -> ExportView {
        ExportView {
            corpus: self.snapshot_of_corpus(),
            suggestions: self.snapshot_of_suggestions(),
            definitions: self.settings().definitions.clone(),
        }
    }
}

impl ExportView {
    /// Writes a file, replacing one of the same name, or a new folder, only when all went well. Waits for the disk.
    ///
    /// # Errors
    /// Unknown formats and options, a disk that does not take it, a file that reads back differently; with `strict`
    /// also anything that can't be represented. Nothing is written then.
    pub fn export(&self, request: &ExportRequest, path: &Path) -> Result<ExportReceipt, SessionError> {
        let format = by_id(&request.format)?;
        let options = Options::new(request.options.iter().cloned(), &[format])?;
        let labels: Vec<ImportedLabel> = self.corpus.labels().iter().map(described).collect();
        let (definitions, cancel) = (&self.definitions, &AtomicBool::new(false));
        let source = Source { labels: &labels, definitions, documents: &|| self.views(request), cancel };
        let written = write_read_back(&source, format, &options, request.strict, path)?;
        let of_split = |s: &&Sentence| request.split.is_none_or(|part| part.holds(s));
        let all = self.corpus.sentences().filter(of_split).count();
        Ok(ExportReceipt {
            format: format.id(),
            left_out: all - written.sentences - written.left_out_sentences,
            written,
        })
    }

    fn views<'v>(&'v self, request: &ExportRequest) -> impl Iterator<Item = DocumentView<'v>> + 'v {
        let (split, all) = (request.split, request.all_statuses || request.split == Some(Part::Pool));
        let shown = match request.what {
            ExportWhat::Gold => Shown::Gold,
            ExportWhat::Suggestions => Shown::Suggestions(&self.suggestions),
        };
        views(&self.corpus, shown, move |s| {
            (all || s.status() == Status::Complete) && split.is_none_or(|part| part.holds(s))
        })
    }
}

fn described(label: &Label) -> ImportedLabel {
    ImportedLabel { name: label.name.clone(), title: label.title.clone(), color: Some(label.color), key: label.key }
}
