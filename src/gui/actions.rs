//! What panels ask for. A panel never does it itself: the window collects actions while it paints and carries them out
//! afterwards.

use super::commands::CommandId;
use super::widgets::sentence::SentenceEvent;
use crate::annotation::{LabelId, SentenceId};
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
        /// `None`: the one that is always there.
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
    CopyText(String),
    /// Says something in passing.
    Notice(String),
    /// What happened to the project's files was read.
    FileNewsRead,
    CloseDialog,
}

impl UiAction {
    /// Whether it would change the project, which can't be done in one that was opened to be read.
    pub(super) fn changes(&self) -> bool {
        match self {
            UiAction::Command(id) => id.changes(),
            UiAction::Change(_)
            | UiAction::UseLabel(_)
            | UiAction::EditLabel(_)
            | UiAction::ImportFrom(_)
            | UiAction::Import { .. } => true,
            UiAction::KeepNote { .. } => true,
            UiAction::Sentence(event) => matches!(event, SentenceEvent::Accept(_)),
            UiAction::GoTo(_)
            | UiAction::OpenSample
            | UiAction::RefreshListing
            | UiAction::Create { .. }
            | UiAction::Open(_)
            | UiAction::Rescue(_)
            | UiAction::CopyText(_)
            | UiAction::Notice(_)
            | UiAction::FileNewsRead
            | UiAction::CloseDialog => false,
        }
    }

    /// Whether it may be done while a file or an import is written: it neither changes, closes nor covers anything.
    pub(super) fn is_harmless(&self) -> bool {
        use CommandId::{ToggleTheme, ZoomIn, ZoomOut, ZoomReset};
        matches!(
            self,
            UiAction::CopyText(_)
                | UiAction::FileNewsRead
                | UiAction::Command(ToggleTheme | ZoomIn | ZoomOut | ZoomReset)
        )
    }
}
