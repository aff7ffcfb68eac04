//! What a person asks of a training. What they leave open is decided from the data and the encoder.

use super::error::TrainError;
use super::parameters::{Config, Known, Settings, least_steps};
use super::plan;
use super::self_training::SelfTraining;
use super::trained_layers::TrainedLayers;
use crate::model::{
    Architecture, EncoderTraits, MAX_WIDTH, Nesting, OptionDefault, OptionSpec, OptionValues, Task, architecture,
    architectures, labels_given,
};
use crate::nn::Operations;
use crate::nn::Processor;
use crate::nn::kernels::{has_bf16, has_int16};
use crate::parameter::{Put, Value};
use serde_json::{Map, Value as Json};

/// Sentences that the model labels itself, for each labelled one.
const OWN_A_LABELLED: usize = 3;
/// With more labelled sentences than these it gains too little by that for the time it takes.
const FEW_LABELS: usize = 2000;

impl Config {
    /// Sets one value as a person types it, a parameter of all trainings or an option of an architecture; `auto` leaves what
    /// can be left open to the program. It does not matter whether the architecture is set before its options.
    ///
    /// # Errors
    /// An unknown key, or a value that is no number or out of range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), TrainError> {
        let value = value.trim();
        match self.put(key, value) {
            Put::Done => Ok(()),
            Put::Refused { expected, .. } => {
                Err(TrainError::BadValue { key: key.to_owned(), value: value.to_owned(), expected })
            }
            Put::NoSuchKey if self.options.set(key, value, &self.architecture)? => Ok(()),
            Put::NoSuchKey => Err(TrainError::NoSuchSetting { key: key.to_owned(), there: Self::keys().join(", ") }),
        }
    }

    /// The keys of [`Config::set`]: parameters, then options of architectures.
    pub fn keys() -> Vec<&'static str> {
        let mut keys: Vec<&str> = Self::parameters().iter().map(|parameter| parameter.key).collect();
        for spec in architectures().iter().flat_map(|architecture| architecture.options()) {
            if !keys.contains(&spec.name) {
                keys.push(spec.name);
            }
        }
        keys
    }

    /// Whether the architecture is there and has the options that are asked for.
    ///
    /// # Errors
    /// When it is not, or has not.
    pub fn check(&self) -> Result<(), TrainError> {
        let architecture = architecture(&self.architecture)?;
        self.options.check(&[architecture])?;
        self.decided_options(architecture, EncoderTraits { pretrained: true, uncased: false, hidden: 0 }).map(drop)
    }

    /// Whether the architecture finds mentions, so that its models can suggest and be scored by what they find.
    ///
    /// # Errors
    /// When it labels given words only.
    pub fn check_finds(&self) -> Result<(), TrainError> {
        let architecture = self.architecture.clone();
        if labels_given(&architecture) { Err(TrainError::FindsNothing { architecture }) } else { Ok(()) }
    }

    /// The same for each of several architectures: without the options that it has not, but another one has.
    ///
    /// # Errors
    /// An architecture that is not there, an option that none of them has.
    pub fn for_each(&self, ids: &[&str]) -> Result<Vec<Self>, TrainError> {
        let architectures = ids.iter().map(|id| architecture(id)).collect::<Result<Vec<_>, _>>()?;
        self.options.check(&architectures)?;
        Ok(architectures.into_iter().map(|architecture| self.with_architecture(architecture)).collect())
    }

    /// The same for another architecture, without the options that it has not.
    #[must_use]
    pub(super) fn with_architecture(&self, architecture: &dyn Architecture) -> Self {
        let options = self.options.known_to(architecture);
        Self { architecture: architecture.id().to_owned(), options, ..self.clone() }
    }

    /// Words of the longest mention that the model will look for; `None` where its architecture has no bound.
    pub fn max_width(&self) -> Option<usize> {
        let architecture = architecture(&self.architecture).ok()?;
        let spec = architecture.options().iter().find(|spec| spec.name == MAX_WIDTH.name)?;
        match (self.options.get(&self.architecture, spec.name), spec.default) {
            (Some(Value::Whole(width)), _) | (None, OptionDefault::Fixed(Value::Whole(width))) => {
                usize::try_from(width).ok()
            }
            _ => None,
        }
    }

    /// Whether the mentions that the model will look for may overlap.
    pub fn finds_overlapping(&self) -> bool {
        let is_of_tags = architecture(&self.architecture).is_ok_and(|it| it.task() == Task::Tags);
        self.nesting == Nesting::Nested && !is_of_tags
    }

    /// What is asked for, by the keys; what is left open is null, and an option of the architecture that nobody sets is not
    /// there. Two configurations that train the same model on the same data have the same, so the number of threads is left
    /// out.
    pub fn identity(&self) -> Map<String, Json> {
        let mut asked = self.to_json();
        asked.remove("threads");
        // As programs said it that knew no patience and no such products.
        if self.patience == 0 {
            asked.remove("patience");
        }
        if self.int16 {
            asked.remove("int16");
        }
        let options = self.options.all(&self.architecture);
        asked.extend(options.into_iter().map(|(name, value)| (name.to_owned(), value.to_json())));
        asked
    }

    /// What is preferred for each architecture alone, as `ARCHITECTURE.OPTION`: what [`Config::identity`] does not say where
    /// models of several architectures are trained.
    pub fn identity_of_architectures(&self) -> Map<String, Json> {
        let of = |(id, name, value): (&str, &str, Value)| (format!("{id}.{name}"), value.to_json());
        self.options.of_architectures().map(of).collect()
    }

    /// How many sentences the model will label itself, given how many have labels and how many have none, and whether the
    /// encoder is pretrained.
    pub fn labels_itself(&self, sentences: usize, unlabelled: usize, pretrained: bool) -> usize {
        if labels_given(&self.architecture) {
            // It finds nothing that it could learn from.
            return 0;
        }
        let is_few = sentences <= FEW_LABELS && unlabelled >= sentences;
        let gains_by_itself = pretrained && self.effort != TrainedLayers::TaskHead && is_few;
        let own = self.self_training.unwrap_or(if gains_by_itself { OWN_A_LABELLED * sentences } else { 0 });
        own.min(unlabelled)
    }

    /// Decides what is open for `sentences` to train on, others that have no labels, an encoder, and what it runs on.
    ///
    /// # Errors
    /// See [`Config::check`].
    pub(super) fn resolve(
        &self,
        sentences: usize,
        unlabelled: usize,
        encoder: EncoderTraits,
        processor: Processor,
    ) -> Result<Settings, TrainError> {
        let architecture = architecture(&self.architecture)?;
        self.options.check(&[architecture])?;
        let options = self.decided_options(architecture, encoder)?;
        let own = self.self_training(sentences, unlabelled, encoder);
        let mut settings = Settings::decide(self, Known { sentences, encoder, processor }, own, options);
        if !encoder.pretrained {
            // There is nothing to keep in an encoder that starts from nothing.
            settings.effort = TrainedLayers::Full;
        }
        settings.epochs = settings.epochs.max(1);
        settings.batch_size = settings.batch_size.max(1);
        let by_hand = processor.operations() == Operations::ByHand;
        settings.bf16 &= has_bf16() && by_hand;
        settings.int16 &= has_int16() && by_hand;
        settings.processor = processor;
        Ok(settings)
    }

    fn decided_options(
        &self,
        architecture: &dyn Architecture,
        encoder: EncoderTraits,
    ) -> Result<OptionValues, TrainError> {
        let asked = |spec: &OptionSpec| self.options.get(architecture.id(), spec.name);
        let asked = OptionValues::decide(architecture.options(), encoder, asked);
        asked.map_err(|error| TrainError::Model(error.into()))
    }

    fn self_training(&self, sentences: usize, unlabelled: usize, encoder: EncoderTraits) -> Option<SelfTraining> {
        let own = self.labels_itself(sentences, unlabelled, encoder.pretrained);
        let steps = plan::sentences_an_epoch(sentences, own).div_ceil(self.batch_size.max(1)).max(1);
        let epochs = self.self_epochs.unwrap_or_else(|| least_steps(encoder).div_ceil(steps).clamp(3, 100));
        (own > 0).then_some(SelfTraining { sentences: own, rounds: self.self_rounds.max(1), epochs: epochs.max(1) })
    }

    /// What the training will run on, and where that is not what was asked for, why.
    pub(super) fn possible_processor(&self) -> (Processor, Option<String>) {
        let asked = match self.processor {
            Some(processor) => processor,
            None if Processor::knows_gpus() => Processor::Gpu,
            None => Processor::Cpu,
        };
        match asked.device() {
            Ok(_) => (asked, None),
            Err(reason) => {
                (Processor::Cpu, Some(format!("no GPU can be used, the training runs on the CPU: {reason}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Nesting;
    use crate::parameter::Kind;
    use expect_test::{Expect, expect};

    fn refused(key: &str, value: &str, want: Expect) {
        want.assert_eq(&Config::default().set(key, value).unwrap_err().to_string());
    }

    #[test]
    fn values_are_checked() {
        refused("w", "1.5", expect![[r#"w can't be "1.5"; it takes a number from 0 to 1"#]]);
        refused("epochs", "0", expect![[r#"epochs can't be "0"; it takes a whole number from 1 to 10000"#]]);
        refused(
            "max_width",
            "100000000000",
            expect![[r#"max_width can't be "100000000000"; it takes a whole number from 1 to 1000"#]],
        );
        refused(
            "encoder_lr",
            "NaN",
            expect![[r#"encoder_lr can't be "NaN"; it takes a learning rate above 0 and up to 1, such as 1e-4"#]],
        );
        refused("effort", "all", expect![[r#"effort can't be "all"; it takes heads, top or full"#]]);
        let unknown = Config::default().set("lr", "1e-4").unwrap_err().to_string();
        assert!(
            unknown.starts_with(r#"there is no setting "lr"; there are: architecture, encoder, effort,"#),
            "{unknown}"
        );
        assert!(Config::keys().iter().all(|key| unknown.contains(key)), "{unknown}");
    }

    #[test]
    fn every_key_changes_something() {
        // Of several values one is not the default.
        let others = ["other", "heads", "flat", "plain", "true", "false", "0.3", "7", "8"].map(str::to_owned);
        let specs = || architectures().iter().flat_map(|architecture| architecture.options());
        for key in Config::keys() {
            let choices = specs().filter(|spec| spec.name == key).flat_map(|spec| match spec.takes {
                Kind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
                _ => Vec::new(),
            });
            let choices: Vec<String> = choices.collect();
            let changes = |value: &String| {
                let mut config = Config::default();
                config.set(key, value).is_ok() && config != Config::default()
            };
            assert!(choices.iter().chain(&others).any(changes), "{key}");
        }
    }

    const MINILM: EncoderTraits = EncoderTraits { pretrained: true, uncased: true, hidden: 384 };

    #[test]
    fn the_encoder_decides_its_rate() {
        let rate = |encoder| Config::default().resolve(100, 0, encoder, Processor::Cpu).unwrap().encoder_lr;
        assert_eq!(rate(MINILM), 2e-4);
        assert_eq!(rate(EncoderTraits { hidden: 768, ..MINILM }), 5e-5);
        assert_eq!(rate(EncoderTraits { pretrained: false, ..MINILM }), 1e-3);
        let mut fixed = Config::default();
        fixed.set("encoder_lr", "3e-4").unwrap();
        assert_eq!(fixed.resolve(100, 0, MINILM, Processor::Cpu).unwrap().encoder_lr, 3e-4);
    }

    #[test]
    fn few_sentences_get_more_epochs() {
        let epochs = |sentences| Config::default().resolve(sentences, 0, MINILM, Processor::Cpu).unwrap().epochs;
        assert_eq!([40, 100, 300, 1000, 10_000].map(epochs), [100, 86, 32, 10, 10]);
        let small = EncoderTraits { pretrained: false, ..MINILM };
        assert_eq!(
            [40, 100, 300, 1000].map(|n| Config::default().resolve(n, 0, small, Processor::Cpu).unwrap().epochs),
            [100, 43, 16, 10]
        );
        let mut fixed = Config::default();
        fixed.set("epochs", "3").unwrap();
        assert_eq!(fixed.resolve(40, 0, MINILM, Processor::Cpu).unwrap().epochs, 3);
    }

    #[test]
    fn a_model_labels_sentences_itself_where_few_are_labelled() {
        let own = |config: &Config, sentences, unlabelled, encoder| {
            let settings = config.resolve(sentences, unlabelled, encoder, Processor::Cpu).unwrap();
            settings.self_training.map_or(0, |own| own.sentences)
        };
        let default = Config::default();
        assert_eq!(own(&default, 100, 10_000, MINILM), 300);
        assert_eq!([own(&default, 100, 120, MINILM), own(&default, 100, 99, MINILM)], [120, 0]);
        assert_eq!(own(&default, 2001, 10_000, MINILM), 0);
        assert_eq!(own(&default, 100, 10_000, EncoderTraits { pretrained: false, ..MINILM }), 0);
        assert_eq!(own(&Config { effort: TrainedLayers::TaskHead, ..Config::default() }, 100, 10_000, MINILM), 0);
        let asked = Config { self_training: Some(70), ..Config::default() };
        assert_eq!([own(&asked, 100, 10_000, MINILM), own(&asked, 100, 50, MINILM)], [70, 50]);
        let own = |sentences| default.resolve(sentences, 10_000, MINILM, Processor::Cpu).unwrap().self_training;
        let epochs = |sentences| own(sentences).map_or(0, |own| own.epochs);
        assert_eq!([40, 100, 300, 1000].map(epochs), [40, 16, 6, 3], "600 steps, too");
    }

    #[test]
    fn an_option_belongs_to_the_architecture_that_is_named_last() {
        let config = |pairs: &[(&str, &str)]| {
            let mut config = Config::default();
            pairs.iter().for_each(|(key, value)| config.set(key, value).unwrap());
            config
        };
        let resolve = |config: &Config| config.resolve(100, 0, MINILM, Processor::Cpu);
        for pairs in
            [[("architecture", "smartspanner"), ("w", "0.3")], [("w", "0.3"), ("architecture", "smartspanner")]]
        {
            assert_eq!(resolve(&config(&pairs)).unwrap().options.get("w"), Some(Value::Real(0.3)));
        }
        let other = config(&[("w", "0.3"), ("max_width", "7"), ("architecture", "spanner")]);
        expect!["w is no option of spanner; leave it out, or choose an architecture that has it: smartspanner, dspert"]
            .assert_eq(&other.check().unwrap_err().to_string());
        assert!(resolve(&other).is_err());
        let each = other.for_each(&["smartspanner", "spanner"]).unwrap();
        let widths: Vec<_> = each.iter().map(|config| resolve(config).unwrap().max_width()).collect();
        assert_eq!(widths, [Some(7), Some(7)]);
        assert!(other.for_each(&["spanner"]).is_err(), "none of them has it");
    }

    #[test]
    fn what_is_preferred_stands_back_behind_what_is_asked_for() {
        let mut config = Config::default();
        assert_eq!(config.max_width(), Some(20));
        config.options.prefer(&MAX_WIDTH, Value::Whole(9));
        assert_eq!(config.max_width(), Some(9));
        config.set("max_width", "7").unwrap();
        assert_eq!(config.max_width(), Some(7));
        assert_eq!(config.resolve(100, 0, MINILM, Processor::Cpu).unwrap().max_width(), Some(7));
    }

    #[test]
    fn options_of_architectures_are_named_like_no_parameter_and_have_a_default_that_they_take() {
        for spec in architectures().iter().flat_map(|architecture| architecture.options()) {
            assert!(Config::parameters().iter().all(|parameter| parameter.key != spec.name), "{}", spec.name);
            for uncased in [false, true] {
                assert!(spec.takes.takes(spec.default_for(EncoderTraits { uncased, ..MINILM })), "{}", spec.name);
            }
        }
    }

    #[test]
    fn settings_go_through_a_file_and_those_of_a_stranger_do_not() {
        let settings = Config::default().resolve(100, 10_000, MINILM, Processor::Cpu).unwrap();
        let file = settings.to_json();
        let architecture = architecture("smartspanner").unwrap();
        let read = |file: &Map<String, Json>| Settings::from_json(file, architecture);
        assert_eq!(read(&file).unwrap(), settings);
        for key in file.keys() {
            let mut other = file.clone();
            other.insert(key.clone(), serde_json::json!([]));
            expect_fault(&read(&other).unwrap_err().to_string(), key, "out of range");
        }
        // Of a program of before.
        let mut older = file.clone();
        for key in [
            "nesting",
            "limit",
            "bf16",
            "int16",
            "top_layers",
            "processor",
            "self_training",
            "self_rounds",
            "self_epochs",
        ] {
            older.remove(key).unwrap();
        }
        let older = read(&older).unwrap();
        assert_eq!((older.nesting, older.limit, older.top_layers), (Nesting::Nested, None, 0));
        assert!(!older.bf16 && !older.int16);
        assert_eq!((older.processor, older.self_training), (Processor::Cpu, None));
        assert_eq!(read(&older.to_json()).unwrap(), older);
        let mut lacking = file;
        lacking.remove("epochs");
        expect_fault(&read(&lacking).unwrap_err().to_string(), "epochs", "missing");
    }

    fn expect_fault(said: &str, key: &str, what: &str) {
        assert_eq!(
            said,
            if what == "missing" {
                format!("the setting {key} is missing")
            } else {
                format!("the setting {key} is out of range")
            }
        );
    }
}
