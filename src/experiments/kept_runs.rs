//! Runs of an experiment kept in a folder, so that it can continue after a stop.
//!
//! ```text
//! FOLDER/NAME.json        what all runs have in common: an experiment continues only with the same
//! FOLDER/runs/RUN.json    one run
//! ```

use crate::disk;
use crate::session::{SessionError, write_text};
use crate::train::Config;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder of the runs within.
pub(super) const RUNS: &str = "runs";
/// Bytes of a file, at most: the folder may have come from anybody.
const MOST_BYTES: u64 = 256 << 20;

/// The folder of an experiment.
pub(super) struct KeptRuns {
    folder: PathBuf,
}

impl KeptRuns {
    /// Makes the folder, or opens it again. `name` is the file with what all runs have in common, which is `asked`; see
    /// [`is_same`] for `is_older`.
    ///
    /// # Errors
    /// A folder that holds an experiment, unless it is the same one and to be continued; what can go wrong with a disk.
    pub(super) fn open(
        folder: &Path,
        name: &str,
        asked: &Json,
        is_older: impl Fn(&str) -> bool,
        resume: bool,
    ) -> Result<Self, SessionError> {
        let runs = folder.join(RUNS);
        let io = |source| SessionError::Io { doing: "make the folder of the experiment", source, path: runs.clone() };
        fs::create_dir_all(&runs).map_err(io)?;
        let path = folder.join(name);
        match read_text(&path)? {
            None => write_result(&path, &format!("{asked:#}\n"))?,
            Some(_) if !resume => return Err(SessionError::ExperimentThere { path: folder.to_owned() }),
            Some(there) if !is_same(&there, asked, is_older) => return Err(SessionError::OtherExperiment { path }),
            Some(_) => {}
        }
        Ok(Self { folder: folder.to_owned() })
    }

    fn file(&self, run: &str) -> PathBuf {
        self.folder.join(RUNS).join(format!("{run}.json"))
    }

    /// Where a run may keep what it needs until it is finished.
    pub(super) fn work_folder(&self, run: &str) -> PathBuf {
        self.folder.join(RUNS).join(run)
    }

    /// A run as it was left; `None` for one that was not begun.
    ///
    /// # Errors
    /// A file that can't be read.
    pub(super) fn load<R: DeserializeOwned>(&self, run: &str) -> Result<Option<R>, SessionError> {
        read_json(&self.file(run))
    }

    /// # Errors
    /// What can go wrong with a disk.
    pub(super) fn save<R: Serialize>(&self, run: &str, record: &R) -> Result<(), SessionError> {
        write_result(&self.file(run), &serde_json::to_string(record)?)
    }
}

/// Whether the experiment that is there has the same in common. Of its "config", a setting that it does not name is one of a
/// later program, which had its default then; the first programs wrote it as text, which `is_older` knows.
pub(super) fn is_same(there: &str, asked: &Json, is_older: impl Fn(&str) -> bool) -> bool {
    let Ok(Json::Object(mut there)) = serde_json::from_str(there) else { return false };
    let config = match there.remove("config") {
        Some(Json::Object(config)) => Json::Object(Config::default().identity().into_iter().chain(config).collect()),
        Some(Json::String(text)) if is_older(&text) => asked.get("config").cloned().unwrap_or_default(),
        _ => return false,
    };
    there.insert("config".to_owned(), config);
    Json::Object(there) == *asked
}

/// A file of at most [`MOST_BYTES`], no link or pipe; `None` where there is none.
///
/// # Errors
/// What can go wrong with a disk, and what is no text.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, SessionError> {
    let bad = |why: String| SessionError::BadExperimentFile { why, path: path.to_owned() };
    match disk::read(path, MOST_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| bad(error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(bad(error.to_string())),
    }
}

/// As [`read_text`], of JSON.
///
/// # Errors
/// As [`read_text`], and JSON that is not of this kind.
pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, SessionError> {
    let bad =
        |error: serde_json::Error| SessionError::BadExperimentFile { why: error.to_string(), path: path.to_owned() };
    read_text(path)?.map(|text| serde_json::from_str(&text).map_err(bad)).transpose()
}

/// # Errors
/// What can go wrong with a disk.
pub(super) fn write_result(path: &Path, text: &str) -> Result<(), SessionError> {
    write_text(path, "write the results", text)
}
