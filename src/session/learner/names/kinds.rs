//! Kinds of names that corpora mark under many labels, so that labels of different ones can be told to mean the same.

use crate::annotation::{LabelId, LabelSet};

/// What nearly all corpora of names mark.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameKind {
    Person,
    Organisation,
    Place,
}

impl NameKind {
    pub const ALL: [Self; 3] = [Self::Person, Self::Organisation, Self::Place];

    /// The word for it in project files: never changed.
    pub(in crate::session) fn id(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Organisation => "organisation",
            Self::Place => "place",
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "Person",
            Self::Organisation => "Organisation",
            Self::Place => "Place",
        }
    }

    /// Labels of corpora and projects that mean it, in small letters and without marks between them.
    fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Person => &[
                "per",
                "person",
                "persons",
                "people",
                "pers",
                "personen",
                "personne",
                "personnes",
                "persona",
                "personas",
                "pessoa",
                "pessoas",
                "persoon",
                "personer",
                "personname",
                "henkilö",
                "osoba",
                "człowiek",
                "kişi",
                "kisi",
                "человек",
                "персона",
                "persoana",
                "shakhs",
                "人物",
                "人名",
                "人",
                "사람",
                "인물",
                "บุคคล",
                "שם",
                "شخص",
            ],
            Self::Organisation => &[
                "org",
                "organization",
                "organisation",
                "organizations",
                "organisations",
                "organización",
                "organizacion",
                "organização",
                "organizacao",
                "organizzazione",
                "organisatie",
                "organisasjon",
                "corporation",
                "company",
                "institution",
                "institut",
                "organizace",
                "organizacja",
                "organisaatio",
                "örgüt",
                "kurum",
                "организация",
                "组织",
                "組織",
                "机构",
                "조직",
                "단체",
                "องค์กร",
                "منظمة",
                "ארגון",
            ],
            Self::Place => &[
                "loc",
                "location",
                "locations",
                "place",
                "places",
                "gpe",
                "geopoliticalentity",
                "ort",
                "lieu",
                "lugar",
                "luogo",
                "locatie",
                "plaats",
                "sted",
                "plats",
                "local",
                "miejsce",
                "místo",
                "paikka",
                "yer",
                "место",
                "localización",
                "localizacion",
                "localização",
                "地点",
                "地名",
                "地点名",
                "장소",
                "지역",
                "สถานที่",
                "مكان",
                "מקום",
            ],
        }
    }

    /// The kind that a label means by its name, if it means one.
    pub fn of(label: &str) -> Option<Self> {
        let label = plain(label);
        Self::ALL.into_iter().find(|kind| kind.labels().contains(&label.as_str()))
    }
}

/// What a person has said of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum NameLabel {
    /// The first label that means it by its name.
    #[default]
    Automatic,
    /// Names of the kind are not suggested.
    Nothing,
    Label(LabelId),
}

impl NameLabel {
    /// As project files hold it.
    pub(in crate::session) fn row(self) -> String {
        match self {
            Self::Automatic => "automatic".to_owned(),
            Self::Nothing => "nothing".to_owned(),
            Self::Label(label) => label.0.to_string(),
        }
    }

    pub(in crate::session) fn from_row(row: &str) -> Option<Self> {
        match row {
            "automatic" => Some(Self::Automatic),
            "nothing" => Some(Self::Nothing),
            id => id.parse().ok().map(|id| Self::Label(LabelId(id))),
        }
    }

    /// The label of a project that names of a kind get.
    pub fn label(self, kind: NameKind, labels: &LabelSet) -> Option<LabelId> {
        match self {
            Self::Nothing => None,
            Self::Label(id) => labels.get(id).map(|label| label.id),
            Self::Automatic => {
                labels.iter().find(|label| NameKind::of(&label.name) == Some(kind)).map(|label| label.id)
            }
        }
    }
}

/// A label as labels are compared: "Person-Name" is "personname".
pub(super) fn plain(label: &str) -> String {
    label.chars().filter(|c| c.is_alphanumeric() || !c.is_ascii()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::NewProject;

    #[test]
    fn labels_mean_a_kind_whatever_their_language_and_spelling() {
        let kinds = ["PER", "Personne", "person-name", "ORG", "Organización", "GPE", "Lieu", "地点", "PROTEIN", ""];
        let kinds = kinds.map(|label| NameKind::of(label).map(NameKind::id));
        let (person, organisation, place) = (Some("person"), Some("organisation"), Some("place"));
        let expected = [person, person, person, organisation, organisation, place, place, place, None, None];
        assert_eq!(kinds, expected);
        for kind in NameKind::ALL {
            assert!(kind.labels().iter().all(|label| plain(label) == *label), "{kind:?}");
            assert_eq!(NameKind::of(kind.name()), Some(kind));
        }
    }

    #[test]
    fn a_person_has_the_last_word() {
        let labels = NewProject::with_labels(["Hero", "GPE", "LOC"]).unwrap().labels;
        let label = |said: NameLabel, kind| said.label(kind, &labels).map(|id| labels.get(id).unwrap().name.clone());
        assert_eq!(label(NameLabel::Automatic, NameKind::Person), None);
        assert_eq!(label(NameLabel::Label(LabelId(0)), NameKind::Person).as_deref(), Some("Hero"));
        assert_eq!(label(NameLabel::Automatic, NameKind::Place).as_deref(), Some("GPE"));
        assert_eq!(label(NameLabel::Nothing, NameKind::Place), None);
        assert_eq!(label(NameLabel::Label(LabelId(9)), NameKind::Place), None, "it is not there any more");
        for said in [NameLabel::Automatic, NameLabel::Nothing, NameLabel::Label(LabelId(7))] {
            assert_eq!(NameLabel::from_row(&said.row()), Some(said));
        }
        assert_eq!(NameLabel::from_row("x"), None);
    }
}
