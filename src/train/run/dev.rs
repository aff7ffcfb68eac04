//! Which epoch of a training is kept.

use super::super::error::TrainError;
use super::super::predictor::score;
use super::training::{BestEpoch, Training};
use crate::annotation::LabelId;
use crate::evaluation::Report;
use std::time::Instant;

/// From as many dev sentences on their scores choose the epoch and tell models apart; fewer are noise.
pub const ENOUGH_DEV: usize = 20;

impl Training<'_> {
    /// Scores the epochs that may be kept.
    pub(super) fn score_dev(&mut self, epoch: usize) -> Result<Option<Report>, TrainError> {
        if self.dev.is_empty() || !self.is_candidate(epoch) {
            return Ok(None);
        }
        let begun = Instant::now();
        let labels: Vec<LabelId> = self.dataset.labels().iter().map(|(id, _)| *id).collect();
        let threshold = self.settings.threshold();
        let report = score(&self.model, &labels, self.dataset.dev(), &self.dev, threshold, self.work())?;
        self.dev_secs = begun.elapsed().as_secs_f64();
        Ok(Some(report))
    }

    /// Where scores on dev decide, one of the epochs that are scored is kept, else the last one.
    pub(super) fn is_candidate(&self, epoch: usize) -> bool {
        let decides = self.dev.len() >= ENOUGH_DEV;
        if decides { self.plan.scores_after(epoch, self.dev.len()) } else { epoch == self.settings.all_epochs() }
    }

    /// Whether so many epochs have brought nothing better that the training ends, which shows where dev has just been scored;
    /// one that goes on to learn from its own labels does not.
    pub(super) fn has_run_out_of_patience(&self) -> bool {
        let Some(best) = self.best.as_ref().filter(|_| self.settings.self_training.is_none()) else { return false };
        let last = self.place.epoch - 1;
        let patience = self.settings.patience;
        patience > 0 && last.saturating_sub(best.epoch) >= patience && self.is_candidate(last)
    }

    /// Of equally good epochs the later one is kept, the earlier one where the training waits for a better one.
    pub(super) fn keep_if_best(&mut self, epoch: usize, dev: Option<Report>) -> Result<bool, TrainError> {
        let last = epoch == self.settings.all_epochs();
        let candidate = BestEpoch { epoch, dev, weights: None };
        let waits = self.settings.patience > 0;
        let beats = |best: &BestEpoch| match waits {
            true => candidate.figure() > best.figure(),
            false => candidate.figure() >= best.figure(),
        };
        let better = self.is_candidate(epoch) && self.best.as_ref().is_none_or(beats);
        if better {
            let weights = if last { None } else { Some(self.vars.copy_out()?) };
            self.best = Some(BestEpoch { weights, ..candidate });
        }
        Ok(better)
    }
}
