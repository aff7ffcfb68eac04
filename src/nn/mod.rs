//! Layers that train, on top of candle's tensors: seeded randomness, named variables, AdamW, and operations whose
//! gradients are known to arrive.
//!
//! # Invariants
//! - Trainable code uses only the operations of this module. `candle-nn` is for tests only: its fused layer norm and
//!   softmax have no backward pass, and every weight below them silently stays where it was.
//! - All randomness is an [`Rng`], made from a seed and a purpose. Its state can be saved and restored.
//! - The same seed, data and kind of processor give the same bits at any number of threads: sums over rows are made
//!   of pieces whose size does not depend on how many threads there are.
//! - On the CPU work is done by [`kernels`], through [`fused`] operations or by passes written by hand above them;
//!   elsewhere, and on the CPU with `processor=plain`, by [`plain`] operations. [`Operations`] says which, never the device
//!   of a tensor: so what a GPU runs is tested without one. Both compute the same function and draw the same dropout mask.
//! - `NESTLING_KERNELS` (`plain`, `avx2`, `avx512`, `amx`, `neon`, `auto`) limits the instructions that the kernels use, for
//!   tests: see [`kernels::InstructionSet`]. What the machine lacks is an error, never replaced by something else.
//! - A variable belongs to a [`ParameterGroup`] (its learning rate) and either decays or not; both are said where it is declared.
//! - Candle walks through what a loss was made of recursively: what goes on word by word (a recurrence, a CRF) is one
//!   operation by hand, as [`BiLstm`] is, or a long sentence overflows the stack.
//!
//! Deliberately absent: weights and sums of a precision other than `f32`; second derivatives.

pub mod batches;
mod bf16;
pub mod crf;
mod error;
pub mod fused;
mod gradients;
pub mod kernels;
mod known;
mod layers;
mod losses;
mod lstm;
mod moments;
mod operations;
mod ops;
mod optimizer;
mod pair;
pub mod plain;
mod processor;
mod rng;
mod schedule;
mod segments;
#[cfg(test)]
pub(crate) mod slopes;
mod stored;
mod tensor_slice;
mod threads;
mod vars;

pub use error::NnError;
pub use gradients::Gradients;
pub use known::with_gradients;
pub use layers::{Embedding, LayerNorm, Linear};
pub use losses::{binary_focal_loss, smooth_l1};
pub use lstm::BiLstm;
pub use operations::Operations;
pub use ops::{cross_entropy, log_softmax, log_sum_exp, project, sigmoid, softmax, softplus, u32_tensor};
pub use optimizer::{AdamW, AdamWConfig};
pub use pair::project_pair;
pub use processor::Processor;
pub use rng::{Mode, Rng, RngState, splitmix64};
pub use schedule::LinearSchedule;
pub use segments::{segment_max, segment_mean, select_rows};
pub use stored::stored_tensors;
pub use tensor_slice::{TensorSlice, as_slice};
pub use threads::Threads;
pub use vars::{
    Init, ParameterGroup, Scope, Variable, Vars, read_tensors, read_tensors_and_note, write_tensors,
    write_tensors_and_note,
};
