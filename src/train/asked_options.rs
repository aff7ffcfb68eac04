//! What is asked of the options of an architecture, before it is known for sure which one is trained.

use super::error::TrainError;
use crate::model::{Architecture, OptionSpec, OptionValues, architectures};
use crate::parameter::Value;
use std::collections::BTreeMap;

/// Options of architectures, by their names.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AskedOptions {
    /// The architecture that is trained must have these.
    asked: BTreeMap<&'static str, Value>,
    /// Taken by any architecture that has such an option, where nothing else is asked or preferred for it alone.
    preferred: BTreeMap<&'static str, Value>,
    /// Taken by the architecture of this id, where nothing else is asked.
    preferred_by: BTreeMap<(&'static str, &'static str), Value>,
}

impl AskedOptions {
    /// Asks for a value as a person types it, which is that of the architecture that is named last; `auto` leaves it to the
    /// encoder where that can be. Returns whether any architecture has such an option.
    ///
    /// # Errors
    /// A value that no architecture takes; the message tells of the one that is chosen so far.
    pub(super) fn set(&mut self, name: &str, text: &str, chosen: &str) -> Result<bool, TrainError> {
        let having: Vec<(&str, &OptionSpec)> = having(name).collect();
        let Some((_, first)) = having.first() else { return Ok(false) };
        if text == "auto" && having.iter().any(|(_, spec)| spec.is_auto()) {
            self.asked.remove(name);
            self.preferred.remove(name);
            self.preferred_by.retain(|(_, preferred), _| *preferred != name);
            return Ok(true);
        }
        let Some(value) = having.iter().find_map(|(_, spec)| spec.takes.read(text)) else {
            let of_chosen = having.iter().find(|(id, _)| *id == chosen);
            let expected = of_chosen.map_or(*first, |(_, spec)| *spec).expected();
            return Err(TrainError::BadValue { key: name.to_owned(), value: text.to_owned(), expected });
        };
        self.asked.insert(first.name, value);
        Ok(true)
    }

    /// Takes a value for an architecture that has such an option, unless another one is asked for.
    pub fn prefer(&mut self, spec: &OptionSpec, value: Value) {
        self.preferred.insert(spec.name, value);
    }

    /// Takes a value for the architecture of this id alone, unless another one is asked for.
    pub fn prefer_for(&mut self, architecture: &'static str, name: &'static str, value: Value) {
        self.preferred_by.insert((architecture, name), value);
    }

    /// For a training that goes on from a model: its weights fit no other values than the model's.
    pub(super) fn keep(&mut self, specs: &[OptionSpec], values: &OptionValues) {
        for spec in specs.iter().filter(|spec| spec.shapes_weights) {
            self.asked.extend(values.get(spec.name).map(|value| (spec.name, value)));
        }
    }

    /// What an architecture takes of them.
    #[must_use]
    pub(super) fn known_to(&self, architecture: &dyn Architecture) -> Self {
        let mut known = self.clone();
        known.asked.retain(|name, _| architecture.options().iter().any(|spec| spec.name == *name));
        known
    }

    /// # Errors
    /// An option that none of these architectures has.
    pub(super) fn check(&self, architectures: &[&dyn Architecture]) -> Result<(), TrainError> {
        let has = |name| architectures.iter().flat_map(|a| a.options()).any(|spec| spec.name == name);
        let Some(name) = self.asked.keys().copied().find(|name| !has(*name)) else { return Ok(()) };
        let ids = |ids: Vec<&str>| ids.join(", ");
        let architectures = ids(architectures.iter().map(|a| a.id()).collect());
        let there = ids(having(name).map(|(id, _)| id).collect());
        Err(TrainError::OtherArchitecture { name, architectures, there })
    }

    /// What is asked or preferred of an option for the architecture of this id.
    pub(super) fn get(&self, architecture: &str, name: &str) -> Option<Value> {
        self.all(architecture).get(name).copied()
    }

    /// What is preferred for some architectures alone: the id, the name of the option, the value.
    pub(super) fn of_architectures(&self) -> impl Iterator<Item = (&'static str, &'static str, Value)> + '_ {
        self.preferred_by.iter().map(|((id, name), value)| (*id, *name, *value))
    }

    /// All that is asked or preferred for the architecture of this id.
    pub(super) fn all(&self, architecture: &str) -> BTreeMap<&'static str, Value> {
        let by_it = self.preferred_by.iter().filter(|((id, _), _)| *id == architecture);
        let by_it = by_it.map(|((_, name), value)| (*name, *value));
        let mut all = self.preferred.clone();
        all.extend(by_it);
        all.extend(&self.asked);
        all
    }
}

/// The architectures that have an option, by their ids, and how each declares it.
fn having(name: &str) -> impl Iterator<Item = (&'static str, &'static OptionSpec)> + '_ {
    let of = |a: &&'static dyn Architecture| {
        let id = a.id();
        a.options().iter().map(move |spec| (id, spec))
    };
    architectures().iter().flat_map(of).filter(move |(_, spec)| spec.name == name)
}
