//! What is asked for when sentences are to be chosen, and what the answer says of each.

use super::Strategy;
use crate::annotation::{Acquisition, SentenceId};

/// What to choose, and from what.
#[derive(Clone, Copy)]
pub struct ChoiceRequest<'a> {
    pub strategy: Strategy,
    /// How many at most.
    pub count: usize,
    /// How many were shown already, by earlier choices of the same strategy: the random share is of all that is shown, however
    /// often the rest is chosen anew.
    pub shown: usize,
    /// Of what is drawn at random.
    pub seed: u64,
    /// In text order.
    pub open: &'a [Open<'a>],
    /// Those that models learn from already: what they hold counts as known where words choose.
    pub done: &'a dyn Fn() -> Vec<SentenceId>,
    /// The words of a sentence.
    pub words: &'a dyn Fn(SentenceId) -> Vec<&'a str>,
}

/// A sentence that may be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    pub id: SentenceId,
    /// What the latest model that looked at it says; an older one's word is better than none.
    pub said: Option<&'a Acquisition>,
}

/// Why a sentence was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// For its score.
    Score,
    /// Drawn at random.
    Random,
    /// It is next in the text.
    Order,
    /// For its words: no model has said anything yet.
    Words,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Choice {
    pub id: SentenceId,
    pub why: Why,
    /// The acquisition score; `None` where none played a part.
    pub score: Option<f32>,
}
