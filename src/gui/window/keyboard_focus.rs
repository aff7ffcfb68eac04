//! What the window remembers of the keyboard from pass to pass.

use crate::gui::commands::KeyboardOwner;

/// What the window remembers of the pass before.
#[derive(Default)]
pub(super) struct KeyboardFocus {
    pub(super) owner: Option<KeyboardOwner>,
    /// Something lay over the page.
    pub(super) was_covered: bool,
    pub(super) had_dialog: bool,
    /// Somebody was led to the controls of the page.
    pub(super) is_at_controls: bool,
}
