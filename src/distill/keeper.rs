//! The checkpoint of a distillation.

use super::error::DistillError;
use super::files::CheckpointState;
use crate::nn::read_tensors_and_note;
use candle_core::Tensor;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where the state is kept, and when it was last.
pub(super) struct CheckpointKeeper {
    pub(super) path: PathBuf,
    pub(super) fingerprint: String,
    pub(super) since: Instant,
    pub(super) cost: Duration,
}

impl CheckpointKeeper {
    pub(super) fn new(path: PathBuf, fingerprint: String) -> Self {
        Self { path, fingerprint, since: Instant::now(), cost: Duration::ZERO }
    }

    /// What was kept of this distillation before.
    pub(super) fn read(&self) -> Result<(CheckpointState, HashMap<String, Tensor>), DistillError> {
        let damaged = |reason: String| DistillError::Damaged { reason, path: self.path.clone() };
        let (tensors, note) = read_tensors_and_note(&self.path).map_err(|e| damaged(e.to_string()))?;
        let state: CheckpointState = serde_json::from_str(&note).map_err(|e| damaged(e.to_string()))?;
        if state.fingerprint != self.fingerprint {
            return Err(DistillError::OtherDistillation(self.path.clone()));
        }
        Ok((state, tensors))
    }
}
