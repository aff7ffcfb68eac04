//! The state of a training.

use super::super::checkpoint::CheckpointKeeper;
use super::super::dataset::Dataset;
use super::super::model::{Model, PassBuffers, Prepared};
use super::super::parameters::Settings;
use super::super::plan::EpochPlan;
use super::super::state::{OwnLabels, TrainingPosition, Weights};
use crate::annotation::{ModelId, ProjectId};
use crate::evaluation::Report;
use crate::model::Samples;
use crate::nn::batches::Size;
use crate::nn::{AdamW, Rng, Threads, Vars};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The state of a training.
pub(super) struct Training<'a> {
    pub(super) cancel: &'a AtomicBool,
    pub(super) dataset: Arc<Dataset>,
    pub(super) settings: Settings,
    pub(super) vars: Vars,
    pub(super) model: Model,
    pub(super) adam: AdamW,
    pub(super) pass: PassBuffers,
    /// Dropout and samples.
    pub(super) noise: Rng,
    pub(super) threads: Threads,
    /// Those that persons have labelled, and behind them those that the model has.
    pub(super) train: Vec<Prepared>,
    /// What an epoch sees: numbers of `train`, some of them more than once.
    pub(super) epoch_sentences: Vec<usize>,
    /// Of each sentence of an epoch.
    pub(super) sizes: Vec<Size>,
    pub(super) dev: Vec<Prepared>,
    pub(super) plan: EpochPlan,
    pub(super) own: OwnLearning,
    pub(super) place: TrainingPosition,
    pub(super) step: usize,
    pub(super) step_secs: f64,
    pub(super) dev_secs: f64,
    pub(super) begun: Instant,
    /// Of before the training was interrupted.
    pub(super) earlier_secs: f64,
    /// Of an epoch with the labels of persons alone.
    pub(super) samples: Samples,
    pub(super) best: Option<BestEpoch>,
    pub(super) parent: Option<ModelId>,
    pub(super) project: Option<ProjectId>,
    /// The complete sentences that there were.
    pub(super) of_sentences: usize,
    pub(super) keeper: Option<CheckpointKeeper>,
    /// Why it does not run on what was asked for, or does not begin with all that there is.
    pub(super) warnings: Vec<String>,
}

/// The epoch to keep. Its weights are copied unless it is the last.
pub(super) struct BestEpoch {
    pub(super) epoch: usize,
    pub(super) dev: Option<Report>,
    pub(super) weights: Option<Weights>,
}

impl BestEpoch {
    /// What it is chosen by, on dev.
    pub(super) fn figure(&self) -> f64 {
        self.dev.as_ref().and_then(Report::figure).unwrap_or(0.0)
    }
}

/// How a training learns from labels of its own.
pub(super) struct OwnLearning {
    /// Words of the sentences that the model may label itself.
    pub(super) unlabelled: Vec<Vec<String>>,
    pub(super) stage: Stage,
}

/// Where it stands with that.
pub(super) enum Stage {
    /// It learns from labels of persons alone, to its end.
    Never,
    /// It learns from labels of persons alone, to begin anew with these weights.
    Before { start: Weights },
    /// It learns from labels of its own, too.
    During {
        labels: OwnLabels,
        /// What it begins anew with in the next part, where there is one.
        start: Option<Weights>,
        /// The mean of the models of the parts before, where there are such.
        mean: Option<Weights>,
    },
}

impl Stage {
    /// As a checkpoint has it of a training with so many parts that learn from its own labels; `None` when these can't be of one
    /// training.
    pub(super) fn restore(
        labels: Option<OwnLabels>,
        start: Option<Weights>,
        mean: Option<Weights>,
        last_part: usize,
    ) -> Option<Self> {
        match (labels, start, mean) {
            (None, None, None) if last_part == 0 => Some(Self::Never),
            (None, Some(start), None) if last_part > 0 => Some(Self::Before { start }),
            (Some(labels), start, mean) => {
                let fits = (1..=last_part).contains(&labels.part)
                    && start.is_some() == (labels.part < last_part)
                    && mean.is_some() == (labels.part > 1);
                fits.then_some(Self::During { labels, start, mean })
            }
            _ => None,
        }
    }

    /// The part of the training whose labels these are; 0 for those of persons alone.
    pub(super) fn part(&self) -> usize {
        self.labels().map_or(0, |labels| labels.part)
    }

    pub(super) fn labels(&self) -> Option<&OwnLabels> {
        if let Self::During { labels, .. } = self { Some(labels) } else { None }
    }

    /// What the training begins anew with, as long as it is to.
    pub(super) fn start(&self) -> Option<&Weights> {
        match self {
            Self::Never => None,
            Self::Before { start } => Some(start),
            Self::During { start, .. } => start.as_ref(),
        }
    }

    /// The mean of the models of the parts with its own labels that are over.
    pub(super) fn mean(&self) -> Option<&Weights> {
        if let Self::During { mean, .. } = self { mean.as_ref() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_restored_from_what_belongs_together() {
        let weights = |is: bool| is.then(Weights::new);
        let labels = |part: usize| (part > 0).then(|| OwnLabels { part, labels: Vec::new() });
        let fits = |part, start, mean, last| {
            let stage = Stage::restore(labels(part), weights(start), weights(mean), last);
            stage.map(|stage| (stage.part(), stage.start().is_some(), stage.mean().is_some()))
        };
        for (part, start, mean, last) in
            [(0, false, false, 0), (0, true, false, 2), (1, true, false, 2), (2, false, true, 2), (1, false, false, 1)]
        {
            assert_eq!(fits(part, start, mean, last), Some((part, start, mean)));
        }
        for (part, start, mean, last) in [
            (0, true, false, 0),
            (0, false, false, 2),
            (0, true, true, 2),
            (1, false, false, 2),
            (2, false, false, 2),
            (3, false, true, 2),
        ] {
            assert_eq!(fits(part, start, mean, last), None, "{part} {start} {mean} {last}");
        }
    }
}
