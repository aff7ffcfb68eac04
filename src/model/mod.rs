//! Architectures: what is predicted from an encoder's vectors, how it is trained, and how probabilities become mentions.
//!
//! One file here and one line in `registry.rs` make an architecture appear in the window, the command line, the
//! tests and the benchmarks.
//!
//! # Invariants
//! - Class 0 is "none", class `c` the label `c - 1` of the model's label list. "None" exists nowhere else.
//! - A [`TaskHead`] holds no state but its variables: the same input gives the same prediction whatever came before.
//! - A sentence's prediction does not depend on the others of its batch.
//! - Decoding is shared: an architecture gives probabilities, or what it decided, and [`decode`] makes mentions of them.
//!
//! # The seam
//! What an architecture says and gets, once for all. `ARCHITECTURE.md` shows where it fits in.
//!
//! - **What it needs of the encoder**: [`Architecture::layers`], by default the last one. The forward pass keeps these alone, by
//!   hand and on other devices, and the gradients of all of them flow back into the encoder.
//!   [`Encoded`] has them: `hidden()` is the highest, `layers()` are all from low to high, [`Encoded::words`] says which rows
//!   are a word's first, last and other subwords, and which `[CLS]` and `[SEP]` are those of its window.
//!   [`Layers::Static`] gives the table of word embeddings instead; no block is run then and none learns.
//! - **How far it looks**: [`Architecture::reach`]. A sentence too long for one pass of the encoder is predicted in parts.
//!   An answer about a candidate may then depend on the windows of its own words alone; what depends on more (a Viterbi path,
//!   an LSTM over words) says [`Reach::Sentence`] and gets the whole sentence, put together from these passes. In training
//!   very long sentences are parted for either ([`Sentence::part`]).
//! - **What it learns from**: a [`Sentence`] with its words and all gold mentions, wide, doubled and in fragments. It looks for
//!   those that it can learn itself, and says which it can't: [`Architecture::unlearnable`]. A word that begins only such
//!   mentions is [`FirstWord::Unlearnable`]: a wrong answer to train on.
//! - **Its variables**: declared in the [`Scope`] that it is given, named by what follows there, with the task head's learning
//!   rate; [`Scope::in_group`] has the encoder's. [`crate::encoder::Block::declare_copy`] begins with the weights of a block
//!   of the encoder ([`crate::encoder::Bert::blocks`]) and then learns on its own, at the encoder's rate. A snapshot holds all
//!   of them. Encoders of other blocks ([`crate::encoder::Network::as_bert`] has none) are refused with
//!   [`ModelError::OtherBlocks`].
//!   Whatever the sizes in a file are, values are taken from it only where their shapes are those declared here.
//! - **Its answer**: a [`Prediction`]. The table of [`Candidates`] is one flat one per sentence: without a filter a sentence
//!   has hundreds. [`decode`] takes every candidate that is more probable than "none". Where that is not how the system
//!   decides (Viterbi, Soft-NMS), `decided` is its final answer; the table then only ranks what else is worth showing, and
//!   may be [`Candidates::none`]. A score is a probability or as near to one as the system has; say in its docs which.
//! - **Models that differ by dropout**: [`TaskHead::predict_with_dropout`] has a default for all whose candidates depend on the
//!   sentence alone.
//! - **What it classifies spans by**: [`TaskHead::span_vectors`], the vectors that the layer with the logits gets, for pictures and
//!   similarities of them. What classifies no spans has none.
//! - **Its task**: [`Architecture::task`]. One that labels given words implements [`TaskHead::type_spans`], and
//!   [`TaskHead::predict`] by [`predict_given`]; training, evaluation and snapshots are then as for the others, with gold
//!   words given.
//!
//! [`TaskHead::loss`] takes a generator and no mode, because a loss is only ever taken in training; it returns the counts of
//! its samples, too.
//!
//! [`crate::nn`] has what heads are made of: `Linear`, `Embedding`, `LayerNorm`, `BiLstm`; `segment_max`, `segment_mean`,
//! `select_rows`; `softmax`, `log_softmax`, `log_sum_exp`, `sigmoid`, `softplus`, `cross_entropy`, `smooth_l1`,
//! `binary_focal_loss`; `Operations` for `linear`, `layer_norm`, `gelu`, `dropout`. What goes on word by word is one operation
//! by hand (see there why).
//!
//! Deliberately absent: training loops, files, scores.
//!
//! [`Encoded`]: crate::encoder::Encoded
//! [`Encoded::words`]: crate::encoder::Encoded::words
//! [`Layers::Static`]: crate::encoder::Layers::Static
//! [`Scope`]: crate::nn::Scope
//! [`Scope::in_group`]: crate::nn::Scope::in_group

mod architecture;
mod bundling;
mod candidates;
mod decoding;
mod drawn_tags;
mod dspert;
mod error;
mod given;
mod locate_label;
mod options;
mod prediction;
mod registry;
mod sentence;
mod seqlab;
mod shape_vectors;
mod smartspanner;
mod span_classifier;
mod span_pass;
mod span_typing;
mod spanner;
mod tagger;
mod tags;
mod word_shape;

pub use architecture::{Architecture, BatchLoss, FirstWordFilter, Reach, Task, TaskHead, TaskHeadConfig};
use architecture::{dropout_of_models, sentence_lengths};
pub use candidates::{Candidates, SampleCounts, Samples};
pub use decoding::{Nesting, decode, likely, settle};
pub use error::ModelError;
pub use given::predict_given;
pub use options::{
    ENTITY_HEADS, EncoderTraits, MAX_WIDTH, OptionDefault, OptionError, OptionSpec, OptionValues, THRESHOLD,
    USUAL_MAX_WIDTH, WORD_SHAPE_FEATURES,
};
pub use prediction::{Found, LabelTable, Prediction};
pub use registry::{architecture, architectures, finders, labels_given};
pub use sentence::{Class, FirstWord, GoldMention, Sentence, Unlearnable};
pub use word_shape::{WORD_SHAPES, word_shape};
