//! What was chosen for the person who annotates, and by what it is chosen.

use crate::active::{Besides, Choice, ChoiceRequest, Measure, Open, Strategy, choose};
use crate::annotation::{Acquisition, Corpus, ModelId, Sentence, SentenceId, SentenceSuggestions, SuggestionsById};
use crate::session::learner::dataset::may_be_offered;
use crate::session::learner::predictor::DROPOUT_PASSES;
use crate::session::{Task, Waker};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Sentences that are chosen together: few, so that the choice is of what the model says now.
pub(crate) const AHEAD: usize = 10;
/// Sentences from which on a choice may take longer than a frame.
const LARGE: usize = 10_000;
/// Of what is drawn at random in an open project.
const SEED: u64 = 0;

/// What to rank, and how.
#[derive(Clone, Copy, Debug)]
pub struct RankRequest {
    pub strategy: Strategy,
    /// Sentences, at most.
    pub count: usize,
    /// Of what is drawn at random.
    pub seed: u64,
    /// For tensor work; all cores by default.
    pub threads: Option<usize>,
}

impl RankRequest {
    fn in_open_project(strategy: Strategy, count: usize) -> Self {
        Self { strategy, count, seed: SEED, threads: None }
    }
}

/// What was chosen for the person who annotates, and not shown yet.
#[derive(Default)]
pub(in crate::session) struct Agenda {
    next: VecDeque<Choice>,
    /// Not to be shown again before the others.
    passed: HashSet<SentenceId>,
    /// How many of its choices were shown since the project was opened.
    count: usize,
    /// Why the one that was shown last was chosen.
    shown: Option<Choice>,
    /// Whose scores.
    model: Option<ModelId>,
    /// More of them, on a thread of its own: of a large project it takes longer than a frame. And where the person is who
    /// waits for them, if somebody does.
    choosing: Option<(Option<SentenceId>, Task<Chosen>)>,
    /// Somebody waited, and nothing came.
    found_none: bool,
    /// `count` when that was begun last.
    asked_at: Option<usize>,
}

impl Agenda {
    /// What was chosen is chosen anew: there are fresher scores, or other sentences.
    pub(in crate::session) fn renew(&mut self) {
        self.next.clear();
        (self.choosing, self.asked_at, self.found_none) = (None, None, false);
    }

    /// More is being chosen.
    pub(in crate::session) fn is_choosing(&self) -> bool {
        self.choosing.is_some()
    }

    /// What was chosen by another model's scores is chosen anew.
    pub(super) fn follow(&mut self, model: Option<ModelId>) {
        if self.model != model {
            self.model = model;
            self.renew();
        }
    }

    /// Why a sentence was chosen; `None` for another one than that which was shown last.
    pub(super) fn shown(&self, id: SentenceId) -> Option<Choice> {
        self.shown.filter(|choice| choice.id == id)
    }

    /// The next of the agenda, filled up from the pool, but not the one that the person is at. Once all were shown it
    /// begins anew. `None` where nothing is open, or as long as the agenda [is filled](Agenda::is_choosing) on another
    /// thread.
    pub(super) fn next(&mut self, after: SentenceId, pool: &Pool, waker: Waker) -> Option<SentenceId> {
        self.passed.insert(after);
        self.take_chosen();
        for _ in 0..2 {
            while let Some(choice) = self.next.pop_front() {
                if choice.id != after && pool.corpus.sentence(choice.id).is_some_and(may_be_offered) {
                    self.passed.insert(choice.id);
                    self.count += 1;
                    self.shown = Some(choice);
                    return Some(choice.id);
                }
            }
            if pool.is_large() {
                if !std::mem::take(&mut self.found_none) && !self.is_choosing() {
                    self.begin_choosing(pool.clone(), Some(after), waker);
                }
                return None;
            }
            let Chosen { choices, is_anew } = pool.choose_next(self.count, &self.passed, Some(after));
            self.take(choices, is_anew.then_some(after));
        }
        None
    }

    /// How many of its choices were shown, and what is not to be shown before the others.
    pub(super) fn shown_so_far(&self) -> (usize, HashSet<SentenceId>) {
        (self.count, self.passed.clone())
    }

    /// Takes what was chosen on another thread, once it is there.
    pub(super) fn take_chosen(&mut self) {
        let Some(came) = self.choosing.as_ref().and_then(|(after, task)| Some((*after, task.poll()?))) else { return };
        self.choosing = None;
        let (after, Ok(Chosen { choices, is_anew })) = came else { return };
        self.found_none = choices.is_empty() && after.is_some();
        self.take(choices, after.filter(|_| is_anew));
    }

    /// After all were shown, `anew` is the one where it begins once more.
    fn take(&mut self, choices: Vec<Choice>, anew: Option<SentenceId>) {
        if let Some(after) = anew {
            self.passed = HashSet::from([after]);
        }
        self.next.extend(choices);
    }

    /// Of a large project, chooses more on another thread before all that was chosen is shown.
    pub(super) fn choose_ahead(&mut self, pool: Pool, waker: Waker) {
        // Of fewer sentences it is done when it is wanted, by what is known then.
        let has_enough = self.next.len() >= AHEAD / 2 || self.asked_at == Some(self.count);
        if !pool.is_large() || has_enough || self.is_choosing() {
            return;
        }
        self.asked_at = Some(self.count);
        self.begin_choosing(pool, None, waker);
    }

    /// `after` is where the person is who waits for it.
    fn begin_choosing(&mut self, pool: Pool, after: Option<SentenceId>, waker: Waker) {
        let shown = self.count + self.next.len();
        let mut passed = self.passed.clone();
        passed.extend(self.next.iter().map(|choice| choice.id));
        let work = move || pool.choose_next(shown, &passed, after);
        self.choosing = Some((after, Task::spawn("nestling-choice", waker, work)));
    }
}

/// What was chosen, and whether all had been shown before, so that it begins anew.
struct Chosen {
    choices: Vec<Choice>,
    is_anew: bool,
}

/// What the agenda of an open project is chosen from, and how.
#[derive(Clone)]
pub(in crate::session) struct Pool {
    pub corpus: Arc<Corpus>,
    pub suggestions: Arc<SuggestionsById>,
    pub strategy: Strategy,
}

impl Pool {
    /// To go through all of it takes longer than a frame.
    pub(in crate::session) fn is_large(&self) -> bool {
        self.corpus.sentence_count() >= LARGE
    }

    /// Those that the next choice is likely to be of, when so many were shown. With diversity it is of the best of three
    /// times as many, whatever their groups.
    pub(in crate::session) fn likely_next(
        &self,
        count: usize,
        shown: usize,
        passed: &HashSet<SentenceId>,
    ) -> Vec<Choice> {
        let Strategy { measure, besides } = self.strategy;
        let besides = if besides == Besides::Diverse { Besides::Nothing } else { besides };
        self.choose(Strategy { measure, besides }, count, shown, passed)
    }

    /// The next few that were not passed. For who waits at `after` all over again, where all were.
    fn choose_next(&self, shown: usize, passed: &HashSet<SentenceId>, after: Option<SentenceId>) -> Chosen {
        let choices = self.choose(self.strategy, AHEAD, shown, passed);
        match after.filter(|_| choices.is_empty()) {
            None => Chosen { choices, is_anew: false },
            Some(after) => {
                let choices = self.choose(self.strategy, AHEAD, shown, &HashSet::from([after]));
                Chosen { choices, is_anew: true }
            }
        }
    }

    /// By the scores that are there, however old; linear in the sentences.
    fn choose(&self, strategy: Strategy, count: usize, shown: usize, passed: &HashSet<SentenceId>) -> Vec<Choice> {
        let request = RankRequest::in_open_project(strategy, count);
        let not_passed = |s: &Sentence| !passed.contains(&s.id());
        choose_from(&self.corpus, &self.suggestions, request, shown, &HashMap::new(), not_passed)
    }
}

/// Models that differ by dropout, that a prediction asks where sentences are chosen so.
pub(crate) fn dropout_passes(strategy: Strategy) -> usize {
    if strategy.measure == Measure::Bald { DROPOUT_PASSES } else { 0 }
}

/// Whether a prediction holds what sentences are chosen by: one of an older program, or whose words were moved, has no
/// acquisition scores, and one of another strategy no disagreement.
pub(in crate::session) fn says_enough(said: &SentenceSuggestions, strategy: Strategy) -> bool {
    let acquisition = said.acquisition.as_ref();
    acquisition.is_some_and(|a| strategy.measure != Measure::Bald || a.disagreement.is_some())
}

/// `fresh` scores go before stored ones.
pub(super) fn choose_from(
    corpus: &Corpus,
    suggestions: &SuggestionsById,
    RankRequest { strategy, count, seed, .. }: RankRequest,
    shown: usize,
    fresh: &HashMap<SentenceId, Acquisition>,
    wanted: impl Fn(&Sentence) -> bool,
) -> Vec<Choice> {
    let said = |id| fresh.get(&id).or_else(|| suggestions.get(id)?.acquisition.as_ref());
    let open = corpus.sentences().filter(|s| may_be_offered(s) && wanted(s));
    let open: Vec<Open<'_>> = open.map(|s| Open { id: s.id(), said: said(s.id()) }).collect();
    let done = || corpus.sentences().filter(|s| s.trains()).map(Sentence::id).collect();
    let words = |id| corpus.sentence(id).map(|s| corpus.words(s).collect()).unwrap_or_default();
    choose(&ChoiceRequest { strategy, count, shown, seed, open: &open, done: &done, words: &words })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::{NewDocument, NewSentence, Status};
    use crossbeam_channel::bounded;
    use std::time::Duration;

    fn large(status: Status) -> Pool {
        let text = "word ".repeat(LARGE);
        let tokens = crate::text::tokenize(&text).into_iter();
        let sentences = tokens.map(|token| NewSentence { tokens: vec![token], status, ..NewSentence::default() });
        let mut corpus = Corpus::default();
        let (name, sentences) = ("d".to_owned(), sentences.collect());
        corpus.add_document(NewDocument { name, text: text.into(), kept: Default::default(), sentences }).unwrap();
        Pool { corpus: Arc::new(corpus), suggestions: Arc::default(), strategy: Strategy::DEFAULT }
    }

    #[test]
    fn nobody_waits_for_the_next_sentence_of_a_large_project() {
        let (woken, wakes) = bounded(8);
        let waker: Waker = Arc::new(move || woken.try_send(()).unwrap());
        let at = SentenceId(0);
        for (status, is_there) in [(Status::Untouched, true), (Status::Complete, false)] {
            let (pool, mut agenda) = (large(status), Agenda::default());
            // Once to begin, and again where nothing is there, which may have changed since.
            for _ in 0..2 {
                assert_eq!((agenda.next(at, &pool, waker.clone()), agenda.is_choosing()), (None, true));
                wakes.recv_timeout(Duration::from_secs(60)).unwrap();
                agenda.take_chosen();
                assert!(!agenda.is_choosing());
                let next = agenda.next(at, &pool, waker.clone());
                assert_eq!((next.is_some_and(|next| next != at), agenda.is_choosing()), (is_there, false));
                if let Some(next) = next {
                    assert!(agenda.shown(next).is_some());
                    agenda.renew();
                }
            }
        }
    }
}
