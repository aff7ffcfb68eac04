//! `--option key=value`.

use super::segments::{TOKENS, UNIT};
use super::{Format, FormatError};
use std::collections::BTreeMap;

/// When an option says something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    Reading,
    Writing,
    Both,
}

/// One option that a format knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OptionSpec {
    pub key: &'static str,
    pub meaning: &'static str,
    /// All of them; empty when any text will do.
    pub values: &'static [&'static str],
    pub default: &'static str,
    pub used: Use,
}

/// Options as they were given; each one is known to a format, with a value that it allows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    given: BTreeMap<String, String>,
}

impl Options {
    /// Options for all of `formats` at once: each takes those that it knows.
    ///
    /// # Errors
    /// A key that none of them knows, a value that is not allowed; the message lists what there is.
    pub fn new(
        given: impl IntoIterator<Item = (String, String)>,
        formats: &[&dyn Format],
    ) -> Result<Self, FormatError> {
        let given: BTreeMap<_, _> = given.into_iter().collect();
        for (key, value) in &given {
            let specs: Vec<_> = formats.iter().flat_map(|f| f.options()).filter(|spec| spec.key == *key).collect();
            if specs.is_empty() {
                return Err(FormatError::UnknownOption { key: key.clone(), known: known(formats) });
            }
            let refusing = |spec: &&&OptionSpec| !spec.values.is_empty() && !spec.values.contains(&value.as_str());
            if let Some(spec) = specs.iter().find(refusing) {
                let allowed = format!("use one of {}", spec.values.join(", "));
                return Err(FormatError::BadOption { key: spec.key, value: value.clone(), allowed });
            }
        }
        Ok(Self { given })
    }

    /// Those of `given` that `format` knows: where others are for others.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub fn known_to(format: &dyn Format, given: &[(String, String)]) -> Result<Self, FormatError> {
        let known = |(key, _): &&(String, String)| format.options().iter().any(|spec| spec.key == key);
        Self::new(given.iter().filter(known).cloned(), &[format])
    }

    /// Without those that only say how to read files which others have written. How text is cut into sentences and words
    /// stays.
    pub fn for_own_files(&self, format: &dyn Format) -> Self {
        let is_foreign = |key: &str| {
            let mut specs = format.options().iter();
            specs.any(|spec| spec.key == key && spec.used == Use::Reading && ![UNIT.key, TOKENS.key].contains(&key))
        };
        let given = self.given.iter().filter(|(key, _)| !is_foreign(key));
        Self { given: given.map(|(key, value)| (key.clone(), value.clone())).collect() }
    }

    /// All that were given.
    pub fn given(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.given.iter().map(|(key, value)| (key.clone(), value.clone()))
    }

    /// These, with another value of one of them.
    pub(super) fn with(&self, spec: &OptionSpec, value: &str) -> Self {
        let mut given = self.given.clone();
        given.insert(spec.key.to_owned(), value.to_owned());
        Self { given }
    }

    /// What was given, or the default.
    pub(super) fn value(&self, spec: &OptionSpec) -> &str {
        self.given.get(spec.key).map_or(spec.default, String::as_str)
    }
}

fn known(formats: &[&dyn Format]) -> String {
    let of_format = |format: &&dyn Format| {
        let keys: Vec<_> = format.options().iter().map(OptionSpec::shown).collect();
        match keys.is_empty() {
            true => format!("{} has none", format.id()),
            false => format!("{} has {}", format.id(), keys.join(" and ")),
        }
    };
    formats.iter().map(of_format).collect::<Vec<_>>().join("; ")
}

impl OptionSpec {
    /// `end=auto|exclusive|inclusive`
    pub fn shown(&self) -> String {
        let values = if self.values.is_empty() { "…".to_owned() } else { self.values.join("|") };
        format!("{}={values}", self.key)
    }
}
