//! What a training is asked for, and what it gives.

use super::checkpoint::Checkpoints;
use super::dataset::Dataset;
use super::manifest::{Manifest, Snapshot};
use super::parameters::Config;
use super::parts::Cost;
use crate::annotation::{ModelId, ProjectId};
use crate::encoder::Encoders;
use std::path::PathBuf;
use std::sync::Arc;

/// What to train, and where to put it.
#[derive(Clone, Debug)]
pub struct TrainRequest {
    pub dataset: Arc<Dataset>,
    pub config: Config,
    /// Where the encoder that the configuration names is found.
    pub encoders: Encoders,
    /// A snapshot whose weights the training begins with, instead of the encoder's; with them come its architecture, its
    /// encoder and the features of its words. Its labels must be those of the data, in their order: the output layer's rows
    /// are taken over by their places.
    pub start: Option<Snapshot>,
    /// The snapshot's final folder; it must not exist.
    pub snapshot: PathBuf,
    /// The model that this one follows, for the record.
    pub parent: Option<ModelId>,
    /// For which it trains, for the record.
    pub project: Option<ProjectId>,
    /// The complete sentences that there are, where the data set has not all of them.
    pub of_sentences: Option<usize>,
    /// Where the training keeps its state; `None` for one that can't be resumed.
    pub checkpoints: Option<Checkpoints>,
}

impl TrainRequest {
    /// A training that begins with the encoder, is of no project and can't be resumed.
    pub fn new(dataset: Arc<Dataset>, config: Config, encoders: Encoders, snapshot: PathBuf) -> Self {
        Self {
            dataset,
            config,
            encoders,
            start: None,
            snapshot,
            parent: None,
            project: None,
            of_sentences: None,
            checkpoints: None,
        }
    }
}

/// An interrupted training, and where its model goes.
#[derive(Clone, Debug)]
pub struct ResumeRequest {
    pub checkpoints: Checkpoints,
    /// The snapshot's final folder. One that is there already has to be the training's own, which had come to its end.
    pub snapshot: PathBuf,
    /// For which it trains. A training of an older program does not say so of itself.
    pub project: Option<ProjectId>,
    pub threads: Option<usize>,
}

/// A finished training.
#[derive(Clone, PartialEq, Debug)]
pub struct Trained {
    pub snapshot: PathBuf,
    /// SHA-256 of the snapshot's manifest.json.
    pub manifest_sha256: String,
    /// All that is known of the model; also in the snapshot.
    pub manifest: Manifest,
    /// Since it was begun or resumed, without scoring on dev; nothing where it had come to its end before.
    pub cost: Cost,
}

impl Trained {
    /// The model that was trained, and no other.
    pub fn as_snapshot(&self) -> Snapshot {
        Snapshot { folder: self.snapshot.clone(), manifest_sha256: Some(self.manifest_sha256.clone()) }
    }
}
