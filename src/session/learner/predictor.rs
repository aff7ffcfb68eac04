//! The thread that predicts. It owns a separately loaded snapshot, so that a training never shows in its answers.

use crate::annotation::{ModelId, SentenceId, SentenceSuggestions, Suggestion};
use crate::evaluation::Scale;
use crate::session::learner::source::Source;
use crate::session::task::Waker;
use crate::train::{PredictOptions, Predictor, SentencePrediction, TrainError};
use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

/// Batches under way: one that is worked on, one that waits.
pub(super) const IN_FLIGHT: usize = 2;

/// Sentences of one batch: few enough that what comes on screen is soon its turn.
pub(super) const BATCH: usize = 16;

/// Models that differ by dropout, where what they disagree on chooses sentences: a good part of what more would tell, at
/// a third more time.
pub(in crate::session) const DROPOUT_PASSES: usize = 8;

/// Sentences to be asked about.
pub(in crate::session) struct Batch {
    pub source: Source,
    /// What its scores are divided by.
    pub scale: Scale,
    /// Models that differ by dropout, to tell what they disagree on.
    pub dropout_passes: usize,
    /// Of the project when the words were taken.
    pub segmentation: u64,
    pub sentences: Vec<(SentenceId, Vec<String>)>,
}

/// What came of a batch. Which sentences it was about is told in every case.
pub(in crate::session) struct Answer {
    pub source: Source,
    pub segmentation: u64,
    pub sentences: Vec<SentenceId>,
    pub result: Result<Vec<SentenceSuggestions>, String>,
}

/// What the thread asks: a model that is loaded.
pub(in crate::session) trait Model {
    /// One prediction for each sentence, in order.
    fn predict(
        &self,
        sentences: &[Vec<String>],
        options: PredictOptions,
        cancel: &AtomicBool,
    ) -> Result<Vec<SentencePrediction>, TrainError>;
}

impl Model for Predictor {
    fn predict(
        &self,
        sentences: &[Vec<String>],
        options: PredictOptions,
        cancel: &AtomicBool,
    ) -> Result<Vec<SentencePrediction>, TrainError> {
        self.predict(sentences, options, cancel)
    }
}

/// The thread has ended though nobody asked it to; what it had is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the thread that predicts ended because of a fault in the program; labels are not touched, please report it")]
pub(in crate::session) struct PredictorGone;

/// The thread's other end. Dropping it stops the thread soon.
pub(in crate::session) struct PredictorThread {
    batches: Sender<Batch>,
    answers: Receiver<Answer>,
    cancel: Arc<AtomicBool>,
}

impl PredictorThread {
    /// `threads` bounds the cores that a prediction uses.
    pub(in crate::session) fn start(threads: usize, waker: Waker) -> std::io::Result<Self> {
        Self::start_with(move |source| source.load(Some(threads)), waker)
    }

    /// `load` gets a model ready.
    pub(in crate::session) fn start_with<M: Model>(
        load: impl Fn(&Source) -> Result<M, TrainError> + Send + 'static,
        waker: Waker,
    ) -> std::io::Result<Self> {
        let (batches, inbox) = bounded::<Batch>(IN_FLIGHT);
        let (outbox, answers) = bounded(2 * IN_FLIGHT);
        let cancel = Arc::new(AtomicBool::new(false));
        let stop = cancel.clone();
        Builder::new().name("nestling-predictor".to_owned()).spawn(move || {
            crate::session::learner::trainer::lower_priority();
            let mut loaded = None;
            for batch in inbox {
                let answer = answer(batch, &mut loaded, &load, &stop);
                if outbox.send(answer).is_err() {
                    break;
                }
                waker();
            }
        })?;
        Ok(Self { batches, answers, cancel })
    }

    /// Gives a batch back when there are enough under way.
    pub(in crate::session) fn send(&self, batch: Batch) -> Result<(), Batch> {
        self.batches.try_send(batch).map_err(|error| match error {
            TrySendError::Full(batch) | TrySendError::Disconnected(batch) => batch,
        })
    }

    /// An answer, if one is there.
    pub(super) fn try_answer(&self) -> Result<Option<Answer>, PredictorGone> {
        match self.answers.try_recv() {
            Ok(answer) => Ok(Some(answer)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(PredictorGone),
        }
    }
}

impl Drop for PredictorThread {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

fn answer<M: Model>(
    batch: Batch,
    loaded: &mut Option<(Source, M)>,
    load: &impl Fn(&Source) -> Result<M, TrainError>,
    cancel: &AtomicBool,
) -> Answer {
    let Batch { source, scale, dropout_passes, segmentation, sentences } = batch;
    let options = PredictOptions { dropout_passes, ..PredictOptions::default() };
    let (ids, words): (Vec<_>, Vec<_>) = sentences.into_iter().unzip();
    let work = || -> Result<Vec<SentenceSuggestions>, TrainError> {
        if loaded.as_ref().is_none_or(|(of, _)| *of != source) {
            *loaded = None; // two models at a time would need twice the memory
            *loaded = Some((source.clone(), load(&source)?));
        }
        let Some((_, predictor)) = loaded.as_ref() else { return Ok(Vec::new()) };
        let predictions = predictor.predict(&words, options, cancel)?;
        Ok(predictions.into_iter().map(|prediction| suggestions(source.id(), scale, prediction)).collect())
    };
    let result = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => {
            *loaded = None; // whatever state it was left in
            Err("the prediction met a fault in the program; labels are not touched by that, please report it".into())
        }
    };
    Answer { source, segmentation, sentences: ids, result }
}

/// What the learner says, as it is stored and shown.
pub(in crate::session) fn suggestions(
    model: ModelId,
    scale: Scale,
    prediction: SentencePrediction,
) -> SentenceSuggestions {
    let SentencePrediction { first_words, spans, acquisition, .. } = prediction;
    let spans = spans.into_iter();
    let spans = spans.map(|s| Suggestion {
        span: s.span,
        label: s.label,
        score: scale.apply(s.score),
        runner_up: s.runner_up.map(|(label, score)| (label, scale.apply(score))),
    });
    // What an encoder knows of names says nothing of what a model of the project lacks.
    let acquisition = (model != ModelId::NAMES).then_some(acquisition);
    SentenceSuggestions { model, heads: first_words, spans: spans.collect(), acquisition }
}
