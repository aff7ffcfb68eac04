//! Suggestions before there is a model: names, by what the encoder has learned of other corpora's entities.
//!
//! # Invariants
//! - They are suggested only while the project uses no model of its own, and are no model of the project: they are told from
//!   those by [`ModelId::NAMES`](crate::annotation::ModelId::NAMES).
//! - A label of the encoder's is said as the project's label of the same name; else, where it means a kind of name, as the label
//!   that stands for the kind; else not at all.
//!
//! Deliberately absent: what such suggestions would teach (acquisition scores). They tell how sure the encoder is of names, not
//! what a model of the project lacks.

mod kinds;

pub use kinds::{NameKind, NameLabel};

use crate::annotation::{LabelId, LabelSet};
use crate::disk::Noted as _;
use crate::encoder::Encoders;
use crate::session::project::Project;
use crate::session::{SessionError, Task};
use crate::train::{Predictor, TrainError, entity_labels};
use kinds::plain;
use std::collections::BTreeMap;

/// What names are found by, and under which labels they are suggested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::session) struct Names {
    encoders: Encoders,
    encoder: String,
    /// By the encoder's labels; never empty.
    said: BTreeMap<String, (LabelId, String)>,
}

impl Names {
    /// `None` where nothing that the encoder finds has a label here.
    fn new(
        encoders: Encoders,
        known: &KnownNames,
        labels: &LabelSet,
        chosen: impl Fn(NameKind) -> NameLabel,
    ) -> Option<Self> {
        let named = |id: LabelId| labels.get(id).map(|label| (id, label.name.clone()));
        let same_name = |bare: &str| {
            let alike = labels.iter().find(|label| plain(&label.name) == plain(bare));
            alike.and_then(|label| named(label.id))
        };
        let by_kind = |kind: NameKind| chosen(kind).label(kind, labels).and_then(named);
        let said = known.labels.iter().filter_map(|of_encoder| {
            let bare = of_encoder.rsplit(':').next().unwrap_or(of_encoder);
            let label = match NameKind::of(bare) {
                // Of places a project may mark several kinds, but what a person has said goes before all names.
                Some(kind) if chosen(kind) == NameLabel::Automatic => same_name(bare).or_else(|| by_kind(kind)),
                Some(kind) => by_kind(kind),
                None => same_name(bare),
            };
            Some((of_encoder.clone(), label?))
        });
        let said: BTreeMap<_, _> = said.collect();
        (!said.is_empty()).then(|| Self { encoders, encoder: known.encoder.clone(), said })
    }

    /// Reads the encoder: not for the window's thread.
    pub(super) fn load(&self, threads: Option<usize>) -> Result<Predictor, TrainError> {
        let encoder = self.encoders.get(&self.encoder)?;
        let label = |of_encoder: &str| self.said.get(of_encoder).cloned();
        let gone = || TrainError::EntityHeads("they are not there any more".to_owned());
        Predictor::of_entities(&encoder, label, threads)?.ok_or_else(gone)
    }
}

/// What an encoder has learned to find.
#[derive(Clone, Default, Debug)]
pub(super) struct KnownNames {
    encoder: String,
    labels: Vec<String>,
}

impl KnownNames {
    fn of(encoders: &Encoders, encoder: &str) -> Result<Self, TrainError> {
        let heads = encoders.entity_heads(encoder)?;
        let labels = heads.as_ref().map_or(Ok(Vec::new()), entity_labels)?;
        Ok(Self { encoder: encoder.to_owned(), labels })
    }
}

impl Project {
    /// What suggests names as long as the project uses no model; `None` where a person wants none, or none have a label.
    pub(super) fn names(&self) -> Option<Names> {
        let wanted = self.settings().general_names && self.current_model().is_none();
        wanted.then(|| self.names_by(&self.learner.known_names)).flatten()
    }

    fn names_by(&self, known: &KnownNames) -> Option<Names> {
        let chosen = |kind| self.settings().names_as.get(&kind).copied().unwrap_or_default();
        Names::new(self.encoders(), known, self.corpus().labels(), chosen)
    }

    /// What finds names, asked for by a person. Reads the encoder.
    ///
    /// # Errors
    /// An encoder that can't be read, or finds nothing that has a label here.
    pub(super) fn find_names(&self) -> Result<Names, SessionError> {
        let encoder = &self.settings().encoder;
        let known = KnownNames::of(&self.encoders(), encoder)?;
        self.names_by(&known).ok_or_else(|| SessionError::NoNames { encoder: encoder.clone() })
    }

    /// Whether the encoder of the settings finds names of its own accord.
    pub fn knows_names(&self) -> bool {
        !self.learner.known_names.labels.is_empty()
    }

    /// Reads what the encoder of the settings has learned of entities: not for the window's thread.
    pub(in crate::session) fn read_names(&mut self) {
        self.learner.known_names = self.names_of_encoder()();
    }

    /// The same on a thread of its own, where the encoder is another one. Until it is there no names are known.
    pub(in crate::session) fn look_for_names(&mut self) {
        let encoder = self.settings().encoder.clone();
        if self.learner.known_names.encoder != encoder {
            let task = Task::spawn("nestling-names", self.waker(), self.names_of_encoder());
            self.learner.known_names = KnownNames { encoder, labels: Vec::new() };
            self.learner.reading_names = Some(task);
        }
    }

    /// Takes over what was read.
    pub(super) fn take_names(&mut self) {
        let Some(read) = self.learner.reading_names.as_ref().and_then(Task::poll) else { return };
        self.learner.reading_names = None;
        if let Some(known) = read.noted("no names are suggested") {
            self.learner.known_names = known;
            self.start_predicting();
        }
    }

    /// What can't be read counts as nothing: the training that starts from it says why.
    fn names_of_encoder(&self) -> impl FnOnce() -> KnownNames + Send + use<> {
        let (encoders, encoder) = (self.encoders(), self.settings().encoder.clone());
        move || {
            let known = KnownNames::of(&encoders, &encoder).noted("no names are suggested");
            known.unwrap_or(KnownNames { encoder, labels: Vec::new() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::NewProject;

    fn said(project: &[&str], chosen: &[(NameKind, NameLabel)]) -> Option<Vec<(String, String)>> {
        let of_encoder = ["news:PER", "news:LOC", "novels:GPE", "novels:FAC", "web:person", "cells:protein"];
        let known = KnownNames { encoder: "e".to_owned(), labels: of_encoder.map(str::to_owned).to_vec() };
        let labels = NewProject::with_labels(project.iter().copied()).unwrap().labels;
        let chosen: BTreeMap<_, _> = chosen.iter().copied().collect();
        let chosen = |kind| chosen.get(&kind).copied().unwrap_or_default();
        let names = Names::new(Encoders::at(std::path::Path::new("home")), &known, &labels, chosen)?;
        Some(names.said.into_iter().map(|(of_encoder, (_, name))| (of_encoder, name)).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    #[test]
    fn labels_go_by_name_then_by_kind() {
        let people = [("news:PER", "Personne"), ("web:person", "Personne")];
        assert_eq!(said(&["Personne"], &[]), pairs(&people));
        let places = [("news:LOC", "LOC"), ("novels:GPE", "GPE")];
        assert_eq!(said(&["LOC", "GPE"], &[]), pairs(&places));
        let places = [("news:LOC", "Place"), ("novels:FAC", "fac"), ("novels:GPE", "Place")];
        assert_eq!(said(&["Place", "fac"], &[]), pairs(&places));
        assert_eq!(said(&["Protein"], &[]), pairs(&[("cells:protein", "Protein")]));
        assert_eq!(said(&["Gesture"], &[]), None);
        let hero = [(NameKind::Person, NameLabel::Label(LabelId(0))), (NameKind::Place, NameLabel::Nothing)];
        assert_eq!(said(&["Hero", "PER", "LOC"], &hero), pairs(&[("news:PER", "Hero"), ("web:person", "Hero")]));
    }
}
