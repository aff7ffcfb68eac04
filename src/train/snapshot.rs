//! A trained model on disk.
//!
//! ```text
//! weights.safetensors   all weights, the encoder's too
//! config.json           the settings
//! labels.json           ids and names, in the order of the classes
//! encoder/              config.json and tokenizer of the encoder
//! manifest.json         written last: what it is, what it scored, hashes of all other files
//! ```

mod files;

use super::dataset::hex;
use super::{Settings, TrainError};
use crate::annotation::{LabelId, ModelId};
use crate::encoder::Definition;
use crate::evaluation::Report;
use crate::model::{Samples, architecture};
use crate::nn::{read_tensors, write_tensors};
use candle_core::Tensor;
use files::{ConfigFile, LabelFile, ManifestFile};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Raised when older programs can't read what is written.
const VERSION: u32 = 1;
const WEIGHTS: &str = "weights.safetensors";
const CONFIG: &str = "config.json";
const LABELS: &str = "labels.json";
const MANIFEST: &str = "manifest.json";
const ENCODER: &str = "encoder";

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
    /// Of the last epoch.
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

/// Writes a snapshot beside its place and renames it.
pub(super) fn write(
    folder: &Path,
    manifest: &Manifest,
    definition: &Definition,
    tensors: &BTreeMap<String, Tensor>,
) -> Result<(), TrainError> {
    let parent = folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(TrainError::io("can't make the folder", parent))?;
    let made = tempfile::Builder::new().prefix(".model-").tempdir_in(parent);
    let beside = made.map_err(TrainError::io("can't make a folder", parent))?;
    let at = beside.path();

    write_tensors(&at.join(WEIGHTS), tensors)?;
    write_file(&at.join(CONFIG), &json(&ConfigFile::from(&manifest.settings)))?;
    write_file(&at.join(LABELS), &json(&LabelFile::list(&manifest.labels)))?;
    let mut names = vec![WEIGHTS.to_owned(), CONFIG.to_owned(), LABELS.to_owned()];
    let encoder = at.join(ENCODER);
    std::fs::create_dir(&encoder).map_err(TrainError::io("can't make a folder", &encoder))?;
    for (name, bytes) in definition.files() {
        write_file(&encoder.join(name), bytes)?;
        names.push(format!("{ENCODER}/{name}"));
    }
    sync_folder(&encoder)?;
    let hash = |name: String| -> Result<_, TrainError> { Ok((name.clone(), hash_file(&at.join(name))?)) };
    let hashes = names.into_iter().map(hash).collect::<Result<_, _>>()?;
    write_file(&at.join(MANIFEST), &json(&ManifestFile::new(VERSION, manifest, hashes)))?;
    sync_folder(at)?;

    if folder.exists() {
        return Err(TrainError::SnapshotExists(folder.to_owned()));
    }
    std::fs::rename(at, folder).map_err(TrainError::io("can't name the folder", folder))?;
    // Nothing is left under the old name that could be cleaned up.
    let _ = beside.keep();
    sync_folder(parent)
}

/// Checks that all of a snapshot is there as it was written, and can be read.
///
/// # Errors
/// The first file that is missing or has changed.
pub fn check_snapshot(folder: &Path) -> Result<(), TrainError> {
    open(folder).map(drop)
}

/// Reads a snapshot and checks that nothing in it has changed.
pub(super) fn open(folder: &Path) -> Result<Opened, TrainError> {
    let file: ManifestFile = read_json(&folder.join(MANIFEST))?;
    if file.version != VERSION {
        return Err(TrainError::OtherVersion { what: "format".to_owned(), got: file.version, expected: VERSION });
    }
    for (name, expected) in &file.sha256 {
        let path = within(folder, name)?;
        if hash_file(&path)? != *expected {
            return Err(damaged("the file has changed since it was written", &path));
        }
    }
    for name in [WEIGHTS, CONFIG, LABELS] {
        if !file.sha256.contains_key(name) {
            return Err(damaged("the manifest gives no hash of a file", &folder.join(name)));
        }
    }
    let config: ConfigFile = read_json(&folder.join(CONFIG))?;
    let labels: Vec<LabelFile> = read_json(&folder.join(LABELS))?;
    let settings = config.settings().ok_or_else(|| damaged("an unknown effort", &folder.join(CONFIG)))?;
    let expected = architecture(&settings.architecture)?.version();
    if file.architecture_version != expected {
        let (what, got) = (settings.architecture, file.architecture_version);
        return Err(TrainError::OtherVersion { what, got, expected });
    }
    let labels = labels.into_iter().map(LabelFile::label).collect();
    let definition = Definition::open(&folder.join(ENCODER))?;
    let tensors = read_tensors(&folder.join(WEIGHTS))?;
    Ok(Opened { manifest: file.manifest(settings, labels), definition, tensors })
}

/// The path of a file that a manifest names: inside the folder, whatever the manifest says.
fn within(folder: &Path, name: &str) -> Result<PathBuf, TrainError> {
    let plain = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if plain {
        Ok(folder.join(name))
    } else {
        Err(damaged("the manifest names a file outside", &folder.join(MANIFEST)))
    }
}

fn damaged(reason: impl ToString, path: &Path) -> TrainError {
    TrainError::Damaged { reason: reason.to_string(), path: path.to_owned() }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Structs of numbers and strings always serialise.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, TrainError> {
    let bytes = std::fs::read(path).map_err(|e| damaged(e, path))?;
    serde_json::from_slice(&bytes).map_err(|e| damaged(e, path))
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    let written = || {
        let mut file = std::fs::File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    written().map_err(TrainError::io("can't write the file", path))
}

fn hash_file(path: &Path) -> Result<String, TrainError> {
    let mut file = std::fs::File::open(path).map_err(|e| damaged(e, path))?;
    let (mut sha, mut buffer) = (Sha256::new(), vec![0u8; 1 << 16]);
    loop {
        let count = file.read(&mut buffer).map_err(TrainError::io("can't read the file", path))?;
        match buffer.get(..count) {
            Some(bytes) if !bytes.is_empty() => sha.update(bytes),
            _ => return Ok(hex(&sha.finalize())),
        }
    }
}

/// Makes new names last through a power cut, where the operating system offers that.
fn sync_folder(folder: &Path) -> Result<(), TrainError> {
    #[cfg(unix)]
    std::fs::File::open(folder).and_then(|f| f.sync_all()).map_err(TrainError::io("can't sync the folder", folder))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
