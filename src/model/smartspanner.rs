//! SmartSpanNER: span classification, guided by which words are first words of entities (NEH).
//!
//! A span from word i to word j is `s(i,j) = [h_i; h_j; z]`: i's first subword, j's last subword, an embedding of the
//! width (Eq. 2). Two layers classify it (Eq. 3); one linear layer on `s(i,i)` says whether i is a head (Eq. 5). The
//! loss is `w · L_h + (1 - w) · L_s` (Eq. 7), each the mean over its own samples.
//!
//! Ours: categorical cross-entropy where the paper prints binary terms over a softmax (Eq. 4); samples drawn anew
//! each epoch; word-shape features beside `h` for encoders that don't see case. The first layer is applied to words and
//! widths instead of spans, `W₁h_i + W₂h_j + W₃z`, which is the same function at a fraction of the work.

use super::candidates::{Rows, enumerate, sample};
use super::{
    Architecture, Candidates, Head, HeadConfig, HeadFilter, Loss, ModelError, Prediction, Sentence, WORD_SHAPES,
};
use crate::encoder::Encoded;
use crate::nn::{
    Embedding, Init, Linear, Mode, Rng, Scope, cross_entropy, dropout, gelu, project, softmax, u32_tensor,
};
use candle_core::Tensor;

const WIDTH_SIZE: usize = 50;
const SHAPE_SIZE: usize = 25;
/// Candidates that are classified at a time: bounds the memory of a prediction without a filter.
const CHUNK: usize = 8192;

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
        let word = hidden + if config.word_shapes { SHAPE_SIZE } else { 0 };
        let size = 2 * word + WIDTH_SIZE;
        let init = Init::Uniform { bound: 1.0 / (size as f32).sqrt() };
        let mut shapes = None;
        if config.word_shapes {
            shapes = Some(Embedding::new(scope.scope("word_shape"), WORD_SHAPES, SHAPE_SIZE, 1.0)?);
        }
        let mut inner = scope.scope("span.inner");
        Ok(Box::new(SpanHead {
            inner_first: inner.declare("first.weight", &[size, word], init)?,
            inner_last: inner.declare("last.weight", &[size, word], init)?,
            inner_width: Linear::uniform_within(inner.scope("width"), WIDTH_SIZE, size, size)?,
            shapes,
            widths: Embedding::new(scope.scope("width"), config.max_width, WIDTH_SIZE, 1.0)?,
            output: Linear::uniform(scope.scope("span.output"), size, config.classes)?,
            neh: Linear::uniform(scope.scope("neh"), size, 2)?,
            config: *config,
        }))
    }
}

#[derive(Debug)]
struct SpanHead {
    /// W₁ and W₂, `[S, D]`.
    inner_first: Tensor,
    inner_last: Tensor,
    /// W₃ and the bias of the whole layer, `[S, 50]` and `[S]`.
    inner_width: Linear,
    shapes: Option<Embedding>,
    /// `[max width, 50]`
    widths: Embedding,
    output: Linear,
    neh: Linear,
    config: HeadConfig,
}

/// What the first layer makes of each word and each width, so that a span needs only a sum.
struct Parts {
    /// `[W, S]`
    first: Tensor,
    last: Tensor,
    /// `[max width, S]`
    width: Tensor,
}

impl SpanHead {
    /// Vectors of the words as first and as last words, `[W, D]` each.
    fn words(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        mode: &mut Mode<'_>,
    ) -> Result<(Tensor, Tensor), ModelError> {
        let (mut first, mut last) = encoded.ends()?;
        if let Some(table) = &self.shapes {
            let shapes: Vec<u32> = batch.iter().flat_map(|s| s.word_shapes().iter().copied()).collect();
            let shapes = table.forward(&u32_tensor(&shapes, first.device())?)?;
            first = Tensor::cat(&[&first, &shapes], 1)?;
            last = Tensor::cat(&[&last, &shapes], 1)?;
        }
        Ok((dropout(&first, self.config.dropout, mode)?, dropout(&last, self.config.dropout, mode)?))
    }

    /// Logits of "no head" and "head", `[W, 2]`.
    fn head_logits(&self, first: &Tensor, last: &Tensor) -> Result<Tensor, ModelError> {
        let (words, _) = first.dims2()?;
        let width = self.widths.weight().narrow(0, 0, 1)?.expand((words, WIDTH_SIZE))?;
        Ok(self.neh.forward(&Tensor::cat(&[first, last, &width], 1)?)?)
    }

    fn parts(&self, first: &Tensor, last: &Tensor) -> Result<Parts, ModelError> {
        Ok(Parts {
            first: project(first, &self.inner_first)?,
            last: project(last, &self.inner_last)?,
            width: self.inner_width.forward(self.widths.weight())?,
        })
    }

    /// Logits of the classes of N candidates, `[N, C]`.
    fn span_logits(
        &self,
        parts: &Parts,
        (first, last, width): (&[u32], &[u32], &[u32]),
        mode: &mut Mode<'_>,
    ) -> Result<Tensor, ModelError> {
        let rows = |values| u32_tensor(values, parts.first.device());
        let first = parts.first.index_select(&rows(first)?, 0)?;
        let last = parts.last.index_select(&rows(last)?, 0)?;
        let width = parts.width.index_select(&rows(width)?, 0)?;
        let inner = dropout(&gelu(&((first + last)? + width)?)?, self.config.dropout, mode)?;
        Ok(self.output.forward(&inner)?)
    }

    /// Probabilities of the classes, row after row.
    fn span_probabilities(&self, parts: &Parts, rows: &Rows) -> Result<Vec<f32>, ModelError> {
        let mut all = Vec::with_capacity(rows.len() * self.config.classes);
        for from in (0..rows.len()).step_by(CHUNK) {
            let logits = self.span_logits(parts, rows.slice(from, CHUNK), &mut Mode::Predict)?;
            all.extend(softmax(&logits)?.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(all)
    }
}

impl Head for SpanHead {
    fn loss(&self, encoded: &Encoded, batch: &[&Sentence], rng: &mut Rng) -> Result<Loss, ModelError> {
        let (rows, heads, samples) = sample(batch, self.config.max_width, self.config.sampling, rng);
        let mode = &mut Mode::Train(rng);
        let (first, last) = self.words(encoded, batch, mode)?;
        let head_loss = cross_entropy(&self.head_logits(&first, &last)?, &heads)?;
        let mut total = (head_loss * self.config.head_weight)?;
        if rows.len() > 0 {
            let logits = self.span_logits(&self.parts(&first, &last)?, rows.slice(0, rows.len()), mode)?;
            total = (total + (cross_entropy(&logits, &rows.classes)? * (1.0 - self.config.head_weight))?)?;
        }
        Ok(Loss { total, samples })
    }

    fn predict(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        filter: HeadFilter,
    ) -> Result<Vec<Prediction>, ModelError> {
        let (first, last) = self.words(encoded, batch, &mut Mode::Predict)?;
        let heads = softmax(&self.head_logits(&first, &last)?)?.narrow(1, 1, 1)?.flatten_all()?.to_vec1::<f32>()?;
        let (rows, lists) = enumerate(batch, self.config.max_width, |word| match filter {
            HeadFilter::AtLeast(threshold) => heads.get(word).is_some_and(|p| *p >= threshold),
            HeadFilter::All => true,
        });
        let probabilities = match rows.len() {
            0 => Vec::new(),
            _ => self.span_probabilities(&self.parts(&first, &last)?, &rows)?,
        };
        let (mut word, mut row) = (heads.into_iter(), probabilities.into_iter());
        let mut predictions = Vec::with_capacity(batch.len());
        for (sentence, spans) in batch.iter().zip(lists) {
            let table = row.by_ref().take(spans.len() * self.config.classes).collect();
            let candidates = Candidates::new(spans, self.config.classes, table).ok_or(ModelError::Incomplete)?;
            let heads = Some(word.by_ref().take(sentence.len()).collect());
            predictions.push(Prediction { heads, candidates });
        }
        Ok(predictions)
    }
}
