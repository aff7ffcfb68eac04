//! Which of its models a project uses.

use super::model_folder::{clean_up, directory, give_up, superfluous};
use super::models::KeptModel;
use super::records::record;
use super::source::Source;
use crate::annotation::{LabelId, ModelId};
use crate::session::project::Project;
use crate::session::project::status::ModelInfo;
use crate::session::{SessionError, Task};
use crate::train::{Predictor, Snapshot, Trained};
use std::path::PathBuf;
use std::sync::Arc;

/// What a training has put on disk.
pub(super) struct NewFiles {
    pub manifest_sha256: String,
    /// Those that the model knows.
    pub labels: Vec<LabelId>,
    /// What earlier trainings have left.
    pub leftovers: Vec<PathBuf>,
}

impl NewFiles {
    pub(super) fn of(trained: &Trained, leftovers: Vec<PathBuf>) -> Self {
        let labels = trained.manifest.labels.iter().map(|(id, _)| *id).collect();
        Self { manifest_sha256: trained.manifest_sha256.clone(), labels, leftovers }
    }
}

impl Project {
    /// Looks on disk for the models that are kept, the newest first: not for the window's thread.
    pub fn kept_models(&self) -> impl FnOnce() -> Vec<KeptModel> + Send + use<> {
        self.models.kept(self.models_dir())
    }

    /// The same, on a thread of its own.
    pub fn look_for_models(&self) -> Task<Vec<KeptModel>> {
        Task::spawn("nestling-models", self.waker(), self.kept_models())
    }

    /// The model under a number and its folder; `None` where its files are not there, or are not its own.
    pub(crate) fn registered(&self, id: ModelId) -> Option<Snapshot> {
        self.models.snapshot(id, &self.models_dir())
    }

    /// The same of the model in use.
    pub(super) fn current_snapshot(&self) -> Option<(ModelId, Snapshot)> {
        let id = self.current_model()?;
        Some((id, self.registered(id)?))
    }

    /// Why the files under the number of a model are not its own; `None` where they are, or there are none.
    pub(super) fn strange_model(&self, id: ModelId) -> Option<SessionError> {
        self.models.strange(id, &self.models_dir())
    }

    pub(super) fn find_model(&self, id: Option<ModelId>) -> Result<(ModelId, Snapshot), SessionError> {
        let id = id.or(self.current_model()).ok_or(SessionError::NoModel)?;
        if let Some(snapshot) = self.registered(id) {
            return Ok((id, snapshot));
        }
        if let Some(strange) = self.strange_model(id) {
            return Err(strange);
        }
        let model = id.to_string();
        if self.models.has(id) {
            return Err(SessionError::NoModelFiles { model, folder: self.models_dir().join(directory(id)) });
        }
        Err(SessionError::NoSuchModel { model })
    }

    /// As [`Project::find_model`] of those that find mentions.
    fn find_suggesting(&self, id: Option<ModelId>) -> Result<(ModelId, Snapshot), SessionError> {
        let found = self.find_model(id)?;
        self.check_suggests(found.0).map(|()| found)
    }

    fn check_suggests(&self, id: ModelId) -> Result<(), SessionError> {
        let labels_given = self.models.infos().any(|info| info.id == id && info.labels_given());
        if labels_given { Err(SessionError::FindsNothing { model: id.to_string() }) } else { Ok(()) }
    }

    /// A model, the current one by default, or what the encoder knows.
    pub(super) fn find_source(&self, id: Option<ModelId>) -> Result<Source, SessionError> {
        if id == Some(ModelId::NAMES) {
            return Ok(Source::Names(Arc::new(self.find_names()?)));
        }
        self.find_model(id).map(|(id, snapshot)| Source::Model(id, snapshot))
    }

    /// The same of what finds mentions, loaded.
    pub(in crate::session) fn load_model(
        &self,
        id: Option<ModelId>,
        threads: Option<usize>,
    ) -> Result<(ModelId, Predictor), SessionError> {
        let source = self.find_source(id)?;
        self.check_suggests(source.id())?;
        Ok((source.id(), source.load(threads)?))
    }

    /// Registers a snapshot that is on disk by the hash of its manifest, and uses it if it is to be used. Older ones are
    /// deleted by the task that comes back, which the window need not hear.
    pub(super) fn add_model(
        &mut self,
        info: &ModelInfo,
        files: NewFiles,
        make_current: bool,
    ) -> Result<Task<()>, SessionError> {
        let NewFiles { manifest_sha256, labels, leftovers } = files;
        // One that finds nothing stands beside the one that suggests.
        let make_current = make_current && !info.labels_given();
        let record = record(info, Some(manifest_sha256))?;
        self.writer()?.model(record.clone())?;
        self.models.add(record, labels);
        if make_current {
            self.use_model(info.id)?;
        }
        let superfluous = superfluous(self.models.records(), self.current_model());
        superfluous.iter().for_each(|record| self.models.forget_files(record.id));
        let (folder, owner) = (self.models_dir(), self.owner());
        Ok(Task::spawn("nestling-cleanup", self.waker(), move || {
            give_up(&leftovers, &owner);
            clean_up(&folder, &owner, &superfluous);
        }))
    }

    /// Makes a model the one that suggests.
    fn use_model(&mut self, id: ModelId) -> Result<(), SessionError> {
        self.writer()?.set_current_model(Some(id))?;
        self.models.make_current(id);
        self.show_current_model();
        self.start_predicting();
        Ok(())
    }

    /// Reads what is shown of the current model.
    pub(super) fn show_current_model(&mut self) {
        self.learner.status.current = self.models.current_info();
    }

    /// Lets an older model make the suggestions. Not while a training is under way: it is to be compared with the model
    /// that was in use when it began, and a quick one goes on from that.
    pub(in crate::session) fn go_back_to(&mut self, model: ModelId) -> Result<(), SessionError> {
        self.find_suggesting(Some(model))?;
        if self.current_model() != Some(model) {
            if self.learner.is_training() {
                return Err(SessionError::TrainingAlready);
            }
            self.use_model(model)?;
            // Nobody knows any more what this one has learned from: to a quick training all is new.
            self.learner.learned.forget();
        }
        Ok(())
    }
}
