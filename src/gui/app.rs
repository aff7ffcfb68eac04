//! Opens the window, and says why it could not be opened or what could not be saved.

use super::fallback;
use super::files::SystemPicker;
use super::window::{Ending, Window};
use crate::session::{Home, SessionError, keep_unsaved, report_faults};
use eframe::egui;
use std::cell::Cell;
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
    /// All is saved.
    #[error("the window is closed: {0}")]
    SavedElsewhere(SessionError),
}

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
        Ok(Box::new(Window::new(&cc.egui_ctx, home, Arc::new(SystemPicker), start).report_end_to(for_window)))
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
            Err(match error {
                SessionError::FileNews(_) => GuiError::SavedElsewhere(error),
                error => GuiError::NotSaved(error),
            })
        }
    }
}
