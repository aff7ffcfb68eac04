//! What is predicted, in which order, and what becomes of the answers.

use crate::annotation::{ModelId, Sentence, SentenceId, SentenceSuggestions, Split, Status};
use crate::nn::splitmix64;
use crate::session::SessionError;
use crate::session::analysis::agenda::{dropout_passes, says_enough};
use crate::session::learner::dataset::words;
use crate::session::learner::predictor::{Answer, BATCH, Batch, IN_FLIGHT, PredictorGone, PredictorThread};
use crate::session::project::Project;
use crate::session::project::status::{Event, ModelInfo};
use std::sync::Arc;

/// Sentences that are predicted first because they are likely to be shown next: more than ever are chosen from together.
const PREDICTED_FIRST: usize = IN_FLIGHT * BATCH;

impl Project {
    /// Queues every sentence that is not complete and of which the current model has not said enough: those that are likely
    /// to be shown next, then those that no model has seen, then those that older models have, each in an order of chance, so
    /// that where models follow each other sooner than all can be predicted, no part of the text is left out. The blind set
    /// is annotated without suggestions and gets none.
    pub(in crate::session) fn start_predicting(&mut self) {
        if !self.learner.is_on {
            return;
        }
        self.learner.suggesting = self.current_snapshot();
        if self.learner.suggesting.is_none() {
            return;
        }
        let waits = |s: &&Sentence| self.waits(s);
        let waiting = self.corpus.sentences().filter(waits).map(Sentence::id);
        let asked_last =
            |id: &SentenceId| (self.suggestions.get(id).map(|said| said.model), splitmix64(u64::from(id.0)));
        let mut waiting: Vec<SentenceId> = waiting.collect();
        waiting.sort_by_cached_key(asked_last);
        let next = self.likely_next(PREDICTED_FIRST).into_iter().filter_map(|choice| self.corpus.sentence(choice.id));
        let next = next.filter(waits).map(Sentence::id);
        let order: Vec<SentenceId> = next.chain(waiting).collect();
        self.learner.queue.start(order);
        self.learner.queue.hurry(&self.on_screen);
    }

    /// Whether the current model has something to say of a sentence that it has not said.
    fn waits(&self, sentence: &Sentence) -> bool {
        let may_have_some =
            sentence.status() != Status::Complete && sentence.split() != Split::Blind && !sentence.tokens().is_empty();
        may_have_some
            && match self.suggestions.get(&sentence.id()) {
                Some(said) if said.model == ModelId::FROM_FILE => !self.has_open_from_file(sentence),
                said => {
                    said.is_none_or(|s| Some(s.model) != self.current_model || !says_enough(s, self.settings.strategy))
                }
            }
    }

    /// Queues those of some sentences that wait again: they were complete, and have nothing to show.
    pub(in crate::session) fn predict_again(&mut self, sentences: impl Iterator<Item = SentenceId>) {
        if self.learner.suggesting.is_none() {
            return;
        }
        for id in sentences {
            if self.corpus.sentence(id).is_some_and(|sentence| self.waits(sentence)) {
                self.learner.queue.again(id);
            }
        }
    }

    /// Suggestions that came with a file and wait for an answer. They can't be made again, so that models leave them alone.
    pub(in crate::session) fn has_open_from_file(&self, sentence: &Sentence) -> bool {
        let said = self.suggestions.get(&sentence.id()).filter(|said| said.model == ModelId::FROM_FILE);
        said.is_some_and(|said| said.visible(sentence, self.corpus.labels(), 0.0).next().is_some())
    }

    pub(in crate::session) fn feed_predictor(&mut self) {
        if self.learner.queue.is_empty() {
            return;
        }
        let Some((model, snapshot)) = self.learner.suggesting.clone() else { return };
        let scale = self.learner.status.current.as_ref().map(ModelInfo::scale).unwrap_or_default();
        if self.learner.predictor.is_none() {
            match PredictorThread::start(self.settings.background_threads(), self.waker.as_waker()) {
                Ok(thread) => self.learner.predictor = Some(thread),
                Err(error) => {
                    self.learner.failure = Some(format!("can't start the thread that predicts: {error}"));
                    return;
                }
            }
        }
        while self.learner.under_way < IN_FLIGHT {
            let ids = self.learner.queue.take(BATCH);
            if ids.is_empty() {
                break;
            }
            let sentences = ids.iter().filter_map(|&id| Some((id, words(&self.corpus, self.corpus.sentence(id)?))));
            let sentences = sentences.collect();
            let (snapshot, segmentation) = (snapshot.clone(), self.segmentation);
            let dropout_passes = dropout_passes(self.settings.strategy);
            let batch = Batch { model, snapshot, scale, dropout_passes, segmentation, sentences };
            match self.learner.predictor.as_ref().map(|p| p.send(batch)) {
                Some(Ok(())) => self.learner.under_way += 1,
                _ => {
                    ids.into_iter().for_each(|id| self.learner.queue.again(id));
                    break;
                }
            }
        }
    }

    /// Takes in what the predictor has said since it was last heard.
    pub(in crate::session) fn hear_predictor(&mut self, events: &mut Vec<Event>) {
        if self.agenda.is_choosing() {
            return; // its thread reads the suggestions, which would be copied to be changed
        }
        let mut answered = Vec::new();
        while let Some(said) = self.learner.predictor.as_ref().map(PredictorThread::try_answer) {
            match said.map(|answer| answer.map(|answer| self.take_answer(answer))) {
                Ok(Some(Ok(sentences))) => answered.extend(sentences),
                Ok(Some(Err(event))) => events.push(event),
                Ok(None) => break,
                Err(gone) => events.push(self.predictor_gone(gone)),
            }
        }
        if !answered.is_empty() {
            if self.learner.queue.is_empty() && self.learner.under_way == 0 {
                // All scores are fresh now.
                self.agenda.renew();
            }
            events.push(Event::Suggestions(answered));
        }
    }

    /// Takes over what the predictor says; what an older model says is dropped.
    fn take_answer(&mut self, answer: Answer) -> Result<Vec<SentenceId>, Event> {
        let Answer { model, segmentation, sentences, result } = answer;
        self.learner.under_way = self.learner.under_way.saturating_sub(1);
        if self.current_model != Some(model) {
            return Ok(Vec::new());
        }
        if segmentation != self.segmentation {
            // Their words may be others now.
            let there = sentences.into_iter().filter(|id| self.corpus.sentence(*id).is_some());
            there.for_each(|id| self.learner.queue.again(id));
            return Ok(Vec::new());
        }
        let suggestions = match result {
            Ok(suggestions) => suggestions,
            Err(message) => return Err(self.prediction_failed(message)),
        };
        let batch: Vec<_> = sentences.iter().copied().zip(suggestions).collect();
        if let Err(error) = self.store_suggestions(batch) {
            return Err(Event::PredictionFailed { message: error.to_string() });
        }
        Ok(sentences)
    }

    /// The next model, or the next edit that moves words, starts another thread.
    fn predictor_gone(&mut self, gone: PredictorGone) -> Event {
        self.learner.predictor = None;
        self.learner.under_way = 0;
        self.prediction_failed(gone.to_string())
    }

    /// Stops predicting, so that a fault is not repeated with every batch.
    fn prediction_failed(&mut self, message: String) -> Event {
        self.learner.failure = Some(message.clone());
        self.learner.queue.start([]);
        Event::PredictionFailed { message }
    }

    pub(in crate::session) fn store_suggestions(
        &mut self,
        batch: Vec<(SentenceId, SentenceSuggestions)>,
    ) -> Result<(), SessionError> {
        let writer = Arc::clone(self.writer()?);
        let map = Arc::make_mut(&mut self.suggestions);
        for (id, suggestions) in &batch {
            map.insert(*id, suggestions.clone());
        }
        Ok(writer.suggestions(batch)?)
    }
}
