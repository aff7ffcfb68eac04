//! Pretraining on entities: an encoder learns from corpora that are annotated already, so that a project with few labels
//! starts from one that knows what entities look like.
//!
//! One model (SmartSpanNER) learns the sentences and labels of all corpora as one task (intermediate training on labelled data:
//! Phang et al. 2018; on many data sets at once: Aghajanyan et al. 2021). Its heads are kept beside the encoder.
//!
//! # Invariants
//! - The same encoder, corpora, labels and settings give the same files, byte for byte, at any number of threads.
//! - A label is its corpus' own, `CORPUS:LABEL`, unless a [`LabelMap`] says that it means the same as others. A merged
//!   label is refused where a corpus lacks it: what nobody has looked for there would be learnt as nothing.
//! - The encoder's folder is written beside its place and renamed when it is whole.
//!
//! Deliberately absent: reading of files and projects, which sentences are complete and may be learnt from (the caller's);
//! scores, since what counts is what a later project gains.

mod corpus;
mod error;
mod label_map;
mod record;
mod run;
mod settings;
mod union;

pub use corpus::{AnnotatedCorpus, AnnotatedSentence, SourceFile};
pub use error::PretrainError;
pub use label_map::LabelMap;
pub use record::{CorpusRecord, LabelRecord, Record};
pub use run::{PretrainingRequest, pretrain};
pub use settings::PretrainSettings;
