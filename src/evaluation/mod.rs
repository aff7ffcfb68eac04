//! Counts and scores. Pure functions of gold and predicted mentions.
//!
//! # Invariants
//! - A score without anything to divide by is `None`, never 0 or 1.
//! - Gold and predicted mentions are sets: saying the same twice counts once.
//!
//! Deliberately absent: models, texts, tokens' words.

mod counts;
mod report;

pub use counts::Counts;
pub use report::{Judged, Report};
