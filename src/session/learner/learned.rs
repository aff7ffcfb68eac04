//! Which sentences models have learned from, as far as is known.

use crate::annotation::SentenceId;
use std::collections::HashSet;
use std::sync::Arc;

/// Complete sentences more than at the last training that start a quick one.
const REFRESH_AFTER: usize = 10;

/// What the learner remembers of what it has learned from.
#[derive(Default)]
pub(super) struct Learned {
    /// The sentences that were complete when the last training began, or when the project was opened.
    begun_with: Arc<HashSet<SentenceId>>,
    /// How many these are, without those of documents that were set aside since.
    begun_count: usize,
    /// The sentences that the model in use has learned from: at opening all that are complete.
    known: Arc<HashSet<SentenceId>>,
    /// The sentences that any model may have learned from: they are no test of one.
    ever_known: HashSet<SentenceId>,
}

impl Learned {
    /// The model in use is taken to know all that is complete.
    pub(super) fn open(&mut self, complete: HashSet<SentenceId>) {
        self.known = Arc::new(complete);
        self.begin_with(Arc::clone(&self.known));
    }

    /// A training begins while these are complete.
    pub(super) fn begin(&mut self, complete: HashSet<SentenceId>) {
        self.begin_with(Arc::new(complete));
    }

    /// The model of the training that began last is in use now.
    pub(super) fn take_over(&mut self) {
        self.known = Arc::clone(&self.begun_with);
    }

    /// Nobody knows any more what the model in use has learned from: to a quick training all is new.
    pub(super) fn forget(&mut self) {
        self.known = Arc::default();
    }

    /// What the model in use has learned from.
    pub(super) fn known(&self) -> Arc<HashSet<SentenceId>> {
        Arc::clone(&self.known)
    }

    /// A model may learn from these, or may have done so.
    pub(super) fn note(&mut self, sentences: impl Iterator<Item = SentenceId>) {
        self.ever_known.extend(sentences);
    }

    /// Whether a model may have learned from a sentence, so that it can't be one to test it on.
    pub(super) fn may_know(&self, sentence: SentenceId) -> bool {
        self.ever_known.contains(&sentence)
    }

    /// Whether so many complete sentences are enough more than at the last training for a quick one.
    pub(super) fn is_outgrown(&self, complete: usize) -> bool {
        complete >= self.begun_count + REFRESH_AFTER
    }

    /// After documents were set aside or taken back: trainings wait for as many more sentences as before.
    pub(super) fn recount(&mut self, moved: impl Fn(usize) -> usize) {
        self.begun_count = moved(self.begun_count);
    }

    fn begin_with(&mut self, complete: Arc<HashSet<SentenceId>>) {
        self.begun_count = complete.len();
        self.begun_with = complete;
    }
}
