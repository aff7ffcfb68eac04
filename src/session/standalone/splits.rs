//! Which files of a corpus are to learn from, by their names.

use crate::session::SessionError;
use std::path::{Path, PathBuf};

/// The split that a file or folder holds, where its name says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SplitOfFile {
    Train,
    Dev,
    Test,
}

/// By the first word of a name that is one: `genia.train.conll`, but `dev_as_train.jsonl` is dev.
fn split_of(path: &Path) -> Option<SplitOfFile> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    name.split(|c: char| !c.is_alphanumeric()).find_map(|word| match word {
        "train" | "training" => Some(SplitOfFile::Train),
        "dev" | "devel" | "development" | "valid" | "validation" => Some(SplitOfFile::Dev),
        "test" | "testing" => Some(SplitOfFile::Test),
        _ => None,
    })
}

/// What a corpus is called: as its file or folder, or where that is only called `train`, as the folder it is in.
pub(super) fn corpus_name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stem = if whole.is_dir() { whole.file_name() } else { whole.file_stem() };
    let stem = stem.unwrap_or_default().to_string_lossy();
    let is_split_alone = split_of(&whole).is_some() && stem.chars().all(char::is_alphanumeric);
    match whole.parent().and_then(Path::file_name).filter(|_| is_split_alone) {
        Some(folder) => folder.to_string_lossy().into_owned(),
        None => stem.into_owned(),
    }
}

/// The file, or what to read of a folder: all of it, but where some names are those of splits, train alone (and dev, if it is
/// wanted).
///
/// # Errors
/// A test split, and a folder with splits of which none is train; a folder that can't be read.
pub(super) fn paths_to_learn_from(
    path: &Path,
    with_dev: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<PathBuf>, SessionError> {
    if split_of(path) == Some(SplitOfFile::Test) {
        return Err(SessionError::TestSplit { path: path.to_owned() });
    }
    let mut found = Vec::new();
    if path.is_dir() {
        find_splits(path, &mut found)?;
    }
    if found.is_empty() {
        return Ok(vec![path.to_owned()]);
    }
    let is_wanted = |split: SplitOfFile| split == SplitOfFile::Train || (with_dev && split == SplitOfFile::Dev);
    let (wanted, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(split, _)| is_wanted(*split));
    if wanted.is_empty() {
        return Err(SessionError::NoTrainSplit { path: path.to_owned() });
    }
    let names = |paths: &[(SplitOfFile, PathBuf)]| {
        let within = paths.iter().map(|(_, inner)| inner.strip_prefix(path).unwrap_or(inner).display().to_string());
        within.collect::<Vec<_>>().join(", ")
    };
    let rest = if others.is_empty() { String::new() } else { format!(" and not {}", names(&others)) };
    notes.push(format!("read {}{rest}: {}", names(&wanted), path.display()));
    Ok(wanted.into_iter().map(|(_, path)| path).collect())
}

/// The outermost files and folders that have the name of a split; links are not followed.
fn find_splits(folder: &Path, found: &mut Vec<(SplitOfFile, PathBuf)>) -> Result<(), SessionError> {
    let unread = |source| SessionError::Io { doing: "read the folder", source, path: folder.to_owned() };
    let entries = std::fs::read_dir(folder).map_err(unread)?.collect::<Result<Vec<_>, _>>().map_err(unread)?;
    let mut entries: Vec<(PathBuf, bool)> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.path(), entry.file_type().ok().filter(|kind| !kind.is_symlink())?.is_dir())))
        .collect();
    entries.sort();
    for (path, is_folder) in entries {
        match split_of(&path) {
            Some(split) => found.push((split, path)),
            None if is_folder => find_splits(&path, found)?,
            None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_to_learn_from() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "x").unwrap();
            path
        };
        for name in [
            "a/train.jsonl",
            "a/dev_as_train.jsonl",
            "a/test.jsonl",
            "b/x/sea.train.conll",
            "b/y/test/1.txt",
            "c/latest.txt",
            "d/dev.txt",
        ] {
            file(name);
        }
        let taken = |name: &str, with_dev| {
            let paths = paths_to_learn_from(&dir.path().join(name), with_dev, &mut Vec::new());
            let inner = |path: PathBuf| path.strip_prefix(dir.path()).unwrap().to_str().unwrap().replace('\\', "/");
            paths.map(|paths| paths.into_iter().map(inner).collect::<Vec<_>>().join(" "))
        };
        for (name, with_dev, expected) in [
            ("a", false, "a/train.jsonl"),
            ("a", true, "a/dev_as_train.jsonl a/train.jsonl"),
            ("a/dev_as_train.jsonl", false, "a/dev_as_train.jsonl"),
            ("b", false, "b/x/sea.train.conll"),
            ("c", false, "c"),
            ("d", true, "d/dev.txt"),
        ] {
            assert_eq!(taken(name, with_dev).unwrap(), expected);
        }
        assert!(matches!(taken("a/test.jsonl", true), Err(SessionError::TestSplit { .. })));
        assert!(matches!(taken("d", false), Err(SessionError::NoTrainSplit { .. })));
        let names = ["a/train.jsonl", "a", "b/x/sea.train.conll", "c/latest.txt"];
        assert_eq!(names.map(|name| corpus_name(&dir.path().join(name))), ["a", "a", "sea.train", "latest"]);
    }
}
