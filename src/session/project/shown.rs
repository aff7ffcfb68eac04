//! Which suggestions there are, which are worth showing, which are withheld on purpose, and which a person saw when
//! deciding, which edits are stored with.

use super::Project;
use crate::annotation::{ModelId, Sentence, SentenceId, SentenceSuggestions, Split, Status, Suggestion};
use crate::nn::splitmix64;
use crate::session::SessionError;
use crate::store::VisibleSuggestions;
use std::sync::Arc;

/// One sentence in so many is a probe.
const PROBE_EVERY: u64 = 40;
/// Probes begin when so many sentences are complete: before that suggestions are few and poor.
const PROBES_FROM: usize = 100;

/// Why a sentence shows no suggestions though there are some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Withheld {
    /// It is of the blind set.
    Blind,
    /// It is to show whether suggestions sway the person.
    Probe,
}

impl Project {
    /// All that the latest model that looked at it says of a sentence; nothing where it is withheld.
    pub fn suggestions(&self, id: SentenceId) -> Option<&SentenceSuggestions> {
        let names = || self.settings.general_names && !self.names_are_gone();
        let is_wanted = |said: &&SentenceSuggestions| said.model != ModelId::NAMES || names();
        self.suggestions.get(id).filter(is_wanted).filter(|_| self.withheld(id).is_none())
    }

    /// What is worth showing: at least the threshold, not rejected, and not gold already.
    pub fn visible_suggestions(&self, id: SentenceId) -> Vec<&Suggestion> {
        let both = self.suggestions(id).zip(self.corpus.sentence(id));
        both.map(|(s, sentence)| s.visible(sentence, self.corpus.labels(), self.settings.threshold).collect())
            .unwrap_or_default()
    }

    /// Says what is on screen: it gets suggestions first, and edits record what was seen.
    pub fn look_at(&mut self, sentences: &[SentenceId]) {
        if self.on_screen != sentences {
            self.on_screen = sentences.to_vec();
            self.learner.hurry(sentences);
        }
    }

    /// Says which suggestions a sentence on screen shows, where they may be older than those that are there.
    pub fn note_shown(&mut self, sentence: SentenceId, suggestions: Option<&SentenceSuggestions>) {
        if self.shown.as_ref().map(|(id, shown)| (*id, shown.as_ref())) != Some((sentence, suggestions)) {
            self.shown = Some((sentence, suggestions.cloned()));
        }
    }

    /// Why this sentence shows no suggestions.
    pub fn withheld(&self, id: SentenceId) -> Option<Withheld> {
        let sentence = self.corpus().sentence(id)?;
        match sentence.split() {
            Split::Blind => Some(Withheld::Blind),
            Split::Rest if self.is_probe(sentence) && sentence.status() != Status::Complete => Some(Withheld::Probe),
            _ => None,
        }
    }

    /// The suggestions on screen now: before an edit those that a person saw when deciding on it.
    pub(in crate::session) fn seen(&self) -> Vec<VisibleSuggestions> {
        let visible = self.on_screen.iter().filter_map(|&id| {
            let said = match &self.shown {
                Some((of, shown)) if *of == id => shown.as_ref().filter(|_| self.withheld(id).is_none()),
                _ => self.suggestions(id),
            }?;
            let sentence = self.corpus.sentence(id)?;
            let spans: Vec<_> =
                said.visible(sentence, self.corpus.labels(), self.settings.threshold).cloned().collect();
            (!spans.is_empty()).then_some(VisibleSuggestions { sentence: id, model: said.model, spans })
        });
        visible.collect()
    }

    /// Keeps what a model says, in memory and on disk.
    ///
    /// # Errors
    /// A project that was opened to be read, a writer that has ended.
    pub(in crate::session) fn store_suggestions(
        &mut self,
        batch: Vec<(SentenceId, SentenceSuggestions)>,
    ) -> Result<(), SessionError> {
        let writer = Arc::clone(self.writer()?);
        self.add_suggestions(batch.iter().cloned());
        Ok(writer.suggestions(batch)?)
    }

    /// Takes over what is on disk already.
    pub(in crate::session) fn add_suggestions(
        &mut self,
        suggestions: impl IntoIterator<Item = (SentenceId, SentenceSuggestions)>,
    ) {
        Arc::make_mut(&mut self.suggestions).extend(suggestions);
    }

    fn is_probe(&self, sentence: &Sentence) -> bool {
        self.settings().probes && self.counts().complete >= PROBES_FROM && is_drawn(sentence.id())
    }
}

/// Drawn by the id alone, so that it does not depend on how hard the sentence is.
pub(in crate::session) fn is_drawn(id: SentenceId) -> bool {
    splitmix64(u64::from(id.0) ^ 0x5EED).is_multiple_of(PROBE_EVERY)
}
