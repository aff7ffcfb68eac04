//! Why an edit is refused.

use super::{DocumentId, LabelError, LabelId, LabelUse, MentionId, SentenceId, Span};
use crate::wording::counted;

/// Why a transaction was refused; the corpus is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    #[error("there is no sentence {}", .0.0)]
    NoSentence(SentenceId),
    #[error("there is no document {}", .0.0)]
    NoDocument(DocumentId),
    #[error("the document {0:?} is not as the edit expects it; undo or reload")]
    DocumentChanged(String),
    #[error("a project has no room for more {0}; begin another project")]
    NoIdLeft(&'static str),
    #[error("the sentence id {} is in use", .0.0)]
    SentenceIdTaken(SentenceId),
    #[error("the new sentences of {0:?} don't cover the words of the old ones")]
    OtherWords(String),
    #[error("there is no label with the id {}", .0.0)]
    NoLabel(LabelId),
    #[error("the mention {} is not there as the edit expects it; undo or reload", .0.0)]
    MentionChanged(MentionId),
    #[error("the mention id {} is in use", .0.0)]
    MentionIdTaken(MentionId),
    #[error("{span:?} is outside its sentence of {}", counted(*tokens, "token", "tokens"))]
    OutsideSentence { span: Span, tokens: usize },
    #[error("the same words carry this label already")]
    SameMentionThere,
    #[error("the sentence {} is not as the edit expects it; undo or reload", .0.0)]
    SentenceChanged(SentenceId),
    #[error("the label {0:?} is not as the edit expects it; undo or reload")]
    LabelChanged(String),
    #[error("the label {label:?} is used by {used}; change or remove them first")]
    LabelInUse { label: String, used: LabelUse },
    #[error(transparent)]
    Label(#[from] LabelError),
    #[error("a sentence needs tokens, and they must ascend without overlap inside the text of {0:?}")]
    BadTokens(String),
}
