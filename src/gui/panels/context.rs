//! What every panel of an open project gets.

use crate::gui::actions::UiAction;
use crate::gui::commands::CommandId;
use crate::gui::widgets::sentence::Typesetter;
use crate::gui::workspace::{Comparing, View};
use crate::session::Project;

/// What every panel of an open project gets.
pub(in crate::gui) struct PanelContext<'a> {
    pub project: &'a Project,
    pub comparing: &'a Comparing,
    pub view: &'a mut View,
    pub typesetter: &'a mut Typesetter,
    pub actions: &'a mut Vec<UiAction>,
    /// Something was typed into a dialog or a note that the project does not have yet.
    pub holds_typing: bool,
    /// A dialog lies over the page.
    pub dialog_open: bool,
    /// Milliseconds since 1970, for ages.
    pub now_ms: i64,
}

impl PanelContext<'_> {
    pub(in crate::gui) fn request(&mut self, action: UiAction) {
        self.actions.push(action);
    }

    /// Whether a command can be called: what changes a project is no use in one that was opened to be read.
    pub(in crate::gui) fn can(&self, id: CommandId) -> bool {
        self.can_change() || !id.changes()
    }

    pub(in crate::gui) fn can_change(&self) -> bool {
        self.project.read_only().is_none()
    }
}
