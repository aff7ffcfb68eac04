//! What a person can ask of a distillation.

use super::DistillError;
use std::path::Path;
use std::str::FromStr;

/// Settings with their defaults; `None` stands for "decide by the teacher".
///
/// | key | default | meaning |
/// |---|---|---|
/// | `layers` | half of the teacher's | blocks of the student, the teacher's first ones |
/// | `inner` | half of the teacher's | neurons in the inner layer of each block |
/// | `vocabulary` | `all` | subwords that are kept: marks, single characters, then by how often they are in the text |
/// | `last` | `layers` | number of the teacher's block whose hidden states the student's last block learns to give; those between are matched in proportion |
/// | `epochs` | 3 | passes over the text |
/// | `batch_size` | 32 | sentences a step |
/// | `rate` | 1e-3 | learning rate, after a warm-up over a twentieth of the steps falling to 0 |
/// | `seed` | 42 | of the order of the sentences |
/// | `threads` | all cores | for tensor work |
/// | `compact` | `false` | store the student with 4 and 8 bits a weight, as built-in encoders are |
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    pub layers: Option<usize>,
    pub inner: Option<usize>,
    pub vocabulary: Option<usize>,
    pub last: Option<usize>,
    pub epochs: usize,
    pub batch_size: usize,
    pub rate: f64,
    pub seed: u64,
    pub threads: Option<usize>,
    pub compact: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            layers: None,
            inner: None,
            vocabulary: None,
            last: None,
            epochs: 3,
            batch_size: 32,
            rate: 1e-3,
            seed: 42,
            threads: None,
            compact: false,
        }
    }
}

const KEYS: [&str; 10] =
    ["layers", "inner", "vocabulary", "last", "epochs", "batch_size", "rate", "seed", "threads", "compact"];

impl Config {
    /// Sets one value as a person types it; `auto` leaves what can be left open to the program.
    ///
    /// # Errors
    /// An unknown key, or a value that it does not take.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), DistillError> {
        let unknown = || DistillError::NoSuchSetting { key: key.to_owned(), there: KEYS.join(", ") };
        let key = KEYS.into_iter().find(|known| *known == key).ok_or_else(unknown)?;
        let input = Input { key, value: value.trim() };
        match key {
            "layers" => self.layers = input.open("auto", 1, 256)?,
            "inner" => self.inner = input.open("auto", 1, 131_072)?,
            "vocabulary" => self.vocabulary = input.open("all", 16, 4_000_000)?,
            "last" => self.last = input.open("auto", 1, 256)?,
            "epochs" => self.epochs = input.within(1, 10_000)?,
            "batch_size" => self.batch_size = input.within(1, 10_000)?,
            "rate" => {
                let expected = "a learning rate above 0 and up to 1, such as 3e-4";
                self.rate = input.number(expected, |x| *x > 0.0 && *x <= 1.0)?;
            }
            "seed" => self.seed = input.number("a whole number from 0", |_| true)?,
            "threads" => self.threads = input.open("auto", 1, 1024)?,
            "compact" => self.compact = input.number("true or false", |_| true)?,
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// Takes all settings of a text: a line `KEY = VALUE` each, and lines that are empty or begin with `#`. `path` is for
    /// messages.
    ///
    /// # Errors
    /// The first line that is none of these, and what [`Config::set`] refuses.
    pub fn read(&mut self, text: &str, path: &Path) -> Result<(), DistillError> {
        for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                return Err(DistillError::BadLine { line: number, text: line.to_owned(), path: path.to_owned() });
            };
            self.set(key.trim(), value)?;
        }
        Ok(())
    }
}

/// A key and what was typed for it.
struct Input<'a> {
    key: &'static str,
    value: &'a str,
}

impl Input<'_> {
    fn bad(&self, expected: &str) -> DistillError {
        DistillError::BadValue { key: self.key, value: self.value.to_owned(), expected: expected.to_owned() }
    }

    fn number<T: FromStr>(&self, expected: &str, fits: impl Fn(&T) -> bool) -> Result<T, DistillError> {
        self.value.parse().ok().filter(fits).ok_or_else(|| self.bad(expected))
    }

    fn within(&self, least: usize, most: usize) -> Result<usize, DistillError> {
        self.number(&format!("a whole number from {least} to {most}"), |n| (least..=most).contains(n))
    }

    fn open(&self, word: &str, least: usize, most: usize) -> Result<Option<usize>, DistillError> {
        if self.value == word {
            return Ok(None);
        }
        let expected = format!("{word}, or a whole number from {least} to {most}");
        self.number(&expected, |n| (least..=most).contains(n)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_changes_something() {
        for key in KEYS {
            let mut config = Config::default();
            config
                .set(
                    key,
                    if key == "compact" {
                        "true"
                    } else if key == "rate" {
                        "0.5"
                    } else {
                        "17"
                    },
                )
                .unwrap();
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
        assert_eq!(refused("layers=0"), "layers can't be \"0\"; it takes auto, or a whole number from 1 to 256");
        assert!(refused("depth=3").starts_with("there is no setting \"depth\"; there are: layers, inner, "));
        assert_eq!(
            refused("rate=2"),
            "rate can't be \"2\"; it takes a learning rate above 0 and up to 1, such as 3e-4"
        );
    }
}
