//! The keys of `--set`, as `--help` lists them.

use crate::model::architectures;
use crate::session::{Config, DistillConfig};

/// Settings that `nestling train` has options for, too.
const OPTIONS_OF_TRAIN: [&str; 7] = ["architecture", "effort", "epochs", "batch_size", "seed", "limit", "threads"];
/// Columns of a line.
const WIDTH: usize = 110;

/// Of trainings: those of all without an option of their own, then a paragraph for each architecture with what it has
/// besides. All together fits a screen.
pub(super) fn of_trainings() -> String {
    let all = Config::parameters();
    let others = all.iter().filter(|parameter| !OPTIONS_OF_TRAIN.contains(&parameter.key));
    let others = others.map(|other| entry(other.key, Some(other.help), &other.default)).collect();
    let mut text = paragraph("all", others);
    let mut explained = Vec::new();
    for architecture in architectures() {
        let options = architecture.options().iter().map(|spec| {
            // What several have is explained once.
            let is_new = !explained.contains(&spec.name);
            explained.push(spec.name);
            entry(spec.name, is_new.then_some(spec.help), &spec.default_text())
        });
        text += &paragraph(architecture.id(), options.collect());
    }
    text
}

/// Of distillations, a line each.
pub(super) fn of_distillations() -> String {
    let line = |key, help, default| format!("  {key:<13} {help} [{default}]\n");
    DistillConfig::parameters()
        .iter()
        .map(|parameter| line(parameter.key, parameter.help, &parameter.default))
        .collect()
}

fn entry(key: &str, help: Option<&str>, default: &str) -> String {
    let help = help.map_or_else(String::new, |help| format!(": {help}"));
    format!("{key}{help} [{default}]")
}

/// A heading in the first column, and entries in lines beside it.
fn paragraph(heading: &str, entries: Vec<String>) -> String {
    let indent = |text: &str| format!("  {text:<14}");
    let (mut text, mut line) = (String::new(), indent(heading));
    for word in entries.join("; ").split(' ') {
        if line.len() + 1 + word.len() > WIDTH {
            text += &format!("{}\n", line.trim_end());
            line = indent("");
        }
        line += &format!("{word} ");
    }
    text + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed_and_all_of_them_fit_a_screen() {
        let text = of_trainings();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= WIDTH) && lines.len() <= 40, "{text}");
        let has = |key: &str| text.split_whitespace().any(|word| word.trim_end_matches(':') == key);
        assert!(Config::keys().iter().all(|key| has(key) || OPTIONS_OF_TRAIN.contains(key)), "{text}");
        let ids: Vec<&str> = architectures().iter().map(|architecture| architecture.id()).collect();
        assert!(ids.into_iter().all(|id| lines.iter().any(|line| line.starts_with(&format!("  {id} ")))), "{text}");
    }
}
