//! What a measurement of the window is about: which project, and what came of it. The window measures itself.

use super::{Percentiles, make, not_stopped, read_made};
use crate::session::{Command, Driver, Home, ImportAs, ImportHow, NewProject, SessionError, Setting, temporary_folder};
use crate::store::Store;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// What to measure the window on.
#[derive(Clone, Debug)]
pub struct UiBenchRequest {
    pub on: UiBenchProject,
    /// Frames to measure, at sixty a second.
    pub frames: usize,
    /// Encoder of the training; `None`: the project's.
    pub encoder: Option<String>,
    /// While a training goes on.
    pub while_training: bool,
}

#[derive(Clone, Debug)]
pub enum UiBenchProject {
    /// A copy of this one. It is not touched.
    Copy(PathBuf),
    /// A made-up one of so many sentences: one half complete, the other with suggestions.
    MadeUp(usize),
}

/// How quick the window is.
#[derive(Clone, Debug, PartialEq)]
pub struct UiBench {
    pub words: usize,
    /// Mentions and suggestions.
    pub spans: usize,
    pub sentences: usize,
    pub frames: usize,
    /// From what has happened to triangles for the graphics card.
    pub frame_ms: Percentiles,
    /// Of the frames with a key, which show what it did.
    pub key_to_frame_ms: Percentiles,
    /// From the project file to the first frame that shows it.
    pub open_secs: f64,
    /// What the process holds at the end, where the operating system says.
    pub memory_mb: Option<f64>,
    /// Of the training beside it.
    pub training_steps_per_sec: Option<f64>,
    /// Milliseconds from a command that is about much of the project to the end of the frame that shows it.
    pub command_ms: Vec<(&'static str, f64)>,
}

/// Makes the project, in a folder that goes with the value, with a learner that starts nothing by itself.
///
/// # Errors
/// A project that can't be read, a temporary folder that can't be written, a stop.
pub fn prepare_ui_bench(
    request: &UiBenchRequest,
    home: &Home,
    cancel: &AtomicBool,
) -> Result<(TempDir, PathBuf), SessionError> {
    let folder = temporary_folder()?;
    let path = folder.path().join("bench.nestling");
    let mut project = match &request.on {
        UiBenchProject::Copy(project) => {
            Store::open_to_read(project)?.save_copy(&path)?;
            Driver::open(home, &path)?
        }
        UiBenchProject::MadeUp(sentences) => {
            let mut project = Driver::create(home, &path, &NewProject::default())?;
            for (name, kind, sentences) in [
                ("complete", ImportAs::Gold, sentences.div_ceil(2)),
                ("suggested", ImportAs::Suggestions, sentences / 2),
            ] {
                if sentences > 0 {
                    let file = folder.path().join(name).with_extension("jsonl");
                    make(&file, sentences, |_| not_stopped(cancel).is_ok())?;
                    project.import(read_made(&file)?, ImportHow { kind: Some(kind), split: None })?;
                }
            }
            project
        }
    };
    project.run(Command::Set(Setting::AutoTrain(false)))?;
    if let Some(encoder) = &request.encoder {
        project.run(Command::Set(Setting::Encoder(encoder.clone())))?;
    }
    project.close()?;
    Ok((folder, path))
}
