//! Which sentences the list shows: all, or those that hold some words or have a status.
//!
//! # Invariants
//! - A search never holds up a frame: it goes on for a few milliseconds each frame until it has seen all sentences.
//! - The rows of a search stay as they are while the person works on them; a sentence that was found does not vanish
//!   because it was completed. Choosing again searches again.

use crate::annotation::{Corpus, Sentence, SentenceId, Status};
use std::time::{Duration, Instant};

const BUDGET: Duration = Duration::from_millis(4);
/// Sentences between two looks at the clock.
const BATCH: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    #[default]
    All,
    ToDo,
    Complete,
    Flagged,
    Skipped,
}

impl Wanted {
    pub const ALL: [Wanted; 5] = [Wanted::All, Wanted::ToDo, Wanted::Complete, Wanted::Flagged, Wanted::Skipped];

    pub fn title(self) -> &'static str {
        match self {
            Wanted::All => "All sentences",
            Wanted::ToDo => "To do",
            Wanted::Complete => "Complete",
            Wanted::Flagged => "Flagged",
            Wanted::Skipped => "Skipped",
        }
    }

    fn takes(self, status: Status) -> bool {
        match self {
            Wanted::All => true,
            Wanted::ToDo => matches!(status, Status::Untouched | Status::InProgress),
            Wanted::Complete => status == Status::Complete,
            Wanted::Flagged => status == Status::Flagged,
            Wanted::Skipped => status == Status::Skipped,
        }
    }
}

#[derive(Default)]
pub struct Finder {
    /// As typed.
    pub query: String,
    pub wanted: Wanted,
    /// What the hits answer: the query in lower case, and the status.
    asked: (String, Wanted),
    /// In text order.
    hits: Vec<SentenceId>,
    scanned: usize,
}

impl Finder {
    pub fn is_on(&self) -> bool {
        !self.asked.0.is_empty() || self.asked.1 != Wanted::All
    }

    pub fn is_done(&self, corpus: &Corpus) -> bool {
        !self.is_on() || self.scanned >= corpus.sentence_count()
    }

    /// Searches on; true while there is more to do. Call each frame.
    pub fn step(&mut self, corpus: &Corpus) -> bool {
        let asks = (self.query.trim().to_lowercase(), self.wanted);
        if asks != self.asked {
            self.asked = asks;
            self.again();
        }
        if self.is_done(corpus) {
            return false;
        }
        let start = Instant::now();
        while start.elapsed() < BUDGET {
            let batch = (self.scanned..self.scanned + BATCH).map_while(|place| corpus.sentence_at(place));
            let hits: Vec<SentenceId> = batch.filter(|s| self.matches(corpus, s)).map(Sentence::id).collect();
            self.hits.extend(hits);
            self.scanned += BATCH;
            if self.is_done(corpus) {
                return false;
            }
        }
        true
    }

    /// Searches anew.
    pub fn again(&mut self) {
        self.hits.clear();
        self.scanned = 0;
    }

    pub fn rows(&self, corpus: &Corpus) -> usize {
        if self.is_on() { self.hits.len() } else { corpus.sentence_count() }
    }

    pub fn row(&self, corpus: &Corpus, row: usize) -> Option<SentenceId> {
        if self.is_on() { self.hits.get(row).copied() } else { corpus.sentence_at(row).map(Sentence::id) }
    }

    /// The row of a sentence, if the list has it.
    pub fn row_of(&self, corpus: &Corpus, id: SentenceId) -> Option<usize> {
        if self.is_on() { self.hits.iter().position(|hit| *hit == id) } else { corpus.place(id) }
    }

    /// The sentence `by` rows from one in the list; from outside the list its first one.
    pub fn step_from(&self, corpus: &Corpus, id: SentenceId, by: isize) -> Option<SentenceId> {
        match self.row_of(corpus, id) {
            Some(row) => self.row(corpus, row.checked_add_signed(by)?),
            None => self.row(corpus, 0),
        }
    }

    fn matches(&self, corpus: &Corpus, sentence: &Sentence) -> bool {
        let (words, wanted) = &self.asked;
        wanted.takes(sentence.status())
            && (words.is_empty() || corpus.sentence_text(sentence).to_lowercase().contains(words))
    }
}
