//! Whether a project is sound, and what can be saved of one that is not.

use crate::annotation::ModelId;
use crate::disk;
use crate::session::SessionError;
use crate::session::learner::found;
use crate::session::learner::model_folder::{self, Owner};
use crate::store::{self, Contents, ModelRecord, Rescued, Store, StoreError};
use crate::train::{Snapshot, check_snapshot};
use crate::wording::counted;
use std::path::Path;

/// What a check has found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckReport {
    /// Empty for a sound project.
    pub problems: Vec<String>,
    /// What is no fault of the file, but may surprise.
    pub notes: Vec<String>,
    pub documents: usize,
    pub sentences: usize,
    pub tokens: usize,
    pub mentions: usize,
    /// Snapshots that were looked at; cleaned up ones are none.
    pub models: usize,
}

/// Checks the file, each offset, label and id in it, its log and search index, and the files of its models. Changes
/// nothing, but an old file is brought up to date first.
///
/// # Errors
/// A file that is not there, not ours or of a newer program. A damaged one is a problem in the report.
pub fn check_project(path: &Path) -> Result<CheckReport, SessionError> {
    let mut report = CheckReport::default();
    let store = match Store::open_to_read(path) {
        Ok(store) => store,
        Err(StoreError::Damaged { detail, .. } | StoreError::Altered { detail, .. }) => {
            report.problems.push(detail);
            return Ok(report);
        }
        Err(error) => return Err(error.into()),
    };
    report.notes.extend(store.news().iter().map(ToString::to_string));
    let contents = match store.check_and_load() {
        Ok((problems, contents)) => {
            report.problems = problems;
            contents
        }
        Err(StoreError::Damaged { detail, .. }) => {
            report.problems.push(detail);
            store.load().ok()
        }
        Err(error) => return Err(error.into()),
    };
    let Some(Contents { project, corpus, history, models, current_model, settings, suggestions, .. }) = contents else {
        return Ok(report); // it says why
    };
    report.documents = corpus.document_count();
    report.sentences = corpus.sentence_count();
    report.tokens = corpus.sentences().map(|s| s.tokens().len()).sum();
    report.mentions = corpus.sentences().map(|s| s.mentions().len()).sum();
    for (key, value) in &settings {
        report.problems.extend(crate::session::Setting::from_row(key, value).err().map(|error| error.to_string()));
    }
    let (without, removed) = found::impossible(&suggestions, &corpus);
    let sentences = counted(without.len(), "sentence", "sentences");
    report
        .problems
        .extend(removed.iter().map(|note| format!("{note}; opening the project removes them ({sentences})")));
    check_models(&mut report, store.path(), &Owner::of(&project, &corpus, &history), models, current_model);
    Ok(report)
}

/// The files of models, whose they are, and whether they are whole.
fn check_models(
    report: &mut CheckReport,
    path: &Path,
    owner: &Owner,
    mut models: Vec<ModelRecord>,
    current: Option<ModelId>,
) {
    let folder = store::models_dir(path);
    let found = found::find(&folder, owner, &mut models);
    report.problems.extend(found.notes);
    for model in models.into_iter().filter(|model| !found.strange.contains_key(&model.id)) {
        let snapshot =
            Snapshot { folder: folder.join(model_folder::directory(model.id)), manifest_sha256: model.manifest_sha256 };
        if disk::is_folder(&snapshot.folder) {
            report.models += 1;
            let problem = check_snapshot(&snapshot).err();
            report.problems.extend(problem.map(|error| format!("model {}: {error}", model.id)));
        } else if Some(model.id) == current {
            let missing = SessionError::NoModelFiles { model: model.id.to_string(), folder: snapshot.folder };
            report.notes.push(missing.to_string());
        }
    }
}

/// Reads what can be read of a damaged project into a new one beside it. The damaged one is not changed.
///
/// # Errors
/// See [`store::rescue`].
pub fn rescue_project(path: &Path) -> Result<Rescued, SessionError> {
    Ok(store::rescue(path)?)
}
