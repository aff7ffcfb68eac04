//! The words that stand for closed sets in the file. They are part of the file format: never changed, only added to.

use crate::annotation::{ModelId, Provenance, Split, Status, Step};

pub(super) fn of_status(status: Status) -> &'static str {
    match status {
        Status::Untouched => "untouched",
        Status::InProgress => "in_progress",
        Status::Complete => "complete",
        Status::Skipped => "skipped",
        Status::Flagged => "flagged",
    }
}

pub(super) fn to_status(name: &str) -> Option<Status> {
    Some(match name {
        "untouched" => Status::Untouched,
        "in_progress" => Status::InProgress,
        "complete" => Status::Complete,
        "skipped" => Status::Skipped,
        "flagged" => Status::Flagged,
        _ => return None,
    })
}

pub(super) fn of_split(split: Split) -> &'static str {
    match split {
        Split::Rest => "rest",
        Split::Dev => "dev",
        Split::Test => "test",
        Split::Blind => "blind",
    }
}

pub(super) fn to_split(name: &str) -> Option<Split> {
    Some(match name {
        "rest" => Split::Rest,
        "dev" => Split::Dev,
        "test" => Split::Test,
        "blind" => Split::Blind,
        _ => return None,
    })
}

/// The word, and the model where there is one.
pub(super) fn of_provenance(provenance: &Provenance) -> (&'static str, Option<u32>) {
    match provenance {
        Provenance::Person => ("person", None),
        Provenance::Import => ("import", None),
        Provenance::Rule => ("rule", None),
        Provenance::Accepted(model) => ("accepted", Some(model.0)),
    }
}

pub(super) fn to_provenance(name: &str, model: Option<u32>) -> Option<Provenance> {
    Some(match (name, model) {
        ("person", None) => Provenance::Person,
        ("import", None) => Provenance::Import,
        ("rule", None) => Provenance::Rule,
        ("accepted", Some(model)) => Provenance::Accepted(ModelId(model)),
        _ => return None,
    })
}

pub(super) fn of_step(step: Step) -> &'static str {
    match step {
        Step::Do => "do",
        Step::Undo => "undo",
        Step::Redo => "redo",
    }
}

pub(super) fn to_step(name: &str) -> Option<Step> {
    Some(match name {
        "do" => Step::Do,
        "undo" => Step::Undo,
        "redo" => Step::Redo,
        _ => return None,
    })
}
