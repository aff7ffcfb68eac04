//! The sample project, which the program carries as text.

use super::ImportHow;
use super::reading::{ImportAs, Incoming};
use crate::annotation::{Label, LabelSet, Rgb};
use crate::format::{Collected, Format, Input, Options, by_id};
use crate::session::SessionError;
use crate::session::home::Home;
use crate::session::project::driver::Driver;
use crate::session::project::{NewProject, Project};
use serde::Deserialize;
use std::path::Path;

const LABELS: &str = include_str!("../../../projects/harbour/labels.json");
const SENTENCES: &str = include_str!("../../../projects/harbour/sentences.jsonl");

#[derive(Deserialize)]
struct SampleFile {
    labels: Vec<SampleLabel>,
}

#[derive(Deserialize)]
struct SampleLabel {
    name: String,
    title: String,
    color: String,
    key: char,
}

/// Opens the sample project at `path`, making it first if there is none.
///
/// # Errors
/// A folder that can't be written; a file there that is no project.
pub fn open_sample(home: &Home, path: &Path) -> Result<Project, SessionError> {
    if path.exists() {
        return Project::open(home, path);
    }
    if let Some(folder) = path.parent() {
        let failed = |source| SessionError::Io { doing: "make the folder", source, path: folder.to_owned() };
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let new = NewProject { labels: labels()?, encoder: None };
    let mut project = Driver::create(home, path, &new)?;
    project.import(sentences()?, ImportHow { kind: Some(ImportAs::Gold), split: None })?;
    Ok(project.into_project())
}

fn labels() -> Result<LabelSet, SessionError> {
    let file: SampleFile = serde_json::from_str(LABELS).map_err(|e| SessionError::Sample(e.to_string()))?;
    let mut labels = Vec::with_capacity(file.labels.len());
    for (label, number) in file.labels.into_iter().zip(0..) {
        let SampleLabel { name, title, color, key } = label;
        let color = Rgb::from_hex(&color).ok_or_else(|| SessionError::Sample(format!("the colour of {name}")))?;
        labels.push(Label { id: crate::annotation::LabelId(number), name, title, color, key: Some(key) });
    }
    let next = crate::annotation::LabelId(labels.len() as u32);
    Ok(LabelSet::restore(labels, next)?)
}

fn sentences() -> Result<Incoming, SessionError> {
    let format: &dyn Format = by_id("jsonl")?;
    let mut read = Collected::default();
    format.read(Input::bytes("harbour", SENTENCES)?, &Options::default(), &mut read)?;
    if let Some(warning) = read.warnings.first() {
        return Err(SessionError::Sample(warning.to_string()));
    }
    Ok(Incoming::of(format, read))
}
