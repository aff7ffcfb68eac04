//! What the files beside a project are called.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the models of a project lie: `NAME.models` beside `NAME.nestling`.
pub fn models_dir(project: &Path) -> PathBuf {
    project.with_extension("models")
}

/// The write-ahead log of SQLite beside a file.
pub(super) fn log_path(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// The path of a file whose name is another one's and more.
pub(super) fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

pub(super) fn has_log(path: &Path) -> bool {
    has_bytes(&log_path(path))
}

pub(super) fn has_bytes(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0)
}
