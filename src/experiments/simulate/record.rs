//! What a simulation keeps on disk: one file for each run, and what all runs have in common.
//!
//! ```text
//! OUTPUT/simulation.json          what was asked for, but for strategies and seeds: more of these can be added later
//! OUTPUT/runs/STRATEGY-SEED.json  a run, written anew after each step
//! OUTPUT/runs/STRATEGY-SEED/      its project, until it is done
//! OUTPUT/curves.svg               all runs of the last call
//! ```

use super::older;
use super::request::SimulateRequest;
use crate::experiments::kept_runs::KeptRuns;
use crate::session::SessionError;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};

/// One strategy with one seed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunRecord {
    pub strategy: String,
    pub seed: u64,
    pub points: Vec<PointRecord>,
    /// In the order in which they were annotated.
    pub annotated: Vec<SentenceRecord>,
}

/// A model on what was annotated up to then.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PointRecord {
    pub sentences: usize,
    pub tokens: usize,
    pub mentions: usize,
    /// Strict micro on test, in [0, 1].
    pub f1: f64,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// What the person did up to here, in the actions of `evaluation::CorrectionEffort`, and what it had been without suggestions.
    pub actions: usize,
    pub actions_from_scratch: usize,
    /// From which score on this model's suggestions are shown.
    pub threshold: f32,
    pub train_secs: f64,
}

/// A sentence that was annotated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SentenceRecord {
    /// Its place in the pool, counted from 0.
    pub place: usize,
    pub tokens: usize,
    pub mentions: usize,
    pub actions: usize,
    pub actions_from_scratch: usize,
}

impl RunRecord {
    /// Share of the actions that suggestions save over the sentences from `first` to `last`, counted from 1; `None` where
    /// there are none.
    pub fn saved(&self, first: usize, last: usize) -> Option<f64> {
        let part = self.annotated.get(first.checked_sub(1)?..last)?;
        let (actions, from_scratch) =
            part.iter().fold((0, 0), |(a, s), sentence| (a + sentence.actions, s + sentence.actions_from_scratch));
        (from_scratch > 0).then(|| 1.0 - actions as f64 / from_scratch as f64)
    }
}

/// The folder of a simulation.
pub(super) struct Kept(KeptRuns);

impl Kept {
    /// # Errors
    /// A folder that holds something, unless it is the same simulation and to be continued.
    pub(super) fn open(folder: &Path, request: &SimulateRequest) -> Result<Self, SessionError> {
        let older = older::text(&request.config);
        let is_older = |config: &str| older.as_deref() == Some(config);
        KeptRuns::open(folder, "simulation.json", &asked(request), is_older, request.resume).map(Self)
    }

    fn name(strategy: &str, seed: u64) -> String {
        format!("{}-{seed}", strategy.replace('+', "-"))
    }

    /// Where the project of a run lies.
    pub(super) fn work_folder(&self, strategy: &str, seed: u64) -> PathBuf {
        self.0.work_folder(&Self::name(strategy, seed))
    }

    /// A run as it was left; one that was not begun is empty.
    ///
    /// # Errors
    /// A file that can't be read.
    pub(super) fn load(&self, strategy: &str, seed: u64) -> Result<RunRecord, SessionError> {
        let kept = self.0.load(&Self::name(strategy, seed))?;
        Ok(kept.unwrap_or_else(|| RunRecord { strategy: strategy.to_owned(), seed, ..RunRecord::default() }))
    }

    /// # Errors
    /// What can go wrong with a disk.
    pub(super) fn save(&self, run: &RunRecord) -> Result<(), SessionError> {
        self.0.save(&Self::name(&run.strategy, run.seed), run)
    }
}

/// What runs that are compared have in common. Each setting of a training stands by its key, the defaults, too: with other
/// defaults it would be another simulation.
fn asked(request: &SimulateRequest) -> Json {
    let SimulateRequest { train, dev, test, read, pool, schedule, config, .. } = request;
    let files: Vec<String> = [train, dev, test].iter().map(|path| path.display().to_string()).collect();
    json!({
        "files": files,
        "format": read.format,
        "options": read.options,
        "pool": pool,
        "schedule": schedule,
        "config": config.identity(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::kept_runs::is_same;
    use crate::session::{Config, ReadRequest};

    fn request(config: Config) -> SimulateRequest {
        SimulateRequest {
            train: "train.jsonl".into(),
            dev: "dev.jsonl".into(),
            test: "test.jsonl".into(),
            read: ReadRequest::default(),
            strategies: Vec::new(),
            pool: Some(40),
            schedule: vec![10, 20],
            seeds: vec![1],
            config,
            output: None,
            resume: true,
        }
    }

    #[test]
    fn a_simulation_is_known_by_what_was_asked_for() {
        let asked = |config: &Config| asked(&request(config.clone()));
        let mut config = Config::default();
        config.set("w", "0.3").unwrap();
        let same = |there: &Json, config: &Config| {
            let older = older::text(config);
            is_same(&there.to_string(), &asked(config), |text| older.as_deref() == Some(text))
        };
        assert!(same(&asked(&config), &config));
        assert!(!same(&asked(&config), &Config::default()) && !same(&asked(&Config::default()), &config));
        let on_more_cores = Config { threads: Some(8), ..config.clone() };
        assert!(same(&asked(&on_more_cores), &config), "that changes no result");
        // A program that did not have a setting.
        let mut before = asked(&config);
        before["config"].as_object_mut().unwrap().remove("clip").unwrap();
        assert!(same(&before, &config) && !same(&before, &Config { clip: 2.0, ..config.clone() }));
        // The first ones.
        before["config"] = older::text(&config).unwrap().into();
        assert!(same(&before, &config) && !same(&before, &Config::default()));
        before["pool"] = 41.into();
        assert!(!same(&before, &config));
    }
}
