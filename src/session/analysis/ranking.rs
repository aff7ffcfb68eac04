//! Which sentences come next, and why.

use super::agenda::{AHEAD, LARGE, RankRequest, choose_from, dropout_passes, says_enough};
use crate::active::{Besides, Choice, Strategy};
use crate::annotation::{Acquisition, Sentence, SentenceId, Split};
use crate::session::error::stopped;
use crate::session::learner::dataset::{may_be_offered, words};
use crate::session::project::Project;
use crate::session::project::settings::Order;
use crate::session::{SessionError, Task};
use crate::train::PredictOptions;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Sentences that are predicted at a time.
const CHUNK: usize = 64;

impl Project {
    /// The next sentence to work on after this one; `None` when all are complete or skipped. The order of the text goes
    /// round, also among those of the blind set.
    pub fn next_sentence(&mut self, after: SentenceId, order: Order) -> Option<SentenceId> {
        match order {
            Order::Text => self.next_in_text(after, |_| true),
            Order::Teaching => self.next_that_teaches(after),
            Order::Blind => self.next_in_text(after, |s| s.split() == Split::Blind),
        }
    }

    /// Why a sentence was chosen; `None` for one that the person went to.
    pub fn chosen(&self, id: SentenceId) -> Option<Choice> {
        self.agenda.shown.filter(|choice| choice.id == id)
    }

    fn next_in_text(&self, after: SentenceId, wanted: impl Fn(&Sentence) -> bool) -> Option<SentenceId> {
        let place = self.corpus.place(after).unwrap_or_default();
        let (before, rest) = (self.corpus.sentences().take(place), self.corpus.sentences().skip(place));
        rest.chain(before).find(|s| s.status().waits() && s.id() != after && wanted(s)).map(Sentence::id)
    }

    fn next_that_teaches(&mut self, after: SentenceId) -> Option<SentenceId> {
        self.renew_with_model();
        self.agenda.passed.insert(after);
        if self.agenda.next.is_empty()
            && let Some(choosing) = self.agenda.choosing.take()
        {
            self.agenda.next.extend(choosing.wait().unwrap_or_default());
        }
        for _ in 0..2 {
            while let Some(choice) = self.agenda.next.pop_front() {
                if choice.id != after && self.corpus.sentence(choice.id).is_some_and(may_be_offered) {
                    self.agenda.passed.insert(choice.id);
                    self.agenda.count += 1;
                    self.agenda.shown = Some(choice);
                    return Some(choice.id);
                }
            }
            self.agenda.next = self.choose_ahead().into();
            if self.agenda.next.is_empty() {
                // All were shown: once more from the beginning.
                self.agenda.passed = HashSet::from([after]);
                self.agenda.next = self.choose_ahead().into();
            }
        }
        None
    }

    fn renew_with_model(&mut self) {
        if self.agenda.model != self.current_model {
            self.agenda.model = self.current_model;
            self.agenda.renew();
        }
    }

    /// In a large project, chooses more before all that was chosen is shown. Call it each frame: it never waits.
    pub(in crate::session) fn choose_in_background(&mut self) {
        self.renew_with_model();
        // Taken whatever has changed since: while it is under way the predictor is not heard.
        if let Some(came) = self.agenda.choosing.as_ref().and_then(Task::poll) {
            self.agenda.choosing = None;
            self.agenda.next.extend(came.unwrap_or_default());
        }
        // Of fewer sentences it is done when it is wanted, by what is known then.
        let is_large = self.corpus.sentence_count() >= LARGE;
        let is_used = self.settings.order == Order::Teaching && self.learner.is_on;
        let has_enough = self.agenda.next.len() >= AHEAD / 2 || self.agenda.asked_at == Some(self.agenda.count);
        if !is_large || !is_used || has_enough || self.agenda.is_choosing() {
            return;
        }
        self.agenda.asked_at = Some(self.agenda.count);
        let (corpus, suggestions) = (Arc::clone(&self.corpus), Arc::clone(&self.suggestions));
        let strategy = self.settings.strategy;
        let shown = self.agenda.count + self.agenda.next.len();
        let mut passed = self.agenda.passed.clone();
        passed.extend(self.agenda.next.iter().map(|choice| choice.id));
        self.agenda.choosing = Some(Task::spawn("nestling-choice", self.waker.as_waker(), move || {
            let request = RankRequest::in_open_project(strategy, AHEAD);
            choose_from(&corpus, &suggestions, request, shown, &HashMap::new(), |s| !passed.contains(&s.id()))
        }));
    }

    /// The next sentences by the scores that are there, however old; linear in the sentences.
    fn choose_ahead(&self) -> Vec<Choice> {
        self.choose_by(self.settings.strategy, AHEAD)
    }

    /// Those that the next choice is likely to be of. With diversity it is of the best of three times as many, whatever
    /// their groups.
    pub(in crate::session) fn likely_next(&self, count: usize) -> Vec<Choice> {
        let Strategy { measure, besides } = self.settings.strategy;
        let besides = if besides == Besides::Diverse { Besides::Nothing } else { besides };
        self.choose_by(Strategy { measure, besides }, count)
    }

    fn choose_by(&self, strategy: Strategy, count: usize) -> Vec<Choice> {
        let not_passed = |s: &Sentence| !self.agenda.passed.contains(&s.id());
        let request = RankRequest::in_open_project(strategy, count);
        self.choose(request, self.agenda.count, &HashMap::new(), not_passed)
    }

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
        if strategy.measure.asks_a_model() && self.current_model.is_some() {
            let is_stale = |s: &&Sentence| {
                let said = self.suggestions.get(&s.id()).filter(|said| Some(said.model) == self.current_model);
                may_be_offered(s) && said.is_none_or(|said| !says_enough(said, strategy))
            };
            let stale: Vec<SentenceId> = self.corpus.sentences().filter(is_stale).map(Sentence::id).collect();
            if !stale.is_empty() {
                let (_, predictor) = self.load_model(None, threads)?;
                let options = PredictOptions { dropout_passes: dropout_passes(strategy), ..PredictOptions::default() };
                for chunk in stale.chunks(CHUNK) {
                    let of = |id: &SentenceId| Some((*id, words(&self.corpus, self.corpus.sentence(*id)?)));
                    let (ids, texts): (Vec<SentenceId>, Vec<Vec<String>>) = chunk.iter().filter_map(of).unzip();
                    let said = predictor.predict(&texts, options, cancel).map_err(stopped)?;
                    fresh.extend(ids.into_iter().zip(said.into_iter().map(|said| said.acquisition)));
                    on_progress(fresh.len(), stale.len());
                }
            }
        }
        Ok(self.choose(request, 0, &fresh, |_| true))
    }

    fn choose(
        &self,
        request: RankRequest,
        shown: usize,
        fresh: &HashMap<SentenceId, Acquisition>,
        wanted: impl Fn(&Sentence) -> bool,
    ) -> Vec<Choice> {
        choose_from(&self.corpus, &self.suggestions, request, shown, fresh, wanted)
    }
}
