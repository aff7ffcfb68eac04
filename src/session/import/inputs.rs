//! Which files are meant by the files and folders that were named.
//!
//! # Invariants
//! - No text comes twice: a `.txt` beside an `.ann` of its name belongs to that, and so do `.conf` files.
//! - Of a folder files are taken in the order of their names, those of its folders too. Where no format was asked for,
//!   files of formats with mentions win over plain text.
//! - A text without annotations among texts that have some is one that nobody has begun; it comes along.
//! - What looks like data and is not read counts as left out; a README, a licence or a script does not.

use crate::format::{Detected, Format, FormatError, Input, detect};
use crate::session::SessionError;
use crate::wording::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// A file to read.
pub(in crate::session) struct Found {
    pub(in crate::session) path: PathBuf,
    /// For its document, where it is not named after the file: the path in the folder without ending.
    pub(in crate::session) name: Option<String>,
    /// A text without annotations among texts that have some.
    pub(in crate::session) is_unbegun: bool,
    /// What it looks like, where that is known already.
    pub(in crate::session) detected: Option<Detected>,
    /// The folder that was named and holds it; no link may lead out of that.
    folder: Option<PathBuf>,
}

impl Found {
    /// # Errors
    /// No such file, one that is none or leads out of its folder, one that can't be read.
    pub(in crate::session) fn input(&self) -> Result<Input, FormatError> {
        let input = match &self.folder {
            Some(folder) => Input::file_of_folder(&self.path, folder)?,
            None => Input::file(&self.path)?,
        };
        Ok(match &self.name {
            Some(name) => input.named(name),
            None => input,
        })
    }

    /// # Errors
    /// As [`Self::input`], and a file of no format that is known.
    pub(super) fn detect(&self) -> Result<Detected, FormatError> {
        let input = self.input()?;
        detect(input.file_name(), &input.sample())
    }
}

/// The files of all folders, and the files themselves. What is in a folder and is no file of
/// it, or looks like data and is not read, goes to `left_out`.
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
            let path = path.clone();
            found.push(Found { path, name: None, is_unbegun: false, detected: None, folder: None });
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
    let detected = |path: &PathBuf| {
        let found = Input::file_of_folder(path, folder).and_then(|input| detect(input.file_name(), &input.sample()));
        (path.clone(), found)
    };
    let (incidental, data): (Vec<&PathBuf>, Vec<&PathBuf>) = own.iter().partition(|path| is_incidental(path));
    // Where there is nothing else, they are what is meant.
    let candidates = if data.is_empty() { incidental } else { data };
    let known: Vec<(PathBuf, Result<Detected, FormatError>)> = candidates.into_iter().map(detected).collect();
    let format_of = |found: &Result<Detected, FormatError>| found.as_ref().ok().map(|detected| detected.format);
    let with_mentions = known.iter().filter_map(|(_, found)| format_of(found)).any(|format| format.holds().mentions);
    let is_chosen = |(path, found): &(PathBuf, Result<Detected, FormatError>)| match format {
        Some(format) => {
            let is_named = format.extensions().contains(&&*ending(path));
            is_named || (format.holds().mentions && format_of(found).is_some_and(|other| other.id() == format.id()))
        }
        None => format_of(found).is_some_and(|format| format.holds().mentions == with_mentions),
    };
    let (chosen, rest): (Vec<_>, Vec<_>) = known.into_iter().partition(is_chosen);
    let mut chosen: BTreeMap<PathBuf, Option<Detected>> =
        chosen.into_iter().map(|(path, found)| (path, found.ok())).collect();
    if chosen.is_empty() {
        // What is known to hold annotations says more than what happens to lie beside it.
        let rank = |error: &FormatError| match error {
            FormatError::Foreign { is_data, .. } => Some(!is_data),
            _ => None,
        };
        let known = rest.into_iter().filter_map(|(_, found)| found.err());
        let known = known.filter(|error| rank(error).is_some()).min_by_key(rank);
        if let Some(foreign) = known {
            return Err(foreign.into()); // which says the way
        }
        let endings = format.map_or_else(String::new, |f| format!(" that ends in .{}", f.extensions().join(" or .")));
        return Err(SessionError::NothingInFolder { endings, path: folder.to_owned() });
    }
    let unbegun = unbegun_texts(&chosen, &own);
    let taken: BTreeSet<PathBuf> = chosen.keys().chain(unbegun.iter().copied()).cloned().collect();
    let missed = rest.into_iter().filter(|(path, _)| format.is_none() && !taken.contains(path));
    let missed: Vec<(PathBuf, FormatError)> = missed.filter_map(|(path, found)| missed_data(path, found)).collect();
    let passed_over: Vec<&PathBuf> =
        own.iter().filter(|path| !taken.contains(*path) && missed.iter().all(|(other, _)| other != *path)).collect();
    if let Some(first) = passed_over.first() {
        notes.push(format!(
            "{} not read, first {}: {}",
            counted(passed_over.len(), "other file of the folder was", "other files of the folder were"),
            first.display(),
            folder.display()
        ));
    }
    left_out.extend(missed);
    let name = |path: &Path| {
        let inner = path.strip_prefix(folder).unwrap_or(path).with_extension("");
        inner.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    let found = own.iter().filter(|path| taken.contains(*path));
    let found = found.map(|path| Found {
        path: path.clone(),
        name: Some(name(path)),
        is_unbegun: unbegun.contains(path),
        detected: chosen.remove(path).flatten(),
        folder: Some(folder.to_owned()),
    });
    Ok(found.collect())
}

/// Where texts have annotations beside them, those of `own` that have none.
fn unbegun_texts<'f>(chosen: &BTreeMap<PathBuf, Option<Detected>>, own: &'f [PathBuf]) -> BTreeSet<&'f PathBuf> {
    if !chosen.keys().any(|path| ending(path) == "ann") {
        return BTreeSet::new();
    }
    own.iter().filter(|path| ending(path) == "txt" && !chosen.contains_key(*path) && !is_incidental(path)).collect()
}

/// What is lost with a file of a folder that is not read: nothing with one that is no data.
fn missed_data(path: PathBuf, found: Result<Detected, FormatError>) -> Option<(PathBuf, FormatError)> {
    let file = path.display().to_string();
    match found {
        Ok(Detected { found, .. }) => Some((path, FormatError::PassedOver { found, file })),
        Err(
            FormatError::Empty { .. } | FormatError::NotRecognised { .. } | FormatError::Foreign { is_data: false, .. },
        ) => None,
        Err(error) => Some((path, error)),
    }
}

/// True for what stands beside data and is none: a README, a licence, a script.
fn is_incidental(path: &Path) -> bool {
    const NAMES: [&str; 13] = [
        "readme",
        "license",
        "licence",
        "copying",
        "notice",
        "authors",
        "changelog",
        "changes",
        "contributing",
        "citation",
        "manifest",
        "todo",
        "thumbs",
    ];
    const ENDINGS: [&str; 15] =
        ["py", "sh", "pl", "rb", "js", "css", "r", "bib", "yml", "yaml", "toml", "ini", "cfg", "log", "lock"];
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = stem.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    NAMES.contains(&name) || ENDINGS.contains(&&*ending(path))
}

/// Hands over everything in a folder and its folders but these; links to folders are not followed, which could lead in
/// a circle.
fn walk(folder: &Path, found: &mut dyn FnMut(PathBuf, FileType)) -> Result<(), SessionError> {
    let is_shown = |entry: &DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
    for entry in WalkDir::new(folder).min_depth(1).sort_by_file_name().into_iter().filter_entry(is_shown) {
        let entry = entry.map_err(|error| unread(error, folder))?;
        let kind = entry.file_type();
        if !kind.is_dir() {
            found(entry.into_path(), kind);
        }
    }
    Ok(())
}

fn unread(error: walkdir::Error, folder: &Path) -> SessionError {
    let (path, text) = (error.path().unwrap_or(folder).to_owned(), error.to_string());
    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other(text));
    SessionError::Io { doing: "read the folder", source, path }
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
