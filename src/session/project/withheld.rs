//! Where suggestions are withheld on purpose, and what that shows.
//!
//! Somebody who sees a suggestion may take it though they had marked something else: labels drift to what models say. A few
//! sentences are annotated without suggestions, though a model has some. If persons agree with the model less there than
//! where they see what it says, suggestions sway them.

use super::Project;
use crate::annotation::{LabelId, ModelId, Sentence, SentenceId, Span, Split, Status};
use crate::evaluation::{ConfidenceInterval, Counts, Judged};
use crate::nn::splitmix64;
use crate::session::learner::dataset::contiguous;
use std::collections::HashSet;

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
    /// Why this sentence shows no suggestions.
    pub fn withheld(&self, id: SentenceId) -> Option<Withheld> {
        let sentence = self.corpus().sentence(id)?;
        match sentence.split() {
            Split::Blind => Some(Withheld::Blind),
            Split::Rest if self.is_probe(sentence) && sentence.status() != Status::Complete => Some(Withheld::Probe),
            _ => None,
        }
    }

    fn is_probe(&self, sentence: &Sentence) -> bool {
        self.settings().probes && self.counts().complete >= PROBES_FROM && is_drawn(sentence.id())
    }

    /// What the last model that looked at each complete sentence had suggested, against what the person marked; of those
    /// that had something to show. Linear in the sentences.
    pub(in crate::session) fn agreements(&self) -> Vec<(SentenceId, Counts)> {
        let threshold = self.settings().threshold;
        let complete = self.corpus().sentences().filter(|s| s.trains());
        complete.filter_map(|s| Some((s.id(), self.agreement(s, threshold)?))).collect()
    }

    fn agreement(&self, sentence: &Sentence, threshold: f32) -> Option<Counts> {
        let said = self.suggestions.get(&sentence.id()).filter(|said| said.model != ModelId::FROM_FILE)?;
        let shown = said.spans.iter().filter(|s| s.score >= threshold);
        let predicted: Vec<(Span, LabelId)> = shown.map(|s| (s.span, s.label)).collect();
        let gold = contiguous(sentence);
        let judged = Judged { words: &[], gold: &gold, predicted: &predicted, first_words: None, candidates: 0 };
        (!predicted.is_empty()).then(|| judged.counts())
    }
}

impl Anchoring {
    /// Whether suggestions sway the person, as far as it can be told: of each sentence how far they agree, and which were
    /// seen with suggestions. `None` as long as no probe is complete.
    ///
    /// Cost: two bootstraps, a thousand draws for each sentence.
    pub(in crate::session) fn of(agreements: &[(SentenceId, Counts)], seen: &HashSet<SentenceId>) -> Option<Self> {
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

/// Drawn by the id alone, so that it does not depend on how hard the sentence is.
fn is_drawn(id: SentenceId) -> bool {
    splitmix64(u64::from(id.0) ^ 0x5EED).is_multiple_of(PROBE_EVERY)
}
