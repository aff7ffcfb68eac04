//! The keys of `--set`, as `--help` lists them.

use crate::session::{AdaptConfig, Config, DistillConfig};

/// Settings that `nestling train` has options for, too.
const OPTIONS_OF_TRAIN: [&str; 7] = ["architecture", "effort", "epochs", "batch_size", "seed", "limit", "threads"];

/// Of all trainings, without those that have an option of their own.
pub(super) fn of_trainings() -> String {
    let all = Config::parameters();
    let others = all.iter().filter(|parameter| !OPTIONS_OF_TRAIN.contains(&parameter.key));
    others.map(|other| line(other.key, other.help, &other.default)).collect()
}

/// Of adaptations.
pub(super) fn of_adaptations() -> String {
    AdaptConfig::parameters().iter().map(|parameter| line(parameter.key, parameter.help, &parameter.default)).collect()
}

/// Of distillations.
pub(super) fn of_distillations() -> String {
    DistillConfig::parameters()
        .iter()
        .map(|parameter| line(parameter.key, parameter.help, &parameter.default))
        .collect()
}

fn line(key: &str, help: &str, default: &str) -> String {
    format!("  {key:<13} {help} [{default}]\n")
}
