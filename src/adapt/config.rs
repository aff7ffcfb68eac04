//! What a person can ask of an adaptation.

use super::error::AdaptError;
use crate::parameter::{Kind, Put, parameters};

const COUNT: Kind = Kind::Whole(1, 10_000);

parameters! {
    /// What a person asks of an adaptation; `None` stands for "decide by the machine".
    #[derive(Clone, PartialEq, Debug)]
    pub struct Config {
        epochs: usize, COUNT, 1, "passes over the text";
        batch_size: usize, COUNT, 32, "sentences per step";
        rate: f64, Kind::Rate("2e-4"), 2e-4, "learning rate of the encoder";
        masked: f64, Kind::Real(0.01, 0.9), 0.15, "share of the words that are left out";
        seed: u64, Kind::from(0), 42, "for the order of the sentences and what is left out of them";
        threads: Option<usize>, Kind::Whole(1, 1024), None => "all cores", "number of threads";
        compact: bool, Kind::Flag, false, "true stores 4 and 8 bits per weight, like the built-in encoders";
    }
}

impl Config {
    /// Sets one value as a person types it; `auto` leaves what can be left open to the program.
    ///
    /// # Errors
    /// An unknown key, or a value that it does not take.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), AdaptError> {
        let value = value.trim();
        match self.put(key, value) {
            Put::Done => Ok(()),
            Put::Refused { expected, is_open } => {
                let expected = if is_open { format!("auto, or {expected}") } else { expected };
                Err(AdaptError::BadValue { key: key.to_owned(), value: value.to_owned(), expected })
            }
            Put::NoSuchKey => {
                let keys: Vec<&str> = Self::parameters().iter().map(|parameter| parameter.key).collect();
                Err(AdaptError::NoSuchSetting { key: key.to_owned(), there: keys.join(", ") })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_changes_something() {
        for key in Config::parameters().iter().map(|parameter| parameter.key) {
            let other = match key {
                "compact" => "true",
                "rate" | "masked" => "0.7",
                _ => "17",
            };
            let mut config = Config::default();
            config.set(key, other).unwrap();
            assert_ne!(config, Config::default(), "{key}");
        }
    }

    #[test]
    fn what_it_does_not_take_is_said() {
        let refused = |key: &str, value: &str| Config::default().set(key, value).unwrap_err().to_string();
        assert_eq!(refused("masked", "1"), "masked can't be \"1\"; it takes a number from 0.01 to 0.9");
        assert_eq!(refused("threads", "0"), "threads can't be \"0\"; it takes auto, or a whole number from 1 to 1024");
        assert!(refused("layers", "3").starts_with("an adaptation has no setting \"layers\"; there are: epochs, "));
    }
}
