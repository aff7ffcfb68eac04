//! Filter, boundary regressor and classifier: locating mentions from seeds on, and labelling what was located.

use super::losses::{classifier_loss, filter_loss, regression_loss};
use super::offsets::moved;
use super::options::Settings;
use super::seeds::{Seed, of_lengths, pair, soft_weight};
use super::span_mlp::{Computed, SpanMlp};
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
        computed: Computed,
    ) -> Result<Self, NnError> {
        let mut mlp = |name, outputs| SpanMlp::new(scope.scope(name), [size, inner, outputs], computed);
        Ok(Self {
            filter: mlp("filter", 1)?,
            regressor: mlp("regressor", 2)?,
            classifier: mlp("classifier", classes)?,
            classes,
            operations: computed.operations,
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
        let mut seeds: Vec<(&Lesson<'_>, &Seed)> =
            lessons.iter().flat_map(|lesson| lesson.seeds.iter().map(move |seed| (lesson, seed))).collect();
        // The positive ones first.
        seeds.sort_by_key(|(_, seed)| seed.offsets.is_none());
        let positive = seeds.partition_point(|(_, seed)| seed.offsets.is_some());
        let (mut inner, mut outer) = (SpanRows::default(), SpanRows::default());
        for (lesson, seed) in &seeds {
            inner.push_with_inner(&lesson.words, seed.span);
            outer.push_with_outer(&lesson.words, seed.span);
        }
        let greatest = segment_max(words, &inner.words, self.operations)?;

        let logits = self.filter.forward(words, &greatest, [&inner.left, &inner.right], mode)?.squeeze(1)?;
        let are_positive: Vec<f32> = (0..seeds.len()).map(|row| f32::from(row < positive)).collect();
        let weight = |seed: &Seed| soft_weight(seed.iou, seed.offsets.is_some(), settings.focus);
        let weights: Vec<f32> = seeds.iter().map(|(_, seed)| weight(seed)).collect();
        let mut total = filter_loss(&logits, &are_positive, &weights)?;

        // Positive seeds teach the regressor; the others are moved, too, but nothing flows back from there.
        let (mut regressed, mut classified) = (Regressed::default(), Classified::default());
        let mut taught = None;
        for rows in [0..positive, positive..seeds.len()].into_iter().filter(|rows| !rows.is_empty()) {
            let (_, left, right) = outer.part(rows.clone());
            let greatest = greatest.narrow(0, rows.start, rows.len())?;
            let offsets = self.regressor.forward(words, &greatest, [left, right], mode)?;
            let predicted = offsets.flatten_all()?.to_vec1::<f32>()?;
            for ((row, (lesson, seed)), by) in (0..).zip(&seeds[rows]).zip(predicted.as_chunks::<2>().0) {
                let Some(span) = moved(seed.span, *by, lesson.words.len()) else { continue };
                classified.push(lesson, span, settings);
                if let Some(offsets) = seed.offsets {
                    regressed.push(row, seed.span, offsets);
                }
            }
            taught.get_or_insert(offsets);
        }
        if let Some(offsets) = taught.filter(|_| !regressed.rows.is_empty()) {
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
        let located =
            |counts: BTreeMap<Span, usize>| counts.into_iter().map(|(span, seeds)| Located { span, seeds }).collect();
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

    /// What the classifier's second layer gets of given spans, `[N, S]`; one list a sentence.
    pub(super) fn vectors(
        &self,
        words: &Tensor,
        sentences: &[Range<usize>],
        spans: &[Vec<Span>],
    ) -> Result<Tensor, NnError> {
        let mut rows = SpanRows::default();
        for (sentence, spans) in sentences.iter().zip(spans) {
            spans.iter().for_each(|span| rows.push_with_inner(sentence, *span));
        }
        let greatest = segment_max(words, &rows.words, self.operations)?;
        self.classifier.inner(words, &greatest, [&rows.left, &rows.right], &mut Mode::Predict)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{ParameterGroup, Vars};
    use candle_core::Device;
    use std::collections::HashMap;

    /// Stages that say the same of every span: the biases of their last layers.
    fn stages(filter: f32, offsets: [f32; 2], classes: &[f32], operations: Operations) -> Stages {
        let mut weights = HashMap::new();
        for (name, biases) in [("filter", &[filter][..]), ("regressor", &offsets), ("classifier", classes)] {
            let outputs = biases.len();
            let zeros = |rows: usize, columns: usize| {
                Tensor::from_vec(vec![0f32; rows * columns], (rows, columns), &Device::Cpu)
            };
            weights.insert(format!("s.{name}.inner.weight"), zeros(4, 6).unwrap());
            weights.insert(format!("s.{name}.inner.bias"), Tensor::from_vec(vec![0f32; 4], 4, &Device::Cpu).unwrap());
            weights.insert(format!("s.{name}.output.weight"), zeros(outputs, 4).unwrap());
            weights.insert(format!("s.{name}.output.bias"), Tensor::from_slice(biases, outputs, &Device::Cpu).unwrap());
        }
        let mut vars = Vars::fixed(weights, &Device::Cpu);
        let mut scope = vars.scope("s", ParameterGroup::TaskHead);
        Stages::new(&mut scope, [2, 4, classes.len()], Computed { dropout: 0.0, bf16: false, operations }).unwrap()
    }

    fn located(stages: &Stages, least: Option<f32>) -> Vec<Vec<(String, usize)>> {
        let words = Tensor::from_vec(vec![0.5f32; 10], (5, 2), &Device::Cpu).unwrap();
        let located = stages.locate(&words, &[0..3, 3..3, 3..5], 2, least).unwrap();
        let seen = |located: &Located| (format!("{:?}", located.span), located.seeds);
        located.iter().map(|sentence| sentence.iter().map(seen).collect()).collect()
    }

    #[test]
    fn seeds_that_come_to_one_span_are_counted_and_none_leaves_its_sentence() {
        for operations in [Operations::ByHand, Operations::Plain] {
            let to_the_end = stages(0.0, [0.0, 7.0], &[0.0, 1.0], operations);
            let seen = |spans: &[(&str, usize)]| -> Vec<(String, usize)> {
                spans.iter().map(|(span, seeds)| ((*span).to_owned(), *seeds)).collect()
            };
            let expected =
                [seen(&[("0..3", 2), ("1..3", 2), ("2..3", 1)]), seen(&[]), seen(&[("0..2", 2), ("1..2", 1)])];
            assert_eq!(located(&to_the_end, Some(0.5)), expected);
            // Of a seed of two words the first is left; of one word nothing, so it stays where it is.
            let shorter = stages(0.0, [0.0, -1.0], &[0.0, 1.0], operations);
            assert_eq!(located(&shorter, None)[0], seen(&[("0..1", 2), ("1..2", 2), ("2..3", 1)]));
        }
    }

    #[test]
    fn the_filter_keeps_what_is_likely_enough_and_what_is_no_number() {
        let count = |logit, least| -> usize {
            let stages = stages(logit, [0.0; 2], &[0.0, 1.0], Operations::ByHand);
            located(&stages, least).iter().flatten().map(|(_, seeds)| seeds).sum()
        };
        // 1 / (1 + e^2) is 0.119.
        assert_eq!([count(-2.0, Some(0.11)), count(-2.0, Some(0.13)), count(-2.0, None)], [5 + 3, 0, 5 + 3]);
        assert_eq!(count(f32::NAN, Some(0.9)), 5 + 3);
    }

    #[test]
    fn each_sentence_has_its_table_of_probabilities() {
        let stages = stages(0.0, [0.0; 2], &[0.0, 3f32.ln()], Operations::ByHand);
        let words = Tensor::from_vec(vec![0.5f32; 10], (5, 2), &Device::Cpu).unwrap();
        let span = |start, end| Located { span: Span::from_range(start..end).unwrap(), seeds: 1 };
        let sentences = [0..3, 3..5, 5..5];
        let tables =
            stages.label(&words, &sentences, &[vec![span(0, 1), span(0, 3)], vec![span(1, 2)], vec![]]).unwrap();
        assert_eq!(tables.iter().map(Vec::len).collect::<Vec<_>>(), [4, 2, 0]);
        assert!(tables.concat().chunks(2).all(|row| (row[0] - 0.25).abs() < 1e-6 && (row[1] - 0.75).abs() < 1e-6));
    }
}
