//! What an evaluation tells, as files: a table for each breakdown, and a picture where one says more.
//!
//! - [`breakdown`]: which there are.
//! - [`evaluated`]: the scores of a model, of another one where they are compared, and the names of what they are about.
//! - [`tables`], [`pictures`]: CSV and SVG.
//! - [`writing`]: files in a folder.
//!
//! Deliberately absent: the command line's JSON and its tables for people, the window's plots.

mod breakdown;
mod evaluated;
mod pictures;
mod tables;
mod writing;

pub use breakdown::Breakdown;
pub use evaluated::{Evaluated, PropertyDifferences, bucket_differences};
pub use writing::{FigureFile, figure_files, write_figures};
