//! Faults of the program, and what could not be saved at its end: a report of each on disk, which a person can read and send.
//!
//! # Invariants
//! - A report is written when the fault is met, by the thread that met it, and whatever goes wrong with that is let be:
//!   the fault itself is worse.
//! - Only what nobody could be told is told at the next start: work that failed on a thread of its own is told at once.
//!
//! Deliberately absent: sending. Nothing leaves the machine.

use crate::disk::{self, Noted as _};
use crate::session::home::Home;
use crate::session::{SessionError, now_ms};
use std::backtrace::Backtrace;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A report is shorter than that.
const MOST_BYTES: u64 = 1 << 20;

/// The newest reports that are kept.
const KEPT: usize = 20;
/// How the names of reports begin.
const ENDED: &str = "ended-";
const UNSAVED: &str = "unsaved-";
const NEWS: &str = "news-";
const TOLD: &str = "told-";
const FAILED: &str = "failed-";

/// How the program ended, where not well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastEnd {
    pub path: PathBuf,
    pub text: String,
    pub how: HowEnded,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HowEnded {
    /// It broke off.
    Fault,
    /// It was closed by a person, but not all could be saved.
    Unsaved,
    /// It was closed by a person and all is saved, but not where it was before.
    FileNews,
}

/// From now on every panic leaves a report in the program's folder, and is printed as before.
pub fn report_faults(home: &Home) {
    let folder = folder(home);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        let thread = std::thread::current();
        let kind = if thread.name() == Some("main") { ENDED } else { FAILED };
        let mut text = format!(
            "Nestling {} on {} {}\nthread {}: {info}\n",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            thread.name().unwrap_or("without a name"),
        );
        // A program without symbols has frames without names.
        let trace = Backtrace::force_capture().to_string();
        if trace.contains(env!("CARGO_PKG_NAME")) {
            text.push_str(&trace);
        }
        keep(&folder, kind, &text);
    }));
}

/// Takes note of what could not be saved or was saved elsewhere, for the next start.
pub fn keep_unsaved(home: &Home, error: &SessionError) {
    let kind = if matches!(error, SessionError::FileNews(_)) { NEWS } else { UNSAVED };
    keep(&folder(home), kind, &error.to_string());
}

/// How the program ended the last time, once; `None` where well.
pub fn take_last_end(home: &Home) -> Option<LastEnd> {
    let folder = folder(home);
    let mut last = None;
    for name in reports(&folder) {
        let kinds = [(ENDED, HowEnded::Fault), (UNSAVED, HowEnded::Unsaved), (NEWS, HowEnded::FileNews)];
        let Some((kind, how)) = kinds.into_iter().find(|(kind, _)| name.starts_with(kind)) else { continue };
        let told = folder.join(name.replacen(kind, TOLD, 1));
        fs::rename(folder.join(&name), &told).noted_at("a report can't be told", &told)?;
        last = read(&told).noted_at("a report can't be told", &told).map(|text| LastEnd { path: told, text, how });
    }
    last
}

fn folder(home: &Home) -> PathBuf {
    home.dir().join("faults")
}

fn keep(folder: &Path, kind: &str, text: &str) {
    fs::create_dir_all(folder).noted_at("there is no report", folder);
    // Only a new file: what has the name may be a link.
    let made = fs::File::create_new(folder.join(format!("{kind}{}.txt", now_ms())));
    made.and_then(|mut file| file.write_all(text.as_bytes())).noted_at("there is no report", folder);
    let names = reports(folder);
    for name in names.iter().take(names.len().saturating_sub(KEPT)) {
        fs::remove_file(folder.join(name)).noted_at("an old report stays behind", folder);
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    disk::open(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// The names of all reports, the oldest first.
fn reports(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| is_report(name)).collect();
    names.sort_by(|a, b| time(a).cmp(time(b)));
    names
}

/// Whether a file is one of these: what else a person keeps there is theirs.
fn is_report(name: &str) -> bool {
    let kinds = [ENDED, UNSAVED, NEWS, TOLD, FAILED];
    let digits = kinds.iter().find_map(|kind| name.strip_prefix(kind)?.strip_suffix(".txt"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The milliseconds in a name, all with as many digits.
fn time(name: &str) -> &str {
    name.split_once('-').map_or("", |(_, time)| time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_the_program_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        assert_eq!(take_last_end(&home), None);
        keep(&folder(&home), FAILED, "a thread");
        assert_eq!(take_last_end(&home), None, "that was told when it happened");
        keep(&folder(&home), ENDED, "index out of bounds");
        let told = take_last_end(&home).unwrap();
        assert_eq!((told.text.as_str(), told.path.is_file()), ("index out of bounds", true));
        assert_eq!(take_last_end(&home), None);
        keep_unsaved(&home, &SessionError::NoLabels);
        assert_eq!(take_last_end(&home).unwrap().how, HowEnded::Unsaved);
    }

    #[test]
    fn reports_do_not_pile_up() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..30 {
            fs::write(dir.path().join(format!("told-{:013}.txt", 1_000 + number)), "old").unwrap();
        }
        for name in ["my-notes.txt", "told-2026-03.txt", "ended-.txt"] {
            fs::write(dir.path().join(name), "mine").unwrap();
        }
        keep(dir.path(), ENDED, "new");
        assert!(dir.path().join("my-notes.txt").is_file() && dir.path().join("told-2026-03.txt").is_file());
        let names = reports(dir.path());
        assert_eq!((names.len(), names[0].as_str()), (KEPT, "told-0000000001011.txt"));
        assert!(names[KEPT - 1].starts_with(ENDED));
    }
}
