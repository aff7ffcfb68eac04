//! What a distillation is asked for, and what it tells.

use super::config::Config;
use crate::encoder::Encoder;
use std::path::PathBuf;

/// What to distil from what, and where to.
#[derive(Clone, Debug)]
pub struct DistillationRequest {
    pub teacher: Encoder,
    /// What the record calls the teacher.
    pub teacher_name: String,
    /// Of each language, or other kind of text, the words of each sentence.
    pub texts: Vec<Vec<Vec<String>>>,
    pub config: Config,
    /// The student's folder; it must not exist.
    pub output: PathBuf,
    /// Go on with a distillation into that folder which was interrupted.
    pub resume: bool,
    /// Seconds between two checkpoints.
    pub pace_secs: u64,
}

impl DistillationRequest {
    /// Whether a Unigram vocabulary is to be made smaller.
    pub(super) fn cuts_unigram(&self) -> bool {
        self.config.vocabulary.is_some() && self.teacher.definition().subwords().scores().is_some()
    }
}

/// How far a distillation is.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The teacher's and the student's numbers, and steps taken before of all.
    Started { teacher_parameters: usize, parameters: usize, from_step: usize, steps: usize },
    /// After every step; `error` is that of the last batch.
    Progress { step: usize, steps: usize, error: f64, secs_left: f64 },
    /// The error on sentences that are not learnt from; epoch 0 is the student before it has learned.
    EpochDone { epoch: usize, error: f64 },
    /// A checkpoint was written.
    Kept { step: usize },
    /// A checkpoint could not be written; the distillation goes on.
    NotKept { message: String },
}
