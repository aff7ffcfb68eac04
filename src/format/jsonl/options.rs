//! What a person can say about JSON lines.

use crate::format::scheme::SCHEMES;
use crate::format::{OptionSpec, Use};

pub(super) const END: OptionSpec = OptionSpec {
    key: "end",
    meaning: "what `end` of an entity names: the token after the last (exclusive) or the last (inclusive)",
    values: &["auto", "exclusive", "inclusive"],
    default: "auto",
    used: Use::Both,
};

pub(super) const HEADER: OptionSpec = OptionSpec {
    key: "header",
    meaning: "whether a written file begins with a header; without, it can be appended to another one",
    values: &["yes", "no"],
    default: "yes",
    used: Use::Writing,
};

pub(super) const NAMES: OptionSpec = OptionSpec {
    key: "names",
    meaning: "the tags that numbers in `ner_tags` stand for, from 0, separated by commas: O,B-PER,I-PER",
    values: &[],
    default: "",
    used: Use::Reading,
};

pub(super) const SCHEME: OptionSpec = OptionSpec {
    key: "scheme",
    meaning: "what the prefixes of `ner_tags` mean; auto recognises it, none takes each tag for a label",
    values: SCHEMES,
    default: "auto",
    used: Use::Reading,
};

pub(super) const LABEL: OptionSpec = OptionSpec {
    key: "label",
    meaning: "the label of mentions whose `ner_tags` are only B and I",
    values: &[],
    default: "",
    used: Use::Reading,
};
