//! The window: pages, dialogs and the sentence that is annotated in them.
//!
//! # How it works
//! Each frame [`Window::logic`] takes in what workers and keys bring, then [`Window::ui`] paints. Panels and dialogs
//! read the [`Project`](crate::session::Project) and the view and ask for [`acts`]; the window carries them out after
//! painting, by session commands. Clicks and keys that come in one frame have a pass each ([`turns`]), so that all code
//! here may take it that one of them came at a time.
//!
//! # Invariants
//! - No reading or writing of files, no waiting and no tensors on the window's thread: a `session::Task` does it.
//! - Panels never change data.
//! - Colours and sizes are in [`theme`], shortcuts in [`commands`], and nowhere else.
//!
//! Deliberately absent: abilities of its own. All that changes a project is a session command; the command line
//! uses the same session.

mod acts;
mod bench;
pub mod commands;
mod desk;
mod dialogs;
mod fallback;
mod files;
mod finder;
mod labelling;
mod marker;
mod matching;
mod note;
mod panels;
mod review;
mod statuses;
pub mod theme;
mod turns;
mod typing;
mod view;
pub mod widgets;
mod window;

pub use bench::bench;
pub use desk::Desk;
pub use files::{FilePicker, SystemPicker, Wish};
pub use view::View;
pub use window::Window;

use crate::session::{Home, SessionError, keep_unsaved, report_faults};
use eframe::egui;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum GuiError {
    #[error(
        "the window could not be opened; on Linux it needs a display (X11 or Wayland) and OpenGL (libgl1, libxkbcommon-x11); \
         `nestling --help` shows what works without a window"
    )]
    NoWindow(#[from] eframe::Error),
    /// There was no window any more to tell it.
    #[error("the window is closed, but not all is saved: {0}")]
    NotSaved(SessionError),
}

/// What could not be saved when the window was closed.
type Ending = Rc<RefCell<Option<SessionError>>>;

/// Opens the window and runs until it is closed. Where Wayland is named and gives no window, it is opened on X11.
///
/// # Errors
/// No display, or no OpenGL; changes that could not be saved when the window was closed.
pub fn run(start: Option<PathBuf>) -> Result<(), GuiError> {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Nestling")
        .with_app_id("nestling")
        .with_inner_size([1280.0, 860.0])
        .with_min_inner_size([880.0, 560.0]);
    let home = Home::find();
    report_faults(&home);
    let options = eframe::NativeOptions {
        viewport,
        centered: true,
        persistence_path: Some(home.dir().join("window.ron")),
        ..eframe::NativeOptions::default()
    };
    let (ending, for_ending) = (Ending::default(), home.clone());
    let (for_window, is_open) = (ending.clone(), Rc::new(Cell::new(false)));
    let opened = is_open.clone();
    let create = move |cc: &eframe::CreationContext<'_>| -> Result<Box<dyn eframe::App>, Box<dyn std::error::Error + Send + Sync>> {
        opened.set(true);
        Ok(Box::new(Window::new(&cc.egui_ctx, home, Arc::new(SystemPicker), start).tell_end(for_window)))
    };
    if let Err(error) = eframe::run_native("nestling", options, Box::new(create)) {
        if !is_open.get() {
            fallback::start_on_x11();
        }
        return Err(error.into());
    }
    match ending.take() {
        None => Ok(()),
        Some(error) => {
            // Standard error may go nowhere: the next start tells, too.
            keep_unsaved(&for_ending, &error);
            Err(GuiError::NotSaved(error))
        }
    }
}
