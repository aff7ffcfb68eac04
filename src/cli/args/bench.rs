//! `nestling bench` as it is typed.

use super::common::{Common, Tuning};
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
    /// Generate a corpus, import it, open the project and export it
    #[command(after_help = "Example: nestling bench import --sentences 100000 --json")]
    Import(BenchImport),
    /// Work in the window without a screen, and measure its frames
    #[command(after_help = "Example: nestling bench ui --project novels.nestling --while-training --json")]
    Ui(BenchUi),
    /// Train on sentences of a project or generated ones; keeps no model
    #[command(after_help = "Example: nestling bench train --project novels.nestling --encoder minilm --json")]
    Train(BenchTrain),
    /// Predict sentences of a project or generated ones; keeps nothing
    #[command(after_help = "The model is the project's current one. If there is none, one is trained on generated\n\
                            sentences first, which is not measured.\n\nExample: nestling bench predict --project novels.nestling --threads 2 --json")]
    Predict(BenchPredict),
    /// Complete ten sentences, and measure how soon suggestions follow
    #[command(
        after_help = "The project needs a model and ten sentences that are not complete.\n\nExample: nestling bench refresh --project novels.nestling --json"
    )]
    Refresh(BenchRefresh),
    /// Mark words, and measure how soon labels are in the order of their probability
    #[command(after_help = "Example: nestling bench labels --encoder glove --json")]
    Labels(BenchLabels),
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchLabels {
    /// Number of sentences of the generated project, of 3 mentions each
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(in crate::cli) sentences: NonZeroUsize,
    /// Encoder whose word vectors are used
    #[arg(long, value_name = "NAME", default_value = "english")]
    pub(in crate::cli) encoder: String,
    /// How often words are marked
    #[arg(long, value_name = "N", default_value = "500")]
    pub(in crate::cli) questions: NonZeroUsize,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchRefresh {
    /// Project; works on a copy
    #[arg(long)]
    pub(in crate::cli) project: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchUi {
    /// Project; works on a copy
    #[arg(long, conflicts_with = "sentences")]
    pub(in crate::cli) project: Option<PathBuf>,
    /// Number of sentences of a generated project, if none is given
    #[arg(long, value_name = "N", default_value = "10000")]
    pub(in crate::cli) sentences: NonZeroUsize,
    /// Number of frames to measure, at sixty per second
    #[arg(long, value_name = "N", default_value = "1200")]
    pub(in crate::cli) frames: NonZeroUsize,
    /// Measure while a training runs
    #[arg(long)]
    pub(in crate::cli) while_training: bool,
    /// Encoder of that training, instead of the project's
    #[arg(long, requires = "while_training")]
    pub(in crate::cli) encoder: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchImport {
    /// Number of sentences, of about 20 words and 3 mentions each
    #[arg(long, value_name = "N", default_value = "100000")]
    pub(in crate::cli) sentences: NonZeroUsize,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchTrain {
    /// Train on this project's complete sentences instead of generated ones; it is not changed
    #[arg(long)]
    pub(in crate::cli) project: Option<PathBuf>,
    /// Maximum number of sentences [default: all of the project, or 1000 generated]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) sentences: Option<NonZeroUsize>,
    /// Encoder [default: the project's, or small]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) encoder: Option<String>,
    /// Architecture [default: the project's, or smartspanner]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) architecture: Option<String>,
    /// Passes over the sentences
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(in crate::cli) epochs: usize,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct BenchPredict {
    /// Predict this project's sentences instead of generated ones; it is not changed
    #[arg(long)]
    pub(in crate::cli) project: Option<PathBuf>,
    /// Maximum number of sentences [default: all of the project, or 1000 generated]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) sentences: Option<NonZeroUsize>,
    /// Train a model with this encoder first, and use it instead of the project's
    #[arg(long)]
    pub(in crate::cli) encoder: Option<String>,
    /// Sentences per batch
    #[arg(long, value_name = "N", default_value = "32")]
    pub(in crate::cli) batch: NonZeroUsize,
    /// Classify every span, not only those that start at a head
    #[arg(long)]
    pub(in crate::cli) all_spans: bool,
    /// Compute in f32 throughout, also where rounded numbers are faster
    #[arg(long)]
    pub(in crate::cli) f32: bool,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) threads: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
