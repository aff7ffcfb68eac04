//! `nestling sample`

use super::CliError;
use super::args::Sample;
use super::output::{Ending, answer, say};
use super::window::{self, Window};
use crate::session::{Home, open_sample};
use crate::wording::counted;
use serde_json::json;

pub(super) fn run(args: &Sample, window: Option<Window>) -> Result<Ending, CliError> {
    // What is to be read by a program waits for no window.
    let no_window = args.no_window || args.common.json;
    if window.is_none() && !no_window {
        let message = "this build has no window; --no-window creates the sample project without one".to_owned();
        return Err(CliError::Usage { message });
    }
    let home = Home::find();
    let path = args.at.clone().unwrap_or_else(|| home.sample_path());
    let project = open_sample(&home, &path)?;
    let counts = project.counts().clone();
    project.close()?;
    if no_window {
        let json = json!({ "project": path, "sentences": counts.sentences, "complete": counts.complete });
        let text = format!(
            "{}, {} complete: {}",
            counted(counts.sentences, "sentence", "sentences"),
            counts.complete,
            path.display()
        );
        answer(args.common, &json, &text)?;
        return Ok(Ending::Whole);
    }
    if !args.common.quiet {
        say(&format!("opening {}", path.display()));
    }
    window::open(window, Some(path))
}
