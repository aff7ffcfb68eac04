//! The list of all architectures.

use super::architecture::{Architecture, Task};
use super::error::ModelError;
use super::{bundling, dspert, locate_label, seqlab, smartspanner, span_typing, spanner};

/// All architectures, the default one first.
pub fn architectures() -> &'static [&'static dyn Architecture] {
    &[
        &smartspanner::SmartSpanNer,
        &spanner::SpanNer,
        &seqlab::SeqLab,
        &bundling::Bundling,
        &dspert::DSpErt,
        &locate_label::LocateLabel,
        &span_typing::SpanTyping,
    ]
}

/// Those that find mentions: the others make no suggestions and have no F1.
pub fn finders() -> impl Iterator<Item = &'static dyn Architecture> {
    architectures().iter().copied().filter(|architecture| architecture.task() != Task::TypesOfGivenSpans)
}

/// Whether an architecture finds no mentions and says which labels given words have. `false` where there is none of that id.
pub fn labels_given(id: &str) -> bool {
    architecture(id).is_ok_and(|architecture| architecture.task() == Task::TypesOfGivenSpans)
}

/// # Errors
/// When there is none of that id.
pub fn architecture(id: &str) -> Result<&'static dyn Architecture, ModelError> {
    architectures().iter().copied().find(|a| a.id() == id).ok_or_else(|| {
        let there: Vec<&str> = architectures().iter().map(|a| a.id()).collect();
        ModelError::NoSuchArchitecture { id: id.to_owned(), there: there.join(", ") }
    })
}
