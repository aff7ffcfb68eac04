//! What a model says of a sentence, gathered part by part, so that what it takes does not grow with the sentence: of the
//! candidates of a part only those that are worth keeping are kept.

use crate::active::{self, AcquisitionSums, Projection, SentenceProbabilities};
use crate::annotation::{Acquisition, Span};
use crate::model::{Found, Nesting, Prediction, likely, settle};

/// What a model says of one sentence.
#[derive(Debug)]
pub(super) struct SentenceOutput {
    /// Probability of each word to start an entity, where the architecture predicts it.
    pub first_words: Option<Vec<f32>>,
    pub found: Vec<Found>,
    /// How many candidates were classified.
    pub candidates: usize,
    pub acquisition: Acquisition,
}

/// What it says of some words of a sentence, seen with those after them that its candidates reach.
pub(super) struct OutputPart<'a> {
    /// Words that no other part says anything of.
    pub own: usize,
    pub prediction: Prediction,
    /// The same by models that differ by dropout.
    pub passes: Vec<Prediction>,
    /// Of each word's first subword; empty where nobody asks what the sentence would teach.
    pub vectors: &'a [f32],
}

/// What it has said so far.
#[derive(Debug, Default)]
pub(super) struct OutputSums {
    words: usize,
    first_words: Option<Vec<f32>>,
    found: Vec<Found>,
    candidates: usize,
    sums: AcquisitionSums,
    disagreement: Option<f32>,
    direction: Vec<f32>,
}

impl OutputSums {
    /// Adds the part that follows; `floor` is the probability from which a candidate is worth showing.
    pub(super) fn add(&mut self, part: OutputPart<'_>, floor: f32, projection: &Projection) {
        let OutputPart { own, prediction, passes, vectors } = part;
        let prediction = prediction.before(own);
        if !vectors.is_empty() {
            self.sums.add(&answer(&prediction, own));
            match &prediction.first_words {
                Some(first_words) => projection.add(&mut self.direction, vectors, first_words.iter().copied()),
                None => projection.add(&mut self.direction, vectors, std::iter::repeat_n(1.0, own)),
            }
        }
        if !passes.is_empty() {
            let passes: Vec<Prediction> = passes.into_iter().map(|pass| pass.before(own)).collect();
            let answers: Vec<SentenceProbabilities<'_>> = passes.iter().map(|pass| answer(pass, own)).collect();
            *self.disagreement.get_or_insert(0.0) += active::disagreement_sum(&answers);
        }
        let before = self.words;
        let moved = |found: Found| {
            let range = before + found.span.start().get()..before + found.span.end().get();
            Some(Found { span: Span::from_range(range)?, ..found })
        };
        self.found.extend(likely(&prediction, floor).into_iter().filter_map(moved));
        self.candidates += prediction.candidates.len();
        if let Some(first_words) = prediction.first_words {
            self.first_words.get_or_insert_default().extend(first_words);
        }
        self.words += own;
    }

    /// What it says of the whole sentence.
    pub(super) fn finish(self, nesting: Nesting, projection: &Projection) -> SentenceOutput {
        let mut acquisition = Acquisition::default();
        if !self.direction.is_empty() {
            acquisition = self.sums.finish();
            acquisition.direction = projection.direction_of(&self.direction);
            acquisition.disagreement = self.disagreement.map(|nats| nats / self.words.max(1) as f32);
        }
        let found = settle(self.found, nesting);
        SentenceOutput { first_words: self.first_words, found, candidates: self.candidates, acquisition }
    }
}

/// Probabilities as acquisition scores are made of them.
fn answer(prediction: &Prediction, words: usize) -> SentenceProbabilities<'_> {
    let candidates = prediction.candidates.iter().map(|(span, classes)| (span.start().get(), classes)).collect();
    SentenceProbabilities { words, first_words: prediction.first_words.as_deref(), candidates }
}
