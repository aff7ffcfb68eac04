//! Labels in formats that can't spell every name.

use super::Receipt;
use std::collections::BTreeMap;

/// What labels are called in one export: always the same, and no two alike.
pub(super) struct Spelling {
    allows: fn(char) -> bool,
    /// By the true name.
    spelled: BTreeMap<String, String>,
}

impl Spelling {
    pub(super) fn new(allows: fn(char) -> bool) -> Self {
        Self { allows, spelled: BTreeMap::new() }
    }

    /// Labels that can be spelled keep their names, whichever comes first.
    pub(super) fn prefer<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        for name in names.filter(|name| !name.is_empty() && name.chars().all(self.allows)) {
            self.spelled.insert(name.to_owned(), name.to_owned());
        }
    }

    /// The name itself, or with `_` for what is not allowed, and a number where another label is called so.
    pub(super) fn of(&mut self, name: &str) -> String {
        if let Some(known) = self.spelled.get(name) {
            return known.clone();
        }
        let plain: String = name.chars().map(|c| if (self.allows)(c) { c } else { '_' }).collect();
        let taken = |text: &str| self.spelled.values().any(|other| other == text);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|text| !taken(text)).unwrap_or(plain);
        self.spelled.insert(name.to_owned(), free.clone());
        free
    }

    /// Tells those that are spelled in another way.
    pub(super) fn tell(self, receipt: &mut Receipt) {
        receipt.renamed_labels = self.spelled.into_iter().filter(|(name, spelled)| name != spelled).collect();
        for (name, spelled) in &receipt.renamed_labels {
            receipt.notes.push(format!("the label {name:?} was written as {spelled:?}"));
        }
    }
}
