//! Which sentence next, what labels bring and what they cost, as it is typed.

use super::{Common, Tuning, key_value, range};
use crate::session::{BLIND_SENTENCES, FOLDS};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(in crate::cli) struct Aside {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// How many.
    #[arg(long, default_value_t = BLIND_SENTENCES)]
    pub(in crate::cli) sentences: usize,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Curve {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Costs {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct LookAgain {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// In so many parts sentences are divided; a model that learned from the others is asked about each. 0 asks none,
    /// which takes no time.
    #[arg(long, default_value_t = FOLDS)]
    pub(in crate::cli) folds: usize,
    /// Findings, at most.
    #[arg(long, default_value_t = 20)]
    pub(in crate::cli) limit: usize,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Rank {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// How to choose; by default as the project's settings say.
    #[arg(long)]
    pub(in crate::cli) strategy: Option<String>,
    /// Sentences, at most.
    #[arg(long, default_value_t = 10)]
    pub(in crate::cli) limit: usize,
    /// Of the share that is drawn at random.
    #[arg(long, default_value_t = 0)]
    pub(in crate::cli) seed: u64,
    /// Threads for tensor work; all cores by default.
    #[arg(long)]
    pub(in crate::cli) threads: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Simulate {
    /// File with gold sentences to annotate.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) train: PathBuf,
    /// File with gold sentences that choose epochs and the threshold of suggestions; 200 of them are drawn.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) dev: PathBuf,
    /// File with gold sentences to score on.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) test: PathBuf,
    /// How sentences are chosen, several parted by commas.
    #[arg(long, value_delimiter = ',', default_value = "random,default")]
    pub(in crate::cli) strategies: Vec<String>,
    /// Sentences of train that can be annotated, drawn with the seed; by default all.
    #[arg(long, value_name = "N")]
    pub(in crate::cli) pool: Option<usize>,
    /// After how many annotated sentences a model is trained.
    #[arg(long, value_delimiter = ',', default_value = "20,60,120,250,500,1000")]
    pub(in crate::cli) schedule: Vec<usize>,
    /// Sentences over which saved actions are counted, in the order in which they are annotated; by default those after the
    /// first model.
    #[arg(long, value_name = "FROM-TO", value_parser = range)]
    pub(in crate::cli) saved: Option<(usize, usize)>,
    /// One run for each strategy and seed.
    #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
    pub(in crate::cli) seeds: Vec<u64>,
    /// Encoder to train from; the one inside the program by default.
    #[arg(long)]
    pub(in crate::cli) encoder: Option<String>,
    /// What to train; `smartspanner` by default.
    #[arg(long)]
    pub(in crate::cli) architecture: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    /// Option of the files' format, as key=value; may be given several times.
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(in crate::cli) options: Vec<(String, String)>,
    /// Folder for results; without one nothing is kept.
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Go on with what is in the folder; strategies and seeds may be added.
    #[arg(long, requires = "output")]
    pub(in crate::cli) resume: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
