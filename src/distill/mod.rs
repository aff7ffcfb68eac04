//! Distillation: a small encoder that gives nearly the vectors of a large one, its teacher, at a fraction of the time.
//!
//! The student begins as a part of its teacher: its tables, its first blocks, and of their inner layers the neurons that
//! count most on the text at hand. Then its blocks learn to give the teacher's hidden states on that text, block by block
//! (Hinton et al. 2015; hidden states and blocks taken from the teacher as in Sanh et al. 2019 and Jiao et al. 2020). No
//! labels are needed. Where a vocabulary of many languages is cut, the teacher reads words with the pieces that are left,
//! too. The tables stay as they are, rounded to the bits that they will be stored in where the student is to be compact, so
//! that the blocks learn to live with that.
//!
//! # Invariants
//! - The same teacher, text and settings give the same student, bit for bit, at any number of threads.
//! - The student's folder is written beside its place and renamed when it is whole.
//! - A distillation that was interrupted goes on from its last checkpoint to the student that it would have become.
//!
//! Deliberately absent: a student narrower than its teacher; objectives on words left out or on attention; data from
//! anywhere but the caller.

mod comparison;
mod config;
mod error;
mod files;
mod keeper;
mod preparing;
mod request;
mod run;
mod student;
mod vocabulary;

pub use config::Config;
pub use error::DistillError;
pub use files::Record;
pub use request::{DistillationRequest, Event};
pub use run::distill;
