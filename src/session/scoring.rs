//! What is told of a new model besides the model: how good it is, and from which score on its suggestions are shown.

use super::now_ms;
use crate::annotation::{LabelId, ModelId, Span, Split};
use crate::evaluation::{Band, Calibration, Counts, Scored, calibrated, least_effort};
use crate::store::Measurement;
use crate::train::{Dataset, ENOUGH_DEV, Example, PredictOptions, Predictor, TrainError, answers};
use std::sync::atomic::AtomicBool;

/// Dev sentences that are looked at, at most.
const MOST_DEV: usize = 200;

/// Of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scores {
    /// Where a person has least to do; `None` with too few dev sentences.
    pub threshold: Option<f32>,
    /// What makes the scores honest; `None` with too few dev sentences or suggestions for them.
    pub calibration: Option<Calibration>,
    /// On the blind set and on dev, where there are enough sentences.
    pub measurements: Vec<Measurement>,
}

impl Scores {
    /// Predicts dev twice, once for the threshold and once for the score, and the blind set once.
    ///
    /// # Errors
    /// [`TrainError::Cancelled`] soon after the flag is set.
    pub(super) fn of(
        (model, predictor): (ModelId, &Predictor),
        dataset: &Dataset,
        blind: &[Example],
        cancel: &AtomicBool,
    ) -> Result<Self, TrainError> {
        let dev = dataset.dev().get(..MOST_DEV).unwrap_or(dataset.dev());
        let (threshold, calibration) = match dev.len() {
            ENOUGH_DEV.. => from_suggestions(predictor, dev, cancel)?,
            _ => (None, None),
        };
        let mut scores = Self { threshold, calibration, measurements: Vec::new() };
        let train_sentences = predictor.manifest().outcome.train_sentences;
        // Of a training that was limited, or that began with fewer labels, about as many as there would be.
        let tokens: usize = dataset.train().iter().map(|example| example.tokens.len()).sum();
        let train_tokens = tokens * train_sentences / dataset.train().len().max(1);
        for (split, examples) in [(Split::Blind, blind), (Split::Dev, dev)] {
            if examples.len() < ENOUGH_DEV {
                continue;
            }
            let answers = answers(predictor, examples, PredictOptions::default(), cancel)?;
            let counts: Vec<Counts> = answers.iter().zip(examples).map(|(a, e)| a.judged(e).counts()).collect();
            let Some(Band { low, high }) = Band::around_f1(&counts) else { continue };
            let mut sum = Counts::default();
            counts.iter().for_each(|counts| sum += *counts);
            scores.measurements.push(Measurement {
                model,
                split,
                time_ms: now_ms(),
                train_sentences,
                train_tokens,
                sentences: examples.len(),
                true_positives: sum.true_positives,
                false_positives: sum.false_positives,
                false_negatives: sum.false_negatives,
                low,
                high,
            });
        }
        Ok(scores)
    }
}

/// The threshold of calibrated scores, and the calibration.
fn from_suggestions(
    predictor: &Predictor,
    dev: &[Example],
    cancel: &AtomicBool,
) -> Result<(Option<f32>, Option<Calibration>), TrainError> {
    let texts: Vec<Vec<String>> = dev.iter().map(|example| example.tokens.clone()).collect();
    let said = predictor.predict(&texts, PredictOptions::default(), cancel)?;
    let mut said: Vec<Vec<(Span, LabelId, f32)>> =
        said.into_iter().map(|said| said.spans.into_iter().map(|s| (s.span, s.label, s.score)).collect()).collect();
    let answers = said.iter().zip(dev).flat_map(|(said, example)| {
        said.iter().map(|(span, label, score)| (*score, example.gold.contains(&(*span, *label))))
    });
    let calibration = Calibration::fit(&answers.collect::<Vec<_>>());
    let temperature = calibration.map_or(1.0, |calibration| calibration.temperature);
    said.iter_mut().flatten().for_each(|(.., score)| *score = calibrated(*score, temperature));
    let scored: Vec<Scored<'_>> = dev.iter().map(|e| e.gold.as_slice()).zip(said.iter().map(Vec::as_slice)).collect();
    Ok((Some(least_effort(&scored).0), calibration))
}
