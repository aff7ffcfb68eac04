//! What may lie where a file of a project belongs.

use super::error::StoreError;
use crate::disk::obstacle;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Nothing is there, or a regular file.
///
/// # Errors
/// [`StoreError::InTheWay`] for anything else.
pub(super) fn check_free_for(wanted: &'static str, path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => match obstacle(&metadata) {
            None => Ok(()),
            Some(found) => Err(StoreError::InTheWay { found, wanted, path: path.to_owned() }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(StoreError::Io { doing: "look at what lies beside the project", source, path: path.into() }),
    }
}

/// The file that a link leads to, so that what lies beside a project lies beside the real file. A path that is no link
/// stays as it is.
///
/// # Errors
/// A link that leads nowhere.
pub(super) fn resolve_link(path: &Path) -> Result<PathBuf, StoreError> {
    if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|source| StoreError::io("follow the link", source, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_a_file_or_nothing_leaves_a_place_free() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(check_free_for("a test", &at("file")).is_ok() && check_free_for("a test", &at("none")).is_ok());
        for (name, found) in [("link", "a link"), ("folder", "a folder")] {
            assert!(check_free_for("a test", &at(name)).unwrap_err().to_string().contains(found));
        }
        assert_eq!(resolve_link(&at("link")).unwrap(), fs::canonicalize(at("file")).unwrap());
        assert_eq!(resolve_link(&at("none")).unwrap(), at("none"));
    }
}
