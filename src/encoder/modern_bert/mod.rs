//! ModernBERT (Warner et al. 2024): rotary positions, global and local attention in turn, gated inner layers, norms before
//! instead of after, and no biases. It runs operation by operation, without passes by hand.

mod blocks;
mod config;
mod rotary;

pub use blocks::ModernBert;
pub use config::ModernBertConfig;
