//! Where a training begins: weights, settings, the device, and which sentences.

use super::dataset::{Dataset, Example};
use super::entity_heads;
use super::error::TrainError;
use super::manifest::Snapshot;
use super::model::ENCODER;
use super::parameters::{Config, Settings};
use super::request::TrainRequest;
use super::self_training::SelfTraining;
use super::snapshot;
use super::trained_layers::TrainedLayers;
use crate::annotation::LabelId;
use crate::encoder::{Definition, Encoder};
use crate::model::{ENTITY_HEADS, EncoderTraits, architecture};
use crate::nn::{Processor, Rng, Vars};
use candle_core::Device;

/// Steps of the task head alone when it goes on from a model, and what its rate is multiplied by: it has learned already.
const STEPS_OF_TASK_HEAD: usize = 48;
const RATE_OF_TASK_HEAD: f64 = 0.1;

pub(super) struct Beginning {
    pub(super) definition: Definition,
    pub(super) settings: Settings,
    /// Stocked with the weights to begin with.
    pub(super) vars: Vars,
    /// Why it does not begin with all that there is.
    pub(super) warning: Option<String>,
}

/// Where a training begins that starts from an encoder.
pub(super) fn from_encoder(
    config: &Config,
    encoder: &Encoder,
    sentences: usize,
    unlabelled: usize,
    processor: Processor,
) -> Result<Beginning, TrainError> {
    let definition = encoder.definition();
    let traits = EncoderTraits {
        pretrained: !encoder.weights().is_empty(),
        uncased: definition.is_uncased(),
        hidden: definition.config().hidden,
    };
    let settings = config.resolve(sentences, unlabelled, traits, processor)?;
    let mut vars = Vars::trainable(settings.seed, &Device::Cpu);
    vars.stock(encoder.weights().iter().map(|(name, t)| (format!("{ENCODER}.{name}"), t.clone())));
    let wanted = settings.options.flag(&ENTITY_HEADS).unwrap_or(false);
    let mut warning = None;
    if let Some(heads) = encoder.entity_heads().filter(|_| wanted) {
        match entity_heads::for_any_labels(heads, architecture(&settings.architecture)?) {
            Ok(tensors) => vars.stock(tensors),
            Err(error) => warning = Some(format!("the heads begin anew: {error}")),
        }
        // Widths or word shapes may be others.
        vars.take_what_fits();
    }
    Ok(Beginning { definition: definition.clone(), settings, vars, warning })
}

/// Where a training begins that goes on from a model.
pub(super) fn from_snapshot(
    request: &TrainRequest,
    start: &Snapshot,
    sentences: usize,
    processor: Processor,
) -> Result<Beginning, TrainError> {
    let snapshot::OpenedSnapshot { manifest, definition, tensors, .. } = snapshot::open(start)?;
    let ids = |labels: &[(LabelId, String)]| labels.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    if ids(&manifest.labels) != ids(request.dataset.labels()) {
        return Err(TrainError::OtherLabels);
    }
    let hidden = definition.config().hidden;
    let traits = EncoderTraits { pretrained: true, uncased: definition.is_uncased(), hidden };
    let Settings { encoder, options, .. } = manifest.settings;
    let architecture = architecture(&manifest.settings.architecture)?;
    let mut config = Config { encoder, ..request.config.with_architecture(architecture) };
    config.options.keep(architecture.options(), &options);
    if config.effort == TrainedLayers::TaskHead && config.epochs.is_none() {
        config.head_lr *= RATE_OF_TASK_HEAD;
        config.epochs =
            Some(STEPS_OF_TASK_HEAD.div_ceil(sentences.div_ceil(config.batch_size.max(1)).max(1)).clamp(2, 20));
    }
    // What goes on from a model learns what is new, not from itself.
    let settings = config.resolve(sentences, 0, traits, processor)?;
    let mut vars = Vars::trainable(settings.seed, &Device::Cpu);
    vars.stock(tensors);
    vars.take_what_fits();
    Ok(Beginning { definition, settings, vars, warning: None })
}

pub(super) fn device(processor: Processor) -> Result<Device, TrainError> {
    processor.device().map_err(TrainError::Processor)
}

/// The sentences to train on, in an order of their own when they are limited, and the words of those that the model is to
/// label itself. What a limit leaves out counts as not labelled.
pub(super) fn choose<'a>(dataset: &'a Dataset, settings: &Settings) -> (Vec<&'a Example>, Vec<Vec<String>>) {
    let mut chosen: Vec<&Example> = dataset.train().iter().collect();
    let mut unlabelled: Vec<&[String]> = dataset.unlabelled().iter().map(Vec::as_slice).collect();
    if let Some(limit) = settings.limit {
        Rng::new(settings.seed, "limit").shuffle(&mut chosen);
        unlabelled.extend(chosen.drain(limit.min(chosen.len())..).map(|example| example.tokens.as_slice()));
    }
    Rng::new(settings.seed, "unlabelled").shuffle(&mut unlabelled);
    unlabelled.truncate(settings.self_training.map_or(0, SelfTraining::all_sentences));
    (chosen, unlabelled.into_iter().map(<[String]>::to_vec).collect())
}
