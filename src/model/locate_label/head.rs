//! What is built above an encoder: words, the two stages above them, and the decision by Soft-NMS.

use super::options::Settings;
use super::seeds::Seed;
use super::soft_nms::Proposal;
use super::span_mlp::Computed;
use super::stages::{Lesson, Located, Stages};
use super::words::WordVectors;
use crate::annotation::Span;
use crate::encoder::Encoded;
use crate::model::{
    BatchLoss, Candidates, Class, FirstWordFilter, Found, GoldMention, ModelError, Prediction, SampleCounts, Samples,
    Sentence, TaskHead, TaskHeadConfig, dropout_of_models, likely,
};
use crate::nn::kernels::has_bf16;
use crate::nn::{Mode, Operations, Rng, Scope};
use candle_core::Tensor;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct LocateHead {
    words: WordVectors,
    stages: Stages,
    settings: Settings,
    classes: usize,
    dropout: f32,
}

impl LocateHead {
    /// For an encoder with vectors of `hidden` numbers.
    pub(super) fn new(mut scope: Scope<'_>, hidden: usize, config: &TaskHeadConfig) -> Result<Self, ModelError> {
        let (settings, classes, dropout) = (Settings::new(&config.options)?, config.classes, config.dropout);
        let words = WordVectors::new(&mut scope, settings.word_shapes, config.operations)?;
        let bf16 = config.bf16 && has_bf16() && config.operations == Operations::ByHand;
        let computed = Computed { dropout, bf16, operations: config.operations };
        let stages = Stages::new(&mut scope, [words.size(hidden), hidden, classes], computed)?;
        Ok(Self { words, stages, settings, classes, dropout })
    }

    /// Where the seeds of each sentence lead.
    fn locate(
        &self,
        words: &Tensor,
        encoded: &Encoded,
        filter: FirstWordFilter,
    ) -> Result<Vec<Vec<Located>>, ModelError> {
        let least = match filter {
            FirstWordFilter::AtLeast(_) => Some(self.settings.filter),
            FirstWordFilter::All => None,
        };
        Ok(self.stages.locate(words, encoded.words().sentences(), self.settings.longest_seed, least)?)
    }

    fn answer(
        &self,
        words: &Tensor,
        encoded: &Encoded,
        located: &[Vec<Located>],
    ) -> Result<Vec<Prediction>, ModelError> {
        let tables = self.stages.label(words, encoded.words().sentences(), located)?;
        located.iter().zip(tables).map(|(located, table)| self.decide(located, table)).collect()
    }

    /// The located spans of a sentence with the probabilities of their classes, and which of them are mentions: Soft-NMS
    /// among those whose label is more probable than "none".
    fn decide(&self, located: &[Located], table: Vec<f32>) -> Result<Prediction, ModelError> {
        let spans = located.iter().map(|located| located.span).collect();
        let candidates = Candidates::new(spans, self.classes, table).ok_or(ModelError::Incomplete)?;
        let mut prediction = Prediction::of_candidates(candidates);
        let labelled: BTreeMap<Span, Found> =
            likely(&prediction, f32::INFINITY).into_iter().map(|found| (found.span, found)).collect();
        let proposal = |located: &Located| {
            let score = labelled.get(&located.span)?.score * located.seeds as f32;
            Some(Proposal { span: located.span, score })
        };
        let mentions = self.settings.soft_nms.choose(located.iter().filter_map(proposal).collect());
        let found = mentions.iter().filter_map(|mention| labelled.get(&mention.span).copied());
        prediction.decided = Some(found.collect());
        Ok(prediction)
    }
}

impl TaskHead for LocateHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<BatchLoss, ModelError> {
        let gold: Vec<Vec<(Span, Class)>> = batch.iter().map(|sentence| gold(sentence)).collect();
        let Settings { drawing, lengths, .. } = &self.settings;
        let sentences = encoded.words().sentences().iter().cloned().zip(&gold);
        let lessons = sentences.map(|(words, gold)| {
            let seeds = drawing.draw(words.len(), gold, lengths, rng);
            Lesson { words, gold, seeds }
        });
        let lessons: Vec<Lesson<'_>> = lessons.collect();
        let spans = counts(lessons.iter().flat_map(|lesson| &lesson.seeds));
        let words = self.words.of(encoded, batch)?;
        let total = self.stages.loss(&words, &lessons, &self.settings, &mut Mode::Train(rng))?;
        Ok(BatchLoss { total, samples: Samples { spans, ..Samples::default() } })
    }

    /// It predicts no first words: without the filter of first words its own filter is off, too.
    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let words = self.words.of(encoded, batch)?;
        let located = self.locate(&words, encoded, filter)?;
        self.answer(&words, encoded, &located)
    }

    /// All models label the spans that are located without dropout.
    fn predict_with_dropout(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: FirstWordFilter,
        passes: usize,
    ) -> Result<Vec<Vec<Prediction>>, ModelError> {
        let located = self.locate(&self.words.of(encoded, batch)?, encoded, filter)?;
        let rate = dropout_of_models(self.dropout);
        let pass = |model| {
            let encoded = encoded.without_columns(rate, model)?;
            self.answer(&self.words.of(&encoded, batch)?, &encoded, &located)
        };
        (0..passes).map(pass).collect()
    }

    /// Those of the classifier, whether or not a seed leads to the span.
    fn span_vectors(&self, encoded: &Encoded, batch: &[&Sentence], spans: &[Vec<Span>]) -> Result<Tensor, ModelError> {
        let words = self.words.of(encoded, batch)?;
        Ok(self.stages.vectors(&words, encoded.words().sentences(), spans)?)
    }
}

/// The mentions without gaps, ordered by span; of several labels on a span the first.
fn gold(sentence: &Sentence) -> Vec<(Span, Class)> {
    let contiguous = |mention: &GoldMention| Some((mention.fragments.contiguous()?, mention.class));
    let mut gold: Vec<(Span, Class)> = sentence.mentions().iter().filter_map(contiguous).collect();
    gold.sort_unstable();
    gold.dedup_by_key(|(span, _)| *span);
    gold
}

fn counts<'a>(seeds: impl Iterator<Item = &'a Seed>) -> SampleCounts {
    let mut counts = SampleCounts::default();
    for seed in seeds {
        match seed.offsets {
            Some(_) => counts.positive += 1,
            None => counts.negative += 1,
        }
    }
    counts
}
