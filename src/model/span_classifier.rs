//! The classifier of candidate spans that SmartSpanNER and SpanNER share.
//!
//! A span from word i to word j is `s(i,j) = [h_i; h_j; z]`: i's first subword, j's last subword, an embedding of the
//! width (SmartSpanNER, Eq. 2). Two layers with GELU and dropout between them classify it (Eq. 3).
//!
//! Ours: word-shape features beside `h` for encoders that don't see case. The first layer is applied to words and
//! widths instead of spans, `W₁h_i + W₂h_j + W₃z`, which is the same function at a fraction of the work.

use super::candidates::Rows;
use super::shape_vectors::{ShapeVectors, shapes_of};
use super::span_pass::{self, SpanPass};
use super::{MAX_WIDTH, ModelError, Sentence, TaskHeadConfig, WORD_SHAPE_FEATURES, dropout_of_models};
use crate::encoder::{Encoded, column_factors};
use crate::nn::kernels::has_bf16;
use crate::nn::{
    Embedding, Init, Linear, Mode, Operations, Scope, as_slice, cross_entropy, plain, project, project_pair, softmax,
    u32_tensor,
};
use candle_core::Tensor;

/// Numbers of a width's vector.
pub(super) const WIDTH_SIZE: usize = 50;
/// Candidates that are classified at a time where not by hand: bounds the memory of a prediction without a filter.
const CHUNK: usize = 8192;

/// Where the layer with a row for each class lies.
const OUTPUT: &str = "span.output";

#[derive(Debug)]
pub(super) struct SpanClassifier {
    /// W₁ and W₂, `[S, D]`.
    inner_first: Tensor,
    inner_last: Tensor,
    /// W₃ and the bias of the whole layer, `[S, 50]` and `[S]`.
    inner_width: Linear,
    shapes: ShapeVectors,
    /// S: numbers of a span's vector.
    size: usize,
    /// `[max width, 50]`
    widths: Embedding,
    output: Linear,
    dropout: f32,
    classes: usize,
    /// Whether products are of half precision.
    bf16: bool,
    operations: Operations,
}

/// What the first layer makes of each word and each width, so that a span needs only a sum.
pub(super) struct Parts {
    /// `[F + L, S]`, see [`Words`].
    words: Tensor,
    firsts: usize,
    /// `[max width, S]`
    width: Tensor,
}

/// Vectors of F words as first words of spans, and below them of L words as last ones, `[F + L, D]`.
pub(super) struct Words {
    both: Tensor,
    firsts: usize,
}

impl SpanClassifier {
    /// For an encoder with vectors of `hidden` numbers.
    pub(super) fn new(scope: &mut Scope<'_>, hidden: usize, config: &TaskHeadConfig) -> Result<Self, ModelError> {
        let shapes = ShapeVectors::new(scope, config.options.flag(&WORD_SHAPE_FEATURES)?)?;
        let word = shapes.size_with(hidden);
        let size = 2 * word + WIDTH_SIZE;
        let init = Init::Uniform { bound: 1.0 / (size as f32).sqrt() };
        let mut inner = scope.scope("span.inner");
        Ok(Self {
            inner_first: inner.declare("first.weight", &[size, word], init)?,
            inner_last: inner.declare("last.weight", &[size, word], init)?,
            inner_width: Linear::uniform_within(inner.scope("width"), WIDTH_SIZE, size, size)?,
            shapes,
            size,
            widths: Embedding::new(scope.scope("width"), config.options.whole(&MAX_WIDTH)?, WIDTH_SIZE, 1.0)?,
            output: Linear::uniform(scope.scope(OUTPUT), size, config.classes)?,
            dropout: config.dropout,
            classes: config.classes,
            bf16: config.bf16 && has_bf16(),
            operations: config.operations,
        })
    }

    /// Whether a variable with this name has a row for each class.
    pub(super) fn is_of_classes(name: &str) -> bool {
        name.contains(OUTPUT)
    }

    /// S: numbers of a span's vector.
    pub(super) fn span_size(&self) -> usize {
        self.size
    }

    /// The vectors of all words of a batch.
    pub(super) fn words(
        &self,
        encoded: &Encoded,
        batch: &[&Sentence],
        mode: &mut Mode<'_>,
    ) -> Result<Words, ModelError> {
        let both = self.shapes.beside(encoded.ends()?, || shapes_of(batch).repeat(2))?;
        let firsts = both.dim(0)? / 2;
        Ok(Words { both: self.operations.dropout(&both, self.dropout, mode)?, firsts })
    }

    /// The vectors as the model of a pass sees them, which drops the same numbers of every word: so what it says of a
    /// sentence depends on no other.
    pub(super) fn with_dropout(&self, words: &Words, pass: usize) -> Result<Words, ModelError> {
        let (_, d) = words.both.dims2()?;
        let factors = column_factors(d, dropout_of_models(self.dropout), pass);
        let factors = Tensor::from_vec(factors, d, words.both.device())?;
        Ok(Words { both: words.both.broadcast_mul(&factors)?, firsts: words.firsts })
    }

    /// What a linear layer makes of each word as a span of its own, `s(i,i)`; its weight `[C, S]`, bias `[C]`, result `[W, C]`.
    pub(super) fn of_single_words(&self, words: &Words, layer: &Linear) -> Result<Tensor, ModelError> {
        let (count, (_, d)) = (words.firsts, words.both.dims2()?);
        let part = |from, size| layer.weight().narrow(1, from, size)?.contiguous();
        let both = project_pair(&words.both, [&part(0, d)?, &part(d, d)?], count, false, self.operations)?;
        let width = project(&self.widths.weight().narrow(0, 0, 1)?, &part(2 * d, WIDTH_SIZE)?)?;
        let same_for_all = width.broadcast_add(layer.bias())?;
        Ok((both.narrow(0, 0, count)? + both.narrow(0, count, count)?)?.broadcast_add(&same_for_all)?)
    }

    pub(super) fn parts(&self, words: &Words) -> Result<Parts, ModelError> {
        let weights = [&self.inner_first, &self.inner_last];
        Ok(Parts {
            words: project_pair(&words.both, weights, words.firsts, self.bf16, self.operations)?,
            firsts: words.firsts,
            width: self.inner_width.forward(self.widths.weight(), self.operations)?,
        })
    }

    /// Mean cross-entropy of the candidates' classes, a scalar. By hand its memory does not grow with their number.
    pub(super) fn loss(&self, parts: &Parts, rows: &Rows, mode: &mut Mode<'_>) -> Result<Tensor, ModelError> {
        if self.operations == Operations::Plain {
            if rows.len() == 0 {
                // The mean of nothing would be no number.
                return Ok((parts.words.sum_all()? * 0.0)?);
            }
            return Ok(cross_entropy(&self.logits(parts, rows.slice(0, rows.len()), mode)?, &rows.classes)?);
        }
        let output = Tensor::cat(&[self.output.weight(), &self.output.bias().unsqueeze(1)?], 1)?;
        let loss = span_pass::SpanLoss::new(rows, mode.mask(self.dropout));
        Ok(parts.words.apply_op3(&parts.width.contiguous()?, &output, loss)?)
    }

    /// What the output layer gets of candidates in prediction, `[N, S]`.
    pub(super) fn vectors(&self, words: &Words, rows: &Rows) -> Result<Tensor, ModelError> {
        self.inner(&self.parts(words)?, rows.slice(0, rows.len()))
    }

    /// Logits of the classes of N candidates, `[N, C]`.
    fn logits(&self, parts: &Parts, rows: (&[u32], &[u32], &[u32]), mode: &mut Mode<'_>) -> Result<Tensor, ModelError> {
        let inner = self.operations.dropout(&self.inner(parts, rows)?, self.dropout, mode)?;
        Ok(self.output.forward(&inner, self.operations)?)
    }

    /// The first layer of N candidates with GELU, `[N, S]`.
    fn inner(&self, parts: &Parts, (first, last, width): (&[u32], &[u32], &[u32])) -> Result<Tensor, ModelError> {
        let rows = |values: &[u32]| u32_tensor(values, parts.words.device());
        let below: Vec<u32> = last.iter().map(|word| word + parts.firsts as u32).collect();
        let first = parts.words.index_select(&rows(first)?, 0)?;
        let last = parts.words.index_select(&rows(&below)?, 0)?;
        let width = parts.width.index_select(&rows(width)?, 0)?;
        Ok(plain::gelu(&((first + last)? + width)?)?)
    }

    /// Probabilities of the classes, row after row.
    pub(super) fn probabilities(&self, words: &Words, rows: &Rows) -> Result<Vec<f32>, ModelError> {
        if rows.len() == 0 {
            return Ok(Vec::new());
        }
        // Few words begin an entity, so most need no product as first words.
        let (firsts, first) = needed(&rows.first);
        let (lasts, last) = needed(&rows.last);
        let kept: Vec<u32> =
            firsts.iter().copied().chain(lasts.iter().map(|word| word + words.firsts as u32)).collect();
        let both = words.both.index_select(&u32_tensor(&kept, words.both.device())?, 0)?;
        let rows = &Rows { first, last, width: rows.width.clone(), ..Rows::default() };
        let parts = self.parts(&Words { both, firsts: firsts.len() })?;
        if self.operations == Operations::ByHand {
            let (words, width) = (as_slice(&parts.words)?, as_slice(&parts.width)?);
            let (weight, bias) = (as_slice(self.output.weight())?, as_slice(self.output.bias())?);
            let (first, last) = words.split_at(parts.firsts * weight.len() / self.classes.max(1));
            return Ok(SpanPass::new([first, last, &width], &weight, &bias).probabilities(rows));
        }
        let mut all = Vec::with_capacity(rows.len() * self.classes);
        for from in (0..rows.len()).step_by(CHUNK) {
            let logits = self.logits(&parts, rows.slice(from, CHUNK), &mut Mode::Predict)?;
            all.extend(softmax(&logits)?.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(all)
    }
}

/// The words that candidates name, each once in order, and for each candidate the place of its word among these.
fn needed(named: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut places = vec![None; named.iter().max().map_or(0, |last| *last as usize + 1)];
    named.iter().for_each(|word| places[*word as usize] = Some(0));
    let mut words = Vec::new();
    for (word, place) in places.iter_mut().enumerate().filter(|(_, place)| place.is_some()) {
        *place = Some(words.len() as u32);
        words.push(word as u32);
    }
    let places = named.iter().filter_map(|word| places[*word as usize]).collect();
    (words, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_named_word_is_taken_once() {
        assert_eq!(needed(&[7, 2, 7, 4, 2]), (vec![2, 4, 7], vec![2, 0, 2, 1, 0]));
        assert_eq!(needed(&[]), (vec![], vec![]));
    }
}
