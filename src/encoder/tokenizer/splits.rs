//! How a word is cut before the model takes the parts apart.

use super::pattern::Pattern;
use super::problem::{MOST_STEPS, Problem};
use serde::Deserialize;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::delimiter::CharDelimiterSplit;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::punctuation::Punctuation;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::pre_tokenizers::unicode_scripts::UnicodeScripts;
use tokenizers::pre_tokenizers::whitespace::{Whitespace, WhitespaceSplit};
use tokenizers::{PreTokenizerWrapper, SplitDelimiterBehavior};

/// As `tokenizer.json` has it.
#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum Splits {
    BertPreTokenizer,
    ByteLevel {
        add_prefix_space: bool,
        trim_offsets: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    #[serde(alias = "Delimiter")]
    CharDelimiterSplit {
        delimiter: char,
    },
    Metaspace {
        replacement: char,
        add_prefix_space: Option<bool>,
        prepend_scheme: Option<PrependScheme>,
        split: Option<bool>,
    },
    Whitespace,
    WhitespaceSplit,
    Sequence {
        pretokenizers: Vec<Self>,
    },
    Split {
        pattern: Pattern,
        behavior: SplitDelimiterBehavior,
        invert: bool,
    },
    Punctuation {
        behavior: Option<SplitDelimiterBehavior>,
    },
    Digits {
        individual_digits: bool,
    },
    UnicodeScripts,
}

fn yes() -> bool {
    true
}

impl Splits {
    pub(super) fn build(self) -> Result<PreTokenizerWrapper, Problem> {
        self.built(&mut 0)
    }

    fn built(self, steps: &mut usize) -> Result<PreTokenizerWrapper, Problem> {
        *steps += 1;
        Problem::too_much("pre-tokenizers", *steps, MOST_STEPS)?;
        Ok(match self {
            Self::BertPreTokenizer => BertPreTokenizer.into(),
            Self::ByteLevel { add_prefix_space, trim_offsets, use_regex } => {
                ByteLevel::new(add_prefix_space, trim_offsets, use_regex).into()
            }
            Self::CharDelimiterSplit { delimiter } => CharDelimiterSplit::new(delimiter).into(),
            Self::Metaspace { replacement, add_prefix_space, prepend_scheme, split } => {
                let scheme = match add_prefix_space {
                    Some(false) => PrependScheme::Never,
                    _ => prepend_scheme.unwrap_or(PrependScheme::Always),
                };
                Metaspace::new(replacement, scheme, split.unwrap_or(true)).into()
            }
            Self::Whitespace => Whitespace.into(),
            Self::WhitespaceSplit => WhitespaceSplit.into(),
            Self::Sequence { pretokenizers } => {
                let built = pretokenizers.into_iter().map(|step| step.built(steps));
                Sequence::new(built.collect::<Result<_, _>>()?).into()
            }
            Self::Split { pattern, behavior, invert } => {
                pattern.check()?;
                let pattern = match pattern {
                    Pattern::String(text) => SplitPattern::String(text),
                    Pattern::Regex(text) => SplitPattern::Regex(text),
                };
                Split::new(pattern, behavior, invert).map_err(|e| Problem::unreadable(&e))?.into()
            }
            Self::Punctuation { behavior } => {
                Punctuation::new(behavior.unwrap_or(SplitDelimiterBehavior::Isolated)).into()
            }
            Self::Digits { individual_digits } => Digits::new(individual_digits).into(),
            Self::UnicodeScripts => UnicodeScripts::new().into(),
        })
    }
}
