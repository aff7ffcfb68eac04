//! What was read row by row, made to fit together.

use super::losses::Losses;
use crate::annotation::limits::{LABELS, SENTENCE_IDS};
use crate::annotation::{Label, LabelError, LabelId, LabelSet, NewSentence, SentenceId, Split, StoredDocument};
use crate::text::{SentenceSplit, TextRange, Tokens, split_sentences};
use crate::wording::counted;
use std::collections::{BTreeSet, HashSet};

pub(super) struct Fitting<'l> {
    pub(super) losses: &'l mut Losses,
    pub(super) ids: FreeIds,
    /// Words may lie between sentences that were in sentences once.
    pub(super) loses_sentences: bool,
}

impl Fitting<'_> {
    /// The sentences of a document, with new ones of words that have lost theirs.
    pub(super) fn fit(
        &mut self,
        document: &StoredDocument,
        mut sentences: Vec<(SentenceId, NewSentence)>,
        labels: &LabelSet,
    ) -> Vec<(SentenceId, NewSentence)> {
        sentences.sort_by_key(|(_, sentence)| sentence.tokens.first().map(|token| token.start()));
        let all = sentences.len();
        let mut fitting = self.fitting(document, sentences, labels);
        if self.loses_sentences || fitting.len() < all {
            self.cut_again(document, &mut fitting);
        }
        fitting
    }

    /// Without sentences that overlap or lie outside the text, and without mentions and rejections outside theirs.
    fn fitting(
        &mut self,
        document: &StoredDocument,
        sentences: Vec<(SentenceId, NewSentence)>,
        labels: &LabelSet,
    ) -> Vec<(SentenceId, NewSentence)> {
        let mut end = 0;
        let mut fitting = Vec::with_capacity(sentences.len());
        for (id, mut sentence) in sentences {
            let fits = !sentence.tokens.is_empty()
                && sentence
                    .tokens
                    .iter()
                    .try_fold(end, |end, token| {
                        (token.start().get() >= end && document.text.get(token.bytes()).is_some())
                            .then_some(token.end().get())
                    })
                    .is_some();
            if !fits {
                let line = format!("sentence {}: its tokens are not those of the text", id.0);
                self.losses.add("sentences whose tokens are not those of the text", line);
                continue;
            }
            end = sentence.tokens.last().map_or(end, |token| token.end().get());
            let tokens = sentence.tokens.len();
            let (mut ids, mut said) = (HashSet::new(), HashSet::new());
            let before = sentence.mentions.len();
            sentence.mentions.retain(|m| {
                let inside = m.hull().end().get() <= tokens && labels.get(m.label).is_some();
                inside && ids.insert(m.id) && said.insert((m.fragments.clone(), m.label))
            });
            sentence.rejected.retain(|(span, _)| span.end().get() <= tokens);
            if sentence.mentions.len() < before {
                let count = counted(before - sentence.mentions.len(), "mention", "mentions");
                let line = format!("{count} of sentence {}: outside of it, or there twice", id.0);
                self.losses.add("sentences with mentions outside of them", line);
                sentence.doubt();
            }
            fitting.push((id, sentence));
        }
        fitting
    }

    /// Words that are in no sentence any more become sentences again.
    fn cut_again(&mut self, document: &StoredDocument, sentences: &mut Vec<(SentenceId, NewSentence)>) {
        let ends = |s: &NewSentence| {
            let (first, last) = (s.tokens.first(), s.tokens.last());
            (first.map_or(0, |t| t.start().get()), last.map_or(0, |t| t.end().get()))
        };
        let mut gaps = Vec::new();
        let mut at = 0;
        for (start, end) in sentences.iter().map(|(_, s)| ends(s)).chain([(document.text.len(), 0)]) {
            gaps.push(at..start);
            at = end;
        }
        let mut made = 0;
        for gap in gaps {
            let words = document.text.get(gap.clone()).unwrap_or_default();
            for tokens in split_sentences(words, SentenceSplit::Prose, Tokens::Words) {
                let moved = |t: &TextRange| {
                    TextRange::in_text(&document.text, gap.start + t.start().get()..gap.start + t.end().get())
                };
                let tokens = tokens.iter().filter_map(moved).collect();
                let sentence = NewSentence { tokens, split: Split::Rest, ..NewSentence::default() };
                let Some(id) = self.ids.take() else {
                    self.losses.add("sentences without an id", format!("a sentence of {:?}", document.name));
                    continue;
                };
                made += 1;
                sentences.push((id, sentence));
            }
        }
        let line = match made {
            0 => return,
            1 => format!("a sentence of {:?} was cut again, without its mentions", document.name),
            _ => format!("{made} sentences of {:?} were cut again, without their mentions", document.name),
        };
        self.losses.add("documents with sentences that were cut again", line);
        sentences.sort_by_key(|(_, s)| s.tokens.first().map(|t| t.start()));
    }
}

/// Ids of sentences that are not taken.
pub(super) struct FreeIds {
    taken: HashSet<u32>,
    next: u32,
}

impl FreeIds {
    pub(super) fn besides(taken: HashSet<u32>) -> Self {
        let last = taken.iter().max().map_or(0, |last| last.saturating_add(1));
        // One id far away must not use up the others.
        let next = if last < SENTENCE_IDS / 2 { last } else { 0 };
        Self { taken, next }
    }

    fn take(&mut self) -> Option<SentenceId> {
        let id = (self.next..SENTENCE_IDS).find(|id| !self.taken.contains(id))?;
        self.next = id + 1;
        Some(SentenceId(id))
    }
}

/// The labels, with one made for each that only mentions know of, and with names and keys that are told apart.
///
/// # Errors
/// None that is expected.
pub(super) fn label_set(
    mut labels: Vec<Label>,
    used: BTreeSet<LabelId>,
    losses: &mut Losses,
) -> Result<LabelSet, LabelError> {
    let known: HashSet<LabelId> = labels.iter().map(|label| label.id).collect();
    for id in used.into_iter().filter(|id| !known.contains(id)) {
        if labels.len() >= LABELS {
            break; // their mentions are told
        }
        let name = format!("label-{}", id.0);
        losses.add("names of labels", format!("the name of a label, which is called {name} now"));
        labels.push(Label { id, key: None, ..LabelSet::default().propose(&name) });
    }
    let (mut names, mut keys) = (HashSet::new(), HashSet::new());
    for label in &mut labels {
        if label.key.is_some_and(|key| !keys.insert(key)) {
            losses.add("keys of labels", format!("the key of the label {:?}, which another label has", label.name));
            label.key = None;
        }
        let is_free = |name: &String| !name.trim().is_empty() && !names.contains(name);
        if !is_free(&label.name) {
            losses.add(
                "names of labels",
                format!("the name of the label {:?}, which is there twice or empty", label.name),
            );
        }
        while !is_free(&label.name) {
            label.name += &format!("-{}", label.id.0);
        }
        names.insert(label.name.clone());
    }
    let next = labels.iter().map(|label| label.id.0).max().map_or(0, |last| last.saturating_add(1));
    LabelSet::restore(labels, LabelId(next))
}
