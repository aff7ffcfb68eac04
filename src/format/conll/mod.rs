//! Columns: one token a line, its tags in the last columns, blank lines between sentences (CoNLL-2003 and its kin).
//!
//! It holds tokens, not the text between them. A column holds mentions that don't overlap; nested ones need a column
//! a depth (`layers`). CoNLL-U ([`conllu`]) and OntoNotes are read as well.
//!
//! ```text
//! text ──> blocks ──> profile ──> layout ──> read ──> assembly ──> documents
//!                        └──────> conllu ──> words ──┘
//! ```

mod assembly;
mod blocks;
mod brackets;
mod conllu;
mod entity;
mod layout;
mod profile;
mod read;
mod words;
mod write;

use super::scheme::SCHEMES;
use super::{
    Confidence, Content, Format, FormatError, Holds, Input, OptionSpec, Options, Output, Receipt, Sample, Sink, Sniff,
    Use,
};

#[derive(Debug)]
pub(super) struct Conll;

const DOCSTART: &str = "-DOCSTART-";

const SCHEME: OptionSpec = OptionSpec {
    key: "scheme",
    meaning: "what the prefixes of tags mean; auto recognises it, and writes iob2; none takes each tag for a label",
    values: SCHEMES,
    default: "auto",
    used: Use::Both,
};

const LAYERS: OptionSpec = OptionSpec {
    key: "layers",
    meaning: "how many of the last columns are tags; auto reads all columns that look like tags, and writes one; \
              written outermost first, one a depth",
    values: &[],
    default: "auto",
    used: Use::Both,
};

const TAGS: OptionSpec = OptionSpec {
    key: "tags",
    meaning: "the columns of the tags, from 1, such as 4 or 3,4; none reads the words alone",
    values: &[],
    default: "auto",
    used: Use::Reading,
};

const TOKEN: OptionSpec = OptionSpec {
    key: "token",
    meaning: "the column of the words, from 1",
    values: &[],
    default: "auto",
    used: Use::Reading,
};

const LABEL: OptionSpec = OptionSpec {
    key: "label",
    meaning: "the label of mentions that the file gives none, such as those of tags that are only B and I",
    values: &[],
    default: "",
    used: Use::Reading,
};

impl Format for Conll {
    fn id(&self) -> &'static str {
        "conll"
    }

    fn title(&self) -> &'static str {
        "CoNLL columns"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["conll", "iob", "iob2", "bio", "bioes", "conllu", "conllup"]
    }

    fn holds(&self) -> Holds {
        Holds { mentions: true, tokens: true, ..Holds::default() }
    }

    fn spelled(&self, token: &str) -> String {
        column_word(token)
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[SCHEME, LAYERS, TAGS, TOKEN, LABEL]
    }

    fn sniff(&self, sample: &Sample<'_>) -> Option<Sniff> {
        let text = sample.text();
        if text.contains('\0') || text.starts_with("#FORMAT=") {
            return None;
        }
        let sniff = |confidence, found: &str| Some(Sniff { confidence, found: found.to_owned() });
        let is_ours = self.extensions().contains(&sample.extension);
        if conllu::Fields::are_in(&text) {
            return sniff(Confidence::Certain, "CoNLL-U");
        }
        let found = "columns of tokens and tags";
        match layout::survey(&text) {
            // Where all rows fit but a few, those few are bad rows.
            Some((fitting, rows)) if fitting * 20 >= rows * 19 => sniff(Confidence::Certain, found),
            Some((fitting, rows)) if fitting * 4 >= rows * 3 => sniff(Confidence::Likely, found),
            _ if is_ours => sniff(Confidence::Possible, found),
            _ if layout::are_columns_without_tags(&text) => sniff(Confidence::Likely, "columns without tags"),
            _ => None,
        }
    }

    fn read(&self, input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
        read::read(input, options, sink)
    }

    fn write(&self, content: Content<'_, '_>, options: &Options, out: &mut dyn Output) -> Result<Receipt, FormatError> {
        write::write(content, options, &mut *out.file("")?)
    }
}

/// A whole number from 1 up.
fn number(options: &Options, spec: &OptionSpec) -> Result<usize, FormatError> {
    let value = options.value(spec);
    value.parse().ok().filter(|number| *number > 0).ok_or_else(|| FormatError::BadOption {
        key: spec.key,
        value: value.to_owned(),
        allowed: "use a whole number from 1 up".to_owned(),
    })
}

/// A token as it can stand in a column: white space and what would be read as something else becomes `_`.
fn column_word(token: &str) -> String {
    if token == DOCSTART {
        return token.replacen('-', "_", 1);
    }
    token.chars().map(|c| if c.is_whitespace() || c == '\u{feff}' { '_' } else { c }).collect()
}
