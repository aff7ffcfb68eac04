//! Which sentences models have learned from, as far as is known.

use crate::annotation::{SentenceId, SentenceSet};

/// Complete sentences more than at the last training that start a quick one.
const REFRESH_AFTER: usize = 10;

/// What the learner remembers of what it has learned from.
#[derive(Default)]
pub(super) struct Learned {
    /// The sentences that were complete when the last training began, or when the project was opened.
    begun_with: SentenceSet,
    /// How many these are, without those of documents that were set aside since.
    begun_count: usize,
    /// The sentences that the model in use has learned from: at opening all that are complete.
    known: SentenceSet,
    /// The sentences that any model may have learned from: they are no test of one.
    ever_known: SentenceSet,
}

impl Learned {
    /// The model in use is taken to know all that is complete.
    pub(super) fn open(&mut self, complete: SentenceSet) {
        self.known = complete.clone();
        self.begin_with(complete);
    }

    /// A training begins while these are complete.
    pub(super) fn begin(&mut self, complete: SentenceSet) {
        self.begin_with(complete);
    }

    /// The model of the training that began last is in use now.
    pub(super) fn take_over(&mut self) {
        self.known.clone_from(&self.begun_with);
    }

    /// Nobody knows any more what the model in use has learned from: to a quick training all is new.
    pub(super) fn forget(&mut self) {
        self.known = SentenceSet::default();
    }

    /// What the model in use has learned from.
    pub(super) fn known(&self) -> SentenceSet {
        self.known.clone()
    }

    /// A model may learn from these, or may have done so.
    pub(super) fn note(&mut self, sentences: &SentenceSet) {
        self.ever_known.join(sentences);
    }

    /// Whether a model may have learned from a sentence, so that it can't be one to test it on.
    pub(super) fn may_know(&self, sentence: SentenceId) -> bool {
        self.ever_known.contains(sentence)
    }

    /// Whether so many complete sentences are enough more than at the last training for a quick one.
    pub(super) fn is_outgrown(&self, complete: usize) -> bool {
        complete >= self.begun_count + REFRESH_AFTER
    }

    /// After documents were set aside or taken back: trainings wait for as many more sentences as before.
    pub(super) fn recount(&mut self, moved: impl Fn(usize) -> usize) {
        self.begun_count = moved(self.begun_count);
    }

    fn begin_with(&mut self, complete: SentenceSet) {
        self.begun_count = complete.len();
        self.begun_with = complete;
    }
}
