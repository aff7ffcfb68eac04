//! Why a sub-command did nothing.

use crate::session::{NnError, SessionError};

/// Why a sub-command did nothing.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Kernels(#[from] NnError),
    #[error("{message}")]
    Usage { message: String },
    #[error("can't write to standard output: {0}")]
    Output(std::io::Error),
    #[error(transparent)]
    Window(WindowError),
    #[error("this build has no window; give a command, see `nestling --help`")]
    NoWindow,
}

/// Why the window could not be opened.
pub type WindowError = Box<dyn std::error::Error>;
