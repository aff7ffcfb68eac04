//! The program's window: which page is shown, which dialog lies over it, and who carries out what they ask for.
//!
//! # Invariants
//! - [`Window::logic`] takes in what workers and keys bring, [`Window::ui`] paints; neither waits for anything. Files
//!   are read and projects are opened, made and closed by [`Task`](crate::session::Task)s.
//! - Actions are carried out after painting, so that one frame shows one state.

mod actions;
mod closing;
mod feedback;
mod frame;
mod keyboard;
mod keyboard_focus;
mod opening;
mod state;

pub(super) use state::Ending;
pub use state::Window;
