//! The matrix products of a block, up, down and for the gradients of its weights, in `f32` or of rounded numbers.

use super::super::bert::{Bert, Block};
use super::tape::{BlockGradients, RoundedWeights, SavedActivations, Tape};
use crate::nn::kernels::{self, RoundedPanels, RoundedRows, Rounding, View, WriteMode, matmul};
use crate::nn::{Gradients, Linear, NnError, as_slice};
use rayon::prelude::*;

/// Rows of a weight's gradient that one task computes.
const WEIGHT_ROWS: usize = 192;

/// The products of a block, in the order of [`RoundedWeights`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    Qkv,
    Output,
    Up,
    Down,
    /// Of spans, which ask.
    Query,
    /// Of the tokens that spans ask.
    KeyValue,
}

impl Product {
    const ALL: [Self; 6] = [Self::Qkv, Self::Output, Self::Up, Self::Down, Self::Query, Self::KeyValue];
    const OF_WORDS: [Self; 4] = [Self::Qkv, Self::Output, Self::Up, Self::Down];
    pub(super) const OF_SPANS: [Self; 5] = [Self::Query, Self::KeyValue, Self::Output, Self::Up, Self::Down];
}

impl Bert {
    /// Rounds the weights where products are of rounded numbers.
    pub(super) fn round_weights_of_words(&self, trains: bool, tape: &mut Tape) -> Result<(), NnError> {
        let Some(rounding) = self.rounding.filter(|_| tape.needs_weights(trains)) else { return Ok(()) };
        tape.rounded_for_prediction = !trains;
        round_weights(&self.blocks, &Product::OF_WORDS, rounding, trains, &mut tape.rounded_weights)
    }
}

/// Rounds the weights of some products of each block; what only the way down needs if it `trains`.
pub(super) fn round_weights(
    blocks: &[Block],
    products: &[Product],
    rounding: Rounding,
    trains: bool,
    weights: &mut Vec<RoundedWeights>,
) -> Result<(), NnError> {
    weights.resize_with(blocks.len(), RoundedWeights::default);
    let all = blocks.par_iter().zip(weights).flat_map(|(block, RoundedWeights { up, down })| {
        Product::ALL.into_par_iter().zip(up).zip(down).map(move |work| (block, work))
    });
    all.filter(|(_, ((product, _), _))| products.contains(product)).try_for_each(|(block, ((product, up), down))| {
        let layers = block.layers(product);
        let weights = layers.iter().map(|layer| as_slice(layer.weight())).collect::<Result<Vec<_>, _>>()?;
        let (_, inputs) = layers[0].weight().dims2()?;
        up.stack_transposed(rounding, &weights.iter().map(|weight| &**weight).collect::<Vec<_>>(), inputs);
        if trains {
            let parts = weights.iter().map(|weight| (&**weight, View::rows(inputs), weight.len() / inputs));
            down.stack(rounding, &parts.collect::<Vec<_>>(), inputs);
        }
        Ok(())
    })
}

impl Block {
    /// The layers whose results lie side by side after a product.
    pub(super) fn layers(&self, product: Product) -> Vec<&Linear> {
        match product {
            Product::Qkv => vec![&self.query, &self.key, &self.value],
            Product::Output => vec![&self.output],
            Product::Up => vec![&self.up],
            Product::Down => vec![&self.down],
            Product::Query => vec![&self.query],
            Product::KeyValue => vec![&self.key, &self.value],
        }
    }

    /// `dst = x · weightᵀ`, without the bias; where there are several layers, their results side by side.
    pub(super) fn product(
        &self,
        product: Product,
        rounded_weights: Option<&RoundedWeights>,
        x: &[f32],
        dst: &mut [f32],
        rounded: &mut RoundedRows,
    ) -> Result<(), NnError> {
        let layers = self.layers(product);
        let (out, k) = layers[0].weight().dims2()?;
        let width = out * layers.len();
        if let Some(rounded_weights) = rounded_weights {
            let weight = &rounded_weights.up[product as usize];
            kernels::rounded_matmul((dst, View::rows(width)), (x, k), weight, WriteMode::Overwrite, rounded);
            return Ok(());
        }
        for (part, layer) in layers.iter().enumerate() {
            let (weight, columns) = (as_slice(layer.weight())?, View::columns(part * out, width));
            let transposed = View::rows(k).transposed();
            matmul(
                [x.len() / k, out, k],
                (dst, columns),
                (x, View::rows(k)),
                (&weight, transposed),
                WriteMode::Overwrite,
            );
        }
        Ok(())
    }

    /// The gradient of a product's input: `dst = grad · weight`.
    pub(super) fn product_back(
        &self,
        product: Product,
        rounded_weights: Option<&RoundedWeights>,
        grad: &[f32],
        dst: &mut [f32],
        write: WriteMode,
        rounded: &mut RoundedRows,
    ) -> Result<(), NnError> {
        let layers = self.layers(product);
        let (out, k) = layers[0].weight().dims2()?;
        let width = out * layers.len();
        if let Some(rounded_weights) = rounded_weights {
            let weight = &rounded_weights.down[product as usize];
            kernels::rounded_matmul((dst, View::rows(k)), (grad, width), weight, write, rounded);
            return Ok(());
        }
        for (part, layer) in layers.iter().enumerate() {
            let (weight, columns) = (as_slice(layer.weight())?, View::columns(part * out, width));
            let write = if part == 0 { write } else { WriteMode::Add };
            matmul(
                [grad.len() / width, k, out],
                (dst, View::rows(k)),
                (grad, columns),
                (&weight, View::rows(k)),
                write,
            );
        }
        Ok(())
    }

    /// What the gradients of the weights are products of, `x` being the block's input.
    pub(super) fn weights<'a>(
        &'a self,
        x: &'a [f32],
        kept: &'a SavedActivations<Vec<f32>>,
        grads: &'a BlockGradients<Vec<f32>>,
    ) -> Vec<WeightGradient<'a>> {
        let h = self.hidden();
        let of = |layer, (grad, view): (&'a Vec<f32>, View), x: &'a [f32]| WeightGradient {
            layer,
            sides: Sides::Rows { grad: (grad, view), x },
        };
        let all = |layer: &'a Linear, grad, x| of(layer, (grad, View::rows(layer.bias().elem_count())), x);
        vec![
            all(&self.down, &kept.fed, &kept.inner),
            all(&self.up, &grads.inner, &kept.middle),
            all(&self.output, &kept.attended, &kept.context),
            of(&self.query, (&grads.qkv, View::columns(0, 3 * h)), x),
            of(&self.key, (&grads.qkv, View::columns(h, 3 * h)), x),
            of(&self.value, (&grads.qkv, View::columns(2 * h, 3 * h)), x),
        ]
    }

    /// The same rounded, cut into `panels`.
    pub(super) fn weights_from_panels<'a>(
        &'a self,
        x: &[f32],
        kept: &SavedActivations<Vec<f32>>,
        grads: &BlockGradients<Vec<f32>>,
        rounding: Rounding,
        panels: &'a mut [RoundedPanels; 8],
    ) -> Vec<WeightGradient<'a>> {
        let (h, inner) = (self.hidden(), self.inner());
        let sources: [(&[f32], usize); 8] = [
            (&kept.fed, h),
            (&kept.inner, inner),
            (&grads.inner, inner),
            (&kept.middle, h),
            (&kept.attended, h),
            (&kept.context, h),
            (&grads.qkv, 3 * h),
            (x, h),
        ];
        panels.par_iter_mut().zip(sources).for_each(|(panels, (source, columns))| {
            panels.stack(rounding, &[(source, View::rows(columns), source.len() / columns)], columns);
        });
        let [fed, inner, inner_grad, middle, attended, context, qkv_grad, x] = &*panels;
        let of = |layer, grad, first, x| WeightGradient { layer, sides: Sides::Panels { grad, first, x } };
        vec![
            of(&self.down, fed, 0, inner),
            of(&self.up, inner_grad, 0, middle),
            of(&self.output, attended, 0, context),
            of(&self.query, qkv_grad, 0, x),
            of(&self.key, qkv_grad, h, x),
            of(&self.value, qkv_grad, 2 * h, x),
        ]
    }
}

/// The gradient of a weight is `gradᵀ · x`, for the gradient of the layer's product `[N, out]` and its input `[N, in]`.
pub(super) struct WeightGradient<'a> {
    pub(super) layer: &'a Linear,
    pub(super) sides: Sides<'a>,
}

pub(super) enum Sides<'a> {
    Rows {
        grad: (&'a [f32], View),
        x: &'a [f32],
    },
    Panels {
        grad: &'a RoundedPanels,
        /// The first column that counts.
        first: usize,
        x: &'a RoundedPanels,
    },
}

/// Computes the gradients of all weights, a few of their rows in each task.
pub(super) fn add_weights(weights: Vec<WeightGradient<'_>>, rows: usize, gradients: &mut Gradients) {
    let mut sums: Vec<(Vec<f32>, WriteMode)> = weights.iter().map(|w| gradients.take(w.layer.weight())).collect();
    let tasks = weights.iter().zip(&mut sums).flat_map(|(weight, (sum, write))| {
        let inputs = sum.len() / weight.layer.bias().elem_count();
        let pieces = sum.chunks_mut(WEIGHT_ROWS * inputs).enumerate();
        pieces.map(move |(piece, sum)| (weight, piece * WEIGHT_ROWS, inputs, sum, *write))
    });
    tasks.collect::<Vec<_>>().into_par_iter().for_each(|(weight, from, inputs, sum, write)| match &weight.sides {
        Sides::Rows { grad: (grad, view), x } => {
            let view = View { at: view.at + from, ..*view }.transposed();
            let dims = [sum.len() / inputs, inputs, rows];
            matmul(dims, (sum, View::rows(inputs)), (grad, view), (x, View::rows(inputs)), write);
        }
        Sides::Panels { grad, first, x } => {
            let count = sum.len() / inputs;
            kernels::rounded_matmul_transposed((sum, View::rows(inputs)), count, (grad, first + from), x, write);
        }
    });
    for (weight, (sum, _)) in weights.iter().zip(sums) {
        gradients.put(weight.layer.weight(), sum);
    }
}
