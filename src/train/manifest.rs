//! What a trained model says of itself.

use super::parameters::Settings;
use crate::annotation::{LabelId, ModelId, ProjectId};
use crate::evaluation::Report;
use crate::model::{Samples, Unlearnable, architecture, labels_given};
use std::path::{Path, PathBuf};

/// Where a model lies, and which one has to be there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    pub folder: PathBuf,
    /// SHA-256 of its manifest.json, which has those of all its files; `None` where any model will do.
    pub manifest_sha256: Option<String>,
}

impl Snapshot {
    /// Any model that is there.
    pub fn any(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), manifest_sha256: None }
    }
}

/// All that a snapshot says of itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Manifest {
    /// For which it was trained; `None` for one of an older program, or of none.
    pub project: Option<ProjectId>,
    pub architecture_version: u32,
    pub settings: Settings,
    /// In the order of the classes.
    pub labels: Vec<(LabelId, String)>,
    pub dataset_hash: String,
    pub parent: Option<ModelId>,
    pub outcome: Outcome,
}

impl Manifest {
    /// Whether it finds no mentions and says which labels given words have.
    pub fn labels_given(&self) -> bool {
        labels_given(&self.settings.architecture)
    }

    /// Which mentions its architecture sees, where an annotation may have others.
    pub fn sees(&self) -> &'static str {
        architecture(&self.settings.architecture).map_or("", |it| it.sees(&self.settings.options))
    }
}

/// What a training did.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    pub train_sentences: usize,
    /// The complete sentences that there were, of which it may have taken some.
    pub of_sentences: usize,
    /// Counted from 1; the weights are of this one.
    pub best_epoch: usize,
    /// Scores of that epoch.
    pub dev: Option<Report>,
    /// From making the sentences ready to the end of the last epoch, interruptions left out.
    pub wall_secs: f64,
    /// Over the training steps alone.
    pub sentences_per_sec: f64,
    /// Of the whole process; `None` where the operating system does not say.
    pub peak_memory_mb: Option<f64>,
    /// Of an epoch with the labels of persons alone.
    pub samples: Samples,
    /// Gold mentions of the sentences, among them those that can't be learned.
    pub mentions: usize,
    /// Gold mentions that the architecture could not learn from.
    pub unlearnable: Unlearnable,
    pub parameters: usize,
}
