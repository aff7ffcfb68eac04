//! What panels ask for. A panel never does it itself: the window collects actions while it paints and carries them out
//! afterwards.

use super::commands::{CommandId, Effect};
use super::widgets::sentence::SentenceEvent;
use crate::annotation::{LabelId, SentenceId};
use crate::experiments::CompareRequest;
use crate::session::{Command, ImportHow, Incoming, Watch};
use std::path::PathBuf;

pub(super) enum UiAction {
    /// Something of the command table.
    Command(CommandId),
    /// A change of the project.
    Change(Command),
    /// What the pointer did to the sentence.
    Sentence(SentenceEvent),
    GoTo(SentenceId),
    /// The note that is being written is to be stored, because nothing was typed for a moment or because it has ended.
    KeepNote {
        has_ended: bool,
    },
    /// A label was chosen: for the selection, or for the picked mention.
    UseLabel(LabelId),
    EditLabel(LabelId),
    OpenSample,
    /// Reads again what lies on the disk beside projects: encoders, recent projects.
    RefreshListing,
    Create {
        path: PathBuf,
        labels: Vec<String>,
        /// `None`: by the language of the texts.
        encoder: Option<String>,
        /// Files that were dropped while there was no project to import them into.
        then_import: Vec<PathBuf>,
    },
    Open(PathBuf),
    /// Reads what can be read of a damaged project into a new one.
    Rescue(PathBuf),
    /// Opens the import dialog on files.
    ImportFrom(Vec<PathBuf>),
    /// Takes in what the import dialog has read, in its view.
    Import {
        incoming: Box<Incoming>,
        how: ImportHow,
        watch: Watch,
    },
    /// Trains and scores models beside the work.
    StartComparison(Box<CompareRequest>),
    /// Ends that; finished models stay.
    CancelComparison,
    CopyText(String),
    /// Says something in passing.
    Notice(String),
    /// What happened to the project's files was read.
    FileNewsRead,
    CloseDialog,
}

impl UiAction {
    pub(super) fn effect(&self) -> Effect {
        match self {
            UiAction::Command(id) => id.entry().effect,
            UiAction::Sentence(SentenceEvent::Accept(_))
            | UiAction::Change(_)
            | UiAction::KeepNote { .. }
            | UiAction::UseLabel(_)
            | UiAction::EditLabel(_)
            | UiAction::ImportFrom(_)
            | UiAction::Import { .. }
            | UiAction::StartComparison(_) => Effect::Changes,
            UiAction::Sentence(
                SentenceEvent::Select { .. } | SentenceEvent::Extend(_) | SentenceEvent::Pick(_) | SentenceEvent::Clear,
            )
            | UiAction::GoTo(_)
            | UiAction::OpenSample
            | UiAction::RefreshListing
            | UiAction::Create { .. }
            | UiAction::Open(_)
            | UiAction::Rescue(_)
            | UiAction::Notice(_)
            | UiAction::CloseDialog => Effect::Reads,
            UiAction::CopyText(_) | UiAction::FileNewsRead | UiAction::CancelComparison => Effect::Harmless,
        }
    }
}
