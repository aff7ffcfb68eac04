//! What a person can ask of a distillation.

use super::error::DistillError;
use crate::parameter::{Kind, Put, parameters};
use std::path::Path;

const COUNT: Kind = Kind::Whole(1, 10_000);

parameters! {
    /// What a person asks of a distillation; `None` stands for "decide by the teacher".
    #[derive(Clone, PartialEq, Debug)]
    pub struct Config {
        layers: Option<usize>, Kind::Whole(1, 256), None => "half of them",
            "number of blocks, taken from the start of the teacher";
        inner: Option<usize>, Kind::Whole(1, 131_072), None => "half of the teacher's",
            "neurons in a block's inner layer";
        vocabulary: Option<usize>, Kind::Whole(16, 4_000_000), None => "all",
            "number of subwords to keep: those of the text, or of Unigram vocabularies the likeliest";
        ideographs: usize, Kind::Whole(0, 200_000), 4500,
            "of a Unigram vocabulary that is cut: single ideographs and Hangul syllables to keep";
        text_weight: f64, Kind::Real(0.0, 1.0), 0.5,
            "of a Unigram vocabulary that is cut: weight of the texts, each a language, against the teacher's own scores";
        last: Option<usize>, Kind::Whole(1, 256), None => "as many as layers",
            "which block of the teacher the last block imitates";
        epochs: usize, COUNT, 3, "passes over the text";
        batch_size: usize, COUNT, 32, "sentences per step";
        rate: f64, Kind::Rate("3e-4"), 1e-3, "learning rate";
        seed: u64, Kind::from(0), 42, "for the order of the sentences";
        threads: Option<usize>, Kind::Whole(1, 1024), None => "all cores", "number of threads";
        compact: bool, Kind::Flag, false, "true stores 4 and 8 bits per weight, like the built-in encoders";
    }
}

impl Config {
    /// Sets one value as a person types it; `auto` leaves what can be left open to the program.
    ///
    /// # Errors
    /// An unknown key, or a value that it does not take.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), DistillError> {
        let value = value.trim();
        match self.put(key, value) {
            Put::Done => Ok(()),
            Put::Refused { expected, is_open } => {
                let expected = if is_open { format!("auto, or {expected}") } else { expected };
                Err(DistillError::BadValue { key: key.to_owned(), value: value.to_owned(), expected })
            }
            Put::NoSuchKey => {
                let keys: Vec<&str> = Self::parameters().iter().map(|parameter| parameter.key).collect();
                Err(DistillError::NoSuchSetting { key: key.to_owned(), there: keys.join(", ") })
            }
        }
    }

    /// Takes all settings of a text: a line `KEY = VALUE` each, and lines that are empty or begin with `#`. `path` is for
    /// messages.
    ///
    /// # Errors
    /// The first line that is none of these, or that [`Config::set`] refuses.
    pub fn read(&mut self, text: &str, path: &Path) -> Result<(), DistillError> {
        for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                return Err(DistillError::BadLine { line: number, text: line.to_owned(), path: path.to_owned() });
            };
            self.set(key.trim(), value).map_err(|error| DistillError::InLine {
                line: number,
                error: Box::new(error),
                path: path.to_owned(),
            })?;
        }
        Ok(())
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
                "rate" => "0.7",
                "text_weight" => "0.7",
                _ => "17",
            };
            let mut config = Config::default();
            config.set(key, other).unwrap();
            assert_ne!(config, Config::default(), "{key}");
        }
    }

    #[test]
    fn settings_are_read_line_by_line() {
        let mut config = Config::default();
        let text = "# for German\n\nlayers = 4\nvocabulary=all\nrate = 1e-3\ncompact = true\n";
        config.read(text, Path::new("de.txt")).unwrap();
        assert_eq!(config, Config { layers: Some(4), rate: 1e-3, compact: true, ..Config::default() });
        let refused = |text: &str| Config::default().read(text, Path::new("de.txt")).unwrap_err().to_string();
        assert_eq!(refused("layers=2\nlayers 3"), "line 2 of the settings is not KEY = VALUE: \"layers 3\": de.txt");
        assert_eq!(
            refused("layers=0"),
            "line 1 of the settings: layers can't be \"0\"; it takes auto, or a whole number from 1 to 256: de.txt"
        );
        assert!(
            refused("# deep\ndepth=3")
                .starts_with("line 2 of the settings: there is no setting \"depth\"; there are: layers")
        );
        assert_eq!(
            refused("rate=2"),
            "line 1 of the settings: rate can't be \"2\"; it takes a learning rate above 0 and up to 1, such as 3e-4: de.txt"
        );
    }
}
