//! The models of a project: what was trained, and which one is in use.

use super::model_folder::{self, directory};
use super::records::info_of_record;
use super::strange::Strange;
use crate::annotation::{LabelId, ModelId};
use crate::disk::{self, Noted as _};
use crate::session::SessionError;
use crate::session::project::status::ModelInfo;
use crate::store::ModelRecord;
use crate::train::Snapshot;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A model whose files are there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptModel {
    pub id: ModelId,
    /// On disk.
    pub bytes: u64,
}

/// All models that were trained, the oldest first; the snapshots of some may have been cleaned up.
pub(in crate::session) struct Models {
    records: Vec<ModelRecord>,
    current: Option<ModelId>,
    /// The labels of those whose files are there, as it was found at opening and has changed since: nobody looks on disk while
    /// a person waits for the next frame.
    files: BTreeMap<ModelId, Vec<LabelId>>,
    /// Models under whose number something else lies.
    strange: BTreeMap<ModelId, Strange>,
}

impl Models {
    pub(in crate::session) fn new(
        records: Vec<ModelRecord>,
        current: Option<ModelId>,
        files: BTreeMap<ModelId, Vec<LabelId>>,
        strange: BTreeMap<ModelId, Strange>,
    ) -> Self {
        Self { records, current, files, strange }
    }

    pub(in crate::session) fn records(&self) -> &[ModelRecord] {
        &self.records
    }

    pub(in crate::session) fn infos(&self) -> impl Iterator<Item = ModelInfo> + '_ {
        self.records.iter().filter_map(info_of_record)
    }

    /// The model that suggests.
    pub(in crate::session) fn current(&self) -> Option<ModelId> {
        self.current
    }

    /// What is shown of it.
    pub(super) fn current_info(&self) -> Option<ModelInfo> {
        let current = self.current.filter(|id| !self.strange.contains_key(id))?;
        info_of_record(self.record(current)?)
    }

    /// The number of the next one.
    pub(in crate::session) fn next_id(&self) -> ModelId {
        model_folder::next_id(&self.records)
    }

    pub(super) fn has(&self, id: ModelId) -> bool {
        self.record(id).is_some()
    }

    /// A new one whose files are there, with the labels that it knows.
    pub(super) fn add(&mut self, record: ModelRecord, labels: Vec<LabelId>) {
        self.files.insert(record.id, labels);
        self.records.push(record);
    }

    /// The files of a model are not there any more, or soon will not be.
    pub(super) fn forget_files(&mut self, id: ModelId) {
        self.files.remove(&id);
    }

    /// The labels that a model knows, whose files are there.
    pub(super) fn labels(&self, id: ModelId) -> Option<&[LabelId]> {
        self.files.get(&id).map(Vec::as_slice)
    }

    pub(super) fn make_current(&mut self, id: ModelId) {
        self.current = Some(id);
    }

    /// The model under a number and its folder; `None` where its files are not there, or are not its own.
    pub(super) fn snapshot(&self, id: ModelId, models_dir: &Path) -> Option<Snapshot> {
        let record = self.record(id)?;
        let manifest_sha256 = Some(record.manifest_sha256.clone().filter(|_| !self.strange.contains_key(&id))?);
        let is_there = self.files.contains_key(&id);
        is_there.then(|| Snapshot { folder: models_dir.join(directory(id)), manifest_sha256 })
    }

    /// Why the files under the number of a model are not its own; `None` where they are, or there are none.
    pub(super) fn strange(&self, id: ModelId, models_dir: &Path) -> Option<SessionError> {
        let why = self.strange.get(&id)?.clone();
        Some(SessionError::StrangeModel { model: id.to_string(), why, folder: models_dir.join(directory(id)) })
    }

    /// Looks on disk for those that are kept, the newest first.
    pub(super) fn kept(&self, models_dir: PathBuf) -> impl FnOnce() -> Vec<KeptModel> + Send + use<> {
        let (models, strange) = (self.records.clone(), self.strange.clone());
        move || {
            let kept = |model: &ModelRecord| {
                let of_model = models_dir.join(directory(model.id));
                if strange.contains_key(&model.id) || !disk::is_folder(&models_dir) {
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

    fn record(&self, id: ModelId) -> Option<&ModelRecord> {
        self.records.iter().find(|record| record.id == id)
    }
}
