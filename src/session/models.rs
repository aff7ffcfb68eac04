//! The models of a project: what is remembered of them, and which one is in use.

use super::model_folder::{self, Files, Owner, Strange, clean_up, directory, give_up, leftovers, look, strange_model};
use super::project::Project;
use super::status::ModelInfo;
use super::{SessionError, Task};
use crate::annotation::{Corpus, ModelId, SentenceId, SentenceSuggestions, Suggestion};
use crate::disk::{self, Noted as _};
use crate::evaluation::{Calibration, Scale};
use crate::store::ModelRecord;
use crate::train::{Manifest, Snapshot};
use crate::wording::counted;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

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

pub(super) fn record(info: &ModelInfo, manifest_sha256: Option<String>) -> Result<ModelRecord, serde_json::Error> {
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
        manifest: serde_json::to_string(&remembered)?,
        manifest_sha256,
        created_ms: info.created_ms,
    })
}

/// What is remembered of a model; `None` for a record of another version of the program.
pub(super) fn info_of_record(record: &ModelRecord) -> Option<ModelInfo> {
    let Remembered { architecture, encoder, train_sentences, dev_f1, calibration, bias } =
        serde_json::from_str(&record.manifest).ok()?;
    // A file may say anything: what would make no score of a score is none.
    let calibration = calibration.filter(|(temperature, ..)| *temperature > 0.0 && bias.is_finite());
    let calibration = calibration.map(|(temperature, error_before, error_after)| Calibration {
        scale: Scale { temperature, bias },
        error_before,
        error_after,
    });
    let (id, created_ms) = (record.id, record.created_ms);
    Some(ModelInfo { id, architecture, encoder, train_sentences, created_ms, dev_f1, calibration })
}

/// What was found of the models of a project when it was opened.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Models under whose number something else lies, and why it is not theirs.
    pub strange: BTreeMap<ModelId, Strange>,
    /// Records that learned the hash of their model's manifest.
    pub adopted: Vec<ModelRecord>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Looks for the files of all models. Those of an older program are taken for the model's when they fit in all that is
/// known of it; their hash is then put into `models`.
pub(super) fn find(folder: &Path, owner: &Owner, models: &mut Vec<ModelRecord>) -> Found {
    let mut found = Found::default();
    let is_numbered = |id: ModelId| id != ModelId::FROM_FILE && id.0 <= model_folder::LAST;
    if let Some(record) = models.iter().find(|record| !is_numbered(record.id)) {
        found
            .notes
            .push(format!("no model has the number {}; what the project file says of it is left out", record.id));
    }
    models.retain(|record| is_numbered(record.id));
    for record in models {
        match look(folder, owner, record) {
            Files::Missing => {}
            Files::Ours { manifest_sha256 } if record.manifest_sha256.is_none() => {
                record.manifest_sha256 = Some(manifest_sha256);
                found.adopted.push(record.clone());
            }
            Files::Ours { .. } => {}
            Files::Strange(why) => drop(found.strange.insert(record.id, why)),
        }
    }
    let mut alike: Vec<(&Strange, Vec<String>)> = Vec::new();
    for (id, why) in &found.strange {
        match alike.iter_mut().find(|(other, _)| *other == why) {
            Some((_, ids)) => ids.push(id.to_string()),
            None => alike.push((why, vec![id.to_string()])),
        }
    }
    let at = folder.display();
    found.notes.extend(alike.into_iter().map(|(why, ids)| {
        let which = if ids.len() == 1 { "model" } else { "models" };
        format!("the files of {which} {} {why}; they are left as they are; train anew: {at}", ids.join(", "))
    }));
    let trainings = model_folder::strange_trainings(folder, owner);
    found.notes.extend(trainings.into_iter().map(|(path, why)| {
        format!("the files of an interrupted training {why}; they are left as they are: {}", path.display())
    }));
    found
}

/// What no model of the project can have said, with what is to be known of it. Each sentence with what is left.
///
/// Suggestions that name labels which the project never had, and all else that such a model says (what came with a file
/// loses those suggestions alone); and what reaches beyond its sentence.
pub(super) fn impossible(
    suggestions: &HashMap<SentenceId, SentenceSuggestions>,
    corpus: &Corpus,
) -> (Vec<(SentenceId, SentenceSuggestions)>, Vec<String>) {
    let next = corpus.labels().next_id();
    let has_label = |s: &Suggestion| s.label < next && s.runner_up.is_none_or(|(label, _)| label < next);
    let faulty = suggestions.values().filter(|said| !said.spans.iter().all(has_label));
    let models: BTreeSet<ModelId> = faulty.map(|said| said.model).collect();
    let (mut without, mut strange, mut outside) = (Vec::new(), 0, 0);
    for (id, said) in suggestions {
        let is_strange = models.contains(&said.model);
        let tokens = corpus.any_sentence(*id).map_or(usize::MAX, |sentence| sentence.tokens().len());
        let is_inside = |s: &Suggestion| s.span.end().get() <= tokens;
        if !is_strange && said.spans.iter().all(is_inside) && said.heads.len() <= tokens {
            continue;
        }
        let mut left = said.clone();
        if is_strange {
            // Of no model, so that the one in use says what it has to say.
            left.spans.retain(|s| said.model == ModelId::FROM_FILE && has_label(s));
            left = SentenceSuggestions { model: ModelId::FROM_FILE, heads: Vec::new(), acquisition: None, ..left };
            strange += said.spans.len() - left.spans.len();
        }
        let known = left.spans.len();
        left.spans.retain(is_inside);
        outside += known - left.spans.len();
        if left.heads.len() > tokens {
            left.heads.clear();
        }
        if left != *said {
            without.push((*id, left));
        }
    }
    let note = |count: usize, why: &str| {
        (count > 0).then(|| format!("{} {why}; not shown", counted(count, "suggestion is", "suggestions are")))
    };
    let strange = note(strange, "of labels that the project never had, or by the model that named these");
    (without, strange.into_iter().chain(note(outside, "beyond the end of the sentence")).collect())
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
    pub(super) fn registered(&self, id: ModelId) -> Option<Snapshot> {
        let record = self.models.iter().find(|m| m.id == id)?;
        let manifest_sha256 = Some(record.manifest_sha256.clone().filter(|_| !self.strange.contains_key(&id))?);
        let models = self.models_dir();
        let folder = models.join(directory(id));
        (disk::is_folder(&models) && disk::is_folder(&folder)).then_some(Snapshot { folder, manifest_sha256 })
    }

    /// Why the files under the number of a model are not its own; `None` where they are, or there are none.
    pub(super) fn strange_model(&self, id: ModelId) -> Option<SessionError> {
        self.strange.get(&id).map(|why| strange_model(&self.models_dir(), id, why))
    }

    /// As what was trained for it knows it.
    pub(super) fn owner(&self) -> Owner {
        Owner::of(&self.id, &self.corpus, &self.history)
    }

    /// Registers a snapshot that is on disk by the hash of its manifest, and uses it if it is to be used. Older ones are
    /// deleted by the task that comes back, which the window need not hear.
    pub(super) fn add_model(
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
    pub(super) fn use_model(&mut self, id: ModelId) -> Result<(), SessionError> {
        self.writer()?.set_current_model(Some(id))?;
        self.current_model = Some(id);
        self.show_current_model();
        self.start_predicting();
        Ok(())
    }

    /// Reads what is shown of the current model.
    pub(super) fn show_current_model(&mut self) {
        let current = self.current_model.filter(|id| !self.strange.contains_key(id));
        let record = current.and_then(|id| self.models.iter().find(|m| m.id == id));
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
    use crate::annotation::{LabelId, Span, Suggestion};

    fn info() -> ModelInfo {
        let (architecture, encoder) = ("smartspanner".to_owned(), "small".to_owned());
        let (id, train_sentences, created_ms, dev_f1, calibration) = (ModelId(3), 20, 0, Some(0.5), None);
        ModelInfo { id, architecture, encoder, train_sentences, created_ms, dev_f1, calibration }
    }

    #[test]
    fn what_makes_scores_honest_is_remembered() {
        let scale = Scale { temperature: 2.0, bias: -1.0 };
        let calibration = Some(Calibration { scale, error_before: 0.2, error_after: 0.05 });
        let info = ModelInfo { calibration, ..info() };
        let mut record = record(&info, None).unwrap();
        assert_eq!(info_of_record(&record), Some(info));
        for faulty in ["0.0", "-2.0"] {
            record.manifest = record.manifest.replace("2.0", faulty);
            assert_eq!(info_of_record(&record).unwrap().calibration, None, "{faulty}");
        }
    }

    #[test]
    fn what_names_labels_that_never_were_is_taken_away_with_all_that_its_model_said() {
        let span = Span::from_range(0..1).unwrap();
        let said = |model: u32, labels: &[u32]| SentenceSuggestions {
            model: ModelId(model),
            heads: vec![0.5],
            spans: labels
                .iter()
                .map(|label| Suggestion { span, label: LabelId(*label), score: 0.9, runner_up: None })
                .collect(),
            acquisition: None,
        };
        let project = super::super::NewProject::with_labels(["PER", "LOC"]).unwrap();
        let corpus = Corpus::new(project.labels, crate::annotation::MentionId(0), 0);
        let all = [said(1, &[0, 1]), said(2, &[0]), said(2, &[1, 2]), said(0, &[0, 7])];
        let all: HashMap<SentenceId, SentenceSuggestions> = (0..).map(SentenceId).zip(all).collect();
        let (mut without, notes) = impossible(&all, &corpus);
        without.sort_by_key(|(id, _)| *id);
        let left: Vec<_> = without.iter().map(|(id, said)| (id.0, said.model.0, said.spans.len())).collect();
        assert_eq!(left, [(1, 0, 0), (2, 0, 0), (3, 0, 1)]);
        assert!(matches!(notes.as_slice(), [note] if note.starts_with("4 suggestions are")), "{notes:?}");
        let rest = HashMap::from([(SentenceId(0), said(1, &[0, 1]))]);
        assert_eq!(impossible(&rest, &corpus), (Vec::new(), Vec::new()));
    }

    #[test]
    fn what_reaches_beyond_its_sentence_is_taken_away() {
        let mut corpus = Corpus::new(
            super::super::NewProject::with_labels(["PER"]).unwrap().labels,
            crate::annotation::MentionId(0),
            0,
        );
        let tokens = crate::text::tokenize("Anna left");
        let sentences = vec![crate::annotation::NewSentence { tokens, ..Default::default() }];
        let (name, text) = (String::new(), "Anna left".into());
        corpus
            .add_document(crate::annotation::NewDocument { name, text, sentences, kept: Default::default() })
            .unwrap();
        let suggestion = |range| {
            let span = Span::from_range(range).unwrap();
            Suggestion { span, label: LabelId(0), score: 0.9, runner_up: None }
        };
        let spans = vec![suggestion(0..1), suggestion(1..3)];
        let said = SentenceSuggestions { model: ModelId(1), heads: vec![0.5; 3], spans, acquisition: None };
        let (without, notes) = impossible(&HashMap::from([(SentenceId(0), said)]), &corpus);
        let left: Vec<_> = without.iter().map(|(_, left)| (left.spans.len(), left.heads.len())).collect();
        assert_eq!(
            (left, notes),
            (vec![(1, 0)], vec!["1 suggestion is beyond the end of the sentence; not shown".to_owned()])
        );
    }
}
