//! What was chosen for the person who annotates, and by what it is chosen.

use crate::active::{Besides, Choice, ChoiceRequest, Measure, Open, Strategy, choose};
use crate::annotation::{Acquisition, Corpus, ModelId, Sentence, SentenceId, SentenceSuggestions};
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
    /// More of them, on a thread of its own: of a large project it takes longer than a frame.
    choosing: Option<Task<Vec<Choice>>>,
    /// `count` when that was begun last.
    asked_at: Option<usize>,
}

impl Agenda {
    /// What was chosen is chosen anew: there are fresher scores, or other sentences.
    pub(in crate::session) fn renew(&mut self) {
        self.next.clear();
        (self.choosing, self.asked_at) = (None, None);
    }

    /// More is being chosen: what that reads is not to be changed meanwhile, where it can wait.
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
    /// begins anew. `None` where nothing is open.
    pub(super) fn next(&mut self, after: SentenceId, pool: &Pool) -> Option<SentenceId> {
        self.passed.insert(after);
        if self.next.is_empty()
            && let Some(choosing) = self.choosing.take()
        {
            self.next.extend(choosing.wait().unwrap_or_default());
        }
        for _ in 0..2 {
            while let Some(choice) = self.next.pop_front() {
                if choice.id != after && pool.corpus.sentence(choice.id).is_some_and(may_be_offered) {
                    self.passed.insert(choice.id);
                    self.count += 1;
                    self.shown = Some(choice);
                    return Some(choice.id);
                }
            }
            self.next = pool.choose(pool.strategy, AHEAD, self.count, &self.passed).into();
            if self.next.is_empty() {
                // All were shown: once more from the beginning.
                self.passed = HashSet::from([after]);
                self.next = pool.choose(pool.strategy, AHEAD, self.count, &self.passed).into();
            }
        }
        None
    }

    /// Those that the next choice is likely to be of. With diversity it is of the best of three times as many, whatever
    /// their groups.
    pub(super) fn likely_next(&self, count: usize, pool: &Pool) -> Vec<Choice> {
        let Strategy { measure, besides } = pool.strategy;
        let besides = if besides == Besides::Diverse { Besides::Nothing } else { besides };
        pool.choose(Strategy { measure, besides }, count, self.count, &self.passed)
    }

    /// Takes what was chosen on another thread, once it is there.
    pub(super) fn take_chosen(&mut self) {
        // Taken whatever has changed since: while it is under way the predictor is not heard.
        if let Some(came) = self.choosing.as_ref().and_then(Task::poll) {
            self.choosing = None;
            self.next.extend(came.unwrap_or_default());
        }
    }

    /// Of a large project, chooses more on another thread before all that was chosen is shown.
    pub(super) fn choose_ahead(&mut self, pool: Pool, waker: Waker) {
        // Of fewer sentences it is done when it is wanted, by what is known then.
        let is_large = pool.corpus.sentence_count() >= LARGE;
        let has_enough = self.next.len() >= AHEAD / 2 || self.asked_at == Some(self.count);
        if !is_large || has_enough || self.is_choosing() {
            return;
        }
        self.asked_at = Some(self.count);
        let shown = self.count + self.next.len();
        let mut passed = self.passed.clone();
        passed.extend(self.next.iter().map(|choice| choice.id));
        self.choosing =
            Some(Task::spawn("nestling-choice", waker, move || pool.choose(pool.strategy, AHEAD, shown, &passed)));
    }
}

/// What the agenda of an open project is chosen from, and how.
pub(super) struct Pool {
    pub(super) corpus: Arc<Corpus>,
    pub(super) suggestions: Arc<HashMap<SentenceId, SentenceSuggestions>>,
    pub(super) strategy: Strategy,
}

impl Pool {
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
    suggestions: &HashMap<SentenceId, SentenceSuggestions>,
    RankRequest { strategy, count, seed, .. }: RankRequest,
    shown: usize,
    fresh: &HashMap<SentenceId, Acquisition>,
    wanted: impl Fn(&Sentence) -> bool,
) -> Vec<Choice> {
    let said = |id| fresh.get(&id).or_else(|| suggestions.get(&id)?.acquisition.as_ref());
    let open = corpus.sentences().filter(|s| may_be_offered(s) && wanted(s));
    let open: Vec<Open<'_>> = open.map(|s| Open { id: s.id(), said: said(s.id()) }).collect();
    let done = || corpus.sentences().filter(|s| s.trains()).map(Sentence::id).collect();
    let words = |id| corpus.sentence(id).map(|s| corpus.words(s).collect()).unwrap_or_default();
    choose(&ChoiceRequest { strategy, count, shown, seed, open: &open, done: &done, words: &words })
}
