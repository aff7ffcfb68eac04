//! What a model proposes. Kept beside gold, never mixed with it.

use super::{ById, LabelId, LabelSet, ModelId, Sentence, SentenceId, Span, Status};

/// Probability in [0, 1] that a word starts an entity (NEH).
pub type HeadProbability = f32;

#[derive(Clone, PartialEq, Debug)]
pub struct Suggestion {
    pub span: Span,
    pub label: LabelId,
    /// Probability of `label` in [0, 1].
    pub score: f32,
    /// The next best label and its probability.
    pub runner_up: Option<(LabelId, f32)>,
}

/// All that one model says of one sentence.
#[derive(Clone, PartialEq, Debug)]
pub struct SentenceSuggestions {
    pub model: ModelId,
    /// One for each token, or empty where the architecture predicts none.
    pub heads: Vec<HeadProbability>,
    /// Ordered by span.
    pub spans: Vec<Suggestion>,
    /// What it would teach; `None` where no model of the project said it.
    pub acquisition: Option<Acquisition>,
}

/// What a model's answer for one sentence says of how much there is to learn from it. Higher is more.
///
/// `src/active` says how each is made, and chooses by them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Acquisition {
    /// Surprise at its own answer: nats a word.
    pub least_confidence: f32,
    /// Mean entropy in nats of the best candidate spans of plausible heads.
    pub entropy: f32,
    /// Mean entropy in nats of the decision whether a word is a head (NEH); of none, where no heads are predicted.
    pub head_entropy: f32,
    /// Expected number of mentions.
    pub mentions: f32,
    /// What models that differ by dropout disagree on (BALD), in nats a word; where it was asked for.
    pub disagreement: Option<f32>,
    /// Where the sentence's likely heads point in the encoder's space, roughly: to tell sentences apart.
    pub direction: Vec<i8>,
}

/// What models and files say of the sentences of a project, the latest of each. A copy shares what is the same in both.
pub type SuggestionsById = ById<SentenceId, SentenceSuggestions>;

impl SentenceSuggestions {
    /// What waits for an answer: at least `threshold`, of a label that is still there, not rejected, and not gold already.
    /// Of a complete sentence nothing: what was not accepted there is passed over, until the sentence is opened again.
    pub fn visible<'s>(
        &'s self,
        sentence: &'s Sentence,
        labels: &'s LabelSet,
        threshold: f32,
    ) -> impl Iterator<Item = &'s Suggestion> {
        let is_complete = sentence.status() == Status::Complete;
        self.spans.iter().filter(move |s| {
            !is_complete
                && s.score >= threshold
                && labels.get(s.label).is_some()
                && !sentence.rejected().contains(&(s.span, s.label))
                && !sentence.has_mention(s.span, s.label)
        })
    }
}
