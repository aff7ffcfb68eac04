//! What is predicted, in which order, and what becomes of the answers.

use super::predictor::{Answer, BATCH, Batch, IN_FLIGHT, PredictorThread};
use crate::annotation::{ModelId, Sentence, SentenceId, Split, Status};
use crate::nn::splitmix64;
use crate::session::analysis::agenda::{dropout_passes, says_enough};
use crate::session::learner::dataset::words;
use crate::session::project::Project;
use crate::session::project::status::{Event, ModelInfo};

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
        let model = self.current_snapshot();
        if !self.learner.asking.ask(model) {
            return;
        }
        let waits = |s: &&Sentence| self.waits(s);
        let waiting = self.corpus().sentences().filter(waits).map(Sentence::id);
        let asked_last =
            |id: &SentenceId| (self.stored_suggestions().get(id).map(|said| said.model), splitmix64(u64::from(id.0)));
        let mut waiting: Vec<SentenceId> = waiting.collect();
        waiting.sort_by_cached_key(asked_last);
        let next = self.likely_next(PREDICTED_FIRST).into_iter().filter_map(|choice| self.corpus().sentence(choice.id));
        let next = next.filter(waits).map(Sentence::id);
        let order: Vec<SentenceId> = next.chain(waiting).collect();
        let on_screen = self.on_screen().to_vec();
        self.learner.asking.start(order, &on_screen);
    }

    /// Whether the current model has something to say of a sentence that it has not said.
    fn waits(&self, sentence: &Sentence) -> bool {
        let may_have_some =
            sentence.status() != Status::Complete && sentence.split() != Split::Blind && !sentence.tokens().is_empty();
        may_have_some
            && match self.stored_suggestions().get(&sentence.id()) {
                Some(said) if said.model == ModelId::FROM_FILE => !self.has_open_from_file(sentence),
                said => said
                    .is_none_or(|s| Some(s.model) != self.current_model() || !says_enough(s, self.settings().strategy)),
            }
    }

    /// Queues those of some sentences that wait again: they were complete, and have nothing to show.
    pub(in crate::session) fn predict_again(&mut self, sentences: impl Iterator<Item = SentenceId>) {
        if !self.learner.asking.asks_a_model() {
            return;
        }
        for id in sentences {
            if self.corpus().sentence(id).is_some_and(|sentence| self.waits(sentence)) {
                self.learner.asking.again(id);
            }
        }
    }

    /// Suggestions that came with a file and wait for an answer. They can't be made again, so that models leave them alone.
    pub(super) fn has_open_from_file(&self, sentence: &Sentence) -> bool {
        let said = self.stored_suggestions().get(&sentence.id()).filter(|said| said.model == ModelId::FROM_FILE);
        said.is_some_and(|said| said.visible(sentence, self.corpus().labels(), 0.0).next().is_some())
    }

    /// Gives the predictor more to do.
    pub(super) fn feed_predictor(&mut self) {
        let scale = self.learner.status.current.as_ref().map(ModelInfo::scale).unwrap_or_default();
        let (threads, waker) = (self.settings().background_threads(), self.waker());
        let dropout_passes = dropout_passes(self.settings().strategy);
        let (corpus, segmentation) = (self.corpus_as_it_is(), self.segmentation());
        let batch = |ids: &[SentenceId], model, snapshot| {
            let sentences = ids.iter().filter_map(|&id| Some((id, words(&corpus, corpus.sentence(id)?))));
            Batch { model, snapshot, scale, dropout_passes, segmentation, sentences: sentences.collect() }
        };
        if let Err(error) = self.learner.asking.feed(|| PredictorThread::start(threads, waker), batch) {
            self.learner.failure = Some(format!("can't start the thread that predicts: {error}"));
        }
    }

    /// Takes in what the predictor has said since it was last heard.
    pub(super) fn hear_predictor(&mut self, events: &mut Vec<Event>) {
        if self.agenda.is_choosing() {
            return; // its thread reads the suggestions, which would be copied to be changed
        }
        let mut answered = Vec::new();
        loop {
            match self.learner.asking.hear() {
                Ok(Some(answer)) => match self.take_answer(answer) {
                    Ok(sentences) => answered.extend(sentences),
                    Err(event) => events.push(event),
                },
                Ok(None) => break,
                Err(gone) => events.push(self.learner.prediction_failed(gone.to_string())),
            }
        }
        if !answered.is_empty() {
            if self.learner.asking.is_done() {
                // All scores are fresh now.
                self.agenda.renew();
            }
            events.push(Event::Suggestions(answered));
        }
    }

    /// Takes over what the predictor says; what an older model says is dropped.
    fn take_answer(&mut self, answer: Answer) -> Result<Vec<SentenceId>, Event> {
        let Answer { model, segmentation, sentences, result } = answer;
        if self.current_model() != Some(model) {
            return Ok(Vec::new());
        }
        if segmentation != self.segmentation() {
            // Their words may be others now.
            let there = sentences.into_iter().filter(|id| self.corpus().sentence(*id).is_some());
            there.collect::<Vec<_>>().into_iter().for_each(|id| self.learner.asking.again(id));
            return Ok(Vec::new());
        }
        let suggestions = match result {
            Ok(suggestions) => suggestions,
            Err(message) => return Err(self.learner.prediction_failed(message)),
        };
        let batch: Vec<_> = sentences.iter().copied().zip(suggestions).collect();
        if let Err(error) = self.store_suggestions(batch) {
            return Err(Event::PredictionFailed { message: error.to_string() });
        }
        Ok(sentences)
    }
}
