//! The parts of the window. A panel reads the project and the view, paints, and returns [`Act`]s.
//!
//! # Invariants
//! - A panel never changes the project, and of the view only what is being typed (a search, a note) or asked for of it.
//! - No colours or sizes of its own: `theme`. No shortcuts of its own: `commands`.

pub(super) mod annotate;
pub(super) mod banners;
pub(super) mod keys;
pub(super) mod labels;
pub(super) mod review;
pub(super) mod selected;
pub(super) mod sentences;
pub(super) mod start;
pub(super) mod status;
pub(super) mod suggestions;
pub(super) mod top_bar;

use super::acts::Act;
use super::commands::CommandId;
use super::view::View;
use super::widgets::sentence::Typesetter;
use crate::annotation::ModelId;
use crate::session::Project;
use crate::wording::counted;

/// What every panel of an open project gets.
pub(super) struct Stage<'a> {
    pub project: &'a Project,
    pub view: &'a mut View,
    pub typesetter: &'a mut Typesetter,
    pub acts: &'a mut Vec<Act>,
    /// Something was typed into a dialog or a note that the project does not have yet.
    pub holds_typing: bool,
    /// A dialog lies over the page.
    pub dialog_open: bool,
    /// Milliseconds since 1970, for ages.
    pub now_ms: i64,
}

impl Stage<'_> {
    pub(super) fn act(&mut self, act: Act) {
        self.acts.push(act);
    }

    /// Whether a command can be called: what changes a project is no use in one that was opened to be read.
    pub(super) fn can(&self, id: CommandId) -> bool {
        self.can_change() || !id.changes()
    }

    pub(super) fn can_change(&self) -> bool {
        self.project.read_only().is_none()
    }
}

/// "model 3", or where else suggestions came from.
pub(super) fn origin(model: ModelId) -> String {
    // Suggestions that came with a file are of no model.
    if model == ModelId::FROM_FILE { "an imported file".to_owned() } else { format!("model {model}") }
}

/// "12 s", "3 min", "2 h", "5 days".
pub(super) fn age(from_ms: i64, now_ms: i64) -> String {
    let secs = (now_ms - from_ms).max(0) / 1000;
    match secs {
        0..60 => format!("{secs} s"),
        60..3600 => format!("{} min", secs / 60),
        3600..86_400 => format!("{} h", secs / 3600),
        _ => counted((secs / 86_400) as usize, "day", "days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_well() {
        assert_eq!(age(0, 190_000), "3 min");
        assert_eq!(age(0, 5_000_000_000), "57 days");
    }
}
