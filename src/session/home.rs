//! Where the program keeps what belongs to no project: encoders, the list of recent projects, the sample.
//!
//! `NESTLING_HOME` names another folder, for a portable installation and for tests.

use crate::disk::{self, Noted as _, is_there};
use crate::encoder::Encoders;
use crate::session::{SessionError, write_text};
use directories::{ProjectDirs, UserDirs};
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many recent projects are remembered.
const RECENT: usize = 12;

/// Their list is shorter than that.
const MOST_BYTES: u64 = 1 << 20;

/// The program's own folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// `NESTLING_HOME`, else the platform's folder for application data, else `.nestling` here.
    pub fn find() -> Self {
        if let Some(dir) = std::env::var_os("NESTLING_HOME").filter(|d| !d.is_empty()) {
            return Self::at(dir);
        }
        Self::at(
            ProjectDirs::from("", "", "nestling").map_or_else(|| PathBuf::from(".nestling"), |d| d.data_dir().into()),
        )
    }

    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The encoders that were imported, and those that are always there.
    pub fn encoders(&self) -> Encoders {
        Encoders::at(&self.dir)
    }

    /// Where a new project is proposed: `Nestling` in the person's documents.
    pub fn projects_dir(&self) -> PathBuf {
        let documents = UserDirs::new().and_then(|d| d.document_dir().map(Path::to_owned));
        documents.unwrap_or_else(|| self.dir.clone()).join("Nestling")
    }

    /// Where work is kept that can't stay in the folder of its project.
    pub fn rescued_dir(&self) -> PathBuf {
        self.dir.join("kept")
    }

    /// Where the sample project is made.
    pub fn sample_path(&self) -> PathBuf {
        self.dir.join("sample").join("harbour.nestling")
    }

    /// Recently opened projects that are still there, the last one first.
    pub fn recent_projects(&self) -> Vec<PathBuf> {
        let mut list = String::new();
        let file = self.recent_file();
        if is_there(&file) {
            let read = disk::open(&file).and_then(|file| file.take(MOST_BYTES).read_to_string(&mut list));
            read.noted_at("the list of recent projects is not read", &file);
        }
        list.lines().map(PathBuf::from).filter(|p| p.is_file()).collect()
    }

    /// Puts a project first in the list of recent ones.
    ///
    /// # Errors
    /// The folder can't be written.
    pub fn remember_recent(&self, path: &Path) -> Result<(), SessionError> {
        let absolute = std::path::absolute(path);
        let path = absolute.map_err(|source| SessionError::Io { doing: "find the file", source, path: path.into() })?;
        let others = self.recent_projects().into_iter().filter(|p| *p != path);
        let list: Vec<String> = std::iter::once(path.clone())
            .chain(others)
            .take(RECENT)
            .map(|p| p.to_string_lossy().into_owned())
            .collect();
        let io = |source| SessionError::Io { doing: "make the folder", source, path: self.dir.clone() };
        std::fs::create_dir_all(&self.dir).map_err(io)?;
        let file = self.recent_file();
        write_text(&file, "write the file", &list.join("\n"))
    }

    fn recent_file(&self) -> PathBuf {
        self.dir.join("recent.txt")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_opened_project_comes_first_and_a_deleted_one_goes() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        let (a, b) = (dir.path().join("a.nestling"), dir.path().join("b.nestling"));
        for path in [&a, &b, &a] {
            std::fs::write(path, "").unwrap();
            home.remember_recent(path).unwrap();
        }
        assert_eq!(home.recent_projects(), [a.clone(), b.clone()]);
        std::fs::remove_file(&a).unwrap();
        assert_eq!(home.recent_projects(), [b]);
    }
}
