//! What several sub-commands take, and how values are spelled.

use crate::session::{Config, SessionError};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// What every sub-command takes.
#[derive(Args, Debug, Clone, Copy)]
pub(in crate::cli) struct Common {
    /// Print exactly one JSON object to standard output.
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Show no progress on standard error.
    #[arg(long)]
    pub(in crate::cli) quiet: bool,
}

/// What every sub-command that trains takes.
#[derive(Args, Debug)]
pub(in crate::cli) struct Tuning {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) threads: Option<usize>,
    /// Hyper-parameter; repeatable; `nestling train --help` lists them
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(in crate::cli) set: Vec<(String, String)>,
}

impl Tuning {
    /// The settings given by a sub-command's own flags, then those of `--set`, which take precedence.
    pub(in crate::cli) fn with<const N: usize>(&self, named: [(&str, Option<String>); N]) -> Vec<(String, String)> {
        let threads = ("threads", self.threads.map(|n| n.to_string()));
        let named = named.into_iter().chain([threads]);
        let named = named.filter_map(|(key, value)| Some((key.to_owned(), value?)));
        named.chain(self.set.iter().cloned()).collect()
    }

    /// Sets [`Tuning::with`] in a configuration.
    pub(in crate::cli) fn apply<const N: usize>(
        &self,
        named: [(&str, Option<String>); N],
        config: &mut Config,
    ) -> Result<(), SessionError> {
        self.with(named).iter().try_for_each(|(key, value)| Ok(config.set(key, value)?))
    }
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum SplitName {
    // Complete sentences of the rest.
    Train,
    // To choose the best epoch and model.
    Dev,
    // To score on.
    Test,
    // Set aside from the start, for the learning curve.
    Blind,
    // Sentences of the rest that are not yet complete.
    Pool,
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err(format!("expected KEY=VALUE, got {text:?}")),
    }
}

/// A path, or `NAME=PATH` for what is to be called NAME.
pub(in crate::cli) fn named_path(text: &str) -> Result<(Option<String>, PathBuf), String> {
    match text.split_once('=').filter(|_| !Path::new(text).exists()) {
        None => Ok((None, PathBuf::from(text))),
        Some((name, path)) if !name.trim().is_empty() && !path.is_empty() => {
            Ok((Some(name.trim().to_owned()), PathBuf::from(path)))
        }
        Some(_) => Err(format!("expected PATH or NAME=PATH, got {text:?}")),
    }
}

/// Two numbers counted from 1, as 300-400.
pub(super) fn range(text: &str) -> Result<(usize, usize), String> {
    let range = text.split_once('-').and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
    range
        .filter(|(from, to)| (1..=*to).contains(from))
        .ok_or_else(|| format!("expected FROM-TO, as 300-400, got {text:?}"))
}

pub(super) fn probability(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|p| (0.0..=1.0).contains(p));
    number.ok_or_else(|| format!("expected a number from 0 to 1, got {text:?}"))
}
