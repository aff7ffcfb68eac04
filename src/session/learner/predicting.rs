//! What is predicted, in which order, and what becomes of the answers.

use super::predictor::{Answer, BATCH, Batch, IN_FLIGHT, PredictorThread};
use super::queue::PredictionQueue;
use super::source::Source;
use crate::annotation::{LabelSet, ModelId, Sentence, SentenceId, SentenceSuggestions, Split, Status};
use crate::nn::splitmix64;
use crate::session::Task;
use crate::session::analysis::agenda::{Pool, dropout_passes, says_enough};
use crate::session::learner::dataset::words;
use crate::session::project::Project;
use crate::session::project::status::{Event, FailedWork, Failure, ModelInfo};
use std::collections::HashSet;
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
        let source = self.source();
        let is_anew = self.learner.asking.ask(source);
        if self.learner.failure.as_ref().is_some_and(|failure| failure.what == FailedWork::Predicting) {
            self.learner.failure = None;
            self.refresh_learner();
        }
        if self.learner.asking.source().is_none() {
            self.learner.ordering = None;
            self.learner.asking.give_up();
            return;
        }
        let open = OpenQuestions { is_anew, ..self.open_questions() };
        let (on_screen, shown) = (self.on_screen().to_vec(), self.shown_so_far());
        if open.pool.is_large() {
            // Until the order is known those on screen are asked about.
            let first: Vec<SentenceId> = on_screen.iter().copied().filter(|id| open.has(*id)).collect();
            self.learner.asking.start(PredictionQueue::of(first), &on_screen);
            let work = move || PredictionQueue::of(open.in_order(&shown));
            self.learner.ordering = Some(Task::spawn("nestling-order", self.waker(), work));
        } else {
            self.learner.ordering = None;
            self.learner.asking.start(PredictionQueue::of(open.in_order(&shown)), &on_screen);
        }
    }

    /// Takes the order in which to predict, once it is there.
    pub(super) fn take_order(&mut self, events: &mut Vec<Event>) {
        let Some(queue) = self.learner.ordering.as_ref().and_then(Task::poll) else { return };
        self.learner.ordering = None;
        let on_screen = self.on_screen().to_vec();
        match queue {
            Ok(queue) => self.learner.asking.start_with_waiting(queue, &on_screen),
            Err(lost) => events.push(self.learner.prediction_failed(lost.to_string())),
        }
    }

    /// The model in use; where there is none, what the encoder knows.
    fn source(&self) -> Option<Source> {
        let model = self.current_snapshot().map(|(id, snapshot)| Source::Model(id, snapshot));
        model.or_else(|| self.names().map(|names| Source::Names(Arc::new(names))))
    }

    fn open_questions(&self) -> OpenQuestions {
        let source = self.learner.asking.source();
        OpenQuestions { pool: self.pool(), model: source.map(Source::id), is_anew: false }
    }

    /// Queues those of some sentences that wait again: they were complete, and have nothing to show.
    pub(in crate::session) fn predict_again(&mut self, sentences: impl Iterator<Item = SentenceId>) {
        if self.learner.asking.source().is_none() {
            return;
        }
        let open = self.open_questions();
        sentences.filter(|id| open.has(*id)).for_each(|id| self.learner.asking.again(id));
    }

    /// Suggestions that came with a file and wait for an answer. They can't be made again, so that models leave them alone.
    pub(super) fn has_open_from_file(&self, sentence: &Sentence) -> bool {
        let said = self.stored_suggestions().get(sentence.id());
        said.is_some_and(|said| is_open_from_file(said, sentence, self.corpus().labels()))
    }

    /// Gives the predictor more to do.
    pub(super) fn feed_predictor(&mut self) {
        let scale = self.learner.status.current.as_ref().map(ModelInfo::scale).unwrap_or_default();
        let (threads, waker) = (self.settings().background_threads(), self.waker());
        let dropout_passes = dropout_passes(self.settings().strategy);
        let (corpus, segmentation) = (self.snapshot_of_corpus(), self.segmentation());
        let batch = |ids: &[SentenceId], source| {
            let sentences = ids.iter().filter_map(|&id| Some((id, words(&corpus, corpus.sentence(id)?))));
            Batch { source, scale, dropout_passes, segmentation, sentences: sentences.collect() }
        };
        if let Err(error) = self.learner.asking.feed(|| PredictorThread::start(threads, waker), batch) {
            let message = format!("can't start the thread that predicts: {error}");
            self.learner.failure = Some(Failure { what: FailedWork::Predicting, message });
        }
    }

    /// Takes in what the predictor has said since it was last heard.
    pub(super) fn hear_predictor(&mut self, events: &mut Vec<Event>) {
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
            if self.learner.asking.is_done() && self.learner.ordering.is_none() {
                // All scores are fresh now.
                self.agenda.renew();
            }
            events.push(Event::Suggestions(answered));
        }
    }

    /// Takes over what the predictor says; what an older model says is dropped.
    fn take_answer(&mut self, answer: Answer) -> Result<Vec<SentenceId>, Event> {
        let Answer { source, segmentation, sentences, result } = answer;
        if self.learner.asking.source() != Some(&source) {
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

/// What the current model has not said and could say.
struct OpenQuestions {
    pool: Pool,
    model: Option<ModelId>,
    /// What it has said before counts for nothing.
    is_anew: bool,
}

impl OpenQuestions {
    /// Those that are likely to be shown next, when some were shown already, then the others.
    fn in_order(&self, (shown, passed): &(usize, HashSet<SentenceId>)) -> Vec<SentenceId> {
        let Pool { corpus, suggestions, .. } = &self.pool;
        let mut others: Vec<SentenceId> = corpus.sentences().filter(|s| self.is_of(s)).map(Sentence::id).collect();
        others.sort_by_cached_key(|id| (suggestions.get(*id).map(|said| said.model), splitmix64(u64::from(id.0))));
        let next = self.pool.likely_next(PREDICTED_FIRST, *shown, passed).into_iter().map(|choice| choice.id);
        next.filter(|id| self.has(*id)).chain(others).collect()
    }

    fn has(&self, id: SentenceId) -> bool {
        self.pool.corpus.sentence(id).is_some_and(|sentence| self.is_of(sentence))
    }

    fn is_of(&self, sentence: &Sentence) -> bool {
        let Pool { corpus, suggestions, strategy } = &self.pool;
        let may_have_some =
            sentence.status() != Status::Complete && sentence.split() != Split::Blind && !sentence.tokens().is_empty();
        may_have_some
            && match suggestions.get(sentence.id()) {
                Some(said) if said.model == ModelId::FROM_FILE => !is_open_from_file(said, sentence, corpus.labels()),
                _ if self.is_anew => true,
                Some(said) if said.model == ModelId::NAMES => self.model != Some(ModelId::NAMES),
                said => said.is_none_or(|said| Some(said.model) != self.model || !says_enough(said, *strategy)),
            }
    }
}

fn is_open_from_file(said: &SentenceSuggestions, sentence: &Sentence, labels: &LabelSet) -> bool {
    said.model == ModelId::FROM_FILE && said.visible(sentence, labels, 0.0).next().is_some()
}
