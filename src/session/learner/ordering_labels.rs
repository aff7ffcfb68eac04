//! An open project asks for the order of labels, and teaches the model that knows it.

use super::dataset::freeze_for_label_order;
use super::label_order::{ARCHITECTURE, FEWEST_MENTIONS, Learned, Learning, Question};
use super::trainer::lower_priority;
use crate::annotation::{Fragments, LabelId, SentenceId, Split};
use crate::nn::Threads;
use crate::session::Task;
use crate::session::learner::dataset::words;
use crate::session::project::Project;
use crate::session::project::status::Event;
use crate::train::{Config, PredictOptions, train_in_memory};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Epochs without a better score on what was held out after which nothing more is learned.
const PATIENCE: usize = 3;

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
            // With few sentences there would be few steps, from which little is learned; a step takes milliseconds.
            batch_size: 4,
            head_lr: 3e-3,
            patience: PATIENCE,
            threads: Some(self.settings().background_threads()),
            ..Config::default()
        };
        let (corpus, encoders, cancel) = (self.snapshot_of_corpus(), self.encoders(), Arc::new(AtomicBool::new(false)));
        let stop = Arc::clone(&cancel);
        let task = Task::spawn("nestling-label-trainer", self.waker(), move || {
            let Some(encoder) = encoders.knowing_words(&config.encoder) else { return Ok(None) };
            let config = Config { encoder, ..config };
            // Made before the priority is lowered, which its thread would take over: somebody waits for the answers.
            let answering = Threads::new("labels", Some(1))?;
            lower_priority();
            let dataset = freeze_for_label_order(&corpus)?;
            drop(corpus); // edits copy what is held elsewhere
            train_in_memory(Arc::new(dataset), config, encoders, answering, &stop).map(Some)
        });
        self.learner.label_order.learned = Some(now);
        self.learner.label_order.learning = Some(Learning { task, cancel });
    }
}
