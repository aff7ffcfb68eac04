//! What is built above an encoder: both decoders, which learn together and of which one answers.

use super::options::{Decode, LEVEL, Settings};
use super::sampling::draw;
use super::span_decoder::SpanDecoder;
use super::words::{Vectors, WordVectors};
use crate::annotation::Span;
use crate::encoder::Encoded;
use crate::model::candidates::{enumerate, rows_of, split_up};
use crate::model::tagger::{Asked, TagAnswer, Tagger, likely_starts};
use crate::model::tags::{OUTSIDE, seen_in};
use crate::model::{
    BatchLoss, FirstWordFilter, ModelError, Prediction, Samples, Sentence, TaskHead, TaskHeadConfig, dropout_of_models,
    sentence_lengths,
};
use crate::nn::crf::Tag;
use crate::nn::{Mode, Rng, Scope};
use candle_core::Tensor;

#[derive(Debug)]
pub(super) struct BundlingHead {
    words: WordVectors,
    spans: SpanDecoder,
    tagger: Tagger,
    settings: Settings,
    classes: usize,
    dropout: f32,
}

impl BundlingHead {
    /// For an encoder with vectors of `hidden` numbers.
    pub(super) fn new(mut scope: Scope<'_>, hidden: usize, config: &TaskHeadConfig) -> Result<Self, ModelError> {
        let settings = Settings::new(&config.options)?;
        let TaskHeadConfig { classes, dropout, operations, .. } = *config;
        let words = WordVectors::new(&mut scope, settings.word_shapes, dropout, operations)?;
        let sizes = [words.size(hidden), hidden];
        Ok(Self {
            spans: SpanDecoder::new(&mut scope, sizes, classes, &settings, (dropout, operations))?,
            tagger: Tagger::new(&mut scope, words.size(hidden), classes, settings.tags, operations)?,
            words,
            settings,
            classes,
            dropout,
        })
    }

    fn by_spans(&self, vectors: &Vectors, batch: &[&Sentence]) -> Result<Vec<Prediction>, ModelError> {
        let (rows, lists) = enumerate(batch, self.settings.max_width, |_| true);
        let candidates = split_up(lists, self.classes, self.spans.probabilities(vectors, &rows)?)?;
        Ok(candidates.into_iter().map(Prediction::of_candidates).collect())
    }

    /// What the tags say of each sentence, and of the spans that begin at words that `starts` says yes to.
    fn tagged(
        &self,
        vectors: &Vectors,
        batch: &[&Sentence],
        starts: &(dyn Fn(usize, usize, f32) -> bool + Sync),
    ) -> Result<Vec<TagAnswer>, ModelError> {
        self.tagger.answers(
            &vectors.dropped,
            &sentence_lengths(batch),
            &Asked { longest: self.settings.max_width, starts },
        )
    }

    fn by_tags(
        &self,
        vectors: &Vectors,
        batch: &[&Sentence],
        starts: &(dyn Fn(usize, usize, f32) -> bool + Sync),
    ) -> Result<Vec<Prediction>, ModelError> {
        let answers = self.tagged(vectors, batch, starts)?;
        answers.into_iter().map(|answer| answer.prediction(self.classes)).collect()
    }
}

impl TaskHead for BundlingHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError> {
        let Settings { alpha, max_width, negatives, .. } = self.settings;
        let (rows, spans) = draw(batch, max_width, negatives, rng);
        let tags = |sentence: &&Sentence| self.tagger.tags().encode(sentence.len(), &seen_in(sentence, LEVEL));
        let gold: Vec<Tag> = batch.iter().flat_map(tags).collect();
        let mode = &mut Mode::Train(rng);
        let vectors = self.words.of(encoded, batch, mode)?;
        let of_tags = self.tagger.loss(&vectors.dropped, &sentence_lengths(batch), &gold)?;
        let of_spans = self.spans.loss(&vectors, &rows, mode)?;
        let mut samples = Samples { spans, ..Samples::default() };
        gold.iter().for_each(|tag| samples.words.count(*tag != OUTSIDE));
        Ok(BatchLoss { total: ((of_tags * alpha)? + (of_spans * (1.0 - alpha))?)?, samples })
    }

    /// The filter is for the tags, which say how likely a word begins a mention; spans are all classified.
    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let vectors = self.words.of(encoded, batch, &mut Mode::Predict)?;
        match self.settings.decode {
            Decode::Spans => self.by_spans(&vectors, batch),
            Decode::Tags => self.by_tags(&vectors, batch, &|_, _, p| filter.passes(p)),
        }
    }

    /// All models are asked about the spans that begin at words which the tags without dropout say are likely.
    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let first_words = match self.settings.decode {
            Decode::Spans => Vec::new(),
            Decode::Tags => {
                let vectors = self.words.of(encoded, batch, &mut Mode::Predict)?;
                self.tagged(&vectors, batch, &|_, _, _| false)?
            }
        };
        let starts = likely_starts(&first_words, filter);
        let pass = |model| {
            let encoded = encoded.without_columns(dropout_of_models(self.dropout), model)?;
            let vectors = self.words.of(&encoded, batch, &mut Mode::Predict)?;
            match self.settings.decode {
                Decode::Spans => self.by_spans(&vectors, batch),
                Decode::Tags => self.by_tags(&vectors, batch, &starts),
            }
        };
        (0..passes).map(pass).collect()
    }

    /// Those of the span decoder, whichever decoder answers.
    fn span_vectors(&self, encoded: &Encoded, batch: &[&Sentence], spans: &[Vec<Span>]) -> Result<Tensor, ModelError> {
        let vectors = self.words.of(encoded, batch, &mut Mode::Predict)?;
        self.spans.vectors(&vectors, &rows_of(batch, spans))
    }
}
