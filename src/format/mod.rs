//! File formats: reading documents from files of other programs, writing them, and saying what got lost.
//!
//! ```text
//! file ──> Input ──> Format::read ──> Sink       ImportedDocument…, warnings with line numbers, notes
//! Corpus ──> views ──> Format::write ──> Output  Receipt: what could not be represented, span by span
//! ```
//!
//! # Invariants
//! - Nothing is dropped in silence: a reader warns of each line or key that it leaves out, a writer lists each loss.
//! - One bad line costs that line, not the file.
//! - What [`Holds`] says that a format holds comes back from its own export with an empty receipt.
//! - A format's own structs stay in its own file; only they derive `Serialize` and `Deserialize`.
//! - Readers hold one document in memory at a time, or less where [`Sink::longest_document`] asks for it.
//!
//! A new format is one file here and one line in `registry.rs`.
//!
//! Deliberately absent: ids of labels and mentions (a file names labels; the session finds or makes them), and the
//! project.

mod brat;
mod conll;
mod contract;
mod definitions;
mod encoding;
mod error;
mod file_names;
mod fit;
mod foreign;
mod given;
mod imported;
mod input;
mod jsonl;
mod options;
mod output;
mod receipt;
mod registry;
mod sample;
mod scheme;
mod segments;
mod spelling;
mod tag_order;
mod tags;
mod text;
mod unit_choice;
mod units;
mod view;

pub use contract::{Format, Holds};
pub use definitions::add as add_definitions;
pub use error::FormatError;
pub use imported::{Collected, ImportedDocument, ImportedLabel, ImportedMention, ImportedSentence, Sink, Warning};
pub use input::{Input, Listener};
pub use options::{OptionSpec, Options, Use};
pub use output::{Content, Folder, Layout, OneFile, Output};
pub use receipt::{Loss, LossKind, Receipt};
pub use registry::{Detected, by_id, detect, formats};
pub use sample::{Confidence, Sample, Sniff};
pub use segments::LineEvidence;
pub use unit_choice::choose_unit;
pub use view::{DocumentView, MentionView, SentenceView, Shown, views};
