//! Gold that is worth a second look: frozen, put to models that have not seen it, and ranked.

use super::dataset::{example, labels, learnable, words};
use super::jobs::stopped;
use super::model_folder::next_id;
use super::project::Project;
use super::status::Event;
use super::trainer::TrainingRun;
use super::{Part, SessionError};
use crate::active::{Doubt, Finding, Held, Labelled, look_again};
use crate::annotation::{Corpus, LabelId, LabelSet, Sentence, SentenceId, Span};
use crate::encoder::Encoders;
use crate::nn::splitmix64;
use crate::train::{
    Config, Dataset, Event as TrainEvent, Example, PredictOptions, Predictor, Snapshot, TrainRequest, train,
};
use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Models that a look at all of gold in the window asks.
pub const FOLDS: usize = 3;

/// What to look at.
#[derive(Clone, Debug)]
pub struct LookAgainRequest {
    /// In so many parts the sentences are divided, and a model that learned from the others is asked about each; 0 asks no
    /// model.
    pub folds: usize,
    /// Of these trainings.
    pub config: Config,
}

/// A look that is under way on a thread of its own.
pub(super) type LookingAgain = TrainingRun<Result<Looked, SessionError>>;

/// What came of a look at gold as it was when it began.
pub(super) struct Looked {
    /// Each with its words.
    findings: Vec<(Finding, Vec<String>)>,
    asked_models: bool,
}

/// Says why something is doubtful, after the words and their label: "a model says PER".
pub fn doubt_in_words(finding: &Finding, labels: &LabelSet) -> String {
    let name = |label: LabelId| labels.get(label).map_or("?", |l| l.name.as_str());
    match finding.doubt {
        Doubt::Missing => "a model marks it, and it is not marked".to_owned(),
        Doubt::Unlikely => "a model does not believe in it".to_owned(),
        Doubt::OtherLabel { label } => format!("a model says {}", name(label)),
        Doubt::OftenOtherwise { label, times, of } => {
            format!("the same words are {} in {times} of {of} places", name(label))
        }
        Doubt::OftenMarked { times, of } => format!("the same words are marked in {times} of {of} places"),
        Doubt::RareNesting { outer, times, of } => {
            format!("only {times} of {of} {} with something inside have this inside", name(outer))
        }
    }
}

impl Project {
    /// The complete sentences that train, dev among them, with what is doubtful in them; the most doubtful first.
    ///
    /// With `folds` that takes as long as so many trainings. Nothing is stored.
    ///
    /// # Errors
    /// Nothing is complete, an encoder that is not there, a stop.
    pub fn look_again_now(
        &self,
        request: &LookAgainRequest,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(usize, TrainEvent),
    ) -> Result<Vec<Finding>, SessionError> {
        Gold::freeze(self.corpus())?.look(request, &self.home.encoders(), cancel, on_event)
    }

    /// Looks in the background; [`Event::LookedAgain`] brings what was found. Trainings wait meanwhile if models are asked.
    ///
    /// # Errors
    /// Nothing is complete; another look, or a training that models would have to wait for, is under way.
    pub(super) fn start_look_again(&mut self, folds: usize) -> Result<(), SessionError> {
        if self.learner.looking.is_some() || (folds > 0 && self.learner.training.is_some()) {
            return Err(SessionError::TrainingAlready);
        }
        let sentences = self.counts().complete_for_models();
        if sentences == 0 {
            return Err(SessionError::NothingToTrainOn);
        }
        // It stands back behind all else, as a quick training does.
        let (threads, limit) = (Some(self.settings.all_threads()), self.settings.train_sentences.map(NonZero::get));
        let config = Config { threads, limit, ..self.settings.config() };
        let (request, encoders) = (LookAgainRequest { folds, config }, self.home.encoders());
        let (model, corpus) = (next_id(&self.models), Arc::clone(&self.corpus));
        let run =
            TrainingRun::start_with(model, (sentences, sentences), self.waker.as_waker(), move |cancel, on_event| {
                let gold = Gold::freeze(&corpus)?;
                drop(corpus); // an edit copies a corpus that is held elsewhere
                let findings = gold.look(&request, &encoders, cancel, &mut |fold, event| {
                    if let Some(event) = as_one_training(event, fold, folds) {
                        on_event(event);
                    }
                })?;
                Ok(Looked { findings: gold.with_words(findings), asked_models: folds > 0 })
            });
        self.learner.looking = Some(run);
        self.refresh_learner();
        Ok(())
    }

    /// What came of a look, once.
    pub(super) fn poll_look_again(&mut self) -> Option<Event> {
        let ended = self.learner.looking.as_ref()?.poll()?;
        self.learner.looking = None;
        Some(match ended.map_err(SessionError::from).flatten() {
            Ok(Looked { findings, asked_models }) => {
                // A sentence that was cut anew meanwhile has other words in the same place.
                let is_there = |(finding, frozen): &(Finding, Vec<String>)| {
                    let sentence = self.corpus.sentence(finding.sentence);
                    sentence
                        .is_some_and(|s| words(&self.corpus, s).get(finding.span.range()) == Some(frozen.as_slice()))
                };
                let findings = findings.into_iter().filter(is_there).map(|(finding, _)| finding).collect();
                Event::LookedAgain { findings, asked_models }
            }
            Err(SessionError::Stopped) => Event::TrainingStopped,
            Err(error) => Event::LookAgainFailed { message: error.to_string() },
        })
    }
}

/// The progress of one of several trainings as that of all of them.
fn as_one_training(event: TrainEvent, fold: usize, folds: usize) -> Option<TrainEvent> {
    match event {
        TrainEvent::Progress { step, steps, epoch, epochs, loss, secs_left } => {
            // The trainings to come are as long as this one.
            let secs_a_step = secs_left / steps.saturating_sub(step).max(1) as f64;
            let to_come = folds.saturating_sub(fold + 1) * steps;
            Some(TrainEvent::Progress {
                step: fold * steps + step,
                steps: folds * steps,
                epoch: fold * epochs + epoch,
                epochs: folds * epochs,
                loss,
                secs_left: secs_left + secs_a_step * to_come as f64,
            })
        }
        TrainEvent::OnCpu { .. } => Some(event),
        _ => None,
    }
}

/// What is looked at, taken out of the corpus.
struct Gold {
    labels: Vec<(LabelId, String)>,
    ids: Vec<SentenceId>,
    /// Beside their ids.
    examples: Vec<Example>,
    /// What a person has turned down.
    rejected: HashSet<(SentenceId, Span, LabelId)>,
}

impl Gold {
    fn freeze(corpus: &Corpus) -> Result<Self, SessionError> {
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

    fn look(
        &self,
        request: &LookAgainRequest,
        encoders: &Encoders,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(usize, TrainEvent),
    ) -> Result<Vec<Finding>, SessionError> {
        let held = match request.folds {
            0 => None,
            folds => Some(self.held_out(folds.max(2), &request.config, encoders, cancel, on_event)?),
        };
        let sentences: Vec<Labelled<'_>> = self.labelled().collect();
        let held: Option<Vec<Held<'_>>> = held.as_ref().map(|held| held.iter().map(Vec::as_slice).collect());
        let found = look_again(&sentences, held.as_deref(), request.config.max_width);
        // What a person has turned down once is not asked again.
        let is_settled =
            |f: &Finding| f.proposed_label().is_some_and(|label| self.rejected.contains(&(f.sentence, f.span, label)));
        Ok(found.into_iter().filter(|finding| !is_settled(finding)).collect())
    }

    fn with_words(&self, findings: Vec<Finding>) -> Vec<(Finding, Vec<String>)> {
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
        on_event: &mut dyn FnMut(usize, TrainEvent),
    ) -> Result<Vec<Said>, SessionError> {
        let folder = super::files::temporary_folder()?;
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
