//! A trained model on disk.
//!
//! ```text
//! weights.safetensors   all weights, the encoder's too
//! config.json           the settings
//! labels.json           ids and names, in the order of the classes
//! encoder/              config.json and tokenizer of the encoder
//! manifest.json         written last: what it is, what it scored, hashes of all other files
//! ```

use super::atomic_directory::{self, AtomicDirectory, VerifiedDirectory, damaged, read_manifest};
use super::error::TrainError;
use super::files::{LabelFile, ManifestFile};
use super::layout::{CONFIG, LABELS, MANIFEST, WEIGHTS};
use super::manifest::{Manifest, Snapshot};
use super::model::Model;
use crate::annotation::LabelId;
use crate::encoder::Definition;
use crate::nn::{Processor, Vars};
use candle_core::{Device, Tensor};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Raised when older programs can't read what is written.
const VERSION: u32 = 1;

/// A snapshot that was read and found whole.
#[derive(Debug)]
pub(super) struct OpenedSnapshot {
    folder: PathBuf,
    pub manifest: Manifest,
    pub manifest_sha256: String,
    pub definition: Definition,
    pub tensors: BTreeMap<String, Tensor>,
}

/// Writes a snapshot: whole, or not at all. Returns the SHA-256 of its manifest.
pub(super) fn write(
    folder: &Path,
    manifest: &Manifest,
    definition: &Definition,
    tensors: &BTreeMap<String, Tensor>,
    cancel: &AtomicBool,
) -> Result<String, TrainError> {
    let mut new = AtomicDirectory::for_place(folder, cancel)?;
    new.tensors(WEIGHTS, tensors)?;
    new.json(CONFIG, &manifest.settings.to_json())?;
    new.json(LABELS, &LabelFile::list(&manifest.labels))?;
    new.definition(definition)?;
    new.seal(|hashes| ManifestFile::new(VERSION, manifest, hashes))
}

/// Checks that all of a snapshot is there as it was written, and that it makes a model.
///
/// # Errors
/// The first thing that is missing, has changed or does not fit.
pub fn check_snapshot(snapshot: &Snapshot) -> Result<(), TrainError> {
    build(open(snapshot)?).map(drop)
}

/// What a snapshot says of itself, without its weights.
///
/// # Errors
/// A file that is missing or damaged.
pub fn snapshot_manifest(folder: &Path) -> Result<(Manifest, String), TrainError> {
    let (file, sha256) = read_manifest::<ManifestFile>(folder)?;
    Ok((read(folder, file)?, sha256))
}

/// SHA-256 of the manifest of a snapshot.
///
/// # Errors
/// No manifest that can be read.
pub fn snapshot_hash(folder: &Path) -> Result<String, TrainError> {
    atomic_directory::manifest_hash(folder)
}

/// Reads a snapshot and checks that nothing in it has changed.
pub(super) fn open(snapshot: &Snapshot) -> Result<OpenedSnapshot, TrainError> {
    let folder = &snapshot.folder;
    let (file, manifest_sha256) = read_manifest::<ManifestFile>(folder)?;
    if snapshot.manifest_sha256.as_ref().is_some_and(|expected| *expected != manifest_sha256) {
        return Err(TrainError::OtherModel { path: folder.clone() });
    }
    let hashes = file.sha256.clone();
    let manifest = read(folder, file)?;
    let directory = VerifiedDirectory { folder, hashes: &hashes };
    let (definition, tensors) = (directory.definition()?, directory.tensors(WEIGHTS)?);
    Ok(OpenedSnapshot { folder: folder.clone(), manifest, manifest_sha256, definition, tensors })
}

fn read(folder: &Path, file: ManifestFile) -> Result<Manifest, TrainError> {
    if file.version != VERSION {
        return Err(TrainError::OtherVersion { what: "format".to_owned(), got: file.version, expected: VERSION });
    }
    let directory = VerifiedDirectory { folder, hashes: &file.sha256 };
    let settings = directory.settings(file.architecture_version)?;
    let labels: Vec<LabelFile> = directory.json(LABELS)?;
    let labels: Vec<(LabelId, String)> = labels.into_iter().map(LabelFile::label).collect();
    if let Some(fault) = fault_of(&labels) {
        return Err(damaged(fault, &folder.join(LABELS)));
    }
    if file.labels().is_some_and(|said| said != labels) {
        return Err(damaged("it has other labels than its manifest says", &folder.join(MANIFEST)));
    }
    file.manifest(settings, labels)
        .ok_or_else(|| damaged("its project's id or a number in it is none", &folder.join(MANIFEST)))
}

/// Why these can't be the labels of a model.
fn fault_of(labels: &[(LabelId, String)]) -> Option<&'static str> {
    let (mut ids, mut names) = (HashSet::new(), HashSet::new());
    if labels.is_empty() {
        Some("it has no labels")
    } else if labels.iter().any(|(_, name)| name.trim().is_empty()) {
        Some("a label has no name")
    } else if !labels.iter().all(|(id, _)| ids.insert(*id)) {
        Some("two labels have one number")
    } else if !labels.iter().all(|(_, name)| names.insert(name)) {
        Some("two labels have one name")
    } else {
        None
    }
}

/// The model of a snapshot, which needs each of its weights and no other.
pub(super) fn build(opened: OpenedSnapshot) -> Result<(Manifest, Model), TrainError> {
    let OpenedSnapshot { folder, manifest, definition, tensors, .. } = opened;
    let mut settings = manifest.settings.clone();
    // What was trained on a GPU may predict where there is none.
    let device = settings.processor.device().unwrap_or_else(|_| {
        settings.processor = Processor::Cpu;
        Device::Cpu
    });
    let mut vars = Vars::fixed(tensors.into_iter().collect(), &device);
    let labels = manifest.labels.iter().map(|(id, _)| *id).collect();
    let model = Model::build(&mut vars, definition, &settings, labels).map_err(|error| damaged(error, &folder))?;
    vars.check_all_taken().map_err(|error| damaged(error, &folder))?;
    Ok((manifest, model))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_names_and_numbers_of_their_own() {
        let fault = |labels: &[(u32, &str)]| {
            fault_of(&labels.iter().map(|(id, name)| (LabelId(*id), (*name).to_owned())).collect::<Vec<_>>())
        };
        assert_eq!(fault(&[(0, "PER"), (7, "LOC")]), None);
        let faulty: [&[(u32, &str)]; 4] = [&[], &[(0, " ")], &[(1, "A"), (1, "B")], &[(1, "A"), (2, "A")]];
        assert!(faulty.into_iter().all(|labels| fault(labels).is_some()));
    }
}
