//! All numbers of a training, decided.

use crate::encoder::Learning;
use crate::model::{Nesting, TaskHeadConfig};
use crate::nn::Processor;

/// Sentences that a model may label itself, at most.
pub(super) const MOST_OWN: usize = 1_000_000_000;

/// How much of the model learns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TrainedLayers {
    /// The task head alone, above an encoder that stays as it is.
    TaskHead,
    /// The encoder's last blocks, too.
    Top,
    /// Everything.
    #[default]
    Full,
}

impl TrainedLayers {
    pub const ALL: [Self; 3] = [Self::TaskHead, Self::Top, Self::Full];

    pub fn id(self) -> &'static str {
        match self {
            Self::TaskHead => "heads",
            Self::Top => "top",
            Self::Full => "full",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.id() == id)
    }
}

/// A [`super::Config`] of which nothing is open any more; kept in the snapshot.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    pub architecture: String,
    pub encoder: String,
    pub effort: TrainedLayers,
    /// Blocks of the encoder that learn with [`TrainedLayers::Top`].
    pub top_layers: usize,
    pub epochs: usize,
    /// Sentences without labels that the model labels itself after these epochs, to begin anew and learn from them, too.
    pub self_training: usize,
    /// How often it does so, each time with others.
    pub self_rounds: usize,
    /// Epochs that follow each time.
    pub self_epochs: usize,
    pub batch_size: usize,
    pub seed: u64,
    pub encoder_lr: f64,
    pub head_lr: f64,
    pub warmup: f64,
    pub weight_decay: f64,
    pub clip: f64,
    pub dropout: f32,
    pub head_weight: f64,
    pub sampling: f32,
    pub max_width: usize,
    pub word_shapes: bool,
    pub threshold: f32,
    pub nesting: Nesting,
    /// Sentences that were drawn from the data set to train on, where not all did.
    pub limit: Option<usize>,
    /// Whether the encoder's matrix products are in bfloat16 where the processor is fast at that.
    pub bf16: bool,
    pub processor: Processor,
}

impl Settings {
    /// How much of the encoder learns.
    pub(super) fn learning(&self) -> Learning {
        match self.effort {
            TrainedLayers::TaskHead => Learning::Top(0),
            TrainedLayers::Top => Learning::Top(self.top_layers),
            TrainedLayers::Full => Learning::All,
        }
    }

    /// The first setting that no training can have had; the bounds are those of [`super::Config::set`].
    pub(super) fn out_of_range(&self) -> Option<&'static str> {
        let share = |x: f64| (0.0..=1.0).contains(&x);
        let rate = |x: f64| x > 0.0 && x <= 1.0;
        let fits = [
            ("top_layers", self.top_layers <= 256),
            ("epochs", (1..=10_000).contains(&self.epochs)),
            ("self_training", self.self_training <= MOST_OWN),
            ("self_rounds", self.self_rounds <= 10),
            ("self_epochs", self.self_epochs <= 10_000),
            ("batch_size", (1..=10_000).contains(&self.batch_size)),
            ("encoder_lr", rate(self.encoder_lr)),
            ("head_lr", rate(self.head_lr)),
            ("warmup", share(self.warmup)),
            ("weight_decay", share(self.weight_decay)),
            ("clip", self.clip > 0.0 && self.clip.is_finite()),
            ("dropout", (0.0..=0.9).contains(&self.dropout)),
            ("w", share(self.head_weight)),
            ("sp", (0.0..=1.0).contains(&self.sampling)),
            ("max_width", (1..=1000).contains(&self.max_width)),
            ("threshold", (0.0..=1.0).contains(&self.threshold)),
        ];
        fits.into_iter().find(|(_, fits)| !fits).map(|(key, _)| key)
    }

    /// Epochs with labels of persons alone, and then with the model's own.
    pub fn all_epochs(&self) -> usize {
        self.epochs + if self.self_training > 0 { self.self_rounds * self.self_epochs } else { 0 }
    }

    pub(super) fn head_config(&self, labels: usize) -> TaskHeadConfig {
        TaskHeadConfig {
            classes: labels + 1,
            max_width: self.max_width,
            dropout: self.dropout,
            head_weight: self.head_weight,
            sampling: self.sampling,
            word_shapes: self.word_shapes,
            bf16: self.bf16,
            operations: self.processor.operations(),
        }
    }
}
