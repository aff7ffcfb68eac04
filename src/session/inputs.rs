//! Which files are meant by the files and folders that were named.
//!
//! # Invariants
//! - No text comes twice: a `.txt` beside an `.ann` of its name belongs to that, and so do `.conf` files.
//! - Of a folder files are taken in the order of their names, those of its folders too. Where no format was asked for,
//!   files of formats with mentions win over plain text.
//! - A text without annotations among texts that have some is one that nobody has begun; it comes along.

use super::SessionError;
use crate::format::{Format, FormatError, Input, detect};
use crate::wording::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::path::{Path, PathBuf};

/// A file to read.
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// For its document, where it is not named after the file: the path in the folder without ending.
    pub(super) name: Option<String>,
    /// A text without annotations among texts that have some.
    pub(super) is_unbegun: bool,
    /// The folder that was named and holds it; no link may lead out of that.
    folder: Option<PathBuf>,
}

impl Found {
    /// # Errors
    /// No such file, one that is none or leads out of its folder, one that can't be read.
    pub(super) fn input(&self) -> Result<Input, FormatError> {
        let input = match &self.folder {
            Some(folder) => Input::file_of_folder(&self.path, folder)?,
            None => Input::file(&self.path)?,
        };
        Ok(match &self.name {
            Some(name) => input.named(name),
            None => input,
        })
    }
}

/// The files of all folders, and the files themselves. What is in a folder and is no file of it goes to `left_out`.
///
/// # Errors
/// A folder that can't be read, or in which there is nothing to read.
pub(super) fn expand(
    named: &[PathBuf],
    format: Option<&'static dyn Format>,
    notes: &mut Vec<String>,
    left_out: &mut Vec<(PathBuf, FormatError)>,
) -> Result<Vec<Found>, SessionError> {
    let mut found = Vec::new();
    let files: BTreeSet<&Path> = named.iter().map(PathBuf::as_path).collect();
    for path in named {
        if path.is_dir() {
            found.extend(in_folder(path, format, notes, left_out)?);
        } else if named.len() == 1 || !belongs_to_another(path, |other| files.contains(other)) {
            found.push(Found { path: path.clone(), name: None, is_unbegun: false, folder: None });
        }
    }
    Ok(found)
}

fn in_folder(
    folder: &Path,
    format: Option<&'static dyn Format>,
    notes: &mut Vec<String>,
    left_out: &mut Vec<(PathBuf, FormatError)>,
) -> Result<Vec<Found>, SessionError> {
    let mut all = Vec::new();
    walk(folder, &mut |path, kind| {
        // A pipe, or a link: to a file outside, to a folder, to nothing.
        let unusual = if kind.is_file() { None } else { Input::file_of_folder(&path, folder).err() };
        match unusual {
            Some(error) => left_out.push((path, error)),
            None => all.push(path),
        }
    })?;
    let own = all.iter().filter(|path| !belongs_to_another(path, |other| other.is_file()));
    let own: Vec<PathBuf> = own.cloned().collect();
    let chosen: Vec<PathBuf> = match format {
        Some(format) => own.iter().filter(|path| format.extensions().contains(&&*ending(path))).cloned().collect(),
        None => {
            let detected = |path: &PathBuf| {
                let input = Input::file_of_folder(path, folder).ok()?;
                Some((path.clone(), detect(input.file_name(), &input.sample()).ok()?.format))
            };
            let known: Vec<_> = own.iter().filter_map(detected).collect();
            let with_mentions = known.iter().any(|(_, format)| format.holds().mentions);
            let wanted = known.into_iter().filter(|(_, format)| format.holds().mentions == with_mentions);
            wanted.map(|(path, _)| path).collect()
        }
    };
    if chosen.is_empty() {
        let endings = format.map_or_else(String::new, |f| format!(" that ends in .{}", f.extensions().join(" or .")));
        return Err(SessionError::NothingInFolder { endings, path: folder.to_owned() });
    }
    let unbegun = unbegun_texts(&chosen, &own);
    let taken: BTreeSet<&PathBuf> = chosen.iter().chain(unbegun.iter().copied()).collect();
    let passed_over = own.len() - taken.len();
    if passed_over > 0 {
        let first = own.iter().find(|path| !taken.contains(path)).map(|path| path.display().to_string());
        notes.push(format!(
            "{} not read, first {}: {}",
            counted(passed_over, "other file of the folder was", "other files of the folder were"),
            first.unwrap_or_default(),
            folder.display()
        ));
    }
    let name = |path: &Path| {
        let inner = path.strip_prefix(folder).unwrap_or(path).with_extension("");
        inner.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    let found = own.iter().filter(|path| taken.contains(path));
    let found = found.map(|path| Found {
        path: path.clone(),
        name: Some(name(path)),
        is_unbegun: unbegun.contains(path),
        folder: Some(folder.to_owned()),
    });
    Ok(found.collect())
}

/// Where texts have annotations beside them, those of `own` that have none.
fn unbegun_texts<'f>(chosen: &[PathBuf], own: &'f [PathBuf]) -> BTreeSet<&'f PathBuf> {
    if !chosen.iter().any(|path| ending(path) == "ann") {
        return BTreeSet::new();
    }
    let chosen: BTreeSet<&PathBuf> = chosen.iter().collect();
    own.iter().filter(|path| ending(path) == "txt" && !chosen.contains(path)).collect()
}

/// Hands over everything in a folder and its folders but these; links to folders are not followed, which could lead in
/// a circle.
fn walk(folder: &Path, found: &mut dyn FnMut(PathBuf, FileType)) -> Result<(), SessionError> {
    let io = |source| SessionError::Io { doing: "read the folder", source, path: folder.to_owned() };
    let mut entries = std::fs::read_dir(folder).map_err(io)?.collect::<Result<Vec<_>, _>>().map_err(io)?;
    entries.retain(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(io)?;
        match kind.is_dir() {
            true => walk(&entry.path(), found)?,
            false => found(entry.path(), kind),
        }
    }
    Ok(())
}

/// True for a text beside its annotations, and for the configuration beside annotations.
fn belongs_to_another(path: &Path, is_there: impl Fn(&Path) -> bool) -> bool {
    match ending(path).as_str() {
        "txt" => ["ann", "ANN"].iter().any(|ending| is_there(&path.with_extension(ending))),
        "conf" => true,
        _ => false,
    }
}

/// In small letters.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// One note for each thing that was found, with the number of files.
pub(super) fn found_notes(found: Vec<(PathBuf, String)>) -> Vec<String> {
    if found.len() <= 3 {
        return found.into_iter().map(|(path, what)| format!("{}: {what}", path.display())).collect();
    }
    let mut counts = BTreeMap::new();
    for (_, what) in found {
        *counts.entry(what).or_insert(0usize) += 1;
    }
    counts.into_iter().map(|(what, count)| format!("{}: {what}", counted(count, "file", "files"))).collect()
}
