//! What panels ask for. A panel never does it itself: the window collects acts while it paints and carries them out
//! afterwards.

use super::commands::CommandId;
use super::widgets::sentence::SentenceEvent;
use crate::annotation::{LabelId, SentenceId};
use crate::session::{Command, ImportHow, Incoming, Order};
use std::path::PathBuf;

pub(super) enum Act {
    /// Something of the command table.
    Command(CommandId),
    /// A change of the project.
    Change(Command),
    /// What the pointer did to the sentence.
    Sentence(SentenceEvent),
    GoTo(SentenceId),
    /// A label was chosen: for the selection, or for the picked mention.
    UseLabel(LabelId),
    Order(Order),
    EditLabel(LabelId),
    OpenSample,
    Create {
        path: PathBuf,
        labels: Vec<String>,
        encoder: String,
    },
    Open(PathBuf),
    /// Opens the import dialog on files.
    ImportFrom(Vec<PathBuf>),
    /// Takes in what the import dialog has read.
    Import {
        incoming: Box<Incoming>,
        how: ImportHow,
    },
    CopyText(String),
    CloseDialog,
}
