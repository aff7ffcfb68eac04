//! Bundling (BL-NER, "Win-Win Cooperation", Ji et al. 2022): spans are classified and words are tagged above one encoder, which
//! learns from both. The loss is `α · L_seq + (1 - α) · L_span` (Eq. 19); one of the two decoders answers.
//!
//! - [`options`]: what can be set.
//! - [`words`]: the vectors of words, and of `[CLS]` (Eq. 3 and 4).
//! - [`sampling`]: which spans train (Eq. 20).
//! - [`span_decoder`], [`greatest`]: how spans are represented and classified (Eq. 13 to 18).
//! - [`head`]: both decoders, in training and in prediction. Tags are [`super::tagger`]'s.
//!
//! The paper is flat only. Here spans may be nested, which `decode=spans` keeps, and the tags hold the outermost mentions.
//! `docs/systems.md` says what the paper leaves open and what is ours.
//!
//! # Scores
//! With `decode=spans` the score of a mention is the softmax probability of its label (Eq. 17). With `decode=tags` it is as
//! in [`super::seqlab`]: the probability that tags have the mention.

mod greatest;
mod head;
mod options;
mod sampling;
mod span_decoder;
#[cfg(test)]
mod tests;
mod words;

use super::tags::unlearnable;
use super::{
    Architecture, ModelError, OptionSpec, OptionValues, Reach, Sentence, TaskHead, TaskHeadConfig, Unlearnable,
};
use crate::encoder::Network;
use crate::nn::Scope;
use head::BundlingHead;
use options::{Decode, LEVEL};

#[derive(Debug)]
pub(super) struct Bundling;

impl Architecture for Bundling {
    fn id(&self) -> &'static str {
        "bundling"
    }

    fn name(&self) -> &'static str {
        "Bundling"
    }

    fn summary(&self) -> &'static str {
        "Learns tags of words and classes of spans together; one of the two answers."
    }

    fn version(&self) -> u32 {
        1
    }

    fn options(&self) -> &'static [OptionSpec] {
        options::OPTIONS
    }

    fn reach(&self, config: &TaskHeadConfig) -> Reach {
        match (Decode::of(&config.options), config.max_width()) {
            (Ok(Decode::Spans), Some(max_width)) => Reach::Words(max_width),
            _ => Reach::Sentence,
        }
    }

    /// By the decoder that answers.
    fn unlearnable(&self, sentence: &Sentence, config: &TaskHeadConfig) -> Unlearnable {
        match Decode::of(&config.options) {
            Ok(Decode::Tags) => unlearnable(sentence, LEVEL),
            _ => Unlearnable::by_spans(sentence, config.max_width().unwrap_or(usize::MAX)),
        }
    }

    fn sees(&self, options: &OptionValues) -> &'static str {
        match Decode::of(options) {
            Ok(Decode::Tags) => "the outermost mentions",
            _ => "mentions without gaps",
        }
    }

    fn build(
        &self,
        scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        Ok(Box::new(BundlingHead::new(scope, encoder.hidden(), config)?))
    }
}
