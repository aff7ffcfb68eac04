//! Encoders: words in, one vector a subword out, of the last layer or of more ([`Layers`]), and which subwords a word has.
//!
//! # Invariants
//! - No word is dropped: a word without any subword is `[UNK]`, and a sentence longer than the encoder's limit is
//!   encoded in overlapping windows ([`Alignment`]).
//! - What is asked for of a pass is kept, and nothing else: without inner layers a prediction holds two hidden states.
//! - An encoder folder is checked when it is read: what the program can't run is refused with what is wrong, what was
//!   expected and what to do.
//! - Import copies what it needs; later changes to the folder it came from don't matter.
//! - The network is used by [`Hub`] alone, when a person asks for an encoder by name.
//! - Every variable gets a gradient in training; hidden states and gradients match PyTorch's (`tests/fixtures/learner`), and
//!   hidden states those of candle-transformers.
//! - Whatever the kind of encoder, what BERT has, too, has the names that BERT's variables have: files are read by
//!   [`Kind`], all else knows one set of names.
//! - BERT's blocks run by hand on the CPU ([`Bert`], `cpu`) and by candle's operations elsewhere ([`plain`]); the blocks
//!   of ModernBERT and DeBERTa run operation by operation everywhere. [`Network`] is any of them.
//!
//! Deliberately absent: encoders with other blocks (ALBERT, T5, the first DeBERTa); pickled weights, which can run code
//! when read.

mod alignment;
mod batch;
mod bert;
mod built_in;
mod compact;
mod config;
mod config_file;
mod cpu;
mod cut;
mod cut_pieces;
mod deberta;
mod entity_heads;
mod error;
mod folder;
mod hashed;
mod hub;
mod info;
mod kind;
mod layers;
mod modern_bert;
mod network;
mod packed;
mod padding;
pub mod plain;
mod registry;
mod shapes;
mod spans;
mod stretches;
mod subwords;
#[cfg(test)]
mod tests;
mod tokenizer;
mod vectors;
mod weights;
mod word_rows;

pub use alignment::{Alignment, Window, WordPlace};
pub use batch::{Encoded, EncoderBatch, column_factors};
pub use bert::{Bert, Block, Learning};
pub use built_in::{ENGLISH, SMALL, has_read, suited_to};
pub use config::{Blocks, EncoderConfig, Pieces};
pub use cpu::{Start, Tape, TokenGradients};
pub use cut::Cut;
pub use deberta::{Convolution, Deberta, DebertaConfig};
pub use entity_heads::EntityHeads;
pub use error::EncoderError;
pub use folder::{Definition, Encoder};
pub use hashed::HashedWords;
pub use hub::{Fetching, Hub, Repository};
pub use info::EncoderInfo;
pub use kind::Kind;
pub use layers::Layers;
pub use modern_bert::{ModernBert, ModernBertConfig};
pub use network::Network;
pub use registry::Encoders;
pub use spans::{SpanBatch, SpanTransformer};
pub use stretches::stretches;
pub use subwords::{Subwords, Tokenized};
pub use word_rows::WordRows;
