//! What a person can say about columns.

use crate::format::scheme::SCHEMES;
use crate::format::{FormatError, OptionSpec, Options, Use};

pub(super) const SCHEME: OptionSpec = OptionSpec {
    key: "scheme",
    meaning: "what the prefixes of tags mean; auto recognises it, and writes iob2; none takes each tag for a label",
    values: SCHEMES,
    default: "auto",
    used: Use::Both,
};

pub(super) const LAYERS: OptionSpec = OptionSpec {
    key: "layers",
    meaning: "how many of the last columns are tags; auto reads all columns that look like tags, and writes one; \
              written outermost first, one a depth",
    values: &[],
    default: "auto",
    used: Use::Both,
};

pub(super) const TAGS: OptionSpec = OptionSpec {
    key: "tags",
    meaning: "the columns of the tags, from 1, such as 4 or 3,4; none reads the words alone",
    values: &[],
    default: "auto",
    used: Use::Reading,
};

pub(super) const TOKEN: OptionSpec = OptionSpec {
    key: "token",
    meaning: "the column of the words, from 1",
    values: &[],
    default: "auto",
    used: Use::Reading,
};

pub(super) const LABEL: OptionSpec = OptionSpec {
    key: "label",
    meaning: "the label of mentions that the file gives none, such as those of tags that are only B and I",
    values: &[],
    default: "",
    used: Use::Reading,
};

/// A whole number from 1 up.
pub(super) fn number(options: &Options, spec: &OptionSpec) -> Result<usize, FormatError> {
    let value = options.value(spec);
    value.parse().ok().filter(|number| *number > 0).ok_or_else(|| FormatError::BadOption {
        key: spec.key,
        value: value.to_owned(),
        allowed: "use a whole number from 1 up".to_owned(),
    })
}
