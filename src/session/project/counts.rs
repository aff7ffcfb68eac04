//! Keeping the counts of a project up to date sentence by sentence.

use super::status::Counts;
use crate::annotation::{Corpus, Sentence, SentenceSet, Split, Status};
use crate::session::learner::dataset::{is_open, may_be_set_aside};

impl Counts {
    /// Counts everything. Linear in the number of sentences and mentions.
    pub(in crate::session) fn of(corpus: &Corpus) -> Self {
        let mut counts = Self { documents: corpus.document_count(), ..Self::default() };
        corpus.sentences().for_each(|s| counts.add(s));
        counts
    }

    pub(in crate::session) fn add(&mut self, sentence: &Sentence) {
        self.change(sentence, |count, by| *count += by);
        if let Some(ids) = self.ids_of(sentence) {
            ids.insert(sentence.id());
        }
    }

    pub(super) fn subtract(&mut self, sentence: &Sentence) {
        self.change(sentence, |count, by| *count = count.saturating_sub(by));
        if let Some(ids) = self.ids_of(sentence) {
            ids.remove(sentence.id());
        }
    }

    /// The complete sentences of its part, if that has some for models and it is one.
    fn ids_of(&mut self, sentence: &Sentence) -> Option<&mut SentenceSet> {
        match sentence.split() {
            Split::Rest if sentence.status() == Status::Complete => Some(&mut self.train_ids),
            Split::Dev if sentence.status() == Status::Complete => Some(&mut self.dev_ids),
            _ => None,
        }
    }

    fn change(&mut self, sentence: &Sentence, change: impl Fn(&mut usize, usize)) {
        change(&mut self.sentences, 1);
        change(&mut self.tokens, sentence.tokens().len());
        change(&mut self.mentions, sentence.mentions().len());
        for mention in sentence.mentions() {
            change(self.mentions_by_label.entry(mention.label).or_default(), 1);
        }
        let complete = sentence.status() == Status::Complete;
        change(
            match sentence.status() {
                Status::Untouched => &mut self.untouched,
                Status::InProgress => &mut self.in_progress,
                Status::Complete => &mut self.complete,
                Status::Skipped => &mut self.skipped,
                Status::Flagged => &mut self.flagged,
            },
            1,
        );
        let if_complete = usize::from(complete);
        match sentence.split() {
            Split::Rest if complete => change(&mut self.train, 1),
            Split::Rest => {
                change(&mut self.pool, 1);
                change(&mut self.open, usize::from(is_open(sentence)));
                change(&mut self.free, usize::from(may_be_set_aside(sentence)));
            }
            Split::Dev => {
                change(&mut self.dev_all, 1);
                change(&mut self.dev, if_complete);
            }
            Split::Test => {
                change(&mut self.test, 1);
                change(&mut self.test_complete, if_complete);
            }
            Split::Blind => {
                change(&mut self.blind, 1);
                change(&mut self.blind_complete, if_complete);
                change(&mut self.blind_open, usize::from(sentence.status().waits()));
            }
        }
    }
}
