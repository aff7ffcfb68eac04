//! What a reader hands over.

use super::definitions;
use super::view::{DocumentView, MentionView, SentenceView};
use crate::annotation::{Attributes, Fragments, Kept, Rgb, Split, Status};
use crate::text::{ForbiddenCharacter, TextRange, check_text};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A document as a file has it.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportedDocument {
    pub name: String,
    /// Raw, as it came.
    pub text: Arc<str>,
    /// What else the file says of it.
    pub kept: Kept,
    pub sentences: Vec<ImportedSentence>,
}

/// A sentence with at least one token; its tokens come after those of the sentence before.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ImportedSentence {
    /// Ranges of the document's text.
    pub tokens: Vec<TextRange>,
    /// All inside the sentence; no two with the same tokens and the same label.
    pub mentions: Vec<ImportedMention>,
    /// `None` where the file does not say.
    pub status: Option<Status>,
    /// Perhaps nobody has looked at it: the file looks the same where there is nothing to find.
    pub may_be_unread: bool,
    pub split: Option<Split>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ImportedMention {
    /// In tokens of the sentence.
    pub fragments: Fragments,
    /// The label's name, not blank and without white space at its ends.
    pub label: String,
    /// In [0, 1]: the file's program suggests it and nobody stands for it.
    pub score: Option<f32>,
    pub attributes: Attributes,
    pub note: String,
    /// What the file calls it.
    pub source_id: Option<String>,
}

/// A label that a file describes; each part that it does not say is proposed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImportedLabel {
    pub name: String,
    /// Empty where the name says it all.
    pub title: String,
    pub color: Option<Rgb>,
    pub key: Option<char>,
}

/// Something that was left out or changed; the rest was imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    pub file: String,
    /// From 1.
    pub line: Option<usize>,
    pub message: String,
}

/// Takes what a reader finds.
pub trait Sink {
    /// `Break` stops the reader.
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()>;

    /// A label that the file describes, used in it or not. Comes before the documents.
    fn label(&mut self, label: ImportedLabel);

    /// A longer document comes in parts of so many sentences, from readers that need not know its end; for those who
    /// work in constant memory.
    fn longest_document(&self) -> usize {
        usize::MAX
    }

    /// Something was left out or changed.
    fn warning(&mut self, warning: Warning);

    /// A line means nothing, and is kept as it is for an export to its own format.
    fn kept(&mut self, warning: Warning) {
        self.warning(warning);
    }

    /// What a file says of all documents of its folder besides labels, for exports to its own format. Called as a file
    /// in an export is, after the format: `brat:annotation.conf`.
    fn definition(&mut self, _name: String, _text: String) {}

    /// Something was decided for the person, and nothing lost: "read as one sentence a line because …".
    fn note(&mut self, note: String);
}

/// A [`Sink`] that keeps everything.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Collected {
    pub labels: Vec<ImportedLabel>,
    pub documents: Vec<ImportedDocument>,
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
    pub definitions: Kept,
}

impl Sink for Collected {
    fn document(&mut self, document: ImportedDocument) -> ControlFlow<()> {
        self.documents.push(document);
        ControlFlow::Continue(())
    }

    fn label(&mut self, label: ImportedLabel) {
        self.labels.push(label);
    }

    fn warning(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    fn definition(&mut self, name: String, text: String) {
        let new = Kept::from([(name, text)]);
        self.notes.extend(definitions::add(&mut self.definitions, new));
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}: {}", self.message, self.file),
            None => write!(f, "{}: {}", self.message, self.file),
        }
    }
}

impl ImportedDocument {
    /// The words of each sentence.
    pub fn words(&self) -> impl Iterator<Item = Vec<String>> {
        self.sentences.iter().map(|sentence| self.words_of(sentence))
    }

    /// The words of one of its sentences.
    pub fn words_of(&self, sentence: &ImportedSentence) -> Vec<String> {
        sentence.tokens.iter().map(|range| range.of(&self.text).to_owned()).collect()
    }

    /// # Errors
    /// Something in it that no text may hold; the message says where.
    pub fn check(&self) -> Result<(), String> {
        let of = |what: String| move |error: ForbiddenCharacter| format!("{error}: in {what}");
        check_text(&self.text).map_err(of("its text".to_owned()))?;
        check_text(&self.name).map_err(of("its name".to_owned()))?;
        for (format, kept) in &self.kept {
            check_text(kept).map_err(of(format!("what is kept of it for {format}")))?;
        }
        for mention in self.sentences.iter().flat_map(|sentence| &sentence.mentions) {
            let ImportedMention { label, note, attributes, source_id, .. } = mention;
            check_text(label).map_err(of(format!("the label {label:?}")))?;
            check_text(note).map_err(of(format!("the note {note:?}")))?;
            for text in attributes.iter().flat_map(|(name, value)| [name, value]).chain(source_id) {
                check_text(text).map_err(of(format!("the attribute or id {text:?}")))?;
            }
        }
        Ok(())
    }

    /// The whole document for a writer: from file to file without a project.
    pub fn view(&self) -> DocumentView<'_> {
        let places: Vec<_> = self.sentences.iter().map(|s| s.tokens.as_slice()).collect();
        let sentences = self.sentences.iter().enumerate().map(|(at, sentence)| {
            let (text, gap) = super::view::pieces(&self.text, &places, at);
            SentenceView {
                number: at + 1,
                tokens: &sentence.tokens,
                text,
                gap,
                mentions: sentence.mentions.iter().map(ImportedMention::view).collect(),
                status: sentence.status,
                may_be_unread: sentence.may_be_unread,
                split: sentence.split,
            }
        });
        DocumentView { name: &self.name, text: &self.text, kept: &self.kept, sentences: sentences.collect() }
    }
}

impl ImportedMention {
    /// One of which nothing else is said.
    pub fn new(fragments: impl Into<Fragments>, label: impl Into<String>) -> Self {
        Self {
            fragments: fragments.into(),
            label: label.into(),
            score: None,
            attributes: Attributes::new(),
            note: String::new(),
            source_id: None,
        }
    }

    /// Takes over what another one of the same words and label says besides. Of attributes of one name the first stays.
    pub(super) fn absorb(&mut self, attributes: &Attributes, note: &str) {
        for (name, value) in attributes {
            self.attributes.entry(name.clone()).or_insert_with(|| value.clone());
        }
        if self.note.is_empty() {
            note.clone_into(&mut self.note);
        } else if !note.is_empty() && !self.note.lines().eq(note.lines()) {
            self.note = format!("{}\n{note}", self.note);
        }
    }

    fn view(&self) -> MentionView<'_> {
        MentionView {
            fragments: self.fragments.clone(),
            label: &self.label,
            score: self.score,
            attributes: Some(&self.attributes),
            note: &self.note,
            source_id: self.source_id.as_deref(),
        }
    }
}
