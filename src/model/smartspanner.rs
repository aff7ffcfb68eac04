//! SmartSpanNER: span classification, guided by which words are first words of entities (NEH).
//!
//! One linear layer on `s(i,i)` says whether word i is a head (Eq. 5); the spans that start at heads are classified
//! (Eq. 2 and 3, see [`super::span_classifier`]). The loss is `w · L_h + (1 - w) · L_s` (Eq. 7), each the mean over its
//! own samples. A span trains if it starts at a gold head, or else with the chance `sp` (Eq. 8).
//!
//! Ours: categorical cross-entropy where the paper prints binary terms over a softmax (Eq. 4); samples drawn anew
//! each epoch.

use super::candidates::{Rows, count_heads, enumerate, sample, split_up};
use super::span_classifier::{SpanClassifier, Words};
use super::{Architecture, Head, HeadConfig, HeadFilter, Loss, ModelError, Prediction, Samples, Sentence};
use crate::annotation::Span;
use crate::encoder::Encoded;
use crate::nn::{Linear, Mode, Rng, Scope, cross_entropy, softmax};
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

    fn version(&self) -> u32 {
        1
    }

    fn build(&self, mut scope: Scope<'_>, hidden: usize, config: &HeadConfig) -> Result<Box<dyn Head>, ModelError> {
        let spans = SpanClassifier::new(&mut scope, hidden, config)?;
        let neh = Linear::uniform(scope.scope("neh"), SpanClassifier::span_size(hidden, config), 2)?;
        Ok(Box::new(SmartSpanHead { spans, neh, config: *config }))
    }
}

#[derive(Debug)]
struct SmartSpanHead {
    spans: SpanClassifier,
    neh: Linear,
    config: HeadConfig,
}

impl SmartSpanHead {
    /// Logits of "no head" and "head", `[W, 2]`.
    fn head_logits(&self, words: &Words) -> Result<Tensor, ModelError> {
        self.spans.of_single_words(words, &self.neh)
    }

    /// Probability of each word to be a head.
    fn heads(&self, words: &Words) -> Result<Vec<f32>, ModelError> {
        Ok(softmax(&self.head_logits(words)?)?.narrow(1, 1, 1)?.flatten_all()?.to_vec1::<f32>()?)
    }

    fn candidates(&self, batch: &[&Sentence], heads: &[f32], filter: HeadFilter) -> (Rows, Vec<Vec<Span>>) {
        enumerate(batch, self.config.max_width, |word| match filter {
            HeadFilter::AtLeast(threshold) => heads.get(word).is_some_and(|p| *p >= threshold),
            HeadFilter::All => true,
        })
    }

    fn answer(
        &self,
        words: &Words,
        batch: &[&Sentence],
        heads: Vec<f32>,
        (rows, lists): (Rows, Vec<Vec<Span>>),
    ) -> Result<Vec<Prediction>, ModelError> {
        let candidates = split_up(lists, self.config.classes, self.spans.probabilities(words, &rows)?)?;
        let mut heads = heads.into_iter();
        let heads = batch.iter().map(|sentence| Some(heads.by_ref().take(sentence.len()).collect()));
        let predictions = heads.zip(candidates);
        Ok(predictions.map(|(heads, candidates)| Prediction { heads, candidates }).collect())
    }
}

impl Head for SmartSpanHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<Loss, ModelError> {
        let (rows, spans) = sample(batch, self.config.max_width, self.config.sampling, rng);
        let (heads, head_counts) = count_heads(batch);
        let mode = &mut Mode::Train(rng);
        let words = self.spans.words(encoded, batch, mode)?;
        let head_loss = cross_entropy(&self.head_logits(&words)?, &heads)?;
        let mut total = (head_loss * self.config.head_weight)?;
        if rows.len() > 0 {
            let loss = self.spans.loss(&self.spans.parts(&words)?, &rows, mode)?;
            total = (total + (loss * (1.0 - self.config.head_weight))?)?;
        }
        Ok(Loss { total, samples: Samples { heads: head_counts, spans } })
    }

    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: HeadFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let words = self.spans.words(encoded, batch, &mut Mode::Predict)?;
        let heads = self.heads(&words)?;
        let asked = self.candidates(batch, &heads, filter);
        self.answer(&words, batch, heads, asked)
    }

    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: HeadFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let words = self.spans.words(encoded, batch, &mut Mode::Predict)?;
        let asked = self.candidates(batch, &self.heads(&words)?, filter);
        let pass = |number| {
            let words = self.spans.with_dropout(&words, number)?;
            self.answer(&words, batch, self.heads(&words)?, asked.clone())
        };
        (0..passes).map(pass).collect()
    }
}
