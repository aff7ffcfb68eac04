//! Gold, frozen and put to models that have not seen it, to be ranked by how doubtful it is.

use crate::active::{Finding, Held, Labelled, Sought, look_again};
use crate::annotation::{Corpus, LabelId, Sentence, SentenceId, Span};
use crate::encoder::Encoders;
use crate::nn::splitmix64;
use crate::session::error::stopped;
use crate::session::files::temporary_folder;
use crate::session::learner::dataset::{example, labels, learnable};
use crate::session::{Part, SessionError};
use crate::train::{Config, Dataset, Event, Example, PredictOptions, Predictor, Snapshot, TrainRequest, train};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What to look at.
#[derive(Clone, Debug)]
pub struct LookAgainRequest {
    /// In so many parts the sentences are divided, and a model that learned from the others is asked about each; 0 asks no
    /// model.
    pub folds: usize,
    /// Of these trainings.
    pub config: Config,
}

/// What came of a look at gold as it was when it began.
pub(in crate::session) struct Looked {
    /// Each with its words.
    pub(super) findings: Vec<(Finding, Vec<String>)>,
    pub(super) asked_models: bool,
}

/// What is looked at, taken out of the corpus.
pub(super) struct Gold {
    labels: Vec<(LabelId, String)>,
    ids: Vec<SentenceId>,
    /// Beside their ids.
    examples: Vec<Example>,
    /// What a person has turned down.
    rejected: HashSet<(SentenceId, Span, LabelId)>,
}

impl Gold {
    pub(super) fn freeze(corpus: &Corpus) -> Result<Self, SessionError> {
        let sentences: Vec<&Sentence> = learnable(corpus, [Part::Train, Part::Dev]).collect();
        if sentences.is_empty() {
            return Err(SessionError::NothingToTrainOn);
        }
        let rejected = sentences.iter().flat_map(|s| s.rejected().iter().map(|&(span, label)| (s.id(), span, label)));
        Ok(Self {
            labels: labels(corpus),
            ids: sentences.iter().map(|s| s.id()).collect(),
            rejected: rejected.collect(),
            examples: sentences.iter().map(|s| example(corpus, s)).collect(),
        })
    }

    pub(super) fn look(
        &self,
        request: &LookAgainRequest,
        encoders: &Encoders,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(usize, Event),
    ) -> Result<Vec<Finding>, SessionError> {
        let held = match request.folds {
            0 => None,
            folds => Some(self.held_out(folds.max(2), &request.config, encoders, cancel, on_event)?),
        };
        let sentences: Vec<Labelled<'_>> = self.labelled().collect();
        let held: Option<Vec<Held<'_>>> = held.as_ref().map(|held| held.iter().map(Vec::as_slice).collect());
        let config = &request.config;
        let (max_width, overlapping) = (config.max_width().unwrap_or(usize::MAX), config.finds_overlapping());
        let found = look_again(&sentences, held.as_deref(), Sought { max_width, overlapping });
        // What a person has turned down once is not asked again.
        let is_settled =
            |f: &Finding| f.proposed_label().is_some_and(|label| self.rejected.contains(&(f.sentence, f.span, label)));
        Ok(found.into_iter().filter(|finding| !is_settled(finding)).collect())
    }

    pub(super) fn with_words(&self, findings: Vec<Finding>) -> Vec<(Finding, Vec<String>)> {
        let of: HashMap<SentenceId, &Example> = self.ids.iter().copied().zip(&self.examples).collect();
        let frozen = |finding: &Finding| of.get(&finding.sentence)?.tokens.get(finding.span.range()).map(<[_]>::to_vec);
        findings.into_iter().filter_map(|finding| Some((finding, frozen(&finding)?))).collect()
    }

    fn labelled(&self) -> impl Iterator<Item = Labelled<'_>> {
        self.ids.iter().zip(&self.examples).map(|(id, example)| Labelled {
            id: *id,
            words: example.tokens.iter().map(String::as_str).collect(),
            mentions: example.gold.clone(),
        })
    }

    /// What a model says of each sentence that had not learned from it.
    fn held_out(
        &self,
        folds: usize,
        config: &Config,
        encoders: &Encoders,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(usize, Event),
    ) -> Result<Vec<Said>, SessionError> {
        config.check_finds()?;
        let folder = temporary_folder()?;
        let mut said: Vec<Said> = vec![Vec::new(); self.ids.len()];
        // Without dev the last epoch is kept, and without open sentences none is labelled by the model itself.
        let config = Config { self_training: Some(0), ..config.clone() };
        for fold in 0..folds {
            let (asked, others) = divide(&self.ids, fold, folds);
            if others.is_empty() {
                continue;
            }
            let at = |place: &usize| self.examples.get(*place);
            let train_on = others.iter().filter_map(at).cloned().collect();
            let request = TrainRequest::new(
                Arc::new(Dataset::freeze(self.labels.clone(), train_on, Vec::new())?),
                config.clone(),
                encoders.clone(),
                folder.path().join(format!("fold-{fold}")),
            );
            let trained = train(&request, cancel, &mut |event| on_event(fold, event)).map_err(stopped)?;
            let predictor = Predictor::load_with_threads(&Snapshot::any(&trained.snapshot), config.threads)?;
            let texts: Vec<Vec<String>> = asked.iter().filter_map(at).map(|example| example.tokens.clone()).collect();
            let answers = predictor.predict(&texts, PredictOptions::default(), cancel).map_err(stopped)?;
            for (place, answer) in asked.into_iter().zip(answers) {
                if let Some(said) = said.get_mut(place) {
                    *said = answer.spans.into_iter().map(|s| (s.span, s.label, s.score)).collect();
                }
            }
        }
        Ok(said)
    }
}

/// Spans with their most probable label and its probability.
type Said = Vec<(Span, LabelId, f32)>;

/// The places of the sentences that a model is asked about, and of those that it learns from.
fn divide(ids: &[SentenceId], fold: usize, folds: usize) -> (Vec<usize>, Vec<usize>) {
    let is_asked = |id: &SentenceId| splitmix64(u64::from(id.0)) % folds as u64 == fold as u64;
    (0..ids.len()).partition(|place| ids.get(*place).is_some_and(is_asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_is_asked_about_once_and_by_a_model_that_learns_from_others() {
        let ids: Vec<SentenceId> = (0..100).map(|number| SentenceId(3 * number)).collect();
        for folds in 2..6 {
            let mut times = [0; 100];
            for fold in 0..folds {
                let (asked, others) = divide(&ids, fold, folds);
                assert!((50..200).contains(&(asked.len() * folds)), "{} of 100 in {folds} parts", asked.len());
                asked.iter().for_each(|place| times[*place] += 1);
                let mut both = [asked, others].concat();
                both.sort_unstable();
                assert!(both.into_iter().eq(0..100));
            }
            assert_eq!(times, [1; 100]);
        }
    }
}
