//! From numbers to the first hidden states, and back.

use super::super::bert::Bert;
use super::norms::{Norms, add_norm};
use super::products::{Sides, WeightGradient, add_weights};
use super::tape::{Projection, Scratch, Share, Tape, sized, split, split_sums};
use super::{EncoderBatch, Forward};
use crate::nn::kernels::{self, View, WriteMode, matmul};
use crate::nn::{Gradients, NnError, TensorSlice, as_slice};
use rayon::prelude::*;

impl Bert {
    /// The width of what is projected; 0 where nothing is.
    pub(super) fn projected(&self) -> usize {
        if self.projection.is_some() { self.embedding() } else { 0 }
    }

    /// The first hidden states, to be left in the slot `to`.
    pub(super) fn embed(&self, work: &mut Forward<'_>, to: usize) -> Result<(), NnError> {
        let (e, batch, mask) = (self.embedding(), work.batch, work.masks.pieces);
        let (words, positions) = (as_slice(self.words.weight())?, as_slice(self.positions.weight())?);
        let types = self.token_types.as_ref().map(|types| as_slice(types.weight())).transpose()?;
        let row = |table: &'_ TensorSlice<'_>, number: u32| {
            let from = number as usize * e;
            if from < table.len() {
                Ok(from..from + e)
            } else {
                Err(NnError::BeyondTable { number, rows: table.len() / e })
            }
        };
        for (number, sum) in work.share.rows.clone().zip(work.embedded.chunks_exact_mut(e)) {
            sum.fill(0.0);
            for piece in 0..batch.pieces() {
                let piece = number * batch.pieces() + piece;
                kernels::add_scaled_row(sum, mask.factor(piece), &words[row(&words, batch.ids()[piece])?]);
            }
            kernels::add_row(sum, &positions[row(&positions, batch.places()[number] + self.position_offset)?]);
            if let Some(types) = &types {
                kernels::add_row(sum, &types[..e]);
            }
        }
        let state = &mut *work.states[to];
        let Some(projection) = &self.projection else {
            kernels::layer_norm(work.embedded, Norms::read(&self.norm)?.norm(), state);
            work.masks.embedded.apply(state, work.share.rows.start * e);
            return Ok(());
        };
        kernels::layer_norm(work.embedded, Norms::read(&self.norm)?.norm(), work.projected);
        work.masks.embedded.apply(work.projected, work.share.rows.start * e);
        let (weight, h) = (as_slice(projection.weight())?, self.hidden());
        let (dims, transposed) = ([work.share.rows.len(), h, e], View::rows(e).transposed());
        matmul(
            dims,
            (state, View::rows(h)),
            (work.projected, View::rows(e)),
            (&weight, transposed),
            WriteMode::Overwrite,
        );
        kernels::add_bias(state, &as_slice(projection.bias())?);
        Ok(())
    }

    /// Leaves the gradient of the sums of embeddings where they were.
    pub(super) fn embed_backward(
        &self,
        batch: &EncoderBatch,
        shares: &[Share],
        tape: &mut Tape,
    ) -> Result<(), NnError> {
        let (e, h, mask) = (self.embedding(), self.hidden(), tape.masks.embedded);
        let above = split(&mut tape.projection.grad, shares, if self.projection.is_some() { h } else { 0 });
        let sums = split_sums(&mut tape.embedded_sums, shares, 2 * e);
        let parts = split(&mut tape.embedded, shares, e).into_iter().zip(sums).zip(above);
        let work: Vec<_> = shares.iter().zip(parts).zip(&mut tape.scratch).collect();
        work.into_par_iter().try_for_each(|((share, ((embedded, sums), above)), scratch)| {
            let Scratch { grad, other, .. } = scratch;
            if let Some(projection) = &self.projection {
                above.copy_from_slice(grad);
                let (grad, weight) = (sized(grad, embedded.len()), as_slice(projection.weight())?);
                let (dims, rows) = ([share.rows.len(), e, h], View::rows(e));
                matmul(dims, (grad, rows), (above, View::rows(h)), (&weight, rows), WriteMode::Overwrite);
            }
            mask.apply(grad, share.rows.start * e);
            let (norm, below) = (Norms::read(&self.norm)?, sized(other, grad.len()));
            for (rows, sums) in share.sentences(batch, e).zip(sums.chunks_exact_mut(2 * e)) {
                let (x, grad) = (&embedded[rows.clone()], &grad[rows.clone()]);
                kernels::layer_norm_back(x, norm.norm(), grad, &mut below[rows], sums);
            }
            embedded.copy_from_slice(below);
            Ok(())
        })
    }

    pub(super) fn add_projection(&self, tape: &Projection<Vec<f32>>, rows: usize, gradients: &mut Gradients) {
        let Some(layer) = &self.projection else { return };
        let h = self.hidden();
        let mut sum = vec![0.0; h];
        kernels::add_rows(&tape.grad, &mut sum);
        gradients.add(layer.bias(), &sum);
        let sides = Sides::Rows { grad: (&tape.grad, View::rows(h)), x: &tape.x };
        add_weights(vec![WeightGradient { layer, sides }], rows, gradients);
    }

    pub(super) fn add_embeddings(&self, batch: &EncoderBatch, tape: &Tape, gradients: &mut Gradients) {
        let (e, pieces) = (self.embedding(), batch.pieces());
        let (mask, grad) = (tape.masks.pieces, &tape.embedded);
        let mut of_norm = vec![0.0; 2 * e];
        kernels::add_rows(&tape.embedded_sums, &mut of_norm);
        add_norm(&self.norm, &of_norm, gradients);
        if pieces == 1 {
            gradients.add_rows(self.words.weight(), batch.ids(), grad);
        } else {
            let rows = grad.chunks_exact(e).enumerate();
            let each = rows.flat_map(|(row, grad)| {
                let factors = (0..pieces).map(move |piece| mask.factor(row * pieces + piece));
                factors.flat_map(move |factor| grad.iter().map(move |x| factor * x))
            });
            gradients.add_rows(self.words.weight(), batch.ids(), &each.collect::<Vec<_>>());
        }
        let positions = gradients.sum(self.positions.weight());
        for (place, grad) in batch.places().iter().zip(grad.chunks_exact(e)) {
            kernels::add_row(&mut positions[(place + self.position_offset) as usize * e..][..e], grad);
        }
        if let Some(types) = &self.token_types {
            kernels::add_rows(grad, &mut gradients.sum(types.weight())[..e]);
        }
    }
}
