//! What is written beside the weights: how the encoder came to be.

use serde::{Deserialize, Serialize};

/// The name of the record in the encoder's folder.
pub(super) const RECORD: &str = "adapted.json";

/// How an encoder was adapted. It holds no times, so that the same call writes the same bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// What the encoder that it began as is called.
    pub base: String,
    pub parameters: usize,
    pub compact: bool,
    pub epochs: usize,
    pub batch_size: usize,
    pub rate: f64,
    /// The share of words that were left out.
    pub masked: f64,
    pub seed: u64,
    /// Sentences that it learned from, and their words.
    pub sentences: usize,
    pub words: usize,
    /// Different subwords among which it had to choose.
    pub subwords: usize,
    /// Sentences that it didn't learn from, kept for the losses.
    pub held_out: usize,
    /// Mean of `-ln p` over the subwords left out of these, before the encoder had learned anything and after each epoch. The
    /// first is that of a head that knows nothing: what it falls by says little, the losses after it say how it goes on.
    pub losses: Vec<f64>,
    /// SHA-256 of the words of all sentences.
    pub text_hash: String,
}
