//! What a project sets about architectures: each has values of its own, so that another choice of architecture and back
//! again loses none.

use crate::model::{Architecture, OptionSpec, architecture as architecture_of};
use crate::parameter::Value;
use std::collections::BTreeMap;

/// Before the architecture and the option in the key of a row; never changed.
const PREFIX: &str = "option";
/// What a row says of an option that has its default; no value is written so.
const DEFAULT: &str = "default";

/// An option of an architecture, which it declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OptionOf {
    architecture: &'static str,
    name: &'static str,
}

impl OptionOf {
    /// `None` where the architecture, or the option, is not there.
    pub fn find(architecture: &str, name: &str) -> Option<Self> {
        let architecture = architecture_of(architecture).ok()?;
        let spec = spec(architecture, name)?;
        Some(Self { architecture: architecture.id(), name: spec.name })
    }

    /// The key of its row in a project file.
    pub(super) fn key(self) -> String {
        format!("{PREFIX}:{}:{}", self.architecture, self.name)
    }

    /// Reads a key. `None` where it is that of something else, or of what a newer program has.
    pub(super) fn from_key(key: &str) -> Option<Self> {
        let (architecture, name) = key.strip_prefix(PREFIX)?.strip_prefix(':')?.split_once(':')?;
        Self::find(architecture, name)
    }

    fn spec(self) -> Option<&'static OptionSpec> {
        spec(architecture_of(self.architecture).ok()?, self.name)
    }

    /// A value that the option takes; `None`: its default.
    pub(super) fn within_bounds(self, value: Option<Value>) -> Option<Value> {
        value.filter(|value| self.spec().is_some_and(|spec| spec.takes.takes(*value)))
    }

    /// A value as a row has it; `None` for what the option does not take, and `Some(None)` for its default.
    pub(super) fn read(self, text: &str) -> Option<Option<Value>> {
        if text == DEFAULT { Some(None) } else { self.spec()?.takes.read(text).map(Some) }
    }

    pub(super) fn write(value: Option<Value>) -> String {
        value.map_or_else(|| DEFAULT.to_owned(), |value| value.to_string())
    }
}

fn spec(architecture: &'static dyn Architecture, name: &str) -> Option<&'static OptionSpec> {
    architecture.options().iter().find(|spec| spec.name == name)
}

/// The options that don't have their defaults.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ChosenOptions(BTreeMap<OptionOf, Value>);

impl ChosenOptions {
    /// `None` where it has its default.
    pub fn get(&self, option: OptionOf) -> Option<Value> {
        self.0.get(&option).copied()
    }

    pub(super) fn set(&mut self, option: OptionOf, value: Option<Value>) {
        match value {
            Some(value) => self.0.insert(option, value),
            None => self.0.remove(&option),
        };
    }

    /// Those of all architectures: its id, the name of the option, the value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, Value)> + '_ {
        self.0.iter().map(|(option, value)| (option.architecture, option.name, *value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::architectures;

    #[test]
    fn a_key_leads_back_to_its_option_and_that_of_a_newer_program_to_none() {
        let w = OptionOf::find("smartspanner", "w").unwrap();
        assert_eq!(w.key(), "option:smartspanner:w", "project files name it so");
        assert_eq!(OptionOf::from_key(&w.key()), Some(w));
        for key in ["option:spanner:w", "option:from_the_future:w", "option:smartspanner", "options:smartspanner:w"] {
            assert_eq!(OptionOf::from_key(key), None, "{key}");
        }
    }

    #[test]
    fn no_option_takes_the_word_for_its_default() {
        for spec in architectures().iter().flat_map(|architecture| architecture.options()) {
            assert_eq!(spec.takes.read(DEFAULT), None, "{}", spec.name);
        }
    }

    #[test]
    fn architectures_keep_values_of_their_own() {
        let [one, other] = ["smartspanner", "dspert"].map(|id| OptionOf::find(id, "sp").unwrap());
        let mut chosen = ChosenOptions::default();
        chosen.set(one, Some(Value::Real(0.1)));
        chosen.set(other, Some(Value::Real(0.2)));
        chosen.set(one, None);
        assert_eq!((chosen.get(one), chosen.get(other)), (None, Some(Value::Real(0.2))));
        assert_eq!(one.within_bounds(Some(Value::Real(2.0))), None, "a chance is 1 at most");
    }
}
