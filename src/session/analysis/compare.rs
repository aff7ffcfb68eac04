//! Architectures against each other: a model for each and each seed, from the same sentences, scored on the same others.
//!
//! # Invariants
//! - Models are trained in a temporary folder and thrown away; the project is read and not changed.
//! - Architectures take turns, seed by seed, so that a machine that grows slower is slower for all.

use crate::evaluation::Counts;
use crate::session::error::stopped;
use crate::session::files::temporary_folder;
use crate::session::learner::dataset::{freeze, gold_examples};
use crate::session::project::Project;
use crate::session::{Part, SessionError};
use crate::train::{
    Config, Event, PredictOptions, Predictor, Snapshot, TrainRequest, evaluate, forget_peak_memory, train,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What to compare.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// Ids; one that is named twice is trained once, and so with the seeds.
    pub architectures: Vec<String>,
    pub seeds: Vec<u64>,
    /// Of all trainings, but for architecture and seed.
    pub config: Config,
    /// What models are scored on; `None`: test, or dev where no test sentence is complete.
    pub part: Option<Part>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    pub part: Part,
    /// That were scored.
    pub sentences: usize,
    /// In the order in which they were made.
    pub runs: Vec<ComparedRun>,
}

/// One model.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedRun {
    pub architecture: String,
    pub seed: u64,
    pub train_sentences: usize,
    /// Strict, over all labels.
    pub micro: Counts,
    /// Of the training, from its request to the model on disk.
    pub train_secs: f64,
    /// Over the training steps alone.
    pub sentences_per_sec: f64,
    /// Of predicting what is scored, and scoring it.
    pub score_secs: f64,
    /// Of the whole process while it trained; `None` where the operating system does not say.
    pub peak_memory_mb: Option<f64>,
    pub parameters: usize,
}

/// Mean and sample standard deviation of some figures; `None` for a mean of none, and a deviation of one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    pub mean: Option<f64>,
    pub deviation: Option<f64>,
}

impl Spread {
    fn of(figures: &[f64]) -> Self {
        let count = figures.len() as f64;
        let mean = (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / count);
        let deviation = mean
            .filter(|_| figures.len() > 1)
            .map(|mean| (figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt());
        Self { mean, deviation }
    }
}

impl Comparison {
    /// The architectures, in the order in which they were named.
    pub fn architectures(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for run in &self.runs {
            if !names.contains(&run.architecture.as_str()) {
                names.push(&run.architecture);
            }
        }
        names
    }

    /// Over the seeds of an architecture; runs without the figure don't count.
    pub fn spread(&self, architecture: &str, figure: impl Fn(&ComparedRun) -> Option<f64>) -> Spread {
        let runs = self.runs.iter().filter(|run| run.architecture == architecture);
        Spread::of(&runs.filter_map(figure).collect::<Vec<f64>>())
    }
}

impl Project {
    /// Trains and scores a model for each architecture and seed. `on_event` hears which run of how many, and what its
    /// training tells.
    ///
    /// # Errors
    /// An architecture or encoder that there is not, nothing to train on or to score on, a temporary folder that can't be
    /// written, a stop.
    pub fn compare_now(
        &self,
        request: &CompareRequest,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut((usize, usize), Event),
    ) -> Result<Comparison, SessionError> {
        let mut ids: Vec<&str> = Vec::new();
        for id in &request.architectures {
            if !ids.contains(&id.as_str()) {
                ids.push(id);
            }
        }
        let configs = request.config.for_each(&ids)?;
        let complete = |part| gold_examples(self.corpus(), part);
        let (part, examples) = match request.part {
            Some(part) => (part, complete(part)),
            None => Some((Part::Test, complete(Part::Test)))
                .filter(|(_, test)| !test.is_empty())
                .unwrap_or_else(|| (Part::Dev, complete(Part::Dev))),
        };
        if examples.is_empty() {
            return Err(SessionError::NothingToScore);
        }
        if self.corpus().labels().is_empty() {
            return Err(SessionError::NoLabels);
        }
        let dataset = Arc::new(freeze(self.corpus(), None)?);
        if dataset.train().is_empty() {
            return Err(SessionError::NothingToTrainOn);
        }
        let mut seeds = request.seeds.clone();
        seeds.sort_unstable();
        seeds.dedup();
        let turns = seeds.iter().flat_map(|seed| configs.iter().map(move |config| (*seed, config)));
        let turns: Vec<(u64, &Config)> = turns.collect();
        let mut runs = Vec::with_capacity(turns.len());
        for (number, &(seed, config)) in turns.iter().enumerate() {
            let folder = temporary_folder()?;
            let config = Config { seed, ..config.clone() };
            let (architecture, threads) = (config.architecture.clone(), config.threads);
            let snapshot = folder.path().join("model");
            let request = TrainRequest::new(Arc::clone(&dataset), config, self.encoders(), snapshot);
            forget_peak_memory();
            let trained = train(&request, cancel, &mut |event| on_event((number + 1, turns.len()), event));
            let trained = trained.map_err(stopped)?;
            let predictor = Predictor::load_with_threads(&Snapshot::any(&trained.snapshot), threads)?;
            let begun = Instant::now();
            let report = evaluate(&predictor, &examples, PredictOptions::default(), cancel).map_err(stopped)?;
            let outcome = &trained.manifest.outcome;
            runs.push(ComparedRun {
                architecture,
                seed,
                train_sentences: outcome.train_sentences,
                micro: report.micro,
                train_secs: outcome.wall_secs,
                sentences_per_sec: outcome.sentences_per_sec,
                score_secs: begun.elapsed().as_secs_f64(),
                peak_memory_mb: outcome.peak_memory_mb,
                parameters: outcome.parameters,
            });
        }
        Ok(Comparison { part, sentences: examples.len(), runs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = Spread::of(&[0.5, 0.6, 0.7]);
        assert!((spread.mean.unwrap() - 0.6).abs() < 1e-12 && (spread.deviation.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(Spread::of(&[0.5]), Spread { mean: Some(0.5), deviation: None });
        assert_eq!(Spread::of(&[]), Spread { mean: None, deviation: None });
    }
}
