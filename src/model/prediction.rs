//! What a model says of a sentence.

use super::candidates::Candidates;
use super::sentence::Class;
use crate::annotation::Span;

/// What a model says of one sentence.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Probability of each word to start an entity, where the architecture predicts it.
    pub first_words: Option<Vec<f32>>,
    pub candidates: Candidates,
    /// The final answer, all of it `chosen`, where the architecture does not leave it to [`decode`](super::decode) to take every candidate
    /// that is more probable than "none". Each mention once.
    pub decided: Option<Vec<Found>>,
}

impl Prediction {
    /// What says nothing beside its candidates.
    pub fn of_candidates(candidates: Candidates) -> Self {
        Self { first_words: None, candidates, decided: None }
    }

    /// The same with `classes` others, "none" among them, of which each of ours is part: `to` has one for each, in order. What
    /// becomes part of "none" is no longer said.
    #[must_use]
    pub fn regrouped(self, to: &[Class], classes: usize) -> Self {
        let class = |found: &Found| to.get(found.class as usize).copied().filter(|class| *class > 0);
        let decided = self.decided.map(|decided| {
            let regrouped =
                decided.iter().filter_map(|found| Some(Found::decided(found.span, class(found)?, found.score)));
            regrouped.collect()
        });
        Self { candidates: self.candidates.regrouped(to, classes.max(1)), decided, ..self }
    }

    /// What it says of the words before the number `end` and of the candidates that start there.
    #[must_use]
    pub fn before(self, end: usize) -> Self {
        let first_words = self.first_words.map(|mut first_words| {
            first_words.truncate(end);
            first_words
        });
        let decided = self.decided.map(|mut decided| {
            decided.retain(|found| found.span.start().get() < end);
            decided
        });
        Self { first_words, candidates: self.candidates.before(end), decided }
    }
}

/// A span that may be a mention.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Found {
    pub span: Span,
    /// The most probable label, never "none".
    pub class: Class,
    pub score: f32,
    /// The next label and its probability.
    pub runner_up: Option<(Class, f32)>,
    /// Whether the label is more probable than "none": the model's final answer.
    pub chosen: bool,
}

impl Found {
    /// A mention of the final answer of an architecture that decides itself, with the probability that it has for that.
    pub fn decided(span: Span, class: Class, score: f32) -> Self {
        Self { span, class, score, runner_up: None, chosen: true }
    }
}

/// Probabilities of the classes of mentions that are given, in their order.
#[derive(Clone, PartialEq, Debug)]
pub struct LabelTable {
    classes: usize,
    /// One row a mention, "none" first: 0 where it is no answer.
    probabilities: Vec<f32>,
}

impl LabelTable {
    /// `None` unless the numbers make whole rows of `classes`.
    pub fn new(classes: usize, probabilities: Vec<f32>) -> Option<Self> {
        (classes > 0 && probabilities.len().is_multiple_of(classes)).then_some(Self { classes, probabilities })
    }

    /// The probabilities of each mention's classes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.probabilities.chunks_exact(self.classes)
    }

    /// The table as candidates, one for each mention; `None` where their numbers differ.
    pub(super) fn into_candidates(self, spans: Vec<Span>) -> Option<Candidates> {
        Candidates::new(spans, self.classes, self.probabilities)
    }
}
