//! What every dialog gets.

use super::recent::Recent;
use crate::gui::acts::Act;
use crate::gui::files::Services;
use crate::gui::widgets::sentence::Typesetter;
use crate::session::{Encoders, Project};

/// What a dialog may read.
pub(in crate::gui) struct Backstage<'a> {
    pub project: Option<&'a Project>,
    pub services: &'a Services,
    pub encoders: &'a Encoders,
    pub acts: &'a mut Vec<Act>,
    pub typesetter: &'a mut Typesetter,
    /// What was chosen in the palette.
    pub recent: &'a mut Recent,
}
