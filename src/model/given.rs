//! Labels of words that are given: "which label?" instead of "where?".

use super::architecture::TaskHead;
use super::error::ModelError;
use super::prediction::{LabelTable, Prediction};
use super::sentence::Sentence;
use crate::annotation::Fragments;
use crate::encoder::Encoded;

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
        table.into_candidates(spans).map(Prediction::of_candidates).ok_or(ModelError::Incomplete)
    };
    given.into_iter().zip(tables).map(prediction).collect()
}
