//! What to replay, and how far it is.

use crate::session::ReadRequest;
use crate::train::Config;
use std::path::PathBuf;

/// What to replay, and how.
#[derive(Clone, Debug)]
pub struct SimulateRequest {
    /// Files with gold: what is annotated, what chooses epochs and thresholds, and what is scored.
    pub train: PathBuf,
    pub dev: PathBuf,
    pub test: PathBuf,
    pub read: ReadRequest,
    /// As they are named on the command line, `default` among them.
    pub strategies: Vec<String>,
    /// Sentences that are drawn with the seed to be annotated; `None`: all.
    pub pool: Option<usize>,
    /// After how many annotated sentences a model is trained; ascending.
    pub schedule: Vec<usize>,
    pub seeds: Vec<u64>,
    /// Of each training; the seed is the run's.
    pub config: Config,
    /// Where results are kept; `None` for none.
    pub output: Option<PathBuf>,
    /// Go on with what is there.
    pub resume: bool,
}
