//! What says which words were left out: BERT's head for masked words (Devlin et al. 2019), over some of the subwords.

use crate::nn::kernels::{self, View, WriteMode, matmul_divided, softmax_row};
use crate::nn::{Init, LayerNorm, Linear, NnError, Operations, Scope, as_slice, with_gradients};
use candle_core::{Device, Tensor};
use rayon::prelude::*;

/// Rows whose probabilities are there at once.
const ROWS: usize = 128;

/// `norm(gelu(linear(x)))` times the vectors of C subwords, which stay as they are, and a bias for each.
pub(super) struct WordHead {
    linear: Linear,
    norm: LayerNorm,
    /// `[C]`.
    bias: Tensor,
    /// C rows of E numbers.
    vectors: Vec<f32>,
}

impl WordHead {
    /// For hidden states of `hidden` numbers; `vectors` is `[C, E]`.
    pub(super) fn new(mut scope: Scope<'_>, hidden: usize, vectors: &Tensor) -> Result<Self, NnError> {
        let (count, width) = vectors.dims2()?;
        Ok(Self {
            linear: Linear::new(scope.scope("transform.dense"), hidden, width)?,
            norm: LayerNorm::new(scope.scope("transform.LayerNorm"), width, 1e-12)?,
            bias: scope.declare("bias", &[count], Init::Zeros)?,
            vectors: as_slice(&vectors.contiguous()?)?.to_vec(),
        })
    }

    /// Mean of `-ln p(class)` over the rows of `x` `[N, H]`, with its gradients; a class below C for each row.
    pub(super) fn loss(&self, x: &Tensor, classes: &[u32]) -> Result<Tensor, NnError> {
        let y = self
            .norm
            .forward(&Operations::ByHand.gelu(&self.linear.forward(x, Operations::ByHand)?)?, Operations::ByHand)?;
        let (n, width) = y.dims2()?;
        let y = y.contiguous()?;
        if n != classes.len() {
            return Err(NnError::shapes("the loss of masked words", &[x]));
        }
        let (sum, dy, d_bias) = {
            let bias = as_slice(&self.bias)?;
            surprise(&as_slice(&y)?, width, (&self.vectors, &bias), classes)
        };
        let device = Device::Cpu;
        let value = Tensor::new((sum / n.max(1) as f64) as f32, &device)?;
        let count = d_bias.len();
        let gradients = vec![
            (y, Tensor::from_vec(dy, (n, width), &device)?),
            (self.bias.clone(), Tensor::from_vec(d_bias, count, &device)?),
        ];
        with_gradients(&value, gradients, Operations::ByHand)
    }
}

/// The sum of `-ln softmax(y · vectorsᵀ + bias)[class]` over the rows of `y`, with the gradients of the mean for `y` and
/// the bias. What is as large as all rows times all subwords is never there at once.
fn surprise(y: &[f32], width: usize, (vectors, bias): (&[f32], &[f32]), classes: &[u32]) -> (f64, Vec<f32>, Vec<f32>) {
    let (count, share) = (bias.len(), 1.0 / classes.len().max(1) as f32);
    let (mut sum, mut dy, mut d_bias) = (0.0, vec![0.0; y.len()], vec![0.0; count]);
    let mut all = vec![0.0; ROWS.min(classes.len()) * count];
    let parts = y.chunks(ROWS * width).zip(dy.chunks_mut(ROWS * width)).zip(classes.chunks(ROWS));
    for ((y, dy), classes) in parts {
        let (n, rows) = (classes.len(), View::rows(width));
        let p = &mut all[..n * count];
        let vectors_across = (vectors, rows.transposed());
        matmul_divided([n, count, width], (p, View::rows(count)), (y, rows), vectors_across, WriteMode::Overwrite);
        kernels::add_bias(p, bias);
        let losses: Vec<f64> = p
            .par_chunks_mut(count)
            .zip(classes)
            .map(|(p, class)| {
                softmax_row(p, 1.0);
                let right = &mut p[*class as usize];
                let loss = -f64::from(right.max(f32::MIN_POSITIVE)).ln();
                *right -= 1.0;
                p.iter_mut().for_each(|p| *p *= share);
                loss
            })
            .collect();
        sum += losses.iter().sum::<f64>();
        kernels::add_row(&mut d_bias, &kernels::sum_rows(p, count));
        matmul_divided([n, width, count], (dy, rows), (p, View::rows(count)), (vectors, rows), WriteMode::Overwrite);
    }
    (sum, dy, d_bias)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::slopes::{assert_slopes, random};
    use crate::nn::{ParameterGroup, Vars};

    #[test]
    fn the_loss_is_that_of_all_subwords_and_so_are_its_gradients() {
        // More rows than are there at once.
        let (n, width, count) = (ROWS + 5, 3, 4);
        let numbers = |seed, count: usize| random(&[count], seed).as_tensor().to_vec1::<f32>().unwrap();
        let (y, vectors, bias) = (numbers(1, n * width), numbers(2, count * width), numbers(3, count));
        let classes: Vec<u32> = (0..n as u32).map(|row| row % count as u32).collect();
        let (sum, dy, d_bias) = surprise(&y, width, (&vectors, &bias), &classes);

        let tensor = |values: &[f32], columns: usize| {
            Tensor::from_slice(values, (values.len() / columns, columns), &Device::Cpu).unwrap()
        };
        let (y, bias) =
            [tensor(&y, width), tensor(&bias, count)].map(|x| candle_core::Var::from_tensor(&x).unwrap()).into();
        let logits = y.matmul(&tensor(&vectors, width).t().unwrap()).unwrap().broadcast_add(bias.as_tensor()).unwrap();
        let loss = crate::nn::cross_entropy(&logits, &classes).unwrap();
        let store = loss.backward().unwrap();
        let near = |ours: &[f32], theirs: &Tensor| {
            let theirs: Vec<f32> = theirs.flatten_all().unwrap().to_vec1().unwrap();
            assert_eq!(ours.len(), theirs.len());
            ours.iter().zip(theirs).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{a} {b}"));
        };
        near(&[(sum / n as f64) as f32], &loss);
        near(&dy, store.get(y.as_tensor()).unwrap());
        near(&d_bias, store.get(bias.as_tensor()).unwrap());
    }

    #[test]
    fn gradients_go_through_the_head() {
        let mut vars = Vars::trainable(1, &Device::Cpu);
        let vectors = random(&[5, 3], 2).as_tensor().detach();
        let head = WordHead::new(vars.scope("head", ParameterGroup::TaskHead), 4, &vectors).unwrap();
        assert_slopes(&[&random(&[6, 4], 3)], |x| head.loss(x[0], &[0, 1, 2, 3, 4, 0]).unwrap());
    }
}
