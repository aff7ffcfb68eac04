//! Where a training stands, so that it can go on from there.

use crate::annotation::{LabelId, ModelId, ProjectId, Span};
use crate::evaluation::Report;
use crate::model::Samples;
use crate::nn::RngState;
use candle_core::Tensor;
use std::collections::BTreeMap;

/// Of all variables, by their names.
pub(super) type Weights = BTreeMap<String, Tensor>;

/// Where a training stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct TrainingState {
    pub place: TrainingPosition,
    /// Steps taken.
    pub step: usize,
    pub steps: usize,
    pub train_sentences: usize,
    /// The complete sentences that there were.
    pub of_sentences: usize,
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
    pub project: Option<ProjectId>,
}

/// The batch that comes next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct TrainingPosition {
    /// Counted from 1.
    pub epoch: usize,
    /// Batches of this epoch that are done.
    pub batch: usize,
    /// Sum of their losses.
    pub loss_sum: f32,
    /// The generator of the order of sentences, as it was at the beginning of this epoch.
    pub order: RngState,
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
