//! Training and scoring every variant with every seed.

use super::comparison::Comparison;
use super::kept::{COMMON, keep_what_is_scored, keep_what_was_asked};
use super::record::{ComparedRun, RunCost, run_name};
use super::request::{CompareRequest, Variant};
use super::subject::Subject;
use crate::annotation::{LabelId, Span};
use crate::experiments::kept_runs::{KeptRuns, write_result};
use crate::session::{SessionError, stopped, temporary_folder};
use crate::train::{
    Config, Event, Example, PredictOptions, Predictor, Snapshot, TrainRequest, answers, forget_peak_memory,
    peak_memory_mb, train,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// How far a comparison is.
#[derive(Clone, PartialEq, Debug)]
pub enum CompareEvent {
    /// A run begins, counted from 1.
    Started {
        run: usize,
        runs: usize,
        variant: Variant,
        seed: u64,
    },
    Train(Event),
    /// A run was finished, or was there from before.
    Scored {
        variant: Variant,
        seed: u64,
        f1: Option<f64>,
        /// With all runs before it.
        so_far: Arc<Comparison>,
    },
}

/// Trains and scores a model for each variant and seed.
///
/// # Errors
/// An architecture, encoder or setting that there is not, a folder that holds another comparison or can't be written, a
/// stop: runs that were finished by then are kept in the output's folder.
pub fn compare(
    subject: &Subject,
    request: &CompareRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(CompareEvent),
) -> Result<Comparison, SessionError> {
    let planned = request.runs()?;
    let kept = match &request.output {
        Some(folder) => {
            let common = subject.in_common(&request.config);
            let kept = KeptRuns::open(folder, COMMON, &common, |_| false, request.resume)?;
            keep_what_is_scored(folder, subject)?;
            keep_what_was_asked(folder, request)?;
            Some(kept)
        }
        None => None,
    };
    let mut compared = Comparison::new(subject.part, Arc::clone(&subject.scored), Vec::new());
    for (number, (variant, config)) in planned.iter().enumerate() {
        let (variant, seed) = (*variant, config.seed);
        on_event(CompareEvent::Started { run: number + 1, runs: planned.len(), variant: variant.clone(), seed });
        let name = run_name(variant, seed);
        let there: Option<ComparedRun> = kept.as_ref().map(|kept| kept.load(&name)).transpose()?.flatten();
        let is_this =
            |run: &ComparedRun| run.variant == *variant && run.seed == seed && run.is_of(subject.scored.len());
        let run = match there.filter(is_this) {
            Some(run) => run,
            None => {
                let run = make(subject, variant, config, cancel, &mut |event| on_event(CompareEvent::Train(event)))?;
                if let Some(kept) = &kept {
                    kept.save(&name, &run)?;
                }
                run
            }
        };
        compared.add(run);
        let f1 = compared.micro(variant).last().and_then(|(_, counts)| counts.f1());
        if let Some(folder) = &request.output {
            write_results(folder, &compared)?;
        }
        on_event(CompareEvent::Scored { variant: variant.clone(), seed, f1, so_far: Arc::new(compared.clone()) });
    }
    Ok(compared)
}

/// One model, from nothing to what it predicts.
fn make(
    subject: &Subject,
    variant: &Variant,
    config: &Config,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<ComparedRun, SessionError> {
    let folder = temporary_folder()?;
    let (threads, seed) = (config.threads, config.seed);
    let dataset = Arc::clone(&subject.dataset);
    let request = TrainRequest::new(dataset, config.clone(), subject.encoders.clone(), folder.path().join("model"));
    forget_peak_memory();
    let trained = train(&request, cancel, on_event).map_err(stopped)?;
    forget_peak_memory();
    let predictor = Predictor::load_with_threads(&Snapshot::any(&trained.snapshot), threads)?;
    let examples: Vec<Example> = subject.scored.iter().map(|(_, example)| example.clone()).collect();
    let begun = Instant::now();
    let options = PredictOptions { floor: f32::INFINITY, ..PredictOptions::default() };
    let answers = answers(&predictor, &examples, options, cancel).map_err(stopped)?;
    let score_secs = begun.elapsed().as_secs_f64();
    let (outcome, settings) = (&trained.manifest.outcome, &trained.manifest.settings);
    let cost = RunCost {
        train_sentences: outcome.train_sentences,
        unlearnable_mentions: outcome.unlearnable.total(),
        epochs: settings.all_epochs(),
        best_epoch: outcome.best_epoch,
        parameters: outcome.parameters,
        train_secs: outcome.wall_secs,
        sentences_per_sec: outcome.sentences_per_sec,
        score_secs,
        peak_memory_mb: outcome.peak_memory_mb,
        predict_memory_mb: peak_memory_mb(),
    };
    let predicted: Vec<Vec<(Span, LabelId)>> = answers.into_iter().map(|answer| answer.mentions).collect();
    Ok(ComparedRun::new(variant, seed, cost, &predicted))
}

fn write_results(folder: &Path, compared: &Comparison) -> Result<(), SessionError> {
    let table = compared.table();
    let files = [("table.csv", table.csv()), ("table.md", table.markdown()), ("f1.svg", compared.svg())];
    files.into_iter().try_for_each(|(name, text)| write_result(&folder.join(name), &text))
}
