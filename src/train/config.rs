//! What a person asks of a training. What they leave open is decided from the data and the encoder.

use super::settings::MOST_OWN;
use super::{Settings, TrainError, TrainedLayers, plan};
use crate::model::Nesting;
use crate::nn::Operations;
use crate::nn::Processor;
use crate::nn::kernels::has_bf16;
use std::str::FromStr;

/// Hyper-parameters; `None` stands for "decide". What each means stands in [`KEYS`].
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    pub architecture: String,
    pub encoder: String,
    pub effort: TrainedLayers,
    pub top_layers: usize,
    pub epochs: Option<usize>,
    pub self_training: Option<usize>,
    pub self_rounds: usize,
    pub self_epochs: Option<usize>,
    pub batch_size: usize,
    pub seed: u64,
    pub limit: Option<usize>,
    pub threads: Option<usize>,
    pub encoder_lr: Option<f64>,
    pub head_lr: f64,
    pub warmup: f64,
    pub weight_decay: f64,
    pub clip: f64,
    pub dropout: f32,
    pub head_weight: f64,
    pub sampling: f32,
    pub max_width: usize,
    pub word_shapes: Option<bool>,
    pub threshold: f32,
    pub nesting: Nesting,
    pub bf16: bool,
    pub processor: Option<Processor>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            architecture: "smartspanner".to_owned(),
            encoder: crate::encoder::ENGLISH.to_owned(),
            effort: TrainedLayers::Full,
            top_layers: 2,
            epochs: None,
            self_training: None,
            self_rounds: 2,
            self_epochs: None,
            batch_size: 16,
            seed: 42,
            limit: None,
            threads: None,
            encoder_lr: None,
            head_lr: 1e-3,
            warmup: 0.1,
            weight_decay: 0.01,
            clip: 1.0,
            dropout: 0.1,
            head_weight: 0.2,
            sampling: 0.05,
            max_width: 20,
            word_shapes: None,
            threshold: 0.5,
            nesting: Nesting::Nested,
            bf16: true,
            processor: None,
        }
    }
}

/// The keys of [`Config::set`], each with its default and what it means.
pub const KEYS: [(&str, &str, &str); 26] = [
    ("architecture", "smartspanner", "architecture to train"),
    ("encoder", "english", "name of the encoder to start from"),
    ("effort", "full", "what learns: heads, top (and the last blocks) or full"),
    ("top_layers", "2", "encoder blocks that learn with effort=top"),
    ("epochs", "auto: 600 steps if pretrained, else 300; 10 to 100", "passes over the data"),
    ("self_training", "auto: up to 3 per labelled one", "open sentences the model labels to learn from"),
    ("self_rounds", "2", "rounds of self-training; their models are averaged"),
    ("self_epochs", "auto: 600 steps, 3 to 100 epochs", "passes over these sentences per round"),
    ("batch_size", "16", "sentences per step"),
    ("seed", "42", "for weights, order, dropout and sampling"),
    ("limit", "all", "number of sentences to train on, drawn with the seed"),
    ("threads", "all cores", "number of threads"),
    ("encoder_lr", "auto: 2e-4, 5e-5 if large, 1e-3 if not pretrained", "learning rate of the encoder"),
    ("head_lr", "1e-3", "learning rate of everything else"),
    ("warmup", "0.1", "share of steps in which the rate rises; it then falls to 0"),
    ("weight_decay", "0.01", "weight decay of AdamW, except for biases and norms"),
    ("clip", "1.0", "maximum norm of the gradient"),
    ("dropout", "0.1", "dropout in encoder and heads"),
    ("w", "0.2", "weight of the head (NEH) loss against the span loss"),
    ("sp", "0.05", "probability of training on a span that starts at no head"),
    ("max_width", "20", "longest candidate span in words"),
    ("word_shapes", "auto: if the encoder ignores case", "use capitals and digits as features"),
    ("threshold", "0.5", "minimum probability for a word to be a head"),
    ("nesting", "nested", "flat keeps only the most probable of overlapping mentions"),
    ("bf16", "true", "encoder products in bfloat16, if the processor is fast at that"),
    ("processor", "auto: gpu if available, else cpu", "cpu, gpu, or plain (GPU operations on the CPU)"),
];

/// Steps that a training takes at least when the epochs are left open: below them few labels are not learnt at all.
const LEAST_STEPS: usize = 300;
/// The same with a pretrained encoder, which gains from more.
const LEAST_STEPS_PRETRAINED: usize = 600;

/// Sentences that the model labels itself, for each labelled one.
const OWN_A_LABELLED: usize = 3;
/// With more labelled sentences than these it gains too little by that for the time it takes.
const FEW_LABELS: usize = 2000;

/// Numbers a word from which an encoder is large: it learns at half the rate.
const LARGE: usize = 768;

/// What an encoder decides of a training.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct EncoderTraits {
    pub pretrained: bool,
    /// Upper and lower case look the same to it.
    pub uncased: bool,
    /// Numbers a word.
    pub hidden: usize,
}

impl Config {
    /// Sets one value as a person types it; `auto` leaves what can be left open to the program.
    ///
    /// # Errors
    /// An unknown key, or a value that is no number or out of range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), TrainError> {
        let unknown = || {
            let known: Vec<&str> = KEYS.iter().map(|(known, ..)| *known).collect();
            TrainError::NoSuchSetting { key: key.to_owned(), there: known.join(", ") }
        };
        let (key, ..) = KEYS.into_iter().find(|(known, ..)| *known == key).ok_or_else(unknown)?;
        let input = Input { key, value: value.trim() };
        match key {
            "architecture" => self.architecture = input.value.to_owned(),
            "encoder" => self.encoder = input.value.to_owned(),
            "effort" => {
                self.effort = TrainedLayers::from_id(input.value).ok_or_else(|| input.bad("heads, top or full"))?;
            }
            "top_layers" => {
                self.top_layers = input.number("a whole number from 1 to 256", |n| (1..=256).contains(n))?;
            }
            "epochs" => {
                self.epochs =
                    input.or_auto(|i| i.number("a whole number from 1 to 10000", |n| (1..=10_000).contains(n)))?
            }
            "self_training" => {
                self.self_training =
                    input.or_auto(|i| i.number("a whole number from 0 to 1000000000", |n| *n <= MOST_OWN))?;
            }
            "self_rounds" => {
                self.self_rounds = input.number("a whole number from 1 to 10", |n| (1..=10).contains(n))?
            }
            "self_epochs" => {
                self.self_epochs =
                    input.or_auto(|i| i.number("a whole number from 1 to 10000", |n| (1..=10_000).contains(n)))?
            }
            "batch_size" => {
                self.batch_size = input.number("a whole number from 1 to 10000", |n| (1..=10_000).contains(n))?
            }
            "seed" => self.seed = input.number("a whole number from 0", |_| true)?,
            "limit" => self.limit = input.or_auto(|i| i.at_least_one())?,
            "threads" => {
                self.threads =
                    input.or_auto(|i| i.number("a whole number from 1 to 1024", |n| (1..=1024).contains(n)))?
            }
            "encoder_lr" => self.encoder_lr = input.or_auto(|i| i.rate())?,
            "head_lr" => self.head_lr = input.rate()?,
            "warmup" => self.warmup = input.share()?,
            "weight_decay" => self.weight_decay = input.share()?,
            "clip" => self.clip = input.number("a number above 0", |x: &f64| *x > 0.0 && x.is_finite())?,
            "dropout" => self.dropout = input.number("a number from 0 to 0.9", |x| (0.0..=0.9).contains(x))?,
            "w" => self.head_weight = input.share()?,
            "sp" => self.sampling = input.number("a number from 0 to 1", |x| (0.0..=1.0).contains(x))?,
            // A row of weights for each width, and that many candidates for each word.
            "max_width" => {
                self.max_width = input.number("a whole number from 1 to 1000", |n| (1..=1000).contains(n))?
            }
            "word_shapes" => {
                self.word_shapes = input.or_auto(|i| i.number("true, false or auto", |_| true))?;
            }
            "nesting" => {
                self.nesting = Nesting::from_id(input.value).ok_or_else(|| input.bad("nested or flat"))?;
            }
            "processor" => {
                let read = |i: &Input<'_>| Processor::from_id(i.value).ok_or_else(|| i.bad("cpu, gpu, plain or auto"));
                self.processor = input.or_auto(read)?;
            }
            "bf16" => self.bf16 = input.number("true or false", |_| true)?,
            "threshold" => self.threshold = input.number("a number from 0 to 1", |x| (0.0..=1.0).contains(x))?,
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// How many sentences the model will label itself, given how many have labels and how many have none, and whether the
    /// encoder is pretrained.
    pub fn labels_itself(&self, sentences: usize, unlabelled: usize, pretrained: bool) -> usize {
        let is_few = sentences <= FEW_LABELS && unlabelled >= sentences;
        let gains_by_itself = pretrained && self.effort != TrainedLayers::TaskHead && is_few;
        let own = self.self_training.unwrap_or(if gains_by_itself { OWN_A_LABELLED * sentences } else { 0 });
        own.min(unlabelled)
    }

    /// Decides what is open for `sentences` to train on, others that have no labels, an encoder, and what it runs on.
    pub(super) fn resolve(
        &self,
        sentences: usize,
        unlabelled: usize,
        encoder: EncoderTraits,
        processor: Processor,
    ) -> Settings {
        let EncoderTraits { pretrained, uncased, hidden } = encoder;
        let self_training = self.labels_itself(sentences, unlabelled, pretrained);
        let steps = sentences.div_ceil(self.batch_size.max(1)).max(1);
        let own_steps = plan::sentences_an_epoch(sentences, self_training).div_ceil(self.batch_size.max(1)).max(1);
        let least = if pretrained { LEAST_STEPS_PRETRAINED } else { LEAST_STEPS };
        Settings {
            architecture: self.architecture.clone(),
            encoder: self.encoder.clone(),
            // There is nothing to keep in an encoder that starts from nothing.
            effort: if pretrained { self.effort } else { TrainedLayers::Full },
            top_layers: self.top_layers,
            epochs: self.epochs.unwrap_or_else(|| least.div_ceil(steps).clamp(10, 100)).max(1),
            self_training,
            self_rounds: self.self_rounds.max(1),
            self_epochs: self.self_epochs.unwrap_or_else(|| least.div_ceil(own_steps).clamp(3, 100)).max(1),
            batch_size: self.batch_size.max(1),
            seed: self.seed,
            encoder_lr: self.encoder_lr.unwrap_or(match hidden {
                _ if !pretrained => 1e-3,
                LARGE.. => 5e-5,
                _ => 2e-4,
            }),
            head_lr: self.head_lr,
            warmup: self.warmup,
            weight_decay: self.weight_decay,
            clip: self.clip,
            dropout: self.dropout,
            head_weight: self.head_weight,
            sampling: self.sampling,
            max_width: self.max_width.max(1),
            word_shapes: self.word_shapes.unwrap_or(uncased),
            threshold: self.threshold,
            nesting: self.nesting,
            limit: self.limit,
            bf16: self.bf16 && has_bf16() && processor.operations() == Operations::ByHand,
            processor,
        }
    }

    /// What the training will run on, and where that is not what was asked for, why.
    pub(super) fn processor(&self) -> (Processor, Option<String>) {
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

/// A key and what was typed for it.
struct Input<'a> {
    key: &'static str,
    value: &'a str,
}

impl Input<'_> {
    fn bad(&self, expected: &'static str) -> TrainError {
        TrainError::BadValue { key: self.key, value: self.value.to_owned(), expected }
    }

    fn number<T: FromStr>(&self, expected: &'static str, fits: impl Fn(&T) -> bool) -> Result<T, TrainError> {
        self.value.parse().ok().filter(fits).ok_or_else(|| self.bad(expected))
    }

    fn at_least_one(&self) -> Result<usize, TrainError> {
        self.number("a whole number from 1", |n| *n > 0)
    }

    fn rate(&self) -> Result<f64, TrainError> {
        self.number("a learning rate above 0 and up to 1, such as 1e-4", |x| *x > 0.0 && *x <= 1.0)
    }

    fn share(&self) -> Result<f64, TrainError> {
        self.number("a number from 0 to 1", |x| (0.0..=1.0).contains(x))
    }

    fn or_auto<T>(&self, read: impl Fn(&Self) -> Result<T, TrainError>) -> Result<Option<T>, TrainError> {
        if self.value == "auto" { Ok(None) } else { read(self).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        refused(
            "lr",
            "1e-4",
            expect![[
                r#"there is no setting "lr"; there are: architecture, encoder, effort, top_layers, epochs, self_training, self_rounds, self_epochs, batch_size, seed, limit, threads, encoder_lr, head_lr, warmup, weight_decay, clip, dropout, w, sp, max_width, word_shapes, threshold, nesting, bf16, processor"#
            ]],
        );
    }

    #[test]
    fn every_key_changes_something() {
        let other = |key: &str| match key {
            "architecture" | "encoder" => "other",
            "effort" => "heads",
            "nesting" => "flat",
            "processor" => "plain",
            "word_shapes" | "bf16" => "false",
            "epochs" | "self_training" | "self_rounds" | "self_epochs" | "batch_size" | "top_layers" | "seed"
            | "limit" | "threads" | "max_width" => "7",
            "encoder_lr" | "head_lr" | "warmup" | "weight_decay" | "clip" | "dropout" | "w" | "sp" | "threshold" => {
                "0.3"
            }
            _ => "no value is known here",
        };
        for (key, ..) in KEYS {
            let mut config = Config::default();
            config.set(key, other(key)).unwrap();
            assert_ne!(config, Config::default(), "{key}");
        }
    }

    const MINILM: EncoderTraits = EncoderTraits { pretrained: true, uncased: true, hidden: 384 };

    #[test]
    fn the_encoder_decides_its_rate() {
        let rate = |encoder| Config::default().resolve(100, 0, encoder, Processor::Cpu).encoder_lr;
        assert_eq!(rate(MINILM), 2e-4);
        assert_eq!(rate(EncoderTraits { hidden: 768, ..MINILM }), 5e-5);
        assert_eq!(rate(EncoderTraits { pretrained: false, ..MINILM }), 1e-3);
        let mut fixed = Config::default();
        fixed.set("encoder_lr", "3e-4").unwrap();
        assert_eq!(fixed.resolve(100, 0, MINILM, Processor::Cpu).encoder_lr, 3e-4);
    }

    #[test]
    fn few_sentences_get_more_epochs() {
        let epochs = |sentences| Config::default().resolve(sentences, 0, MINILM, Processor::Cpu).epochs;
        assert_eq!([40, 100, 300, 1000, 10_000].map(epochs), [100, 86, 32, 10, 10]);
        let small = EncoderTraits { pretrained: false, ..MINILM };
        assert_eq!(
            [40, 100, 300, 1000].map(|n| Config::default().resolve(n, 0, small, Processor::Cpu).epochs),
            [100, 43, 16, 10]
        );
        let mut fixed = Config::default();
        fixed.set("epochs", "3").unwrap();
        assert_eq!(fixed.resolve(40, 0, MINILM, Processor::Cpu).epochs, 3);
    }

    #[test]
    fn a_model_labels_sentences_itself_where_few_are_labelled() {
        let own = |config: &Config, sentences, unlabelled, encoder| {
            config.resolve(sentences, unlabelled, encoder, Processor::Cpu).self_training
        };
        let default = Config::default();
        assert_eq!(own(&default, 100, 10_000, MINILM), 300);
        assert_eq!([own(&default, 100, 120, MINILM), own(&default, 100, 99, MINILM)], [120, 0]);
        assert_eq!(own(&default, 2001, 10_000, MINILM), 0);
        assert_eq!(own(&default, 100, 10_000, EncoderTraits { pretrained: false, ..MINILM }), 0);
        assert_eq!(own(&Config { effort: TrainedLayers::TaskHead, ..Config::default() }, 100, 10_000, MINILM), 0);
        let asked = Config { self_training: Some(70), ..Config::default() };
        assert_eq!([own(&asked, 100, 10_000, MINILM), own(&asked, 100, 50, MINILM)], [70, 50]);
        let epochs = |sentences| default.resolve(sentences, 10_000, MINILM, Processor::Cpu).self_epochs;
        assert_eq!([40, 100, 300, 1000].map(epochs), [40, 16, 6, 3], "600 steps, too");
    }
}
