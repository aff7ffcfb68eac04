//! Which sentences come next, and why.

use super::agenda::{Pool, RankRequest, choose_from, dropout_passes, says_enough};
use crate::active::Choice;
use crate::annotation::{Sentence, SentenceId, Split};
use crate::session::SessionError;
use crate::session::error::stopped;
use crate::session::learner::dataset::{may_be_offered, words};
use crate::session::project::Project;
use crate::session::project::driver::Driver;
use crate::session::project::settings::Order;
use crate::train::PredictOptions;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

/// Sentences that are predicted at a time.
const CHUNK: usize = 64;

impl Project {
    /// The next sentence to work on after this one; `None` when all are complete or skipped, or as long as the project
    /// [is choosing](Project::is_choosing). The order of the text goes round, also among those of the blind set.
    pub fn next_sentence(&mut self, after: SentenceId, order: Order) -> Option<SentenceId> {
        match order {
            Order::Text => self.next_in_text(after, |_| true),
            Order::Teaching => self.next_that_teaches(after),
            Order::Blind => self.next_in_text(after, |s| s.split() == Split::Blind),
        }
    }

    /// Why a sentence was chosen; `None` for one that the person went to.
    pub fn chosen(&self, id: SentenceId) -> Option<Choice> {
        self.agenda.shown(id)
    }

    fn next_in_text(&self, after: SentenceId, wanted: impl Fn(&Sentence) -> bool) -> Option<SentenceId> {
        let place = self.corpus().place(after).unwrap_or_default();
        let (before, rest) = (self.corpus().sentences().take(place), self.corpus().sentences().skip(place));
        rest.chain(before).find(|s| s.status().waits() && s.id() != after && wanted(s)).map(Sentence::id)
    }

    fn next_that_teaches(&mut self, after: SentenceId) -> Option<SentenceId> {
        self.agenda.follow(self.current_model());
        let (pool, waker) = (self.pool(), self.waker());
        self.agenda.next(after, &pool, waker)
    }

    /// Whether [`Project::next_sentence`] is to be asked again soon: what comes next in a large project is being chosen.
    pub fn is_choosing(&self) -> bool {
        self.agenda.is_choosing()
    }

    /// In a large project, chooses more before all that was chosen is shown. Call it each frame: it never waits.
    pub(in crate::session) fn choose_in_background(&mut self) {
        self.agenda.follow(self.current_model());
        self.agenda.take_chosen();
        if self.settings().order == Order::Teaching && self.learner.is_on() {
            let (pool, waker) = (self.pool(), self.waker());
            self.agenda.choose_ahead(pool, waker);
        }
    }

    /// How many choices were shown, and which sentences are not to be shown before the others.
    pub(in crate::session) fn shown_so_far(&self) -> (usize, HashSet<SentenceId>) {
        self.agenda.shown_so_far()
    }

    pub(in crate::session) fn pool(&self) -> Pool {
        let (corpus, suggestions) = (self.snapshot_of_corpus(), self.snapshot_of_suggestions());
        Pool { corpus, suggestions, strategy: self.settings().strategy }
    }
}

impl Driver {
    /// The sentences to annotate next, with their acquisition scores. What the model in use has not scored yet is scored
    /// now, and not stored.
    ///
    /// # Errors
    /// A damaged model, a stop.
    pub fn rank_now(
        &self,
        request: RankRequest,
        cancel: &AtomicBool,
        on_progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Choice>, SessionError> {
        let RankRequest { strategy, threads, .. } = request;
        let mut fresh = HashMap::new();
        if strategy.measure.asks_a_model() && self.current_model().is_some() {
            let is_stale = |s: &&Sentence| {
                let said =
                    self.stored_suggestions().get(s.id()).filter(|said| Some(said.model) == self.current_model());
                may_be_offered(s) && said.is_none_or(|said| !says_enough(said, strategy))
            };
            let stale: Vec<SentenceId> = self.corpus().sentences().filter(is_stale).map(Sentence::id).collect();
            if !stale.is_empty() {
                let (_, predictor) = self.load_model(None, threads)?;
                let options = PredictOptions { dropout_passes: dropout_passes(strategy), ..PredictOptions::default() };
                for chunk in stale.chunks(CHUNK) {
                    let of = |id: &SentenceId| Some((*id, words(self.corpus(), self.corpus().sentence(*id)?)));
                    let (ids, texts): (Vec<SentenceId>, Vec<Vec<String>>) = chunk.iter().filter_map(of).unzip();
                    let said = predictor.predict(&texts, options, cancel).map_err(stopped)?;
                    fresh.extend(ids.into_iter().zip(said.into_iter().map(|said| said.acquisition)));
                    on_progress(fresh.len(), stale.len());
                }
            }
        }
        Ok(choose_from(self.corpus(), self.stored_suggestions(), request, 0, &fresh, |_| true))
    }
}
