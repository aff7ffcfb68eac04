//! From a project to a file: written beside its place, read back and compared, then put there.

use super::project::Project;
use super::{Part, SessionError, write_whole};
use crate::annotation::{Corpus, Fragments, Sentence, SentenceId, SentenceSuggestions, Status};
use crate::format::{Collected, DocumentView, Format, Input, Options, Receipt, Shown, by_id, views};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

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
    suggestions: Arc<HashMap<SentenceId, SentenceSuggestions>>,
}

impl Project {
    pub fn export_view(&self) -> ExportView {
        ExportView { corpus: Arc::clone(&self.corpus), suggestions: Arc::clone(&self.suggestions) }
    }
}

impl ExportView {
    /// Writes a file, replacing one of the same name only when all went well. Waits for the disk.
    ///
    /// # Errors
    /// Unknown formats and options, a disk that does not take it, a file that reads back differently; with `strict`
    /// also anything that can't be represented. Nothing is written then.
    pub fn export(&self, request: &ExportRequest, path: &Path) -> Result<ExportReceipt, SessionError> {
        let format = by_id(&request.format)?;
        let options = Options::new(request.options.iter().cloned(), &[format])?;
        let written = write_whole(path, |out| {
            // In memory first: what is read back is just what will be in the file.
            let mut bytes = Vec::new();
            let written = format.write(&mut self.views(request), &options, &mut bytes)?;
            if request.strict && !written.losses.is_empty() {
                return Err(SessionError::NotRepresented { count: written.losses.len() });
            }
            self.read_back(format, request, &options, &bytes, path)?;
            out.write_all(&bytes).map_err(|source| SessionError::Io {
                doing: "write the file",
                source,
                path: path.into(),
            })?;
            Ok(written)
        })?;
        let of_split = |s: &&Sentence| request.split.is_none_or(|part| part.holds(s));
        let all = self.corpus.sentences().filter(of_split).count();
        Ok(ExportReceipt { format: format.id(), left_out: all - written.sentences, written })
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

    /// Reads the file as anybody would and compares it with what was to be written.
    fn read_back(
        &self,
        format: &dyn Format,
        request: &ExportRequest,
        options: &Options,
        bytes: &[u8],
        path: &Path,
    ) -> Result<(), SessionError> {
        if !format.holds().mentions || self.views(request).next().is_none() {
            return Ok(());
        }
        let mut read = Collected::default();
        format.read(Input::bytes("export", bytes)?, options, &mut read)?;
        let same =
            read.documents.iter().flat_map(|d| content(&d.view())).eq(self.views(request).flat_map(|d| content(&d)));
        if same && read.warnings.is_empty() {
            Ok(())
        } else {
            Err(SessionError::ReadsBackDifferently { path: path.to_owned() })
        }
    }
}

/// Words of a sentence, and which of them carry which label.
type Content = (Vec<String>, Vec<(Fragments, String)>);

fn content(document: &DocumentView<'_>) -> Vec<Content> {
    let sentences = document.sentences.iter().map(|sentence| {
        let words = sentence.tokens.iter().map(|t| t.of(document.text).to_owned()).collect();
        let mut mentions: Vec<_> =
            sentence.mentions.iter().map(|m| (m.fragments.clone(), m.label.to_owned())).collect();
        mentions.sort();
        (words, mentions)
    });
    sentences.collect()
}
