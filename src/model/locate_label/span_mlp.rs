//! Two linear layers over a span (Eq. 3, 5 and 10): `W₂ · GELU(W₁ · [h^p; h_left; h_right] + b₁) + b₂`, where `h^p` are the
//! greatest values of its words' vectors (Eq. 1) and two more vectors are those of words at its boundaries.

use super::seed_pass::{Product, SeedPass};
use super::span_rows::SpanRows;
use crate::nn::{Linear, Mode, NnError, Operations, Scope, as_slice, project_pair, segment_max, select_rows};
use candle_core::Tensor;

/// Rows that are worked on at a time in prediction, which bounds its memory.
const ROWS: usize = 4096;
/// Words of such rows where the vectors of all their words are put side by side.
const WORDS: usize = 1 << 15;

#[derive(Debug)]
pub(super) struct SpanMlp {
    /// `[S, 3D]`
    inner: Linear,
    /// `[O, S]`
    output: Linear,
    computed: Computed,
}

/// How the layers are computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Computed {
    /// Of what goes into the first layer.
    pub dropout: f32,
    /// Whether products with the first layer's weight are in half precision.
    pub bf16: bool,
    pub operations: Operations,
}

impl SpanMlp {
    /// For words with vectors of `size` numbers (D), with `inner` numbers between the layers (S).
    pub(super) fn new(
        mut scope: Scope<'_>,
        [size, inner, outputs]: [usize; 3],
        computed: Computed,
    ) -> Result<Self, NnError> {
        Ok(Self {
            inner: Linear::uniform(scope.scope("inner"), 3 * size, inner)?,
            output: Linear::uniform(scope.scope("output"), inner, outputs)?,
            computed,
        })
    }

    /// What the layers make of N spans, `[N, O]`; `words` `[W, D]`, and of each span its greatest values `[N, D]` and the
    /// words at its boundaries.
    pub(super) fn forward(
        &self,
        words: &Tensor,
        greatest: &Tensor,
        [left, right]: [&[u32]; 2],
        mode: &mut Mode<'_>,
    ) -> Result<Tensor, NnError> {
        let inner = self.inner(words, greatest, [left, right], mode)?;
        self.output.forward(&inner, self.computed.operations)
    }

    /// What the second layer gets of N spans, `[N, S]`.
    pub(super) fn inner(
        &self,
        words: &Tensor,
        greatest: &Tensor,
        [left, right]: [&[u32]; 2],
        mode: &mut Mode<'_>,
    ) -> Result<Tensor, NnError> {
        let spans = Tensor::cat(&[greatest, &select_rows(words, left)?, &select_rows(words, right)?], 1)?;
        let Computed { dropout, operations, .. } = self.computed;
        let spans = operations.dropout(&spans, dropout, mode)?;
        operations.gelu(&self.first_layer(&spans)?)
    }

    /// `[N, 3D]` to `[N, S]`.
    fn first_layer(&self, spans: &Tensor) -> Result<Tensor, NnError> {
        let Computed { bf16, operations, .. } = self.computed;
        if !bf16 {
            return self.inner.forward(spans, operations);
        }
        let (rows, weight) = (spans.dim(0)?, self.inner.weight());
        let product = project_pair(spans, [weight, weight], rows, bf16, operations)?;
        Ok(product.broadcast_add(self.inner.bias())?)
    }

    /// The same in prediction, row after row, in bounded memory.
    pub(super) fn numbers(&self, words: &Tensor, rows: &SpanRows) -> Result<Vec<f32>, NnError> {
        let operations = self.computed.operations;
        let parts = match operations {
            Operations::ByHand => rows.parts(ROWS, |_| 1),
            Operations::Plain => rows.parts(WORDS, std::ops::Range::len),
        };
        let mut numbers = Vec::new();
        for part in parts {
            let (spans, left, right) = rows.part(part);
            let greatest = segment_max(words, spans, operations)?;
            let part = self.forward(words, &greatest, [left, right], &mut Mode::Predict)?;
            numbers.extend(part.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(numbers)
    }

    /// As [`SpanMlp::numbers`] for a layer of one output and many more spans than words: the words at the boundaries are
    /// multiplied once a word, and neighbours that begin with the same word find their greatest values together.
    pub(super) fn numbers_of_many(&self, words: &Tensor, rows: &SpanRows) -> Result<Vec<f32>, NnError> {
        let ((count, size), Computed { bf16, operations, .. }) = (words.dims2()?, self.computed);
        if operations == Operations::Plain || rows.len() == 0 {
            return self.numbers(words, rows);
        }
        let part = |number: usize| self.inner.weight().narrow(1, number * size, size)?.contiguous();
        let twice = Tensor::cat(&[words, words], 0)?;
        let beside = project_pair(&twice, [&part(1)?, &part(2)?], count, bf16, operations)?;
        let (words, weight) = (words.contiguous()?, part(0)?);
        let weight = as_slice(&weight)?;
        let pass = SeedPass {
            words: &as_slice(&words)?,
            beside: &as_slice(&beside)?,
            product: Product::new(&weight, size, bf16),
            bias: &as_slice(self.inner.bias())?,
            output: [&as_slice(self.output.weight())?, &as_slice(self.output.bias())?],
        };
        Ok(pass.numbers(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Span;
    use crate::nn::{ParameterGroup, Rng, Vars};
    use candle_core::Device;
    use proptest::prelude::*;

    fn mlp(sizes: [usize; 3], operations: Operations, bf16: bool) -> SpanMlp {
        let mut vars = Vars::trainable(7, &Device::Cpu);
        let computed = Computed { dropout: 0.5, bf16, operations };
        SpanMlp::new(vars.scope("mlp", ParameterGroup::TaskHead), sizes, computed).unwrap()
    }

    /// The greatest distance of any two.
    fn off(a: &[f32], b: &[f32]) -> f32 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn all_ways_give_the_same_numbers(
            lens in prop::collection::vec(1usize..12, 1..4), size in 1usize..40, inner in 1usize..40, seed in 0u64..1000,
        ) {
            let mut rng = Rng::new(seed, "spans");
            let count: usize = lens.iter().sum();
            let values: Vec<f32> = (0..count * size).map(|_| rng.normal()).collect();
            let words = Tensor::from_vec(values, (count, size), &Device::Cpu).unwrap();
            let (mut rows, mut from) = (SpanRows::default(), 0);
            for len in lens {
                for start in 0..len {
                    for end in start + 1..=len {
                        let span = Span::from_range(start..end).unwrap();
                        match rng.below(3) {
                            0 => rows.push_with_inner(&(from..from + len), span),
                            1 => rows.push_with_outer(&(from..from + len), span),
                            _ => {}
                        }
                    }
                }
                from += len;
            }
            let expected = mlp([size, inner, 1], Operations::Plain, false).numbers(&words, &rows).unwrap();
            prop_assert_eq!(expected.len(), rows.len());
            for (bf16, tolerance) in [(false, 1e-5), (true, 0.05)] {
                let by_hand = mlp([size, inner, 1], Operations::ByHand, bf16);
                let (one, other) = (by_hand.numbers(&words, &rows), by_hand.numbers_of_many(&words, &rows));
                let (one, other) = (one.unwrap(), other.unwrap());
                prop_assert!(off(&one, &expected) < tolerance, "{one:?} {expected:?}");
                prop_assert!(off(&one, &other) < 1e-5, "{one:?} {other:?}");
            }
        }
    }
}
