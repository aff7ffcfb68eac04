//! Heads that learned entities together with an encoder: how they are kept beside it, a model made of both, and what of them
//! other labels can begin with.

use super::error::TrainError;
use super::manifest::{Manifest, Outcome};
use super::model::{ENCODER, HEAD, Model};
use super::parameters::Settings;
use super::predictor::Predictor;
use crate::annotation::LabelId;
use crate::encoder::{Encoder, EntityHeads};
use crate::model::{Architecture, Samples, Unlearnable, architecture};
use crate::nn::{Processor, Threads, Vars};
use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt::Display;

/// What stands beside the tensors.
#[derive(Serialize, Deserialize)]
struct Note {
    architecture_version: u32,
    settings: Map<String, Json>,
    /// In the order of the classes.
    labels: Vec<String>,
}

/// The heads among the weights of a model.
pub(super) fn of_model(values: &BTreeMap<String, Tensor>, manifest: &Manifest) -> Result<EntityHeads, TrainError> {
    let note = Note {
        architecture_version: manifest.architecture_version,
        settings: manifest.settings.to_json(),
        labels: manifest.labels.iter().map(|(_, name)| name.clone()).collect(),
    };
    let of_head = values.iter().filter(|(name, _)| name.starts_with(&format!("{HEAD}.")));
    Ok(EntityHeads {
        note: serde_json::to_string(&note).map_err(unfit)?,
        tensors: of_head.map(|(name, tensor)| (name.clone(), tensor.clone())).collect(),
    })
}

/// What an architecture can begin with whatever its labels are: nothing where the heads are another's.
///
/// # Errors
/// Heads that are damaged, or of another version of the program.
pub(super) fn for_any_labels(
    heads: &EntityHeads,
    begun: &'static dyn Architecture,
) -> Result<BTreeMap<String, Tensor>, TrainError> {
    let (_, settings, _) = read(&heads.note)?;
    let is_of_it = settings.architecture == begun.id();
    let tensors = heads.tensors.iter().filter(|(name, _)| is_of_it && begun.serves_any_labels(name));
    Ok(tensors.map(|(name, tensor)| (name.clone(), tensor.clone())).collect())
}

impl Predictor {
    /// The model that an encoder learned entities as, in the words of other labels: what it takes for one of its own is said as
    /// what `label` gives for that one's name, and their probabilities add up; or not said at all. `None` if the encoder has
    /// learned no entities, or none of a label that is given.
    ///
    /// # Errors
    /// Heads that are damaged, or of another version of the program.
    pub fn of_entities(
        encoder: &Encoder,
        label: impl Fn(&str) -> Option<(LabelId, String)>,
        threads: Option<usize>,
    ) -> Result<Option<Self>, TrainError> {
        let Some(heads) = encoder.entity_heads() else { return Ok(None) };
        let (architecture_version, mut settings, names) = read(&heads.note)?;
        let said: Vec<Option<(LabelId, String)>> = names.iter().map(|name| label(name)).collect();
        if said.iter().all(Option::is_none) {
            return Ok(None);
        }
        settings.processor = Processor::Cpu;
        let encoder_weights = encoder.weights().iter().map(|(name, t)| (format!("{}.{name}", ENCODER), t));
        let all = encoder_weights.chain(heads.tensors.iter().map(|(name, t)| (name.clone(), t)));
        let mut vars = Vars::fixed(all.map(|(name, t)| (name, t.clone())).collect(), &Device::Cpu);
        let own = (0..).map(LabelId).take(names.len()).collect();
        let model = Model::build(&mut vars, encoder.definition().clone(), &settings, own)?;
        vars.check_all_taken()?;
        let ids: Vec<Option<LabelId>> = said.iter().map(|label| label.as_ref().map(|(id, _)| *id)).collect();
        let model = model.saying(&ids);
        let labels: BTreeMap<LabelId, String> = said.into_iter().flatten().collect();
        let manifest = Manifest {
            project: None,
            architecture_version,
            settings,
            labels: labels.into_iter().collect(),
            dataset_hash: String::new(),
            parent: None,
            outcome: Outcome {
                train_sentences: 0,
                of_sentences: 0,
                best_epoch: 0,
                dev: None,
                wall_secs: 0.0,
                sentences_per_sec: 0.0,
                peak_memory_mb: None,
                samples: Samples::default(),
                mentions: 0,
                unlearnable: Unlearnable::default(),
                parameters: vars.parameters(),
            },
        };
        Ok(Some(Self::of(manifest, model, Threads::new("names", threads)?)))
    }
}

/// The version of the architecture, settings and labels that heads say they have.
fn read(note: &str) -> Result<(u32, Settings, Vec<String>), TrainError> {
    let note: Note = serde_json::from_str(note).map_err(unfit)?;
    let id = note.settings.get("architecture").and_then(Json::as_str).unwrap_or_default();
    let architecture = architecture(id).map_err(unfit)?;
    if note.architecture_version != architecture.version() {
        let (made, here) = (note.architecture_version, architecture.version());
        return Err(unfit(format!("it is of another version of the program ({id} {made}, this one reads {here})")));
    }
    let settings = Settings::from_json(&note.settings, architecture).map_err(unfit)?;
    Ok((note.architecture_version, settings, note.labels))
}

fn unfit(error: impl Display) -> TrainError {
    TrainError::EntityHeads(error.to_string())
}

/// What an encoder learned to find, by the names of its labels; `note` is what stands beside its heads.
///
/// # Errors
/// Heads that are damaged, or of another version of the program.
pub fn entity_labels(note: &str) -> Result<Vec<String>, TrainError> {
    Ok(read(note)?.2)
}
