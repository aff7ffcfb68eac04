//! The command line as it is typed. What is resolved from it (paths, formats, models) lives in the sub-commands.

mod active;
mod bench;
mod models;

pub(super) use active::{Aside, Costs, Curve, LookAgain, Rank, Simulate};
pub(super) use bench::{Bench, BenchImport, BenchPredict, BenchRefresh, BenchTrain, BenchUi, BenchWhat};
pub(super) use models::{By, Compare, Distill, Evaluate, Predict, Train};

use crate::session::{Config, KEYS, LOG_LEVELS, SessionError, formats};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Annotate nested named entities with a model that learns while you work.
///
/// Without a sub-command the window opens, on PROJECT if one is given.
#[derive(Parser, Debug)]
#[command(name = "nestling", version, args_conflicts_with_subcommands = true, arg_required_else_help = false)]
pub(super) struct Cli {
    /// Project file to open in the window.
    pub(super) project: Option<PathBuf>,
    /// What is written to the log in the program's own folder [default: warn, or what NESTLING_LOG says]
    #[arg(long, global = true, value_name = "LEVEL", value_parser = LOG_LEVELS)]
    pub(super) log: Option<String>,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What every sub-command takes.
#[derive(Args, Debug, Clone, Copy)]
pub(super) struct Common {
    /// Print exactly one JSON object on standard output.
    #[arg(long)]
    pub(super) json: bool,
    /// No progress on standard error.
    #[arg(long)]
    pub(super) quiet: bool,
}

/// A line for each setting of trainings.
fn settings_of_trainings() -> String {
    KEYS.iter().map(|(key, default, meaning)| format!("  {key:<13} {meaning} [{default}]\n")).collect()
}

/// What every sub-command that trains takes.
#[derive(Args, Debug)]
pub(super) struct Tuning {
    /// Threads for tensor work; all cores by default.
    #[arg(long)]
    pub(super) threads: Option<usize>,
    /// Hyper-parameter of the training, as key=value; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) set: Vec<(String, String)>,
}

impl Tuning {
    /// Settings that a sub-command has flags of its own for, as far as they were given, then these, which go before them.
    pub(super) fn with<const N: usize>(&self, named: [(&str, Option<String>); N]) -> Vec<(String, String)> {
        let threads = ("threads", self.threads.map(|n| n.to_string()));
        let named = named.into_iter().chain([threads]);
        let named = named.filter_map(|(key, value)| Some((key.to_owned(), value?)));
        named.chain(self.set.iter().cloned()).collect()
    }

    /// Sets [`Tuning::with`] in a configuration.
    pub(super) fn apply<const N: usize>(
        &self,
        named: [(&str, Option<String>); N],
        config: &mut Config,
    ) -> Result<(), SessionError> {
        self.with(named).iter().try_for_each(|(key, value)| Ok(config.set(key, value)?))
    }
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Make a project.
    #[command(after_help = "Example: nestling new harbour.nestling --labels PER,ORG,LOC")]
    New(New),
    /// Open the sample project in the window, making it first if it is not there.
    #[command(after_help = "Example: nestling sample")]
    Sample(Sample),
    /// Bring texts, mentions or suggestions into a project.
    #[command(
        after_help = "Example: nestling import harbour.nestling train.jsonl --option end=inclusive --split train"
    )]
    Import(Import),
    /// Write annotations to a file, with a receipt of what its format could not hold.
    #[command(after_help = format!("Formats: {}\n\nExample: nestling export harbour.nestling --format jsonl --output gold.jsonl", format_ids()))]
    Export(Export),
    /// Files of one format to another, without a project, with a receipt of what it could not hold.
    #[command(after_help = format!("Formats: {}\n\nExample: nestling convert corpus/ --from brat --to conll --output corpus.conll --option layers=3", format_ids()))]
    Convert(Convert),
    /// Counts, labels, splits, statuses and models of a project.
    #[command(after_help = "Example: nestling info harbour.nestling --json")]
    Info(Info),
    /// Who did what, and when, the newest first; nothing is ever taken out of it.
    #[command(after_help = "Example: nestling log harbour.nestling --limit 20")]
    Log(Log),
    /// The models of a project; make another one the one that suggests.
    ///
    /// The one in use, the one before it, the newest and the best on dev are kept.
    #[command(after_help = "Example: nestling models harbour.nestling --use 3")]
    Models(Models),
    /// List the documents of a project; exclude some, include them again, delete some.
    ///
    /// What is excluded stays in the project, but is not counted, searched, learned from or exported. What is deleted
    /// is brought back only by undo in the window.
    #[command(after_help = "Examples:\n  nestling documents harbour.nestling\n  \
                            nestling documents harbour.nestling --exclude draft notes")]
    Documents(Documents),
    /// Find sentences by their words; the last one may be the beginning of a word.
    #[command(after_help = "Example: nestling search harbour.nestling \"harbour bo\"")]
    Search(Search),
    /// Copy a project, with all that is done so far, into a new file; also while it is open in the window.
    #[command(after_help = "Example: nestling copy harbour.nestling harbour-friday.nestling")]
    Copy(Copy),
    /// Check a project: its file, each offset in it, its models.
    ///
    /// A damaged project is never changed; with --repair, what can be read of it goes into NAME.rescued.nestling.
    #[command(after_help = "Example: nestling check harbour.nestling --repair")]
    Check(Check),
    /// Train on the complete sentences, keep the best epoch on dev, and make the model current.
    #[command(after_help = format!("Keys of --set, with their defaults:\n{}\nExample: nestling train harbour.nestling --epochs 10 --set encoder_lr=1e-4", settings_of_trainings()))]
    Train(Train),
    /// Store suggestions of a model in a project, or filter a file through a model.
    #[command(after_help = "Examples:\n  nestling predict harbour.nestling\n  \
                            nestling predict --model harbour.models/model-0003 --input texts.jsonl --output predicted.jsonl")]
    Predict(Predict),
    /// Score a model on a split: strict micro precision, recall and F1, and where they come from.
    #[command(after_help = "Examples:\n  nestling evaluate harbour.nestling --split test --json\n  \
                            nestling evaluate harbour.nestling --split test --by label,matches,nesting,errors")]
    Evaluate(Evaluate),
    /// Train a model of each architecture and seed on the complete sentences, and compare them; none is kept.
    #[command(
        after_help = "Example: nestling compare harbour.nestling --architectures smartspanner,spanner --seeds 1,2,3"
    )]
    Compare(Compare),
    /// Set sentences aside at random for an honest learning curve, before anything is learned.
    ///
    /// They are annotated without suggestions, and no model learns from them.
    #[command(after_help = "Example: nestling aside harbour.nestling --sentences 100")]
    Aside(Aside),
    /// How good the models became, how sure that is, and what more sentences would bring.
    #[command(after_help = "Example: nestling curve harbour.nestling --json")]
    Curve(Curve),
    /// What decisions cost: accepting, mending, rejecting, creating, in seconds and keys, for each label and model.
    #[command(after_help = "Example: nestling costs harbour.nestling --json")]
    Costs(Costs),
    /// Complete sentences that are worth a second look, and why: models that had not seen them disagree, the same words
    /// are labelled in two ways, a nesting hardly ever occurs. Nothing is stored.
    #[command(after_help = "Example: nestling look-again harbour.nestling --limit 50")]
    LookAgain(LookAgain),
    /// The sentences to annotate next, with their acquisition scores; nothing is stored.
    #[command(
        after_help = "Strategies: random, order, words, least-confidence, entropy, neh, mention-count, bald, each but the \
                            first three with +diverse, +typical or +stochastic; default is what the program uses.\n\n\
                            Example: nestling rank harbour.nestling --strategy entropy+diverse --limit 20"
    )]
    Rank(Rank),
    /// Replay a gold corpus as if a person annotated it: learning curves, and what suggestions save.
    ///
    /// Each strategy and seed draws a pool, annotates it step by step as the gold says, trains after each step of the
    /// schedule, and scores on test. Results are kept in the output's folder, with a plot (curves.svg).
    #[command(after_help = "Example: nestling simulate --train train.jsonl --dev dev.jsonl --test test.jsonl \
                            --strategies random,default --pool 2000 --schedule 20,60,120,250,500,1000 --seeds 1,2,3 \
                            --output simulation")]
    Simulate(Simulate),
    /// Make a small encoder that gives nearly what a large one gives, in a fraction of the time; no labels are needed.
    #[command(after_help = "Example: nestling distill --teacher minilm --text corpus/ more.txt --output small-minilm \
                            --set layers=3\n\nKeys of --set, and of the lines `KEY = VALUE` in the file of --config:\n  \
                            layers      blocks of the student, the teacher's first ones; half of them by default\n  \
                            inner       neurons of a block's inner layer; half of the teacher's by default\n  \
                            vocabulary  subwords that are kept, those of the text first; all by default\n  \
                            last        the teacher's block that the last one imitates; as many as layers by default\n  \
                            epochs      passes over the text; 3\n  \
                            batch_size  sentences a step; 32\n  \
                            rate        learning rate; 1e-3\n  \
                            seed        of the order of the sentences; 42\n  \
                            threads     for tensor work; all cores\n  \
                            compact     true: 4 and 8 bits a weight, as built-in encoders are; false")]
    Distill(Distill),
    /// List, import and remove encoders.
    #[command(after_help = "Example: nestling encoders import ./all-MiniLM-L6-v2 --name minilm")]
    Encoders(Encoders),
    /// Measure what the program does, on this machine.
    #[command(after_help = "Example: nestling bench import --sentences 100000 --json")]
    Bench(Bench),
}

#[derive(Args, Debug)]
pub(super) struct New {
    /// Where the project file is made; it must not be there yet.
    pub(super) project: PathBuf,
    /// Label names, parted by commas.
    #[arg(long, value_delimiter = ',')]
    pub(super) labels: Vec<String>,
    /// Encoder to start trainings from; see `nestling encoders list`.
    #[arg(long)]
    pub(super) encoder: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Sample {
    /// Where the sample project is made, instead of the program's own folder.
    #[arg(long)]
    pub(super) at: Option<PathBuf>,
    /// Make it, but open no window.
    #[arg(long)]
    pub(super) no_window: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    /// Mentions that a person stands for; marks sentences complete and adds unknown labels.
    Gold,
    /// Mentions to be reviewed.
    Suggestions,
    /// Text only; mentions in the file are counted and left out.
    Text,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SplitName {
    /// The rest, complete.
    Train,
    /// Kept for choosing the best epoch and model.
    Dev,
    /// Kept for scoring.
    Test,
    /// Kept aside from the start, for the learning curve.
    Blind,
    /// The rest, not yet complete.
    Pool,
}

#[derive(Args, Debug)]
pub(super) struct Import {
    /// Project file.
    pub(super) project: PathBuf,
    /// Files and folders to read; several become one import.
    #[arg(required = true)]
    pub(super) input: Vec<PathBuf>,
    /// Format id, or `auto`.
    #[arg(long, default_value = "auto")]
    pub(super) format: String,
    /// What the mentions of the files are; by default suggestions where all have a score, else gold, and text
    /// where there are none, unless the files or a split of train, dev or test say that somebody has looked.
    #[arg(long = "as", value_enum)]
    pub(super) kind: Option<As>,
    /// Where the sentences go; by default where the file says, else to the rest.
    #[arg(long, value_enum)]
    pub(super) split: Option<SplitName>,
    /// Option of the format, as key=value; may be given several times.
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) options: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Gold,
    Suggestions,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusFilter {
    Complete,
    All,
}

#[derive(Args, Debug)]
pub(super) struct Export {
    /// Project file.
    pub(super) project: PathBuf,
    /// Format id; they are listed below.
    #[arg(long)]
    pub(super) format: String,
    /// File to write, one of this name is replaced; or a new folder, for a format of several files.
    #[arg(long)]
    pub(super) output: PathBuf,
    /// Which sentences; by default all splits.
    #[arg(long, value_enum)]
    pub(super) split: Option<SplitName>,
    /// Mentions that people stand for, or what a model suggests.
    #[arg(long, value_enum, default_value = "gold")]
    pub(super) what: What,
    /// Which sentences: by default the complete ones, with `--what suggestions` all.
    #[arg(long, value_enum)]
    pub(super) status: Option<StatusFilter>,
    /// Write nothing if the format can't hold everything.
    #[arg(long)]
    pub(super) strict: bool,
    /// Option of the format, as key=value; may be given several times.
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) options: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Convert {
    /// Files and folders to read.
    #[arg(required = true)]
    pub(super) input: Vec<PathBuf>,
    /// Format id to read, or `auto`.
    #[arg(long, default_value = "auto")]
    pub(super) from: String,
    /// Format id to write.
    #[arg(long)]
    pub(super) to: String,
    /// File to write, one of this name is replaced; or a new folder, for a format of several files.
    #[arg(long)]
    pub(super) output: PathBuf,
    /// Write nothing if the format can't hold everything.
    #[arg(long)]
    pub(super) strict: bool,
    /// Option of either format, as key=value; may be given several times.
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(super) options: Vec<(String, String)>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Info {
    /// Project file.
    pub(super) project: PathBuf,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Log {
    /// Project file.
    pub(super) project: PathBuf,
    /// Entries to show, at most.
    #[arg(long, default_value_t = 50)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Models {
    /// Project file.
    pub(super) project: PathBuf,
    /// Number of a model that is kept: it makes the suggestions from now on.
    #[arg(long = "use", value_name = "ID")]
    pub(super) use_model: Option<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Documents {
    /// Project file.
    pub(super) project: PathBuf,
    /// Names of documents to set aside. Of several that have a name NAME#2 is the second.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(super) exclude: Vec<String>,
    /// Names of excluded documents to take in again.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(super) include: Vec<String>,
    /// Names of documents to delete.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(super) delete: Vec<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Search {
    /// Project file.
    pub(super) project: PathBuf,
    /// Words in a row. Case, diacritics and punctuation don't matter; of Chinese, Japanese and Thai any piece is found.
    pub(super) query: String,
    /// Show the first so many.
    #[arg(long, default_value_t = 20)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Copy {
    /// Project file.
    pub(super) project: PathBuf,
    /// The new file; there must be none of this name.
    pub(super) to: PathBuf,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Check {
    /// Project file.
    pub(super) project: PathBuf,
    /// If there are problems, read what can be read into a new project beside this one.
    #[arg(long)]
    pub(super) repair: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Encoders {
    #[command(subcommand)]
    pub(super) action: Option<EncoderAction>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Subcommand, Debug)]
pub(super) enum EncoderAction {
    /// What trainings can start from.
    List {
        #[command(flatten)]
        common: Common,
    },
    /// Copy a Hugging Face style folder (config.json, tokenizer.json or a vocabulary, model.safetensors).
    Import {
        /// The folder.
        dir: PathBuf,
        /// What to call it here.
        #[arg(long)]
        name: String,
        #[command(flatten)]
        common: Common,
    },
    /// Fetch an encoder from the Hugging Face hub; one that was broken off goes on where it ends.
    #[command(
        after_help = "Example: nestling encoders install sentence-transformers/all-MiniLM-L6-v2 --name minilm\n\n\
                      HF_ENDPOINT names another hub, HF_TOKEN opens what is not for everybody, and what the Hugging \
                      Face libraries have in HF_HOME is taken from there."
    )]
    Install {
        /// OWNER/NAME, or OWNER/NAME@REVISION.
        repository: String,
        /// What to call it here; the repository's name without its owner by default.
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Delete an imported encoder; models made from it keep working.
    Remove {
        /// As `encoders list` shows it.
        name: String,
        #[command(flatten)]
        common: Common,
    },
}

/// `jsonl, brat, …`
fn format_ids() -> String {
    formats().iter().map(|format| format.id()).collect::<Vec<_>>().join(", ")
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err(format!("expected KEY=VALUE, got {text:?}")),
    }
}

/// Two numbers counted from 1, as 300-400.
fn range(text: &str) -> Result<(usize, usize), String> {
    let range = text.split_once('-').and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
    range
        .filter(|(from, to)| (1..=*to).contains(from))
        .ok_or_else(|| format!("expected FROM-TO, as 300-400, got {text:?}"))
}

fn probability(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|p| (0.0..=1.0).contains(p));
    number.ok_or_else(|| format!("expected a number from 0 to 1, got {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_project_alone_is_for_the_window() {
        let cli = Cli::parse_from(["nestling", "a.nestling"]);
        assert_eq!(cli.project, Some(PathBuf::from("a.nestling")));
        assert!(cli.command.is_none());
    }
}
