//! Passes over the rows of a matrix, on the thread that calls, and a few that are divided over its pool.

use super::arithmetic::{FLAT, LANES, ROWS, exp, lanes_sum, normal};
use super::{DropMask, InstructionSet};
use rayon::prelude::*;

#[inline(always)]
fn mean_and_inverse_deviation(x: &[f32], eps: f32) -> (f32, f32) {
    let n = x.len() as f32;
    let mean = lanes_sum(x.len(), |i| x[i]) / n;
    let variance = lanes_sum(x.len(), |i| (x[i] - mean) * (x[i] - mean)) / n;
    (mean, 1.0 / (variance + eps).sqrt())
}

dispatch! {
    fn layer_norm_row(x: &[f32], weight: &[f32], bias: &[f32], eps: f32, y: &mut [f32]) {
        let (mean, scale) = mean_and_inverse_deviation(x, eps);
        for (((y, x), w), b) in y.iter_mut().zip(x).zip(weight).zip(bias) {
            *y = (x - mean) * scale * w + b;
        }
    }
}

dispatch! {
    /// `sums` holds the gradients of weight and bias, one behind the other; they are added to.
    fn layer_norm_back_row(x: &[f32], weight: &[f32], grad: &[f32], eps: f32, dx: &mut [f32], sums: &mut [f32]) {
        let n = x.len();
        let (weight, grad) = (&weight[..n], &grad[..n]);
        let (mean, scale) = mean_and_inverse_deviation(x, eps);
        let a = lanes_sum(n, |i| grad[i] * weight[i]) / n as f32;
        let c = lanes_sum(n, |i| grad[i] * weight[i] * (x[i] - mean) * scale) / n as f32;
        let (dw, db) = sums.split_at_mut(n);
        for (i, (dx, (dw, db))) in dx.iter_mut().zip(dw.iter_mut().zip(db)).enumerate().take(n) {
            let normed = (x[i] - mean) * scale;
            *dw += grad[i] * normed;
            *db += grad[i];
            *dx = scale * (grad[i] * weight[i] - a - normed * c);
        }
    }
}

dispatch! {
    /// GELU of `x`, written to `y`.
    pub fn gelu_row(x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = x * normal(x).0;
        }
    }
}

dispatch! {
    /// GELU of `x` and its slope, written to `y` and `slope`.
    pub fn gelu_slope_row(x: &[f32], y: &mut [f32], slope: &mut [f32]) {
        for ((y, slope), &x) in y.iter_mut().zip(slope).zip(x) {
            let (cdf, density) = normal(x);
            (*y, *slope) = (x * cdf, cdf + x * density);
        }
    }
}

dispatch! {
    fn gelu_of_sum_row(x: &mut [f32], bias: &[f32], y: &mut [f32]) {
        for ((x, b), y) in x.iter_mut().zip(bias).zip(y) {
            let sum = *x + b;
            (*x, *y) = (sum, sum * normal(sum).0);
        }
    }
}

dispatch! {
    fn gelu_back_row(x: &mut [f32], grad: &mut [f32], sum: &mut [f32]) {
        for ((x, grad), sum) in x.iter_mut().zip(grad).zip(sum) {
            let (cdf, density) = normal(*x);
            *grad *= cdf + *x * density;
            *x *= cdf;
            *sum += *grad;
        }
    }
}

dispatch! {
    /// Softmax of `scale · row`, in place.
    pub fn softmax_row(row: &mut [f32], scale: f32) {
        let mut lanes = [f32::NEG_INFINITY; LANES];
        for piece in row.chunks(LANES) {
            for (max, v) in lanes.iter_mut().zip(piece) {
                *max = if *v > *max { *v } else { *max };
            }
        }
        let max = lanes.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for v in row.iter_mut() {
            *v = exp((*v - max) * scale);
        }
        let inverse = 1.0 / lanes_sum(row.len(), |i| row[i]);
        for v in row.iter_mut() {
            *v *= inverse;
        }
    }
}

dispatch! {
    /// Turns the gradient of the probabilities into that of the scores, in place.
    pub fn softmax_back_row(p: &[f32], grad: &mut [f32], scale: f32) {
        let p = &p[..grad.len()];
        let dot = lanes_sum(p.len(), |i| p[i] * grad[i]);
        for (g, p) in grad.iter_mut().zip(p) {
            *g = scale * p * (*g - dot);
        }
    }
}

dispatch! {
    pub fn add_row(y: &mut [f32], x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}

dispatch! {
    /// `y += factor · x`
    pub fn add_scaled_row(y: &mut [f32], factor: f32, x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += factor * x;
        }
    }
}

dispatch! {
    /// `y *= x`
    pub fn multiply_row(y: &mut [f32], x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y *= x;
        }
    }
}

dispatch! {
    fn add_dropped_row(y: &mut [f32], bias: &[f32], mask: DropMask, from: usize, other: &[f32]) {
        for (i, ((y, b), o)) in y.iter_mut().zip(bias).zip(other).enumerate() {
            *y = (*y + b) * mask.factor(from.wrapping_add(i)) + o;
        }
    }
}

dispatch! {
    fn add_both_row(y: &mut [f32], bias: &[f32], other: &[f32]) {
        for ((y, b), o) in y.iter_mut().zip(bias).zip(other) {
            *y = *y + b + o;
        }
    }
}

dispatch! {
    fn square_sum(x: &[f32]) -> f32 {
        lanes_sum(x.len(), |i| x[i] * x[i])
    }
}

/// Weight, bias and epsilon of a layer norm.
#[derive(Clone, Copy, Debug)]
pub struct Norm<'a> {
    pub weight: &'a [f32],
    pub bias: &'a [f32],
    pub eps: f32,
}

/// `y` gets the norm of each row of `x` `[N, H]`, where H is the length of the norm's weight.
pub fn layer_norm(x: &[f32], norm: Norm<'_>, y: &mut [f32]) {
    let h = norm.weight.len().max(1);
    for (y, x) in y.chunks_exact_mut(h).zip(x.chunks_exact(h)) {
        layer_norm_row(x, norm.weight, norm.bias, norm.eps, y);
    }
}

/// The gradient of `x`; those of weight and bias, one behind the other, are added to `sums`.
pub fn layer_norm_back(x: &[f32], norm: Norm<'_>, grad: &[f32], dx: &mut [f32], sums: &mut [f32]) {
    let h = norm.weight.len().max(1);
    for ((dx, x), grad) in dx.chunks_exact_mut(h).zip(x.chunks_exact(h)).zip(grad.chunks_exact(h)) {
        layer_norm_back_row(x, norm.weight, grad, norm.eps, dx, sums);
    }
}

/// The end of a block's half: `x` becomes `dropped(x + bias) + residual`, and `y` the norm of that. The rows stand in
/// their tensor from `first_row`.
pub fn norm_of_sum(
    x: &mut [f32],
    bias: &[f32],
    (mask, first_row): (DropMask, usize),
    residual: &[f32],
    norm: Norm<'_>,
    y: &mut [f32],
) {
    let h = bias.len().max(1);
    let rows = x.chunks_exact_mut(h).zip(y.chunks_exact_mut(h)).zip(residual.chunks_exact(h));
    for (row, ((x, y), residual)) in rows.enumerate() {
        if mask.drops_nothing() {
            add_both_row(x, bias, residual);
        } else {
            add_dropped_row(x, bias, mask, (first_row + row) * h, residual);
        }
        layer_norm_row(x, norm.weight, norm.bias, norm.eps, y);
    }
}

/// `y` gets what the mask leaves of `grad` `[N, H]`, whose rows stand in their tensor from `first_row`; the sum of its
/// rows is added to `sum`.
pub fn drop_and_sum(grad: &[f32], (mask, first_row): (DropMask, usize), y: &mut [f32], sum: &mut [f32]) {
    let h = sum.len().max(1);
    y.copy_from_slice(grad);
    mask.apply(y, first_row * h);
    y.chunks_exact(h).for_each(|row| add_row(sum, row));
}

/// `x` becomes `x + bias`, and `y` GELU of that.
pub fn gelu_of_sum(x: &mut [f32], bias: &[f32], y: &mut [f32]) {
    let h = bias.len().max(1);
    for (x, y) in x.chunks_exact_mut(h).zip(y.chunks_exact_mut(h)) {
        gelu_of_sum_row(x, bias, y);
    }
}

/// The way back: `grad` becomes the gradient of `x` `[N, H]` and `x` GELU of itself; the sum of the gradient's rows is
/// added to `sum`.
pub fn gelu_back(x: &mut [f32], grad: &mut [f32], sum: &mut [f32]) {
    let h = sum.len().max(1);
    for (x, grad) in x.chunks_exact_mut(h).zip(grad.chunks_exact_mut(h)) {
        gelu_back_row(x, grad, sum);
    }
}

/// Adds `bias` to each row.
pub fn add_bias(y: &mut [f32], bias: &[f32]) {
    y.chunks_exact_mut(bias.len().max(1)).for_each(|row| add_row(row, bias));
}

/// Adds the rows of `x` `[N, H]` to `sum`.
pub fn add_rows(x: &[f32], sum: &mut [f32]) {
    x.chunks_exact(sum.len().max(1)).for_each(|row| add_row(sum, row));
}

/// The sum of the rows of `x` `[N, H]`, divided over the pool.
pub fn sum_rows(x: &[f32], h: usize) -> Vec<f32> {
    let h = h.max(1);
    let sums = x.par_chunks(h * ROWS).map(|x| {
        let mut sum = vec![0f32; h];
        add_rows(x, &mut sum);
        sum
    });
    let parts: Vec<Vec<f32>> = sums.collect();
    let mut total = vec![0f32; h];
    parts.iter().for_each(|part| add_row(&mut total, part));
    total
}

/// The square of the Euclidean norm, divided over the pool.
pub fn squared_norm(x: &[f32]) -> f64 {
    let parts: Vec<f32> = x.par_chunks(FLAT).map(square_sum).collect();
    parts.into_iter().map(f64::from).sum()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{instruction_sets, random};
    use super::*;
    use crate::nn::Rng;

    /// Changes up to three rows.
    type Pass<'a> = &'a dyn Fn(&mut [f32], &mut [f32], &mut [f32]);

    /// Every pass of this file over rows of `n` numbers.
    fn all_passes(set: InstructionSet, n: usize) -> Vec<u32> {
        let mut rng = Rng::new(n as u64, "rows");
        let [x, weight, bias, grad] = [0; 4].map(|_| random(&mut rng, n));
        let mask = DropMask::new(0.3, 7);
        let mut results = Vec::new();
        let mut run = |from: [&[f32]; 3], pass: Pass<'_>| {
            let [mut a, mut b, mut c] = from.map(<[f32]>::to_vec);
            pass(&mut a, &mut b, &mut c);
            results.extend([a, b, c].concat());
        };
        let twice = [weight.as_slice(), &bias].concat();
        run([&grad, &[], &[]], &|y, _, _| layer_norm_row::on(set, &x, &weight, &bias, 1e-5, y));
        run([&grad, &twice, &[]], &|dx, sums, _| layer_norm_back_row::on(set, &x, &weight, &grad, 1e-5, dx, sums));
        run([&grad, &[], &[]], &|y, _, _| gelu_row::on(set, &x, y));
        run([&grad, &bias, &[]], &|y, slope, _| gelu_slope_row::on(set, &x, y, slope));
        run([&x, &grad, &[]], &|x, y, _| gelu_of_sum_row::on(set, x, &bias, y));
        run([&x, &grad, &bias], &|x, grad, sum| gelu_back_row::on(set, x, grad, sum));
        run([&x, &[], &[]], &|row, _, _| softmax_row::on(set, row, 0.7));
        run([&grad, &[], &[]], &|grad, _, _| softmax_back_row::on(set, &x, grad, 0.7));
        run([&x, &[], &[]], &|y, _, _| add_row::on(set, y, &bias));
        run([&x, &[], &[]], &|y, _, _| add_scaled_row::on(set, y, 0.3, &bias));
        run([&x, &[], &[]], &|y, _, _| multiply_row::on(set, y, &bias));
        run([&x, &[], &[]], &|y, _, _| add_dropped_row::on(set, y, &bias, mask, 5, &grad));
        run([&x, &[], &[]], &|y, _, _| add_both_row::on(set, y, &bias, &grad));
        results.push(square_sum::on(set, &x));
        results.into_iter().map(f32::to_bits).collect()
    }

    #[test]
    fn all_instructions_give_the_same_bits() {
        let sets = instruction_sets();
        for n in [1, 2, 15, 16, 17, 31, 33, 100] {
            let plain = all_passes(InstructionSet::Plain, n);
            for set in &sets {
                assert!(all_passes(*set, n) == plain, "{n} {set:?}");
            }
        }
    }
}
