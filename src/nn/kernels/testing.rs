//! What several tests of kernels need.

use super::{InstructionSet, View, WriteMode};
use crate::nn::Rng;
use std::io::Write as _;

pub(super) fn random(rng: &mut Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| rng.normal()).collect()
}

/// `dst = a · b` by the definition, in double precision.
pub(super) fn defined_product(
    [m, n, k]: [usize; 3],
    dst: (&mut [f32], View),
    a: (&[f32], View),
    b: (&[f32], View),
    write: WriteMode,
) {
    for i in 0..m {
        for j in 0..n {
            let product = |l| {
                f64::from(a.0[a.1.at + i * a.1.row + l * a.1.col]) * f64::from(b.0[b.1.at + l * b.1.row + j * b.1.col])
            };
            let y = &mut dst.0[dst.1.at + i * dst.1.row + j * dst.1.col];
            let before = if write == WriteMode::Add { f64::from(*y) } else { 0.0 };
            *y = (before + (0..k).map(product).sum::<f64>()) as f32;
        }
    }
}

/// The instruction sets that this machine has. Those that it lacks are named on standard error, past the test harness,
/// which shows nothing of a test that passes.
pub(super) fn instruction_sets() -> Vec<InstructionSet> {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    for name in InstructionSet::NAMES {
        if InstructionSet::from_name(name).is_err() {
            let _ = writeln!(std::io::stderr(), "skipped in {test}: no {name}");
        }
    }
    InstructionSet::all()
}
