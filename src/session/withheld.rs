//! Where suggestions are withheld on purpose, and what that shows.
//!
//! Somebody who sees a suggestion may take it though they had marked something else: labels drift to what models say. A few
//! sentences are annotated without suggestions, though a model has some. If persons agree with the model less there than
//! where they see what it says, suggestions sway them.

use super::Costs;
use super::dataset::example;
use super::project::Project;
use crate::annotation::{LabelId, ModelId, Sentence, SentenceId, Span, Split, Status};
use crate::evaluation::{Band, Counts};
use crate::nn::scatter;

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
    pub band: Band,
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

    /// Whether suggestions sway the person, as far as it can be told; `None` as long as no probe is complete.
    pub fn anchoring(&self, costs: &Costs) -> Option<Anchoring> {
        let threshold = self.settings().threshold;
        let counts = |wanted: &dyn Fn(&Sentence) -> bool| -> Option<Agreement> {
            let complete = self.corpus().sentences().filter(|s| s.trains() && wanted(s));
            let counts: Vec<Counts> = complete.filter_map(|s| self.agreement(s, threshold)).collect();
            let sum: Counts = counts.iter().copied().sum();
            Some(Agreement { sentences: counts.len(), f1: sum.f1()?, band: Band::around_f1(&counts)? })
        };
        let was_seen = |s: &Sentence| costs.seen.contains(&s.id());
        let was_withheld = |s: &Sentence| is_drawn(s.id()) && !was_seen(s);
        Some(Anchoring { seen: counts(&was_seen)?, withheld: counts(&was_withheld)? })
    }

    /// What the model had suggested when the sentence was completed, against what the person marked.
    fn agreement(&self, sentence: &Sentence, threshold: f32) -> Option<Counts> {
        let said = self.suggestions.get(&sentence.id()).filter(|said| said.model != ModelId::FROM_FILE)?;
        let spans = |s: &crate::annotation::Suggestion| (s.span, s.label);
        let predicted: Vec<(Span, LabelId)> = said.spans.iter().filter(|s| s.score >= threshold).map(spans).collect();
        Some(example(self.corpus(), sentence).strict(&predicted))
    }
}

/// Drawn by the id alone, so that it does not depend on how hard the sentence is.
fn is_drawn(id: SentenceId) -> bool {
    scatter(u64::from(id.0) ^ 0x5EED).is_multiple_of(PROBE_EVERY)
}
