//! Locate and Label (Shen et al. 2021): seeds of certain lengths are filtered, the boundaries of those that stay are moved, and
//! where they come to is labelled. Mentions of any length can be found, wider ones than any seed, too.
//!
//! - [`seeds`], [`overlap`], [`offsets`]: what trains, and what is true of it (§2.2).
//! - [`words`], [`span_mlp`], [`seed_pass`]: the layers (§2.1, Eq. 1 to 10).
//! - [`losses`], [`stages`]: filter, regressor and classifier, in training and in prediction (§2.3 to 2.5).
//! - [`soft_nms`], [`head`]: what is decided (§2.6).
//!
//! There is no max width: a moved span may end anywhere, and Soft-NMS compares what is found all over the sentence.
//! `docs/systems.md` says what the paper leaves open, what its authors' program does, and what is ours.
//!
//! # Scores
//! The score of a mention is the classifier's probability of its label, given the span. What Soft-NMS compares with its
//! threshold is the sum of that over all seeds that came to the span, lowered beside better ones: it says whether a span
//! is a mention, and is no probability. All spans that seeds came to are in the table of candidates, with the classifier's
//! probabilities; what the filter drops is not.

mod head;
mod losses;
mod offsets;
mod options;
mod overlap;
mod seed_pass;
mod seeds;
mod soft_nms;
mod span_mlp;
mod span_rows;
mod stages;
#[cfg(test)]
mod tests;
mod words;

use super::{Architecture, ModelError, OptionSpec, TaskHead, TaskHeadConfig};
use crate::encoder::{Layers, Network};
use crate::nn::Scope;
use head::LocateHead;

#[derive(Debug)]
pub(super) struct LocateLabel;

impl Architecture for LocateLabel {
    fn id(&self) -> &'static str {
        "locate_label"
    }

    fn name(&self) -> &'static str {
        "Locate and Label"
    }

    fn summary(&self) -> &'static str {
        "Looks at spans as seeds, moves their ends and labels what they come to, so that mentions may be of any length."
    }

    fn version(&self) -> u32 {
        1
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn layers(&self, _: &TaskHeadConfig) -> Layers {
        Layers::LastN(words::LAYERS)
    }

    fn build(
        &self,
        scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        Ok(Box::new(LocateHead::new(scope, encoder.hidden(), config)?))
    }
}
