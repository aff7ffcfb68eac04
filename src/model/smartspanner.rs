//! SmartSpanNER: span classification, guided by which words are first words of entities (NEH).
//!
//! One linear layer on `s(i,i)` says whether word i is the first word of an entity (Eq. 5); the spans that start at first words are classified
//! (Eq. 2 and 3, see [`super::span_classifier`]). The loss is `w · L_h + (1 - w) · L_s` (Eq. 7), each the mean over its
//! own samples. A span trains if it starts at a gold first word, or else with the chance `sp` (Eq. 8).
//!
//! A word that begins only mentions wider than the max width trains neither answer of NEH: it is a first word in gold, but
//! nothing that starts there could be found.
//!
//! Ours: categorical cross-entropy where the paper prints binary terms over a softmax (Eq. 4); samples drawn anew
//! each epoch.

use super::candidates::{FirstWords, Rows, enumerate, rows_of, sample, split_up};
use super::options::{ENTITY_HEADS, HEAD_WEIGHT, SAMPLING};
use super::span_classifier::{SpanClassifier, Words};
use super::{
    Architecture, BatchLoss, FirstWordFilter, MAX_WIDTH, ModelError, OptionSpec, Prediction, Samples, Sentence,
    THRESHOLD, TaskHead, TaskHeadConfig, WORD_SHAPE_FEATURES,
};
use crate::annotation::Span;
use crate::encoder::{Encoded, Network};
use crate::nn::{Linear, Mode, Rng, Scope, softmax};
use candle_core::Tensor;

#[derive(Debug)]
pub(super) struct SmartSpanNer;

impl Architecture for SmartSpanNer {
    fn id(&self) -> &'static str {
        "smartspanner"
    }

    fn name(&self) -> &'static str {
        "SmartSpanNER"
    }

    fn summary(&self) -> &'static str {
        "Finds words that begin mentions and classifies the spans that start there. Fast, also for nested mentions."
    }

    fn version(&self) -> u32 {
        1
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[HEAD_WEIGHT, SAMPLING, MAX_WIDTH, WORD_SHAPE_FEATURES, ENTITY_HEADS, THRESHOLD]
    }

    fn serves_any_labels(&self, variable: &str) -> bool {
        !SpanClassifier::is_of_classes(variable)
    }

    fn build(
        &self,
        mut scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        let hidden = encoder.hidden();
        let spans = SpanClassifier::new(&mut scope, hidden, config)?;
        let neh = Linear::uniform(scope.scope("neh"), spans.span_size(), 2)?;
        let options = &config.options;
        Ok(Box::new(SmartSpanTaskHead {
            spans,
            neh,
            classes: config.classes,
            max_width: options.whole(&MAX_WIDTH)?,
            head_weight: options.real(&HEAD_WEIGHT)?,
            sampling: options.real(&SAMPLING)? as f32,
        }))
    }
}

#[derive(Debug)]
struct SmartSpanTaskHead {
    spans: SpanClassifier,
    neh: Linear,
    classes: usize,
    max_width: usize,
    head_weight: f64,
    sampling: f32,
}

impl SmartSpanTaskHead {
    /// Logits of "no first word" and "first word", `[W, 2]`.
    fn first_word_logits(&self, words: &Words) -> Result<Tensor, ModelError> {
        self.spans.of_single_words(words, &self.neh)
    }

    /// Probability of each word to be the first of an entity.
    fn first_words(&self, words: &Words) -> Result<Vec<f32>, ModelError> {
        Ok(softmax(&self.first_word_logits(words)?)?.narrow(1, 1, 1)?.flatten_all()?.to_vec1::<f32>()?)
    }

    fn candidates(&self, batch: &[&Sentence], first_words: &[f32], filter: FirstWordFilter) -> (Rows, Vec<Vec<Span>>) {
        enumerate(batch, self.max_width, |word| first_words.get(word).is_some_and(|p| filter.passes(*p)))
    }

    fn answer(
        &self,
        words: &Words,
        batch: &[&Sentence],
        first_words: Vec<f32>,
        (rows, lists): (Rows, Vec<Vec<Span>>),
    ) -> Result<Vec<Prediction>, ModelError> {
        let candidates = split_up(lists, self.classes, self.spans.probabilities(words, &rows)?)?;
        let mut first_words = first_words.into_iter();
        let first_words = batch.iter().map(|sentence| Some(first_words.by_ref().take(sentence.len()).collect()));
        let predictions = first_words.zip(candidates);
        Ok(predictions.map(|(first_words, candidates)| Prediction { first_words, candidates, decided: None }).collect())
    }
}

impl TaskHead for SmartSpanTaskHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError> {
        let (rows, spans) = sample(batch, self.max_width, self.sampling, rng);
        let first_words = FirstWords::of(batch, self.max_width);
        let mode = &mut Mode::Train(rng);
        let words = self.spans.words(encoded, batch, mode)?;
        let mut total = (first_words.loss(&self.first_word_logits(&words)?)? * self.head_weight)?;
        if rows.len() > 0 {
            let loss = self.spans.loss(&self.spans.parts(&words)?, &rows, mode)?;
            total = (total + (loss * (1.0 - self.head_weight))?)?;
        }
        Ok(BatchLoss { total, samples: Samples { first_words: first_words.counts, spans, ..Samples::default() } })
    }

    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let words = self.spans.words(encoded, batch, &mut Mode::Predict)?;
        let first_words = self.first_words(&words)?;
        let asked = self.candidates(batch, &first_words, filter);
        self.answer(&words, batch, first_words, asked)
    }

    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let words = self.spans.words(encoded, batch, &mut Mode::Predict)?;
        let asked = self.candidates(batch, &self.first_words(&words)?, filter);
        let pass = |number| {
            let words = self.spans.with_dropout(&words, number)?;
            self.answer(&words, batch, self.first_words(&words)?, asked.clone())
        };
        (0..passes).map(pass).collect()
    }

    fn span_vectors(&self, encoded: &Encoded, batch: &[&Sentence], spans: &[Vec<Span>]) -> Result<Tensor, ModelError> {
        let words = self.spans.words(encoded, batch, &mut Mode::Predict)?;
        self.spans.vectors(&words, &rows_of(batch, spans))
    }
}
