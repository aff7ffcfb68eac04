//! What is doubtful in gold, in a row: what was looked at, what waits, what no longer holds.
//!
//! # Invariants
//! - A finding is shown only while it is about what is there: its words are the same, its mention has its label, or its
//!   words are still unmarked. What a person has mended in passing is passed over.
//! - What was settled is not shown again; what was passed by comes again after the others.

use crate::annotation::{Corpus, Mention, Sentence};
use crate::session::{Finding, Proposal};

/// Findings with a place among them.
pub struct ReviewQueue {
    items: Vec<ReviewItem>,
    at: usize,
    is_begun: bool,
}

struct ReviewItem {
    finding: Finding,
    /// Its words, as they were when it was found.
    words: String,
    settled: bool,
}

impl ReviewQueue {
    /// At the first finding; `None` where there is nothing to look at.
    pub fn new(corpus: &Corpus, findings: Vec<Finding>) -> Option<Self> {
        let item = |finding: Finding| {
            let words = corpus.sentence(finding.sentence).map(|s| corpus.span_text(s, finding.span).to_owned())?;
            Some(ReviewItem { finding, words, settled: false })
        };
        let mut review = Self { items: findings.into_iter().filter_map(item).collect(), at: 0, is_begun: false };
        let at = review.next_open(corpus, 0)?;
        review.at = at;
        Some(review)
    }

    pub fn finding(&self) -> Option<&Finding> {
        self.items.get(self.at).map(|item| &item.finding)
    }

    /// The person looks at it from now on.
    pub fn begin(&mut self) {
        self.is_begun = true;
    }

    /// False while it waits for the person to begin.
    pub fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// The words that it is about.
    pub fn words(&self) -> &str {
        self.items.get(self.at).map_or("", |item| &item.words)
    }

    /// Counted from 1, of how many.
    pub fn place(&self) -> (usize, usize) {
        (self.at + 1, self.items.len())
    }

    /// How many wait to be looked at.
    pub fn open(&self, corpus: &Corpus) -> usize {
        self.items.iter().filter(|item| item.is_open(corpus)).count()
    }

    /// The finding is dealt with.
    pub fn settle(&mut self) {
        if let Some(item) = self.items.get_mut(self.at) {
            item.settled = true;
        }
    }

    /// Goes to the next finding that waits, from the end to the first; false where none does.
    pub fn advance(&mut self, corpus: &Corpus) -> bool {
        let next = self.next_open(corpus, self.at + 1);
        self.at = next.unwrap_or(self.at);
        next.is_some()
    }

    /// The finding is about what is there.
    pub fn holds(&self, corpus: &Corpus) -> bool {
        self.items.get(self.at).is_some_and(|item| item.holds(corpus))
    }

    fn next_open(&self, corpus: &Corpus, from: usize) -> Option<usize> {
        let count = self.items.len();
        let is_open = |at: &usize| self.items.get(*at).is_some_and(|item| item.is_open(corpus));
        (from..count).chain(0..from.min(count)).find(is_open)
    }
}

impl ReviewItem {
    fn is_open(&self, corpus: &Corpus) -> bool {
        !self.settled && self.holds(corpus)
    }

    fn holds(&self, corpus: &Corpus) -> bool {
        let Finding { sentence, span, .. } = self.finding;
        let Some(sentence) = corpus.sentence(sentence) else { return false };
        if span.end().get() > sentence.tokens().len() || corpus.span_text(sentence, span) != self.words {
            return false;
        }
        match self.finding.proposal() {
            Some(Proposal::Mark(_)) => !sentence.mentions().iter().any(|m| m.fragments.contiguous() == Some(span)),
            Some(Proposal::Relabel(_) | Proposal::Remove) | None => mention_of(sentence, &self.finding).is_some(),
        }
    }
}

/// The mention that a finding is about; `None` where it is about unmarked words.
pub(super) fn mention_of<'s>(sentence: &'s Sentence, finding: &Finding) -> Option<&'s Mention> {
    let is_it = |m: &&Mention| m.fragments.contiguous() == Some(finding.span) && m.label == finding.label;
    sentence.mentions().iter().find(is_it)
}
