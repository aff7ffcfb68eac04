//! Whether suggestions sway the person.
//!
//! Somebody who sees a suggestion may take it though they had marked something else: labels drift to what models say. A few
//! sentences are annotated without suggestions, though a model has some. If persons agree with the model less there than
//! where they see what it says, suggestions sway them.

use crate::annotation::{LabelId, ModelId, Sentence, SentenceId, SentenceSuggestions, Span};
use crate::evaluation::{ConfidenceInterval, Counts, Judged};
use crate::session::learner::dataset::contiguous;
use crate::session::project::Project;
use crate::session::project::shown::is_drawn;
use std::collections::HashSet;

/// How far what persons marked is what the model had suggested.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Agreement {
    pub sentences: usize,
    /// Strict micro-F1 of suggestions against gold, in [0, 1], and a band of 95 % around it.
    pub f1: f64,
    pub band: ConfidenceInterval,
}

/// Agreement where suggestions were seen, and where they were withheld.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Anchoring {
    pub seen: Agreement,
    pub withheld: Agreement,
}

impl Project {
    /// What the last model that looked at each complete sentence had suggested, against what the person marked; of those
    /// that had something to show. To be called on another thread: linear in the sentences.
    pub(super) fn agreements(&self) -> impl FnOnce() -> Vec<(SentenceId, Counts)> + Send + use<> {
        let (corpus, suggestions) = (self.snapshot_of_corpus(), self.snapshot_of_suggestions());
        let threshold = self.settings().threshold;
        move || {
            let complete = corpus.sentences().filter(|s| s.trains());
            let agreement = |s: &Sentence| Some((s.id(), agreement(s, suggestions.get(s.id())?, threshold)?));
            complete.filter_map(agreement).collect()
        }
    }
}

fn agreement(sentence: &Sentence, said: &SentenceSuggestions, threshold: f32) -> Option<Counts> {
    let shown = said.spans.iter().filter(|s| s.score >= threshold && said.model != ModelId::FROM_FILE);
    let predicted: Vec<(Span, LabelId)> = shown.map(|s| (s.span, s.label)).collect();
    let gold = contiguous(sentence);
    let judged = Judged { words: &[], gold: &gold, predicted: &predicted, first_words: None, candidates: 0 };
    (!predicted.is_empty()).then(|| judged.counts())
}

impl Anchoring {
    /// Whether suggestions sway the person, as far as it can be told: of each sentence how far they agree, and which were
    /// seen with suggestions. `None` as long as no probe is complete.
    ///
    /// Cost: two bootstraps, a thousand draws for each sentence.
    pub(super) fn of(agreements: &[(SentenceId, Counts)], seen: &HashSet<SentenceId>) -> Option<Self> {
        let agreement = |wanted: &dyn Fn(SentenceId) -> bool| -> Option<Agreement> {
            let counts: Vec<Counts> = agreements.iter().filter(|(id, _)| wanted(*id)).map(|(_, c)| *c).collect();
            let sum: Counts = counts.iter().copied().sum();
            Some(Agreement { sentences: counts.len(), f1: sum.f1()?, band: ConfidenceInterval::around_f1(&counts)? })
        };
        // The few first: without any there is nothing to compare the many with.
        let withheld = agreement(&|id| is_drawn(id) && !seen.contains(&id))?;
        Some(Self { seen: agreement(&|id| seen.contains(&id))?, withheld })
    }
}
