//! The folder of a project's models: what lies in it, and whose it is.
//!
//! # Invariants
//! - A name in it follows from a model's number and from nothing that a file says.
//! - A model is the project's when its manifest is the one that was registered, an interrupted training when it says
//!   so or, if it is of an older program, when its labels are the project's. What is not the project's is neither used
//!   nor deleted nor written over, and a link is not followed.

use super::records::{info, info_of_record};
use super::strange::Strange;
use crate::annotation::{Corpus, Edit, History, LabelId, ModelId, ProjectId};
use crate::disk::{self, Noted as _};
use crate::session::project::status::ModelInfo;
use crate::store::ModelRecord;
use crate::train::{
    Manifest, TrainError, interrupted, is_half_written, remove_snapshot, remove_training, snapshot_hash,
    snapshot_manifest, training_project,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Models are numbered up to here.
pub(super) const LAST: u32 = 999_999;
/// How the folder's name ends where a training keeps its state.
const TRAINING: &str = ".training";
const MANIFEST: &str = "manifest.json";

/// A project as what was trained for it knows it.
#[derive(Clone, Debug)]
pub(in crate::session) struct Owner {
    project: ProjectId,
    /// The names of its labels, and those that they had before an edit.
    names: HashSet<(LabelId, String)>,
    next_label: LabelId,
}

impl Owner {
    pub(in crate::session) fn of(project: &ProjectId, corpus: &Corpus, history: &History) -> Self {
        let mut names: HashSet<_> = corpus.labels().iter().map(|label| (label.id, label.name.clone())).collect();
        for edit in history.done().flat_map(|transaction| &transaction.edits) {
            match edit {
                Edit::ReplaceLabel { old, new } => {
                    names.extend([old, new].map(|label| (label.id, label.name.clone())));
                }
                Edit::InsertLabel { label, .. } | Edit::RemoveLabel { label, .. } => {
                    names.insert((label.id, label.name.clone()));
                }
                _ => {}
            }
        }
        Self { project: project.clone(), names, next_label: corpus.labels().next_id() }
    }

    pub(in crate::session) fn project(&self) -> &ProjectId {
        &self.project
    }

    /// Why what was trained for `project` on these labels is not this project's.
    fn strange(&self, project: Option<&ProjectId>, labels: &[(LabelId, String)]) -> Option<Strange> {
        if project.is_some_and(|project| *project != self.project) {
            return Some(Strange::OtherProject);
        }
        // Labels may be renamed and removed; what was trained before stays the project's.
        let is_known =
            |label: &&(LabelId, String)| label.0 < self.next_label && (project.is_some() || self.names.contains(label));
        let unknown = labels.iter().find(|label| !is_known(label));
        unknown.map(|(_, name)| Strange::OtherLabels { name: name.clone() })
    }
}

/// What is there under the number of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::session) enum Files {
    /// Nothing: only the best and the latest models are kept, and a copied project has none.
    Missing,
    /// Those of the model, with its manifest's SHA-256, and the labels that it knows; none where its manifest can't be read.
    Ours {
        manifest_sha256: String,
        labels: Vec<LabelId>,
    },
    Strange(Strange),
}

/// Looks whether the files of a model are there, and whether they are its own.
pub(in crate::session) fn look(folder: &Path, owner: &Owner, record: &ModelRecord) -> Files {
    let at = folder.join(directory(record.id));
    if !disk::is_there(&at) {
        return Files::Missing;
    }
    if !disk::is_folder(folder) || !disk::is_folder(&at) {
        return Files::Strange(Strange::Link);
    }
    if !disk::is_there(&at.join(MANIFEST)) {
        return Files::Missing;
    }
    let (manifest, sha256) = match (snapshot_manifest(&at), &record.manifest_sha256) {
        (Ok(read), _) => read,
        // What else is wrong with it is said when it is loaded.
        (Err(_), Some(registered)) if snapshot_hash(&at).is_ok_and(|hash| hash == *registered) => {
            return Files::Ours { manifest_sha256: registered.clone(), labels: Vec::new() };
        }
        (Err(error), _) => return Files::Strange(Strange::Unreadable { why: error.to_string() }),
    };
    let is_registered = match &record.manifest_sha256 {
        Some(registered) => *registered == sha256,
        None => is_remembered(record, &manifest),
    };
    match owner.strange(manifest.project.as_ref(), &manifest.labels) {
        Some(strange) => Files::Strange(strange),
        None if !is_registered => Files::Strange(Strange::OtherModel),
        None => Files::Ours { manifest_sha256: sha256, labels: manifest.labels.iter().map(|(id, _)| *id).collect() },
    }
}

/// Whether a model is the one that an older program has registered, which took no note of a hash.
fn is_remembered(record: &ModelRecord, manifest: &Manifest) -> bool {
    let Some(known) = info_of_record(record) else { return false };
    let there = info(record.id, manifest, record.created_ms);
    let same_score = match (known.dev_f1, there.dev_f1) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a.is_none() && b.is_none(),
    };
    same_score
        && (known.architecture, known.encoder, known.train_sentences)
            == (there.architecture, there.encoder, there.train_sentences)
}

/// The next number; those of deleted models are not used again.
pub(in crate::session) fn next_id(models: &[ModelRecord]) -> ModelId {
    ModelId(models.iter().map(|m| m.id.0).filter(|id| *id < LAST).max().unwrap_or(0) + 1)
}

/// The first number from `id` on with nothing in its place: what is there and not registered is of a training that was
/// cut short, or of another copy of the project.
///
/// # Errors
/// No number is left.
pub(super) fn first_free(id: ModelId, folder: &Path) -> Result<ModelId, TrainError> {
    let is_free = |id: &ModelId| {
        let names = [directory(*id), training_directory(*id)];
        !names.iter().any(|name| disk::is_there(&folder.join(name)))
    };
    (id.0.max(1)..=LAST).map(ModelId).find(is_free).ok_or(TrainError::NoNumberLeft { last: LAST })
}

/// Before something is written in the folder.
///
/// # Errors
/// A link, or a file.
pub(super) fn check_folder(folder: &Path) -> Result<(), TrainError> {
    if disk::is_there(folder) && !disk::is_folder(folder) {
        return Err(TrainError::NotAFolder { path: folder.to_owned() });
    }
    Ok(())
}

pub(crate) fn directory(id: ModelId) -> String {
    format!("model-{:04}", id.0)
}

/// Where the training of a model keeps its state.
pub(super) fn training_directory(id: ModelId) -> String {
    format!("{}{TRAINING}", directory(id))
}

/// The newest training of a project that was interrupted and can go on.
pub(super) fn newest_interrupted(folder: &Path, owner: &Owner) -> Option<ModelId> {
    let is_ours = |folder: &Path| matches!(whose(folder, owner), Whose::Ours);
    trainings(folder).into_iter().rev().find(|(_, folder)| is_ours(folder)).map(|(id, _)| id)
}

/// Interrupted trainings that are not the project's, each with why.
pub(super) fn strange_trainings(folder: &Path, owner: &Owner) -> Vec<(PathBuf, Strange)> {
    let strange = |(_, folder): (ModelId, PathBuf)| match whose(&folder, owner) {
        Whose::Strange(why) => Some((folder, why)),
        Whose::Ours | Whose::Nobodys => None,
    };
    trainings(folder).into_iter().filter_map(strange).collect()
}

/// What trainings that did not come to their end have left: their state, and models half written.
pub(super) fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let half = folders(folder).filter(|(name, _)| is_half_written(name)).map(|(_, path)| path);
    half.chain(trainings(folder).into_iter().map(|(_, path)| path)).collect()
}

/// Deletes what trainings of the project have left.
pub(super) fn give_up(leftovers: &[PathBuf], owner: &Owner) {
    for folder in leftovers {
        if !matches!(whose(folder, owner), Whose::Strange(_)) {
            // What can't be deleted now is tried again after the next training.
            remove_training(folder).noted("what is left of a training stays behind");
        }
    }
}

/// All models but the current one, the one numbered before it, the newest, and the best on dev; and the newest of those that
/// label given words, which are never in use.
pub(super) fn superfluous(models: &[ModelRecord], current: Option<ModelId>) -> Vec<ModelRecord> {
    let Some(current) = current else { return Vec::new() };
    let infos = || models.iter().filter_map(info_of_record);
    let labels_given: HashSet<ModelId> = infos().filter(ModelInfo::labels_given).map(|info| info.id).collect();
    let finds = || models.iter().map(|m| m.id).filter(|id| !labels_given.contains(id));
    let previous = finds().filter(|id| *id < current).max();
    let scored = models.iter().filter_map(|m| Some((m.id, info_of_record(m)?.dev_f1?)));
    let best = scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, _)| id);
    let keep = [Some(current), previous, best, finds().max(), labels_given.iter().copied().max()];
    models.iter().filter(|m| !keep.contains(&Some(m.id))).cloned().collect()
}

/// Deletes the snapshots of models that are not needed. They can be made again.
pub(super) fn clean_up(folder: &Path, owner: &Owner, superfluous: &[ModelRecord]) {
    for model in superfluous {
        if matches!(look(folder, owner, model), Files::Ours { .. }) {
            // One that can't be deleted (open elsewhere) is tried again after the next training.
            remove_snapshot(&folder.join(directory(model.id))).noted("a model that is not needed stays behind");
        }
    }
}

/// Deletes all models and trainings of a project that goes, and their folder when nothing else is in it.
///
/// # Errors
/// A link, or files that are not the program's.
pub(crate) fn remove_all(folder: &Path) -> Result<(), TrainError> {
    check_folder(folder)?;
    leftovers(folder).iter().try_for_each(|path| remove_training(path))?;
    let id = |name: &str| name.strip_prefix("model-")?.parse().ok().map(ModelId);
    let models = folders(folder).filter(|(name, _)| id(name).is_some_and(|id| directory(id) == *name));
    models.map(|(_, path)| path).try_for_each(|path| remove_snapshot(&path))?;
    let failed =
        |source| TrainError::Io { action: "can't delete the folder of the models", source, path: folder.to_owned() };
    disk::remove_folder(folder, |_| false, |_| 0).map_err(failed)
}

/// Whose an interrupted training is.
enum Whose {
    Ours,
    /// Nothing was kept yet, so that nobody can go on with it.
    Nobodys,
    Strange(Strange),
}

fn whose(folder: &Path, owner: &Owner) -> Whose {
    match interrupted(folder) {
        Ok(None) => Whose::Nobodys,
        Ok(Some(kept)) => match owner.strange(kept.project.as_ref(), &kept.labels) {
            None => Whose::Ours,
            Some(why) => Whose::Strange(why),
        },
        // One that can't go on, as that of another version of the program.
        Err(_) if training_project(folder).is_some_and(|project| project == owner.project) => Whose::Nobodys,
        Err(error) => Whose::Strange(Strange::Unreadable { why: error.to_string() }),
    }
}

/// Trainings that were interrupted, with their folders, the newest last.
fn trainings(folder: &Path) -> Vec<(ModelId, PathBuf)> {
    let id = |name: &str| {
        let id = ModelId(name.strip_prefix("model-")?.strip_suffix(TRAINING)?.parse().ok()?);
        (id != ModelId::FROM_FILE && id.0 <= LAST && training_directory(id) == name).then_some(id)
    };
    let mut found: Vec<_> = folders(folder).filter_map(|(name, path)| Some((id(&name)?, path))).collect();
    found.sort();
    found
}

/// The names and paths of the folders in a folder; links are none.
fn folders(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries =
        disk::is_folder(folder).then(|| std::fs::read_dir(folder).noted_at("its models are not seen", folder));
    let entries = entries.flatten().into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::{Label, LabelSet, MentionId, Rgb};
    use crate::session::learner::records::record;

    fn model(id: u32, dev_f1: Option<f64>) -> ModelRecord {
        let (architecture, encoder) = ("smartspanner".to_owned(), "small".to_owned());
        let (train_sentences, created_ms, calibration) = (20, 0, None);
        let id = ModelId(id);
        let dev_accuracy = None;
        let info =
            ModelInfo { id, architecture, encoder, train_sentences, created_ms, dev_f1, dev_accuracy, calibration };
        record(&info, None).unwrap()
    }

    #[test]
    fn numbers_are_not_used_again_and_pass_over_what_is_there() {
        let models = [model(1, None), model(5, None), model(u32::MAX, None)];
        assert_eq!(next_id(&models), ModelId(6));
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(first_free(ModelId(6), dir.path()).unwrap(), ModelId(6));
        for name in ["model-0006", "model-0007.training", "model-0011.training", "model-12.training", ".model-aB3xyz"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        assert_eq!(first_free(ModelId(6), dir.path()).unwrap(), ModelId(8));
        assert!(first_free(ModelId(LAST + 1), dir.path()).is_err());
        let found: Vec<u32> = trainings(dir.path()).iter().map(|(id, _)| id.0).collect();
        assert_eq!(found, [7, 11]);
        let nobody = Owner::of(&ProjectId::default(), &Corpus::default(), &History::default());
        give_up(&leftovers(dir.path()), &nobody);
        assert!(leftovers(dir.path()).is_empty());
        assert!(dir.path().join("model-0006").is_dir() && dir.path().join("model-12.training").is_dir());
    }

    #[test]
    fn what_was_trained_before_labels_were_renamed_or_removed_stays_the_project_s() {
        let label = |id, name: &str| Label {
            id: LabelId(id),
            name: name.to_owned(),
            title: String::new(),
            color: Rgb(0, 0, 0),
            key: None,
        };
        let labels = LabelSet::restore(vec![label(0, "PERSON"), label(2, "ORG")], LabelId(3)).unwrap();
        let (corpus, mut history) = (Corpus::new(labels, MentionId(0), 0), History::default());
        let renamed = Edit::ReplaceLabel { old: label(0, "PERSON"), new: label(0, "PER") };
        history.record(crate::annotation::Step::Do, crate::annotation::Transaction::new("Rename", vec![renamed]));
        let project = ProjectId::parse(&"5".repeat(32)).unwrap();
        let owner = Owner::of(&project, &corpus, &history);
        let strange = |project: Option<&ProjectId>, labels: &[(u32, &str)]| {
            let labels: Vec<_> = labels.iter().map(|(id, name)| (LabelId(*id), (*name).to_owned())).collect();
            owner.strange(project, &labels)
        };
        let of = |name: &str| Some(Strange::OtherLabels { name: name.to_owned() });
        for project in [None, Some(&project)] {
            assert_eq!(strange(project, &[(0, "PER"), (2, "ORG")]), None);
            assert_eq!(strange(project, &[(0, "PERSON")]), None);
            assert_eq!(strange(project, &[(0, "PER"), (3, "CHEM")]), of("CHEM"), "there was never a fourth one");
        }
        // One that says whose it is may have names from times that nothing tells of any more.
        assert_eq!(strange(Some(&project), &[(0, "HUMAN"), (1, "LOC")]), None);
        assert_eq!(strange(None, &[(0, "HUMAN")]), of("HUMAN"));
        assert_eq!(strange(None, &[(2, "CHEM")]), of("CHEM"));
        let other = ProjectId::parse(&"6".repeat(32)).unwrap();
        assert_eq!(strange(Some(&other), &[(0, "PER")]), Some(Strange::OtherProject));
    }
}
