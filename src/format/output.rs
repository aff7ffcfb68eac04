//! Where a writer writes to: one file, or a folder of files.

use super::{DocumentView, FormatError, ImportedLabel};
use crate::annotation::Kept;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Component, Path, PathBuf};

/// What is to be written.
pub struct Content<'a, 'c> {
    /// In their order; empty where nobody describes them.
    pub labels: &'a [ImportedLabel],
    /// See [`Sink::definition`](super::Sink::definition).
    pub definitions: &'a Kept,
    pub documents: &'a mut dyn Iterator<Item = DocumentView<'c>>,
}

/// What a format writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    File,
    /// A folder of files.
    Folder,
}

/// Gives files to a writer, one at a time.
pub trait Output {
    /// A new file by its path in the folder, with `/` between its parts; a format of one file leaves it empty.
    ///
    /// # Errors
    /// What can go wrong with a disk.
    fn file(&mut self, name: &str) -> Result<Box<dyn Write + '_>, FormatError>;
}

/// An [`Output`] for formats of one file.
pub struct OneFile<'w>(pub &'w mut dyn Write);

impl Output for OneFile<'_> {
    fn file(&mut self, _: &str) -> Result<Box<dyn Write + '_>, FormatError> {
        Ok(Box::new(&mut *self.0))
    }
}

/// An [`Output`] that fills a folder, and remembers with what.
pub struct Folder {
    folder: PathBuf,
    files: Vec<PathBuf>,
}

impl Folder {
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), files: Vec::new() }
    }

    /// What was written, in the order in which it was.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

impl Output for Folder {
    fn file(&mut self, name: &str) -> Result<Box<dyn Write + '_>, FormatError> {
        let name = Path::new(name);
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            let why = format!("{name:?} is no name of a file in the folder");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, why).into());
        }
        let path = self.folder.join(name);
        if let Some(parent) = path.parent().filter(|parent| **parent != self.folder) {
            fs::create_dir_all(parent)?;
        }
        let file = File::create_new(&path)?;
        self.files.push(path);
        Ok(Box::new(BufWriter::new(file)))
    }
}
