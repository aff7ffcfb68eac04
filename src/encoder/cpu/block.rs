//! One block on one thread's share of the sentences, up and down.

use super::super::bert::Block;
use super::norms::{Norms, add_norm};
use super::products::Product;
use super::tape::{Scratch, Sums, sized, two};
use super::{Backward, EncoderBatch, Forward};
use crate::nn::kernels::{self, Attention, DropMask, WriteMode};
use crate::nn::{Gradients, NnError, as_slice};
use std::ops::Range;

impl Block {
    fn attention(&self, batch: &EncoderBatch, mask: DropMask) -> Attention {
        Attention { hidden: self.hidden(), attention_heads: self.attention_heads, mask, longest: batch.longest() }
    }

    /// From the hidden states in one slot to those in the other.
    pub(super) fn forward(&self, work: &mut Forward<'_>, number: usize, [from, to]: [usize; 2]) -> Result<(), NnError> {
        let (h, first_row) = (self.hidden(), work.share.rows.start);
        let [probability_mask, attended_mask, fed_mask] = work.masks.blocks[number];
        let (x, y) = two(&mut work.states, from, to);
        let last = work.blocks.len() - 1;
        let kept = &mut work.blocks[number.min(last)];
        let Scratch { act, attention: scratch, rounded, .. } = &mut *work.scratch;
        let rounded_weights = work.rounded_weights.get(number);

        self.product(Product::Qkv, rounded_weights, x, kept.qkv, rounded)?;
        let mut biases = Vec::with_capacity(3 * h);
        for layer in self.layers(Product::Qkv) {
            biases.extend_from_slice(&as_slice(layer.bias())?);
        }
        kernels::add_bias(kept.qkv, &biases);
        let attention = self.attention(work.batch, probability_mask);
        for (number, rows) in work.share.windows.clone().zip(work.share.sentences(work.batch, 1)) {
            let qkv = &kept.qkv[rows.start * 3 * h..rows.end * 3 * h];
            attention.forward(number, qkv, &mut kept.context[rows.start * h..rows.end * h], scratch);
        }

        self.product(Product::Output, rounded_weights, kept.context, kept.attended, rounded)?;
        let (norm, bias) = (Norms::read(&self.attention_norm)?, as_slice(self.output.bias())?);
        kernels::norm_of_sum(kept.attended, &bias, (attended_mask, first_row), x, norm.norm(), kept.middle);

        self.product(Product::Up, rounded_weights, kept.middle, kept.inner, rounded)?;
        let act = sized(act, kept.inner.len());
        kernels::gelu_of_sum(kept.inner, &as_slice(self.up.bias())?, act);
        self.product(Product::Down, rounded_weights, act, kept.fed, rounded)?;
        let (norm, bias) = (Norms::read(&self.norm)?, as_slice(self.down.bias())?);
        kernels::norm_of_sum(kept.fed, &bias, (fed_mask, first_row), kept.middle, norm.norm(), y);
        Ok(())
    }

    /// Turns the gradient of the block's output into that of its input if it `goes_on` below, and leaves what the
    /// gradients of the weights are made from.
    pub(super) fn backward(&self, work: Backward<'_>, goes_on: bool) -> Result<(), NnError> {
        let (h, inner, first_row) = (self.hidden(), self.inner(), work.share.rows.start);
        let [probability_mask, attended_mask, fed_mask] = work.masks;
        let Backward { kept, grads, rounded_weights, .. } = work;
        let Scratch { grad, other, attention: scratch, rounded, .. } = work.scratch;
        let other = sized(other, grad.len());
        let mut sums: Vec<Sums<'_>> =
            grads.sums.chunks_exact_mut(Sums::width(h, inner)).map(|sums| Sums::of(sums, h, inner)).collect();
        let sentences: Vec<Range<usize>> = work.share.sentences(work.batch, 1).collect();
        let of = |rows: &Range<usize>, width: usize| rows.start * width..rows.end * width;

        // Through the second half: `other` gets the gradient of the sum before the norm, which is also that of `middle`.
        let norm = Norms::read(&self.norm)?;
        for (rows, sums) in sentences.iter().zip(&mut sums) {
            let (range, row) = (of(rows, h), first_row + rows.start);
            let (fed, other) = (&mut kept.fed[range.clone()], &mut other[range.clone()]);
            kernels::layer_norm_back(fed, norm.norm(), &grad[range], other, sums.norm);
            kernels::drop_and_sum(other, (fed_mask, row), fed, sums.down);
        }
        self.product_back(Product::Down, rounded_weights, kept.fed, grads.inner, WriteMode::Overwrite, rounded)?;
        for (rows, sums) in sentences.iter().zip(&mut sums) {
            let range = of(rows, inner);
            kernels::gelu_back(&mut kept.inner[range.clone()], &mut grads.inner[range], sums.up);
        }
        self.product_back(Product::Up, rounded_weights, grads.inner, other, WriteMode::Add, rounded)?;

        // Through the first half: `grad` gets the gradient of the sum before the norm, which is also that of the input.
        let norm = Norms::read(&self.attention_norm)?;
        for (rows, sums) in sentences.iter().zip(&mut sums) {
            let (range, row) = (of(rows, h), first_row + rows.start);
            let (attended, grad) = (&mut kept.attended[range.clone()], &mut grad[range.clone()]);
            kernels::layer_norm_back(attended, norm.norm(), &other[range], grad, sums.attention_norm);
            kernels::drop_and_sum(grad, (attended_mask, row), attended, sums.output);
        }
        self.product_back(Product::Output, rounded_weights, kept.attended, other, WriteMode::Overwrite, rounded)?;
        let attention = self.attention(work.batch, probability_mask);
        for ((number, rows), sums) in work.share.windows.clone().zip(&sentences).zip(&mut sums) {
            let (range, wide) = (of(rows, h), of(rows, 3 * h));
            let (qkv, grad) = (&kept.qkv[wide.clone()], &mut grads.qkv[wide]);
            attention.backward(number, qkv, &other[range], grad, scratch);
            kernels::add_rows(grad, sums.qkv);
        }
        if goes_on {
            self.product_back(Product::Qkv, rounded_weights, grads.qkv, grad, WriteMode::Add, rounded)?;
        }
        Ok(())
    }

    /// Adds the gradients of biases and norms, sentence by sentence.
    pub(super) fn add_sums(&self, sums: &[f32], gradients: &mut Gradients) {
        let (h, inner) = (self.hidden(), self.inner());
        let width = Sums::width(h, inner);
        let mut total = vec![0.0; width];
        kernels::add_rows(sums, &mut total);
        let Sums { norm, down, up, attention_norm, output, qkv } = Sums::of(&mut total, h, inner);
        add_norm(&self.norm, norm, gradients);
        add_norm(&self.attention_norm, attention_norm, gradients);
        let parts = qkv.chunks_exact(h);
        let layers = [&self.query, &self.key, &self.value].into_iter().zip(parts);
        let others = [(&self.down, &*down), (&self.up, &*up), (&self.output, &*output)];
        layers.chain(others).for_each(|(layer, sum)| gradients.add(layer.bias(), sum));
    }
}
