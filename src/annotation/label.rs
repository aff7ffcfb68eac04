//! Entity types of a project.

use super::limits::LABELS;
use crate::wording::counted;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Identity of a label for the life of a project: it outlives renaming, and is never given to another label.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LabelId(pub u32);

/// A colour as a person chose it; the window adapts its lightness to the theme.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Reads `#RRGGBB`.
    pub fn from_hex(color: &str) -> Option<Self> {
        let mut parts = [0; 3];
        hex::decode_to_slice(color.strip_prefix('#')?, &mut parts).ok()?;
        let [red, green, blue] = parts;
        Some(Self(red, green, blue))
    }

    pub fn to_hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

/// How many mentions have a label, in the documents that are there and in the excluded ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LabelUse {
    pub there: usize,
    pub excluded: usize,
}

impl fmt::Display for LabelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.there + self.excluded;
        f.write_str(&counted(all, "mention", "mentions"))?;
        match (self.there, self.excluded) {
            (_, 0) => Ok(()),
            (0, _) => f.write_str(" in excluded documents"),
            (_, excluded) => write!(f, ", {excluded} of them in excluded documents"),
        }
    }
}

/// Colours proposed for new labels in turn, distinguishable with the common kinds of colour blindness
/// (after Okabe and Ito 2008, lightened for a dark background).
const PALETTE: [Rgb; 8] = [
    Rgb(0xF0, 0x7F, 0x5A),
    Rgb(0x56, 0xA5, 0xF5),
    Rgb(0x2F, 0xB4, 0x7C),
    Rgb(0xC0, 0x7C, 0xF0),
    Rgb(0xE3, 0xB2, 0x3C),
    Rgb(0x3F, 0xBF, 0xC9),
    Rgb(0xE8, 0x6F, 0xA8),
    Rgb(0x9A, 0xA8, 0x4F),
];

/// Keys that the window needs for itself on the annotation page.
const RESERVED_KEYS: &[char] = &['x', 'f', 'n', '?', ' '];

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub id: LabelId,
    /// What files call it; unique in its project and not empty.
    pub name: String,
    /// What people call it; empty when the name says it all.
    pub title: String,
    pub color: Rgb,
    /// The character that a person types for it, lower case; unique in its project.
    pub key: Option<char>,
}

impl Label {
    /// The title, or the name where there is none.
    pub fn display_name(&self) -> &str {
        if self.title.is_empty() { &self.name } else { &self.title }
    }

    /// A key as a person has written it, or that there is none.
    ///
    /// # Errors
    /// Several characters.
    pub fn key_of(written: &str) -> Result<Option<char>, LabelError> {
        let mut characters = written.trim().chars();
        let key = characters.next().map(lower);
        match characters.next() {
            None => Ok(key),
            Some(_) => Err(LabelError::KeyTooLong(written.trim().to_owned())),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    #[error("a label needs a name; type one")]
    EmptyName,
    #[error("there is a label {0:?} already; choose another name")]
    NameTaken(String),
    #[error("the key {key:?} belongs to the label {owner:?}; choose another key")]
    KeyTaken { key: char, owner: String },
    #[error("two labels have the same id")]
    IdTaken,
    #[error("there are {0} labels, and a project has room for {LABELS}")]
    TooMany(usize),
    #[error("a key is one character, and {0:?} has several; leave one, or none")]
    KeyTooLong(String),
    #[error("the key {0:?} is one that the annotation page needs for itself; choose another key")]
    KeyReserved(char),
}

/// The labels of a project in their order. Names are unique and not empty, keys are unique.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LabelSet {
    labels: Vec<Label>,
    /// Where each label stands.
    places: HashMap<LabelId, usize>,
    next_id: u32,
}

impl LabelSet {
    pub fn iter(&self) -> std::slice::Iter<'_, Label> {
        self.labels.iter()
    }

    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub fn get(&self, id: LabelId) -> Option<&Label> {
        self.labels.get(*self.places.get(&id)?)
    }

    pub fn by_name(&self, name: &str) -> Option<&Label> {
        self.labels.iter().find(|l| l.name == name)
    }

    pub fn by_key(&self, key: char) -> Option<&Label> {
        let key = lower(key);
        self.labels.iter().find(|l| l.key == Some(key))
    }

    /// The id that the next new label gets.
    pub fn next_id(&self) -> LabelId {
        LabelId(self.next_id)
    }

    /// A new label with the next id, a proposed colour, and the first free letter of its name (else digit) as its key.
    ///
    /// It is not part of the set yet: add it with an edit.
    pub fn propose(&self, name: &str) -> Label {
        let used: HashSet<char> =
            self.labels.iter().filter_map(|l| l.key).chain(RESERVED_KEYS.iter().copied()).collect();
        let letters = name.chars().filter(|c| c.is_alphanumeric()).map(lower);
        let key = letters.chain('1'..='9').chain('a'..='z').find(|c| !used.contains(c));
        let color = PALETTE.iter().copied().find(|c| self.labels.iter().all(|l| l.color != *c));
        let turn = PALETTE.get(self.next_id as usize % PALETTE.len()).copied();
        let color = color.or(turn).unwrap_or(Rgb(0x56, 0xA5, 0xF5));
        Label { id: self.next_id(), name: name.trim().to_owned(), title: String::new(), color, key }
    }

    /// New labels with these names, each as it is proposed after those before it.
    pub fn proposed<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut set = Self::default();
        for name in names {
            let label = set.propose(name);
            if set.check(&label).is_ok() {
                set.insert(usize::MAX, label);
            }
        }
        set
    }

    /// # Errors
    /// A name or key that is empty, reserved, or taken by another label than `label` itself.
    pub fn check(&self, label: &Label) -> Result<(), LabelError> {
        match label.key.filter(|key| RESERVED_KEYS.contains(key)) {
            Some(key) => Err(LabelError::KeyReserved(key)),
            None => self.check_unique(label),
        }
    }

    /// What always holds; the reserved keys are a rule for people, and may grow while a label lives.
    pub(super) fn check_unique(&self, label: &Label) -> Result<(), LabelError> {
        if label.name.trim().is_empty() {
            return Err(LabelError::EmptyName);
        }
        let others = || self.labels.iter().filter(|l| l.id != label.id);
        if others().any(|l| l.name == label.name) {
            return Err(LabelError::NameTaken(label.name.clone()));
        }
        let Some(key) = label.key else { return Ok(()) };
        match others().find(|l| l.key == Some(key)) {
            Some(owner) => Err(LabelError::KeyTaken { key, owner: owner.name.clone() }),
            None => Ok(()),
        }
    }

    /// Appends a label, or puts one back where it was (`at`).
    pub(super) fn insert(&mut self, at: usize, label: Label) {
        self.next_id = self.next_id.max(label.id.0.saturating_add(1));
        let at = at.min(self.labels.len());
        self.labels.insert(at, label);
        self.number_places(at);
    }

    pub(super) fn remove(&mut self, id: LabelId) {
        if let Some(at) = self.places.remove(&id) {
            self.labels.remove(at);
            self.number_places(at);
        }
    }

    /// After a change from a place on.
    fn number_places(&mut self, from: usize) {
        self.places.extend(self.labels.iter().enumerate().skip(from).map(|(at, label)| (label.id, at)));
    }

    pub(super) fn replace(&mut self, label: Label) {
        let old = self.places.get(&label.id).and_then(|at| self.labels.get_mut(*at));
        if let Some(old) = old {
            *old = label;
        }
    }

    /// A set as it was stored. A key that a later version reserves stays with its label. Linear in the labels.
    ///
    /// # Errors
    /// The first label that breaks an invariant.
    pub fn restore(labels: Vec<Label>, next_id: LabelId) -> Result<Self, LabelError> {
        if labels.len() > LABELS {
            return Err(LabelError::TooMany(labels.len()));
        }
        let mut names = HashSet::with_capacity(labels.len());
        let mut owners: HashMap<char, &Label> = HashMap::new();
        let mut next = next_id.0;
        for label in &labels {
            if label.name.trim().is_empty() {
                return Err(LabelError::EmptyName);
            }
            if !names.insert(label.name.as_str()) {
                return Err(LabelError::NameTaken(label.name.clone()));
            }
            if let Some(key) = label.key
                && let Some(owner) = owners.insert(key, label)
            {
                return Err(LabelError::KeyTaken { key, owner: owner.name.clone() });
            }
            next = next.max(label.id.0.saturating_add(1));
        }
        let places: HashMap<LabelId, usize> = labels.iter().enumerate().map(|(at, label)| (label.id, at)).collect();
        if places.len() < labels.len() {
            return Err(LabelError::IdTaken);
        }
        Ok(Self { labels, places, next_id: next })
    }
}

fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposals_have_free_keys_and_colours() {
        let mut set = LabelSet::default();
        for name in ["PER", "PERCENT", "XS", "东"] {
            let label = set.propose(name);
            set.check(&label).unwrap();
            set.insert(usize::MAX, label);
        }
        let keys: String = set.iter().filter_map(|l| l.key).collect();
        assert_eq!(keys, "pes东");
        assert_eq!(set.iter().map(|l| l.color).collect::<HashSet<_>>().len(), 4);
        assert_eq!(set.by_key('P').unwrap().name, "PER");
    }

    #[test]
    fn ids_are_not_used_again() {
        let mut set = LabelSet::default();
        set.insert(0, set.propose("A"));
        set.remove(LabelId(0));
        assert_eq!(set.propose("B").id, LabelId(1));
    }

    #[test]
    fn hex_reads_and_writes() {
        assert_eq!(Rgb::from_hex("#0aF1ff").map(Rgb::to_hex).as_deref(), Some("#0AF1FF"));
        assert_eq!(["#é1234", "#+1+2+3", "#12345", "123456"].map(Rgb::from_hex), [None; 4]);
    }
}
