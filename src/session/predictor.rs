//! The thread that predicts. It owns a separately loaded snapshot, so that a training never shows in its answers.

use super::task::Waker;
use crate::annotation::{ModelId, SentenceId, SentenceSuggestions, Suggestion};
use crate::train::{PredictOptions, Predictor, SentencePrediction, TrainError};
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

/// Batches under way: one that is worked on, one that waits.
pub(super) const IN_FLIGHT: usize = 2;

/// Sentences of one batch: few enough that what comes on screen is soon its turn.
pub(super) const BATCH: usize = 16;

/// Sentences for a model.
pub(super) struct Batch {
    pub model: ModelId,
    pub snapshot: PathBuf,
    /// Of the project when the words were taken.
    pub segmentation: u64,
    pub sentences: Vec<(SentenceId, Vec<String>)>,
}

/// What came of a batch. Which sentences it was about is told in every case.
pub(super) struct Answer {
    pub model: ModelId,
    pub segmentation: u64,
    pub sentences: Vec<SentenceId>,
    pub result: Result<Vec<SentenceSuggestions>, String>,
}

/// The thread's other end. Dropping it stops the thread soon.
pub(super) struct PredictorThread {
    batches: Sender<Batch>,
    answers: Receiver<Answer>,
    cancel: Arc<AtomicBool>,
}

impl PredictorThread {
    /// `threads` bounds the cores that a prediction uses.
    pub(super) fn start(threads: usize, waker: Waker) -> std::io::Result<Self> {
        let (batches, inbox) = bounded::<Batch>(IN_FLIGHT);
        let (outbox, answers) = bounded(2 * IN_FLIGHT);
        let cancel = Arc::new(AtomicBool::new(false));
        let stop = cancel.clone();
        Builder::new().name("nestling-predictor".to_owned()).spawn(move || {
            super::trainer::lower_priority();
            let mut loaded = None;
            for batch in inbox {
                let answer = answer(batch, &mut loaded, threads, &stop);
                if outbox.send(answer).is_err() {
                    break;
                }
                waker();
            }
        })?;
        Ok(Self { batches, answers, cancel })
    }

    /// Gives a batch back when there are enough under way.
    pub(super) fn send(&self, batch: Batch) -> Result<(), Batch> {
        self.batches.try_send(batch).map_err(|error| match error {
            TrySendError::Full(batch) | TrySendError::Disconnected(batch) => batch,
        })
    }

    /// An answer, if one is there.
    pub(super) fn try_answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }
}

impl Drop for PredictorThread {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

fn answer(batch: Batch, loaded: &mut Option<(ModelId, Predictor)>, threads: usize, cancel: &AtomicBool) -> Answer {
    let Batch { model, snapshot, segmentation, sentences } = batch;
    let (ids, words): (Vec<_>, Vec<_>) = sentences.into_iter().unzip();
    let work = || -> Result<Vec<SentenceSuggestions>, TrainError> {
        if loaded.as_ref().is_none_or(|(id, _)| *id != model) {
            *loaded = None; // two models at a time would need twice the memory
            *loaded = Some((model, Predictor::load_with_threads(&snapshot, Some(threads))?));
        }
        let Some((_, predictor)) = loaded.as_ref() else { return Ok(Vec::new()) };
        let predictions = predictor.predict(&words, PredictOptions::default(), cancel)?;
        Ok(predictions.into_iter().map(|prediction| suggestions(model, prediction)).collect())
    };
    let result = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => {
            Err("the prediction met a fault in the program; labels are not touched by that, please report it".into())
        }
    };
    Answer { model, segmentation, sentences: ids, result }
}

/// What the learner says, as it is stored and shown.
pub(super) fn suggestions(model: ModelId, prediction: SentencePrediction) -> SentenceSuggestions {
    let SentencePrediction { heads, spans, entropy, .. } = prediction;
    let spans = spans.into_iter();
    let spans = spans.map(|s| Suggestion { span: s.span, label: s.label, score: s.score, runner_up: s.runner_up });
    SentenceSuggestions { model, heads, spans: spans.collect(), entropy }
}
