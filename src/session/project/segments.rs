//! What models said of sentences whose tokens were split or joined.

use super::Project;
use crate::annotation::{Edit, ModelId, NewSentence, SentenceId, SentenceSuggestions, Span, Suggestion};
use crate::session::SessionError;
use crate::text::ByteIdx;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

impl Project {
    /// Suggestions that came with a file and were not answered can't be made again, and no undo knows of them: they are
    /// not cut through.
    ///
    /// # Errors
    /// The words of one that would be.
    pub(super) fn check_cuts(&self, edits: &[Edit]) -> Result<(), SessionError> {
        for edit in edits {
            let Edit::Resegment { old, new, .. } = edit else { continue };
            let places = Places::of(new);
            for (id, before) in old {
                // Where they are withheld nobody can answer them.
                let both = self.suggestions(*id).zip(self.corpus.sentence(*id));
                let Some((said, sentence)) = both.filter(|(said, _)| said.model == ModelId::FROM_FILE) else {
                    continue;
                };
                let mut open = said.visible(sentence, self.corpus.labels(), 0.0);
                if let Some(cut) = open.find(|suggestion| places.find(before, suggestion.span).is_none()) {
                    let words = self.corpus.span_text(sentence, cut.span).to_owned();
                    let hidden = if cut.score < self.settings.threshold { " (hidden by the threshold)" } else { "" };
                    return Err(SessionError::CutsSuggestion { words, hidden });
                }
            }
        }
        Ok(())
    }

    /// After edits that moved words: suggestions go along with the words that they are about. Those whose words now
    /// begin or end inside a token, or lie in two sentences, go; so do head probabilities, which are of tokens. Of two
    /// sentences that become one those of the newer model stay, and before any model those that came with a file.
    pub(super) fn move_suggestions(&mut self, edits: &[Edit]) -> Result<(), SessionError> {
        let map = Arc::make_mut(&mut self.suggestions);
        let mut changed = BTreeSet::new();
        for edit in edits {
            let Edit::Resegment { old, new, .. } = edit else { continue };
            let places = Places::of(new);
            let said: Vec<_> = old.iter().filter_map(|(id, sentence)| Some((sentence, map.remove(*id)?))).collect();
            // A file's have the least number, and those that go before no model the greatest.
            let rank = |model: ModelId| match model {
                ModelId::FROM_FILE => u64::MAX,
                ModelId::NAMES => 0,
                ModelId(number) => u64::from(number),
            };
            for (sentence, SentenceSuggestions { model, spans, .. }) in said {
                for suggestion in spans {
                    let Some((to, span)) = places.find(sentence, suggestion.span) else { continue };
                    // What the other sentence would have taught says nothing of this one.
                    let none =
                        || SentenceSuggestions { model, heads: Vec::new(), spans: Vec::new(), acquisition: None };
                    if map.get(to).is_none_or(|there| rank(model) > rank(there.model)) {
                        map.put(to, none());
                    }
                    if let Some(there) = map.get_mut(to).filter(|there| there.model == model) {
                        there.spans.push(Suggestion { span, ..suggestion });
                    }
                    changed.insert(to);
                }
            }
        }
        let mut moved = Vec::with_capacity(changed.len());
        for id in changed {
            if let Some(mut said) = map.remove(id) {
                said.spans.sort_by_key(|s| s.span);
                moved.push((id, said));
            }
        }
        if moved.is_empty() { Ok(()) } else { self.store_suggestions(moved) }
    }
}

/// Where tokens begin and end.
struct Places {
    starts: HashMap<ByteIdx, (SentenceId, usize)>,
    ends: HashMap<ByteIdx, (SentenceId, usize)>,
}

impl Places {
    fn of(sentences: &[(SentenceId, NewSentence)]) -> Self {
        let tokens = || sentences.iter().flat_map(|(id, s)| s.tokens.iter().zip(0..).map(|(t, at)| (*id, *t, at)));
        Self {
            starts: tokens().map(|(id, token, at)| (token.start(), (id, at))).collect(),
            ends: tokens().map(|(id, token, at)| (token.end(), (id, at + 1))).collect(),
        }
    }

    /// The span of the same words, if there is one.
    fn find(&self, old: &NewSentence, span: Span) -> Option<(SentenceId, Span)> {
        let (first, last) = (old.tokens.get(span.start().get())?, old.tokens.get(span.last().get())?);
        let (sentence, start) = *self.starts.get(&first.start())?;
        let (same, end) = *self.ends.get(&last.end())?;
        if sentence == same { Some((sentence, Span::from_range(start..end)?)) } else { None }
    }
}
