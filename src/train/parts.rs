//! Where the time of a training or a prediction goes.

use std::time::{Duration, Instant};

/// What a training or a prediction has worked on, and where its time went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    pub times: PartTimes,
    /// Words of the sentences, each sentence counted once.
    pub words: usize,
    /// Positions that these words take in the encoder: their subwords, and what stands around each sentence.
    pub positions: usize,
}

/// Time by part; what is left of the whole is batches, reading and writing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PartTimes {
    /// Making sentences ready: words to subwords.
    pub subwords: Duration,
    /// The encoder's forward pass.
    pub encoder: Duration,
    /// What is above the encoder; in training with its gradients.
    pub task_head: Duration,
    /// The encoder's backward pass.
    pub backward: Duration,
    /// AdamW.
    pub optimizer: Duration,
}

impl PartTimes {
    /// Names and times of the parts.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let Self { subwords, encoder, task_head, backward, optimizer } = *self;
        [
            ("subwords", subwords),
            ("encoder", encoder),
            ("heads", task_head),
            ("backward", backward),
            ("optimizer", optimizer),
        ]
        .into_iter()
    }

    /// Of all parts.
    pub fn sum(&self) -> Duration {
        self.iter().map(|(_, time)| time).sum()
    }
}

/// Adds the time that `f` takes to a part's.
pub(super) fn timed<R>(part: &mut Duration, f: impl FnOnce() -> R) -> R {
    let begun = Instant::now();
    let result = f();
    *part += begun.elapsed();
    result
}
