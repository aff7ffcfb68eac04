//! Training and scoring every variant with every seed.

use super::comparison::Comparison;
use super::plot;
use super::record::{ComparedRun, RunCost, run_name};
use super::request::{CompareRequest, Variant};
use crate::annotation::{Corpus, LabelId, SentenceId, Span};
use crate::encoder::Encoders;
use crate::experiments::kept_runs::{KeptRuns, write_text};
use crate::session::{Part, SessionError, freeze, gold_sentences, stopped, temporary_folder};
use crate::train::{
    Config, Dataset, Event, Example, PredictOptions, Predictor, Snapshot, TrainRequest, answers, forget_peak_memory,
    peak_memory_mb, train,
};
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What models learn from and are scored on.
#[derive(Clone, Debug)]
pub struct Subject {
    dataset: Arc<Dataset>,
    part: Part,
    scored: Vec<(SentenceId, Example)>,
    encoders: Encoders,
}

impl Subject {
    /// The complete sentences of a corpus. `part`: what models are scored on; `None`: test, or dev where no test sentence is
    /// complete. Linear in the sentences.
    ///
    /// # Errors
    /// No label, nothing to train on, nothing to score on.
    pub fn of(corpus: &Corpus, encoders: Encoders, part: Option<Part>) -> Result<Self, SessionError> {
        let complete = |part| (part, gold_sentences(corpus, part));
        let (part, scored) = match part {
            Some(part) => complete(part),
            None => Some(complete(Part::Test)).filter(|(_, s)| !s.is_empty()).unwrap_or_else(|| complete(Part::Dev)),
        };
        if scored.is_empty() {
            return Err(SessionError::NothingToScore);
        }
        if corpus.labels().is_empty() {
            return Err(SessionError::NoLabels);
        }
        let dataset = Arc::new(freeze(corpus, None)?);
        if dataset.train().is_empty() {
            return Err(SessionError::NothingToTrainOn);
        }
        Ok(Self { dataset, part, scored, encoders })
    }

    /// SHA-256 of what is scored.
    fn scored_hash(&self) -> String {
        let mut sha = Sha256::new();
        for (id, Example { tokens, gold, .. }) in &self.scored {
            let gold: Vec<_> =
                gold.iter().map(|(span, label)| (span.start().get(), span.end().get(), label.0)).collect();
            sha.update(json!([id.0, tokens, gold]).to_string());
        }
        hex::encode(sha.finalize())
    }
}

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
            Some(KeptRuns::open(folder, "comparison.json", &in_common(subject, request), |_| false, request.resume)?)
        }
        None => None,
    };
    let mut runs: Vec<ComparedRun> = Vec::with_capacity(planned.len());
    for (number, (variant, config)) in planned.iter().enumerate() {
        let (variant, seed) = (*variant, config.seed);
        on_event(CompareEvent::Started { run: number + 1, runs: planned.len(), variant: variant.clone(), seed });
        let name = run_name(variant, seed);
        let there: Option<ComparedRun> = kept.as_ref().map(|kept| kept.load(&name)).transpose()?.flatten();
        let run = match there.filter(|run| run.variant == *variant && run.seed == seed) {
            Some(run) => run,
            None => {
                let run = make(subject, variant, config, cancel, &mut |event| on_event(CompareEvent::Train(event)))?;
                if let Some(kept) = &kept {
                    kept.save(&name, &run)?;
                }
                run
            }
        };
        runs.push(run);
        let compared = Comparison::new(subject.part, subject.scored.clone(), runs.clone());
        let f1 = compared.micro(variant).last().and_then(|(_, counts)| counts.f1());
        on_event(CompareEvent::Scored { variant: variant.clone(), seed, f1 });
        if let Some(folder) = &request.output {
            write_results(folder, &compared)?;
        }
    }
    Ok(Comparison::new(subject.part, subject.scored.clone(), runs))
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
    let answers = answers(&predictor, &examples, PredictOptions::default(), cancel).map_err(stopped)?;
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

/// What all runs of a comparison have in common.
fn in_common(subject: &Subject, request: &CompareRequest) -> Json {
    json!({
        "learned_from": subject.dataset.hash(),
        "scored_on": subject.scored_hash(),
        "config": request.config.identity(),
    })
}

fn write_results(folder: &Path, compared: &Comparison) -> Result<(), SessionError> {
    let table = compared.table();
    let files = [("table.csv", table.csv()), ("table.md", table.markdown()), ("f1.svg", plot::svg(compared))];
    files.into_iter().try_for_each(|(name, text)| write_text(&folder.join(name), &text))
}
