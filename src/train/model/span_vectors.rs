//! What the spans of many sentences are classified by.

use super::{Model, PredictionWork, Prepared, stop_if_cancelled};
use crate::annotation::Span;
use crate::encoder::Tape;
use crate::nn::NnError;
use crate::nn::batches::{self, Size};
use crate::train::error::TrainError;

impl Model {
    /// The vectors that given spans are classified by, see [`crate::model::TaskHead::span_vectors`]; one list of spans a
    /// sentence. `each` gets the number of a sentence that has some and a vector for each of them, in any order.
    ///
    /// The encoder sees each of these sentences once, as in a prediction; nothing is computed of spans that nobody asked for.
    pub(in crate::train) fn span_vectors(
        &self,
        sentences: &[Prepared],
        spans: &[Vec<Span>],
        work: PredictionWork<'_>,
        mut each: impl FnMut(usize, Vec<Vec<f32>>),
    ) -> Result<(), TrainError> {
        let sizes: Vec<Size> = sentences.iter().map(Prepared::size).collect();
        let mut tape = Tape::for_prediction(work.exact);
        for numbers in batches::by_length(&sizes, work.batch_size, self.most.predict) {
            stop_if_cancelled(work.cancel)?;
            let asked = |i: usize| Some((i, sentences.get(i)?, spans.get(i).filter(|spans| !spans.is_empty())?));
            let asked: Vec<_> = numbers.into_iter().filter_map(asked).collect();
            if asked.is_empty() {
                continue;
            }
            let batch: Vec<&Prepared> = asked.iter().map(|(_, prepared, _)| *prepared).collect();
            let spans: Vec<Vec<Span>> = asked.iter().map(|(.., spans)| (*spans).clone()).collect();
            let (batch, encoded) = self.encode(&batch, work, &mut tape)?;
            let vectors = work.threads.run(|| self.head.span_vectors(&encoded, &batch.sentences, &spans))?;
            let mut rows = vectors.to_vec2::<f32>().map_err(NnError::from)?.into_iter();
            for (i, _, spans) in asked {
                each(i, rows.by_ref().take(spans.len()).collect());
            }
        }
        Ok(())
    }
}
