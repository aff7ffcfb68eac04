//! The parts of the window. A panel reads the project and the view, paints, and returns `UiAction`s.
//!
//! # Invariants
//! - A panel never changes the project, and of the view only what is being typed (a search, a note) or asked for of it.
//! - No colours or sizes of its own: `theme`. No shortcuts of its own: `commands`.

pub(super) mod annotate;
pub(super) mod banners;
mod context;
pub(super) mod keys;
pub(super) mod labels;
pub(super) mod review;
pub(super) mod selected;
pub(super) mod sentences;
pub(super) mod start;
pub(super) mod status;
pub(super) mod suggestions;
pub(super) mod top_bar;
mod wording;

pub(super) use context::PanelContext;
pub(super) use wording::{age, next_training, origin};
