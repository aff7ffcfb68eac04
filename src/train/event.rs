//! What a training says while it runs.

use crate::evaluation::Report;

#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The training is not quite what was asked for: no GPU can be used, or the encoder's heads can't be read.
    Warning { message: String },
    Started {
        train_sentences: usize,
        /// The complete sentences that there are.
        of_sentences: usize,
        dev_sentences: usize,
        epochs: usize,
        /// Steps that were taken before, of `steps`.
        from_step: usize,
        steps: usize,
        /// Numbers that the model consists of.
        parameters: usize,
    },
    /// After every step.
    Progress {
        /// Steps taken, of `steps`.
        step: usize,
        steps: usize,
        /// Counted from 1.
        epoch: usize,
        epochs: usize,
        loss: f32,
        secs_left: f64,
    },
    EpochDone {
        epoch: usize,
        epochs: usize,
        mean_loss: f32,
        /// Scores on dev, where the epoch was scored.
        dev: Option<Report>,
        /// Whether no epoch before was better.
        best: bool,
    },
    /// The model has labelled sentences itself and goes on to learn from them, too.
    LabelledItself { sentences: usize, mentions: usize },
    /// A checkpoint was written: from here the training can go on after a stop.
    Kept { step: usize },
    /// A checkpoint could not be written; the training goes on.
    NotKept { message: String },
    /// The last epoch is over; the snapshot is being written.
    Saving,
}
