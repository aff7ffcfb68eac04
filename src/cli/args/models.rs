//! How models and encoders are made, used and scored, as it is typed.

use super::{Common, SplitName, Tuning, key_value, probability};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(in crate::cli) struct Train {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// What to train; `smartspanner` by default.
    #[arg(long)]
    pub(in crate::cli) architecture: Option<String>,
    /// Passes over the training sentences; by default enough for small data. Where a model labels open sentences itself
    /// it begins anew with these, for as long as `self_epochs` says; `--set self_training=0` leaves that out.
    #[arg(long)]
    pub(in crate::cli) epochs: Option<usize>,
    /// Sentences a step.
    #[arg(long)]
    pub(in crate::cli) batch_size: Option<usize>,
    /// Of weights, order, dropout and samples: the same seed and labels give the same model.
    #[arg(long)]
    pub(in crate::cli) seed: Option<u64>,
    /// Shuffle with the seed and take the first so many training sentences; what is left out counts as not labelled.
    #[arg(long, value_name = "SENTENCES")]
    pub(in crate::cli) limit: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    /// How much learns: `heads` leaves a pretrained encoder as it is, `top` all of it but its last blocks, `full` (the
    /// default) nothing.
    #[arg(long)]
    pub(in crate::cli) effort: Option<String>,
    /// Go on with the training that was interrupted last, with its own settings and labels.
    #[arg(long, conflicts_with_all = ["architecture", "epochs", "batch_size", "seed", "limit", "set", "effort"])]
    pub(in crate::cli) resume: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Compare {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// What to train, several parted by commas; by default all that there are.
    #[arg(long, value_delimiter = ',')]
    pub(in crate::cli) architectures: Vec<String>,
    /// One model for each architecture and seed.
    #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
    pub(in crate::cli) seeds: Vec<u64>,
    /// Shuffle with the seed and take the first so many training sentences; what is left out counts as not labelled.
    #[arg(long, value_name = "SENTENCES")]
    pub(in crate::cli) limit: Option<usize>,
    /// Passes over the training sentences; see `nestling train --help`.
    #[arg(long)]
    pub(in crate::cli) epochs: Option<usize>,
    /// What models are scored on; by default test, or dev where no test sentence is complete.
    #[arg(long, value_enum)]
    pub(in crate::cli) split: Option<SplitName>,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Predict {
    /// Project to store suggestions in; without it, a file is filtered through `--model DIR`.
    pub(in crate::cli) project: Option<PathBuf>,
    /// Which sentences; by default those that are not complete.
    #[arg(long, value_enum, requires = "project")]
    pub(in crate::cli) split: Option<SplitName>,
    /// Model number of the project, or a model's folder.
    #[arg(long)]
    pub(in crate::cli) model: Option<String>,
    /// File to read, standard input by default.
    #[arg(long, conflicts_with = "project")]
    pub(in crate::cli) input: Option<String>,
    /// File to write, standard output by default.
    #[arg(long, conflicts_with = "project")]
    pub(in crate::cli) output: Option<String>,
    /// Format of the input, told from what is in it by default; all but `jsonl` are read as a whole.
    #[arg(long, conflicts_with = "project")]
    pub(in crate::cli) format: Option<String>,
    /// Option of the format, as key=value; may be given several times.
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value, conflicts_with = "project")]
    pub(in crate::cli) options: Vec<(String, String)>,
    /// Probability from which a word is taken for the first of an entity; as the model was trained, by default.
    #[arg(long, value_name = "P", value_parser = probability)]
    pub(in crate::cli) threshold: Option<f32>,
    /// Classify every span, not only those that begin with the first word of an entity: slower, and finds more.
    #[arg(long)]
    pub(in crate::cli) all_spans: bool,
    /// Threads for tensor work; all cores by default.
    #[arg(long)]
    pub(in crate::cli) threads: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

/// What scores can be told by.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum By {
    /// Each label.
    Label,
    /// Exact (whatever the label), partial (an overlap counts half) and type match (overlap and label), beside strict.
    Matches,
    /// How many words a mention has.
    Length,
    /// Mentions inside others, around others, both, or neither.
    Nesting,
    /// XS, S, L and XL by length of mention and sentence, label consistency and density of mentions.
    Buckets,
    /// What is wrong: the label, the boundaries, both, or all of it.
    Errors,
    /// Which labels are taken for which, and for none.
    Confusion,
    /// Finding heads, classifying all spans, and both together, with how much was classified; takes a second prediction.
    Tasks,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Evaluate {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// Whose complete sentences to score on.
    #[arg(long, value_enum)]
    pub(in crate::cli) split: SplitName,
    /// What to tell the scores by, several parted by commas.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(in crate::cli) by: Vec<By>,
    /// Model number of the project; by default the current one.
    #[arg(long)]
    pub(in crate::cli) model: Option<String>,
    /// Threads for tensor work; all cores by default.
    #[arg(long)]
    pub(in crate::cli) threads: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Distill {
    /// The large encoder: a folder as `encoders import` takes it, or the name of an encoder that is there.
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) teacher: PathBuf,
    /// Files and folders with text, in any format that can be imported.
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub(in crate::cli) text: Vec<PathBuf>,
    /// The new encoder's folder.
    #[arg(long)]
    pub(in crate::cli) output: PathBuf,
    /// File with settings.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Setting, as key=value; may be given several times, and goes before the file's.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(in crate::cli) set: Vec<(String, String)>,
    /// Go on with a distillation that was interrupted; call it as it was begun.
    #[arg(long)]
    pub(in crate::cli) resume: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}
