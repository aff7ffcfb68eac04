//! Why a model scores as it does: the papers' analyses of one model, or of two against each other.
//!
//! ```text
//! chooser ─> Choice ─> runs (a task, and what was made before) ─> Analysed ─> sections: sheets, heat maps, plots, sentences
//! ```
//!
//! # Invariants
//! - What is scored is scored by a task, on sentences as they are when it begins; what is shown is of these, whatever
//!   happens to the project meanwhile.
//! - What was analysed stays while the project is open, as it was left. Where sentences have changed since, it says so and can
//!   be made anew.
//! - Nothing is scored before a person asks, and test only when it was chosen.

mod analysed;
mod buckets;
mod choice;
mod dialog;
mod errors;
mod probabilities;
mod results;
mod runs;
mod scores;
mod sentences;
mod sheet;
mod sheet_table;
mod vectors;
mod violins;

pub(crate) use dialog::AnalysesDialog;
