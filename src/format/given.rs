//! Options as a person gives them, against what formats know.

use super::contract::Format;
use super::error::FormatError;
use super::options::{OptionSpec, Options, Use};
use super::segments::{TOKENS, UNIT};
use std::collections::BTreeMap;

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
        Ok(Self::of(given))
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
        Self::of(self.given().filter(|(key, _)| !is_foreign(key)).collect())
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
