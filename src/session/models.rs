//! The models of a project: their numbers, folders and what is remembered of them.

use super::project::Project;
use super::status::ModelInfo;
use super::{SessionError, Task};
use crate::annotation::ModelId;
use crate::evaluation::{Calibration, Scale};
use crate::store::ModelRecord;
use crate::train::{HALF_WRITTEN, Manifest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the folder's name ends where a training keeps its state.
const TRAINING: &str = ".training";

/// What the project file remembers of a model, so that it need not be loaded to be shown.
#[derive(Serialize, Deserialize)]
struct Remembered {
    architecture: String,
    encoder: String,
    train_sentences: usize,
    dev_f1: Option<f64>,
    /// Temperature, error before and after.
    #[serde(default)]
    calibration: Option<(f64, f64, f64)>,
    /// Beside the temperature.
    #[serde(default)]
    bias: f64,
}

/// The next number; those of deleted models are not used again.
pub(super) fn next_id(models: &[ModelRecord]) -> ModelId {
    ModelId(models.iter().map(|m| m.id.0).max().unwrap_or(0) + 1)
}

/// The first number from `id` on without a folder: one that is there and not registered is of a training that was cut
/// short, or of another copy of the project.
pub(super) fn first_free(mut id: ModelId, folder: &Path) -> ModelId {
    while folder.join(directory(id)).exists() || folder.join(training_directory(id)).exists() {
        id.0 += 1;
    }
    id
}

pub(super) fn directory(id: ModelId) -> String {
    format!("model-{:04}", id.0)
}

/// Where the training of a model keeps its state.
pub(super) fn training_directory(id: ModelId) -> String {
    format!("{}{TRAINING}", directory(id))
}

/// Trainings that were interrupted, with their folders, the newest last.
pub(super) fn interrupted(folder: &Path) -> Vec<(ModelId, PathBuf)> {
    let id = |path: &Path| {
        let number = path.file_name()?.to_str()?.strip_prefix("model-")?.strip_suffix(TRAINING)?;
        Some(ModelId(number.parse().ok()?))
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.filter_map(|entry| Some((id(&entry.path())?, entry.path()))).collect();
    found.sort();
    found
}

/// What trainings that did not come to their end have left: their state, and models half written.
pub(super) fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_half = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with(HALF_WRITTEN));
    let half = entries.filter(|entry| is_half(&entry.file_name())).map(|entry| entry.path());
    half.chain(interrupted(folder).into_iter().map(|(_, path)| path)).collect()
}

/// Deletes what trainings have left.
pub(super) fn give_up(leftovers: &[PathBuf]) {
    for folder in leftovers {
        // What can't be deleted now is tried again after the next training.
        let _left = std::fs::remove_dir_all(folder);
    }
}

pub(super) fn info(id: ModelId, manifest: &Manifest, created_ms: i64) -> ModelInfo {
    let outcome = &manifest.outcome;
    ModelInfo {
        id,
        architecture: manifest.settings.architecture.clone(),
        encoder: manifest.settings.encoder.clone(),
        train_sentences: outcome.train_sentences,
        created_ms,
        dev_f1: outcome.dev.as_ref().and_then(|dev| dev.micro.f1()),
        calibration: None,
    }
}

pub(super) fn record(info: &ModelInfo) -> Result<ModelRecord, serde_json::Error> {
    let remembered = Remembered {
        architecture: info.architecture.clone(),
        encoder: info.encoder.clone(),
        train_sentences: info.train_sentences,
        dev_f1: info.dev_f1,
        calibration: info.calibration.map(|c| (c.scale.temperature, c.error_before, c.error_after)),
        bias: info.scale().bias,
    };
    Ok(ModelRecord {
        id: info.id,
        directory: directory(info.id),
        manifest: serde_json::to_string(&remembered)?,
        created_ms: info.created_ms,
    })
}

/// What is remembered of a model; `None` for a record of another version of the program.
pub(super) fn info_of_record(record: &ModelRecord) -> Option<ModelInfo> {
    let Remembered { architecture, encoder, train_sentences, dev_f1, calibration, bias } =
        serde_json::from_str(&record.manifest).ok()?;
    let calibration = calibration.map(|(temperature, error_before, error_after)| Calibration {
        scale: Scale { temperature, bias },
        error_before,
        error_after,
    });
    let (id, created_ms) = (record.id, record.created_ms);
    Some(ModelInfo { id, architecture, encoder, train_sentences, created_ms, dev_f1, calibration })
}

/// Deletes snapshots but the current one, the one numbered before it, the newest, and the best on dev. They can be made again.
pub(super) fn clean_up(folder: &Path, models: &[ModelRecord], current: Option<ModelId>) {
    let Some(current) = current else { return };
    let previous = models.iter().map(|m| m.id).filter(|id| *id < current).max();
    let scored = models.iter().filter_map(|m| Some((m.id, info_of_record(m)?.dev_f1?)));
    let best = scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, _)| id);
    let newest = models.iter().map(|m| m.id).max();
    let keep = [Some(current), previous, best, newest];
    for model in models.iter().filter(|m| !keep.contains(&Some(m.id))) {
        // One that can't be deleted (open elsewhere) is tried again after the next training.
        let _left = std::fs::remove_dir_all(folder.join(&model.directory));
    }
}

/// A model whose files are there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptModel {
    pub id: ModelId,
    /// On disk.
    pub bytes: u64,
}

impl Project {
    /// Looks on disk for the models that are kept, the newest first: not for the window's thread.
    pub fn kept_models(&self) -> impl FnOnce() -> Vec<KeptModel> + Send + use<> {
        let (folder, models) = (self.models_dir(), self.models.clone());
        move || {
            let kept = |model: &ModelRecord| {
                let entries = std::fs::read_dir(folder.join(&model.directory)).ok()?;
                let sizes = entries.flatten().filter_map(|entry| Some(entry.metadata().ok()?.len()));
                Some(KeptModel { id: model.id, bytes: sizes.sum() })
            };
            models.iter().rev().filter_map(kept).collect()
        }
    }

    /// The same, on a thread of its own.
    pub fn look_for_models(&self) -> Task<Vec<KeptModel>> {
        Task::spawn("nestling-models", self.waker.as_waker(), self.kept_models())
    }

    /// Registers a snapshot that is on disk, and uses it if it is to be used. Older ones are deleted by the task that
    /// comes back, which the window need not hear.
    pub(super) fn add_model(&mut self, info: &ModelInfo, make_current: bool) -> Result<Task<()>, SessionError> {
        let record = record(info)?;
        self.writer()?.model(record.clone())?;
        self.models.push(record);
        if make_current {
            self.use_model(info.id)?;
        }
        let (folder, models, current) = (self.models_dir(), self.models.clone(), self.current_model);
        // Listed now: the next training may begin before they are deleted.
        let leftovers = leftovers(&folder);
        Ok(Task::spawn("nestling-cleanup", self.waker.as_waker(), move || {
            give_up(&leftovers);
            clean_up(&folder, &models, current);
        }))
    }

    /// Makes a model the one that suggests.
    pub(super) fn use_model(&mut self, id: ModelId) -> Result<(), SessionError> {
        self.writer()?.set_current_model(Some(id))?;
        self.current_model = Some(id);
        self.show_current_model();
        self.start_predicting();
        Ok(())
    }

    /// Reads what is shown of the current model.
    pub(super) fn show_current_model(&mut self) {
        let record = self.current_model.and_then(|id| self.models.iter().find(|m| m.id == id));
        self.learner.status.current = record.and_then(info_of_record);
    }

    /// Lets an older model make the suggestions. Not while a training is under way: it is to be compared with the model
    /// that was in use when it began, and a quick one goes on from that.
    pub(super) fn go_back_to(&mut self, model: ModelId) -> Result<(), SessionError> {
        self.find_model(Some(model))?;
        if self.current_model != Some(model) {
            if self.learner.is_training() {
                return Err(SessionError::TrainingAlready);
            }
            self.use_model(model)?;
            // Nobody knows any more what this one has learned from: to a quick training all is new.
            self.learner.known = Arc::default();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(id: u32, dev_f1: Option<f64>) -> ModelRecord {
        let (architecture, encoder) = ("smartspanner".to_owned(), "small".to_owned());
        let (train_sentences, created_ms, calibration) = (20, 0, None);
        let id = ModelId(id);
        record(&ModelInfo { id, architecture, encoder, train_sentences, created_ms, dev_f1, calibration }).unwrap()
    }

    #[test]
    fn what_makes_scores_honest_is_remembered() {
        let scale = Scale { temperature: 2.0, bias: -1.0 };
        let calibration = Some(Calibration { scale, error_before: 0.2, error_after: 0.05 });
        let info = ModelInfo { calibration, ..info_of_record(&model(3, Some(0.5))).unwrap() };
        assert_eq!(info_of_record(&record(&info).unwrap()), Some(info));
    }

    #[test]
    fn the_best_the_current_and_the_previous_model_stay() {
        let models =
            [model(1, Some(0.4)), model(2, Some(0.9)), model(3, None), model(4, Some(0.5)), model(5, Some(0.6))];
        let dir = tempfile::tempdir().unwrap();
        for model in &models {
            std::fs::create_dir(dir.path().join(&model.directory)).unwrap();
        }
        clean_up(dir.path(), &models, Some(ModelId(5)));
        let there = models.iter().filter(|m| dir.path().join(&m.directory).is_dir()).map(|m| m.id.0);
        assert_eq!(there.collect::<Vec<_>>(), [2, 4, 5]);
        assert_eq!(next_id(&models), ModelId(6));
        std::fs::create_dir(dir.path().join(directory(ModelId(6)))).unwrap();
        assert_eq!(first_free(ModelId(6), dir.path()), ModelId(7));

        std::fs::create_dir(dir.path().join(training_directory(ModelId(11)))).unwrap();
        std::fs::create_dir(dir.path().join(training_directory(ModelId(7)))).unwrap();
        assert_eq!(first_free(ModelId(6), dir.path()), ModelId(8));
        std::fs::create_dir(dir.path().join(format!("{HALF_WRITTEN}x"))).unwrap();
        let trainings: Vec<u32> = interrupted(dir.path()).iter().map(|(id, _)| id.0).collect();
        assert_eq!(trainings, [7, 11]);
        give_up(&leftovers(dir.path()));
        assert!(leftovers(dir.path()).is_empty());
        assert!(dir.path().join(directory(ModelId(5))).is_dir());
    }
}
