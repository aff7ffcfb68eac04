//! Labels of words that are given: "which label?" instead of "where?".

use super::{Candidates, ModelError, Prediction, Sentence, TaskHead};
use crate::annotation::Fragments;
use crate::encoder::Encoded;

/// Probabilities of the classes of mentions that are given, in their order.
#[derive(Clone, PartialEq, Debug)]
pub struct LabelTable {
    classes: usize,
    /// One row a mention, "none" first: 0 where it is no answer.
    probabilities: Vec<f32>,
}

impl LabelTable {
    /// `None` unless the numbers make whole rows of `classes`.
    pub fn new(classes: usize, probabilities: Vec<f32>) -> Option<Self> {
        (classes > 0 && probabilities.len().is_multiple_of(classes)).then_some(Self { classes, probabilities })
    }

    /// The probabilities of each mention's classes.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.probabilities.chunks_exact(self.classes)
    }
}

/// [`TaskHead::predict`] of a head that labels what is given: its candidates are the mentions of the sentences, whatever class
/// they have, one in fragments as the span that covers these.
///
/// # Errors
/// See [`TaskHead::type_spans`].
pub fn predict_given(
    head: &dyn TaskHead,
    encoded: &Encoded,
    batch: &[&Sentence],
) -> Result<Vec<Prediction>, ModelError> {
    let given: Vec<Vec<Fragments>> = batch.iter().map(|sentence| sentence.given()).collect();
    let tables = head.type_spans(encoded, batch, &given)?;
    if tables.len() != given.len() {
        return Err(ModelError::Incomplete);
    }
    let prediction = |(given, table): (Vec<Fragments>, LabelTable)| {
        let spans = given.iter().map(Fragments::hull).collect();
        let candidates = Candidates::new(spans, table.classes, table.probabilities);
        candidates.map(Prediction::of_candidates).ok_or(ModelError::Incomplete)
    };
    given.into_iter().zip(tables).map(prediction).collect()
}
