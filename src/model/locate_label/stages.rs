//! Filter, boundary regressor and classifier: locating mentions from seeds on, and labelling what was located.

use super::losses::{classifier_loss, filter_loss, regression_loss};
use super::offsets::moved;
use super::options::Settings;
use super::seeds::{Seed, of_lengths, pair, soft_weight};
use super::span_mlp::SpanMlp;
use super::span_rows::SpanRows;
use crate::annotation::Span;
use crate::model::Class;
use crate::nn::kernels::softmax_row;
use crate::nn::{Mode, NnError, Operations, Scope, segment_max};
use candle_core::Tensor;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Debug)]
pub(super) struct Stages {
    filter: SpanMlp,
    regressor: SpanMlp,
    classifier: SpanMlp,
    classes: usize,
    operations: Operations,
}

/// What is learnt from one sentence.
#[derive(Debug)]
pub(super) struct Lesson<'a> {
    /// Its words among those of the batch.
    pub words: Range<usize>,
    /// Ordered by span, each span once.
    pub gold: &'a [(Span, Class)],
    pub seeds: Vec<Seed>,
}

/// A span that seeds came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Located {
    pub span: Span,
    /// How many seeds did.
    pub seeds: usize,
}

impl Stages {
    /// For words with vectors of `size` numbers, with `inner` numbers between two layers.
    pub(super) fn new(
        scope: &mut Scope<'_>,
        [size, inner, classes]: [usize; 3],
        dropout: f32,
        operations: Operations,
    ) -> Result<Self, NnError> {
        let mut mlp = |name, outputs| SpanMlp::new(scope.scope(name), [size, inner, outputs], dropout, operations);
        Ok(Self {
            filter: mlp("filter", 1)?,
            regressor: mlp("regressor", 2)?,
            classifier: mlp("classifier", classes)?,
            classes,
            operations,
        })
    }

    /// The loss of a batch (Eq. 17), a scalar; `words` `[W, D]`. There must be a seed.
    ///
    /// A seed of which the regressor leaves no word counts for the filter alone. A moved span is paired anew, because the
    /// classifier sees nothing of where it came from (the paper keeps the mention of the seed).
    pub(super) fn loss(
        &self,
        words: &Tensor,
        lessons: &[Lesson<'_>],
        settings: &Settings,
        mode: &mut Mode<'_>,
    ) -> Result<Tensor, NnError> {
        let (mut inner, mut outer) = (SpanRows::default(), SpanRows::default());
        let seeds: Vec<(&Lesson<'_>, &Seed)> =
            lessons.iter().flat_map(|lesson| lesson.seeds.iter().map(move |seed| (lesson, seed))).collect();
        for (lesson, seed) in &seeds {
            inner.push_with_inner(&lesson.words, seed.span);
            outer.push_with_outer(&lesson.words, seed.span);
        }
        let greatest = segment_max(words, &inner.words, self.operations)?;

        let logits = self.filter.forward(words, &greatest, [&inner.left, &inner.right], mode)?.squeeze(1)?;
        let is_positive = |seed: &Seed| seed.offsets.is_some();
        let positive: Vec<f32> = seeds.iter().map(|(_, seed)| f32::from(is_positive(seed))).collect();
        let weight = |seed: &Seed| soft_weight(seed.iou, is_positive(seed), settings.focus);
        let weights: Vec<f32> = seeds.iter().map(|(_, seed)| weight(seed)).collect();
        let mut total = filter_loss(&logits, &positive, &weights)?;

        let offsets = self.regressor.forward(words, &greatest, [&outer.left, &outer.right], mode)?;
        let predicted = offsets.flatten_all()?.to_vec1::<f32>()?;
        let (mut regressed, mut classified) = (Regressed::default(), Classified::default());
        let (by_seed, _) = predicted.as_chunks::<2>();
        for ((row, (lesson, seed)), offsets) in (0..).zip(&seeds).zip(by_seed) {
            let Some(span) = moved(seed.span, *offsets, lesson.words.len()) else { continue };
            if let Some(offsets) = seed.offsets {
                regressed.push(row, seed.span, offsets);
            }
            classified.push(lesson, span, settings);
        }
        if !regressed.rows.is_empty() {
            let rows = Tensor::from_slice(&regressed.rows, regressed.rows.len(), words.device())?;
            let loss = regression_loss(&offsets.index_select(&rows, 0)?, &regressed.offsets, &regressed.widths)?;
            total = (total + (loss * settings.regression_weight)?)?;
        }
        if classified.spans.len() > 0 {
            let Classified { spans, classes, weights } = &classified;
            let greatest = segment_max(words, &spans.words, self.operations)?;
            let logits = self.classifier.forward(words, &greatest, [&spans.left, &spans.right], mode)?;
            total = (total + classifier_loss(&logits, classes, weights)?)?;
        }
        Ok(total)
    }

    /// Where the seeds of all lengths up to `longest` lead in each sentence, ordered by span. The filter keeps those with a
    /// probability of `least` or more; without, all are kept.
    pub(super) fn locate(
        &self,
        words: &Tensor,
        sentences: &[Range<usize>],
        longest: usize,
        least: Option<f32>,
    ) -> Result<Vec<Vec<Located>>, NnError> {
        let lengths: Vec<usize> = (1..=longest).collect();
        let (mut seeds, mut inner) = (Vec::new(), SpanRows::default());
        for (number, sentence) in sentences.iter().enumerate() {
            for span in of_lengths(sentence.len(), &lengths) {
                seeds.push((number, span));
                inner.push_with_inner(sentence, span);
            }
        }
        if let Some(least) = least {
            let logits = self.filter.numbers_of_many(words, &inner)?;
            let mut logits = logits.into_iter();
            // What is no number is kept, for the classifier to tell of it.
            let is_unlikely = |logit: f32| 1.0 / (1.0 + (-logit).exp()) < least;
            seeds.retain(|_| logits.next().is_some_and(|logit| !is_unlikely(logit)));
        }
        let mut outer = SpanRows::default();
        for (number, span) in &seeds {
            outer.push_with_outer(&sentences[*number], *span);
        }
        let offsets = self.regressor.numbers(words, &outer)?;
        let mut counts = vec![BTreeMap::new(); sentences.len()];
        for ((number, seed), offsets) in seeds.into_iter().zip(offsets.as_chunks::<2>().0) {
            let span = moved(seed, *offsets, sentences[number].len()).unwrap_or(seed);
            *counts[number].entry(span).or_insert(0) += 1;
        }
        let located = |counts: BTreeMap<Span, usize>| {
            counts.into_iter().map(|(span, seeds)| Located { span, seeds }).collect()
        };
        Ok(counts.into_iter().map(located).collect())
    }

    /// Probabilities of the classes of each span that was located, row after row and one table for each sentence.
    pub(super) fn label(
        &self,
        words: &Tensor,
        sentences: &[Range<usize>],
        located: &[Vec<Located>],
    ) -> Result<Vec<Vec<f32>>, NnError> {
        let mut rows = SpanRows::default();
        for (sentence, located) in sentences.iter().zip(located) {
            located.iter().for_each(|located| rows.push_with_inner(sentence, located.span));
        }
        let mut rest = self.classifier.numbers(words, &rows)?;
        rest.chunks_exact_mut(self.classes.max(1)).for_each(|row| softmax_row(row, 1.0));
        let tables = located.iter().map(|located| {
            let after = rest.split_off(rest.len().min(located.len() * self.classes));
            std::mem::replace(&mut rest, after)
        });
        Ok(tables.collect())
    }
}

/// Positive seeds whose regression is learnt.
#[derive(Default)]
struct Regressed {
    rows: Vec<u32>,
    offsets: Vec<[f32; 2]>,
    /// Of their mentions, in words.
    widths: Vec<f32>,
}

impl Regressed {
    fn push(&mut self, row: u32, seed: Span, offsets: [f32; 2]) {
        let [left, right] = offsets;
        self.rows.push(row);
        self.offsets.push(offsets);
        self.widths.push(seed.width_tokens() as f32 + right - left);
    }
}

/// Moved spans, with what they are and how much that counts.
#[derive(Default)]
struct Classified {
    spans: SpanRows,
    classes: Vec<Class>,
    weights: Vec<f32>,
}

impl Classified {
    fn push(&mut self, lesson: &Lesson<'_>, span: Span, settings: &Settings) {
        let (class, iou) = pair(span, lesson.gold).map_or((0, 0.0), |pair| (pair.class, pair.iou));
        let is_mention = class > 0 && iou >= settings.least_iou;
        self.spans.push_with_inner(&lesson.words, span);
        self.classes.push(if is_mention { class } else { 0 });
        self.weights.push(soft_weight(iou, is_mention, settings.focus));
    }
}
