//! Which sentence next: acquisition scores, diversity, and the choice by them; and what more of it would bring. Pure
//! functions over what models say.
//!
//! ```text
//! probabilities of one sentence ─> Acquisition ─┐
//!                                               ├─> choose ─> sentences, each with its score and why
//! its words, and those of all others ───────────┘
//! ```
//!
//! # Invariants
//! - What is chosen was offered, each once: who offers leaves out what is complete, skipped or kept aside.
//! - Of the first n chosen at least n times the random share were drawn at random, whatever the scores say: their order
//!   depends on the seed alone, so they are a fair sample of what is open.
//! - Same input, same seed: same choice.
//!
//! Deliberately absent: models, threads, the project.

mod acquisition;
mod choose;
mod direction;
mod diversity;
mod forecast;
mod look_again;
mod random_order;
mod ranking;
mod request;
mod strategy;
mod typical;

pub use acquisition::{AcquisitionSums, SentenceProbabilities, acquisition, disagreement, disagreement_sum};
pub use choose::choose;
pub use direction::Projection;
pub use forecast::{Forecast, NextPoint, Point};
pub use look_again::{Doubt, Finding, Held, Labelled, Proposal, Sought, look_again};
pub use request::{Choice, ChoiceRequest, Open, Why};
pub use strategy::{Besides, Measure, NoSuchStrategy, Strategy};
