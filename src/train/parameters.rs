//! The hyper-parameters that all trainings have, each declared once: a row of the table below. What belongs to an
//! architecture is declared by it instead; see [`crate::model::OptionSpec`].

use super::asked_options::AskedOptions;
use super::self_training::{self, SelfTraining};
use super::trained_layers::TrainedLayers;
use crate::encoder::ENGLISH;
use crate::model::{Architecture, EncoderTraits, ModelError, Nesting, OptionSpec, OptionValues};
use crate::nn::Processor;
use crate::parameter::{Field, Kind, Scalar, Value, parameters};
use serde_json::{Map, Value as Json};

const LAYERS: Kind = Kind::Choice(&[TrainedLayers::TaskHead.id(), TrainedLayers::Top.id(), TrainedLayers::Full.id()]);
const NESTING: Kind = Kind::Choice(&[Nesting::Nested.id(), Nesting::Flat.id()]);
const PROCESSOR: Kind = Kind::Choice(&[Processor::Cpu.id(), Processor::Gpu.id(), Processor::Plain.id()]);
const COUNT: Kind = Kind::Whole(1, 10_000);
const SHARE: Kind = Kind::Real(0.0, 1.0);
const RATE: Kind = Kind::Rate("1e-4");

/// Declares [`Config`], [`Settings`] and all that is said of their fields. A row is
///
/// ```text
/// key: type => type once decided [= how it is decided] [where absent = what models of before had], what it takes,
///     default [=> "what is decided where it is left open"], "what it means";
/// ```
///
/// What has no type once decided is only asked for.
macro_rules! hyper_parameters {
    ($(
        $field:ident : $asked:ty $(=> $kept:ty $(= $decide:path)? $(where absent = $absent:expr)?)?,
            $takes:expr, $default:expr $(=> $open:literal)?, $help:literal;
    )*) => {
        parameters! {
            /// What a person asks of a training; `None` stands for "decide".
            #[derive(Clone, PartialEq, Debug)]
            pub struct Config {
                $( $field: $asked, $takes, $default $(=> $open)?, $help; )*
            }
            with { options: AskedOptions }
        }

        /// A [`Config`] of which nothing is open any more; kept in the snapshot.
        #[derive(Clone, PartialEq, Debug)]
        pub struct Settings {
            $($( #[doc = $help] pub $field: $kept, )?)*
            /// Where the model also learns from sentences that it labels itself.
            pub self_training: Option<SelfTraining>,
            /// Of the architecture.
            pub options: OptionValues,
        }

        impl Settings {
            /// What is asked for, the rest decided.
            pub(super) fn decide(
                config: &Config,
                known: Known,
                self_training: Option<SelfTraining>,
                options: OptionValues,
            ) -> Self {
                Self { $($( $field: decided!(config, known, $field $(, $decide)?), )?)* self_training, options }
            }

            /// As they are on disk: flat, the options of the architecture among them.
            pub fn to_json(&self) -> Map<String, Json> {
                let mut settings = Map::new();
                $($( settings.insert(stringify!($field).to_owned(), <$kept as Field>::to_json(&self.$field)); )?)*
                SelfTraining::write(self.self_training, &mut settings);
                settings.extend(ASKED_BY_OLDER_PROGRAMS.map(|(name, value)| (name.to_owned(), value.to_json())));
                settings.extend(self.options.iter().map(|(name, value)| (name.to_owned(), value.to_json())));
                settings
            }

            /// Settings from a disk, which anybody may have written, for the architecture that they name.
            ///
            /// # Errors
            /// The first that is missing or that no training can have had.
            pub(super) fn from_json(
                settings: &Map<String, Json>,
                architecture: &dyn Architecture,
            ) -> Result<Self, SettingsError> {
                Ok(Self {
                    $($( $field: read(settings, stringify!($field), $takes, None::<$kept>$(.or(Some($absent)))?)?, )?)*
                    self_training: SelfTraining::read(settings).map_err(SettingsError::OutOfRange)?,
                    options: read_options(settings, architecture)?,
                })
            }
        }
    };
}

macro_rules! decided {
    ($config:ident, $known:ident, $field:ident) => {
        Clone::clone(&$config.$field)
    };
    ($config:ident, $known:ident, $field:ident, $decide:path) => {
        $config.$field.unwrap_or_else(|| $decide($config, &$known))
    };
}

hyper_parameters! {
    architecture: String => String,
        Kind::Name, "smartspanner".to_owned(), "architecture to train";
    encoder: String => String,
        Kind::Name, ENGLISH.to_owned(), "name of the encoder to start from";
    effort: TrainedLayers => TrainedLayers,
        LAYERS, TrainedLayers::Full, "what learns: heads, top (and the last blocks) or full";
    top_layers: usize => usize where absent = 0,
        Kind::Whole(1, 256), 2, "encoder blocks that learn with effort=top";
    epochs: Option<usize> => usize = epochs,
        COUNT, None => "auto: 600 steps if pretrained, else 300; 10 to 100", "passes over the data";
    self_training: Option<usize>,
        self_training::SENTENCES, None => "auto: up to 3 per labelled one", "open sentences the model labels to learn from";
    self_rounds: usize,
        self_training::ROUNDS, 2, "rounds of self-training; their models are averaged";
    self_epochs: Option<usize>,
        self_training::EPOCHS, None => "auto: 600 steps, 3 to 100 epochs", "passes over these sentences per round";
    patience: usize => usize where absent = 0,
        Kind::Whole(0, 10_000), 0, "epochs without a better dev score after which a training ends; 0: never sooner";
    batch_size: usize => usize,
        COUNT, 16, "sentences per step";
    seed: u64 => u64,
        Kind::from(0), 42, "for weights, order, dropout and sampling";
    limit: Option<usize> => Option<usize> where absent = None,
        Kind::from(1), None => "all", "number of sentences to train on, drawn with the seed";
    threads: Option<usize>,
        Kind::Whole(1, 1024), None => "all cores", "number of threads";
    encoder_lr: Option<f64> => f64 = encoder_lr,
        RATE, None => "auto: 2e-4, 5e-5 if large, 1e-3 if not pretrained", "learning rate of the encoder";
    head_lr: f64 => f64,
        RATE, 1e-3, "learning rate of everything else";
    warmup: f64 => f64,
        SHARE, 0.1, "share of steps in which the rate rises; it then falls to 0";
    weight_decay: f64 => f64,
        SHARE, 0.01, "weight decay of AdamW, except for biases and norms";
    clip: f64 => f64,
        Kind::Positive, 1.0, "maximum norm of the gradient";
    dropout: f64 => f64,
        Kind::Real(0.0, 0.9), 0.1, "dropout in encoder and heads";
    nesting: Nesting => Nesting where absent = Nesting::Nested,
        NESTING, Nesting::Nested, "flat keeps only the most probable of overlapping mentions";
    bf16: bool => bool where absent = false,
        Kind::Flag, true, "encoder products in bfloat16, if the processor is fast at that";
    int16: bool => bool where absent = false,
        Kind::Flag, true, "encoder products in 16-bit integers, if the processor is fastest at that";
    processor: Option<Processor> => Processor = processor where absent = Processor::Cpu,
        PROCESSOR, None => "auto: gpu if available, else cpu", "cpu, gpu, or plain (GPU operations on the CPU)";
}

/// Options that older programs ask every model for, whatever its architecture: they are written where it has none such.
const ASKED_BY_OLDER_PROGRAMS: [(&str, Value); 5] = [
    ("w", Value::Real(0.2)),
    ("sp", Value::Real(0.05)),
    ("max_width", Value::Whole(20)),
    ("word_shapes", Value::Flag(false)),
    ("threshold", Value::Real(0.5)),
];

/// What is known of a training when its settings are decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// That persons have labelled.
    pub sentences: usize,
    pub encoder: EncoderTraits,
    /// What it can run on of what it was to.
    pub processor: Processor,
}

/// Steps that a training takes at least when the epochs are left open: below them few labels are not learnt at all. A
/// pretrained encoder gains from more.
pub(super) fn least_steps(encoder: EncoderTraits) -> usize {
    if encoder.pretrained { 600 } else { 300 }
}

fn epochs(config: &Config, known: &Known) -> usize {
    let steps = known.sentences.div_ceil(config.batch_size.max(1)).max(1);
    least_steps(known.encoder).div_ceil(steps).clamp(10, 100)
}

/// Numbers a word from which an encoder is large: it learns at a quarter of the rate.
const LARGE: usize = 768;

fn encoder_lr(_: &Config, known: &Known) -> f64 {
    match known.encoder.hidden {
        _ if !known.encoder.pretrained => 1e-3,
        LARGE.. => 5e-5,
        _ => 2e-4,
    }
}

fn processor(_: &Config, known: &Known) -> Processor {
    known.processor
}

/// Why settings from a disk can't be those of a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettingsError {
    #[error("the setting {0} is missing")]
    Missing(&'static str),
    #[error("the setting {0} is out of range")]
    OutOfRange(&'static str),
    #[error(transparent)]
    Model(#[from] ModelError),
}

fn read<T: Field>(
    settings: &Map<String, Json>,
    key: &'static str,
    takes: Kind,
    absent: Option<T>,
) -> Result<T, SettingsError> {
    let Some(json) = settings.get(key) else { return absent.ok_or(SettingsError::Missing(key)) };
    let as_absent = absent.filter(|absent| absent.to_json() == *json);
    T::from_json(takes, json).or(as_absent).ok_or(SettingsError::OutOfRange(key))
}

/// The options that the architecture has; a file may name others, which older programs ask every model for.
fn read_options(settings: &Map<String, Json>, architecture: &dyn Architecture) -> Result<OptionValues, SettingsError> {
    let specs = architecture.options();
    for spec in specs {
        if settings.get(spec.name).is_some_and(|json| spec.takes.from_json(json).is_none()) {
            return Err(SettingsError::OutOfRange(spec.name));
        }
        if spec.is_auto() && !settings.contains_key(spec.name) {
            return Err(SettingsError::Missing(spec.name));
        }
    }
    let of_none = EncoderTraits { pretrained: false, uncased: false, hidden: 0 };
    let said = |spec: &OptionSpec| spec.takes.from_json(settings.get(spec.name)?);
    Ok(OptionValues::decide(specs, of_none, said).map_err(ModelError::from)?)
}

/// Types that have an id for each of their values.
macro_rules! by_id {
    ($($type:ty),*) => {$(
        impl Scalar for $type {
            fn of(value: Value) -> Option<Self> {
                if let Value::Choice(id) = value { Self::from_id(id) } else { None }
            }

            fn value(self) -> Value {
                Value::Choice(self.id())
            }
        }
    )*};
}

by_id!(TrainedLayers, Nesting, Processor);
