//! The encoders inside the program: those that have read text (`assets/encoder`, each with its model card), and one that
//! starts from nothing.
//!
//! Invariant: what lists, names and messages say of them comes from [`PRETRAINED`]; a new one is a row there.

use super::entity_heads::{ENTITIES, EntityHeads};
use super::folder::{COMPACT, CONFIG};
use super::{Encoder, EncoderConfig, EncoderError, EncoderInfo};
use crate::text::Language;
use std::path::Path;

/// The built-in encoder that new projects begin with: a student of all-MiniLM-L6-v2.
pub const ENGLISH: &str = "english";

/// The built-in encoder that starts from nothing.
pub const SMALL: &str = "small";

/// An encoder inside the program that has read text.
struct BuiltIn {
    /// What commands and settings call it.
    name: &'static str,
    /// What lists call it.
    title: &'static str,
    /// What it has read, to go after "pretrained on".
    languages: &'static str,
    reads: Reads,
    /// Where the project has its model card.
    card: &'static str,
    /// As they would be in a folder, the weights compact.
    files: &'static [(&'static str, &'static [u8])],
}

/// Languages that an encoder has read, by their codes (ISO 639-3).
enum Reads {
    These(&'static [&'static str]),
    /// All that [`Language`] knows but these.
    AllBut(&'static [&'static str]),
}

impl Reads {
    fn has(&self, language: Language) -> bool {
        match self {
            Self::These(codes) => codes.contains(&language.code()),
            Self::AllBut(codes) => !codes.contains(&language.code()),
        }
    }
}

/// A row of [`PRETRAINED`], of the folder `assets/encoder/NAME`.
macro_rules! built_in {
    ($name:literal, $title:literal, $languages:literal, $reads:expr, [$($file:literal),+ $(,)?]) => {
        BuiltIn {
            name: $name,
            title: $title,
            languages: $languages,
            reads: $reads,
            card: concat!("assets/encoder/", $name, "/README.md"),
            files: &[$(($file, include_bytes!(concat!("../../assets/encoder/", $name, "/", $file)))),+],
        }
    };
}

/// In the order of lists.
const PRETRAINED: &[BuiltIn] = &[
    built_in!(
        "english",
        "English, built in",
        "English",
        Reads::These(&["eng"]),
        ["config.json", "vocab.txt", "tokenizer_config.json", "compact.safetensors"]
    ),
    built_in!(
        "multilingual",
        "Multilingual, built in",
        "text in some 100 languages",
        // Of those that are recognised, the ones that XLM-R's training text lacks (Conneau et al. 2020, Table 6).
        Reads::AllBut(&["aka", "sna", "tuk", "zul"]),
        ["config.json", "tokenizer.json", "compact.safetensors"]
    ),
];

impl BuiltIn {
    fn of_name(name: &str) -> Option<&'static Self> {
        PRETRAINED.iter().find(|built_in| built_in.name == name)
    }

    fn file(&self, name: &str) -> Option<&'static [u8]> {
        self.files.iter().find(|(of, _)| *of == name).map(|(_, bytes)| *bytes)
    }

    fn info(&self) -> Result<EncoderInfo, EncoderError> {
        let config = EncoderConfig::parse(self.file(CONFIG).unwrap_or_default(), Path::new(self.name))?;
        Ok(EncoderInfo {
            languages: Some(self.languages),
            card: Some(self.card),
            ..info(self.name, self.title, &config, self.file(COMPACT).map_or(0, <[u8]>::len))
        })
    }
}

/// The names of all of them, in the order of lists.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PRETRAINED.iter().map(|built_in| built_in.name).chain([SMALL])
}

/// Whether an encoder has read text in a language; `None` of one that is not built in, and of one that has read nothing at all.
pub fn has_read(name: &str, language: Language) -> Option<bool> {
    Some(BuiltIn::of_name(name)?.reads.has(language))
}

/// The first built-in encoder that has read text in a language.
pub fn suited_to(language: Language) -> Option<&'static str> {
    PRETRAINED.iter().find(|built_in| built_in.reads.has(language)).map(|built_in| built_in.name)
}

/// The built-in encoder of a name, if there is one.
pub(super) fn get(name: &str) -> Option<Result<Encoder, EncoderError>> {
    if name == SMALL {
        return Some(Encoder::small());
    }
    Some(Encoder::from_files(BuiltIn::of_name(name)?.files, Path::new(name)))
}

/// What the trainer has to know of the heads of a built-in encoder, if it has any.
pub(super) fn heads_note(name: &str) -> Result<Option<String>, EncoderError> {
    let heads = BuiltIn::of_name(name).and_then(|built_in| built_in.file(ENTITIES));
    heads.map(|bytes| EntityHeads::read_note(bytes, &Path::new(name).join(ENTITIES))).transpose()
}

/// For a list; the vocabularies are not read for that.
pub(super) fn infos() -> Result<Vec<EncoderInfo>, EncoderError> {
    let small = info(SMALL, "Any language, not pretrained", &EncoderConfig::small(), 0);
    PRETRAINED.iter().map(BuiltIn::info).chain([Ok(small)]).collect()
}

fn info(name: &str, title: &str, config: &EncoderConfig, weights: usize) -> EncoderInfo {
    EncoderInfo {
        name: name.to_owned(),
        display_name: title.to_owned(),
        built_in: true,
        languages: None,
        card: None,
        pretrained: weights > 0,
        kind: Some(config.kind),
        hidden: config.hidden,
        layers: config.layers,
        weights_bytes: weights as u64,
        problem: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::folder::FILES;
    use crate::wording::grouped;

    #[test]
    fn an_encoder_is_suited_to_what_it_has_read() {
        let language = |code| Language::of_code(code).unwrap();
        assert_eq!([suited_to(language("eng")), suited_to(language("zul"))], [Some(ENGLISH), None]);
        assert_eq!(suited_to(language("deu")), Some("multilingual"));
        assert_eq!([has_read(ENGLISH, language("eng")), has_read(ENGLISH, language("deu"))], [Some(true), Some(false)]);
        assert_eq!([has_read(SMALL, language("deu")), has_read("minilm", language("deu"))], [None, None]);
        let but = Reads::AllBut(&["zul"]);
        assert!(but.has(language("deu")) && !but.has(language("zul")));
        for built_in in PRETRAINED {
            let (Reads::These(codes) | Reads::AllBut(codes)) = built_in.reads;
            assert!(codes.iter().all(|code| Language::of_code(code).is_some()), "{}", built_in.name);
        }
    }

    #[test]
    fn every_row_is_an_encoder_that_its_card_describes() {
        assert_eq!(PRETRAINED[0].name, ENGLISH, "the one that new projects begin with comes first");
        for built_in in PRETRAINED {
            assert!(built_in.files.iter().all(|(name, _)| FILES.contains(name)), "{}", built_in.name);
            let encoder = get(built_in.name).unwrap().unwrap();
            let config = encoder.definition().config();
            let info = built_in.info().unwrap();
            assert_eq!((info.hidden, info.layers, info.pretrained), (config.hidden, config.layers, true));
            assert!((1_000_000..14_000_000).contains(&info.weights_bytes), "{}", info.weights_bytes);

            let project = Path::new(env!("CARGO_MANIFEST_DIR"));
            let card = std::fs::read_to_string(project.join(built_in.card)).unwrap();
            let name = format!("`{}`", built_in.name);
            let blocks = format!("{} blocks of {}", config.layers, config.hidden);
            let subwords = format!("{} subwords", grouped(config.vocabulary));
            for expected in [&name, &blocks, &subwords, "## Text", "## Licence"] {
                assert!(card.contains(expected), "the card of {} does not say {expected:?}", built_in.name);
            }
        }
    }
}
