//! Which suggestions there are, which are worth showing, and which a person saw when deciding, which edits are stored with.

use super::Project;
use crate::annotation::{SentenceId, SentenceSuggestions, Suggestion};
use crate::store::VisibleSuggestions;

impl Project {
    /// All that the latest model that looked at it says of a sentence; nothing where it is withheld.
    pub fn suggestions(&self, id: SentenceId) -> Option<&SentenceSuggestions> {
        self.suggestions.get(&id).filter(|_| self.withheld(id).is_none())
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
}
