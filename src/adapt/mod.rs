//! Adaptation: an encoder goes on reading the text that is to be annotated, before there are labels for it.
//!
//! Words are left out of sentences, and the encoder learns to say which ones they were (masked language modelling: Devlin et
//! al. 2019; on the text of a task: Gururangan et al. 2020, "Don't Stop Pretraining"). It chooses among the subwords that the
//! text has, so that a pass costs little more than one of a training.
//!
//! # Invariants
//! - The same encoder, text and settings give the same encoder, bit for bit, at any number of threads.
//! - The tables (subwords, positions) stay as they are: a text of some thousand sentences has a small part of the subwords, and
//!   these would move away from the others. So the vocabulary stays whole, and compact tables stay compact.
//! - The error on sentences held out is told before and after, with the same words left out.
//! - The encoder's folder is written beside its place and renamed when it is whole.
//!
//! Deliberately absent: which text may be read (the caller's), and whether the result is better for a project's labels, which
//! only a training can tell; checkpoints, since a pass takes minutes.

mod config;
mod error;
mod head;
mod masking;
mod record;
mod run;

pub use config::Config;
pub use error::AdaptError;
pub use record::Record;
pub use run::{AdaptationRequest, Event, adapt};
