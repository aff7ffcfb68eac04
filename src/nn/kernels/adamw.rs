//! AdamW's arithmetic (Loshchilov and Hutter 2019).

use super::InstructionSet;
use super::arithmetic::{FLAT, LANES, ROWS};
use rayon::prelude::*;

/// The constants of one step for one group of variables.
#[derive(Clone, Copy, Debug)]
pub struct AdamWStep {
    /// What clipping multiplies the gradient by.
    pub grad_scale: f32,
    /// 1 - beta1, not rounded through `f32`; the other likewise.
    pub rest1: f32,
    pub rest2: f32,
    /// What holds without a gradient, too.
    pub idle: Idle,
}

/// The constants of a step that don't touch the gradient.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Idle {
    pub beta1: f32,
    pub beta2: f32,
    pub eps: f32,
    /// Learning rate over the first moment's bias correction.
    pub rate: f32,
    /// One over the second moment's bias correction.
    pub correct2: f32,
    /// 1 - learning rate · weight decay.
    pub keep: f32,
}

#[inline(always)]
fn moved(p: f32, m: f32, v: f32, c: &Idle) -> f32 {
    p * c.keep - c.rate * m / ((v * c.correct2).sqrt() + c.eps)
}

dispatch! {
    fn adamw_row(p: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], c: &AdamWStep) {
        for (((p, g), m), v) in p.iter_mut().zip(g).zip(m).zip(v) {
            let g = g * c.grad_scale;
            *m = c.idle.beta1 * *m + c.rest1 * g;
            *v = c.idle.beta2 * *v + c.rest2 * g * g;
            *p = moved(*p, *m, *v, &c.idle);
        }
    }
}

dispatch! {
    /// The steps that numbers without a gradient take, one after the other while they are in registers.
    fn idle_row(p: &mut [f32], m: &mut [f32], v: &mut [f32], steps: &[Idle]) {
        let pieces = p.chunks_mut(LANES).zip(m.chunks_mut(LANES)).zip(v.chunks_mut(LANES));
        for ((p, m), v) in pieces {
            for c in steps {
                for ((p, m), v) in p.iter_mut().zip(m.iter_mut()).zip(v.iter_mut()) {
                    *m *= c.beta1;
                    *v *= c.beta2;
                    *p = moved(*p, *m, *v, c);
                }
            }
        }
    }
}

dispatch! {
    /// The same where both moments are 0.
    fn decay_row(p: &mut [f32], steps: &[Idle]) {
        for p in p.chunks_mut(LANES) {
            for c in steps {
                for p in p.iter_mut() {
                    *p *= c.keep;
                }
            }
        }
    }
}

/// One step of a variable `p` with the gradient `g` and the moments `m` and `v`, all in place.
pub fn adamw(p: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], step: AdamWStep) {
    let moments = m.par_chunks_mut(FLAT).zip(v.par_chunks_mut(FLAT));
    let pieces = p.par_chunks_mut(FLAT).zip(g.par_chunks(FLAT)).zip(moments);
    pieces.for_each(|((p, g), (m, v))| adamw_row(p, g, m, v, &step));
}

/// One step of some rows of a table: `g` holds a gradient of `width` numbers for each of `rows`, which are the numbers of a row
/// in `p` and in the moments.
pub fn adamw_rows(
    p: &mut [f32],
    rows: impl Iterator<Item = (usize, usize)>,
    g: &[f32],
    [m, v]: [&mut [f32]; 2],
    width: usize,
    step: AdamWStep,
) {
    let at = |row: usize| row * width..(row + 1) * width;
    for ((row, place), g) in rows.zip(g.chunks_exact(width.max(1))) {
        adamw_row(&mut p[at(row)], g, &mut m[at(place)], &mut v[at(place)], &step);
    }
}

/// One row of a table: a row of `p`, of both moments where these are not 0, and how many of the steps it has taken.
pub type IdleRow<'a> = (&'a mut [f32], Option<[&'a mut [f32]; 2]>, usize);

/// Takes rows of a table through those of `steps` that they have not taken.
///
/// Gives what [`adamw`] with gradients of 0 would have given at the time, bit for bit.
pub fn adamw_idle(rows: Vec<IdleRow<'_>>, steps: &[Idle]) {
    rows.into_par_iter().with_min_len(ROWS).for_each(|(p, moments, taken)| {
        let steps = &steps[taken..];
        match moments {
            Some([m, v]) => idle_row(p, m, v, steps),
            None => decay_row(p, steps),
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::{instruction_sets, random};
    use super::*;
    use crate::nn::Rng;

    #[test]
    fn all_instructions_give_the_same_bits() {
        let idle = Idle { beta1: 0.9, beta2: 0.999, eps: 1e-8, rate: 1e-3, correct2: 1.5, keep: 0.99 };
        let step = AdamWStep { grad_scale: 0.5, rest1: 0.1, rest2: 0.001, idle };
        let sets = instruction_sets();
        for n in [1, 15, 16, 17, 70] {
            let mut rng = Rng::new(n as u64, "adamw");
            let [p, g, m, v] = [0; 4].map(|_| random(&mut rng, n));
            let v: Vec<f32> = v.iter().map(|v| v * v).collect();
            let steps = |set| {
                let (mut p, mut m, mut v) = (p.clone(), m.clone(), v.clone());
                adamw_row::on(set, &mut p, &g, &mut m, &mut v, &step);
                idle_row::on(set, &mut p, &mut m, &mut v, &[idle; 3]);
                decay_row::on(set, &mut p, &[idle; 2]);
                [p, m, v].concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
            };
            let plain = steps(InstructionSet::Plain);
            for set in &sets {
                assert!(steps(*set) == plain, "{n} {set:?}");
            }
        }
    }
}
