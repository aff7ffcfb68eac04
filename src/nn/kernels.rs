//! Loops over plain slices, compiled for several kinds of processor and chosen at run time, and matrix products.
//!
//! Rows are divided over threads in pieces of a fixed size, so that sums don't depend on the number of threads.

use gemm::Parallelism;
use rayon::prelude::*;

/// Rows that one task takes at a time.
const ROWS: usize = 32;
/// Numbers that one task of a flat pass takes at a time.
const FLAT: usize = 1 << 15;

/// Compiles one body for AVX-512, AVX2 and the baseline, and calls the best that the processor has.
macro_rules! dispatch {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident : $kind:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        fn $name($($arg: $kind),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $kind),*) $(-> $ret)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,avx2")]
                fn avx512($($arg: $kind),*) $(-> $ret)? { body($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $kind),*) $(-> $ret)? { body($($arg),*) }
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl")
                {
                    // SAFETY: the processor has what the function is compiled for, as just asked.
                    return unsafe { avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: as above.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}

/// e^x to about 1e-7 relative, without branches (Cephes' polynomial).
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 5.0e-1;
    let mantissa = p * (r * r) + r + 1.0;
    mantissa * f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000))
}

/// Distribution function and density of the standard normal, to 1e-7 (Abramowitz and Stegun 7.1.26).
#[inline(always)]
fn normal(x: f32) -> (f32, f32) {
    let e = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs() * std::f32::consts::FRAC_1_SQRT_2);
    let p = ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_7) * t - 0.284_496_74) * t + 0.254_829_6) * t;
    (0.5 + 0.5 * (1.0 - p * e).copysign(x), 0.398_942_3 * e)
}

/// A sum in sixteen lanes, an order that vectorises and is the same on every processor.
#[inline(always)]
fn lanes_sum(len: usize, f: impl Fn(usize) -> f32) -> f32 {
    let mut lanes = [0f32; 16];
    let whole = len / 16 * 16;
    let mut at = 0;
    while at < whole {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += f(at + lane);
        }
        at += 16;
    }
    lanes.iter().sum::<f32>() + (whole..len).map(f).sum::<f32>()
}

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
    fn gelu_row(x: &[f32], y: &mut [f32]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = x * normal(x).0;
        }
    }
}

dispatch! {
    fn gelu_back_row(x: &[f32], grad: &[f32], dx: &mut [f32]) {
        for ((dx, &x), g) in dx.iter_mut().zip(x).zip(grad) {
            let (cdf, density) = normal(x);
            *dx = g * (cdf + x * density);
        }
    }
}

dispatch! {
    /// Softmax of `scale · row`, in place.
    fn softmax_row(row: &mut [f32], scale: f32) {
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
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
    fn softmax_back_row(p: &[f32], grad: &mut [f32], scale: f32) {
        let p = &p[..grad.len()];
        let dot = lanes_sum(p.len(), |i| p[i] * grad[i]);
        for (g, p) in grad.iter_mut().zip(p) {
            *g = scale * p * (*g - dot);
        }
    }
}

dispatch! {
    fn add_row(y: &mut [f32], x: &[f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}

dispatch! {
    fn drop_row(y: &mut [f32], seed: u32, from: u32, threshold: u32, scale: f32) {
        for (i, y) in y.iter_mut().enumerate() {
            *y *= if hash(seed, from.wrapping_add(i as u32)) >= threshold { scale } else { 0.0 };
        }
    }
}

dispatch! {
    fn square_sum(x: &[f32]) -> f32 {
        lanes_sum(x.len(), |i| x[i] * x[i])
    }
}

dispatch! {
    fn adamw_row(p: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], c: &AdamWStep) {
        for (((p, g), m), v) in p.iter_mut().zip(g).zip(m).zip(v) {
            let g = g * c.grad_scale;
            *m = c.beta1 * *m + c.rest1 * g;
            *v = c.beta2 * *v + c.rest2 * g * g;
            *p = *p * c.keep - c.rate * *m / ((*v * c.correct2).sqrt() + c.eps);
        }
    }
}

/// The constants of one step of AdamW for one group of variables.
#[derive(Clone, Copy, Debug)]
pub(super) struct AdamWStep {
    /// What clipping multiplies the gradient by.
    pub grad_scale: f32,
    pub beta1: f32,
    /// 1 - beta1, not rounded through `f32`; the next one likewise.
    pub rest1: f32,
    pub beta2: f32,
    pub rest2: f32,
    pub eps: f32,
    /// Learning rate over the first moment's bias correction.
    pub rate: f32,
    /// One over the second moment's bias correction.
    pub correct2: f32,
    /// 1 - learning rate · weight decay.
    pub keep: f32,
}

/// Which units are dropped: a function of seed and position, so that a backward pass needs no stored mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct DropMask {
    pub seed: u32,
    threshold: u32,
    scale: f32,
}

impl DropMask {
    /// `p` in [0, 1).
    pub(super) fn new(p: f32, seed: u32) -> Self {
        Self { seed, threshold: (f64::from(p) * 2f64.powi(32)) as u32, scale: 1.0 / (1.0 - p) }
    }

    /// Drops `values`, which begin at position `from` of their tensor.
    pub(super) fn apply(self, values: &mut [f32], from: usize) {
        drop_row(values, self.seed, from as u32, self.threshold, self.scale);
    }
}

/// The finaliser of MurmurHash3 over a counter.
#[inline(always)]
fn hash(seed: u32, i: u32) -> u32 {
    let mut h = i.wrapping_mul(0x9E37_79B1) ^ seed;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// `y` gets the norm of each row of `x` `[N, H]`, where H is the length of `weight`.
pub(super) fn layer_norm(x: &[f32], weight: &[f32], bias: &[f32], eps: f32, y: &mut [f32]) {
    let h = weight.len().max(1);
    y.par_chunks_mut(h * ROWS).zip(x.par_chunks(h * ROWS)).for_each(|(y, x)| {
        for (y, x) in y.chunks_exact_mut(h).zip(x.chunks_exact(h)) {
            layer_norm_row(x, weight, bias, eps, y);
        }
    });
}

/// Returns the gradients of weight and bias, one behind the other.
pub(super) fn layer_norm_back(x: &[f32], weight: &[f32], grad: &[f32], eps: f32, dx: &mut [f32]) -> Vec<f32> {
    let h = weight.len().max(1);
    let pieces = dx.par_chunks_mut(h * ROWS).zip(x.par_chunks(h * ROWS)).zip(grad.par_chunks(h * ROWS));
    let sums = pieces.map(|((dx, x), grad)| {
        let mut sums = vec![0f32; 2 * h];
        for ((dx, x), grad) in dx.chunks_exact_mut(h).zip(x.chunks_exact(h)).zip(grad.chunks_exact(h)) {
            layer_norm_back_row(x, weight, grad, eps, dx, &mut sums);
        }
        sums
    });
    in_order(sums.collect(), 2 * h)
}

/// The sum of the rows of `x` `[N, H]`.
pub(super) fn sum_rows(x: &[f32], h: usize) -> Vec<f32> {
    let h = h.max(1);
    let sums = x.par_chunks(h * ROWS).map(|x| {
        let mut sum = vec![0f32; h];
        x.chunks_exact(h).for_each(|row| add_row(&mut sum, row));
        sum
    });
    in_order(sums.collect(), h)
}

fn in_order(parts: Vec<Vec<f32>>, len: usize) -> Vec<f32> {
    let mut total = vec![0f32; len];
    parts.iter().for_each(|part| add_row(&mut total, part));
    total
}

/// Adds `bias` to each row.
pub(super) fn add_bias(y: &mut [f32], bias: &[f32]) {
    let h = bias.len().max(1);
    y.par_chunks_mut(h * ROWS).for_each(|y| y.chunks_exact_mut(h).for_each(|row| add_row(row, bias)));
}

pub(super) fn gelu(x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(FLAT).zip(x.par_chunks(FLAT)).for_each(|(y, x)| gelu_row(x, y));
}

pub(super) fn gelu_back(x: &[f32], grad: &[f32], dx: &mut [f32]) {
    let pieces = dx.par_chunks_mut(FLAT).zip(x.par_chunks(FLAT)).zip(grad.par_chunks(FLAT));
    pieces.for_each(|((dx, x), grad)| gelu_back_row(x, grad, dx));
}

pub(super) fn drop_all(values: &mut [f32], mask: DropMask) {
    values.par_chunks_mut(FLAT).enumerate().for_each(|(i, piece)| mask.apply(piece, i * FLAT));
}

/// The square of the Euclidean norm.
pub(super) fn squared_norm(x: &[f32]) -> f64 {
    let parts: Vec<f32> = x.par_chunks(FLAT).map(square_sum).collect();
    parts.into_iter().map(f64::from).sum()
}

pub(super) fn adamw(p: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], step: AdamWStep) {
    let moments = m.par_chunks_mut(FLAT).zip(v.par_chunks_mut(FLAT));
    let pieces = p.par_chunks_mut(FLAT).zip(g.par_chunks(FLAT)).zip(moments);
    pieces.for_each(|((p, g), (m, v))| adamw_row(p, g, m, v, &step));
}

/// A matrix inside a slice: element `(i, j)` is at `at + i · row + j · col`.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub at: usize,
    pub row: usize,
    pub col: usize,
}

impl View {
    /// Row-major with `cols` columns.
    pub(super) fn rows(cols: usize) -> Self {
        Self { at: 0, row: cols, col: 1 }
    }

    pub(super) fn transposed(self) -> Self {
        Self { row: self.col, col: self.row, ..self }
    }

    /// One more than the greatest index of a `rows` × `cols` matrix.
    fn end(self, rows: usize, cols: usize) -> usize {
        if rows == 0 || cols == 0 { 0 } else { self.at + (rows - 1) * self.row + (cols - 1) * self.col + 1 }
    }
}

/// `dst = a · b` for `a` `[M, K]`, `b` `[K, N]`; `dims` is `[M, N, K]`.
///
/// Uses the pool that it is called in when `parallel`.
pub(super) fn matmul(dims: [usize; 3], dst: (&mut [f32], View), a: (&[f32], View), b: (&[f32], View), parallel: bool) {
    let [m, n, k] = dims;
    let fits = dst.1.end(m, n) <= dst.0.len() && a.1.end(m, k) <= a.0.len() && b.1.end(k, n) <= b.0.len();
    assert!(fits, "a matrix reaches beyond its slice");
    let threads = if parallel { rayon::current_num_threads() } else { 1 };
    let parallelism = if threads > 1 { Parallelism::Rayon(threads) } else { Parallelism::None };
    // SAFETY: `fits` says that every element of the three matrices lies in its slice; `dst` is borrowed mutably, so
    // it overlaps neither `a` nor `b`.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            dst.0.as_mut_ptr().add(dst.1.at),
            dst.1.col as isize,
            dst.1.row as isize,
            false,
            a.0.as_ptr().add(a.1.at),
            a.1.col as isize,
            a.1.row as isize,
            b.0.as_ptr().add(b.1.at),
            b.1.col as isize,
            b.1.row as isize,
            0.0f32,
            1.0f32,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// Multi-head attention over padded sentences: `[B, T, H]` in rows, `heads` parts of H; sentence `b` has `lens[b]`
/// rows that count. Rows beyond get zeros.
#[derive(Clone, Debug)]
pub(super) struct Attention {
    pub t: usize,
    pub h: usize,
    pub heads: usize,
    pub lens: Vec<usize>,
    pub mask: Option<DropMask>,
}

impl Attention {
    fn head(&self, head: usize) -> View {
        View { at: head * (self.h / self.heads), row: self.h, col: 1 }
    }

    fn scale(&self) -> f32 {
        1.0 / ((self.h / self.heads) as f32).sqrt()
    }

    /// Position of a sentence's first probability of a head, in `[B, heads, T, T]`.
    fn drop_from(&self, sentence: usize, head: usize) -> usize {
        (sentence * self.heads + head) * self.t * self.t
    }

    /// Drops probabilities `[len, len]` as a part of `[T, T]`.
    fn drop(&self, probabilities: &mut [f32], len: usize, sentence: usize, head: usize) {
        if let Some(mask) = self.mask {
            let from = self.drop_from(sentence, head);
            for (i, row) in probabilities.chunks_exact_mut(len.max(1)).enumerate() {
                mask.apply(row, from + i * self.t);
            }
        }
    }

    fn probabilities(&self, q: &[f32], k: &[f32], len: usize, head: usize, p: &mut [f32]) {
        let (d, view) = (self.h / self.heads, self.head(head));
        matmul([len, len, d], (p, View::rows(len)), (q, view), (k, view.transposed()), false);
        p.chunks_exact_mut(len.max(1)).for_each(|row| softmax_row(row, self.scale()));
    }

    /// Context vectors `[B, T, H]`.
    pub(super) fn forward(&self, q: &[f32], k: &[f32], v: &[f32]) -> Vec<f32> {
        let size = (self.t * self.h).max(1);
        let mut context = vec![0f32; q.len()];
        context.par_chunks_mut(size).zip(&self.lens).enumerate().for_each_init(Vec::new, |p, (b, (out, &len))| {
            let rows = b * size..(b + 1) * size;
            let (q, k, v) = (&q[rows.clone()], &k[rows.clone()], &v[rows]);
            p.resize(len * len, 0.0);
            for head in 0..self.heads {
                let view = self.head(head);
                self.probabilities(q, k, len, head, p);
                self.drop(p, len, b, head);
                matmul([len, self.h / self.heads, len], (out, view), (p, View::rows(len)), (v, view), false);
            }
        });
        context
    }

    /// Gradients of q, k and v, given that of the context.
    pub(super) fn backward(&self, q: &[f32], k: &[f32], v: &[f32], grad: &[f32]) -> [Vec<f32>; 3] {
        let size = (self.t * self.h).max(1);
        let [mut dq, mut dk, mut dv] = [(); 3].map(|()| vec![0f32; q.len()]);
        let outputs = dq.par_chunks_mut(size).zip(dk.par_chunks_mut(size)).zip(dv.par_chunks_mut(size));
        let work = outputs.zip(&self.lens).enumerate();
        work.for_each_init(<[Vec<f32>; 3]>::default, |[p, dropped, dp], (b, (((dq, dk), dv), &len))| {
            let rows = b * size..(b + 1) * size;
            let (q, k, v, grad) = (&q[rows.clone()], &k[rows.clone()], &v[rows.clone()], &grad[rows]);
            for buffer in [&mut *p, &mut *dp] {
                buffer.resize(len * len, 0.0);
            }
            let (d, square) = (self.h / self.heads, View::rows(len));
            for head in 0..self.heads {
                let view = self.head(head);
                self.probabilities(q, k, len, head, p);
                dropped.clone_from(p);
                self.drop(dropped, len, b, head);
                matmul([len, d, len], (dv, view), (dropped, square.transposed()), (grad, view), false);
                matmul([len, len, d], (dp, square), (grad, view), (v, view.transposed()), false);
                self.drop(dp, len, b, head);
                for (p, dp) in p.chunks_exact(len.max(1)).zip(dp.chunks_exact_mut(len.max(1))) {
                    softmax_back_row(p, dp, self.scale());
                }
                matmul([len, d, len], (dq, view), (dp, square), (k, view), false);
                matmul([len, d, len], (dk, view), (dp, square.transposed()), (q, view), false);
            }
        });
        [dq, dk, dv]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_the_normal_distribution_are_precise() {
        for i in -800..=800 {
            let x = i as f32 / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 3e-7, "exp({x})");
        }
        // From scipy.stats.norm.cdf.
        for (x, cdf) in [(-3.0, 0.001_349_898), (-0.5, 0.308_537_54), (0.0, 0.5), (1.0, 0.841_344_7), (6.0, 1.0)] {
            assert!((normal(x).0 - cdf).abs() < 2e-7, "cdf({x})");
        }
    }

    #[test]
    fn the_share_of_dropped_units_is_p() {
        let mut values = vec![1f32; 100_000];
        drop_all(&mut values, DropMask::new(0.3, 99));
        let dropped = values.iter().filter(|v| **v == 0.0).count();
        assert!(dropped.abs_diff(30_000) < 600, "{dropped}");
        assert!((values.iter().sum::<f32>() / 1e5 - 1.0).abs() < 0.02);
    }
}
