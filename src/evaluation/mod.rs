//! Counts and scores. Pure functions of gold and predicted mentions.
//!
//! [`Report`] is the strict score, which everything is judged by. The others say where it comes from: [`Matches`]
//! (which forgives labels or boundaries), [`CorrectionEffort`] (what it costs a person to correct), [`Lengths`], [`Nesting`], [`Buckets`], [`Errors`] and [`Tasks`].
//!
//! # Invariants
//! - A score without anything to divide by is `None`, never 0 or 1.
//! - Gold and predicted mentions are sets: saying the same twice counts once. Two labels on one span are two mentions.
//! - No report depends on the order of mentions or of sentences.
//! - Groups are of spans, so a predicted mention has its group as a gold one has, and what is found is in one group.
//!
//! Deliberately absent: models, files.

mod analyses;
mod buckets;
mod calibration;
mod confidence_interval;
mod confusion;
mod consistency;
mod correction_effort;
mod counts;
mod errors;
mod judged;
mod lengths;
mod matches;
mod nesting;
mod paired_bootstrap;
mod pairing;
mod projection;
#[cfg(test)]
mod properties;
mod report;
mod score_distribution;
mod similarity;
mod tasks;
#[cfg(test)]
mod testing;

pub use analyses::Analyses;
pub use buckets::{Bucketed, Buckets};
pub use calibration::{Calibration, Scale};
pub use confidence_interval::ConfidenceInterval;
pub use confusion::Confusion;
pub use consistency::Consistency;
pub use correction_effort::{CorrectionEffort, Scored, effort_at, least_effort};
pub use counts::Counts;
pub use errors::{ErrorKinds, Errors};
pub use judged::Judged;
pub use lengths::Lengths;
pub use matches::{Matches, PartialCounts};
pub use nesting::Nesting;
pub use paired_bootstrap::F1Difference;
pub use projection::Projection;
pub use report::Report;
pub use score_distribution::{ScoreDistribution, density, quantile};
pub use similarity::{MeanCosine, Similarity, SpanVector};
pub use tasks::{Task, Tasks};
