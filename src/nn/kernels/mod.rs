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
mod arithmetic;
mod attention;
mod bf16;
#[cfg(target_arch = "x86_64")]
mod dpbf16;
mod dropout;
mod instructions;
mod int16;
mod int16_panels;
mod matmul;
mod panels;
#[cfg(target_arch = "x86_64")]
mod pmaddwd;
mod rounded;
mod rows;
mod small;
mod span_attention;
#[cfg(test)]
mod testing;
#[cfg(target_arch = "x86_64")]
mod tiles;

pub use adamw::{AdamWStep, Idle, IdleRow, adamw, adamw_idle, adamw_rows};
pub use arithmetic::LANES;
pub use attention::{Attention, AttentionScratch};
pub use bf16::{bf16_matmul, bf16_matmul_transposed, has_bf16};
pub use dropout::{DropMask, drop_all};
pub use instructions::InstructionSet;
pub use int16::has_int16;
pub use matmul::{View, WriteMode, matmul, matmul_divided};
pub use panels::{Panels, to_bf16};
pub use rounded::{RoundedPanels, RoundedRows, Rounding, rounded_matmul, rounded_matmul_transposed};
pub use rows::{
    Norm, add_bias, add_row, add_rows, add_scaled_row, drop_and_sum, gelu_back, gelu_of_sum, gelu_row, gelu_slope_row,
    layer_norm, layer_norm_back, multiply_row, norm_of_sum, softmax_back_row, softmax_row, squared_norm, sum_rows,
};
pub use small::small_matmul;
pub use span_attention::{SpanAttention, SpanAttentionScratch, max_of_rows, max_of_rows_back};
