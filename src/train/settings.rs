//! What follows from the settings of a training.

use super::parameters::Settings;
use super::trained_layers::TrainedLayers;
use crate::encoder::Learning;
use crate::model::{MAX_WIDTH, THRESHOLD, TaskHeadConfig};

impl Settings {
    /// How much of the encoder learns.
    pub(super) fn learning(&self) -> Learning {
        match self.effort {
            TrainedLayers::TaskHead => Learning::Top(0),
            TrainedLayers::Top => Learning::Top(self.top_layers),
            TrainedLayers::Full => Learning::All,
        }
    }

    /// Epochs with labels of persons alone, and then with the model's own.
    pub fn all_epochs(&self) -> usize {
        self.epochs + self.self_training.map_or(0, |own| own.all_epochs())
    }

    /// Probability from which a word is taken for the first word of an entity, where the architecture predicts that.
    pub fn threshold(&self) -> f32 {
        self.options.real(&THRESHOLD).map_or(0.5, |threshold| threshold as f32)
    }

    /// Words of the longest mention that the model can find; `None` where its architecture has no bound.
    pub fn max_width(&self) -> Option<usize> {
        self.options.whole(&MAX_WIDTH).ok()
    }

    pub(super) fn head_config(&self, labels: usize) -> TaskHeadConfig {
        TaskHeadConfig {
            classes: labels + 1,
            dropout: self.dropout as f32,
            bf16: self.bf16,
            operations: self.processor.operations(),
            options: self.options.clone(),
        }
    }
}
