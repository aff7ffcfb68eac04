//! How far the numbers of a project may go.
//!
//! Far beyond any honest project, and small enough that counting on from them never overflows. What a file says is held
//! against these where it is read (`src/store`), and so is each edit where it is applied, so that no id that is out of
//! bounds is ever in a corpus.

/// Ids of sentences are below this, those that were given up by joining included.
pub const SENTENCE_IDS: u32 = 1 << 28;

/// Ids of documents are below this.
pub const DOCUMENT_IDS: u32 = 1 << 27;

/// Ids of mentions are below this.
pub const MENTION_IDS: u64 = 1 << 48;

/// Ids of labels are below this, those of removed labels included.
pub const LABEL_IDS: u32 = 1 << 24;

/// Labels of one project, at most.
pub const LABELS: usize = 1 << 16;

/// Numbers of models are below this.
pub const MODEL_IDS: u32 = 1 << 24;

/// Revisions are below this.
pub const REVISIONS: u64 = 1 << 48;
