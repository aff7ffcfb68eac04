//! The pretraining itself.

use super::corpus::AnnotatedCorpus;
use super::error::PretrainError;
use super::label_map::LabelMap;
use super::record::{RECORD, Record};
use super::settings::PretrainSettings;
use super::union::{Union, union};
use crate::disk::is_there;
use crate::encoder::Encoder;
use crate::train::{Event, train_encoder};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What to learn from what, and where to.
#[derive(Clone, Debug)]
pub struct PretrainingRequest {
    pub encoder: Encoder,
    /// What the record calls it.
    pub base: String,
    pub corpora: Vec<AnnotatedCorpus>,
    pub labels: LabelMap,
    pub settings: PretrainSettings,
    /// The new encoder's folder; it must not exist.
    pub output: PathBuf,
}

/// Trains on the caller's thread until done, with tensor work on a pool of its own, and writes the encoder's folder.
///
/// # Errors
/// Corpora and labels that can't be learnt from, and what a training refuses; [`crate::train::TrainError::Cancelled`] soon
/// after the flag is set. Whatever the error, no encoder is left behind.
pub fn pretrain(
    request: &PretrainingRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Record, PretrainError> {
    let PretrainingRequest { encoder, base, corpora, labels, settings, output } = request;
    if is_there(output) {
        return Err(PretrainError::Exists(output.clone()));
    }
    if settings.compact && encoder.weights().is_empty() {
        return Err(PretrainError::NotPretrained);
    }
    let Union { dataset, corpora, labels } = union(corpora, labels, settings.limit, settings.seed())?;
    let beginning = if settings.compact { encoder.rounded()? } else { encoder.clone() };
    let config = settings.training(base, encoder.definition().config().layers);
    let (dataset, mut losses) = (Arc::new(dataset), Vec::new());
    let on_event = &mut |event: Event| {
        if let Event::EpochDone { mean_loss, .. } = event {
            losses.push(mean_loss);
        }
        on_event(event);
    };
    let (learned, manifest) = train_encoder(&beginning, &dataset, &config, cancel, on_event)?;
    let record = Record {
        base: base.clone(),
        parameters: learned.parameters(),
        compact: settings.compact,
        seed: settings.seed(),
        limit: settings.limit,
        sentences: dataset.train().len(),
        corpora,
        too_wide_mentions: manifest.outcome.unlearnable.too_wide,
        doubled_mentions: manifest.outcome.unlearnable.doubled,
        labels,
        dataset_hash: manifest.dataset_hash,
        settings: manifest.settings.to_json(),
        losses,
    };
    let json = serde_json::to_string_pretty(&record)? + "\n";
    learned.save(output, settings.compact, (RECORD, json.as_bytes()))?;
    Ok(record)
}
