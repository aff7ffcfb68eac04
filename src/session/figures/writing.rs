//! Figures as files in a folder.

use super::breakdown::Breakdown;
use super::evaluated::Evaluated;
use super::{pictures, tables};
use crate::session::SessionError;
use crate::session::files::write_text;
use std::fs;
use std::path::Path;

/// A file that is not written yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FigureFile {
    pub name: String,
    pub text: String,
}

/// Of each breakdown, once, `ID.csv` and, where a picture says more, `ID.svg`.
pub fn figure_files(of: &Evaluated<'_>, breakdowns: &[Breakdown]) -> Vec<FigureFile> {
    let asked = Breakdown::ALL.into_iter().filter(|breakdown| breakdowns.contains(breakdown));
    let files = asked.flat_map(|breakdown| {
        let table = (format!("{}.csv", breakdown.id()), tables::table(of, breakdown));
        let picture = pictures::picture(of, breakdown).map(|picture| (format!("{}.svg", breakdown.id()), picture));
        [Some(table), picture].into_iter().flatten().map(|(name, text)| FigureFile { name, text })
    });
    files.collect()
}

/// Writes files into a folder, which is made if it is not there. What has one of their names is replaced; nothing else that is
/// there is touched.
///
/// # Errors
/// What can go wrong with a disk, and a link or a database under one of the names.
pub fn write_figures(folder: &Path, files: &[FigureFile]) -> Result<(), SessionError> {
    let io = |source| SessionError::Io { doing: "make the folder", source, path: folder.to_owned() };
    fs::create_dir_all(folder).map_err(io)?;
    files.iter().try_for_each(|file| write_text(&folder.join(&file.name), "write the figure", &file.text))
}
