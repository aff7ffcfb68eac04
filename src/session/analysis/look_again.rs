//! Gold that is worth a second look.

use super::gold::{Gold, LookAgainRequest, Looked};
use crate::active::{Doubt, Finding};
use crate::annotation::{LabelId, LabelSet};
use crate::session::SessionError;
use crate::session::learner::dataset::words;
use crate::session::learner::trainer::TrainingRun;
use crate::session::project::Project;
use crate::session::project::driver::Driver;
use crate::session::project::status::Event;
use crate::train::{Config, Event as TrainEvent};
use std::num::NonZero;
use std::sync::atomic::AtomicBool;

/// Models that a look at all of gold in the window asks.
pub const FOLDS: usize = 3;

/// Says why something is doubtful, after the words and their label: "a model says PER".
pub fn doubt_in_words(finding: &Finding, labels: &LabelSet) -> String {
    let name = |label: LabelId| labels.get(label).map_or("?", |l| l.name.as_str());
    match finding.doubt {
        Doubt::Missing => "a model marks it".to_owned(),
        Doubt::Unlikely => "a model finds it unlikely".to_owned(),
        Doubt::OtherLabel { label } => format!("a model says {}", name(label)),
        Doubt::OftenOtherwise { label, times, of } => {
            format!("the same words are {} in {times} of {of} places", name(label))
        }
        Doubt::OftenMarked { times, of } => format!("the same words are marked in {times} of {of} places"),
        Doubt::RareNesting { outer, times, of } => {
            format!("only {times} of {of} {} with nested mentions contain this label", name(outer))
        }
    }
}

impl Project {
    /// Looks in the background; [`Event::LookedAgain`] brings what was found. Trainings wait meanwhile if models are asked.
    ///
    /// # Errors
    /// Nothing is complete; another look, or a training that models would have to wait for, is under way.
    pub(in crate::session) fn start_look_again(&mut self, folds: usize) -> Result<(), SessionError> {
        if !self.learner.can_look(folds > 0) {
            return Err(SessionError::TrainingAlready);
        }
        let sentences = self.counts().complete_for_models();
        if sentences == 0 {
            return Err(SessionError::NothingToTrainOn);
        }
        // It stands back behind all else, as a quick training does.
        let (threads, limit) = (Some(self.settings().all_threads()), self.settings().train_sentences.map(NonZero::get));
        let config = Config { threads, limit, ..self.settings().config() };
        let (request, encoders) = (LookAgainRequest { folds, config }, self.encoders());
        let (model, corpus) = (self.models.next_id(), self.snapshot_of_corpus());
        let run = TrainingRun::start_with(model, (sentences, sentences), self.waker(), move |cancel, on_event| {
            let gold = Gold::freeze(&corpus)?;
            drop(corpus); // edits copy what is held elsewhere
            let findings = gold.look(&request, &encoders, cancel, &mut |fold, event| {
                if let Some(event) = as_one_training(event, fold, folds) {
                    on_event(event);
                }
            })?;
            Ok(Looked { findings: gold.with_words(findings), asked_models: folds > 0 })
        });
        self.learner.look(run);
        self.refresh_learner();
        Ok(())
    }

    /// What came of a look, once.
    pub(in crate::session) fn poll_look_again(&mut self) -> Option<Event> {
        Some(match self.learner.looked()? {
            Ok(Looked { findings, asked_models }) => {
                // A sentence that was cut anew meanwhile has other words in the same place.
                let is_there = |(finding, frozen): &(Finding, Vec<String>)| {
                    let sentence = self.corpus().sentence(finding.sentence);
                    sentence
                        .is_some_and(|s| words(self.corpus(), s).get(finding.span.range()) == Some(frozen.as_slice()))
                };
                let findings = findings.into_iter().filter(is_there).map(|(finding, _)| finding).collect();
                Event::LookedAgain { findings, asked_models }
            }
            Err(SessionError::Stopped) => Event::TrainingStopped,
            Err(error) => Event::LookAgainFailed { message: error.to_string() },
        })
    }
}

impl Driver {
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
        Gold::freeze(self.corpus())?.look(request, &self.encoders(), cancel, on_event)
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
        TrainEvent::Warning { .. } => Some(event),
        _ => None,
    }
}
