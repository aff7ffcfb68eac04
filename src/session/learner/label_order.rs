//! In which order the labels of marked words are offered: by the probability that a small model of given words has for them.
//!
//! # Invariants
//! - The model is trained from all mentions of texts that train, also in sentences that are not complete, and again when there are
//!   more of them or other labels. It lives in memory alone: it takes seconds, and nothing is stored.
//! - It makes no suggestions, is no model of the project, and says nothing in the blind set.
//! - Questions are answered one at a time on a thread of their own; of those that come meanwhile the last one is kept. An
//!   answer is for the words, the model and the division into words that were asked about, and for no others.

use crate::annotation::{Fragments, LabelId, SentenceId};
use crate::session::Task;
use crate::train::{Predictor, RankedLabels, TrainError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Mentions from which on it is worth asking.
pub(super) const FEWEST_MENTIONS: usize = 20;
/// A model is outgrown by one mention in so many of those that it has learned from, and as many as [`FEWEST_MENTIONS`].
const OUTGROWN_BY: usize = 10;
/// Of architectures the one that labels given words.
pub(super) const ARCHITECTURE: &str = "span_typing";

/// The model that orders labels, and what it is asked.
#[derive(Default)]
pub(super) struct LabelOrder {
    pub(super) model: Option<Arc<Predictor>>,
    /// Counts the models, so that what an older one says is not taken.
    pub(super) generation: u64,
    pub(super) learning: Option<Learning>,
    /// What there was when the last training began.
    pub(super) learned: Option<Learned>,
    pub(super) asked: Option<Question>,
    pub(super) asking: Option<(Question, Asking)>,
    pub(super) answer: Option<(Question, RankedLabels)>,
}

/// A question under way.
pub(super) type Asking = Task<Result<Option<RankedLabels>, TrainError>>;

/// A training under way.
pub(super) struct Learning {
    /// `None`: no encoder that is there knows anything of words.
    pub(super) task: Task<Result<Option<Predictor>, TrainError>>,
    pub(super) cancel: Arc<AtomicBool>,
}

#[derive(PartialEq, Eq)]
pub(super) struct Learned {
    pub(super) mentions: usize,
    pub(super) labels: Vec<LabelId>,
    pub(super) encoder: String,
}

/// Words of a sentence whose labels are asked for.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) sentence: SentenceId,
    pub(super) given: Fragments,
    pub(super) segmentation: u64,
    pub(super) generation: u64,
}

impl Learned {
    /// Whether what there is now is worth another training.
    pub(super) fn is_outgrown(&self, now: &Self) -> bool {
        let more = now.mentions.abs_diff(self.mentions);
        let is_more = more >= FEWEST_MENTIONS && more * OUTGROWN_BY >= self.mentions;
        is_more || self.labels != now.labels || self.encoder != now.encoder
    }
}

impl LabelOrder {
    /// Stops a training soon.
    pub(super) fn stop(&mut self) {
        if let Some(learning) = self.learning.take() {
            learning.cancel.store(true, Ordering::Relaxed);
        }
        *self = Self { generation: self.generation + 1, ..Self::default() };
    }

    /// What a training has come to, once.
    pub(super) fn hear_training(&mut self) -> Option<Result<(), String>> {
        let ended = self.learning.as_ref()?.task.poll()?;
        self.learning = None;
        match ended {
            Ok(Ok(model)) => {
                self.model = model.map(Arc::new);
                self.generation += 1;
                self.answer = None;
                Some(Ok(()))
            }
            Ok(Err(error)) => Some(Err(error.to_string())),
            Err(lost) => Some(Err(lost.to_string())),
        }
    }

    /// Takes an answer that is there.
    pub(super) fn hear_answer(&mut self) -> Option<Result<(), String>> {
        let said = self.asking.as_ref()?.1.poll()?;
        let (question, _) = self.asking.take()?;
        let why = match said {
            Ok(Ok(ranked)) => {
                self.answer = ranked.map(|ranked| (question, ranked));
                return Some(Ok(()));
            }
            Ok(Err(error)) => error.to_string(),
            Err(lost) => lost.to_string(),
        };
        // It would fail again with every word.
        self.model = None;
        Some(Err(why))
    }

    /// The question that is to be asked next: none is under way, and its answer is not there.
    pub(super) fn next_question(&self) -> Option<(Question, Arc<Predictor>)> {
        let asked = self.asked.as_ref().filter(|_| self.asking.is_none())?;
        let question = Question { generation: self.generation, ..asked.clone() };
        let is_answered = self.answer.as_ref().is_some_and(|(answered, _)| *answered == question);
        let model = self.model.as_ref().filter(|_| !is_answered)?;
        Some((question, Arc::clone(model)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_outgrown_by_many_mentions_or_other_labels() {
        let learned = |mentions: usize, labels: &[u32]| Learned {
            mentions,
            labels: labels.iter().copied().map(LabelId).collect(),
            encoder: "small".to_owned(),
        };
        let is_outgrown = |before: usize, now: usize| learned(before, &[1, 2]).is_outgrown(&learned(now, &[1, 2]));
        assert_eq!([is_outgrown(30, 49), is_outgrown(30, 50), is_outgrown(50, 30)], [false, true, true]);
        assert_eq!([is_outgrown(1000, 1099), is_outgrown(1000, 1100)], [false, true]);
        assert!(learned(30, &[1, 2]).is_outgrown(&learned(30, &[2, 1])));
    }
}
