//! The command line: projects, files and models without a window, scriptable.
//!
//! # Invariants
//! - Exit code 0: done; 1: done, but something was left out or could not be represented; 2: not done, nothing changed.
//! - With `--json` standard output holds exactly one JSON object. Progress goes to standard error.
//! - Everything is done by the session layer; here are only words, numbers and progress bars.
//!
//! Deliberately absent: any ability of its own.

mod adapt;
mod analyses;
mod architectures;
mod args;
mod aside;
mod bench;
mod check;
mod compare;
mod confidence;
mod convert;
mod copy;
mod costs;
mod curve;
mod distill;
mod documents;
mod encoders;
mod error;
mod evaluate;
mod export;
mod import;
mod info;
mod json;
mod log;
mod look_again;
mod made_encoder;
mod models;
mod new;
mod output;
mod predict;
mod pretrain;
mod rank;
mod sample;
mod search;
mod simulate;
mod span_vectors;
mod table;
mod train;
mod window;

pub use error::{CliError, WindowError};
pub use window::Window;

use crate::session::{Home, InstructionSet, start_log};
use crate::wording::printable;
use args::{Cli, Command};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use output::Ending;
use std::process::ExitCode;

/// Runs the program as it was called.
pub fn main(window: Option<Window>) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if let Some(message) = no_such_command(&error, std::env::args().skip(1)) {
                output::say(&message);
                return ExitCode::from(2);
            }
            let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let message = error.to_string();
            if printable(&message) == message {
                // In colour. Where help can't be printed there is nobody to tell.
                let _unprinted = error.print();
            } else {
                output::say(&message); // an argument that is no name, perhaps of a file from strangers
            }
            return ExitCode::from(if asked_for { 0 } else { 2 });
        }
    };
    start_log(&Home::find(), cli.log.as_deref());
    match run(cli, window) {
        Ok(Ending::Whole) => ExitCode::SUCCESS,
        Ok(Ending::WithLosses) => ExitCode::from(1),
        Err(error) => {
            tracing::debug!(%error, "the command is not done");
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}

/// What is said of a first word that is no command and of those behind it: it was taken for a project to open, and clap
/// complains about the others. `None` for any other error.
fn no_such_command(error: &clap::Error, arguments: impl Iterator<Item = String>) -> Option<String> {
    let is_project = |argument: &String| argument == "[PROJECT]";
    let was_taken_for_project = match error.get(ContextKind::PriorArg) {
        Some(ContextValue::String(prior)) => is_project(prior),
        Some(ContextValue::Strings(prior)) => prior.iter().any(is_project),
        _ => false,
    };
    if error.kind() != ErrorKind::ArgumentConflict || !was_taken_for_project {
        return None;
    }
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        if argument == "--log" {
            arguments.next();
        } else if !argument.starts_with('-') {
            return Some(format!(
                "nestling: there is no command {argument:?}; `nestling --help` lists them. To open a project, name it alone."
            ));
        }
    }
    None
}

fn run(cli: Cli, window: Option<Window>) -> Result<Ending, CliError> {
    InstructionSet::from_environment()?;
    match cli.command {
        None => window::open(window, cli.project),
        Some(Command::New(args)) => new::run(&args),
        Some(Command::Sample(args)) => sample::run(&args, window),
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Export(args)) => export::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Info(args)) => info::run(&args),
        Some(Command::Log(args)) => log::run(&args),
        Some(Command::Architectures(args)) => architectures::run(&args),
        Some(Command::Models(args)) => models::run(&args),
        Some(Command::Documents(args)) => documents::run(&args),
        Some(Command::Search(args)) => search::run(&args),
        Some(Command::Copy(args)) => copy::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Train(args)) => train::run(&args),
        Some(Command::Predict(args)) => predict::run(&args),
        Some(Command::Evaluate(args)) => evaluate::run(&args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Aside(args)) => aside::run(&args),
        Some(Command::Curve(args)) => curve::run(&args),
        Some(Command::Costs(args)) => costs::run(&args),
        Some(Command::LookAgain(args)) => look_again::run(&args),
        Some(Command::Rank(args)) => rank::run(&args),
        Some(Command::Simulate(args)) => simulate::run(&args),
        Some(Command::Adapt(args)) => adapt::run(&args),
        Some(Command::Distill(args)) => distill::run(&args),
        Some(Command::Pretrain(args)) => pretrain::run(&args),
        Some(Command::Encoders(args)) => encoders::run(&args),
        Some(Command::Bench(args)) => bench::run(&args, window),
    }
}
