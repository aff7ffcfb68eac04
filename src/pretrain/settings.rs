//! What a person can ask of a pretraining.

use super::error::PretrainError;
use crate::model::{Architecture, architecture};
use crate::parameter::{Field as _, Kind};
use crate::train::{Config, TrainedLayers};

const COMPACT: &str = "compact";
/// Settings of trainings that a pretraining decides itself, or that mean nothing to it.
const DECIDED: [&str; 11] = [
    "architecture",
    "encoder",
    "effort",
    "top_layers",
    "self_training",
    "self_rounds",
    "self_epochs",
    "patience",
    "limit",
    "nesting",
    "threshold",
];

/// How to learn from the corpora.
#[derive(Clone, PartialEq, Debug)]
pub struct PretrainSettings {
    /// Sentences of each corpus, drawn with the seed; `None` for all.
    pub limit: Option<usize>,
    /// Whether the encoder is stored with 4 and 8 bits a weight. Its tables are then rounded first and stay as they are, and
    /// the blocks learn to live with that.
    pub compact: bool,
    training: Config,
}

impl Default for PretrainSettings {
    /// One pass over all sentences.
    fn default() -> Self {
        Self {
            limit: None,
            compact: false,
            training: Config { epochs: Some(1), self_training: Some(0), ..Config::default() },
        }
    }
}

impl PretrainSettings {
    /// The default, with so many sentences of each corpus.
    pub fn with_limit(limit: Option<usize>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Sets one value as a person types it: `compact`, or a setting of trainings.
    ///
    /// # Errors
    /// An unknown key, or a value that it does not take.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), PretrainError> {
        if key == COMPACT {
            self.compact = bool::read(Kind::Flag, value.trim()).ok_or_else(|| PretrainError::BadValue {
                key: key.to_owned(),
                value: value.to_owned(),
                expected: "true or false",
            })?;
            return Ok(());
        }
        let keys = Self::keys();
        if !keys.contains(&key) {
            return Err(PretrainError::NoSuchSetting { key: key.to_owned(), there: keys.join(", ") });
        }
        Ok(self.training.set(key, value)?)
    }

    /// The keys of [`PretrainSettings::set`].
    pub fn keys() -> Vec<&'static str> {
        let of_trainings = Config::parameters().into_iter().map(|parameter| parameter.key);
        let architecture = architecture(&Config::default().architecture);
        let options = architecture.into_iter().flat_map(Architecture::options).map(|option| option.name);
        let keys = of_trainings.chain(options).filter(|key| !DECIDED.contains(key));
        [COMPACT].into_iter().chain(keys).collect()
    }

    pub fn seed(&self) -> u64 {
        self.training.seed
    }

    /// The training of an encoder with a name and so many blocks.
    pub(super) fn training(&self, base: &str, blocks: usize) -> Config {
        let (effort, top_layers) = match self.compact {
            true => (TrainedLayers::Top, blocks),
            false => (TrainedLayers::Full, self.training.top_layers),
        };
        Config { encoder: base.to_owned(), effort, top_layers, ..self.training.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decided_here_can_t_be_set() {
        let mut settings = PretrainSettings::default();
        for (key, value) in [("epochs", "2"), ("compact", "true"), ("seed", "7"), ("max_width", "12")] {
            settings.set(key, value).unwrap();
        }
        assert_eq!((settings.compact, settings.seed(), settings.training.epochs), (true, 7, Some(2)));
        assert_eq!(settings.training("english", 4).top_layers, 4);
        let refused = |key: &str, value: &str| PretrainSettings::default().set(key, value).unwrap_err().to_string();
        assert!(DECIDED.iter().all(|key| Config::keys().contains(key)), "all are settings of trainings");
        for key in DECIDED {
            let message = refused(key, "1");
            assert!(
                message.starts_with(&format!("a pretraining has no setting {key:?}; there are: compact, epochs, "))
            );
        }
        assert!(
            refused("tags", "crf").ends_with("w, sp, max_width, word_shapes, entity_heads"),
            "no options of other architectures"
        );
        assert_eq!(refused("compact", "yes"), "compact can't be \"yes\"; it takes true or false");
        assert_eq!(refused("epochs", "0"), "epochs can't be \"0\"; it takes a whole number from 1 to 10000");
    }
}
