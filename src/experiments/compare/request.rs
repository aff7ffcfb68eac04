//! What to compare.

use crate::model::{Architecture, architecture};
use crate::session::{Part, SessionError};
use crate::train::{Config, TrainError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// An architecture with the settings that are its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variant {
    pub architecture: String,
    /// Hyper-parameters as they are typed, in order.
    pub settings: Vec<(String, String)>,
}

impl Variant {
    pub fn new(architecture: impl Into<String>) -> Self {
        Self { architecture: architecture.into(), settings: Vec::new() }
    }

    /// A variant for each architecture and each combination of the values that are tried: a sweep over `w` with three
    /// values makes three of one architecture, and over `sp` with two as well makes six. Architectures that don't have an
    /// option are not varied by it, if others have it.
    pub fn sweep(architectures: &[String], tried: &[(String, Vec<String>)]) -> Vec<Self> {
        let mut variants: Vec<Self> = architectures.iter().map(Self::new).collect();
        for (key, values) in tried {
            let with = |variant: &Self, value: &String| {
                let mut variant = variant.clone();
                variant.settings.push((key.clone(), value.clone()));
                variant
            };
            let is_option_of_any = architectures.iter().any(|id| has(id, key));
            let varied = |variant: Self| match has(&variant.architecture, key) || !is_option_of_any {
                true => values.iter().map(|value| with(&variant, value)).collect(),
                false => vec![variant],
            };
            variants = variants.into_iter().flat_map(varied).collect();
        }
        variants
    }

    /// What is trained.
    ///
    /// # Errors
    /// A setting that the architecture does not have, a value that it does not take, an architecture that finds no mentions.
    fn config(&self, common: &Config, seed: u64) -> Result<Config, TrainError> {
        let mut config = Config { seed, ..common.clone() };
        for (key, value) in &self.settings {
            config.set(key, value)?;
        }
        config.check()?;
        config.check_finds()?;
        Ok(config)
    }
}

/// Whether an architecture has an option, or all trainings have it.
fn has(id: &str, key: &str) -> bool {
    let is_option = |a: &dyn Architecture| a.options().iter().any(|spec| spec.name == key);
    Config::parameters().iter().any(|parameter| parameter.key == key) || architecture(id).is_ok_and(is_option)
}

/// As people read it: `smartspanner`, `smartspanner w=0.5 sp=0.1`.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.architecture)?;
        self.settings.iter().try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

/// What to compare.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// One that is named twice is trained once, and so with the seeds.
    pub variants: Vec<Variant>,
    pub seeds: Vec<u64>,
    /// Of all trainings, except for what a variant says and the seed.
    pub config: Config,
    /// What models are scored on; `None`: test, or dev where no test sentence is complete.
    pub part: Option<Part>,
    /// Where runs are kept; `None` for nowhere.
    pub output: Option<PathBuf>,
    /// Continue with what is kept there.
    pub resume: bool,
}

impl CompareRequest {
    /// Every variant with every seed, each once; seeds in ascending order, and of a seed the variants in the order in which
    /// they were named.
    ///
    /// # Errors
    /// An architecture or a setting that there is not, a value that it does not take.
    pub(super) fn runs(&self) -> Result<Vec<(&Variant, Config)>, SessionError> {
        let mut seeds = self.seeds.clone();
        seeds.sort_unstable();
        seeds.dedup();
        let mut variants: Vec<&Variant> = Vec::new();
        for variant in &self.variants {
            if !variants.contains(&variant) {
                variants.push(variant);
            }
        }
        let ids: Vec<&str> = variants.iter().map(|variant| variant.architecture.as_str()).collect();
        let common = self.config.for_each(&ids)?;
        let turns = seeds.iter().flat_map(|seed| variants.iter().zip(&common).map(move |turn| (turn, *seed)));
        turns.map(|((variant, common), seed)| Ok((*variant, variant.config(common, seed)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_tries_every_combination() {
        let tried = [("w", vec!["0.1", "0.2"]), ("sp", vec!["0", "0.05", "1"])];
        let tried = tried.map(|(key, values)| (key.to_owned(), values.into_iter().map(str::to_owned).collect()));
        let variants = Variant::sweep(&["smartspanner".to_owned(), "spanner".to_owned()], &tried);
        let names: Vec<String> = variants.iter().map(Variant::to_string).collect();
        assert_eq!(names.len(), 7, "spanner has no such options");
        assert_eq!(names[0..2], ["smartspanner w=0.1 sp=0", "smartspanner w=0.1 sp=0.05"]);
        assert_eq!(names[5..], ["smartspanner w=0.2 sp=1", "spanner"]);
        let seeds = vec![("batch_size".to_owned(), vec!["8".to_owned(), "16".to_owned()])];
        assert_eq!(Variant::sweep(&["smartspanner".to_owned(), "spanner".to_owned()], &seeds).len(), 4);
        assert_eq!(Variant::sweep(&["spanner".to_owned()], &[]), [Variant::new("spanner")]);
    }

    #[test]
    fn variants_take_turns_and_each_runs_once_with_a_seed() {
        let variants = vec![Variant::new("smartspanner"), Variant::new("spanner"), Variant::new("smartspanner")];
        let (config, seeds) = (Config::default(), vec![2, 1, 2]);
        let request = CompareRequest { variants, seeds, config, part: None, output: None, resume: false };
        let runs = request.runs().unwrap();
        let runs: Vec<_> = runs.iter().map(|(variant, config)| (variant.to_string(), config.seed)).collect();
        let turn = |name: &str, seed| (name.to_owned(), seed);
        assert_eq!(runs, [turn("smartspanner", 1), turn("spanner", 1), turn("smartspanner", 2), turn("spanner", 2)]);
        let request = CompareRequest { variants: vec![Variant::new("span_typing")], ..request };
        let refused = request.runs().unwrap_err().to_string();
        assert!(refused.contains("finds no mentions"), "{refused}");
    }
}
