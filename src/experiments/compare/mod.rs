//! Architectures and their settings against each other: a model for each variant and seed, from the same sentences, scored on
//! the same others.
//!
//! ```text
//! a project's complete sentences ─> Subject ─┬─> train, score (variant 1, seed 1) ─┐
//!                                            ├─> train, score (variant 2, seed 1) ─┼─> Comparison ─> table, plot
//!                                            └─> …                                 ┘
//! ```
//!
//! # Invariants
//! - Models are trained in a temporary folder and thrown away; the project is read and not changed.
//! - Variants take turns, seed by seed, so that a machine that grows slower is slower for all.
//! - What is kept of a run is what its model predicted, so that every analysis can be made later without the model.
//! - A comparison of the window goes on beside the work (`background`), and is kept beside the project (`kept`).
//! - A comparison that was stopped continues after the last run that was finished. Variants and seeds can be added to it.

mod background;
mod comparison;
mod kept;
mod plot;
mod record;
mod request;
mod run;
mod subject;
mod table;

pub use background::{BackgroundComparison, ComparisonProgress};
pub use comparison::{Comparison, Differing, Disputed, Spread};
pub use kept::{Asked, KeptComparison, comparison_folder, kept_comparisons};
pub use record::{ComparedRun, RunCost};
pub use request::{CompareRequest, Variant};
pub use run::{CompareEvent, compare};
pub use subject::Subject;
pub use table::{Column, ColumnGroup, ComparisonRow, ComparisonTable};
