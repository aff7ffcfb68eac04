//! What can be set, and what the numbers are without: those of the paper's §4.1.2.

use crate::model::tagger::{TAGS, TagChoice};
use crate::model::tags::Level;
use crate::model::{MAX_WIDTH, OptionDefault, OptionError, OptionSpec, OptionValues, THRESHOLD, WORD_SHAPE_FEATURES};
use crate::parameter::{Kind, Value};

/// Which of overlapping mentions the tags hold.
pub(super) const LEVEL: Level = Level::Outermost;

/// α of Eq. 19.
const ALPHA: OptionSpec = OptionSpec {
    name: "alpha",
    takes: Kind::Real(0.0, 1.0),
    default: OptionDefault::Fixed(Value::Real(0.1)),
    shapes_weights: false,
    help: "weight of the loss of tags against that of spans",
};
/// See [`Decode`].
const DECODE: OptionSpec = OptionSpec {
    name: "decode",
    takes: Kind::Choice(&["spans", "tags"]),
    default: OptionDefault::Fixed(Value::Choice("spans")),
    shapes_weights: false,
    help: "which of the two decoders answers",
};
/// See [`Representation`].
const REPRESENTATION: OptionSpec = OptionSpec {
    name: "representation",
    takes: Kind::Choice(&["hybrid", "boundary", "pooling"]),
    default: OptionDefault::Fixed(Value::Choice("hybrid")),
    shapes_weights: true,
    help: "what of a span is looked at",
};
/// Eq. 20.
const NEGATIVES: OptionSpec = OptionSpec {
    name: "negatives",
    takes: Kind::Whole(1, 1_000_000),
    default: OptionDefault::Fixed(Value::Whole(100)),
    shapes_weights: false,
    help: "most negative spans of a sentence that train",
};
/// The paper tags by softmax.
const SOFTMAX_TAGS: OptionSpec = OptionSpec { default: OptionDefault::Fixed(Value::Choice("softmax")), ..TAGS };

pub(super) const OPTIONS: &[OptionSpec] =
    &[ALPHA, DECODE, REPRESENTATION, NEGATIVES, SOFTMAX_TAGS, MAX_WIDTH, WORD_SHAPE_FEATURES, THRESHOLD];

/// The decoder that answers. Both learn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decode {
    /// BL-SpanNER
    Spans,
    /// BL-SeqNER
    Tags,
}

impl Decode {
    /// # Errors
    /// When it is none of the options.
    pub(super) fn of(options: &OptionValues) -> Result<Self, OptionError> {
        Ok(if options.choice(&DECODE)? == "tags" { Self::Tags } else { Self::Spans })
    }
}

/// What a span from word i to word j is to the span decoder; a width's vector z stands last in each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Representation {
    /// `[e_i; e_j; z]` (Eq. 13)
    Boundary,
    /// `[max(e_i … e_j); e_0; z]` (Eq. 14); e_0 is that of `[CLS]`.
    Pooling,
    /// `[e_i; e_j; max(e_i … e_j); e_0; z]` (Eq. 15)
    Hybrid,
}

impl Representation {
    fn of(options: &OptionValues) -> Result<Self, OptionError> {
        Ok(match options.choice(&REPRESENTATION)? {
            "boundary" => Self::Boundary,
            "pooling" => Self::Pooling,
            _ => Self::Hybrid,
        })
    }

    /// Whether the first and the last word are in it.
    pub(super) fn has_ends(self) -> bool {
        self != Self::Pooling
    }

    /// Whether the greatest values of all words and `[CLS]` are in it.
    pub(super) fn has_pool(self) -> bool {
        self != Self::Boundary
    }
}

/// The values of [`OPTIONS`], but for the threshold, which comes with each prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Settings {
    /// α
    pub alpha: f64,
    pub decode: Decode,
    pub representation: Representation,
    pub negatives: usize,
    pub tags: TagChoice,
    /// ε: words of the longest span that is classified, or that gets a probability of the tags.
    pub max_width: usize,
    pub word_shapes: bool,
}

impl Settings {
    pub(super) fn new(options: &OptionValues) -> Result<Self, OptionError> {
        Ok(Self {
            alpha: options.real(&ALPHA)?,
            decode: Decode::of(options)?,
            representation: Representation::of(options)?,
            negatives: options.whole(&NEGATIVES)?,
            tags: TagChoice::of(options)?,
            max_width: options.whole(&MAX_WIDTH)?,
            word_shapes: options.flag(&WORD_SHAPE_FEATURES)?,
        })
    }
}
