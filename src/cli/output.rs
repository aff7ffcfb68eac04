//! What sub-commands print: one JSON object or text for people on standard output, progress on standard error.

use super::CliError;
use super::args::Common;
use crate::session::{Driver, FileNews, Home, Loss, Warning};
use crate::wording::{by_kind, one_line, printable, printable_json};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How a sub-command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    /// Something was left out or could not be represented.
    WithLosses,
}

impl Ending {
    pub(super) fn of_losses(losses: usize) -> Self {
        if losses == 0 { Self::Whole } else { Self::WithLosses }
    }

    /// Whole only if both are.
    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::Whole { other } else { self }
    }
}

/// Prints the JSON object, or else the text.
pub(super) fn answer(common: Common, json: &serde_json::Value, text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    let written = if common.json {
        writeln!(out, "{}", printable_json(&json.to_string()))
    } else {
        writeln!(out, "{}", printable(text.trim_end()))
    };
    match written.and_then(|()| out.flush()) {
        // The reader has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(CliError::Output),
    }
}

/// Says on standard error why nothing was done, with all causes.
pub(super) fn complain(error: &CliError) {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !message.contains(&inner_text) {
            message = format!("{message}: {inner_text}");
        }
        cause = inner.source();
    }
    say(&format!("nestling: {message}"));
}

/// Opens a project to change it; says what is wrong beside it, and which of its settings can't be read.
pub(super) fn open(path: &Path) -> Result<Driver, CliError> {
    Ok(noted(Driver::open(&Home::find(), path)?))
}

/// The same to look at it.
pub(super) fn open_to_read(path: &Path) -> Result<Driver, CliError> {
    Ok(noted(Driver::open_to_read(&Home::find(), path)?))
}

fn noted(mut project: Driver) -> Driver {
    project.notes().iter().for_each(|note| say(&format!("note: {note}")));
    project.unread_settings().iter().for_each(|error| say(&format!("note: {error}")));
    project.file_news().iter().for_each(|news| say(&format!("warning: {news}")));
    project.dismiss_file_news();
    project
}

/// Closes a project that was changed, and says where the changes are if that is not where they should be.
pub(super) fn close(project: Driver) -> Result<Ending, CliError> {
    let news = project.close_with_news()?;
    news.iter().for_each(|news| say(&format!("warning: {news}")));
    Ok(Ending::of_losses(news.iter().filter(|news| matches!(news, FileNews::MovedOn { .. })).count()))
}

/// A line on standard error.
pub(super) fn say(line: &str) {
    // Where standard error is closed there is nobody to tell.
    let _unheard = writeln!(std::io::stderr(), "{}", one_line(line));
}

/// Says what was left out, what a format could not hold and what was decided, the most important first, each kind once
/// with its count and the first of it.
pub(super) fn say_losses(warnings: &[Warning], losses: &[Loss], notes: &[String]) {
    for kind in by_kind(warnings, |warning| &warning.message) {
        kind.first.iter().for_each(|warning| say(&format!("warning: {warning}")));
        kind.rest().iter().for_each(|rest| say(&format!("  {rest}")));
    }
    for kind in by_kind(losses, |loss| loss.kind.meaning()) {
        kind.first.iter().for_each(|loss| say(&format!("not represented: {loss}")));
        kind.rest().iter().for_each(|rest| say(&format!("  {rest}")));
    }
    notes.iter().for_each(|note| say(note));
}

/// How often progress is told where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Progress on standard error: a bar on a terminal, a line now and then elsewhere, nothing with `--quiet`.
pub(super) struct Progress {
    bar: ProgressBar,
    lines: bool,
    last_line: Instant,
}

impl Progress {
    pub(super) fn start(common: Common) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let shown = terminal && !common.quiet;
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {eta} left") {
            bar.set_style(style);
        }
        Self { bar, lines: !terminal && !common.quiet, last_line: Instant::now() }
    }

    pub(super) fn show(&mut self, done: usize, total: usize, what: &str) {
        self.bar.set_length(total as u64);
        self.bar.set_message(one_line(what).into_owned());
        self.bar.set_position(done as u64);
        if self.lines && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            say(&format!("{done}/{total} {what}"));
        }
    }

    /// Something that stays on screen.
    pub(super) fn note(&self, line: &str) {
        if self.lines {
            say(line);
        } else {
            self.bar.println(one_line(line)); // nothing where the bar is hidden
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A flag that Ctrl-C and a termination signal raise; a second one ends the program at once.
pub(super) fn stop_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = flag.clone();
    // Without a handler the signal ends the program, which loses nothing that was acknowledged.
    let _unhandled = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::SeqCst) {
            std::process::abort();
        }
    });
    flag
}
