//! Work that needs no project: files go in, files come out.

pub(super) mod adapt;
pub(super) mod convert;
pub(super) mod distill;
pub(super) mod filter;
pub(super) mod pretrain;
mod splits;
