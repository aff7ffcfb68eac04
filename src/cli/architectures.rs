//! `nestling architectures`

use super::CliError;
use super::args::Architectures;
use super::output::{Ending, answer};
use crate::model::{Architecture, OptionSpec, architectures};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn run(args: &Architectures) -> Result<Ending, CliError> {
    let json = json!({ "architectures": architectures().iter().map(|a| to_json(*a)).collect::<Vec<_>>() });
    answer(args.common, &json, &to_text())?;
    Ok(Ending::Whole)
}

fn to_json(architecture: &dyn Architecture) -> Value {
    let option = |spec: &OptionSpec| json!({ "key": spec.name, "default": spec.default_text(), "takes": spec.expected(), "help": spec.help });
    json!({
        "id": architecture.id(),
        "name": architecture.name(),
        "summary": architecture.summary(),
        "options": architecture.options().iter().map(option).collect::<Vec<_>>(),
    })
}

/// A paragraph for each architecture, a line for each option.
fn to_text() -> String {
    let mut text = String::new();
    for architecture in architectures() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} ({})\n  {}", architecture.id(), architecture.name(), architecture.summary());
        for spec in architecture.options() {
            let _ = writeln!(text, "  {:<17} {} [{}]", spec.name, spec.help, spec.default_text());
        }
        text.push('\n');
    }
    text + "Train one with `nestling train PROJECT --architecture ID --set KEY=VALUE`; docs/systems.md says what each does"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_line() {
        let text = to_text();
        for architecture in architectures() {
            assert!(text.contains(&format!("{} (", architecture.id())), "{text}");
            let has = |spec: &OptionSpec| text.lines().any(|line| line.starts_with(&format!("  {} ", spec.name)));
            assert!(architecture.options().iter().all(has), "{text}");
        }
    }
}
