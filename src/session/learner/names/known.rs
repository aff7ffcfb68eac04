//! What an encoder has learned to find, and under which labels it is suggested.

use super::kinds::{NameKind, NameLabel, plain};
use crate::annotation::{LabelId, LabelSet};
use crate::encoder::Encoders;
use crate::train::{Predictor, TrainError, entity_labels};
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
    pub(super) fn new(
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
    pub(in crate::session::learner) fn load(&self, threads: Option<usize>) -> Result<Predictor, TrainError> {
        let encoder = self.encoders.get(&self.encoder)?;
        let label = |of_encoder: &str| self.said.get(of_encoder).cloned();
        let gone = || TrainError::EntityHeads("they are not there any more".to_owned());
        Predictor::of_entities(&encoder, label, threads)?.ok_or_else(gone)
    }
}

/// What an encoder has learned to find.
#[derive(Clone, Default, Debug)]
pub(in crate::session) struct KnownNames {
    pub(super) encoder: String,
    pub(super) labels: Vec<String>,
}

impl KnownNames {
    pub(super) fn of(encoders: &Encoders, encoder: &str) -> Result<Self, TrainError> {
        let note = encoders.entity_heads_note(encoder)?;
        let labels = note.as_deref().map_or(Ok(Vec::new()), entity_labels)?;
        Ok(Self { encoder: encoder.to_owned(), labels })
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
