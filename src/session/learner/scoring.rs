//! What is told of a new model besides the model: how good it is, and from which score on its suggestions are shown.

use crate::annotation::{LabelId, ModelId, Span, Split};
use crate::evaluation::{Calibration, ConfidenceInterval, Counts, Scored, least_effort};
use crate::nn::splitmix64;
use crate::session::now_ms;
use crate::store::Measurement;
use crate::train::{Dataset, ENOUGH_DEV, Example, PredictOptions, Predictor, SentencePrediction, TrainError};
use std::sync::atomic::AtomicBool;

/// Dev sentences that are looked at, at most.
const MOST_DEV: usize = 200;

/// Of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::session) struct Scores {
    /// Where a person has least to do; `None` with too few dev sentences.
    pub threshold: Option<f32>,
    /// What makes the scores honest; `None` with too few dev sentences or suggestions for them.
    pub calibration: Option<Calibration>,
    /// On the blind set and on dev, where there are enough sentences.
    pub measurements: Vec<Measurement>,
    /// Why nothing of this is known.
    pub failure: Option<String>,
}

impl Scores {
    /// Predicts dev and the blind set, each once.
    ///
    /// # Errors
    /// [`TrainError::Cancelled`] soon after the flag is set.
    pub(in crate::session) fn of(
        (model, predictor): (ModelId, &Predictor),
        dataset: &Dataset,
        blind: &[Example],
        cancel: &AtomicBool,
    ) -> Result<Self, TrainError> {
        let dev = &drawn(dataset.dev());
        let mut scores = Self::default();
        let train_sentences = predictor.manifest().outcome.train_sentences;
        // Of a training that was limited, or that began with fewer labels, about as many as there would be.
        let tokens: usize = dataset.train().iter().map(|example| example.tokens.len()).sum();
        let train_tokens = tokens * train_sentences / dataset.train().len().max(1);
        for (split, examples) in [(Split::Blind, blind), (Split::Dev, dev)] {
            if examples.len() < ENOUGH_DEV {
                continue;
            }
            let texts: Vec<Vec<String>> = examples.iter().map(|example| example.tokens.clone()).collect();
            let said = predictor.predict(&texts, PredictOptions::default(), cancel)?;
            let counts: Vec<Counts> = said.iter().zip(examples).map(|(said, e)| e.strict(&said.mentions())).collect();
            if split == Split::Dev {
                let (threshold, calibration) = from_suggestions(&said, examples);
                (scores.threshold, scores.calibration) = (Some(threshold), calibration);
            }
            let Some(ConfidenceInterval { low, high }) = ConfidenceInterval::around_f1(&counts) else { continue };
            let sum: Counts = counts.iter().copied().sum();
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

/// Of many dev sentences some, drawn from all of the text; the same ones for each model.
fn drawn(dev: &[Example]) -> Vec<Example> {
    let mut places: Vec<usize> = (0..dev.len()).collect();
    places.sort_by_key(|place| splitmix64(*place as u64));
    places.truncate(MOST_DEV);
    places.sort_unstable();
    places.into_iter().filter_map(|place| dev.get(place).cloned()).collect()
}

/// The threshold of calibrated scores, and the calibration.
fn from_suggestions(said: &[SentencePrediction], dev: &[Example]) -> (f32, Option<Calibration>) {
    let scored = |said: &SentencePrediction| said.spans.iter().map(|s| (s.span, s.label, s.score)).collect();
    let mut said: Vec<Vec<(Span, LabelId, f32)>> = said.iter().map(scored).collect();
    let answers = said.iter().zip(dev).flat_map(|(said, example)| {
        said.iter().map(|(span, label, score)| (*score, example.gold.contains(&(*span, *label))))
    });
    let calibration = Calibration::fit(&answers.collect::<Vec<_>>());
    let scale = calibration.map(|calibration| calibration.scale).unwrap_or_default();
    said.iter_mut().flatten().for_each(|(.., score)| *score = scale.apply(*score));
    let scored: Vec<Scored<'_>> = dev.iter().map(|e| e.gold.as_slice()).zip(said.iter().map(Vec::as_slice)).collect();
    (least_effort(&scored).0, calibration)
}
