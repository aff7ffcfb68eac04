//! `nestling bench` as it is typed.

use super::{Common, Tuning};
use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(in crate::cli) struct Bench {
    #[command(subcommand)]
    pub(in crate::cli) what: BenchWhat,
}

#[derive(Subcommand, Debug)]
pub(in crate::cli) enum BenchWhat {
    /// Make a corpus in a temporary folder, import it, open the project and export it.
    #[command(after_help = "Example: nestling bench import --sentences 100000 --json")]
    Import(BenchImport),
    /// Work in the window without a screen, on a copy of a project or a made-up one, and measure its frames.
    #[command(after_help = "Example: nestling bench ui --project novels.nestling --while-training --json")]
    Ui(BenchUi),
    /// Train on sentences of a project or made-up ones, and throw the model away.
    #[command(after_help = "Example: nestling bench train --project novels.nestling --encoder minilm --json")]
    Train(BenchTrain),
    /// Predict sentences of a project or made-up ones, and throw away what comes of it.
    ///
    /// The model is the project's current one. Where there is none, one is trained on made-up sentences first, which is
    /// not measured.
    #[command(after_help = "Example: nestling bench predict --project novels.nestling --threads 2 --json")]
    Predict(BenchPredict),
    /// Complete ten sentences of a copy of a project, and measure how soon suggestions follow.
    ///
    /// The project needs a model and ten sentences that are not complete.
    #[command(after_help = "Example: nestling bench refresh --project novels.nestling --json")]
    Refresh(BenchRefresh),
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchRefresh {
    /// The project; it is copied first and not touched.
    #[arg(long)]
    pub(in crate::cli) project: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchUi {
    /// The project; it is copied first and not touched.
    #[arg(long, conflicts_with = "sentences")]
    pub(in crate::cli) project: Option<PathBuf>,
    /// How many sentences the made-up project has, if none is given.
    #[arg(long, default_value = "10000")]
    pub(in crate::cli) sentences: NonZeroUsize,
    /// How many frames are measured, at sixty a second.
    #[arg(long, default_value = "1200")]
    pub(in crate::cli) frames: NonZeroUsize,
    /// While a training goes on.
    #[arg(long)]
    pub(in crate::cli) while_training: bool,
    /// Encoder of that training, instead of the project's.
    #[arg(long, requires = "while_training")]
    pub(in crate::cli) encoder: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchImport {
    /// How many sentences the corpus has, of about 20 words and 3 mentions each.
    #[arg(long, default_value = "100000")]
    pub(in crate::cli) sentences: NonZeroUsize,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchTrain {
    /// The project whose complete training sentences are learned from; it is not touched. Made-up ones by default.
    #[arg(long)]
    pub(in crate::cli) project: Option<PathBuf>,
    /// How many sentences, if there are as many; by default all of the project, or 1000 made-up ones.
    #[arg(long)]
    pub(in crate::cli) sentences: Option<NonZeroUsize>,
    /// Encoder, instead of the project's; `small` by default.
    #[arg(long)]
    pub(in crate::cli) encoder: Option<String>,
    /// What to train, instead of the project's; `smartspanner` by default.
    #[arg(long)]
    pub(in crate::cli) architecture: Option<String>,
    /// Passes over the sentences.
    #[arg(long, default_value_t = 1)]
    pub(in crate::cli) epochs: usize,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchPredict {
    /// The project whose sentences are predicted, with its current model; it is not touched. Made-up ones by default.
    #[arg(long)]
    pub(in crate::cli) project: Option<PathBuf>,
    /// How many sentences, if there are as many; by default all of the project, or 1000 made-up ones.
    #[arg(long)]
    pub(in crate::cli) sentences: Option<NonZeroUsize>,
    /// Encoder of a model that is trained first and used instead of the project's.
    #[arg(long)]
    pub(in crate::cli) encoder: Option<String>,
    /// Sentences at a time.
    #[arg(long, default_value = "32")]
    pub(in crate::cli) batch: NonZeroUsize,
    /// Classify every span, not only those that begin with the first word of an entity.
    #[arg(long)]
    pub(in crate::cli) all_spans: bool,
    /// Threads for tensor work; all cores by default.
    #[arg(long)]
    pub(in crate::cli) threads: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
