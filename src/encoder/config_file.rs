//! `config.json` of the Hugging Face libraries, as far as it matters here: each number is asked for with its bounds.

use super::EncoderError;
use super::error::GET_AGAIN;
use super::kind::{HASHED, Kind};
use serde_json::Value;
use std::path::Path;

/// The file as it was parsed; the path is for messages.
pub(super) struct ConfigFile<'a> {
    json: Value,
    path: &'a Path,
}

impl<'a> ConfigFile<'a> {
    /// # Errors
    /// When it is no JSON.
    pub(super) fn parse(json: &[u8], path: &'a Path) -> Result<Self, EncoderError> {
        let json = serde_json::from_slice(json)
            .map_err(|e| EncoderError::bad_file(format!("the file is not JSON ({e})"), GET_AGAIN, path))?;
        Ok(Self { json, path })
    }

    /// What is there and not null.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.json.get(key).filter(|value| !value.is_null())
    }

    /// The file that an object of this one would be by itself; `None` where the key has none.
    pub(super) fn within(&self, key: &str) -> Option<Self> {
        self.get(key).filter(|value| value.is_object()).map(|value| Self { json: value.clone(), path: self.path })
    }

    /// Asked first, since other model types name their sizes otherwise.
    pub(super) fn kind(&self) -> Result<Kind, EncoderError> {
        let said = self.get("model_type");
        let kind = match said {
            Some(model_type) => model_type.as_str().and_then(Kind::of_type),
            None => {
                let classes = self.get("architectures").and_then(Value::as_array).into_iter().flatten();
                classes.filter_map(Value::as_str).find_map(Kind::of_class)
            }
        };
        let got = || said.map_or_else(|| "missing".to_owned(), shown);
        kind.ok_or_else(|| self.unsupported("the model type", got(), Kind::all()))
    }

    pub(super) fn is_hashed(&self) -> bool {
        self.get("model_type").is_some_and(|model_type| model_type == HASHED)
    }

    /// # Errors
    /// When there is a value, and it is another one than the only one that works.
    pub(super) fn only(&self, key: &'static str, expected: impl Into<Value>) -> Result<(), EncoderError> {
        let expected = expected.into();
        match self.get(key) {
            Some(got) if *got != expected => Err(self.unsupported(key, shown(got), expected.to_string())),
            _ => Ok(()),
        }
    }

    pub(super) fn unsupported(&self, what: &'static str, got: String, expected: String) -> EncoderError {
        EncoderError::Unsupported { what, got, expected, path: self.path.to_owned() }
    }

    /// # Errors
    /// Always: the file says what can't be.
    pub(super) fn bad<T>(&self, problem: String) -> Result<T, EncoderError> {
        Err(EncoderError::bad_file(problem, GET_AGAIN, self.path))
    }

    pub(super) fn number(&self, key: &'static str, least: usize, most: usize) -> Result<usize, EncoderError> {
        self.number_or(key, least, most, None)
    }

    /// The bounds are far beyond what any encoder has; they keep a damaged file from asking for all memory.
    pub(super) fn number_or(
        &self,
        key: &'static str,
        least: usize,
        most: usize,
        default: Option<usize>,
    ) -> Result<usize, EncoderError> {
        let value = self.get(key);
        if let (None, Some(default)) = (value, default) {
            return Ok(default);
        }
        let number = value.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        number.filter(|n| (least..=most).contains(n)).map_or_else(
            || {
                let got = value.map_or_else(|| "missing".to_owned(), shown);
                self.bad(format!("{key} is {got}, expected a whole number from {least} to {most}"))
            },
            Ok,
        )
    }

    /// A number that may be left out: by saying nothing, 0, or a number below that.
    pub(super) fn number_if_any(
        &self,
        key: &'static str,
        least: usize,
        most: usize,
    ) -> Result<Option<usize>, EncoderError> {
        match self.get(key) {
            None => Ok(None),
            Some(value) if value.as_i64().is_some_and(|number| number < 1) => Ok(None),
            Some(_) => self.number(key, least, most).map(Some),
        }
    }

    pub(super) fn real_or(
        &self,
        key: &'static str,
        (least, below): (f64, f64),
        default: f64,
    ) -> Result<f64, EncoderError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value.as_f64().filter(|real| (least..below).contains(real)).map_or_else(
            || {
                // Bounds like 1e-30 are there to keep the value from 0.
                let least = if least < 1e-9 { 0.0 } else { least };
                self.bad(format!("{key} is {}, expected a number between {least} and {below}", shown(value)))
            },
            Ok,
        )
    }

    /// What is added to the variance of a norm.
    pub(super) fn norm_eps(&self, key: &'static str, default: f64) -> Result<f64, EncoderError> {
        self.real_or(key, (1e-30, 1.0), default)
    }

    pub(super) fn flag_or(&self, key: &'static str, default: bool) -> Result<bool, EncoderError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value.as_bool().map_or_else(|| self.bad(format!("{key} is {}, expected true or false", shown(value))), Ok)
    }
}

/// A value for a message, which a damaged file must not make endless.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 40 { text.chars().take(40).chain(['…']).collect() } else { text }
}
