//! The command line as it is typed. What is resolved from it (paths, formats, models) lives in the sub-commands.

mod active;
mod bench;
mod common;
mod encoders;
mod keys;
mod models;

pub(super) use active::{Aside, Costs, Curve, LookAgain, Rank, Simulate};
pub(super) use bench::{Bench, BenchImport, BenchLabels, BenchPredict, BenchRefresh, BenchTrain, BenchUi, BenchWhat};
pub(super) use common::{Common, SplitName};
pub(super) use encoders::{EncoderAction, Encoders};
pub(super) use models::{Adapt, Compare, Distill, Evaluate, Predict, Pretrain, Train};

use crate::session::{LOG_LEVELS, formats};
use clap::{Args, Parser, Subcommand, ValueEnum};
use common::key_value;
use std::path::PathBuf;

/// Annotate nested named entities with a model that learns while you work.
#[derive(Parser, Debug)]
#[command(
    name = "nestling",
    version,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = false,
    override_usage = "nestling [OPTIONS] [PROJECT]  opens the window\n       \
                      nestling <COMMAND>            `nestling COMMAND --help` explains each"
)]
pub(super) struct Cli {
    // Said in the usage.
    #[arg(hide = true)]
    pub(super) project: Option<PathBuf>,
    /// How much to log: off, error, warn (the default), info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", value_parser = LOG_LEVELS, hide_possible_values = true)]
    pub(super) log: Option<String>,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Subcommand, Debug)]
pub(super) enum Command {
    /// Create a project
    #[command(after_help = "Example: nestling new harbour.nestling --labels PER,ORG,LOC")]
    New(New),
    /// Open the sample project, creating it first if needed
    #[command(after_help = "Example: nestling sample")]
    Sample(Sample),
    /// Import texts, mentions or suggestions into a project
    #[command(after_help = format!("Kinds of --as; by default suggestions if all mentions have a score, text if there are none\n\
                            (unless the files or a split of train, dev or test say that somebody looked), else gold:\n  \
                            gold         mentions a person vouches for: sentences become complete, labels are added\n  \
                            suggestions  mentions to review\n  \
                            text         text only; mentions in the files are counted and left out\n\n\
                            Splits, by default as the files say, else train or pool:\n  \
                            train  complete sentences to learn from      dev    to choose the best epoch and model\n  \
                            pool   sentences not yet complete            test   to score on\n  \
                            blind  set aside from the start, for the learning curve\n\n\
                            Formats: {}; options are in docs/formats.md\n\n\
                            Example: nestling import harbour.nestling train.jsonl --option end=inclusive --split train", format_ids()))]
    Import(Import),
    /// Export annotations, with a receipt of what the format can't hold
    #[command(after_help = format!("Formats: {}\n\nExample: nestling export harbour.nestling --format jsonl --output gold.jsonl", format_ids()))]
    Export(Export),
    /// Convert files to another format, without a project
    #[command(after_help = format!("Formats: {}\n\nExample: nestling convert corpus/ --from brat --to conll --output corpus.conll --option layers=3", format_ids()))]
    Convert(Convert),
    /// Show a project's counts, labels, splits, statuses and models
    #[command(after_help = "Example: nestling info harbour.nestling --json")]
    Info(Info),
    /// Show who did what and when, newest first; the log is never cut
    #[command(after_help = "Example: nestling log harbour.nestling --limit 20")]
    Log(Log),
    /// List the systems that can be trained, and what can be set about each
    #[command(after_help = "Example: nestling architectures")]
    Architectures(Architectures),
    /// List a project's models, or choose the one that suggests
    #[command(after_help = "Kept are the model in use, the one before it, the newest, and the best on dev.\n\n\
                            Example: nestling models harbour.nestling --use 3")]
    Models(Models),
    /// List a project's documents; exclude, include or delete some
    #[command(after_help = "Excluded documents stay in the project, but are not counted, searched, learned from or\n\
                            exported. Only undo in the window brings a deleted document back.\n\nExamples:\n  nestling documents harbour.nestling\n  \
                            nestling documents harbour.nestling --exclude draft notes")]
    Documents(Documents),
    /// Find sentences by consecutive words; the last may be incomplete
    #[command(after_help = "Example: nestling search harbour.nestling \"harbour bo\"")]
    Search(Search),
    /// Copy a project, even while it is open in the window
    #[command(after_help = "Example: nestling copy harbour.nestling harbour-friday.nestling")]
    Copy(Copy),
    /// Check a project: its file, every offset in it, its models
    #[command(
        after_help = "A damaged project is never changed. With --repair, everything that can be read of it goes\n\
                            into NAME.rescued.nestling.\n\nExample: nestling check harbour.nestling --repair"
    )]
    Check(Check),
    /// Train on the complete sentences and make the model current
    #[command(after_help = format!("Keys of --set [defaults]; the options above, with _, and those of `nestling architectures`, too:\n{}\nExample: nestling train harbour.nestling --epochs 10 --set encoder_lr=1e-4", keys::of_trainings().trim_end()))]
    Train(Train),
    /// Store a model's suggestions in a project, or annotate a file
    #[command(after_help = "Examples:\n  nestling predict harbour.nestling\n  \
                            nestling predict --model harbour.models/model-0003 --input texts.jsonl --output predicted.jsonl")]
    Predict(Predict),
    /// Score a model on a split: strict precision, recall and F1
    #[command(after_help = "Breakdowns of --by:\n  \
                            label        each label\n  \
                            matches      exact (any label), partial (overlaps count half) and type match (overlap and label)\n  \
                            length       number of words in a mention\n  \
                            nesting      mentions inside others, around others, both, or neither\n  \
                            buckets      XS to XL by length of mention and sentence, label consistency, mention density\n  \
                            errors       what is wrong: the label, the boundaries, both, or everything\n  \
                            confusion    which labels are mistaken for which, and for none\n  \
                            tasks        finding heads, classifying all spans, and both; predicts a second time\n  \
                            scores       how probable right and wrong predictions are\n  \
                            calibration  whether suggestions are right as often as their scores say\n  \
                            vectors      what the model sees in spans, on a plane\n  \
                            similarity   how alike these vectors are, for overlapping spans and for labels\n\n\
                            Examples:\n  nestling evaluate harbour.nestling --split test --json\n  \
                            nestling evaluate harbour.nestling --split test --by scores,vectors --output figures")]
    Evaluate(Evaluate),
    /// Train and compare architectures over several seeds; keeps no model
    #[command(
        after_help = "Example: nestling compare harbour.nestling --architectures smartspanner,spanner --seeds 1,2,3"
    )]
    Compare(Compare),
    /// Set aside random sentences for an honest learning curve
    #[command(
        after_help = "Do this before the first training. You annotate these sentences without suggestions, and no\n\
                            model learns from them.\n\nExample: nestling aside harbour.nestling --sentences 100"
    )]
    Aside(Aside),
    /// Show how good the models are, and what more sentences would bring
    #[command(after_help = "Example: nestling curve harbour.nestling --json")]
    Curve(Curve),
    /// Show what decisions cost, in seconds and keys
    #[command(
        after_help = "Decisions are accepting, correcting, rejecting and creating, for each label and model.\n\nExample: nestling costs harbour.nestling --json"
    )]
    Costs(Costs),
    /// List complete sentences worth a second look, and why
    #[command(
        after_help = "Reasons: models that had not seen the sentence disagree, the same words are labelled in two\n\
                            ways, or a nesting hardly ever occurs. Nothing is stored.\n\nExample: nestling look-again harbour.nestling --limit 50"
    )]
    LookAgain(LookAgain),
    /// List the sentences to annotate next, with acquisition scores
    #[command(
        after_help = "Strategies: random, order, words, least-confidence, entropy, neh, mention-count, bald; all but the\n\
                            first three also with +diverse, +typical or +stochastic. `default` is what the program uses.\n\
                            Nothing is stored.\n\n\
                            Example: nestling rank harbour.nestling --strategy entropy+diverse --limit 20"
    )]
    Rank(Rank),
    /// Replay a gold corpus as if a person annotated it
    #[command(
        after_help = "Each strategy and seed draws a pool, annotates it step by step as the gold says, trains after each\n\
                            step of the schedule, and scores on test. The result: learning curves, and what suggestions save.\n\
                            The folder of --output keeps them, with a plot (curves.svg).\n\n\
                            Example:\n  nestling simulate --train train.jsonl --dev dev.jsonl --test test.jsonl --strategies random,default \\\n    \
                            --pool 2000 --schedule 20,60,120,250,500,1000 --seeds 1,2,3 --output simulation"
    )]
    Simulate(Simulate),
    /// Make a small, fast encoder from a large one and unlabelled text
    #[command(after_help = format!("Example:\n  nestling distill --teacher minilm --text corpus/ more.txt --output small-minilm --set layers=3\n\n\
                            Keys of --set [and defaults], also for lines `KEY = VALUE` in the file of --config:\n{}", keys::of_distillations()))]
    Distill(Distill),
    /// Let an encoder read the text that is to be annotated
    #[command(after_help = format!("Text is a file of any format that can be imported, a folder or a project; no labels are needed. What is\n\
                            kept to score on is not read: of a folder with train, dev and test only train and dev, and no blind set.\n\n\
                            Example:\n  nestling adapt --text my.nestling more/ --encoder english --output adapted\n  \
                            nestling encoders import adapted --name adapted\n\n\
                            Keys of --set [and defaults]:\n{}", keys::of_adaptations()))]
    Adapt(Adapt),
    /// Train an encoder on the entities of corpora that you have annotated before
    #[command(
        after_help = "A corpus is a file of any format that can be imported, a folder or a project. Only complete sentences\n\
                            are read, and of a folder with train, dev and test only train. Labels stay apart, as CORPUS:LABEL,\n\
                            unless the table of --labels merges them.\n\n\
                            --set takes compact=true (4 and 8 bits per weight, like the built-in encoders) and most keys of\n\
                            `nestling train --help`.\n\n\
                            Example:\n  nestling pretrain --entities old.nestling news=conll/train.txt --encoder english --output with-entities\n  \
                            nestling encoders import with-entities --name with-entities"
    )]
    Pretrain(Pretrain),
    /// List, import, download and remove encoders
    #[command(after_help = "Example: nestling encoders import ./all-MiniLM-L6-v2 --name minilm")]
    Encoders(Encoders),
    /// Measure the program on this machine
    #[command(after_help = "Example: nestling bench import --sentences 100000 --json")]
    Bench(Bench),
}

#[derive(Args, Debug)]
pub(super) struct New {
    /// Project file to create; it must not exist yet
    pub(super) project: PathBuf,
    /// Label names, comma-separated
    #[arg(long, value_delimiter = ',')]
    pub(super) labels: Vec<String>,
    /// Encoder to train from; see `nestling encoders list`
    #[arg(long)]
    pub(super) encoder: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Sample {
    /// Create it here instead of in the program's own folder
    #[arg(long)]
    pub(super) at: Option<PathBuf>,
    /// Create it, but open no window
    #[arg(long)]
    pub(super) no_window: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    // What these mean is said below the options: docs here would make each option of `--help` three lines long.
    Gold,
    Suggestions,
    Text,
}

#[derive(Args, Debug)]
pub(super) struct Import {
    /// Project file.
    pub(super) project: PathBuf,
    /// Files and folders to read, as one import
    #[arg(required = true)]
    pub(super) input: Vec<PathBuf>,
    /// Format id, or `auto`
    #[arg(long, default_value = "auto")]
    pub(super) format: String,
    /// What the mentions in the files are; see below
    #[arg(long = "as", value_enum)]
    pub(super) kind: Option<As>,
    /// Where the sentences go; see below
    #[arg(long, value_enum)]
    pub(super) split: Option<SplitName>,
    /// Option of the format; repeatable
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
    /// Format id; listed below
    #[arg(long)]
    pub(super) format: String,
    /// File to write (replaced if it exists), or a new folder for formats of several files
    #[arg(long)]
    pub(super) output: PathBuf,
    /// Only sentences of this split
    #[arg(long, value_enum)]
    pub(super) split: Option<SplitName>,
    /// Mentions a person vouches for, or suggestions
    #[arg(long, value_enum, default_value = "gold")]
    pub(super) what: What,
    /// Only complete sentences, the default for gold, or all
    #[arg(long, value_enum)]
    pub(super) status: Option<StatusFilter>,
    /// Write nothing if the format can't hold everything.
    #[arg(long)]
    pub(super) strict: bool,
    /// Option of the format; repeatable
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
    /// Format id to read, or `auto`
    #[arg(long, default_value = "auto")]
    pub(super) from: String,
    /// Format id to write.
    #[arg(long)]
    pub(super) to: String,
    /// File to write (replaced if it exists), or a new folder for formats of several files
    #[arg(long)]
    pub(super) output: PathBuf,
    /// Write nothing if the format can't hold everything.
    #[arg(long)]
    pub(super) strict: bool,
    /// Option of either format; repeatable
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
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Architectures {
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Models {
    /// Project file.
    pub(super) project: PathBuf,
    /// Let this model, one that was kept, make the suggestions from now on
    #[arg(long = "use", value_name = "ID")]
    pub(super) use_model: Option<u32>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Documents {
    /// Project file.
    pub(super) project: PathBuf,
    /// Documents to exclude; NAME#2 is the second of a name
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(super) exclude: Vec<String>,
    /// Excluded documents to include again
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(super) include: Vec<String>,
    /// Documents to delete
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(super) delete: Vec<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Search {
    /// Project file.
    pub(super) project: PathBuf,
    /// Words; case, diacritics and punctuation don't matter; in Chinese, Japanese and Thai any substring
    pub(super) query: String,
    /// Maximum number of results
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(super) limit: usize,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Copy {
    /// Project file.
    pub(super) project: PathBuf,
    /// New file; it must not exist yet
    pub(super) to: PathBuf,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args, Debug)]
pub(super) struct Check {
    /// Project file.
    pub(super) project: PathBuf,
    /// If there are problems, save what can be read as a new project beside this one
    #[arg(long)]
    pub(super) repair: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// `jsonl, brat, …`
fn format_ids() -> String {
    formats().iter().map(|format| format.id()).collect::<Vec<_>>().join(", ")
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
    fn a_help_fits_on_a_screen() {
        let mut commands = vec![(Cli::command(), vec!["nestling".to_owned()])];
        while let Some((command, path)) = commands.pop() {
            let asked = path.iter().map(String::as_str).chain(["--help"]);
            let help = Cli::try_parse_from(asked).unwrap_err().to_string();
            assert!(help.contains("Usage:") && help.lines().count() <= 40, "{path:?}:\n{help}");
            assert!(help.lines().all(|line| line.chars().count() <= 115), "{path:?}:\n{help}");
            let below = |command: &clap::Command| {
                let path = path.iter().cloned().chain([command.get_name().to_owned()]).collect();
                (command.clone(), path)
            };
            commands.extend(command.get_subcommands().filter(|c| c.get_name() != "help").map(below));
        }
    }

    #[test]
    fn a_project_alone_is_for_the_window() {
        let cli = Cli::parse_from(["nestling", "a.nestling"]);
        assert_eq!(cli.project, Some(PathBuf::from("a.nestling")));
        assert!(cli.command.is_none());
    }
}
