//! The window: pages, dialogs and the sentence that is annotated in them.
//!
//! # How it works
//! Each frame [`Window::logic`] takes in what workers and keys bring, then [`Window::ui`] paints. Panels and dialogs
//! read the [`Project`](crate::session::Project) and the view and ask for [`actions`]; the window carries them out
//! after painting, by session commands. Those that are about the open project are in [`workspace`]. Clicks and keys
//! that come in one frame have a pass each ([`input_passes`]), so that all code here may take it that one of them came
//! at a time.
//!
//! # Invariants
//! - No reading or writing of files, no waiting and no tensors on the window's thread: a `session::Task` does it.
//! - Panels never change data.
//! - Colours and sizes are in [`theme`], shortcuts in [`commands`], and nowhere else.
//!
//! Deliberately absent: abilities of its own. All that changes a project is a session command; the command line
//! uses the same session.

mod actions;
mod app;
mod bench;
pub mod commands;
mod dialogs;
mod fallback;
mod files;
mod finder;
mod highlighter;
mod input_passes;
mod matching;
mod panels;
pub mod theme;
mod typing;
pub mod widgets;
mod window;
mod workspace;

pub use app::{GuiError, run};
pub use bench::bench;
pub use files::{FilePicker, FileRequest, SystemPicker};
pub use window::Window;
pub use workspace::{View, Workspace};
