//! What every dialog gets.

use super::recent::RecentChoices;
use crate::gui::actions::UiAction;
use crate::gui::files::Services;
use crate::gui::widgets::sentence::Typesetter;
use crate::gui::workspace::Comparing;
use crate::session::{Encoders, Project};

/// What a dialog may read.
pub(in crate::gui) struct DialogContext<'a> {
    pub project: Option<&'a Project>,
    /// Of the open project.
    pub comparing: Option<&'a Comparing>,
    pub services: &'a Services,
    pub encoders: &'a Encoders,
    pub actions: &'a mut Vec<UiAction>,
    pub typesetter: &'a mut Typesetter,
    /// What was chosen in the palette.
    pub recent: &'a mut RecentChoices,
}
