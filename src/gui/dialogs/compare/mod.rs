//! Comparing models in the window: what is to be trained, how far that is, and what came of it.
//!
//! ```text
//! setup ─> UiAction::StartComparison ─> the workspace ─> kept (live, or from disk) ─> results: table, plot, pair ─> save
//! ```
//!
//! # Invariants
//! - The work belongs to the workspace and goes on when the dialog is closed.
//! - Tables, paired differences and what is read from disk are made by tasks.

mod dialog;
mod kept;
mod pair;
mod plot;
mod results;
mod setup;
mod varied;
mod words;

pub(crate) use dialog::CompareDialog;
