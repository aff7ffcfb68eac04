//! In which order the labels of marked words are offered: by the probability that a small model of given words has for them.
//!
//! # Invariants
//! - The model is trained from all mentions of texts that train, also in sentences that are not complete, and again when there are
//!   more of them or other labels. It lives in memory alone: it takes seconds, and nothing is stored.
//! - It makes no suggestions, is no model of the project, and says nothing in the blind set.
//! - Questions are answered one at a time on a thread of their own; of those that come meanwhile the last one is kept. An
//!   answer is for the words, the model and the division into words that were asked about, and for no others.

use super::dataset::freeze_for_label_order;
use super::trainer::lower_priority;
use crate::annotation::{Fragments, LabelId, SentenceId, Split};
use crate::nn::Threads;
use crate::session::Task;
use crate::session::learner::dataset::words;
use crate::session::project::Project;
use crate::session::project::status::Event;
use crate::train::{Config, PredictOptions, Predictor, RankedLabels, TrainError, train_in_memory};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Mentions from which on it is worth asking.
const FEWEST_MENTIONS: usize = 20;
/// A model is outgrown by one mention in so many of those that it has learned from, and as many as [`FEWEST_MENTIONS`].
const OUTGROWN_BY: usize = 10;
/// Of architectures the one that labels given words.
const ARCHITECTURE: &str = "span_typing";

/// The model that orders labels, and what it is asked.
#[derive(Default)]
pub(super) struct LabelOrder {
    model: Option<Arc<Predictor>>,
    /// Counts the models, so that what an older one says is not taken.
    generation: u64,
    learning: Option<Learning>,
    /// What there was when the last training began.
    learned: Option<Learned>,
    asked: Option<Question>,
    asking: Option<(Question, Asking)>,
    answer: Option<(Question, RankedLabels)>,
}

/// A question under way.
type Asking = Task<Result<Option<RankedLabels>, TrainError>>;

/// A training under way.
struct Learning {
    task: Task<Result<Predictor, TrainError>>,
    cancel: Arc<AtomicBool>,
}

#[derive(PartialEq, Eq)]
struct Learned {
    mentions: usize,
    labels: Vec<LabelId>,
    encoder: String,
}

/// Words of a sentence whose labels are asked for.
#[derive(Clone, PartialEq, Eq)]
struct Question {
    sentence: SentenceId,
    given: Fragments,
    segmentation: u64,
    generation: u64,
}

impl Learned {
    /// Whether what there is now is worth another training.
    fn is_outgrown(&self, now: &Self) -> bool {
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
    fn hear_training(&mut self) -> Option<Result<(), String>> {
        let ended = self.learning.as_ref()?.task.poll()?;
        self.learning = None;
        match ended {
            Ok(Ok(model)) => {
                self.model = Some(Arc::new(model));
                self.generation += 1;
                self.answer = None;
                Some(Ok(()))
            }
            Ok(Err(error)) => Some(Err(error.to_string())),
            Err(lost) => Some(Err(lost.to_string())),
        }
    }

    /// Takes an answer that is there.
    fn hear_answer(&mut self) -> Option<Result<(), String>> {
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
    fn next_question(&self) -> Option<(Question, Arc<Predictor>)> {
        let asked = self.asked.as_ref().filter(|_| self.asking.is_none())?;
        let question = Question { generation: self.generation, ..asked.clone() };
        let is_answered = self.answer.as_ref().is_some_and(|(answered, _)| *answered == question);
        let model = self.model.as_ref().filter(|_| !is_answered)?;
        Some((question, Arc::clone(model)))
    }
}

impl Project {
    /// Asks for the order of the labels of given words: those that are marked. Never waits; what is asked last counts.
    pub fn ask_label_order(&mut self, sentence: SentenceId, given: &Fragments) {
        let (segmentation, generation) = (self.segmentation(), self.learner.label_order.generation);
        let can_be = self.corpus().sentence(sentence).is_some_and(|sentence| {
            sentence.split() != Split::Blind && given.hull().end().get() <= sentence.tokens().len()
        });
        let question = || Question { sentence, given: given.clone(), segmentation, generation };
        self.learner.label_order.asked = can_be.then(question);
        self.ask_next();
    }

    /// The labels of given words, the most probable first, with their probabilities; `None` as long as nothing is known of them.
    /// Labels that are newer than the model are not among them.
    pub fn label_order(&self, sentence: SentenceId, given: &Fragments) -> Option<&[(LabelId, f32)]> {
        let order = &self.learner.label_order;
        let (question, ranked) = order.answer.as_ref()?;
        let is_of = question.sentence == sentence && question.given == *given;
        let is_fresh = question.segmentation == self.segmentation() && question.generation == order.generation;
        (is_of && is_fresh).then_some(ranked.as_slice())
    }

    /// Takes what was learned and answered, and goes on with both.
    pub(super) fn poll_label_order(&mut self, events: &mut Vec<Event>) {
        let heard = [self.learner.label_order.hear_training(), self.learner.label_order.hear_answer()];
        for why in heard.into_iter().flatten().filter_map(Result::err) {
            events.push(Event::TrainingTrouble {
                message: format!("labels can't be put in order by probability: {why}"),
            });
        }
        self.learn_label_order();
        self.ask_next();
    }

    fn ask_next(&mut self) {
        let Some((question, model)) = self.learner.label_order.next_question() else { return };
        let Some(sentence) = self.corpus().sentence(question.sentence) else { return };
        let asked = (words(self.corpus(), sentence), vec![question.given.clone()]);
        let task = Task::spawn("nestling-labels", self.waker(), move || {
            let ranked = model.label_given(&[asked], PredictOptions::default(), &AtomicBool::new(false))?;
            Ok(ranked.into_iter().flatten().next())
        });
        self.learner.label_order.asking = Some((question, task));
    }

    /// Starts a training where there is enough that is new.
    fn learn_label_order(&mut self) {
        let works = self.learner.is_on && self.settings().auto_train && self.learner.label_order.learning.is_none();
        if !works || self.counts().mentions < FEWEST_MENTIONS || self.corpus().labels().len() < 2 {
            return;
        }
        let now = Learned {
            mentions: self.counts().mentions,
            labels: self.corpus().labels().iter().map(|label| label.id).collect(),
            encoder: self.settings().encoder.clone(),
        };
        if self.learner.label_order.learned.as_ref().is_some_and(|before| !before.is_outgrown(&now)) {
            return;
        }
        let config = Config {
            architecture: ARCHITECTURE.to_owned(),
            encoder: now.encoder.clone(),
            threads: Some(self.settings().background_threads()),
            ..Config::default()
        };
        let (corpus, encoders, cancel) = (self.snapshot_of_corpus(), self.encoders(), Arc::new(AtomicBool::new(false)));
        let stop = Arc::clone(&cancel);
        let task = Task::spawn("nestling-label-trainer", self.waker(), move || {
            // Made before the priority is lowered, which its thread would take over: somebody waits for the answers.
            let answering = Threads::new("labels", Some(1))?;
            lower_priority();
            let dataset = freeze_for_label_order(&corpus)?;
            drop(corpus); // edits copy what is held elsewhere
            train_in_memory(Arc::new(dataset), config, encoders, answering, &stop)
        });
        self.learner.label_order.learned = Some(now);
        self.learner.label_order.learning = Some(Learning { task, cancel });
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
