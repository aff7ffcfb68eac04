//! The project file: one SQLite database that holds texts, labels, mentions, suggestions, settings, models' names and
//! the log of every edit.
//!
//! ```text
//! Store::open ──> Store::load ──> Contents (corpus, history, suggestions, …)      read once
//!      └───────> Writer::start ──> thread "nestling-writer" <── jobs               written ever after
//! ```
//!
//! # Invariants
//! - After [`WriterEvent::Saved`] an edit is on disk and survives a crash or a power cut: write-ahead log with
//!   `synchronous=FULL`, acknowledged only after COMMIT.
//! - The tables always equal what the corpus in memory would write from scratch ([`rows`](self) mirrors
//!   [`Corpus::apply`](crate::annotation::Corpus::apply)); revisions only grow.
//! - One process writes a project at a time; the lock beside the file says who.
//! - A file that is not ours, newer or damaged is refused and not changed by a byte; so is one that can't be written,
//!   unless it is opened to be read ([`Store::open_to_read`]).
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
mod file;
mod import;
mod json;
mod load;
mod lock;
mod log;
mod measurement;
mod migrations;
mod names;
mod rescue;
mod rows;
mod search;
mod watch;
mod writer;

pub use error::{Found, StoreError};
pub use file::{NewProject, Store, WhyReadOnly, models_dir};
pub use import::Import;
pub use load::{Contents, ModelRecord};
pub use lock::{Holder, is_locked};
pub use log::{LogLine, Logged};
pub use measurement::Measurement;
pub use rescue::{Rescued, rescue, rescued_path};
pub use watch::Watch;
pub use writer::{LogEntry, Stamp, VisibleSuggestions, Writer, WriterEvent};
