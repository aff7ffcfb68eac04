//! The state of a training on disk: all that it needs to go on as if it had never stopped.
//!
//! ```text
//! dataset.json            what is learnt from, written once
//! 00000300-0004/          the newest checkpoint, by step and epoch: an atomic directory
//!   weights.safetensors   all weights
//!   moments.safetensors   AdamW's
//!   best.safetensors      the weights of the best epoch, where there is one
//!   start.safetensors     the weights that it began with, as long as it is to begin anew with labels of its own
//!   own.json              these labels, in a part of the training that learns from them
//!   mean.safetensors      the mean of the models of such parts that are over
//!   config.json           the settings
//!   encoder/              config.json and tokenizer of the encoder
//!   manifest.json         where the training stands; hashes of all other files
//! ```
//!
//! Each checkpoint is whole before the one before it is deleted.

mod disk;

use super::atomic_directory::{self, AtomicDirectory, VerifiedDirectory, read_manifest};
use super::dataset::Dataset;
use super::error::TrainError;
use super::layout::{
    BEST, CONFIG, DATASET, MANIFEST, MEAN, MOMENTS, OWN, START, WEIGHTS, checkpoint_name, is_checkpoint_name,
    is_half_written,
};
use super::parameters::Settings;
use super::removal::{folders, remove_checkpoint};
use super::state::{OwnLabels, TrainingState, Weights};
use crate::annotation::{LabelId, ProjectId};
use crate::disk::{Noted as _, is_there, open as open_file};
use crate::encoder::Definition;
use crate::model::architecture;
use disk::{DatasetFile, OnlyLabels, OwnFile, StateFile, VERSION};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Where a training keeps its state, and how often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoints {
    /// The training's own folder; made with the first checkpoint. Deleting it is the caller's part.
    pub folder: PathBuf,
    pub pace: Pace,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// After every so many steps.
    Steps(usize),
    /// After so many seconds, or more where writing would else take over a fiftieth of the time.
    Secs(u64),
}

/// A training that was interrupted and can go on.
#[derive(Clone, PartialEq, Debug)]
pub struct Interrupted {
    /// For which it trains; `None` for one of an older program, or of none.
    pub project: Option<ProjectId>,
    /// In the order of the classes.
    pub labels: Vec<(LabelId, String)>,
    pub dataset_hash: String,
    pub settings: Settings,
    /// Steps taken, of `steps`.
    pub step: usize,
    pub steps: usize,
    pub train_sentences: usize,
}

/// All that a checkpoint holds besides the state.
pub(super) struct Contents<'a> {
    pub settings: &'a Settings,
    pub definition: &'a Definition,
    pub weights: Weights,
    pub moments: Weights,
    pub best: Option<&'a Weights>,
    pub start: Option<&'a Weights>,
    pub mean: Option<&'a Weights>,
    pub own: Option<&'a OwnLabels>,
}

/// A checkpoint that was read and found whole.
pub(super) struct OpenedTraining {
    pub dataset: Dataset,
    pub state: TrainingState,
    pub settings: Settings,
    pub definition: Definition,
    pub weights: Weights,
    pub moments: Weights,
    pub best: Option<Weights>,
    pub start: Option<Weights>,
    pub mean: Option<Weights>,
    pub own: Option<OwnLabels>,
}

/// Writes checkpoints when they are due.
pub(super) struct CheckpointKeeper {
    plan: Checkpoints,
    since: Instant,
    since_step: usize,
    cost: Duration,
}

impl CheckpointKeeper {
    /// For a training that stands at `step` now.
    pub(super) fn new(plan: Checkpoints, step: usize) -> Self {
        Self { plan, since: Instant::now(), since_step: step, cost: Duration::ZERO }
    }

    pub(super) fn is_due(&self, step: usize) -> bool {
        match self.plan.pace {
            Pace::Steps(steps) => step >= self.since_step + steps.max(1),
            Pace::Secs(secs) => self.since.elapsed() >= Duration::from_secs(secs).max(50 * self.cost),
        }
    }

    /// Writes a checkpoint; whatever comes of it, the next one is due later.
    pub(super) fn keep<'a>(
        &mut self,
        dataset: &Dataset,
        state: &TrainingState,
        contents: impl FnOnce() -> Result<Contents<'a>, TrainError>,
        cancel: &AtomicBool,
    ) -> Result<(), TrainError> {
        let begun = Instant::now();
        let kept = contents().and_then(|contents| write(&self.plan.folder, dataset, state, contents, cancel));
        self.cost = begun.elapsed();
        (self.since, self.since_step) = (Instant::now(), state.step);
        kept
    }
}

fn write(
    folder: &Path,
    dataset: &Dataset,
    state: &TrainingState,
    contents: Contents<'_>,
    cancel: &AtomicBool,
) -> Result<(), TrainError> {
    std::fs::create_dir_all(folder).map_err(TrainError::io("can't make the folder", folder))?;
    let data = folder.join(DATASET);
    if !is_there(&data) {
        atomic_directory::write_whole(&data, &DatasetFile::from(dataset))?;
    }
    let name = checkpoint_name(state.step, state.place.epoch);
    let mut new = AtomicDirectory::for_place(&folder.join(&name), cancel)?;
    new.tensors(WEIGHTS, &contents.weights)?;
    new.tensors(MOMENTS, &contents.moments)?;
    for (name, tensors) in [(BEST, contents.best), (START, contents.start), (MEAN, contents.mean)] {
        if let Some(tensors) = tensors {
            new.tensors(name, tensors)?;
        }
    }
    if let Some(own) = contents.own {
        new.json(OWN, &OwnFile::from(own))?;
    }
    new.json(CONFIG, &contents.settings.to_json())?;
    new.definition(contents.definition)?;
    let version = architecture(&contents.settings.architecture)?.version();
    new.seal(|hashes| StateFile::new(state, dataset.labels(), version, hashes))?;
    // Also what a kill has left half written or half deleted.
    let is_other = |other: &str| other != name && (is_checkpoint_name(other) || is_half_written(other));
    for (_, other) in folders(folder).into_iter().filter(|(other, _)| is_other(other)) {
        // One that can't be deleted is older than the newest and never read.
        remove_checkpoint(&other).noted("an older checkpoint stays behind");
    }
    Ok(())
}

/// The names and paths of the checkpoints of a training, the newest last.
fn whole(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = folders(folder);
    found.retain(|(name, path)| is_checkpoint_name(name) && is_there(&path.join(MANIFEST)));
    found.sort();
    found
}

/// What is known of an interrupted training; `None` when its folder holds no checkpoint.
///
/// # Errors
/// When the newest checkpoint can't be read, or is of another version of the program.
pub fn interrupted(folder: &Path) -> Result<Option<Interrupted>, TrainError> {
    let Some((_, newest)) = whole(folder).pop() else { return Ok(None) };
    let Begun { state, settings, labels, .. } = read_state(&newest).map_err(TrainError::of_training)?;
    let labels = match labels {
        Some(labels) => labels,
        None => read_dataset::<OnlyLabels>(folder)?.labels(),
    };
    let TrainingState { project, step, steps, train_sentences, dataset_hash, .. } = state;
    Ok(Some(Interrupted { project, labels, dataset_hash, settings, step, steps, train_sentences }))
}

/// Of a folder of a training.
pub(super) fn damaged(reason: impl ToString, path: &Path) -> TrainError {
    atomic_directory::damaged(reason, path).of_training()
}

/// Which project an interrupted training says it belongs to, also where it can't go on.
pub fn training_project(folder: &Path) -> Option<ProjectId> {
    #[derive(serde::Deserialize)]
    struct OnlyProject {
        project: Option<String>,
    }
    let (_, newest) = whole(folder).pop()?;
    let (file, _) = read_manifest::<OnlyProject>(&newest).ok()?;
    ProjectId::parse(&file.project?)
}

/// Reads the newest checkpoint and checks that nothing in it has changed.
pub(super) fn open(folder: &Path) -> Result<OpenedTraining, TrainError> {
    read(folder).map_err(TrainError::of_training)
}

fn read(folder: &Path) -> Result<OpenedTraining, TrainError> {
    let Some((_, newest)) = whole(folder).pop() else {
        return Err(damaged("it holds no checkpoint", folder));
    };
    let Begun { state, settings, labels, hashes } = read_state(&newest)?;
    let dataset = read_dataset::<DatasetFile>(folder)?.dataset(&folder.join(DATASET))?;
    if dataset.hash() != state.dataset_hash || labels.is_some_and(|labels| labels != dataset.labels()) {
        return Err(damaged("the data is not what the training began with", &folder.join(DATASET)));
    }
    let directory = VerifiedDirectory { folder: &newest, hashes: &hashes };
    let tensors = |name: &str| directory.has(name).then(|| directory.tensors(name)).transpose();
    let own = directory.has(OWN).then(|| directory.large_json::<OwnFile>(OWN)).transpose()?;
    let own =
        own.map(|own| own.own().ok_or_else(|| damaged("a mention has no words", &newest.join(OWN)))).transpose()?;
    Ok(OpenedTraining {
        dataset,
        own,
        settings,
        definition: directory.definition()?,
        weights: directory.tensors(WEIGHTS)?,
        moments: directory.tensors(MOMENTS)?,
        best: tensors(BEST)?,
        start: tensors(START)?,
        mean: tensors(MEAN)?,
        state,
    })
}

/// What the manifest and the settings of a checkpoint say.
struct Begun {
    state: TrainingState,
    settings: Settings,
    /// Where it says what they are.
    labels: Option<Vec<(LabelId, String)>>,
    hashes: atomic_directory::Hashes,
}

fn read_state(checkpoint: &Path) -> Result<Begun, TrainError> {
    let path = checkpoint.join(MANIFEST);
    let (file, _) = read_manifest::<StateFile>(checkpoint)?;
    if file.version != VERSION {
        return Err(TrainError::OtherVersion { what: "checkpoint".to_owned(), got: file.version, expected: VERSION });
    }
    let (hashes, labels) = (file.sha256.clone(), file.labels());
    let settings = VerifiedDirectory { folder: checkpoint, hashes: &hashes }.settings(file.architecture_version)?;
    let state = file.state().ok_or_else(|| damaged("it says what no training can have come to", &path))?;
    Ok(Begun { state, settings, labels, hashes })
}

/// As it is read: the file is as large as the data.
fn read_dataset<T: serde::de::DeserializeOwned>(folder: &Path) -> Result<T, TrainError> {
    let path = folder.join(DATASET);
    let file = open_file(&path).map_err(|e| damaged(e, &path))?;
    serde_json::from_reader(BufReader::new(file)).map_err(|e| damaged(e, &path))
}
