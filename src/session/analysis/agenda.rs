//! What was chosen for the person who annotates, and by what it is chosen.

use crate::active::{Choice, ChoiceRequest, Measure, Open, Strategy, choose};
use crate::annotation::{Acquisition, Corpus, ModelId, Sentence, SentenceId, SentenceSuggestions};
use crate::session::Task;
use crate::session::learner::dataset::may_be_offered;
use crate::session::learner::predictor::DROPOUT_PASSES;
use std::collections::{HashMap, HashSet, VecDeque};

/// Sentences that are chosen together: few, so that the choice is of what the model says now.
pub(crate) const AHEAD: usize = 10;
/// Sentences from which on a choice may take longer than a frame.
pub(super) const LARGE: usize = 10_000;
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
    pub(super) fn in_open_project(strategy: Strategy, count: usize) -> Self {
        Self { strategy, count, seed: SEED, threads: None }
    }
}

/// What was chosen for the person who annotates, and not shown yet.
#[derive(Default)]
pub(in crate::session) struct Agenda {
    pub(super) next: VecDeque<Choice>,
    /// Not to be shown again before the others.
    pub(super) passed: HashSet<SentenceId>,
    /// How many of its choices were shown since the project was opened.
    pub(super) count: usize,
    /// Why the one that was shown last was chosen.
    pub(super) shown: Option<Choice>,
    /// Whose scores.
    pub(super) model: Option<ModelId>,
    /// More of them, on a thread of its own: of a large project it takes longer than a frame.
    pub(super) choosing: Option<Task<Vec<Choice>>>,
    /// `count` when that was begun last.
    pub(super) asked_at: Option<usize>,
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
