//! What a person annotates and how it changes: documents of tokenised sentences, labels, nested mentions, suggestions,
//! and edits with inverses.
//!
//! # Invariants
//! - A [`Corpus`] changes only by [`Corpus::apply`] and by adding whole documents. A [`Transaction`] is applied all or
//!   nothing, to exactly the state it expects, and returns its inverse.
//! - A copy of a [`Corpus`] shares with it what neither has changed ([`ById`]): to hold one on another thread costs a few
//!   pointers, and an edit meanwhile copies what is around it. Counts are kept up to date by edits.
//! - A [`Span`] counts tokens of one sentence, half-open and never empty.
//! - Ids (labels, mentions, documents, sentences) are only appended and never used again. Text order is another thing:
//!   [`Corpus::sentences`] has it. They stay within [`limits`], and memory follows what is there, whatever the ids are.
//! - Tokens and sentences can be split and joined ([`Edit::Resegment`]), but the words that they cover stay.
//! - A document is there, excluded or removed ([`Presence`]). Only what is there has a place in text order. An excluded
//!   one keeps its labels in use, so that it can be there again at any time; a removed one stays, out of sight, so that
//!   undo can bring it back.
//! - A [`Suggestion`] is never gold. Accepting one is an edit that adds a [`Mention`].
//!
//! Deliberately absent: files, the database, clocks. The session stamps time and author on what it applies.

mod apply_error;
mod by_id;
mod corpus;
mod document;
mod edit;
mod history;
mod ids;
mod label;
pub mod limits;
mod mention;
mod nesting;
mod project_id;
mod segmentation;
mod sentence;
mod sentence_set;
mod span;
mod suggestion;
mod tallies;
mod text_order;

pub use apply_error::ApplyError;
pub use by_id::{ById, Numbered};
pub use corpus::Corpus;
pub use document::{Document, DocumentIds, NewDocument, Presence, StoredDocument};
pub use edit::{Edit, Transaction};
pub use history::{History, Step};
pub use ids::{DocumentId, MentionId, ModelId, SentenceId};
pub use label::{Label, LabelError, LabelId, LabelSet, LabelUse, Rgb};
pub use mention::{Attributes, Fragments, FragmentsError, Kept, Mention, Provenance};
pub use nesting::assign_lanes;
pub use project_id::ProjectId;
pub use segmentation::{SegmentError, join_sentences, join_tokens, split_sentence, split_token};
pub use sentence::{NewSentence, Sentence, Split, Status};
pub use sentence_set::SentenceSet;
pub use span::{Span, TokenIdx};
pub use suggestion::{Acquisition, HeadProbability, SentenceSuggestions, Suggestion, SuggestionsById};
pub use tallies::DocumentTally;
