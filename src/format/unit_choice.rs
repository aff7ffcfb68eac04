//! The choice of what a line of a text is, where the options leave it open.
//!
//! # Invariants
//! - All files of one import are read alike: what a line is is chosen once, from all of them ([`choose_unit`]).

use super::contract::Format;
use super::imported::Sink;
use super::input::Input;
use super::options::Options;
use super::segments::{LineEvidence, UNIT};

/// The options for reading one file, with what a line is chosen from its start where they leave that open; the sink
/// hears what was found.
pub(super) fn with_unit(format: &dyn Format, input: &Input, options: &Options, sink: &mut dyn Sink) -> Options {
    if options.value(&UNIT) != UNIT.default {
        return options.clone();
    }
    let mut evidence = LineEvidence::default();
    format.look_at_lines(input, &mut evidence);
    if evidence.matters() {
        sink.note(format!("{}: {}", evidence.note(), input.file_name()));
    }
    options.with(&UNIT, evidence.value())
}

/// Chooses what a line is from all files of an import: the option to read them with, and what to tell people. `None`
/// where the options say it already, or no file leaves it open.
pub fn choose_unit<'f>(
    inputs: impl Iterator<Item = (&'f dyn Format, Input)>,
    given: &[(String, String)],
) -> Option<((String, String), String)> {
    if given.iter().any(|(key, value)| key == UNIT.key && value != UNIT.default) {
        return None;
    }
    let mut evidence = LineEvidence::default();
    for (format, input) in inputs {
        format.look_at_lines(&input, &mut evidence);
    }
    evidence.matters().then(|| ((UNIT.key.to_owned(), evidence.value().to_owned()), evidence.note()))
}
