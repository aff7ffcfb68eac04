//! What can be said of gold and predicted mentions beyond the strict score.

use super::{Confusion, Errors, Judged, Lengths, Matches, Nesting};

/// All analyses that need nothing but the mentions. They cost little: some microseconds a sentence.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Analyses {
    pub matches: Matches,
    pub lengths: Lengths,
    pub nesting: Nesting,
    pub errors: Errors,
    pub confusion: Confusion,
}

impl Analyses {
    /// Counts over all sentences.
    pub fn of(sentences: &[Judged<'_>]) -> Self {
        let each = || sentences.iter().copied();
        Self {
            matches: Matches::of(each()),
            lengths: Lengths::of(each()),
            nesting: Nesting::of(each()),
            errors: Errors::of(each()),
            confusion: Confusion::of(each()),
        }
    }
}
