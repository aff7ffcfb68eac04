//! Opening the window from the command line.

use super::error::{CliError, WindowError};
use super::output::Ending;
use crate::experiments::{UiBench, UiBenchRequest};
use crate::session::SessionError;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// The window, if the program has one. It is handed in, because it and the command line are of one layer and don't know
/// each other.
#[derive(Clone, Copy)]
pub struct Window {
    /// Opens it, on a project.
    pub open: fn(Option<PathBuf>) -> Result<(), WindowError>,
    /// Measures it.
    pub bench: fn(&UiBenchRequest, &AtomicBool) -> Result<UiBench, SessionError>,
}

/// # Errors
/// A program without a window, and one that can't be opened.
pub(super) fn open(window: Option<Window>, project: Option<PathBuf>) -> Result<Ending, CliError> {
    (window.ok_or(CliError::NoWindow)?.open)(project).map_err(CliError::Window)?;
    Ok(Ending::Whole)
}
