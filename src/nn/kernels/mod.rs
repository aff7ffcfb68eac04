//! Loops over plain slices, compiled for several kinds of processor and chosen at run time.
//!
//! # Invariants
//! - No result depends on the number of threads. Most kernels run on the thread that calls them, which divides its rows
//!   among several; where a kernel divides its work itself, over the pool that it is called in, the pieces have a fixed size
//!   and their sums are added in order.
//! - Matrices are row-major unless a [`View`] says otherwise. Sizes that don't fit are a bug of the caller and panic, before
//!   anything is read or written; that the sizes themselves are computed does not overflow. Any dimension may be 0.
//! - Instructions that not every processor has are reached by an [`InstructionSet`] alone, which only detection makes.
//!   Kernels take the one that `NESTLING_KERNELS` chooses (`plain`, `avx2`, `avx512`, `amx`, `neon`, or `auto`, the best
//!   that is there); in the tests they take each that the processor has, as an argument.

/// Compiles one body for AVX-512, AVX2 and the baseline, and calls the one of the chosen [`InstructionSet`]; beside the
/// function stands a module of its name with `on`, which takes the set as its first argument.
macro_rules! dispatch {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident : $kind:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name($($arg: $kind),*) $(-> $ret)? {
            $name::on(InstructionSet::chosen(), $($arg),*)
        }

        mod $name {
            use super::*;

            #[inline(always)]
            fn body($($arg: $kind),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,avx2")]
            fn avx512($($arg: $kind),*) $(-> $ret)? { body($($arg),*) }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $kind),*) $(-> $ret)? { body($($arg),*) }

            #[inline]
            pub(super) fn on(set: InstructionSet, $($arg: $kind),*) $(-> $ret)? {
                match set {
                    // SAFETY: there is such a set only where the processor has what the function is compiled for.
                    #[cfg(target_arch = "x86_64")]
                    InstructionSet::Amx(_) | InstructionSet::Avx512(_) => unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    InstructionSet::Avx2(_) => unsafe { avx2($($arg),*) },
                    InstructionSet::Plain => body($($arg),*),
                }
            }
        }
    };
}

mod adamw;
mod attention;
mod bf16;
#[cfg(target_arch = "x86_64")]
mod dpbf16;
mod dropout;
mod instructions;
mod matmul;
mod panels;
mod rows;
mod small;
mod span_attention;
#[cfg(test)]
mod testing;
#[cfg(target_arch = "x86_64")]
mod tiles;

pub use adamw::{AdamWStep, Idle, adamw, adamw_idle, adamw_rows};
pub use attention::{Attention, AttentionScratch};
pub use bf16::{bf16_matmul, bf16_matmul_transposed, has_bf16};
pub use dropout::{DropMask, drop_all};
pub use instructions::InstructionSet;
pub use matmul::{View, WriteMode, matmul, matmul_divided};
pub use panels::{Panels, to_bf16};
pub use rows::{
    Norm, add_bias, add_row, add_rows, add_scaled_row, drop_and_sum, gelu_back, gelu_of_sum, gelu_row, gelu_slope_row,
    layer_norm, layer_norm_back, multiply_row, norm_of_sum, softmax_row, squared_norm, sum_rows,
};
pub use small::small_matmul;
pub use span_attention::{SpanAttention, SpanAttentionScratch, max_of_rows, max_of_rows_back};

/// Rows that one task takes at a time.
const ROWS: usize = 32;
/// Numbers that one task of a flat pass takes at a time.
const FLAT: usize = 1 << 15;
/// Numbers that are worked on side by side; sums are made in as many lanes on every processor.
pub const LANES: usize = 16;

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

/// A sum in [`LANES`] lanes, an order that vectorises and is the same on every processor.
#[inline(always)]
fn lanes_sum(len: usize, f: impl Fn(usize) -> f32) -> f32 {
    let mut lanes = [0f32; LANES];
    let whole = len / LANES * LANES;
    let mut at = 0;
    while at < whole {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += f(at + lane);
        }
        at += LANES;
    }
    lanes.iter().sum::<f32>() + (whole..len).map(f).sum::<f32>()
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
}
