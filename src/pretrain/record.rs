//! What is written beside the weights: how the encoder came to be.

use super::corpus::SourceFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The name of the record in the encoder's folder.
pub(super) const RECORD: &str = "entities.json";

/// How an encoder that knows entities came to be. It holds no times, so that the same call writes the same bytes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// What the encoder that it began as is called.
    pub base: String,
    pub parameters: usize,
    pub compact: bool,
    pub seed: u64,
    /// Sentences of each corpus, at most.
    pub limit: Option<usize>,
    /// Of all corpora.
    pub sentences: usize,
    pub corpora: Vec<CorpusRecord>,
    /// Mentions that are wider than the max width, and those on the words of one with another label: they can't be learnt.
    pub too_wide_mentions: usize,
    pub doubled_mentions: usize,
    /// In the order of their names; `CORPUS:LABEL` unless merged.
    pub labels: Vec<LabelRecord>,
    /// SHA-256 of the data set as a whole.
    pub dataset_hash: String,
    /// Settings of the training, as a model has them in its config.json.
    pub settings: Map<String, Json>,
    /// Mean loss of each epoch.
    pub losses: Vec<f32>,
}

/// What was learnt of one corpus.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CorpusRecord {
    pub name: String,
    /// Learnt from.
    pub sentences: usize,
    /// Complete and free to learn from.
    pub of_sentences: usize,
    /// Of the sentences learnt from.
    pub words: usize,
    pub mentions: usize,
    /// Besides these: they are in fragments, which can't be learnt.
    pub discontinuous_mentions: usize,
    /// SHA-256 of these sentences' words and mentions.
    pub sha256: String,
    pub files: Vec<SourceFile>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LabelRecord {
    pub name: String,
    pub mentions: usize,
}
