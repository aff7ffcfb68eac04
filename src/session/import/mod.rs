//! From what files hold to a project: all of it is taken in, or nothing.

use crate::annotation::{
    Corpus, Edit, Kept, Label, LabelId, Mention, MentionId, ModelId, NewDocument, NewSentence, Provenance, SentenceId,
    SentenceSuggestions, Split, Status, Suggestion, Transaction,
};
use crate::format::{ImportedDocument, ImportedLabel, ImportedMention, ImportedSentence, Warning, add_definitions};
use crate::session::learner::dataset::goes_to_dev;
use crate::session::project::Project;
use crate::session::project::driver::Driver;
use crate::session::project::language::{Misfit, encoder_in_words};
use crate::session::project::settings::Setting;
use crate::session::project::status::Counts;
use crate::session::task::Task;
use crate::session::{Part, SessionError};
use crate::store::{Import, Stamp, StoreError, Watch, Writer};
use crate::text::Language;
use crate::wording::{counted, grouped};
use reading::{ImportAs, Incoming};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) mod inputs;
pub(super) mod lengths;
pub(super) mod reading;
pub(super) mod sample;

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
    /// The id of each format that was read, with the number of its files.
    pub formats: Vec<(&'static str, usize)>,
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
    /// Of the project's texts, these included; `None` where it is in doubt.
    pub language: Option<Language>,
    /// That models of the project start from.
    pub encoder: String,
    /// The encoder has not read the language.
    pub misfit: Option<Misfit>,
}

/// An import that is on disk, to be taken over by [`Project::finish_import`].
pub struct Imported {
    corpus: Arc<Corpus>,
    inverse: Transaction,
    suggestions: Vec<(SentenceId, SentenceSuggestions)>,
    dev_imported: bool,
    definitions: Kept,
    counts: Counts,
    language: Option<Language>,
    receipt: ImportReceipt,
}

impl Project {
    /// Writes an import on a thread of its own; hand the result to [`Project::finish_import`].
    ///
    /// An edit made meanwhile makes it fail, with nothing changed: keep people from editing while it runs. `watch` is told
    /// of each sentence that is written; cancelled, it comes to [`SessionError::Stopped`], and nothing is changed.
    pub fn start_import(
        &mut self,
        incoming: Incoming,
        how: ImportHow,
        watch: &Watch,
    ) -> Task<Result<Imported, SessionError>> {
        let (corpus, stamp) = (self.snapshot_of_corpus(), self.stamp(self.seen()));
        let writer = self.writer().cloned();
        let (dev_imported, watch) = (self.dev_is_given(), watch.clone());
        Task::spawn("nestling-import", self.waker(), move || {
            import(&corpus, incoming, how, dev_imported, stamp, &*writer?, &watch)
        })
    }

    /// Takes over what [`Project::start_import`] has written.
    ///
    /// # Errors
    /// A project that is closed.
    pub fn finish_import(&mut self, imported: Imported) -> Result<ImportReceipt, SessionError> {
        let Imported { corpus, inverse, suggestions, dev_imported, definitions, counts, language, mut receipt } =
            imported;
        self.replace_corpus(corpus, counts);
        self.record_import(inverse);
        self.add_suggestions(suggestions);
        if dev_imported && !self.settings().dev_imported {
            self.set(Setting::DevImported(true))?;
        }
        if !definitions.is_empty() {
            let mut all = self.settings().definitions.clone();
            receipt.notes.extend(add_definitions(&mut all, definitions));
            if all != self.settings().definitions {
                self.set(Setting::Definitions(all))?;
            }
        }
        self.follow_language(language)?;
        let (encoder, misfit) = self.encoder_for(language);
        receipt.notes.extend(language.map(|language| encoder_in_words(language, &encoder, misfit.as_ref())));
        (receipt.language, receipt.encoder, receipt.misfit) = (language, encoder, misfit);
        self.start_predicting();
        self.consider_training();
        Ok(receipt)
    }
}

impl Driver {
    /// Writes an import and takes it over.
    ///
    /// # Errors
    /// See [`read_files`](crate::session::read_files) and the store; nothing is changed then.
    pub fn import(&mut self, incoming: Incoming, how: ImportHow) -> Result<ImportReceipt, SessionError> {
        let seen = self.seen();
        let stamp = self.stamp(seen);
        let writer = Arc::clone(self.writer()?);
        let imported = import(self.corpus(), incoming, how, self.dev_is_given(), stamp, &writer, &Watch::default())?;
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
    watch: &Watch,
) -> Result<Imported, SessionError> {
    let kind = how.kind.unwrap_or_else(|| incoming.likely_kind(how.split));
    let mut sentences = incoming.documents.iter().flat_map(|d| &d.sentences);
    let says_dev = how.split.is_none() && sentences.any(|s| s.split == Some(Split::Dev));
    let there = incoming.already_there(before);
    let mut taking = Taking::start(before, kind, how.split, dev_imported || says_dev, watch);
    if kind != ImportAs::Text {
        taking.add_labels(&incoming.label_hints, incoming.labels.keys())?;
    } else if incoming.mentions > 0 {
        taking.receipt.notes.push(format!(
            "{} not taken over, as asked for",
            counted(incoming.mentions, "mention was", "mentions were")
        ));
    }
    for document in incoming.documents {
        taking.add(document)?;
    }
    if taking.unread > 0 {
        let note = match taking.unread {
            1 => "1 document has no annotations and stays open; imported into the split train it counts as complete"
                .to_owned(),
            many => format!(
                "{} documents have no annotations and stay open; imported into the split train they count as complete",
                grouped(many)
            ),
        };
        taking.receipt.notes.push(note);
    }
    if taking.incomplete > 0 {
        let note = format!(
            "{} not complete: their file says so, or not what they hold",
            counted(taking.incomplete, "sentence is", "sentences are")
        );
        taking.receipt.notes.push(note);
    }
    let Taking { corpus, suggestions, dev_found, mut receipt, .. } = taking;
    let files: Vec<String> =
        incoming.files.iter().map(|f| f.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    receipt.format = incoming.format_id;
    receipt.formats = incoming.formats.into_iter().map(|(id, _, files)| (id, files)).collect();
    receipt.left_out += incoming.warnings.len();
    receipt.warnings.splice(0..0, incoming.warnings);
    receipt.notes.splice(0..0, incoming.notes.into_iter().chain(there));
    let corpus = Arc::new(corpus);
    let mut import =
        Import::between(before, corpus.clone(), format!("Import {}", files.join(", ")), stamp, receipt.to_json(&files));
    import.suggestions = suggestions.clone();
    let inverse = import.inverse();
    match writer.import_watched(import, watch) {
        Err(StoreError::Stopped { .. }) => return Err(SessionError::Stopped),
        written => written?,
    }
    // Counted here, not where somebody waits for the next frame.
    let counts = Counts::of(&corpus);
    let language = corpus.language();
    let definitions = if kind == ImportAs::Text { Kept::new() } else { incoming.definitions };
    Ok(Imported { corpus, inverse, suggestions, dev_imported: dev_found, definitions, counts, language, receipt })
}

/// An import under way in memory.
struct Taking<'w> {
    watch: &'w Watch,
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
    /// Sentences of gold that their file does not call complete.
    incomplete: usize,
    /// Documents of gold that perhaps nobody has looked at.
    unread: usize,
    suggestions: Vec<(SentenceId, SentenceSuggestions)>,
    receipt: ImportReceipt,
}

impl<'w> Taking<'w> {
    fn start(before: &Corpus, kind: ImportAs, split: Option<Part>, dev_given: bool, watch: &'w Watch) -> Self {
        let dev = before.sentences().filter(|s| s.split() == Split::Dev && s.status() == Status::Complete);
        Self {
            watch,
            kind,
            split,
            labels: before.labels().iter().map(|l| (l.name.clone(), l.id)).collect(),
            next_mention: before.next_mention_id().0,
            dev_sentences: dev.count(),
            dev_given,
            dev_found: false,
            incomplete: 0,
            unread: 0,
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
        self.unread += usize::from(imported.iter().any(|sentence| self.stays_unread(sentence)));
        for (sentence, number) in imported.into_iter().zip(first..) {
            if self.watch.is_cancelled() {
                return Err(SessionError::Stopped);
            }
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
        let stays_unread = self.stays_unread(&sentence);
        let ImportedSentence { tokens, mentions: imported, status, split, .. } = sentence;
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
            let said = SentenceSuggestions {
                model: ModelId::FROM_FILE,
                heads: Vec::new(),
                spans: suggestions,
                acquisition: None,
            };
            self.suggestions.push((id, said));
        }
        let said = if stays_unread { Some(Status::Untouched) } else { status };
        let (split, mut status) = self.place(said, split, !mentions.is_empty());
        let is_gold = self.kind == ImportAs::Gold && self.split != Some(Part::Pool);
        self.incomplete += usize::from(is_gold && !stays_unread && status.waits());
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
            (ImportAs::Gold, Some(Part::Pool)) => match said {
                Some(Status::Complete) | None => begun,
                Some(other) => other,
            },
            (ImportAs::Gold, _) => said.unwrap_or(Status::Complete),
        };
        (split, status)
    }

    /// True for a sentence of gold that perhaps nobody has looked at, unless the split that is asked for says otherwise.
    fn stays_unread(&self, sentence: &ImportedSentence) -> bool {
        let could_be_complete = self.kind == ImportAs::Gold && self.split != Some(Part::Pool);
        let is_vouched_for = self.split.is_some_and(Part::vouches);
        could_be_complete && !is_vouched_for && sentence.may_be_unread && sentence.status.is_none()
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
            "formats": self.formats.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
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
