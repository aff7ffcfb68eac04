//! From files to a project: read and look first, then take in, all or nothing.

use super::dataset::goes_to_dev;
use super::inputs::{Found, expand, found_notes};
use super::project::Project;
use super::settings::Setting;
use super::task::Task;
use super::{Part, SessionError};
use crate::annotation::{
    Corpus, Edit, Label, LabelId, Mention, MentionId, ModelId, NewDocument, NewSentence, Provenance, SentenceId,
    SentenceSuggestions, Split, Status, Suggestion, Transaction,
};
use crate::format::{
    Collected, Format, FormatError, ImportedDocument, ImportedLabel, ImportedMention, ImportedSentence, Input, Options,
    Sink, Warning, by_id, detect,
};
use crate::store::{Import, Stamp, Writer};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How files are to be read.
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// Format id; `None`: tell it from the file.
    pub format: Option<String>,
    pub options: Vec<(String, String)>,
}

/// What files hold, before it is taken in.
#[derive(Clone, Debug, Default)]
pub struct Incoming {
    pub format_id: &'static str,
    pub format_title: &'static str,
    pub documents: Vec<ImportedDocument>,
    pub sentences: usize,
    pub mentions: usize,
    /// How often each label occurs, by name.
    pub labels: BTreeMap<String, usize>,
    /// What the files say of labels, used or not, each once.
    pub label_hints: Vec<ImportedLabel>,
    pub warnings: Vec<Warning>,
    /// What was found out about the files, such as their format and how ends are counted.
    pub notes: Vec<String>,
    pub files: Vec<PathBuf>,
}

/// Reads files and the files of folders into memory. With several files a bad one costs that file only and is a
/// warning.
///
/// # Errors
/// Nothing could be read; unknown formats and options.
pub fn read_files(files: &[PathBuf], request: &ReadRequest) -> Result<Incoming, SessionError> {
    read_inputs(files, request, &[], &AtomicBool::new(false), &mut |_, _| {})
}

/// As [`read_files`]; options may also be for the formats of `also`.
pub(super) fn read_inputs(
    named: &[PathBuf],
    request: &ReadRequest,
    also: &[&'static dyn Format],
    cancel: &AtomicBool,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<Incoming, SessionError> {
    let asked = request.format.as_deref().map(by_id).transpose()?;
    let mut incoming = Incoming { files: named.to_vec(), ..Incoming::default() };
    let found = expand(named, asked, &mut incoming.notes)?;
    let (mut files, mut told, mut failures) = (Vec::with_capacity(found.len()), Vec::new(), Vec::new());
    for file in found {
        match format_of(&file.path, asked, &mut told) {
            Ok(format) => files.push((file, format)),
            Err(error) => failures.push((file.path, error)),
        }
    }
    incoming.notes.extend(found_notes(told));
    let mut formats: Vec<&dyn Format> = also.to_vec();
    for (_, format) in &files {
        if formats.iter().all(|known| known.id() != format.id()) {
            formats.push(*format);
        }
    }
    if !formats.is_empty() && (!files.is_empty() || asked.is_some()) {
        // Each takes what it knows; what none knows is refused.
        formats.extend(asked);
        Options::new(request.options.iter().cloned(), &formats)?;
    }
    let total = files.len();
    let mut gathering = Gathering { collected: Collected::default(), labels: BTreeSet::new(), cancel };
    for (done, (file, format)) in files.into_iter().enumerate() {
        on_progress(done, total);
        (incoming.format_id, incoming.format_title) = (format.id(), format.title());
        match read_file(&file, format, request, &mut gathering) {
            _ if cancel.load(Ordering::Relaxed) => return Err(SessionError::Stopped),
            Ok(()) => {}
            Err(error @ FormatError::BadOption { .. }) => return Err(error.into()),
            Err(error) => failures.push((file.path, error)),
        }
    }
    let Collected { labels, documents, warnings, notes } = gathering.collected;
    (incoming.label_hints, incoming.documents, incoming.warnings) = (labels, documents, warnings);
    let more = notes.len().saturating_sub(MOST_NOTES);
    incoming.notes.extend(notes.into_iter().take(MOST_NOTES));
    if more > 0 {
        incoming.notes.push(format!("… and {more} more remarks of this kind"));
    }
    incoming.count();
    if incoming.sentences == 0 {
        if !failures.is_empty() {
            return Err(failures.swap_remove(0).1.into());
        }
        let (count, first) = (incoming.warnings.len(), incoming.warnings.first().map(Warning::to_string));
        return Err(SessionError::NothingRead { count, first: first.unwrap_or_else(|| "the files are empty".into()) });
    }
    let failed = |(file, error): (PathBuf, FormatError)| Warning {
        file: file.display().to_string(),
        line: None,
        message: format!("the file was left out: {error}"),
    };
    incoming.warnings.extend(failures.into_iter().map(failed));
    Ok(incoming)
}

/// Remarks of readers that are passed on; each file of a thousand may have one.
const MOST_NOTES: usize = 100;

fn format_of(
    file: &Path,
    asked: Option<&'static dyn Format>,
    told: &mut Vec<(PathBuf, String)>,
) -> Result<&'static dyn Format, FormatError> {
    if let Some(format) = asked {
        return Ok(format);
    }
    let input = Input::file(file)?;
    let detected = detect(input.file_name(), &input.sample())?;
    told.push((file.to_owned(), detected.found));
    Ok(detected.format)
}

fn read_file(
    file: &Found,
    format: &dyn Format,
    request: &ReadRequest,
    sink: &mut Gathering<'_>,
) -> Result<(), FormatError> {
    let input = Input::file(&file.path)?;
    let input = match &file.name {
        Some(name) => input.named(name),
        None => input,
    };
    let known = |(key, _): &&(String, String)| format.options().iter().any(|spec| spec.key == key);
    let options = Options::new(request.options.iter().filter(known).cloned(), &[format])?;
    format.read(input, &options, sink)
}

/// Keeps everything, labels once, until it is told to stop.
struct Gathering<'a> {
    collected: Collected,
    labels: BTreeSet<String>,
    cancel: &'a AtomicBool,
}

impl Sink for Gathering<'_> {
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        self.collected.document(document)
    }

    fn label(&mut self, label: ImportedLabel) {
        if self.labels.insert(label.name.clone()) {
            self.collected.label(label);
        }
    }

    fn warning(&mut self, warning: Warning) {
        self.collected.warning(warning);
    }

    fn note(&mut self, note: String) {
        self.collected.note(note);
    }
}

impl Incoming {
    /// What one reader has found.
    pub(super) fn of(format: &dyn Format, read: Collected) -> Self {
        let Collected { labels: label_hints, documents, warnings, notes } = read;
        let (format_id, format_title) = (format.id(), format.title());
        let mut incoming = Self { format_id, format_title, label_hints, documents, warnings, notes, ..Self::default() };
        incoming.count();
        incoming
    }

    fn count(&mut self) {
        let sentences = || self.documents.iter().flat_map(|d| &d.sentences);
        self.sentences = sentences().count();
        self.mentions = sentences().map(|s| s.mentions.len()).sum();
        let mut labels = BTreeMap::new();
        for mention in sentences().flat_map(|s| &s.mentions) {
            *labels.entry(mention.label.clone()).or_default() += 1;
        }
        self.labels = labels;
    }

    /// What the mentions are when nobody says: suggestions where all have a score, gold where some have none, and text
    /// where there are none.
    pub fn likely_kind(&self) -> ImportAs {
        let mut mentions = self.documents.iter().flat_map(|d| &d.sentences).flat_map(|s| &s.mentions);
        match self.mentions {
            0 => ImportAs::Text,
            _ if mentions.all(|m| m.score.is_some()) => ImportAs::Suggestions,
            _ => ImportAs::Gold,
        }
    }
}

/// What the mentions of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImportAs {
    /// A person stands for them; sentences are complete unless the file says otherwise.
    Gold,
    /// To be reviewed.
    Suggestions,
    /// Not wanted.
    Text,
}

/// How to take files in.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImportHow {
    /// `None`: see [`Incoming::likely_kind`].
    pub kind: Option<ImportAs>,
    /// `None`: what the file says, else the rest.
    pub split: Option<Part>,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReceipt {
    pub format: &'static str,
    pub documents: usize,
    pub sentences: usize,
    pub mentions: usize,
    pub suggestions: usize,
    /// Label names that were new.
    pub new_labels: Vec<String>,
    /// Things that could not be taken over; each has a warning.
    pub left_out: usize,
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
}

/// An import that is on disk, to be taken over by [`Project::finish_import`].
pub struct Imported {
    corpus: Arc<Corpus>,
    inverse: Transaction,
    suggestions: Vec<(SentenceId, SentenceSuggestions)>,
    dev_imported: bool,
    receipt: ImportReceipt,
}

impl Project {
    /// Writes an import on a thread of its own; hand the result to [`Project::finish_import`].
    ///
    /// An edit made meanwhile makes it fail, with nothing changed: keep people from editing while it runs.
    pub fn start_import(&mut self, incoming: Incoming, how: ImportHow) -> Task<Result<Imported, SessionError>> {
        let (corpus, stamp) = (Arc::clone(&self.corpus), self.stamp());
        let writer = self.writer().cloned();
        let dev_imported = self.dev_is_given();
        Task::spawn("nestling-import", self.waker.as_waker(), move || {
            import(&corpus, incoming, how, dev_imported, stamp, &*writer?)
        })
    }

    /// Takes over what [`Project::start_import`] has written.
    ///
    /// # Errors
    /// A project that is closed.
    pub fn finish_import(&mut self, imported: Imported) -> Result<ImportReceipt, SessionError> {
        let Imported { corpus, inverse, suggestions, dev_imported, receipt } = imported;
        self.replace_corpus(corpus);
        self.record_import(inverse);
        Arc::make_mut(&mut self.suggestions).extend(suggestions);
        if dev_imported && !self.settings.dev_imported {
            self.set(Setting::DevImported(true))?;
        }
        self.start_predicting();
        self.consider_training();
        Ok(receipt)
    }

    /// Imports and waits: for the command line, not for the window.
    ///
    /// # Errors
    /// See [`read_files`] and the store; nothing is changed then.
    pub fn import(&mut self, incoming: Incoming, how: ImportHow) -> Result<ImportReceipt, SessionError> {
        let stamp = self.stamp();
        let writer = Arc::clone(self.writer()?);
        let imported = import(&self.corpus, incoming, how, self.dev_is_given(), stamp, &writer)?;
        self.finish_import(imported)
    }
}

fn import(
    before: &Corpus,
    incoming: Incoming,
    how: ImportHow,
    dev_imported: bool,
    stamp: Stamp,
    writer: &Writer,
) -> Result<Imported, SessionError> {
    let kind = how.kind.unwrap_or_else(|| incoming.likely_kind());
    let mut sentences = incoming.documents.iter().flat_map(|d| &d.sentences);
    let says_dev = how.split.is_none() && sentences.any(|s| s.split == Some(Split::Dev));
    let mut taking = Taking::start(before, kind, how.split, dev_imported || says_dev);
    if kind != ImportAs::Text {
        taking.add_labels(&incoming.label_hints, incoming.labels.keys())?;
    } else if incoming.mentions > 0 {
        taking.receipt.notes.push(format!("{} mentions were not taken over, as asked for", incoming.mentions));
    }
    for document in incoming.documents {
        taking.add(document)?;
    }
    let Taking { corpus, suggestions, dev_found, mut receipt, .. } = taking;
    let files: Vec<String> =
        incoming.files.iter().map(|f| f.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    receipt.format = incoming.format_id;
    receipt.left_out += incoming.warnings.len();
    receipt.warnings.splice(0..0, incoming.warnings);
    receipt.notes.splice(0..0, incoming.notes);
    let corpus = Arc::new(corpus);
    let mut import =
        Import::between(before, corpus.clone(), format!("Import {}", files.join(", ")), stamp, receipt.to_json(&files));
    import.suggestions = suggestions.clone();
    let inverse = import.inverse();
    writer.import(import)?;
    Ok(Imported { corpus, inverse, suggestions, dev_imported: dev_found, receipt })
}

/// An import under way in memory.
struct Taking {
    kind: ImportAs,
    split: Option<Part>,
    corpus: Corpus,
    labels: BTreeMap<String, LabelId>,
    next_mention: u64,
    /// Complete sentences of dev, for the hash that fills it.
    dev_sentences: usize,
    /// A dev split came with files; then none is drawn.
    dev_given: bool,
    dev_found: bool,
    suggestions: Vec<(SentenceId, SentenceSuggestions)>,
    receipt: ImportReceipt,
}

impl Taking {
    fn start(before: &Corpus, kind: ImportAs, split: Option<Part>, dev_given: bool) -> Self {
        let dev = before.sentences().filter(|s| s.split() == Split::Dev && s.status() == Status::Complete);
        Self {
            kind,
            split,
            labels: before.labels().iter().map(|l| (l.name.clone(), l.id)).collect(),
            next_mention: before.next_mention_id().0,
            dev_sentences: dev.count(),
            dev_given,
            dev_found: false,
            suggestions: Vec::new(),
            receipt: ImportReceipt::default(),
            corpus: before.clone(),
        }
    }

    /// The labels that the files describe, in their order, then those that are only used.
    fn add_labels<'n>(
        &mut self,
        described: &[ImportedLabel],
        used: impl Iterator<Item = &'n String>,
    ) -> Result<(), SessionError> {
        let undescribed = used.map(|name| ImportedLabel { name: name.clone(), ..ImportedLabel::default() });
        for described in described.iter().cloned().chain(undescribed) {
            let ImportedLabel { name, title, color, key } = described;
            if self.labels.contains_key(&name) {
                continue; // as the project has it
            }
            let (at, proposed) = (self.corpus.labels().len(), self.corpus.labels().propose(&name));
            let wished = Label { title, color: color.unwrap_or(proposed.color), key, ..proposed.clone() };
            let key_is_free = key.is_some() && self.corpus.labels().check(&wished).is_ok();
            let label = Label { key: if key_is_free { key } else { proposed.key }, ..wished };
            self.labels.insert(name.clone(), label.id);
            self.receipt.new_labels.push(name);
            self.corpus.apply(Transaction::new("Import", vec![Edit::InsertLabel { at, label }]))?;
        }
        Ok(())
    }

    /// Takes what it can use out of the document, so that not all of a file is in memory twice.
    fn add(&mut self, document: ImportedDocument) -> Result<(), SessionError> {
        let first = self.corpus.next_sentence_id().0;
        let ImportedDocument { name, text, kept, sentences: imported } = document;
        let mut sentences = Vec::with_capacity(imported.len());
        for (sentence, number) in imported.into_iter().zip(first..) {
            sentences.push(self.sentence(&name, sentence, SentenceId(number)));
        }
        self.receipt.documents += 1;
        self.receipt.sentences += sentences.len();
        let new = NewDocument { name, text, kept, sentences };
        let id = self.corpus.add_document(new)?;
        if !self.dev_given && self.split.is_none() {
            self.draw_dev(id)?;
        }
        Ok(())
    }

    fn sentence(&mut self, document: &str, sentence: ImportedSentence, id: SentenceId) -> NewSentence {
        let ImportedSentence { tokens, mentions: imported, status, split } = sentence;
        let mut mentions = Vec::new();
        let mut suggestions = Vec::new();
        if self.kind != ImportAs::Text {
            mentions.reserve_exact(imported.iter().filter(|m| self.is_gold(m)).count());
            for mention in imported {
                if self.is_gold(&mention) {
                    mentions.extend(self.mention(mention));
                } else if let Some(suggestion) = self.suggestion(&mention) {
                    suggestions.push(suggestion);
                } else {
                    self.leave_out(document, &mention);
                }
            }
        }
        self.receipt.mentions += mentions.len();
        self.receipt.suggestions += suggestions.len();
        let unanswered = !suggestions.is_empty();
        if unanswered {
            suggestions.sort_by_key(|s| s.span);
            let said =
                SentenceSuggestions { model: ModelId::FROM_FILE, heads: Vec::new(), spans: suggestions, entropy: None };
            self.suggestions.push((id, said));
        }
        let (split, mut status) = self.place(status, split, !mentions.is_empty());
        if unanswered && status == Status::Complete {
            // What waits for an answer says nothing about the words around it.
            status = if mentions.is_empty() { Status::Untouched } else { Status::InProgress };
        }
        self.dev_found |= split == Split::Dev;
        NewSentence { tokens, mentions, rejected: BTreeSet::new(), status, split }
    }

    /// Where a sentence goes, and how far it is.
    fn place(&self, said: Option<Status>, split: Option<Split>, has_mentions: bool) -> (Split, Status) {
        let split = match self.split {
            Some(Part::Train | Part::Pool) => Split::Rest,
            Some(Part::Dev) => Split::Dev,
            Some(Part::Test) => Split::Test,
            Some(Part::Blind) => Split::Blind,
            None => split.unwrap_or_default(),
        };
        let begun = if has_mentions { Status::InProgress } else { Status::Untouched };
        let status = match (self.kind, self.split) {
            (ImportAs::Text | ImportAs::Suggestions, _) => Status::Untouched,
            (ImportAs::Gold, Some(Part::Train)) => Status::Complete,
            (ImportAs::Gold, Some(Part::Pool)) => match said {
                Some(Status::Complete) | None => begun,
                Some(other) => other,
            },
            (ImportAs::Gold, _) => said.unwrap_or(Status::Complete),
        };
        (split, status)
    }

    fn is_gold(&self, mention: &ImportedMention) -> bool {
        self.kind == ImportAs::Gold && mention.score.is_none()
    }

    fn mention(&mut self, mention: ImportedMention) -> Option<Mention> {
        let id = MentionId(self.next_mention);
        self.next_mention += 1;
        let ImportedMention { fragments, label, attributes, note, source_id, .. } = mention;
        let label = *self.labels.get(&label)?;
        Some(Mention { id, fragments, label, attributes, note, provenance: Provenance::Import, source_id })
    }

    /// Suggestions are contiguous; others can't be taken over.
    fn suggestion(&self, mention: &ImportedMention) -> Option<Suggestion> {
        let (span, label) = (mention.fragments.contiguous()?, *self.labels.get(&mention.label)?);
        Some(Suggestion { span, label, score: mention.score.unwrap_or(1.0), runner_up: None })
    }

    fn leave_out(&mut self, document: &str, mention: &ImportedMention) {
        self.receipt.left_out += 1;
        self.receipt.warnings.push(Warning {
            file: document.to_owned(),
            line: None,
            message: format!(
                "a {} of several fragments ({:?}) can't be a suggestion and was left out; import it as gold to keep it",
                mention.label,
                mention.fragments.iter().collect::<Vec<_>>()
            ),
        });
    }

    /// One complete sentence in five goes to dev, until there are enough; see [`goes_to_dev`].
    fn draw_dev(&mut self, document: crate::annotation::DocumentId) -> Result<(), SessionError> {
        let ids = self.corpus.document(document).map(|d| d.sentences.clone()).unwrap_or_default();
        let mut edits = Vec::new();
        for id in ids {
            let Some(sentence) = self.corpus.sentence(id).filter(|s| s.trains()) else { continue };
            if goes_to_dev(sentence, self.dev_sentences) {
                edits.push(Edit::SetSplit { sentence: id, old: Split::Rest, new: Split::Dev });
                self.dev_sentences += 1;
            }
        }
        if !edits.is_empty() {
            self.corpus.apply(Transaction::new("Import", edits))?;
        }
        Ok(())
    }
}

impl ImportReceipt {
    /// For the log.
    fn to_json(&self, files: &[String]) -> String {
        let warnings: Vec<String> = self.warnings.iter().map(Warning::to_string).collect();
        serde_json::json!({
            "files": files,
            "format": self.format,
            "documents": self.documents,
            "sentences": self.sentences,
            "mentions": self.mentions,
            "suggestions": self.suggestions,
            "new_labels": self.new_labels,
            "warnings": warnings,
        })
        .to_string()
    }
}
