//! DeBERTa of version 2 and 3 (He et al. 2021; He et al. 2023): BERT's blocks, whose attention knows how far positions stand
//! apart from tables of relative positions. It runs operation by operation, without passes by hand.

mod attention;
mod blocks;
mod config;
mod positions;

pub use blocks::Deberta;
pub use config::{Convolution, DebertaConfig};
