//! A trained model on disk.
//!
//! ```text
//! weights.safetensors   all weights, the encoder's too
//! config.json           the settings
//! labels.json           ids and names, in the order of the classes
//! encoder/              config.json and tokenizer of the encoder
//! manifest.json         written last: what it is, what it scored, hashes of all other files
//! ```

use super::files::{ConfigFile, LabelFile, ManifestFile};
use super::sealed::{self, CONFIG, ENCODER, MANIFEST, NewFolder, read_json};
use super::{Settings, TrainError};
use crate::annotation::{LabelId, ModelId};
use crate::encoder::Definition;
use crate::evaluation::Report;
use crate::model::Samples;
use crate::nn::read_tensors;
use candle_core::Tensor;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Raised when older programs can't read what is written.
const VERSION: u32 = 1;
const WEIGHTS: &str = "weights.safetensors";
const LABELS: &str = "labels.json";

/// All that a snapshot says of itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Manifest {
    pub architecture_version: u32,
    pub settings: Settings,
    /// In the order of the classes.
    pub labels: Vec<(LabelId, String)>,
    pub dataset_hash: String,
    pub parent: Option<ModelId>,
    pub outcome: Outcome,
}

/// What a training did.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub train_sentences: usize,
    /// Counted from 1; the weights are of this one.
    pub best_epoch: usize,
    /// Scores of that epoch.
    pub dev: Option<Report>,
    /// From the request to the snapshot.
    pub wall_secs: f64,
    /// Over the training steps alone.
    pub sentences_per_sec: f64,
    /// Of the whole process; `None` where the operating system does not say.
    pub peak_memory_mb: Option<f64>,
    /// Of an epoch with the labels of persons alone.
    pub samples: Samples,
    /// Gold mentions that are wider than the max width.
    pub too_wide_mentions: usize,
    /// Gold mentions on a span that has another label already.
    pub doubled_mentions: usize,
    pub parameters: usize,
}

/// A snapshot that was read and found whole.
#[derive(Debug)]
pub(super) struct Opened {
    pub manifest: Manifest,
    pub definition: Definition,
    pub tensors: HashMap<String, Tensor>,
}

/// Writes a snapshot: whole, or not at all.
pub(super) fn write(
    folder: &Path,
    manifest: &Manifest,
    definition: &Definition,
    tensors: &BTreeMap<String, Tensor>,
    cancel: &AtomicBool,
) -> Result<(), TrainError> {
    let mut new = NewFolder::for_place(folder, cancel)?;
    new.tensors(WEIGHTS, tensors)?;
    new.json(CONFIG, &ConfigFile::from(&manifest.settings))?;
    new.json(LABELS, &LabelFile::list(&manifest.labels))?;
    new.definition(definition)?;
    new.seal(|hashes| ManifestFile::new(VERSION, manifest, hashes))
}

/// Checks that all of a snapshot is there as it was written, and can be read.
///
/// # Errors
/// The first file that is missing or has changed.
pub fn check_snapshot(folder: &Path) -> Result<(), TrainError> {
    open(folder).map(drop)
}

/// The labels of a model, in the order of its classes.
///
/// # Errors
/// A file that is missing or damaged.
pub fn snapshot_labels(folder: &Path) -> Result<Vec<(LabelId, String)>, TrainError> {
    let labels: Vec<LabelFile> = read_json(&folder.join(LABELS))?;
    Ok(labels.into_iter().map(LabelFile::label).collect())
}

/// Reads a snapshot and checks that nothing in it has changed.
pub(super) fn open(folder: &Path) -> Result<Opened, TrainError> {
    let file: ManifestFile = read_json(&folder.join(MANIFEST))?;
    if file.version != VERSION {
        return Err(TrainError::OtherVersion { what: "format".to_owned(), got: file.version, expected: VERSION });
    }
    sealed::check(folder, &file.sha256, &[WEIGHTS, CONFIG, LABELS])?;
    let settings = sealed::read_settings(folder, file.architecture_version)?;
    let labels = snapshot_labels(folder)?;
    let definition = Definition::open(&folder.join(ENCODER))?;
    let tensors = read_tensors(&folder.join(WEIGHTS))?;
    Ok(Opened { manifest: file.manifest(settings, labels), definition, tensors })
}
