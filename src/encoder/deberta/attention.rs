//! Disentangled attention: a position's content asks the others' content, where they stand, and is asked from where it stands
//! itself (He et al. 2021, Eq. 4).
//!
//! ```text
//! A[i, j] = q_i k_j + q_i K_r(i - j) + k_j Q_r(i - j)          K_r, Q_r: keys and queries of relative positions
//! context = softmax(A / √(3d)) v                               2d where one of the two last terms is missing
//! ```
//!
//! The paper numbers the third term's distance from the key's side, which in a table with the opposite sign is the same row.

use super::super::config::EncoderConfig;
use super::super::padding::Padding;
use super::config::DebertaConfig;
use super::positions::by_position;
use crate::nn::{Linear, Mode, NnError, Operations, Scope, plain};
use candle_core::Tensor;

/// The layers of one block's attention.
#[derive(Debug)]
pub(super) struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    /// Of relative positions, where content asks for them, unless the layer for content serves both.
    position_key: Option<Linear>,
    position_query: Option<Linear>,
    heads: usize,
}

/// What all blocks of a pass share.
pub(super) struct Pass<'a> {
    pub(super) padding: &'a Padding,
    pub(super) config: &'a DebertaConfig,
    /// The row of `positions` that each distance has, and each distance the other way round: see [`Distances`](super::positions::Distances).
    pub(super) distances: Tensor,
    pub(super) reversed: Tensor,
    /// The rows of the table that these need, `[R, H]`.
    pub(super) positions: Tensor,
    /// `[B, 1, 1, T]`, added to scores.
    pub(super) shut_out: Tensor,
    pub(super) operations: Operations,
}

impl Attention {
    pub(super) fn new(mut scope: Scope<'_>, config: &EncoderConfig, of: &DebertaConfig) -> Result<Self, NnError> {
        let mut layer = |name: &str| Linear::new(scope.scope(name), config.hidden, config.hidden);
        let [query, key, value] = ["query", "key", "value"].map(&mut layer);
        let has_own = |is_asked: bool| is_asked && !of.shares_layers;
        Ok(Self {
            query: query?,
            key: key?,
            value: value?,
            position_key: has_own(of.content_to_position).then(|| layer("pos_key_proj")).transpose()?,
            position_query: has_own(of.position_to_content).then(|| layer("pos_query_proj")).transpose()?,
            heads: config.attention_heads,
        })
    }

    /// What each position attends to, `[N, H]` to `[N, H]`.
    pub(super) fn run(&self, x: &Tensor, pass: &Pass<'_>, p: f32, mode: &mut Mode) -> Result<Tensor, NnError> {
        let (config, by) = (pass.config, pass.operations);
        let split = |layer: &Linear| plain::split_heads(&pass.padding.add(&layer.forward(x, by)?)?, self.heads);
        let (keys, values) = (split(&self.key)?, split(&self.value)?);
        let terms = 1 + usize::from(config.content_to_position) + usize::from(config.position_to_content);
        let (.., d) = keys.dims4()?;
        let scale = 1.0 / ((d * terms) as f64).sqrt();
        let queries = (split(&self.query)? * scale)?;
        let mut scores = queries.matmul(&keys.t()?)?;
        let positions = by.dropout(&pass.positions, p, mode)?;
        if config.content_to_position {
            let layer = self.position_key.as_ref().unwrap_or(&self.key);
            let keys = self.of_distances(&layer.forward(&positions, by)?, &pass.reversed)?;
            scores = (scores + by_position(&queries.broadcast_matmul(&keys.t()?)?)?)?;
        }
        if config.position_to_content {
            let layer = self.position_query.as_ref().unwrap_or(&self.query);
            let queries = (self.of_distances(&layer.forward(&positions, by)?, &pass.distances)? * scale)?;
            let asked = by_position(&keys.broadcast_matmul(&queries.t()?)?)?;
            scores = (scores + asked.transpose(2, 3)?)?;
        }
        let scores = scores.broadcast_add(&pass.shut_out)?;
        pass.padding.remove(&by.attend(&scores, &values, p, mode)?)
    }

    /// A row for each distance, `[R, H]` to `[1, heads, 2T, d]`.
    fn of_distances(&self, rows: &Tensor, numbers: &Tensor) -> Result<Tensor, NnError> {
        plain::split_heads(&rows.index_select(numbers, 0)?.unsqueeze(0)?, self.heads)
    }
}
