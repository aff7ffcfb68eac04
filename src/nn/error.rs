//! What can go wrong with tensors and weights.

use crate::wording::counted;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum NnError {
    #[error("a tensor operation failed: {0}")]
    Tensor(#[from] candle_core::Error),
    #[error("the weights lack {name:?}; they belong to another architecture or another version of the program")]
    MissingWeight { name: String },
    #[error("the weight {name:?} has the shape {got:?}, expected {expected:?}")]
    WeightShape { name: String, expected: Vec<usize>, got: Vec<usize> },
    #[error("the weights are cut off or no safetensors file ({reason})")]
    NoWeights { reason: String },
    #[error("the weight {name:?} is of the type {got}, expected F32")]
    WeightType { name: String, got: String },
    #[error("the weight {name:?} has a number that is infinite or none at all")]
    WeightNotFinite { name: String },
    #[error("the weight {name:?} belongs to nothing in this model")]
    WeightUnused { name: String },
    #[error("{op} does not fit tensors of the shapes {shapes:?}")]
    Shapes { op: &'static str, shapes: Vec<Vec<usize>> },
    #[error("the variable {0:?} is declared twice")]
    DeclaredTwice(String),
    #[error("the gradient is not a finite number; try a lower learning rate")]
    NotFinite,
    #[error("the number {number} is beyond a table of {}", counted(*rows, "row", "rows"))]
    BeyondTable { number: u32, rows: usize },
    #[error(
        "no tag may begin a sentence, follow itself and end it; a CRF needs one, such as that of words outside mentions"
    )]
    NoTagSequence,
    #[error("the tags to learn from take a forbidden transition")]
    ForbiddenTags,
    #[error("a backward pass does not follow the forward pass that it belongs to")]
    OtherTape,
    #[error("can't write weights: {source}: {path}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("can't read weights: {reason}: {path}")]
    Read { path: PathBuf, reason: String },
    #[error("can't start {}: {reason}", counted(*threads, "thread", "threads"))]
    Threads { threads: usize, reason: String },
    #[error("NESTLING_KERNELS is {name:?}; it can be plain, avx2, avx512, amx, neon or auto")]
    KernelsUnknown { name: String },
    #[error("this machine has no {name}, which NESTLING_KERNELS asks for; it has {has}")]
    KernelsMissing { name: String, has: String },
}

impl NnError {
    pub(crate) fn shapes(op: &'static str, tensors: &[&candle_core::Tensor]) -> Self {
        Self::Shapes { op, shapes: tensors.iter().map(|t| t.dims().to_vec()).collect() }
    }
}
