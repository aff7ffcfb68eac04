//! Deleting models and trainings: the files that they are known to have, and the folders when these are empty.

use super::error::TrainError;
use super::layout::{self, DATASET, ENCODER, MANIFEST, is_checkpoint_name, is_half_written};
use crate::disk::{self, Noted as _, is_folder};
use crate::encoder::Definition;
use std::path::{Path, PathBuf};

const TRAINING_STAYS: &str = "can't delete all of the training";

/// Deletes a model. One that is not there is deleted already.
///
/// # Errors
/// A link in its place or in it, or files in it that are not the program's: they stay, and its folder with them.
pub fn remove_snapshot(folder: &Path) -> Result<(), TrainError> {
    // The manifest last: as long as it is there, what is left says whose it is.
    remove_sealed(folder, "can't delete all of the model", |name| u8::from(name == MANIFEST))
}

/// The names of all files that a model may have, with `/` between folders.
pub fn snapshot_files() -> impl Iterator<Item = String> {
    let own = layout::SNAPSHOT.into_iter().chain([MANIFEST]).map(str::to_owned);
    own.chain(Definition::FILES.into_iter().map(|name| format!("{ENCODER}/{name}")))
}

/// Deletes what an interrupted training has kept, or what is left of a folder that was half written.
///
/// # Errors
/// See [`remove_snapshot`].
pub fn remove_training(folder: &Path) -> Result<(), TrainError> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if is_half_written(name) {
        return remove_checkpoint(folder);
    }
    let failed = || TrainError::io(TRAINING_STAYS, folder);
    if !disk::is_there(folder) {
        return Ok(());
    }
    if !disk::is_folder(folder) {
        return Err(failed()(std::io::ErrorKind::NotADirectory.into()));
    }
    for (name, path) in folders(folder) {
        if is_checkpoint_name(&name) || is_half_written(&name) {
            remove_checkpoint(&path)?;
        }
    }
    disk::remove_folder(folder, |name| name == DATASET || disk::is_unfinished(name), |_| 0).map_err(failed())
}

pub(super) fn remove_checkpoint(folder: &Path) -> Result<(), TrainError> {
    // The manifest first: without it nothing goes on from what is left.
    remove_sealed(folder, TRAINING_STAYS, |name| u8::from(name != MANIFEST))
}

/// The names and paths of the folders in a training's folder; a link is none.
pub(super) fn folders(folder: &Path) -> Vec<(String, PathBuf)> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).noted_at("its checkpoints are not seen", folder);
    let entries = entries.into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect()
}

/// `failed` says what could not be done.
fn remove_sealed(folder: &Path, failed: &'static str, rank: impl Fn(&str) -> u8) -> Result<(), TrainError> {
    if !disk::is_folder(folder) && disk::is_there(folder) {
        let error = std::io::Error::from(std::io::ErrorKind::NotADirectory);
        return Err(TrainError::io(failed, folder)(error));
    }
    let ours = |name: &str| {
        name == MANIFEST
            || layout::SNAPSHOT.contains(&name)
            || layout::CHECKPOINT.contains(&name)
            || disk::is_unfinished(name)
    };
    let removed = disk::remove_folder(&folder.join(ENCODER), |name| Definition::FILES.contains(&name), |_| 0)
        .and_then(|()| disk::remove_folder(folder, ours, rank));
    removed.map_err(TrainError::io(failed, folder))
}
