//! What the log keeps of something that was done.

use crate::annotation::{ModelId, SentenceId, Step, Suggestion, Transaction};

/// When and by whom something was done, and what was seen then.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stamp {
    pub author: String,
    /// Since 1970, UTC.
    pub time_ms: i64,
    /// That the person worked since the last entry.
    pub active_ms: i64,
    /// Keys and buttons that they pressed since then.
    pub presses: u32,
    pub visible: Vec<VisibleSuggestions>,
}

/// Suggestions that were on screen.
#[derive(Clone, PartialEq, Debug)]
pub struct VisibleSuggestions {
    pub sentence: SentenceId,
    pub model: ModelId,
    pub spans: Vec<Suggestion>,
}

/// A transaction that the corpus has applied.
#[derive(Clone, PartialEq, Debug)]
pub struct LogEntry {
    pub step: Step,
    pub transaction: Transaction,
    /// As [`Corpus::apply`](crate::annotation::Corpus::apply) returned it.
    pub inverse: Transaction,
    pub stamp: Stamp,
    /// Of the corpus after it.
    pub revision: u64,
}
