//! One tokenised sentence, and what was decided about it.

use super::{ApplyError, DocumentId, LabelId, Mention, MentionId, SentenceId, Span};
use crate::text::TextRange;
use std::collections::BTreeSet;

/// How far a person is with a sentence. Only `Complete` says that everything else is outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Status {
    #[default]
    Untouched,
    InProgress,
    Complete,
    Skipped,
    Flagged,
}

impl Status {
    /// Whether somebody has still to work on the sentence.
    pub fn waits(self) -> bool {
        !matches!(self, Self::Complete | Self::Skipped)
    }

    /// The word for it in files. Part of the project file and of JSONL: never changed.
    pub fn id(self) -> &'static str {
        match self {
            Self::Untouched => "untouched",
            Self::InProgress => "in_progress",
            Self::Complete => "complete",
            Self::Skipped => "skipped",
            Self::Flagged => "flagged",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        [Self::Untouched, Self::InProgress, Self::Complete, Self::Skipped, Self::Flagged]
            .into_iter()
            .find(|s| s.id() == id)
    }
}

/// What a sentence is used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Split {
    /// Trains when complete; else it is the pool.
    #[default]
    Rest,
    Dev,
    Test,
    /// Kept aside from the start for an honest learning curve.
    Blind,
}

impl Split {
    /// The word for it in files. Part of the project file and of JSONL: never changed.
    pub fn id(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Dev => "dev",
            Self::Test => "test",
            Self::Blind => "blind",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        [Self::Rest, Self::Dev, Self::Test, Self::Blind].into_iter().find(|s| s.id() == id)
    }
}

/// One tokenised sentence and what was decided about it. Read through its methods; changed only by edits.
#[derive(Clone, PartialEq, Debug)]
pub struct Sentence {
    id: SentenceId,
    document: DocumentId,
    pub(super) tokens: Vec<TextRange>,
    /// Ordered by the first token, then outer before inner.
    pub(super) mentions: Vec<Mention>,
    pub(super) rejected: BTreeSet<(Span, LabelId)>,
    pub(super) status: Status,
    pub(super) split: Split,
}

impl Sentence {
    pub fn id(&self) -> SentenceId {
        self.id
    }

    pub fn document(&self) -> DocumentId {
        self.document
    }

    /// Ranges of the document's text.
    pub fn tokens(&self) -> &[TextRange] {
        &self.tokens
    }

    /// Gold mentions, ordered by their first token, outer before inner.
    pub fn mentions(&self) -> &[Mention] {
        &self.mentions
    }

    pub fn mention(&self, id: MentionId) -> Option<&Mention> {
        self.mentions.iter().find(|m| m.id == id)
    }

    /// Suggestions that a person rejected.
    pub fn rejected(&self) -> &BTreeSet<(Span, LabelId)> {
        &self.rejected
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn split(&self) -> Split {
        self.split
    }

    /// True for a complete sentence that may train (not one of dev, test or blind).
    pub fn trains(&self) -> bool {
        self.split == Split::Rest && self.status == Status::Complete
    }

    /// True when a contiguous mention marks just these tokens with this label.
    pub fn has_mention(&self, span: Span, label: LabelId) -> bool {
        self.mentions.iter().any(|m| m.label == label && m.fragments.contiguous() == Some(span))
    }

    /// A copy without its place in the corpus.
    pub fn content(&self) -> NewSentence {
        NewSentence {
            tokens: self.tokens.clone(),
            mentions: self.mentions.clone(),
            rejected: self.rejected.clone(),
            status: self.status,
            split: self.split,
        }
    }

    /// One that a corpus has checked already: for who stores it.
    pub fn stored(id: SentenceId, document: DocumentId, content: NewSentence) -> Self {
        let NewSentence { tokens, mut mentions, rejected, status, split } = content;
        mentions.sort_by_key(order);
        Self { id, document, tokens, mentions, rejected, status, split }
    }

    /// Whether this is what it would be with that content, whose mentions may be in any order.
    pub(super) fn holds(&self, content: &NewSentence) -> bool {
        let NewSentence { tokens, mentions, rejected, status, split } = content;
        let mut sorted: Vec<&Mention> = mentions.iter().collect();
        sorted.sort_by_key(|mention| order(mention));
        (&self.tokens, &self.rejected, self.status, self.split) == (tokens, rejected, *status, *split)
            && self.mentions.iter().eq(sorted)
    }

    pub(super) fn check_inside(&self, span: Span) -> Result<(), ApplyError> {
        check_inside(span, self.tokens.len())
    }

    pub(super) fn insert(&mut self, mention: Mention) {
        let key = order(&mention);
        let at = self.mentions.partition_point(|m| order(m) < key);
        self.mentions.insert(at, mention);
    }

    /// Takes out the mention that equals `expected` in all its parts.
    pub(super) fn take(&mut self, expected: &Mention) -> Result<(), ApplyError> {
        let at = self.mentions.iter().position(|m| m == expected);
        at.map(|at| drop(self.mentions.remove(at))).ok_or(ApplyError::MentionChanged(expected.id))
    }
}

/// # Errors
/// A span that ends after the last token.
pub(super) fn check_inside(span: Span, tokens: usize) -> Result<(), ApplyError> {
    if span.end().get() <= tokens { Ok(()) } else { Err(ApplyError::OutsideSentence { span, tokens }) }
}

fn order(m: &Mention) -> (usize, std::cmp::Reverse<usize>, MentionId) {
    (m.hull().start().get(), std::cmp::Reverse(m.hull().end().get()), m.id)
}

/// What a sentence says, on its way into a corpus.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NewSentence {
    pub tokens: Vec<TextRange>,
    pub mentions: Vec<Mention>,
    pub rejected: BTreeSet<(Span, LabelId)>,
    pub status: Status,
    pub split: Split,
}
