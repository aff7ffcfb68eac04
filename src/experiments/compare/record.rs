//! What is kept of a comparison: one file for each run, and what all runs have in common.
//!
//! ```text
//! OUTPUT/comparison.json        what all runs have in common; variants and seeds can be added later
//! OUTPUT/scored.json            the sentences that are scored, with their gold, as they were then
//! OUTPUT/asked.json             the variants and seeds that were asked for last
//! OUTPUT/runs/VARIANT-SEED.json what a model predicted, and what it cost
//! OUTPUT/table.csv, table.md    one row for each variant
//! OUTPUT/f1.svg                 the same as a picture
//! ```

use super::request::Variant;
use crate::annotation::{LabelId, Span};
use serde::{Deserialize, Serialize};

/// One model: what it predicted, and what it cost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComparedRun {
    #[serde(flatten)]
    pub variant: Variant,
    pub seed: u64,
    #[serde(flatten)]
    pub cost: RunCost,
    /// Of each scored sentence: first word, first word after it, label.
    predicted: Vec<Vec<(u32, u32, u32)>>,
}

/// What a model was made from, and what it took.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunCost {
    pub train_sentences: usize,
    /// Gold mentions of them that the architecture can't learn.
    pub unlearnable_mentions: usize,
    pub epochs: usize,
    pub best_epoch: usize,
    pub parameters: usize,
    /// Of the training, from its request to the model on disk.
    pub train_secs: f64,
    /// Over the training steps alone.
    pub sentences_per_sec: f64,
    /// Of predicting what is scored.
    pub score_secs: f64,
    /// Of the whole process while it trained; `None` where the operating system does not say.
    pub peak_memory_mb: Option<f64>,
    /// The same while it predicted.
    pub predict_memory_mb: Option<f64>,
}

impl ComparedRun {
    pub(super) fn new(variant: &Variant, seed: u64, cost: RunCost, predicted: &[Vec<(Span, LabelId)>]) -> Self {
        // A sentence has fewer words than that.
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mention = |(span, label): &(Span, LabelId)| (number(span.start().get()), number(span.end().get()), label.0);
        let predicted = predicted.iter().map(|mentions| mentions.iter().map(mention).collect()).collect();
        Self { variant: variant.clone(), seed, cost, predicted }
    }

    /// Whether it has an answer for each of so many scored sentences.
    pub(super) fn is_of(&self, scored: usize) -> bool {
        self.predicted.len() == scored
    }

    /// What it predicted for each scored sentence.
    pub fn predicted(&self) -> Vec<Vec<(Span, LabelId)>> {
        let mention = |&(start, end, label): &(u32, u32, u32)| {
            Some((Span::from_range(start as usize..end as usize)?, LabelId(label)))
        };
        self.predicted.iter().map(|mentions| mentions.iter().filter_map(mention).collect()).collect()
    }
}

/// The name of a run's file, without its ending: letters, digits, dots, hyphens and underscores of the variant, `-` for
/// everything else, then the seed.
pub(super) fn run_name(variant: &Variant, seed: u64) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c } else { '-' };
    format!("{}-{seed}", variant.to_string().chars().map(plain).collect::<String>())
}
