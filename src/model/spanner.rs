//! SpanNER (Fu et al. 2021, as SmartSpanNER's §3 describes it): every span up to the max width is classified, in
//! training and in prediction. See [`super::span_classifier`].

use super::candidates::{enumerate, rows_of, sample, split_up};
use super::span_classifier::{SpanClassifier, Words};
use super::{
    Architecture, BatchLoss, FirstWordFilter, MAX_WIDTH, ModelError, OptionSpec, Prediction, Samples, Sentence,
    TaskHead, TaskHeadConfig, WORD_SHAPE_FEATURES,
};
use crate::annotation::Span;
use crate::encoder::{Encoded, Network};
use crate::nn::{Mode, Rng, Scope};
use candle_core::Tensor;

#[derive(Debug)]
pub(super) struct SpanNer;

impl Architecture for SpanNer {
    fn id(&self) -> &'static str {
        "spanner"
    }

    fn name(&self) -> &'static str {
        "SpanNER"
    }

    fn summary(&self) -> &'static str {
        "Classifies every span up to the longest mention: finds nested mentions, but takes longer than SmartSpanNER."
    }

    fn version(&self) -> u32 {
        1
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[MAX_WIDTH, WORD_SHAPE_FEATURES]
    }

    fn build(
        &self,
        mut scope: Scope<'_>,
        encoder: &Network,
        config: &TaskHeadConfig,
    ) -> Result<Box<dyn TaskHead>, ModelError> {
        let spans = SpanClassifier::new(&mut scope, encoder.hidden(), config)?;
        Ok(Box::new(SpanTaskHead { spans, classes: config.classes, max_width: config.options.whole(&MAX_WIDTH)? }))
    }
}

#[derive(Debug)]
struct SpanTaskHead {
    spans: SpanClassifier,
    classes: usize,
    max_width: usize,
}

impl TaskHead for SpanTaskHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError> {
        const ALL: f32 = 1.0;
        let (rows, spans) = sample(batch, self.max_width, ALL, rng);
        let mode = &mut Mode::Train(rng);
        let parts = self.spans.parts(&self.spans.words(encoded, batch, mode)?)?;
        let total = self.spans.loss(&parts, &rows, mode)?;
        Ok(BatchLoss { total, samples: Samples { spans, ..Samples::default() } })
    }

    /// There are no first words to filter by.
    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        _: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        self.answer(&self.spans.words(encoded, batch, &mut Mode::Predict)?, batch)
    }

    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        _: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let words = self.spans.words(encoded, batch, &mut Mode::Predict)?;
        (0..passes).map(|number| self.answer(&self.spans.with_dropout(&words, number)?, batch)).collect()
    }

    fn span_vectors(&self, encoded: &Encoded, batch: &[&Sentence], spans: &[Vec<Span>]) -> Result<Tensor, ModelError> {
        let words = self.spans.words(encoded, batch, &mut Mode::Predict)?;
        self.spans.vectors(&words, &rows_of(batch, spans))
    }
}

impl SpanTaskHead {
    fn answer(&self, words: &Words, batch: &[&Sentence]) -> Result<Vec<Prediction>, ModelError> {
        let (rows, lists) = enumerate(batch, self.max_width, |_| true);
        let candidates = split_up(lists, self.classes, self.spans.probabilities(words, &rows)?)?;
        Ok(candidates.into_iter().map(Prediction::of_candidates).collect())
    }
}
