//! Which sentences the list shows: all, or those that hold some words or have a status.
//!
//! # Invariants
//! - A search never holds up a frame: the project searches on a thread. Until it has answered the old rows stay, and an
//!   answer to what is no longer asked is dropped.
//! - The rows stay as they are while the person works on them; a sentence that was found does not vanish because it was
//!   completed. Choosing again searches again. Only what is no longer there goes at once: sentences that were joined or
//!   taken back.

use super::highlighter::Highlighter;
use crate::annotation::{Corpus, Sentence, SentenceId, Status};
use crate::session::{Project, SaveState, SessionError, Task};
use std::collections::HashSet;
use std::ops::Range;

/// How long somebody who types is waited for.
const PAUSE_SECS: f64 = 0.12;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StatusFilter {
    #[default]
    All,
    ToDo,
    Complete,
    Flagged,
    Skipped,
}

impl StatusFilter {
    fn takes(self, status: Status) -> bool {
        match self {
            StatusFilter::All => true,
            StatusFilter::ToDo => matches!(status, Status::Untouched | Status::InProgress),
            StatusFilter::Complete => status == Status::Complete,
            StatusFilter::Flagged => status == Status::Flagged,
            StatusFilter::Skipped => status == Status::Skipped,
        }
    }
}

#[derive(Default)]
pub struct Finder {
    /// As typed.
    pub query: String,
    pub status_filter: StatusFilter,
    /// The words of the query, and since when they are these, in egui's time.
    words: String,
    since: f64,
    search: Option<RunningSearch>,
    /// The last answer; of other words than those wanted while a search goes on.
    answer: Option<SearchResult>,
    /// What the rows were made of.
    made: Option<RowsKey>,
    /// The rows, in text order.
    hits: Vec<SentenceId>,
    marker: Highlighter,
    /// The first row of these words is to be gone to when it is known.
    goes_to_first: Option<String>,
}

struct RunningSearch {
    words: String,
    state: Option<CorpusExtent>,
    task: Task<Result<Vec<SentenceId>, SessionError>>,
}

struct SearchResult {
    words: String,
    /// Of the corpus when it was searched; `None` while edits were on their way to the disk, which is what is searched.
    state: Option<CorpusExtent>,
    found: Result<Vec<SentenceId>, String>,
}

#[derive(Clone, PartialEq, Eq)]
struct RowsKey {
    words: String,
    status_filter: StatusFilter,
    state: CorpusExtent,
    /// Of the corpus that was searched.
    searched: Option<CorpusExtent>,
}

/// Changes when sentences come or go.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CorpusExtent {
    count: usize,
    next: SentenceId,
}

impl CorpusExtent {
    fn of(corpus: &Corpus) -> Self {
        Self { count: corpus.sentence_count(), next: corpus.next_sentence_id() }
    }
}

impl Finder {
    /// The list shows some sentences only.
    pub fn is_on(&self) -> bool {
        self.made.as_ref().is_some_and(|made| !made.words.is_empty() || made.status_filter != StatusFilter::All)
    }

    /// The rows are not yet those of the words that were typed.
    pub fn is_searching(&self) -> bool {
        self.query.trim() != self.answer.as_ref().map_or("", |answer| &answer.words)
    }

    /// Why there is no answer.
    pub fn failure(&self) -> Option<&str> {
        self.answer.as_ref()?.found.as_ref().err().map(String::as_str)
    }

    pub fn show_all(&mut self) {
        self.query.clear();
        self.status_filter = StatusFilter::All;
    }

    /// The first row is wanted, now or when the search has answered.
    pub fn go_to_first(&mut self) {
        self.goes_to_first = Some(self.query.trim().to_owned());
    }

    /// Where somebody is to be taken, once.
    pub fn take_first(&mut self, corpus: &Corpus) -> Option<SentenceId> {
        if self.is_searching() {
            return None;
        }
        self.goes_to_first.take()?;
        self.row(corpus, 0)
    }

    /// Asks and takes answers; when it wants to be called again, in seconds. Call each frame.
    pub fn step(&mut self, project: &Project, now: f64) -> Option<f64> {
        if self.query.trim() != self.words {
            (self.words, self.since) = (self.query.trim().to_owned(), now);
            self.search = None;
            // Enter may have come with the last character.
            self.goes_to_first.take_if(|wanted| *wanted != self.words);
        }
        if let Some(search) = &self.search
            && let Some(result) = search.task.poll()
        {
            let found = result.map_err(SessionError::from).flatten().map_err(|error| error.to_string());
            self.marker = Highlighter::new(&search.words);
            self.answer = Some(SearchResult { words: search.words.clone(), state: search.state, found });
            self.search = None;
        }
        if self.words.is_empty() {
            self.answer = None;
            self.marker = Highlighter::default();
        }
        let wait = self.ask(project, now);
        self.make_rows(project);
        wait
    }

    /// Starts a search where one is due.
    fn ask(&mut self, project: &Project, now: f64) -> Option<f64> {
        if self.words.is_empty() || self.search.is_some() {
            return None;
        }
        let is_saved = matches!(project.save_state(), SaveState::AllSaved);
        let state = Some(CorpusExtent::of(project.corpus())).filter(|_| is_saved);
        match &self.answer {
            Some(answer) if answer.words == self.words => {
                // Sentences have come or gone since. Where the disk does not take them, the answer stays.
                if !is_saved || answer.state == state || answer.found.is_err() {
                    return None;
                }
            }
            _ => {
                let wait = self.since + PAUSE_SECS - now;
                if wait > 0.0 && self.goes_to_first.is_none() {
                    return Some(wait);
                }
            }
        }
        self.search = Some(RunningSearch { words: self.words.clone(), state, task: project.search(&self.words) });
        None
    }

    fn make_rows(&mut self, project: &Project) {
        let corpus = project.corpus();
        let words = self.answer.as_ref().map_or_else(String::new, |answer| answer.words.clone());
        let searched = self.answer.as_ref().and_then(|answer| answer.state);
        let make = RowsKey { words, status_filter: self.status_filter, state: CorpusExtent::of(corpus), searched };
        if self.made.as_ref() == Some(&make) {
            return;
        }
        let same_question = |made: &RowsKey| made.words == make.words && made.status_filter == make.status_filter;
        let stays: HashSet<SentenceId> = match &self.made {
            Some(made) if same_question(made) => self.hits.drain(..).collect(),
            _ => HashSet::new(),
        };
        let wanted = |s: &Sentence| self.status_filter.takes(s.status()) || stays.contains(&s.id());
        self.hits = match self.answer.as_ref().map(|answer| &answer.found) {
            Some(Ok(found)) => {
                let there = project.found(found.clone());
                there.into_iter().filter(|id| corpus.sentence(*id).is_some_and(wanted)).collect()
            }
            Some(Err(_)) => Vec::new(),
            None if self.status_filter == StatusFilter::All => Vec::new(),
            None => corpus.sentences().filter(|s| wanted(s)).map(Sentence::id).collect(),
        };
        self.made = Some(make);
    }

    /// The words of a sentence that were searched for, as tokens.
    pub fn found_in(&self, corpus: &Corpus, sentence: &Sentence) -> Vec<Range<usize>> {
        let start = sentence.tokens().first().map_or(0, |token| token.start().get());
        let places = self.marker.find(corpus.sentence_text(sentence)).into_iter();
        let tokens = places.map(|place| {
            let first = sentence.tokens().partition_point(|token| token.end().get() <= start + place.start);
            let end = sentence.tokens().partition_point(|token| token.start().get() < start + place.end);
            first..end
        });
        tokens.collect()
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

    /// The next row that is neither complete nor skipped, going round.
    pub fn next_open(&self, corpus: &Corpus, after: SentenceId) -> Option<SentenceId> {
        let rows = self.rows(corpus);
        let first = self.row_of(corpus, after).map_or(0, |row| row + 1);
        let open = |id: &SentenceId| *id != after && corpus.sentence(*id).is_some_and(|s| s.status().waits());
        (first..rows).chain(0..first.min(rows)).filter_map(|row| self.row(corpus, row)).find(open)
    }

    /// The sentence `by` rows from one in the list; from outside the list its first one.
    pub fn step_from(&self, corpus: &Corpus, id: SentenceId, by: isize) -> Option<SentenceId> {
        match self.row_of(corpus, id) {
            Some(row) => self.row(corpus, row.checked_add_signed(by)?),
            None => self.row(corpus, 0),
        }
    }
}
