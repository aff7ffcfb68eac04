//! What happens to a word before it is taken apart.

use super::charsmap;
use super::pattern::Pattern;
use super::problem::{MOST_CONTENT_BYTES, MOST_STEPS, Problem};
use serde::Deserialize;
use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::normalizers::{
    BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Prepend, Replace, Strip, StripAccents,
};
use tokenizers::{NormalizedString, NormalizerWrapper};

/// As `tokenizer.json` has it.
#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum Normalizer {
    #[serde(rename = "BertNormalizer", alias = "Bert")]
    Bert {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
    Strip {
        strip_left: bool,
        strip_right: bool,
    },
    StripAccents,
    #[serde(rename = "NFC")]
    Nfc,
    #[serde(rename = "NFD")]
    Nfd,
    #[serde(rename = "NFKC")]
    Nfkc,
    #[serde(rename = "NFKD")]
    Nfkd,
    Lowercase,
    Nmt,
    ByteLevel,
    Sequence {
        normalizers: Vec<Self>,
    },
    Precompiled {
        precompiled_charsmap: String,
    },
    Replace {
        pattern: Pattern,
        content: String,
    },
    Prepend {
        prepend: String,
    },
}

impl Normalizer {
    pub(super) fn build(self) -> Result<Steps, Problem> {
        let mut steps = Vec::new();
        self.push_to(&mut steps)?;
        Ok(Steps(steps))
    }

    /// Steps within steps follow each other.
    fn push_to(self, steps: &mut Vec<NormalizerWrapper>) -> Result<(), Problem> {
        let step = match self {
            Self::Sequence { normalizers } => return normalizers.into_iter().try_for_each(|step| step.push_to(steps)),
            Self::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
                BertNormalizer::new(clean_text, handle_chinese_chars, strip_accents, lowercase).into()
            }
            Self::Strip { strip_left, strip_right } => Strip::new(strip_left, strip_right).into(),
            Self::StripAccents => StripAccents.into(),
            Self::Nfc => NFC.into(),
            Self::Nfd => NFD.into(),
            Self::Nfkc => NFKC.into(),
            Self::Nfkd => NFKD.into(),
            Self::Lowercase => Lowercase.into(),
            Self::Nmt => Nmt.into(),
            Self::ByteLevel => ByteLevel::new().into(),
            Self::Precompiled { precompiled_charsmap } => charsmap::read(&precompiled_charsmap)?.into(),
            Self::Replace { pattern, content } => {
                pattern.check()?;
                check_content(&content)?;
                let pattern = match pattern {
                    Pattern::String(text) => ReplacePattern::String(text),
                    Pattern::Regex(text) => ReplacePattern::Regex(text),
                };
                Replace::new(pattern, content).map_err(|e| Problem::unreadable(&e))?.into()
            }
            Self::Prepend { prepend } => {
                check_content(&prepend)?;
                Prepend::new(prepend).into()
            }
        };
        steps.push(step);
        Problem::too_much("normalizers", steps.len(), MOST_STEPS)
    }
}

fn check_content(content: &str) -> Result<(), Problem> {
    Problem::too_much("bytes that a normalizer writes in place of others", content.len(), MOST_CONTENT_BYTES)
}

/// Normalizers one after the other, each of which makes little more of a word than the last.
#[derive(Clone, Debug)]
pub(in super::super) struct Steps(Vec<NormalizerWrapper>);

impl Steps {
    /// Real normalizers make at most eleven bytes of one, of a ligature that stands for a phrase (U+FDFA).
    const MOST_GROWTH: usize = 16;
    const MOST_ADDED: usize = 1024;

    /// The normalizer of BERT, where that is all there is.
    pub(in super::super) fn only_bert(&self) -> Option<&BertNormalizer> {
        match self.0.as_slice() {
            [NormalizerWrapper::BertNormalizer(bert)] => Some(bert),
            _ => None,
        }
    }
}

impl From<BertNormalizer> for Steps {
    fn from(bert: BertNormalizer) -> Self {
        Self(vec![bert.into()])
    }
}

impl tokenizers::Normalizer for Steps {
    /// A word that grows without end becomes nothing, which is an unknown word.
    fn normalize(&self, word: &mut NormalizedString) -> tokenizers::Result<()> {
        let most = Self::MOST_ADDED + Self::MOST_GROWTH * word.len_original();
        for step in &self.0 {
            step.normalize(word)?;
            if word.len() > most {
                word.clear();
                return Ok(());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use tokenizers::Normalizer as _;

    fn steps(json: Value) -> Result<Steps, Problem> {
        serde_json::from_value::<Normalizer>(json).map_err(|e| Problem::unreadable(&e))?.build()
    }

    fn normal(json: Value, word: &str) -> String {
        let mut string = NormalizedString::from(word);
        steps(json).unwrap().normalize(&mut string).unwrap();
        string.get().to_owned()
    }

    #[test]
    fn steps_follow_each_other() {
        let json = json!({"type": "Sequence", "normalizers": [
            {"type": "NFD"}, {"type": "Sequence", "normalizers": [{"type": "StripAccents"}, {"type": "Lowercase"}]},
            {"type": "Replace", "pattern": {"Regex": "[0-9]{2,}"}, "content": "#"}, {"type": "Prepend", "prepend": "_"},
        ]});
        assert_eq!(normal(json, "\u{c9}t\u{e9}1984"), "_ete#");
        let bert = json!({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true});
        assert!(steps(bert).unwrap().only_bert().is_some());
    }

    #[test]
    fn a_word_of_phrases_is_no_chain_of_replacements() {
        let ligatures = "\u{fdfa}".repeat(super::super::MOST_CHARS);
        assert_eq!(normal(json!({"type": "NFKC"}), &ligatures).len(), 11 * ligatures.len());
    }

    #[test]
    fn a_chain_of_replacements_ends() {
        let twice =
            json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"});
        assert_eq!(normal(twice.clone(), "a").len(), 32);
        let chain = json!({"type": "Sequence", "normalizers": vec![twice; 40]});
        assert_eq!(normal(chain.clone(), "a"), "");
        assert_eq!(normal(chain, &"a".repeat(super::super::MOST_CHARS)), "");
    }

    #[test]
    fn what_asks_for_too_much_is_refused() {
        let replace =
            |pattern: Value, content: &str| json!({"type": "Replace", "pattern": pattern, "content": content});
        for bad in [
            replace(json!({"String": ""}), "x"),
            replace(json!({"Regex": "x*"}), "x"),
            replace(json!({"String": "x"}), &"y".repeat(65)),
            json!({"type": "Prepend", "prepend": "y".repeat(65)}),
            json!({"type": "Sequence", "normalizers": vec![json!({"type": "NFC"}); 65]}),
            json!({"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
            json!({"type": "Precompiled", "precompiled_charsmap": ""}),
            json!({"type": "FixedLength", "length": 0}),
            json!({"strip_left": true, "strip_right": true}),
        ] {
            assert!(steps(bad.clone()).is_err(), "{bad}");
        }
    }
}
