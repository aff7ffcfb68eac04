//! Which sentence next, what labels bring and what they cost, as it is typed.

use super::common::{Common, Tuning, key_value, range};
use crate::session::{BLIND_SENTENCES, FOLDS};
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(in crate::cli) struct Aside {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// Number of sentences
    #[arg(long, value_name = "N", default_value_t = BLIND_SENTENCES)]
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
    /// Number of cross-validation folds; 0 trains no models, which takes no time
    #[arg(long, value_name = "N", default_value_t = FOLDS)]
    pub(in crate::cli) folds: usize,
    /// Maximum number of findings
    #[arg(long, value_name = "N", default_value_t = 20)]
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
    /// How to choose [default: the project's setting]
    #[arg(long)]
    pub(in crate::cli) strategy: Option<String>,
    /// Maximum number of sentences
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(in crate::cli) limit: usize,
    /// Seed for the share drawn at random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) seed: u64,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) threads: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Simulate {
    /// Gold sentences to annotate
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) train: PathBuf,
    /// Gold sentences to choose epochs and the threshold of suggestions; 200 are drawn
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) dev: PathBuf,
    /// Gold sentences to score on
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) test: PathBuf,
    /// How to choose sentences, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "random,default")]
    pub(in crate::cli) strategies: Vec<String>,
    /// Sentences of --train to annotate from, drawn with the seed [default: all]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) pool: Option<usize>,
    /// Numbers of annotated sentences after which to train
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "20,60,120,250,500,1000")]
    pub(in crate::cli) schedule: Vec<usize>,
    /// Range of annotated sentences to count saved actions over [default: all after the first model]
    #[arg(long, value_name = "FROM-TO", value_parser = range)]
    pub(in crate::cli) saved: Option<(usize, usize)>,
    /// Seeds, one run for each strategy and seed
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,3")]
    pub(in crate::cli) seeds: Vec<u64>,
    /// Encoder to train from [default: english]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) encoder: Option<String>,
    /// Architecture to train [default: smartspanner]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) architecture: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    /// Option of the files' format; repeatable
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(in crate::cli) options: Vec<(String, String)>,
    /// Folder for the results; without it nothing is kept
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Resume what is in the folder; strategies and seeds may be added
    #[arg(long, requires = "output")]
    pub(in crate::cli) resume: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
