//! Counts and scores. Pure functions of gold and predicted mentions.
//!
//! [`Report`] is the strict score, which everything is judged by. The others say where it comes from: [`Matches`]
//! (which forgives labels or boundaries), [`CorrectionEffort`] (what it costs a person to correct), [`Lengths`], [`Nesting`], [`Buckets`], [`Errors`] and [`Tasks`].
//! How sure a model is where it is right or wrong say [`ScoreDistribution`] and [`Reliability`]; what it sees in spans,
//! [`Projection`] and [`Similarity`] of the vectors of a [`SpanSample`].
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
mod span_sample;
mod tasks;
#[cfg(test)]
mod testing;

pub use analyses::Analyses;
pub use buckets::{Bucketed, Buckets};
pub use calibration::{Calibration, Reliability, ReliabilityBin, Scale};
pub use confidence_interval::ConfidenceInterval;
pub use confusion::{Confusion, PairedLabels};
pub use consistency::Consistency;
pub use correction_effort::{CorrectionEffort, Scored, effort_at, least_effort};
pub use counts::Counts;
pub use errors::{ErrorKind, ErrorKinds, Errors, WrongMention};
pub use judged::Judged;
pub use lengths::Lengths;
pub use matches::{Matches, PartialCounts};
pub use nesting::Nesting;
pub use paired_bootstrap::F1Difference;
pub use projection::Projection;
pub use report::Report;
pub use score_distribution::{ScoreDistribution, density, quantile};
pub use similarity::{MeanCosine, Similarity, SpanVector};
pub use span_sample::{Drawn, DrawnSpan, SpanKind, SpanSample, SpanSampling};
pub use tasks::{Task, Tasks};
