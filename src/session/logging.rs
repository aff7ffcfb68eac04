//! The program's log: what went wrong and stopped nothing, so that nobody was told.
//!
//! # Invariants
//! - Logging never fails the program: where no line can be written there is none.
//! - At most two files of 1 MB, in the program's own folder. No link is followed.
//! - An event is one line, whatever is in the names that it tells.
//! - From `info` up no line holds words of a person's texts, so that the log can be sent to others.
//!
//! Deliberately absent: what libraries say, and sending. Nothing leaves the machine.

use crate::disk::{folder_of, is_folder, open_with};
use crate::session::home::Home;
use crate::wording::one_line;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::prelude::*;

/// What can be asked for, from nothing to all.
pub const LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The one that holds where nobody asks.
const USUAL: LevelFilter = LevelFilter::WARN;

/// Asks for a level where the command line does not.
const VARIABLE: &str = "NESTLING_LOG";

/// A file has at most so many bytes.
const MOST_BYTES: u64 = 1_000_000;

/// A line has at most so many bytes.
const MOST_LINE_BYTES: usize = 8_000;

/// Where the newest lines are.
pub fn log_path(home: &Home) -> PathBuf {
    home.dir().join("log").join("nestling.log")
}

/// From now on events of this level and above are written to the log; of `NESTLING_LOG` without one, else of `warn`.
/// Panics, too, without what they say: that may be a text. Only the first call has an effect.
pub fn start_log(home: &Home, level: Option<&str>) {
    let asked = level.map(str::to_owned).or_else(|| std::env::var(VARIABLE).ok().filter(|level| !level.is_empty()));
    let known = asked.as_deref().map(|asked| known_level(asked).ok_or(asked));
    let level = known.and_then(Result::ok).unwrap_or(USUAL);
    if level == LevelFilter::OFF {
        return;
    }
    if tracing::subscriber::set_global_default(subscriber(log_path(home), level, MOST_BYTES)).is_err() {
        return; // there is a log already
    }
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        let at = info.location().map(Location::to_string).unwrap_or_default();
        tracing::error!(at, "a fault of the program");
    }));
    if let Some(Err(unknown)) = known {
        tracing::warn!(level = unknown, "no such level of the log; choose one of {}", LOG_LEVELS.join(", "));
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), system = std::env::consts::OS, "the program has started");
}

fn known_level(name: &str) -> Option<LevelFilter> {
    LOG_LEVELS.contains(&name).then(|| name.parse().ok()).flatten()
}

fn subscriber(path: PathBuf, level: LevelFilter, most_bytes: u64) -> impl Subscriber + Send + Sync {
    let file = LogFile { path, most_bytes, one_at_a_time: Arc::default() };
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_thread_names(true)
        .log_internal_errors(false)
        .with_writer(file);
    tracing_subscriber::registry().with(lines.with_filter(Targets::new().with_target(env!("CARGO_PKG_NAME"), level)))
}

/// Opened anew for each line: there are few, and another process may write there as well.
#[derive(Clone)]
struct LogFile {
    path: PathBuf,
    most_bytes: u64,
    one_at_a_time: Arc<Mutex<()>>,
}

impl LogFile {
    fn append(&self, line: &str) -> io::Result<()> {
        let _alone = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = folder_of(&self.path);
        fs::create_dir_all(folder)?;
        if !is_folder(folder) {
            return Err(ErrorKind::NotADirectory.into());
        }
        let mut file = open_to_append(&self.path)?;
        if file.metadata()?.len().saturating_add(line.len() as u64) > self.most_bytes {
            drop(file);
            fs::rename(&self.path, self.path.with_extension("old.log"))?;
            file = open_to_append(&self.path)?;
        }
        file.write_all(line.as_bytes())
    }
}

fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true);
    match open_with(path, &options) {
        Err(error) if error.kind() == ErrorKind::NotFound => options.create_new(true).open(path),
        opened => opened,
    }
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self)
    }
}

/// Takes an event in one piece, as the formatter gives it.
struct Line<'a>(&'a LogFile);

impl Write for Line<'_> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let mut line = one_line(text.trim_end()).into_owned();
        line.truncate(line.floor_char_boundary(MOST_LINE_BYTES));
        line.push('\n');
        // There is nowhere else to say it.
        let _unwritten = self.0.append(&line);
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Noted as _;
    use tracing::subscriber::with_default;

    fn logged(path: &Path, level: LevelFilter, most_bytes: u64, log: impl FnOnce()) -> String {
        with_default(subscriber(path.to_owned(), level, most_bytes), log);
        fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn an_event_is_a_line_whatever_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = log_path(&Home::at(dir.path()));
        let text = logged(&path, LevelFilter::WARN, MOST_BYTES, || {
            tracing::warn!(path = "a\nb\u{1b}[31m", "can't delete the file");
            tracing::info!("not asked for");
            tracing::warn!(target: "another_library", "not ours");
            tracing::warn!("{}", "x".repeat(2 * MOST_LINE_BYTES));
        });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("WARN") && lines[0].contains("can't delete the file"), "{text}");
        assert!(!text.contains('\u{1b}') && lines[1].len() <= MOST_LINE_BYTES, "{text}");
    }

    #[test]
    fn an_error_that_stops_nothing_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let text = logged(&log_path(&Home::at(dir.path())), LevelFilter::WARN, MOST_BYTES, || {
            let lock = dir.path().join("lock");
            fs::remove_file(&lock).noted_at("the lock stays behind", &lock);
        });
        assert!(text.contains("the lock stays behind") && text.contains("logging.rs:"), "{text}");
    }

    #[test]
    fn two_files_of_a_size_are_all_there_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = log_path(&Home::at(dir.path()));
        let text = logged(&path, LevelFilter::INFO, 2_000, || {
            for number in 0..200 {
                tracing::info!(number, "a line");
            }
        });
        assert!(text.ends_with("number=199\n") && text.len() <= 2_000, "{text}");
        let mut names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["nestling.log", "nestling.old.log"]);
        assert!(fs::metadata(path.with_extension("old.log")).unwrap().len() <= 2_000);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed_and_no_failure_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let (path, mine) = (log_path(&home), dir.path().join("mine"));
        fs::create_dir(folder_of(&path)).unwrap();
        fs::write(&mine, "mine").unwrap();
        std::os::unix::fs::symlink(&mine, &path).unwrap();
        assert_eq!(logged(&path, LevelFilter::INFO, MOST_BYTES, || tracing::error!("a line")), "mine");
        fs::remove_file(&path).unwrap();
        fs::remove_dir(folder_of(&path)).unwrap();
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), folder_of(&path)).unwrap();
        assert_eq!(logged(&path, LevelFilter::INFO, MOST_BYTES, || tracing::error!("a line")), "");
    }

    #[test]
    fn levels_are_known_by_their_names() {
        assert!(LOG_LEVELS.iter().all(|name| known_level(name).is_some()));
        assert_eq!((known_level("loud"), known_level("off")), (None, Some(LevelFilter::OFF)));
    }
}
