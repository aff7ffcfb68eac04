//! The classifier above the span transformer (Eq. 5 and 6): a span's vector beside an embedding of its size, a layer of 300
//! with ReLU and dropout, and softmax.
//!
//! Ours: beside the size stand the shapes of the first and the last word, for encoders that don't see case. What the first
//! layer makes of sizes and shapes is the same for all spans, so it is made once, and a span adds up rows of a table.

use super::smoothing::LabelMasses;
use crate::annotation::Span;
use crate::model::{Class, WORD_SHAPES};
use crate::nn::kernels::{DropMask, View, WriteMode, add_row, matmul, softmax_row};
use crate::nn::{
    Embedding, Init, Linear, NnError, Scope, TensorSlice, as_slice, log_softmax, plain, project, select_rows, softmax,
};
use candle_core::Tensor;

/// Numbers of a size's vector.
const SIZE: usize = 25;
/// Numbers of a shape's vector.
const SHAPE: usize = 25;
/// I: numbers of the inner layer.
const INNER: usize = 300;

/// The layers. H is the width of the spans' vectors, K the widest span in words, C the number of classes.
#[derive(Debug)]
pub(super) struct Classifier {
    /// `[I, H]`
    vector: Tensor,
    /// `[K, 25]`
    sizes: Embedding,
    /// 25 to I, with the bias of the whole layer.
    size: Linear,
    shapes: Option<Shapes>,
    output: Linear,
}

#[derive(Debug)]
struct Shapes {
    /// `[shapes, 25]`
    table: Embedding,
    /// `[I, 25]` each.
    first: Tensor,
    last: Tensor,
}

/// What a span has beside its vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// In words.
    pub(super) width: usize,
    /// Of the first and the last word.
    pub(super) shapes: [u32; 2],
}

/// What a span is, as masses of labels; the rest is "none".
pub(super) type SoftClass = Vec<(Class, f32)>;

/// Of a span of a sentence.
pub(super) fn soft_class(masses: &LabelMasses, span: Span) -> SoftClass {
    masses.get(&span).map(|labels| labels.iter().map(|(class, mass)| (*class, *mass)).collect()).unwrap_or_default()
}

impl Classifier {
    pub(super) fn new(
        scope: &mut Scope<'_>,
        hidden: usize,
        max_width: usize,
        classes: usize,
        has_shapes: bool,
    ) -> Result<Self, NnError> {
        let whole = hidden + SIZE + if has_shapes { 2 * SHAPE } else { 0 };
        let init = Init::Uniform { bound: 1.0 / (whole as f32).sqrt() };
        let mut inner = scope.scope("span.inner");
        let mut shapes = None;
        if has_shapes {
            shapes = Some(Shapes {
                first: inner.declare("first_shape.weight", &[INNER, SHAPE], init)?,
                last: inner.declare("last_shape.weight", &[INNER, SHAPE], init)?,
                table: Embedding::new(inner.scope("shapes"), WORD_SHAPES, SHAPE, 1.0)?,
            });
        }
        Ok(Self {
            vector: inner.declare("vector.weight", &[INNER, hidden], init)?,
            sizes: Embedding::new(inner.scope("sizes"), max_width, SIZE, 1.0)?,
            size: Linear::uniform_within(inner.scope("size"), SIZE, INNER, whole)?,
            shapes,
            output: Linear::uniform(scope.scope("span.output"), INNER, classes)?,
        })
    }

    /// What the first layer makes of each size and each shape: R rows, `[R, I]`.
    pub(super) fn table(&self) -> Result<Tensor, NnError> {
        let sizes = plain::linear(self.sizes.weight(), self.size.weight(), self.size.bias())?;
        let Some(shapes) = &self.shapes else { return Ok(sizes) };
        let [first, last] = [&shapes.first, &shapes.last].map(|weight| project(shapes.table.weight(), weight));
        Ok(Tensor::cat(&[sizes, first?, last?], 0)?)
    }

    /// The rows of the table that a span adds up.
    fn rows(&self, of: &Features) -> impl Iterator<Item = usize> {
        let sizes = self.sizes.weight().dims().first().copied().unwrap_or(0);
        let [first, last] = of.shapes.map(|shape| shape as usize);
        let shapes = [sizes + first, sizes + WORD_SHAPES + last];
        std::iter::once(of.width - 1).chain(shapes.into_iter().take(if self.shapes.is_some() { 2 } else { 0 }))
    }

    /// The tensors that a loss by hand has gradients for, besides the table, in the order of [`ClassifierGradients`].
    pub(super) fn variables(&self) -> [&Tensor; 3] {
        [&self.vector, self.output.weight(), self.output.bias()]
    }

    /// The inner layer of spans before dropout, `[n, I]`, by candle's operations, given their vectors `[n, H]`.
    pub(super) fn inner_plain(
        &self,
        vectors: &Tensor,
        table: &Tensor,
        features: &[Features],
    ) -> Result<Tensor, NnError> {
        let each = self.rows(&Features { width: 1, shapes: [0; 2] }).count();
        let rows: Vec<u32> = features.iter().flat_map(|of| self.rows(of)).map(|row| row as u32).collect();
        let beside = select_rows(table, &rows)?.reshape((features.len(), each, INNER))?.sum(1)?;
        Ok((project(vectors, &self.vector)? + beside)?.relu()?)
    }

    /// Logits of spans `[n, C]` by candle's operations, given their vectors `[n, H]`. Their inner layers are dropped as of
    /// spans from the number `first` on.
    fn logits(
        &self,
        vectors: &Tensor,
        table: &Tensor,
        features: &[Features],
        (mask, first): (DropMask, usize),
    ) -> Result<Tensor, NnError> {
        let mut inner = self.inner_plain(vectors, table, features)?;
        if !mask.drops_nothing() {
            let mut factors = vec![1f32; features.len() * INNER];
            mask.apply(&mut factors, first * INNER);
            inner = (&inner * Tensor::from_vec(factors, inner.shape(), inner.device())?)?;
        }
        plain::linear(&inner, self.output.weight(), self.output.bias())
    }

    /// Sum of the losses of some spans, by candle's operations, a scalar.
    pub(super) fn loss_plain(
        &self,
        vectors: &Tensor,
        table: &Tensor,
        (features, classes): (&[Features], &[SoftClass]),
        drop: (DropMask, usize),
    ) -> Result<Tensor, NnError> {
        let logits = self.logits(vectors, table, features, drop)?;
        let (n, count) = logits.dims2()?;
        let mut masses = vec![0f32; n * count];
        masses.chunks_exact_mut(count).zip(classes).for_each(|(row, class)| spread(class, row));
        let masses = Tensor::from_vec(masses, (n, count), logits.device())?;
        Ok((log_softmax(&logits)? * masses)?.sum_all()?.neg()?)
    }

    /// Probabilities of the classes, row after row, by candle's operations.
    pub(super) fn probabilities_plain(
        &self,
        vectors: &Tensor,
        table: &Tensor,
        features: &[Features],
    ) -> Result<Vec<f32>, NnError> {
        let logits = self.logits(vectors, table, features, (DropMask::NONE, 0))?;
        Ok(softmax(&logits)?.flatten_all()?.to_vec1()?)
    }

    /// The layers' numbers, for work by hand.
    pub(super) fn read<'a>(&'a self, table: &'a Tensor) -> Result<Read<'a>, NnError> {
        let [vector, output, bias] = self.variables();
        Ok(Read {
            of: self,
            vector: as_slice(vector)?,
            table: as_slice(table)?,
            output: as_slice(output)?,
            bias: as_slice(bias)?,
            hidden: vector.dims2()?.1,
        })
    }
}

/// Writes masses as a distribution over all classes.
fn spread(class: &SoftClass, row: &mut [f32]) {
    let named: f32 = class.iter().map(|(_, mass)| mass).sum();
    row.fill(0.0);
    if let Some(none) = row.first_mut() {
        *none = (1.0 - named).max(0.0);
    }
    for (class, mass) in class {
        if let Some(place) = row.get_mut(*class as usize) {
            *place += mass;
        }
    }
}

/// The layers as slices.
pub(super) struct Read<'a> {
    of: &'a Classifier,
    vector: TensorSlice<'a>,
    table: TensorSlice<'a>,
    output: TensorSlice<'a>,
    bias: TensorSlice<'a>,
    /// H
    hidden: usize,
}

/// What some spans add to the loss and to the gradients of the layers.
#[derive(Clone, Debug)]
pub(super) struct ClassifierGradients {
    pub(super) loss: f64,
    /// `[R, I]`
    pub(super) table: Vec<f32>,
    /// Of [`Classifier::variables`].
    pub(super) variables: [Vec<f32>; 3],
}

impl ClassifierGradients {
    pub(super) fn none(of: &Read<'_>) -> Self {
        let variables = [of.vector.len(), of.output.len(), of.bias.len()].map(|len| vec![0.0; len]);
        Self { loss: 0.0, table: vec![0.0; of.table.len()], variables }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        add_row(&mut self.table, &other.table);
        self.variables.iter_mut().zip(&other.variables).for_each(|(sum, other)| add_row(sum, other));
    }
}

impl Read<'_> {
    fn classes(&self) -> usize {
        self.bias.len().max(1)
    }

    /// The inner layer before dropout, `[n, I]`.
    pub(super) fn inner(&self, vectors: &[f32], features: &[Features]) -> Vec<f32> {
        let (n, h, transposed) = (features.len(), self.hidden, View::rows(self.hidden).transposed());
        let mut inner = vec![0.0; n * INNER];
        let (to, x) = ((inner.as_mut_slice(), View::rows(INNER)), (vectors, View::rows(h)));
        matmul([n, INNER, h], to, x, (&self.vector, transposed), WriteMode::Overwrite);
        for (inner, of) in inner.chunks_exact_mut(INNER).zip(features) {
            self.of.rows(of).for_each(|row| add_row(inner, &self.table[row * INNER..(row + 1) * INNER]));
            inner.iter_mut().for_each(|x| *x = x.max(0.0));
        }
        inner
    }

    /// `[n, C]`
    fn probabilities_of(&self, inner: &[f32]) -> Vec<f32> {
        let (n, classes, transposed) = (inner.len() / INNER, self.classes(), View::rows(INNER).transposed());
        let mut probabilities = vec![0.0; n * classes];
        let (to, x) = ((probabilities.as_mut_slice(), View::rows(classes)), (inner, View::rows(INNER)));
        matmul([n, classes, INNER], to, x, (&self.output, transposed), WriteMode::Overwrite);
        for row in probabilities.chunks_exact_mut(classes) {
            add_row(row, &self.bias);
            softmax_row(row, 1.0);
        }
        probabilities
    }

    /// Probabilities of the classes, row after row, given the spans' vectors `[n, H]`.
    pub(super) fn probabilities(&self, vectors: &[f32], features: &[Features]) -> Vec<f32> {
        self.probabilities_of(&self.inner(vectors, features))
    }

    /// Sum of the losses of some spans from the number `first` on, each multiplied by `weight`, and the gradients of that;
    /// the one of the vectors is written to `grad` `[n, H]`.
    pub(super) fn learn(
        &self,
        vectors: &[f32],
        (features, classes): (&[Features], &[SoftClass]),
        (mask, first): (DropMask, usize),
        weight: f32,
        grad: &mut [f32],
    ) -> ClassifierGradients {
        let (n, h, c, mut learnt) = (features.len(), self.hidden, self.classes(), ClassifierGradients::none(self));
        let [d_vector, d_output, d_bias] = &mut learnt.variables;
        let mut inner = self.inner(vectors, features);
        mask.apply(&mut inner, first * INNER);
        // `logits` holds the gradient of the logits in the end.
        let (mut logits, mut masses) = (self.probabilities_of(&inner), vec![0.0; c]);
        for (row, class) in logits.chunks_exact_mut(c).zip(classes) {
            spread(class, &mut masses);
            for (p, mass) in row.iter_mut().zip(&masses) {
                if *mass > 0.0 {
                    learnt.loss -= f64::from(weight * mass * p.max(f32::MIN_POSITIVE).ln());
                }
                *p = weight * (*p - mass);
            }
            add_row(d_bias, row);
        }
        let (by_class, by_inner, by_hidden) = (View::rows(c), View::rows(INNER), View::rows(h));
        let turned = (logits.as_slice(), by_class.transposed());
        matmul([c, INNER, n], (d_output, by_inner), turned, (&inner, by_inner), WriteMode::Overwrite);
        let mut d_inner = vec![0.0; n * INNER];
        let (to, logits) = ((d_inner.as_mut_slice(), by_inner), (logits.as_slice(), by_class));
        matmul([n, INNER, c], to, logits, (&self.output, by_inner), WriteMode::Overwrite);
        mask.apply(&mut d_inner, first * INNER);
        // What ReLU has stopped is 0; of what dropout has stopped the gradient is.
        d_inner.iter_mut().zip(&inner).for_each(|(grad, x)| *grad = if *x > 0.0 { *grad } else { 0.0 });
        for (grad, of) in d_inner.chunks_exact(INNER).zip(features) {
            self.of.rows(of).for_each(|row| add_row(&mut learnt.table[row * INNER..(row + 1) * INNER], grad));
        }
        let turned = (d_inner.as_slice(), by_inner.transposed());
        matmul([INNER, h, n], (d_vector, by_hidden), turned, (vectors, by_hidden), WriteMode::Overwrite);
        let d_inner = (d_inner.as_slice(), by_inner);
        matmul([n, h, INNER], (grad, by_hidden), d_inner, (&self.vector, by_hidden), WriteMode::Overwrite);
        learnt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{ParameterGroup, Rng, Vars};
    use candle_core::{Device, Var};

    fn values(tensor: &Tensor) -> Vec<f32> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    fn close(got: &[f32], want: &[f32]) -> bool {
        got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-4)
    }

    #[test]
    fn by_hand_it_gives_what_candle_s_operations_give() {
        for (has_shapes, p, classes, n) in [(false, 0.0, 3, 7), (true, 0.0, 2, 1), (true, 0.4, 20, 40)] {
            let (h, widest, mut rng) = (6, 4, Rng::new(n as u64, "spans"));
            let mut vars = Vars::trainable(2, &Device::Cpu);
            let mut scope = vars.scope("head", ParameterGroup::TaskHead);
            let classifier = Classifier::new(&mut scope, h, widest, classes, has_shapes).unwrap();
            let vectors: Vec<f32> = (0..n * h).map(|_| rng.normal()).collect();
            let vectors = Var::from_vec(vectors, (n, h), &Device::Cpu).unwrap();
            let features: Vec<Features> = (0..n)
                .map(|_| Features {
                    width: 1 + rng.below(widest),
                    shapes: [(); 2].map(|()| rng.below(WORD_SHAPES) as u32),
                })
                .collect();
            let soft = |rng: &mut Rng| match rng.below(3) {
                0 => vec![],
                1 => vec![(1, 1.0)],
                _ => vec![(1, 0.25), (classes as u32 - 1, 0.5)],
            };
            let classes: Vec<SoftClass> = (0..n).map(|_| soft(&mut rng)).collect();
            let mask = if p > 0.0 { DropMask::new(p, 9) } else { DropMask::NONE };
            let (weight, of) = (0.3, (features.as_slice(), classes.as_slice()));

            let table = classifier.table().unwrap();
            let loss = (classifier.loss_plain(&vectors, &table, of, (mask, 5)).unwrap() * f64::from(weight)).unwrap();
            // By the table, which has a gradient of its own here.
            let leaf = Var::from_tensor(&table.detach()).unwrap();
            let again = classifier.loss_plain(&vectors, leaf.as_tensor(), of, (mask, 5)).unwrap();
            let store = (again * f64::from(weight)).unwrap().backward().unwrap();

            let read = classifier.read(&table).unwrap();
            let mut grad = vec![9.0; n * h];
            let learnt = read.learn(&values(&vectors), of, (mask, 5), weight, &mut grad);
            assert!((learnt.loss as f32 - loss.to_scalar::<f32>().unwrap()).abs() < 1e-4);
            assert!(close(&grad, &values(store.get(vectors.as_tensor()).unwrap())));
            assert!(close(&learnt.table, &values(store.get(leaf.as_tensor()).unwrap())));
            for (got, variable) in learnt.variables.iter().zip(classifier.variables()) {
                assert!(close(got, &values(store.get(variable).unwrap())));
            }
            let whole = loss.backward().unwrap();
            assert!(vars.iter().all(|(_, variable)| whole.get(variable.var.as_tensor()).is_some()));
            if p == 0.0 {
                let plain = classifier.probabilities_plain(&vectors, &table, &features).unwrap();
                assert!(close(&read.probabilities(&values(&vectors), &features), &plain));
            }
        }
    }

    #[test]
    fn what_is_left_of_the_mass_is_none() {
        let mut row = [9.0; 3];
        spread(&vec![(2, 0.25), (1, 0.5)], &mut row);
        assert_eq!(row, [0.25, 0.5, 0.25]);
        spread(&Vec::new(), &mut row);
        assert_eq!(row, [1.0, 0.0, 0.0]);
    }
}
