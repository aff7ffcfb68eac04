//! The state of a training on disk: all that it needs to go on as if it had never stopped.
//!
//! ```text
//! dataset.json            what is learnt from, written once
//! 00000300-0004/          the newest checkpoint, by step and epoch: a sealed folder
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

use super::files::{ConfigFile, ReportFile, SamplesFile};
use super::sealed::{self, CONFIG, ENCODER, MANIFEST, NewFolder, damaged, read_json};
use super::{Dataset, Settings, TrainError};
use crate::annotation::{LabelId, ModelId, Span};
use crate::encoder::Definition;
use crate::evaluation::Report;
use crate::model::{Samples, architecture};
use crate::nn::{RngState, read_tensors};
use candle_core::Tensor;
use disk::{DatasetFile, OwnFile, StateFile};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Raised when older programs can't read what is written.
const VERSION: u32 = 1;
const DATASET: &str = "dataset.json";
const WEIGHTS: &str = "weights.safetensors";
const MOMENTS: &str = "moments.safetensors";
const BEST: &str = "best.safetensors";
const START: &str = "start.safetensors";
const MEAN: &str = "mean.safetensors";
const OWN: &str = "own.json";

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
    pub settings: Settings,
    /// Steps taken, of `steps`.
    pub step: usize,
    pub steps: usize,
    pub train_sentences: usize,
}

/// Where a training stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct State {
    pub place: Place,
    /// Steps taken.
    pub step: usize,
    pub steps: usize,
    pub train_sentences: usize,
    /// Steps of the optimizer.
    pub adam_steps: u64,
    pub noise: RngState,
    pub samples: Samples,
    pub step_secs: f64,
    pub wall_secs: f64,
    /// The best epoch and its scores.
    pub best: Option<(usize, Option<Report>)>,
    pub dataset_hash: String,
    pub parent: Option<ModelId>,
}

/// The batch that comes next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Place {
    /// Counted from 1.
    pub epoch: usize,
    /// Batches of this epoch that are done.
    pub batch: usize,
    /// Sum of their losses.
    pub loss_sum: f32,
    /// The generator of the order of sentences, as it was at the beginning of this epoch.
    pub order: RngState,
}

/// All that a checkpoint holds besides the state.
pub(super) struct Contents<'a> {
    pub settings: &'a Settings,
    pub definition: &'a Definition,
    pub weights: BTreeMap<String, Tensor>,
    pub moments: BTreeMap<String, Tensor>,
    pub best: Option<&'a BTreeMap<String, Tensor>>,
    pub start: Option<&'a BTreeMap<String, Tensor>>,
    pub mean: Option<&'a BTreeMap<String, Tensor>>,
    pub own: Option<&'a OwnLabels>,
}

/// A checkpoint that was read and found whole.
pub(super) struct Opened {
    pub dataset: Dataset,
    pub state: State,
    pub settings: Settings,
    pub definition: Definition,
    pub weights: HashMap<String, Tensor>,
    pub moments: HashMap<String, Tensor>,
    pub best: Option<BTreeMap<String, Tensor>>,
    pub start: Option<BTreeMap<String, Tensor>>,
    pub mean: Option<BTreeMap<String, Tensor>>,
    pub own: Option<OwnLabels>,
}

/// The mentions of a sentence.
pub(super) type Mentions = Vec<(Span, LabelId)>;

/// What a model has labelled itself for a part of its training.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OwnLabels {
    pub part: usize,
    /// Of each sentence.
    pub labels: Vec<Mentions>,
}

/// Writes checkpoints when they are due.
pub(super) struct Keeper {
    plan: Checkpoints,
    since: Instant,
    since_step: usize,
    cost: Duration,
}

impl Keeper {
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
        state: &State,
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
    state: &State,
    contents: Contents<'_>,
    cancel: &AtomicBool,
) -> Result<(), TrainError> {
    std::fs::create_dir_all(folder).map_err(TrainError::io("can't make the folder", folder))?;
    let data = folder.join(DATASET);
    if !data.is_file() {
        sealed::write_whole(&data, &DatasetFile::from(dataset))?;
    }
    let name = format!("{:08}-{:04}", state.step, state.place.epoch);
    let mut new = NewFolder::for_place(&folder.join(&name), cancel)?;
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
    new.json(CONFIG, &ConfigFile::from(contents.settings))?;
    new.definition(contents.definition)?;
    let version = architecture(&contents.settings.architecture)?.version();
    new.seal(|hashes| StateFile::new(state, version, hashes))?;
    // Also what a kill has left half written or half deleted.
    let others = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for other in others.filter(|entry| entry.file_name() != name.as_str() && entry.path().is_dir()) {
        // One that can't be deleted is older than the newest and never read.
        let _left = std::fs::remove_dir_all(other.path());
    }
    Ok(())
}

/// The names and paths of the checkpoints of a training, the newest last.
fn whole(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    let mut found: Vec<_> =
        named.filter(|(name, path)| !name.starts_with('.') && path.join(MANIFEST).is_file()).collect();
    found.sort();
    found
}

/// What is known of an interrupted training; `None` when its folder holds no checkpoint.
///
/// # Errors
/// When the newest checkpoint can't be read, or is of another version of the program.
pub fn interrupted(folder: &Path) -> Result<Option<Interrupted>, TrainError> {
    let Some((_, newest)) = whole(folder).pop() else { return Ok(None) };
    let (state, settings, _) = read_state(&newest)?;
    let State { step, steps, train_sentences, .. } = state;
    Ok(Some(Interrupted { settings, step, steps, train_sentences }))
}

/// Reads the newest checkpoint and checks that nothing in it has changed.
pub(super) fn open(folder: &Path) -> Result<Opened, TrainError> {
    let Some((_, newest)) = whole(folder).pop() else {
        return Err(damaged("it holds no checkpoint", folder));
    };
    let (state, settings, hashes) = read_state(&newest)?;
    sealed::check(&newest, &hashes, &[WEIGHTS, MOMENTS, CONFIG])?;
    let file: DatasetFile = read_json(&folder.join(DATASET))?;
    let dataset = file.dataset(&folder.join(DATASET))?;
    if dataset.hash() != state.dataset_hash {
        return Err(damaged("the data is not what the training began with", &folder.join(DATASET)));
    }
    let tensors = |name: &str| -> Result<Option<BTreeMap<String, Tensor>>, TrainError> {
        let read = hashes.contains_key(name).then(|| read_tensors(&newest.join(name))).transpose()?;
        Ok(read.map(|tensors| tensors.into_iter().collect()))
    };
    let own = hashes.contains_key(OWN).then(|| read_own(&newest.join(OWN))).transpose()?;
    Ok(Opened {
        dataset,
        own,
        settings,
        definition: Definition::open(&newest.join(ENCODER))?,
        weights: read_tensors(&newest.join(WEIGHTS))?,
        moments: read_tensors(&newest.join(MOMENTS))?,
        best: tensors(BEST)?,
        start: tensors(START)?,
        mean: tensors(MEAN)?,
        state,
    })
}

fn read_own(path: &Path) -> Result<OwnLabels, TrainError> {
    let file: OwnFile = read_json(path)?;
    file.own().ok_or_else(|| damaged("a mention has no words", path))
}

fn read_state(checkpoint: &Path) -> Result<(State, Settings, sealed::Hashes), TrainError> {
    let path = checkpoint.join(MANIFEST);
    let file: StateFile = read_json(&path)?;
    if file.version != VERSION {
        return Err(TrainError::OtherVersion { what: "checkpoint".to_owned(), got: file.version, expected: VERSION });
    }
    let settings = sealed::read_settings(checkpoint, file.architecture_version)?;
    let hashes = file.sha256.clone();
    let state = file.state().ok_or_else(|| damaged("a generator's state is none", &path))?;
    Ok((state, settings, hashes))
}
