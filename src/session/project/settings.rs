//! What a project remembers besides its annotations. Stored in the project file, one row a setting.

use super::chosen_options::{ChosenOptions, OptionOf};
use crate::active::Strategy;
use crate::annotation::{Kept, SentenceId};
use crate::model::{
    EncoderTraits, MAX_WIDTH, Nesting, OptionSpec, OptionValues, USUAL_MAX_WIDTH, architecture, labels_given,
};
use crate::parameter::{Scalar as _, Value};
use crate::session::SessionError;
use crate::session::learner::names::{NameKind, NameLabel};
use crate::train::Config;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZero;

/// Sentences of a training that may start by itself: with ten epochs and a small encoder a quarter of an hour on one core.
const TRAIN_SENTENCES: usize = 5000;

/// What project files call the encoder.
pub(super) const ENCODER: &str = "encoder";

/// What project files call the label of a kind of names, before the kind.
const NAMES_AS: &str = "names_as_";

/// For defaults that no encoder decides.
const ANY_ENCODER: EncoderTraits = EncoderTraits { pretrained: true, uncased: false, hidden: 0 };

/// Which sentence comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In the order of the text.
    Text,
    /// The one that teaches the model most, by the project's strategy.
    Teaching,
    /// Those of the blind set, in the order of the text.
    Blind,
}

impl Order {
    /// The word for it in project files: never changed.
    pub(in crate::session) fn id(self) -> &'static str {
        match self {
            Order::Text => "text",
            Order::Teaching => "teaching",
            Order::Blind => "blind",
        }
    }

    fn from_id(id: &str) -> Option<Self> {
        [Order::Text, Order::Teaching, Order::Blind].into_iter().find(|order| order.id() == id)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Suggestions with a lower score are not shown. In [0, 1].
    pub threshold: f32,
    /// "Accept all" takes suggestions from this score on. In [0, 1].
    pub accept_all_from: f32,
    /// Name of the encoder that the next training starts from.
    pub encoder: String,
    /// Id of the architecture of the next model.
    pub architecture: String,
    /// Whether mentions of one sentence may overlap, to models.
    pub nesting: Nesting,
    /// The longest mention that models look for, in words, whatever their architecture. From 1 to 1,000.
    pub max_width: usize,
    /// What is set about each architecture besides.
    pub options: ChosenOptions,
    /// Who annotates; written beside every edit.
    pub author: String,
    /// Whether a training starts by itself.
    pub auto_train: bool,
    /// How many more complete sentences start the next training.
    pub train_after_sentences: usize,
    /// How many complete sentences a training in the window takes, at most; `None`: all.
    pub train_sentences: Option<NonZero<usize>>,
    /// The training under way waits until a person lets it go on.
    pub training_paused: bool,
    /// Whether a model may label open sentences itself and learn from these, too.
    pub self_training: bool,
    /// Cores that the learner may use; `None`: all but one.
    pub threads: Option<NonZero<usize>>,
    /// Whether a dev split came with an import; then completed sentences don't go there.
    pub dev_imported: bool,
    /// How many sentences of train and dev were complete when the last training began.
    pub last_trained_sentences: usize,
    /// Which sentence comes next.
    pub order: Order,
    /// By what the sentence is chosen that teaches most.
    pub strategy: Strategy,
    /// Whether each new model chooses the threshold at which a person has least to do.
    pub threshold_by_effort: bool,
    /// Whether names are suggested as long as there is no model.
    pub general_names: bool,
    /// Under which labels, where a person has said so.
    pub names_as: BTreeMap<NameKind, NameLabel>,
    /// Whether a few sentences show no suggestions, to see whether suggestions sway the person.
    pub probes: bool,
    /// The sentence that the person was at when the project was closed.
    pub place: Option<SentenceId>,
    /// What imported files say of all their documents besides labels, for exports to their formats.
    pub definitions: Kept,
}

impl Default for Settings {
    fn default() -> Self {
        let Config { architecture, encoder, nesting, .. } = Config::default();
        Self {
            threshold: 0.5,
            accept_all_from: 0.8,
            encoder,
            architecture,
            nesting,
            max_width: USUAL_MAX_WIDTH,
            options: ChosenOptions::default(),
            author: std::env::var("USER").or_else(|_| std::env::var("USERNAME")).unwrap_or_default(),
            auto_train: true,
            train_after_sentences: 20,
            train_sentences: NonZero::new(TRAIN_SENTENCES),
            training_paused: false,
            self_training: true,
            threads: None,
            dev_imported: false,
            last_trained_sentences: 0,
            order: Order::Teaching,
            strategy: Strategy::DEFAULT,
            threshold_by_effort: true,
            general_names: true,
            names_as: BTreeMap::new(),
            probes: true,
            place: None,
            definitions: Kept::new(),
        }
    }
}

/// A new value for one setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    Threshold(f32),
    AcceptAllFrom(f32),
    Encoder(String),
    Architecture(String),
    Nesting(Nesting),
    MaxWidth(usize),
    /// `None`: its default.
    Option(OptionOf, Option<Value>),
    Author(String),
    AutoTrain(bool),
    TrainAfterSentences(usize),
    TrainSentences(Option<NonZero<usize>>),
    TrainingPaused(bool),
    SelfTraining(bool),
    Threads(Option<NonZero<usize>>),
    DevImported(bool),
    LastTrainedSentences(usize),
    Order(Order),
    Strategy(Strategy),
    ThresholdByEffort(bool),
    GeneralNames(bool),
    NamesAs(NameKind, NameLabel),
    Probes(bool),
    Place(SentenceId),
    Definitions(Kept),
}

impl Setting {
    /// Within what [`Setting::from_row`] takes.
    pub(super) fn within_bounds(self) -> Self {
        match self {
            Setting::Threshold(value) => Setting::Threshold(value.clamp(0.0, 1.0)),
            Setting::AcceptAllFrom(value) => Setting::AcceptAllFrom(value.clamp(0.0, 1.0)),
            Setting::TrainAfterSentences(value) => Setting::TrainAfterSentences(value.max(1)),
            Setting::MaxWidth(value) => Setting::MaxWidth(value.clamp(1, 1000)),
            Setting::Option(option, value) => Setting::Option(option, option.within_bounds(value)),
            // The model in use has to find mentions.
            Setting::Architecture(value) if labels_given(&value) => {
                Setting::Architecture(Settings::default().architecture)
            }
            other => other,
        }
    }

    /// The name and the value as the project file holds them.
    pub(in crate::session) fn row(&self) -> (Cow<'static, str>, String) {
        let (key, value) = match self {
            Setting::Option(option, value) => return (option.key().into(), OptionOf::write(*value)),
            Setting::NamesAs(kind, label) => return (format!("{NAMES_AS}{}", kind.id()).into(), label.row()),
            Setting::Threshold(value) => ("threshold", value.to_string()),
            Setting::AcceptAllFrom(value) => ("accept_all_from", value.to_string()),
            Setting::Encoder(value) => (ENCODER, value.clone()),
            Setting::Architecture(value) => ("architecture", value.clone()),
            Setting::Nesting(value) => ("nesting", value.id().to_owned()),
            Setting::MaxWidth(value) => ("max_width", value.to_string()),
            Setting::Author(value) => ("author", value.clone()),
            Setting::AutoTrain(value) => ("auto_train", value.to_string()),
            Setting::TrainAfterSentences(value) => ("train_after_sentences", value.to_string()),
            Setting::TrainSentences(value) => ("train_sentences", value.map_or(0, NonZero::get).to_string()),
            Setting::TrainingPaused(value) => ("training_paused", value.to_string()),
            Setting::SelfTraining(value) => ("self_training", value.to_string()),
            Setting::Threads(value) => ("threads", value.map_or(0, NonZero::get).to_string()),
            Setting::DevImported(value) => ("dev_imported", value.to_string()),
            Setting::LastTrainedSentences(value) => ("last_trained_sentences", value.to_string()),
            Setting::Order(value) => ("order", value.id().to_owned()),
            Setting::Strategy(value) => ("strategy", value.to_string()),
            Setting::ThresholdByEffort(value) => ("threshold_by_effort", value.to_string()),
            Setting::GeneralNames(value) => ("general_names", value.to_string()),
            Setting::Probes(value) => ("probes", value.to_string()),
            Setting::Place(value) => ("place", value.0.to_string()),
            Setting::Definitions(value) => ("definitions", serde_json::json!(value).to_string()),
        };
        (key.into(), value)
    }

    /// Reads a row of the project file; `None` for a setting that this version does not know (it is left as it is).
    pub(super) fn from_row(key: &str, value: &str) -> Result<Option<Self>, SessionError> {
        let bad = || SessionError::BadSetting { key: key.to_owned(), value: value.to_owned() };
        let fraction = || value.parse().ok().filter(|v| (0.0..=1.0).contains(v)).ok_or_else(bad);
        let number = || value.parse().map_err(|_| bad());
        let switch = || value.parse().map_err(|_| bad());
        Ok(Some(match key {
            "threshold" => Setting::Threshold(fraction()?),
            "accept_all_from" => Setting::AcceptAllFrom(fraction()?),
            ENCODER => Setting::Encoder(value.to_owned()),
            "architecture" => Setting::Architecture(value.to_owned()),
            "nesting" => Setting::Nesting(Nesting::from_id(value).ok_or_else(bad)?),
            "max_width" => Setting::MaxWidth(number()?).within_bounds(),
            "author" => Setting::Author(value.to_owned()),
            "auto_train" => Setting::AutoTrain(switch()?),
            "train_after_sentences" => Setting::TrainAfterSentences(number()?).within_bounds(),
            "train_sentences" => Setting::TrainSentences(NonZero::new(number()?)),
            "training_paused" => Setting::TrainingPaused(switch()?),
            "self_training" => Setting::SelfTraining(switch()?),
            "threads" => Setting::Threads(NonZero::new(number()?)),
            "dev_imported" => Setting::DevImported(switch()?),
            "last_trained_sentences" => Setting::LastTrainedSentences(number()?),
            "order" => Setting::Order(Order::from_id(value).ok_or_else(bad)?),
            "strategy" => Setting::Strategy(value.parse().map_err(|_| bad())?),
            "threshold_by_effort" => Setting::ThresholdByEffort(switch()?),
            "general_names" => Setting::GeneralNames(switch()?),
            "probes" => Setting::Probes(switch()?),
            "place" => Setting::Place(SentenceId(value.parse().map_err(|_| bad())?)),
            "definitions" => Setting::Definitions(serde_json::from_str(value).map_err(|_| bad())?),
            _ if key.starts_with(NAMES_AS) => {
                let kind = NameKind::ALL.into_iter().find(|kind| key.strip_prefix(NAMES_AS) == Some(kind.id()));
                let Some(kind) = kind else { return Ok(None) };
                Setting::NamesAs(kind, NameLabel::from_row(value).ok_or_else(bad)?)
            }
            _ => match OptionOf::from_key(key) {
                Some(option) => Setting::Option(option, option.read(value).ok_or_else(bad)?),
                None => return Ok(None),
            },
        }))
    }
}

/// Cores of this machine.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Cores that the learner uses with this setting; with none all but one, which is the window's.
pub fn background_threads(setting: Option<NonZero<usize>>) -> usize {
    setting.map_or(cores().saturating_sub(1).max(1), |threads| threads.get().min(cores()))
}

impl Settings {
    /// How trainings of this project begin.
    pub fn config(&self) -> Config {
        let self_training = if self.self_training { None } else { Some(0) };
        let (encoder, architecture) = (self.encoder.clone(), self.architecture.clone());
        let mut config = Config { encoder, architecture, nesting: self.nesting, self_training, ..Config::default() };
        config.options.prefer(&MAX_WIDTH, self.max_width.value());
        for (architecture, option, value) in self.options.iter() {
            config.options.prefer_for(architecture, option, value);
        }
        config
    }

    /// What is set of an option of the chosen architecture; `None` where it has its default.
    pub fn option(&self, spec: &OptionSpec) -> Option<Value> {
        if spec.name == MAX_WIDTH.name {
            return Some(self.max_width.value()).filter(|width| *width != spec.default_for(ANY_ENCODER));
        }
        OptionOf::find(&self.architecture, spec.name).and_then(|option| self.options.get(option))
    }

    /// The setting that gives an option of the chosen architecture a value, `None` its default. The longest mention is the
    /// same for all architectures.
    pub fn set_option(&self, spec: &OptionSpec, value: Option<Value>) -> Option<Setting> {
        if spec.name == MAX_WIDTH.name {
            let width = value.unwrap_or_else(|| spec.default_for(ANY_ENCODER));
            return usize::of(width).map(Setting::MaxWidth);
        }
        OptionOf::find(&self.architecture, spec.name).map(|option| Setting::Option(option, value))
    }

    /// Which mentions the chosen architecture sees; `None` where this program has none of that id.
    pub fn sees(&self) -> Option<&'static str> {
        let architecture = architecture(&self.architecture).ok()?;
        let values = OptionValues::decide(architecture.options(), ANY_ENCODER, |spec| self.option(spec)).ok()?;
        Some(architecture.sees(&values))
    }

    /// The options of the chosen architecture, and what is set of each: `None` where it has its default.
    pub fn architecture_options(&self) -> impl Iterator<Item = (&'static OptionSpec, Option<Value>)> + '_ {
        let options = architecture(&self.architecture).map_or(&[][..], |architecture| architecture.options());
        options.iter().map(|spec| (spec, self.option(spec)))
    }

    /// Cores for what goes on in the background.
    pub fn background_threads(&self) -> usize {
        background_threads(self.threads)
    }

    /// Cores for what takes seconds and stands back behind all else; by default it need not leave one to the window.
    pub(in crate::session) fn all_threads(&self) -> usize {
        self.threads.map_or(cores(), |threads| threads.get().min(cores()))
    }

    pub(in crate::session) fn set(&mut self, setting: Setting) {
        match setting {
            Setting::Threshold(value) => self.threshold = value,
            Setting::AcceptAllFrom(value) => self.accept_all_from = value,
            Setting::Encoder(value) => self.encoder = value,
            Setting::Architecture(value) => self.architecture = value,
            Setting::Nesting(value) => self.nesting = value,
            Setting::MaxWidth(value) => self.max_width = value,
            Setting::Option(option, value) => self.options.set(option, value),
            Setting::Author(value) => self.author = value,
            Setting::AutoTrain(value) => self.auto_train = value,
            Setting::TrainAfterSentences(value) => self.train_after_sentences = value,
            Setting::TrainSentences(value) => self.train_sentences = value,
            Setting::TrainingPaused(value) => self.training_paused = value,
            Setting::SelfTraining(value) => self.self_training = value,
            Setting::Threads(value) => self.threads = value,
            Setting::DevImported(value) => self.dev_imported = value,
            Setting::LastTrainedSentences(value) => self.last_trained_sentences = value,
            Setting::Order(value) => self.order = value,
            Setting::Strategy(value) => self.strategy = value,
            Setting::ThresholdByEffort(value) => self.threshold_by_effort = value,
            Setting::GeneralNames(value) => self.general_names = value,
            Setting::NamesAs(kind, label) => drop(self.names_as.insert(kind, label)),
            Setting::Probes(value) => self.probes = value,
            Setting::Place(value) => self.place = Some(value),
            Setting::Definitions(value) => self.definitions = value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_reads_what_it_wrote() {
        let all = [
            Setting::Threshold(0.25),
            Setting::AcceptAllFrom(0.9),
            Setting::Encoder("minilm".into()),
            Setting::Architecture("spanner".into()),
            Setting::Nesting(Nesting::Flat),
            Setting::MaxWidth(40),
            Setting::Option(OptionOf::find("smartspanner", "w").unwrap(), Some(Value::Real(0.35))),
            Setting::Option(OptionOf::find("bundling", "decode").unwrap(), Some(Value::Choice("tags"))),
            Setting::Option(OptionOf::find("seqlab", "word_shapes").unwrap(), Some(Value::Flag(true))),
            Setting::Option(OptionOf::find("seqlab", "word_shapes").unwrap(), None),
            Setting::Author("Zoë".into()),
            Setting::AutoTrain(false),
            Setting::TrainAfterSentences(7),
            Setting::TrainSentences(None),
            Setting::TrainSentences(NonZero::new(700)),
            Setting::TrainingPaused(true),
            Setting::SelfTraining(false),
            Setting::Threads(None),
            Setting::Threads(NonZero::new(3)),
            Setting::DevImported(true),
            Setting::LastTrainedSentences(40),
            Setting::Order(Order::Text),
            Setting::Order(Order::Blind),
            Setting::Strategy(Strategy::RANDOM),
            Setting::ThresholdByEffort(false),
            Setting::Probes(false),
            Setting::Place(SentenceId(7)),
            Setting::Definitions(Kept::from([("brat:annotation.conf".into(), "[entities]\n".into())])),
        ];
        for setting in all {
            let (key, value) = setting.row();
            assert_eq!(Setting::from_row(&key, &value).unwrap(), Some(setting));
        }
        assert_eq!(Setting::from_row("from_the_future", "1").unwrap(), None);
        assert!(Setting::from_row("threshold", "1.5").is_err());
        assert!(Setting::from_row("option:smartspanner:w", "1.5").is_err());
    }

    #[test]
    fn what_is_set_about_an_architecture_goes_into_its_trainings_alone() {
        let mut settings = Settings::default();
        let w = settings.architecture_options().find(|(spec, _)| spec.name == "w").unwrap().0;
        let set = |settings: &mut Settings, value| settings.set(settings.set_option(w, value).unwrap());
        set(&mut settings, Some(Value::Real(0.4)));
        assert_eq!(settings.config().identity()["w"], 0.4);
        settings.set(Setting::Architecture("dspert".into()));
        assert_eq!((settings.option(w), settings.config().identity().get("w")), (None, None));
        assert_eq!(settings.config().identity_of_architectures()["smartspanner.w"], 0.4);
        settings.set(Setting::MaxWidth(9));
        settings.set(Setting::Architecture("smartspanner".into()));
        assert_eq!((settings.option(w), settings.option(&MAX_WIDTH)), (Some(Value::Real(0.4)), Some(Value::Whole(9))));
        set(&mut settings, None);
        assert_eq!(settings.config().identity().get("w"), None);
    }

    #[test]
    fn what_is_stored_can_be_read() {
        for setting in [
            Setting::Threshold(1.5),
            Setting::AcceptAllFrom(-1.0),
            Setting::TrainAfterSentences(0),
            Setting::MaxWidth(0),
            Setting::Option(OptionOf::find("smartspanner", "w").unwrap(), Some(Value::Real(7.0))),
        ] {
            let (key, value) = setting.within_bounds().row();
            assert!(Setting::from_row(&key, &value).is_ok(), "{key} = {value}");
        }
    }
}
