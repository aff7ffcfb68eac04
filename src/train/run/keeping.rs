//! The state of a training on disk, from which it can go on.

use super::super::checkpoint::Contents;
use super::super::error::{TrainError, stop_if_cancelled};
use super::super::event::Event;
use super::super::state::TrainingState;
use super::training::Training;

impl Training<'_> {
    /// Keeps the state on disk from time to time. Where that fails the training goes on all the same.
    pub(super) fn keep_if_due(&mut self, on_event: &mut dyn FnMut(Event)) -> Result<(), TrainError> {
        let is_over = self.place.epoch > self.settings.all_epochs();
        let Some(mut keeper) = self.keeper.take_if(|keeper| !is_over && keeper.is_due(self.step)) else {
            return Ok(());
        };
        stop_if_cancelled(self.cancel)?;
        self.adam.catch_up(&self.vars)?;
        let contents = || -> Result<Contents<'_>, TrainError> {
            Ok(Contents {
                settings: &self.settings,
                definition: self.model.definition(),
                weights: self.vars.values(),
                moments: self.adam.moments()?,
                best: self.best.as_ref().and_then(|best| best.weights.as_ref()),
                own: self.own.stage.labels(),
                start: self.own.stage.start(),
                mean: self.own.stage.mean(),
            })
        };
        let kept = keeper.keep(&self.dataset, &self.state(), contents, self.cancel);
        self.keeper = Some(keeper);
        match kept {
            Ok(()) => on_event(Event::Kept { step: self.step }),
            Err(TrainError::Cancelled) => return Err(TrainError::Cancelled),
            Err(error) => on_event(Event::NotKept { message: error.to_string() }),
        }
        Ok(())
    }

    fn state(&self) -> TrainingState {
        TrainingState {
            place: self.place,
            step: self.step,
            steps: self.steps(),
            train_sentences: self.plan.labelled(),
            of_sentences: self.of_sentences,
            adam_steps: self.adam.steps(),
            noise: self.noise.state(),
            samples: self.samples,
            step_secs: self.step_secs,
            wall_secs: self.wall_secs(),
            best: self.best.as_ref().map(|best| (best.epoch, best.dev.clone())),
            dataset_hash: self.dataset.hash().to_owned(),
            parent: self.parent,
            project: self.project.clone(),
        }
    }
}
