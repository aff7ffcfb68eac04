//! What the model in use is asked, and how far that is.

use super::predictor::{Answer, BATCH, Batch, IN_FLIGHT, PredictorGone, PredictorThread};
use super::queue::PredictionQueue;
use super::source::Source;
use crate::annotation::SentenceId;
use crate::session::project::status::Predicting;

/// The thread that predicts, what waits for it, and what it has.
#[derive(Default)]
pub(super) struct Asking {
    thread: Option<PredictorThread>,
    queue: PredictionQueue,
    /// What is asked.
    suggesting: Option<Source>,
    /// What found the names that are suggested, also where it is not asked any more.
    names: Option<Source>,
    /// Batches that the thread has.
    under_way: usize,
}

impl Asking {
    /// Asks another one from now on, or none. Says whether it finds names under others labels than those of before, which then
    /// are to be found again.
    pub(super) fn ask(&mut self, source: Option<Source>) -> bool {
        let is_names = matches!(source, Some(Source::Names(_)));
        let is_anew = is_names && self.names.is_some() && self.names != source;
        if is_names {
            self.names.clone_from(&source);
        }
        self.suggesting = source;
        is_anew
    }

    /// What is asked.
    pub(super) fn source(&self) -> Option<&Source> {
        self.suggesting.as_ref()
    }

    /// Asks about these and no others, in their order but for those on screen.
    pub(super) fn start(&mut self, queue: PredictionQueue, on_screen: &[SentenceId]) {
        self.queue = queue;
        self.queue.hurry(on_screen);
    }

    /// The same where some may have come to wait since the queue was asked for: they wait on.
    pub(super) fn start_with_waiting(&mut self, mut queue: PredictionQueue, on_screen: &[SentenceId]) {
        self.queue.take_all().into_iter().rev().for_each(|id| queue.again(id));
        self.start(queue, on_screen);
    }

    /// Asks about nothing more, so that a fault is not repeated with every batch.
    pub(super) fn give_up(&mut self) {
        self.queue = PredictionQueue::default();
    }

    /// Asks about those on screen first, if they still wait.
    pub(super) fn hurry(&mut self, on_screen: &[SentenceId]) {
        self.queue.hurry(on_screen);
    }

    /// Asks about one again.
    pub(super) fn again(&mut self, sentence: SentenceId) {
        self.queue.again(sentence);
    }

    /// Nothing waits, and nothing is under way.
    pub(super) fn is_done(&self) -> bool {
        self.queue.is_empty() && self.under_way == 0
    }

    pub(super) fn progress(&self) -> Option<Predicting> {
        let (done, total) = self.queue.progress();
        (!self.is_done()).then_some(Predicting { done, total })
    }

    /// Gives the thread more to do, where it has room; it is started if there is none.
    ///
    /// # Errors
    /// A thread that can't be started.
    pub(super) fn feed(
        &mut self,
        start: impl FnOnce() -> std::io::Result<PredictorThread>,
        batch: impl Fn(&[SentenceId], Source) -> Batch,
    ) -> std::io::Result<()> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let Some(source) = &self.suggesting else { return Ok(()) };
        let thread = match &mut self.thread {
            Some(thread) => thread,
            none => none.insert(start()?),
        };
        while self.under_way < IN_FLIGHT {
            let ids = self.queue.take(BATCH);
            if ids.is_empty() {
                break;
            }
            if thread.send(batch(&ids, source.clone())).is_err() {
                ids.into_iter().for_each(|id| self.queue.again(id));
                break;
            }
            self.under_way += 1;
        }
        Ok(())
    }

    /// What the thread has said since it was last heard, answer by answer.
    ///
    /// # Errors
    /// It has ended though nobody asked it to. The next model, or the next edit that moves words, starts another one.
    pub(super) fn hear(&mut self) -> Result<Option<Answer>, PredictorGone> {
        let Some(thread) = &self.thread else { return Ok(None) };
        match thread.try_answer() {
            Ok(Some(answer)) => {
                self.under_way = self.under_way.saturating_sub(1);
                Ok(Some(answer))
            }
            Ok(None) => Ok(None),
            Err(gone) => {
                (self.thread, self.under_way) = (None, 0);
                Err(gone)
            }
        }
    }

    /// Ends the thread soon.
    pub(super) fn stop(&mut self) {
        self.thread = None;
    }

    #[cfg(test)]
    pub(super) fn use_thread(&mut self, thread: PredictorThread) {
        self.thread = Some(thread);
    }

    #[cfg(test)]
    pub(super) fn has_thread(&self) -> bool {
        self.thread.is_some()
    }

    #[cfg(test)]
    pub(super) fn take(&mut self, count: usize) -> Vec<SentenceId> {
        self.queue.take(count)
    }
}
