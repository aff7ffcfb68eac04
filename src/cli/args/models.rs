//! How models and encoders are made, used and scored, as it is typed.

use super::common::{Common, SplitName, Tuning, key_value, named_path, probability};
use crate::evaluation::SpanSampling;
use crate::session::Breakdown;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(in crate::cli) struct Train {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// Architecture to train [default: smartspanner]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) architecture: Option<String>,
    /// Passes over the data [default: 600 steps if pretrained, else 300]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) epochs: Option<usize>,
    /// Sentences per step [default: 16]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) batch_size: Option<usize>,
    /// Same seed and labels, same model [default: 42]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
    /// Train on this many random sentences; the rest counts as unlabelled
    #[arg(long, value_name = "N")]
    pub(in crate::cli) limit: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    /// What learns: `heads`, `top` blocks too, or `full` [default: full]
    #[arg(long, value_name = "WHAT")]
    pub(in crate::cli) effort: Option<String>,
    /// Resume the interrupted training, with its own settings and labels
    #[arg(long, conflicts_with_all = ["architecture", "epochs", "batch_size", "seed", "limit", "set", "effort"])]
    pub(in crate::cli) resume: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Compare {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// Architectures to train, comma-separated [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(in crate::cli) architectures: Vec<String>,
    /// Seeds, one model for each architecture and seed
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,3")]
    pub(in crate::cli) seeds: Vec<u64>,
    /// Train on this many random sentences; the rest counts as unlabelled
    #[arg(long, value_name = "N")]
    pub(in crate::cli) limit: Option<usize>,
    /// Passes over the data; see `nestling train --help`
    #[arg(long, value_name = "N")]
    pub(in crate::cli) epochs: Option<usize>,
    /// Split to score on [default: test, or dev if no test sentence is complete]
    #[arg(long, value_enum)]
    pub(in crate::cli) split: Option<SplitName>,
    /// Try each of these values of a hyper-parameter; repeat for every combination
    #[arg(long, value_name = "KEY=V1,V2…", value_parser = key_value)]
    pub(in crate::cli) vary: Vec<(String, String)>,
    /// Folder for the runs, the table (CSV, Markdown) and its plot (SVG)
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Continue the comparison in --output; architectures, values and seeds can be added
    #[arg(long, requires = "output")]
    pub(in crate::cli) resume: bool,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Predict {
    /// Project to store suggestions in; without it, --model DIR annotates a file
    pub(in crate::cli) project: Option<PathBuf>,
    /// Only sentences of this split [default: all that are not complete]
    #[arg(long, value_enum, requires = "project")]
    pub(in crate::cli) split: Option<SplitName>,
    /// Number of a model of the project, `names`, or a model's folder
    #[arg(long)]
    pub(in crate::cli) model: Option<String>,
    /// File to read [default: standard input]
    #[arg(long, conflicts_with = "project")]
    pub(in crate::cli) input: Option<String>,
    /// File to write [default: standard output]
    #[arg(long, conflicts_with = "project")]
    pub(in crate::cli) output: Option<String>,
    /// Format of the input [default: recognised]; all but `jsonl` are read as a whole
    #[arg(long, conflicts_with = "project")]
    pub(in crate::cli) format: Option<String>,
    /// Option of the format; repeatable
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value, conflicts_with = "project")]
    pub(in crate::cli) options: Vec<(String, String)>,
    /// Minimum probability for a word to be a head [default: as trained]
    #[arg(long, value_name = "P", value_parser = probability)]
    pub(in crate::cli) threshold: Option<f32>,
    /// Classify every span, not only those that start at a head: slower, finds more
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

#[derive(Args, Debug)]
pub(in crate::cli) struct Evaluate {
    /// Project file.
    pub(in crate::cli) project: PathBuf,
    /// Split whose complete sentences to score on
    #[arg(long, value_enum)]
    pub(in crate::cli) split: SplitName,
    /// Breakdowns of the scores, comma-separated; see below
    #[arg(long, value_parser = breakdown(), value_delimiter = ',', value_name = "WHAT", hide_possible_values = true)]
    pub(in crate::cli) by: Vec<Breakdown>,
    /// Number of a model, or `names` [default: the current one]
    #[arg(long)]
    pub(in crate::cli) model: Option<String>,
    /// Number of another model to compare with, also bucket by bucket
    #[arg(long, value_name = "MODEL")]
    pub(in crate::cli) against: Option<String>,
    /// Folder for a table (CSV) and maybe a picture (SVG) of each breakdown
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Spans whose vectors are compared, at most
    #[arg(long, value_name = "N", default_value_t = SpanSampling::default().most)]
    pub(in crate::cli) spans: usize,
    /// Seed that draws these spans
    #[arg(long, value_name = "N", default_value_t = SpanSampling::default().seed)]
    pub(in crate::cli) seed: u64,
    /// Compute in f32 throughout, also where rounded numbers are faster
    #[arg(long)]
    pub(in crate::cli) f32: bool,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) threads: Option<usize>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Distill {
    /// The large encoder: its name in `encoders list`, or a folder
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) teacher: PathBuf,
    /// Files and folders with text, each in one language, in any format that can be imported
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub(in crate::cli) text: Vec<PathBuf>,
    /// Folder for the new encoder
    #[arg(long)]
    pub(in crate::cli) output: PathBuf,
    /// File with settings
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) config: Option<PathBuf>,
    /// Setting, which overrides the file's; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(in crate::cli) set: Vec<(String, String)>,
    /// Resume an interrupted distillation; give the same arguments
    #[arg(long)]
    pub(in crate::cli) resume: bool,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Adapt {
    /// Files, folders and projects with text
    #[arg(long, required = true, num_args = 1.., value_name = "PATH")]
    pub(in crate::cli) text: Vec<PathBuf>,
    /// The encoder to begin with: its name in `encoders list`, or a folder
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) encoder: PathBuf,
    /// Folder for the new encoder
    #[arg(long)]
    pub(in crate::cli) output: PathBuf,
    /// Read this many random sentences [default: all]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) limit: Option<NonZeroUsize>,
    /// Setting; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(in crate::cli) set: Vec<(String, String)>,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct Pretrain {
    /// Annotated files, folders and projects; NAME=PATH calls one NAME
    #[arg(long, required = true, num_args = 1.., value_name = "PATH", value_parser = named_path)]
    pub(in crate::cli) entities: Vec<(Option<String>, PathBuf)>,
    /// The encoder to begin with: its name in `encoders list`, or a folder
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) encoder: PathBuf,
    /// Folder for the new encoder
    #[arg(long)]
    pub(in crate::cli) output: PathBuf,
    /// Table of labels that mean the same: lines of corpus or *, label and merged label, tabs between them
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) labels: Option<PathBuf>,
    /// Learn from this many random sentences of each corpus [default: all]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) limit: Option<NonZeroUsize>,
    /// Passes over the sentences [default: 1]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) epochs: Option<usize>,
    /// Same seed and corpora, same encoder [default: 42]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) seed: Option<u64>,
    /// Learn from dev splits, too; test splits and blind sets are never learned from
    #[arg(long)]
    pub(in crate::cli) dev: bool,
    /// Format id of all files [default: recognised]
    #[arg(long)]
    pub(in crate::cli) format: Option<String>,
    /// Option of the formats; repeatable
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(in crate::cli) options: Vec<(String, String)>,
    #[command(flatten)]
    pub(in crate::cli) tuning: Tuning,
    #[command(flatten)]
    pub(in crate::cli) common: Common,
}

/// A breakdown by its id.
fn breakdown() -> impl TypedValueParser<Value = Breakdown> {
    PossibleValuesParser::new(Breakdown::ALL.map(Breakdown::id))
        .try_map(|id| Breakdown::from_id(&id).ok_or("no breakdown has this name"))
}
