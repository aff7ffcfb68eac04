//! Nestling: annotate nested named entities with a model that learns while you work.
//!
//! The modules in reading order, which is also the order of the layers. Imports go down only, and modules of one layer
//! do not import each other; `tests/layering.rs` reads every `use crate::…` and fails otherwise. `ARCHITECTURE.md` walks
//! through them.
//!
//! | layer | module | holds |
//! |---|---|---|
//! | 0 | [`text`] | offsets, tokens, sentences |
//! | 0 | [`wording`] | numbers and lists in what people read |
//! | 0 | [`disk`] | files that may have come from anybody, and writing that lasts |
//! | 0 | [`parameter`] | values that people set by name: what each takes, tables of them |
//! | 0 | [`figure`] | pictures and tables as files |
//! | 1 | [`nn`] | layers that train, seeded random numbers, AdamW |
//! | 1 | [`annotation`] | spans, labels, mentions, suggestions, edits, history |
//! | 2 | [`encoder`] | BERT-family encoders |
//! | 2 | [`evaluation`] | counts and scores |
//! | 2 | [`active`] | which sentence next |
//! | 2 | [`mod@format`] | file formats |
//! | 2 | [`store`] | the project file |
//! | 3 | [`model`] | architectures: candidates, losses, decoding |
//! | 4 | [`train`] | frozen data sets, the training loop, snapshots |
//! | 4 | [`distill`] | small encoders from large ones |
//! | 4 | [`adapt`] | encoders that have read a text before it is annotated |
//! | 5 | [`pretrain`] | encoders that know entities, from corpora |
//! | 6 | [`session`] | an open project and its workers |
//! | 7 | [`experiments`] | annotation replayed, and what work costs, measured |
//! | 8 | [`cli`] | the command line |
//! | 8 | `gui` | the window (feature `gui`) |

pub mod text;

pub mod wording;

pub mod disk;

pub mod parameter;

pub mod figure;

pub mod annotation;

pub mod nn;

pub mod encoder;

pub mod evaluation;

pub mod active;

pub mod format;

pub mod store;

pub mod model;

pub mod train;

pub mod adapt;
pub mod distill;

pub mod pretrain;

pub mod session;

pub mod experiments;

pub mod cli;

#[cfg(feature = "gui")]
pub mod gui;
