//! Columns: one token a line, its tags in the last columns, blank lines between sentences (CoNLL-2003 and its kin).
//!
//! It holds tokens, not the text between them. A column holds mentions that don't overlap; nested ones need a column
//! a depth (`layers`).

mod read;
mod scheme;
mod write;

use super::{
    Confidence, Content, Format, FormatError, Holds, Input, OptionSpec, Options, Output, Receipt, Sample, Sink, Sniff,
    Use,
};

#[derive(Debug)]
pub(super) struct Conll;

const DOCSTART: &str = "-DOCSTART-";

const SCHEME: OptionSpec = OptionSpec {
    key: "scheme",
    meaning: "what the prefixes of tags mean; auto finds it out, and writes iob2",
    values: &["auto", "iob1", "iob2", "bioes", "bilou", "io"],
    default: "auto",
    used: Use::Both,
};

const LAYERS: OptionSpec = OptionSpec {
    key: "layers",
    meaning: "how many of the last columns are tags; written outermost first, one a depth",
    values: &[],
    default: "1",
    used: Use::Both,
};

const TOKEN: OptionSpec = OptionSpec {
    key: "token",
    meaning: "the column of the token, from 1",
    values: &[],
    default: "1",
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
        &["conll", "iob", "iob2", "bio", "bioes"]
    }

    fn holds(&self) -> Holds {
        Holds { mentions: true, tokens: true, ..Holds::default() }
    }

    fn spelled(&self, token: &str) -> String {
        column_word(token)
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[SCHEME, LAYERS, TOKEN]
    }

    fn sniff(&self, sample: &Sample<'_>) -> Option<Sniff> {
        let text = String::from_utf8_lossy(sample.bytes);
        let text = text.trim_start_matches('\u{feff}');
        // Other formats of columns begin so: WebAnno TSV and GermEval.
        if text.starts_with("#FORMAT") || text.starts_with("#\t") || text.contains('\0') {
            return None;
        }
        let is_ours = self.extensions().contains(&sample.extension);
        let rows = text.lines().map(str::trim_end).filter(|l| !l.is_empty() && !l.starts_with(['#', '-']));
        let rows: Vec<&str> = rows.take(200).collect();
        // The last one may be cut off.
        let whole = rows.split_last().map_or(&[][..], |(_, whole)| if whole.is_empty() { &rows } else { whole });
        let columns = whole.first().map_or(0, |row| row.split_ascii_whitespace().count());
        let tag = |row: &&str| row.split_ascii_whitespace().next_back().unwrap_or_default().to_owned();
        let fits = |row: &&str| {
            let last = tag(row);
            row.split_ascii_whitespace().count() == columns && (last == "O" || scheme::parts(&last).is_some())
        };
        let is_columns = columns > 1 && whole.iter().all(fits) && whole.iter().any(|row| tag(row) != "O");
        let confidence = match (is_ours, is_columns) {
            (true, true) => Confidence::Certain,
            (_, true) if sample.extension != "json" => Confidence::Certain,
            (true, false) => Confidence::Possible,
            _ => return None,
        };
        Some(Sniff { confidence, found: "columns of tokens and tags".to_owned() })
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
