//! What a person annotates and how it changes: documents of tokenised sentences, labels, nested mentions, suggestions,
//! and edits with inverses.
//!
//! # Invariants
//! - A [`Corpus`] changes only by [`Corpus::apply`] and by adding whole documents. A [`Transaction`] is applied all or
//!   nothing, to exactly the state it expects, and returns its inverse.
//! - A [`Span`] counts tokens of one sentence, half-open and never empty.
//! - Ids (labels, mentions, sentences) are only appended and never used again.
//! - A [`Suggestion`] is never gold. Accepting one is an edit that adds a [`Mention`].
//!
//! Deliberately absent: files, the database, clocks. The session stamps time and author on what it applies.

mod corpus;
mod edit;
mod history;
mod label;
mod mention;
mod nesting;
mod span;
mod suggestion;

pub use corpus::{Corpus, Document, DocumentId, NewDocument, NewSentence, Sentence, SentenceId, Split, Status};
pub use edit::{ApplyError, Edit, Transaction};
pub use history::{History, Step};
pub use label::{Label, LabelError, LabelId, LabelSet, Rgb};
pub use mention::{Attributes, Fragments, FragmentsError, Kept, Mention, MentionId, Provenance};
pub use nesting::{assign_lanes, depths};
pub use span::{Span, TokenIdx};
pub use suggestion::{HeadProbability, ModelId, SentenceSuggestions, Suggestion};
