//! The program's window: which page is shown, which dialog lies over it, and who carries out what they ask for.
//!
//! # Invariants
//! - [`Window::logic`] takes in what workers and keys bring, [`Window::ui`] paints; neither waits for anything. Files
//!   are read and projects are opened, made and closed by [`Task`](crate::session::Task)s.
//! - Acts are carried out after painting, so that one frame shows one state.

mod acting;
mod closing;
mod frame;
mod keyboard;
mod keyboard_state;
mod opening;
mod state;
mod telling;

pub(super) use state::Ending;
pub use state::Window;
