//! The project file: one SQLite database that holds texts, labels, mentions, suggestions, settings, models' names and
//! the log of every edit.
//!
//! ```text
//! Store::open ──> Store::load ──> Contents (corpus, history, suggestions, …)      read once
//!      └───────> Writer::start ──> thread "nestling-writer" <── jobs               written ever after
//!                                  └── each second: is it still the file that was opened?   (same_file, keep)
//! ```
//!
//! # Invariants
//! - After [`WriterEvent::Saved`] an edit is on disk and survives a crash or a power cut: write-ahead log with
//!   `synchronous=FULL`, acknowledged only after COMMIT.
//! - The tables always equal what the corpus in memory would write from scratch ([`rows`](self) mirrors
//!   [`Corpus::apply`](crate::annotation::Corpus::apply)); revisions only grow.
//! - One process writes a project at a time; the lock beside the file says who, and on which machine.
//! - While a project is open its path is watched: nothing is acknowledged that the path does not hold. When the file is
//!   moved, deleted, replaced or overwritten, the work goes on in a copy beside it ([`FileNews`]), and what came in its
//!   place is not touched. Nor is a log that was left behind applied to another file than its own (`leftover`).
//! - No link is followed and nothing but a regular file is opened for what lies beside a project ([`disk`](crate::disk)).
//! - A file that is not ours, newer or damaged is refused and not changed by a byte; so is one that can't be written,
//!   unless it is opened to be read ([`Store::open_to_read`]).
//! - Nothing in a file is run, and no number in it is believed: its schema is compared with ours before anything else is
//!   read ([`schema`](self)), values are checked one by one ([`fields`](self)), and work and memory follow its size
//!   ([`guard`](self)).
//! - Before an old file is brought up to date a copy of it is made beside it.
//! - rusqlite is used in this folder only. `migrations/` is append-only.
//!
//! # Cost
//! Opening reads everything but the forward edits of the log. See [`Store::load`] for measured times.
//!
//! Deliberately absent: weights of models (a folder beside the file, which can be made again), clocks (the session
//! stamps what it sends), and any judgement on edits: the corpus has applied them before they come here.

mod check;
mod codec;
mod copy;
mod error;
mod fields;
mod file;
mod guard;
mod holder;
mod import;
mod jobs;
mod json;
mod keep;
mod leftover;
mod load;
mod lock;
mod log;
mod measurement;
mod memory;
mod merge;
mod migrations;
mod model_record;
mod names;
mod news;
mod paths;
mod place;
mod regular;
mod rescue;
mod row_error;
mod rows;
mod same_file;
mod schema;
mod search;
mod stamp;
mod watch;
mod worker;
mod writer;

pub use error::{Found, StoreError};
pub use file::{NewProject, Store};
pub use holder::{Holder, WhyReadOnly};
pub use import::Import;
pub use jobs::WriterEvent;
pub use keep::carry_models;
pub use load::Contents;
pub use lock::is_locked;
pub use log::{LogLine, Logged};
pub use measurement::Measurement;
pub use memory::Memory;
pub use model_record::ModelRecord;
pub use news::{FileNews, Lost};
pub use paths::models_dir;
pub use place::Place;
pub use rescue::{Rescued, rescue, rescued_path};
pub use stamp::{LogEntry, Stamp, VisibleSuggestions};
pub use watch::Watch;
pub use writer::Writer;
