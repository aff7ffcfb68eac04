//! What a person can set about one architecture: it declares its options, and is built with a value for each.
//!
//! ```
//! use nestling::model::{EncoderTraits, OptionValues, architecture};
//!
//! let architecture = architecture("smartspanner").unwrap();
//! let encoder = EncoderTraits { pretrained: true, uncased: true, hidden: 384 };
//! let options = OptionValues::decide(architecture.options(), encoder, |_| None).unwrap();
//! assert_eq!(options.get("w").unwrap().to_string(), "0.2");
//! ```

use crate::parameter::{Kind, Scalar, Value};
use std::collections::BTreeMap;

/// An option of an architecture.
///
/// Several architectures may declare the same one, with a default of their own:
/// `OptionSpec { default: OptionDefault::Fixed(Value::Whole(10)), ..MAX_WIDTH }`.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// As it is typed after `--set`, and as a model's config.json names it. None of the settings that all trainings have.
    pub name: &'static str,
    pub takes: Kind,
    /// Also of models whose config.json does not name it: what an option that is added to an architecture is by default has
    /// to be what was done before.
    pub default: OptionDefault,
    /// Whether other values need other weights. A training that goes on from a model keeps the model's value then.
    pub shapes_weights: bool,
    pub help: &'static str,
}

/// What an option is when nobody sets it.
#[derive(Clone, Copy, Debug)]
pub enum OptionDefault {
    Fixed(Value),
    /// Decided by the encoder; the text says how.
    Auto(&'static str, fn(EncoderTraits) -> Value),
}

/// What an encoder decides of a training.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncoderTraits {
    pub pretrained: bool,
    /// Upper and lower case look the same to it.
    pub uncased: bool,
    /// Numbers a word.
    pub hidden: usize,
}

/// Words of the longest candidate by default.
pub const USUAL_MAX_WIDTH: usize = 20;

/// A row of weights for each width, and that many candidates for each word.
pub const MAX_WIDTH: OptionSpec = OptionSpec {
    name: "max_width",
    takes: Kind::Whole(1, 1000),
    default: OptionDefault::Fixed(Value::Whole(USUAL_MAX_WIDTH as u64)),
    shapes_weights: true,
    help: "longest candidate span in words",
};

/// Whether the form of a word (capitals, digits) is a feature.
pub const WORD_SHAPE_FEATURES: OptionSpec = OptionSpec {
    name: "word_shapes",
    takes: Kind::Flag,
    default: OptionDefault::Auto("if the encoder ignores case", |encoder| Value::Flag(encoder.uncased)),
    shapes_weights: true,
    help: "use capitals and digits as features",
};

pub const ENTITY_HEADS: OptionSpec = OptionSpec {
    name: "entity_heads",
    takes: Kind::Flag,
    default: OptionDefault::Fixed(Value::Flag(true)),
    shapes_weights: false,
    help: "begin with heads that learned entities with the encoder",
};

/// w of SmartSpanNER's Eq. 7.
pub(super) const HEAD_WEIGHT: OptionSpec = OptionSpec {
    name: "w",
    takes: Kind::Real(0.0, 1.0),
    default: OptionDefault::Fixed(Value::Real(0.2)),
    shapes_weights: false,
    help: "weight of the head (NEH) loss against the span loss",
};

/// sp of SmartSpanNER's Eq. 8.
pub(super) const SAMPLING: OptionSpec = OptionSpec {
    name: "sp",
    takes: Kind::Real(0.0, 1.0),
    default: OptionDefault::Fixed(Value::Real(0.05)),
    shapes_weights: false,
    help: "probability of training on a span that starts at no head",
};

/// For architectures that predict first words.
pub const THRESHOLD: OptionSpec = OptionSpec {
    name: "threshold",
    takes: Kind::Real(0.0, 1.0),
    default: OptionDefault::Fixed(Value::Real(0.5)),
    shapes_weights: false,
    help: "minimum probability for a word to be a head",
};

#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum OptionError {
    #[error("{name} can't be {value}; it takes {expected}")]
    BadValue { name: &'static str, value: String, expected: String },
    #[error("the architecture reads {0}, which is none of its options")]
    Undeclared(&'static str),
}

impl OptionSpec {
    /// What it is for an encoder when nobody sets it.
    pub fn default_for(&self, encoder: EncoderTraits) -> Value {
        match self.default {
            OptionDefault::Fixed(value) => value,
            OptionDefault::Auto(_, decide) => decide(encoder),
        }
    }

    /// What a message says that it takes.
    pub fn expected(&self) -> String {
        self.takes.expected(self.is_auto().then_some("auto"))
    }

    /// The default as a person reads it.
    pub fn default_text(&self) -> String {
        match self.default {
            OptionDefault::Fixed(value) => value.to_string(),
            OptionDefault::Auto(how, _) => format!("auto: {how}"),
        }
    }

    /// Whether `auto` is a value.
    pub fn is_auto(&self) -> bool {
        matches!(self.default, OptionDefault::Auto(..))
    }
}

/// A value for each option of an architecture, which it takes.
#[derive(Clone, PartialEq, Debug)]
pub struct OptionValues(BTreeMap<&'static str, Value>);

impl OptionValues {
    /// What `asked` says of each option; where it says nothing the default for an encoder.
    ///
    /// # Errors
    /// A value that the option does not take.
    pub fn decide(
        specs: &[OptionSpec],
        encoder: EncoderTraits,
        asked: impl Fn(&OptionSpec) -> Option<Value>,
    ) -> Result<Self, OptionError> {
        let decide = |spec: &OptionSpec| match asked(spec).unwrap_or_else(|| spec.default_for(encoder)) {
            value if spec.takes.takes(value) => Ok((spec.name, value)),
            value => {
                let (value, expected) = (value.to_string(), spec.expected());
                Err(OptionError::BadValue { name: spec.name, value, expected })
            }
        };
        specs.iter().map(decide).collect::<Result<_, _>>().map(Self)
    }

    /// `None` where the architecture has no such option.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).copied()
    }

    /// By their names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.0.iter().map(|(name, value)| (*name, *value))
    }

    /// A whole number.
    ///
    /// # Errors
    /// An option that the architecture does not declare, or as something else.
    pub fn whole(&self, spec: &OptionSpec) -> Result<usize, OptionError> {
        self.read(spec)
    }

    /// # Errors
    /// See [`OptionValues::whole`].
    pub fn real(&self, spec: &OptionSpec) -> Result<f64, OptionError> {
        self.read(spec)
    }

    /// # Errors
    /// See [`OptionValues::whole`].
    pub fn flag(&self, spec: &OptionSpec) -> Result<bool, OptionError> {
        self.read(spec)
    }

    /// One of the words that the option takes.
    ///
    /// # Errors
    /// See [`OptionValues::whole`].
    pub fn choice(&self, spec: &OptionSpec) -> Result<&'static str, OptionError> {
        match self.get(spec.name) {
            Some(Value::Choice(word)) => Ok(word),
            _ => Err(OptionError::Undeclared(spec.name)),
        }
    }

    fn read<T: Scalar>(&self, spec: &OptionSpec) -> Result<T, OptionError> {
        self.get(spec.name).and_then(T::of).ok_or(OptionError::Undeclared(spec.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMILARITY: OptionSpec = OptionSpec {
        name: "similarity",
        takes: Kind::Choice(&["dot", "cosine"]),
        default: OptionDefault::Fixed(Value::Choice("dot")),
        shapes_weights: false,
        help: "how two vectors are compared",
    };
    const SHORT: OptionSpec = OptionSpec { default: OptionDefault::Fixed(Value::Whole(10)), ..MAX_WIDTH };
    const ENCODER: EncoderTraits = EncoderTraits { pretrained: true, uncased: true, hidden: 384 };

    #[test]
    fn options_have_what_is_asked_for_or_their_default() {
        let specs = [SIMILARITY, SHORT, WORD_SHAPE_FEATURES];
        let asked = |spec: &OptionSpec| (spec.name == "similarity").then_some(Value::Choice("cosine"));
        let options = OptionValues::decide(&specs, ENCODER, asked).unwrap();
        assert_eq!((options.choice(&SIMILARITY), options.whole(&MAX_WIDTH)), (Ok("cosine"), Ok(10)));
        assert_eq!(options.flag(&WORD_SHAPE_FEATURES), Ok(true), "the encoder ignores case");
        assert_eq!(options.real(&THRESHOLD), Err(OptionError::Undeclared("threshold")));
        let refused = OptionValues::decide(&specs, ENCODER, |_| Some(Value::Whole(0))).unwrap_err();
        assert_eq!(refused.to_string(), "similarity can't be 0; it takes dot or cosine");
    }
}
