//! Suggestions before there is a model: names, by what the encoder has learned of other corpora's entities.
//!
//! # Invariants
//! - They are suggested only while the project uses no model of its own, and are no model of the project: they are told from
//!   those by [`ModelId::NAMES`](crate::annotation::ModelId::NAMES).
//! - A label of the encoder's is said as the project's label of the same name; else, where it means a kind of name, as the label
//!   that stands for the kind; else not at all.
//!
//! Deliberately absent: what such suggestions would teach (acquisition scores). They tell how sure the encoder is of names, not
//! what a model of the project lacks.

mod kinds;
mod known;
mod of_project;

pub use kinds::{NameKind, NameLabel};
pub(in crate::session) use known::{KnownNames, Names};
