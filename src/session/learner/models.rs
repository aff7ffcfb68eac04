//! The models of a project: which are kept, and which one is in use.

use super::model_folder::{Owner, clean_up, directory, give_up, leftovers};
use super::records::{info_of_record, record};
use crate::annotation::ModelId;
use crate::disk::{self, Noted as _};
use crate::session::project::Project;
use crate::session::project::status::ModelInfo;
use crate::session::{SessionError, Task};
use crate::store::ModelRecord;
use crate::train::Snapshot;
use std::sync::Arc;

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
        let (folder, models, strange) = (self.models_dir(), self.models.clone(), self.strange.clone());
        move || {
            let kept = |model: &ModelRecord| {
                let of_model = folder.join(directory(model.id));
                if strange.contains_key(&model.id) || !disk::is_folder(&folder) {
                    return None;
                }
                let entries = disk::is_folder(&of_model).then(|| std::fs::read_dir(&of_model))?;
                let entries = entries.noted_at("the model is not listed", &of_model)?;
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

    /// The model under a number and its folder; `None` where its files are not there, or are not its own.
    pub(crate) fn registered(&self, id: ModelId) -> Option<Snapshot> {
        let record = self.models.iter().find(|m| m.id == id)?;
        let manifest_sha256 = Some(record.manifest_sha256.clone().filter(|_| !self.strange.contains_key(&id))?);
        let models = self.models_dir();
        let folder = models.join(directory(id));
        (disk::is_folder(&models) && disk::is_folder(&folder)).then_some(Snapshot { folder, manifest_sha256 })
    }

    /// Why the files under the number of a model are not its own; `None` where they are, or there are none.
    pub(in crate::session) fn strange_model(&self, id: ModelId) -> Option<SessionError> {
        let (model, folder) = (id.to_string(), self.models_dir().join(directory(id)));
        self.strange.get(&id).map(|why| SessionError::StrangeModel { model, why: why.clone(), folder })
    }

    /// As what was trained for it knows it.
    pub(in crate::session) fn owner(&self) -> Owner {
        Owner::of(self.project_id(), &self.corpus, &self.history)
    }

    /// Registers a snapshot that is on disk by the hash of its manifest, and uses it if it is to be used. Older ones are
    /// deleted by the task that comes back, which the window need not hear.
    pub(in crate::session) fn add_model(
        &mut self,
        info: &ModelInfo,
        manifest_sha256: &str,
        make_current: bool,
    ) -> Result<Task<()>, SessionError> {
        let record = record(info, Some(manifest_sha256.to_owned()))?;
        self.writer()?.model(record.clone())?;
        self.models.push(record);
        if make_current {
            self.use_model(info.id)?;
        }
        let (folder, models, current) = (self.models_dir(), self.models.clone(), self.current_model);
        // Listed now: the next training may begin before they are deleted.
        let (leftovers, owner) = (leftovers(&folder), self.owner());
        Ok(Task::spawn("nestling-cleanup", self.waker.as_waker(), move || {
            give_up(&leftovers, &owner);
            clean_up(&folder, &owner, &models, current);
        }))
    }

    /// Makes a model the one that suggests.
    pub(in crate::session) fn use_model(&mut self, id: ModelId) -> Result<(), SessionError> {
        self.writer()?.set_current_model(Some(id))?;
        self.current_model = Some(id);
        self.show_current_model();
        self.start_predicting();
        Ok(())
    }

    /// Reads what is shown of the current model.
    pub(in crate::session) fn show_current_model(&mut self) {
        let current = self.current_model.filter(|id| !self.strange.contains_key(id));
        let record = current.and_then(|id| self.models.iter().find(|m| m.id == id));
        self.learner.status.current = record.and_then(info_of_record);
    }

    /// Lets an older model make the suggestions. Not while a training is under way: it is to be compared with the model
    /// that was in use when it began, and a quick one goes on from that.
    pub(in crate::session) fn go_back_to(&mut self, model: ModelId) -> Result<(), SessionError> {
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
