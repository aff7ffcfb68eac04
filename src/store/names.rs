//! The words that stand for closed sets in the file, but for status and split, which name themselves. They are part of
//! the file format: never changed, only added to.

use crate::annotation::{ModelId, Provenance, Step};

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
