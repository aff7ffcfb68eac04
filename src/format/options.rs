//! `--option key=value`.

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

/// Options as they were given; each one is known to a format, with a value that it allows ([`Options::new`]).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    given: BTreeMap<String, String>,
}

impl Options {
    pub(super) fn of(given: BTreeMap<String, String>) -> Self {
        Self { given }
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

impl OptionSpec {
    /// `end=auto|exclusive|inclusive`
    pub fn shown(&self) -> String {
        let values = if self.values.is_empty() { "…".to_owned() } else { self.values.join("|") };
        format!("{}={values}", self.key)
    }
}
