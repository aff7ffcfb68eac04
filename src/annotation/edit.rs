//! Edits that know their old and new values, and transactions of them.

use super::{DocumentId, DocumentIds, Label, LabelId, Mention, NewSentence, Presence, SentenceId, Span, Split, Status};

/// One change to a [`Corpus`](super::Corpus), with what was there before.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    AddMention {
        sentence: SentenceId,
        mention: Mention,
    },
    RemoveMention {
        sentence: SentenceId,
        mention: Mention,
    },
    /// `old` and `new` have the same id.
    ReplaceMention {
        sentence: SentenceId,
        old: Mention,
        new: Mention,
    },
    SetStatus {
        sentence: SentenceId,
        old: Status,
        new: Status,
    },
    SetSplit {
        sentence: SentenceId,
        old: Split,
        new: Split,
    },
    /// A rejected suggestion stays rejected, whichever model makes it again.
    SetRejected {
        sentence: SentenceId,
        span: Span,
        label: LabelId,
        new: bool,
    },
    InsertLabel {
        at: usize,
        label: Label,
    },
    RemoveLabel {
        at: usize,
        label: Label,
    },
    /// `old` and `new` have the same id.
    ReplaceLabel {
        old: Label,
        new: Label,
    },
    /// Sentences in a row of one document make place for others that cover the same words: tokens and sentences are
    /// split and joined so. What keeps its id keeps its place; an id that is new was never given before.
    Resegment {
        document: DocumentId,
        old: Vec<(SentenceId, NewSentence)>,
        new: Vec<(SentenceId, NewSentence)>,
    },
    /// Takes documents out of the corpus, or brings them back; all of them are `old` before.
    SetPresence {
        documents: DocumentIds,
        old: Presence,
        new: Presence,
    },
}

impl Edit {
    /// The edit that takes this one back.
    pub fn inverse(self) -> Edit {
        match self {
            Edit::AddMention { sentence, mention } => Edit::RemoveMention { sentence, mention },
            Edit::RemoveMention { sentence, mention } => Edit::AddMention { sentence, mention },
            Edit::ReplaceMention { sentence, old, new } => Edit::ReplaceMention { sentence, old: new, new: old },
            Edit::SetStatus { sentence, old, new } => Edit::SetStatus { sentence, old: new, new: old },
            Edit::SetSplit { sentence, old, new } => Edit::SetSplit { sentence, old: new, new: old },
            Edit::SetRejected { sentence, span, label, new } => Edit::SetRejected { sentence, span, label, new: !new },
            Edit::InsertLabel { at, label } => Edit::RemoveLabel { at, label },
            Edit::RemoveLabel { at, label } => Edit::InsertLabel { at, label },
            Edit::ReplaceLabel { old, new } => Edit::ReplaceLabel { old: new, new: old },
            Edit::Resegment { document, old, new } => Edit::Resegment { document, old: new, new: old },
            Edit::SetPresence { documents, old, new } => Edit::SetPresence { documents, old: new, new: old },
        }
    }

    /// True when words come into other tokens or sentences, or documents come and go.
    pub fn moves_words(&self) -> bool {
        matches!(self, Edit::Resegment { .. } | Edit::SetPresence { .. })
    }

    /// True when labels come, go or get another name.
    pub fn changes_labels(&self) -> bool {
        matches!(self, Edit::InsertLabel { .. } | Edit::RemoveLabel { .. } | Edit::ReplaceLabel { .. })
    }

    /// The sentence that it changes, or the first of several; none for an edit of labels or documents.
    pub fn sentence(&self) -> Option<SentenceId> {
        match self {
            Edit::AddMention { sentence, .. }
            | Edit::RemoveMention { sentence, .. }
            | Edit::ReplaceMention { sentence, .. }
            | Edit::SetStatus { sentence, .. }
            | Edit::SetSplit { sentence, .. }
            | Edit::SetRejected { sentence, .. } => Some(*sentence),
            Edit::Resegment { new, .. } => new.first().map(|(sentence, _)| *sentence),
            Edit::InsertLabel { .. }
            | Edit::RemoveLabel { .. }
            | Edit::ReplaceLabel { .. }
            | Edit::SetPresence { .. } => None,
        }
    }
}

/// What the intent of a transaction begins with that goes on with the one before. Part of the project file's log: never
/// changed.
const GOES_ON: &str = "Go on: ";

/// One intent of a person: edits that hold together.
#[derive(Clone, PartialEq, Debug)]
pub struct Transaction {
    /// What the person did, for the undo menu and the audit trail: "Add PER", "Accept all".
    pub intent: String,
    pub edits: Vec<Edit>,
}

impl Transaction {
    pub fn new(intent: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { intent: intent.into(), edits }
    }

    /// One that goes on with the last one of this intent, which is still being typed: both are undone together, see
    /// [`History`](super::History).
    pub fn going_on(intent: &str, edits: Vec<Edit>) -> Self {
        Self { intent: format!("{GOES_ON}{intent}"), edits }
    }

    /// The intent that it goes on with.
    pub(super) fn goes_on_with(&self) -> Option<&str> {
        self.intent.strip_prefix(GOES_ON)
    }

    /// The transaction that takes this one back: the inverse edits in reverse order.
    pub fn inverse(self) -> Transaction {
        Self { intent: self.intent, edits: self.edits.into_iter().rev().map(Edit::inverse).collect() }
    }

    /// The first sentence that it changes.
    pub fn sentence(&self) -> Option<SentenceId> {
        self.edits.iter().find_map(Edit::sentence)
    }
}
