//! What a distillation writes beside weights: the record in the student's folder, and the state in a checkpoint.

use super::config::Config;
use super::error::DistillError;
use super::request::DistillationRequest;
use crate::nn::as_slice;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of the record in the student's folder.
pub(super) const RECORD: &str = "distilled.json";

/// How a student came to be.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    pub teacher: String,
    pub teacher_layers: usize,
    pub layers: usize,
    pub inner: usize,
    pub vocabulary: usize,
    /// Of a Unigram vocabulary that was cut; see [`Config`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ideographs: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_weight: Option<f64>,
    pub hidden: usize,
    /// The teacher's block that the last one imitates.
    pub last: usize,
    pub parameters: usize,
    pub epochs: usize,
    pub batch_size: usize,
    pub rate: f64,
    pub seed: u64,
    pub compact: bool,
    /// What was learnt from.
    pub sentences: usize,
    pub words: usize,
    /// Sentences that were kept for the errors.
    pub held_out: usize,
    pub steps: usize,
    /// Before the first epoch and after each; see [`super::request::Event::EpochDone`].
    pub errors: Vec<f64>,
    pub wall_secs: f64,
    pub sentences_per_sec: f64,
}

/// Where a distillation stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct CheckpointState {
    /// Of what it is made from; see [`fingerprint`].
    pub fingerprint: String,
    pub step: usize,
    pub adam_steps: u64,
    pub errors: Vec<f64>,
    pub step_secs: f64,
    pub wall_secs: f64,
}

/// Where the checkpoint of a distillation into a folder lies: beside it.
pub(super) fn checkpoint_of(output: &Path) -> PathBuf {
    let mut name = OsString::from(output.file_name().unwrap_or_default());
    name.push(".unfinished");
    output.with_file_name(name)
}

/// A hash of teacher, text and settings: of all that the student depends on.
pub(super) fn fingerprint(request: &DistillationRequest) -> Result<String, DistillError> {
    let mut sha = Sha256::new();
    let Config {
        layers,
        inner,
        vocabulary,
        ideographs,
        text_weight,
        last,
        epochs,
        batch_size,
        rate,
        seed,
        threads: _,
        compact,
    } = &request.config;
    // The words are those of the first programs, so that what they began can go on.
    let open = |value: &Option<usize>| value.map_or("None".to_owned(), |number| format!("Some({number})"));
    let [layers, inner, vocabulary, last] = [layers, inner, vocabulary, last].map(open);
    sha.update(format!("{layers} {inner} {vocabulary} {last} {epochs} {batch_size} {rate} {seed} {compact}\n"));
    let definition = request.teacher.definition();
    if request.cuts_unigram() {
        // Which subwords are kept depends on which sentences are of one language.
        let sizes: Vec<usize> = request.texts.iter().map(Vec::len).collect();
        sha.update(format!("{ideographs} {text_weight} {sizes:?}\n"));
    }
    for (name, bytes) in definition.files() {
        sha.update(name);
        sha.update(bytes);
    }
    let mut weights: Vec<_> = request.teacher.weights().iter().collect();
    weights.sort_by_key(|(name, _)| *name);
    for (name, tensor) in weights {
        sha.update(name);
        let numbers = as_slice(tensor).map_err(crate::nn::NnError::from)?;
        numbers.iter().for_each(|x| sha.update(x.to_le_bytes()));
    }
    for sentence in request.texts.iter().flatten() {
        sha.update(sentence.len().to_le_bytes());
        for word in sentence {
            sha.update(word);
            sha.update([0]);
        }
    }
    Ok(sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
