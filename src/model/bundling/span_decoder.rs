//! Spans as vectors, and one linear layer that classifies them (Eq. 13 to 18).
//!
//! The layer is applied to the parts of a span's vector: `W·[e_i; e_j; max; e_0; z] + b` is the sum of what it makes of each. That of
//! a word as first or last one, of `[CLS]` and of a width is C numbers, computed once; for each span there remains the product
//! with its greatest values. Dropout falls on the vectors of words and of `[CLS]`, and on the greatest values.

use super::greatest::{Weight, project_greatest, project_greatest_by_width};
use super::options::{Representation, Settings};
use super::words::Vectors;
use crate::model::ModelError;
use crate::model::candidates::Rows;
use crate::model::span_classifier::WIDTH_SIZE;
use crate::nn::kernels::{DropMask, add_row, softmax_row};
use crate::nn::{
    Embedding, Linear, Mode, NnError, Operations, Scope, as_slice, cross_entropy, segment_max, select_rows, softmax,
    u32_tensor,
};
use candle_core::{DType, Tensor};
use rayon::prelude::*;

/// Spans whose probabilities one task works out.
const AT_A_TIME: usize = 256;

#[derive(Debug)]
pub(super) struct SpanDecoder {
    representation: Representation,
    /// `[max width, 50]`
    widths: Embedding,
    /// Weight `[C, S]`, whose columns follow each other as in the representation, and bias `[C]`.
    output: Linear,
    /// D and H: numbers of a word and of `[CLS]`.
    sizes: [usize; 2],
    /// C
    classes: usize,
    dropout: f32,
    operations: Operations,
}

/// What the layer makes of the parts that spans share.
struct Parts {
    /// Of each word as first one, `[W, C]`, with that of its window's `[CLS]`.
    first: Tensor,
    /// Of each word as last one, `[W, C]`.
    last: Option<Tensor>,
    /// Of each width, with the bias, `[max width, C]`.
    width: Tensor,
}

impl SpanDecoder {
    /// Above words of D numbers and `[CLS]` of H ones, for C classes, "none" included.
    pub(super) fn new(
        scope: &mut Scope<'_>,
        [word, hidden]: [usize; 2],
        classes: usize,
        settings: &Settings,
        (dropout, operations): (f32, Operations),
    ) -> Result<Self, NnError> {
        let representation = settings.representation;
        let ends = if representation.has_ends() { 2 * word } else { 0 };
        let pool = if representation.has_pool() { word + hidden } else { 0 };
        Ok(Self {
            representation,
            widths: Embedding::new(scope.scope("width"), settings.max_width, WIDTH_SIZE, 1.0)?,
            output: Linear::uniform(scope.scope("span.output"), ends + pool + WIDTH_SIZE, classes)?,
            sizes: [word, hidden],
            classes,
            dropout,
            operations,
        })
    }

    /// Columns of the weight, `[C, count]`.
    fn columns(&self, from: usize, count: usize) -> Result<Tensor, NnError> {
        Ok(self.output.weight().narrow(1, from, count)?.contiguous()?)
    }

    /// Those of the greatest values, `[C, D]`.
    fn pool_weight(&self) -> Result<Tensor, NnError> {
        let [word, _] = self.sizes;
        self.columns(if self.representation.has_ends() { 2 * word } else { 0 }, word)
    }

    fn parts(&self, vectors: &Vectors) -> Result<Parts, NnError> {
        let ([word, hidden], classes, representation) = (self.sizes, self.classes, self.representation);
        let device = vectors.words.device();
        let no_bias = |outputs: usize| Tensor::zeros(outputs, DType::F32, device);
        let (mut first, mut last, mut from) = (None, None, 0);
        if representation.has_ends() {
            let weight = Tensor::cat(&[self.columns(0, word)?, self.columns(word, word)?], 0)?;
            let both = self.operations.linear(&vectors.dropped, &weight, &no_bias(2 * classes)?)?;
            first = Some(both.narrow(1, 0, classes)?.contiguous()?);
            last = Some(both.narrow(1, classes, classes)?.contiguous()?);
            from += 2 * word;
        }
        if representation.has_pool() {
            let weight = self.columns(from + word, hidden)?;
            let of_windows = self.operations.linear(&vectors.cls, &weight, &no_bias(classes)?)?;
            let of_words = select_rows(&of_windows, &vectors.windows)?;
            first = Some(match first {
                Some(first) => (first + of_words)?,
                None => of_words,
            });
            from += word + hidden;
        }
        let width =
            self.operations.linear(self.widths.weight(), &self.columns(from, WIDTH_SIZE)?, self.output.bias())?;
        let first = first.ok_or_else(|| NnError::shapes("span_decoder", &[self.output.weight()]))?;
        Ok(Parts { first, last, width })
    }

    /// What the shared parts give N spans, `[N, C]`.
    fn sums(&self, parts: &Parts, rows: &Rows) -> Result<Tensor, NnError> {
        let select = |table: &Tensor, numbers: &[u32]| -> Result<Tensor, NnError> {
            Ok(table.index_select(&u32_tensor(numbers, table.device())?, 0)?)
        };
        let sums = (select(&parts.first, &rows.first)? + select(&parts.width, &rows.width)?)?;
        match &parts.last {
            Some(last) => Ok((sums + select(last, &rows.last)?)?),
            None => Ok(sums),
        }
    }

    /// Mean cross-entropy of N spans' classes, a scalar; 0 without spans.
    pub(super) fn loss(&self, vectors: &Vectors, rows: &Rows, mode: &mut Mode<'_>) -> Result<Tensor, ModelError> {
        let parts = self.parts(vectors)?;
        if rows.len() == 0 {
            // The mean of nothing would be no number.
            return Ok((parts.first.sum_all()? * 0.0)?);
        }
        let mut logits = self.sums(&parts, rows)?;
        if self.representation.has_pool() {
            let (weight, dropout) = (self.pool_weight()?, (self.dropout, mode));
            logits = (logits + project_greatest(&vectors.words, &weight, rows, dropout, self.operations)?)?;
        }
        Ok(cross_entropy(&logits, &rows.classes)?)
    }

    /// What the layer gets of N spans in prediction, `[N, S]`.
    pub(super) fn vectors(&self, vectors: &Vectors, rows: &Rows) -> Result<Tensor, ModelError> {
        let mut parts = Vec::new();
        if self.representation.has_ends() {
            parts.push(select_rows(&vectors.words, &rows.first)?);
            parts.push(select_rows(&vectors.words, &rows.last)?);
        }
        if self.representation.has_pool() {
            let ends = rows.first.iter().zip(&rows.last);
            let words: Vec<_> = ends.map(|(first, last)| *first as usize..*last as usize + 1).collect();
            parts.push(segment_max(&vectors.words, &words, self.operations)?);
            parts.push(select_rows(&select_rows(&vectors.cls, &vectors.windows)?, &rows.first)?);
        }
        parts.push(select_rows(self.widths.weight(), &rows.width)?);
        Ok(Tensor::cat(&parts, 1)?)
    }

    /// Probabilities of the classes of N spans, row after row. The spans of a sentence are in order, which those that begin
    /// with the same word gain by.
    pub(super) fn probabilities(&self, vectors: &Vectors, rows: &Rows) -> Result<Vec<f32>, ModelError> {
        if rows.len() == 0 {
            return Ok(Vec::new());
        }
        let parts = self.parts(vectors)?;
        if self.operations == Operations::ByHand {
            return self.probabilities_by_hand(&parts, vectors, rows);
        }
        let mut logits = self.sums(&parts, rows)?;
        if self.representation.has_pool() {
            logits = (logits + project_greatest_by_width(&vectors.words, &self.pool_weight()?, rows)?)?;
        }
        Ok(softmax(&logits)?.flatten_all()?.to_vec1()?)
    }

    fn probabilities_by_hand(&self, parts: &Parts, vectors: &Vectors, rows: &Rows) -> Result<Vec<f32>, ModelError> {
        let classes = self.classes.max(1);
        let mut all = vec![0.0; rows.len() * classes];
        if self.representation.has_pool() {
            let (words, weight) = (vectors.words.contiguous()?, self.pool_weight()?);
            let weight = as_slice(&weight)?;
            all = Weight::new(&weight, classes).products(&as_slice(&words)?, rows, DropMask::NONE);
        }
        let (first, width) = (as_slice(&parts.first)?, as_slice(&parts.width)?);
        let last = parts.last.as_ref().map(as_slice).transpose()?;
        let (first, width, last) = (&*first, &*width, last.as_deref());
        let of = |number: u32| number as usize * classes..(number as usize + 1) * classes;
        all.par_chunks_mut(AT_A_TIME * classes).enumerate().for_each(|(piece, all)| {
            for (i, row) in (piece * AT_A_TIME..).zip(all.chunks_exact_mut(classes)) {
                add_row(row, &first[of(rows.first[i])]);
                if let Some(last) = last {
                    add_row(row, &last[of(rows.last[i])]);
                }
                add_row(row, &width[of(rows.width[i])]);
                softmax_row(row, 1.0);
            }
        });
        Ok(all)
    }
}
