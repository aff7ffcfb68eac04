//! All formats, and telling them apart.

use super::brat::Brat;
use super::conll::Conll;
use super::contract::surest;
use super::jsonl::Jsonl;
use super::text::PlainText;
use super::{Confidence, Format, FormatError, Sample, Sniff, foreign};
use std::fmt;

/// A new format gets a line here.
static FORMATS: [&dyn Format; 4] = [&Jsonl, &Brat, &Conll, &PlainText { all: formats }];

/// All formats, in the order in which they are offered.
pub fn formats() -> &'static [&'static dyn Format] {
    &FORMATS
}

/// # Errors
/// No such format; the message lists those that there are.
pub fn by_id(id: &str) -> Result<&'static dyn Format, FormatError> {
    let found = FORMATS.iter().copied().find(|format| format.id() == id);
    found.ok_or_else(|| FormatError::UnknownFormat { id: id.to_owned(), known: ids() })
}

/// The format that a file looks like, and why.
#[derive(Clone)]
pub struct Detected {
    pub format: &'static dyn Format,
    /// What was found, to be shown.
    pub found: String,
}

/// The format that is surest of a sample, unless it is of a program that is not read.
///
/// # Errors
/// None knows it; the message says what it looks like, and the way.
pub fn detect(file: &str, sample: &Sample<'_>) -> Result<Detected, FormatError> {
    if sample.is_empty() {
        return Err(FormatError::Empty { file: file.to_owned() });
    }
    let best = surest(FORMATS, sample);
    let is_certain = best.as_ref().is_some_and(|(_, sniff)| sniff.confidence == Confidence::Certain);
    if let Some(foreign) = foreign::recognise(sample).filter(|_| !is_certain) {
        return Err(foreign.error(file));
    }
    if let Some(table) = foreign::table(sample).filter(|_| best.as_ref().is_none_or(|(f, _)| !f.holds().mentions)) {
        return Err(table.error(file));
    }
    match best {
        Some((format, Sniff { found, .. })) => Ok(Detected { format, found }),
        None => Err(match by_name(sample.extension) {
            Some((what, remedy)) => {
                FormatError::Foreign { what, remedy: remedy.into(), is_data: false, file: file.to_owned() }
            }
            None => FormatError::NotRecognised { found: describe(sample), known: ids(), file: file.to_owned() },
        }),
    }
}

/// What files of other programs are called whose content says little.
fn by_name(extension: &str) -> Option<(&'static str, &'static str)> {
    match extension {
        "csv" | "tsv" | "tab" | "xls" | "xlsx" | "ods" => {
            Some(("a table", "save the column that holds the text as a .txt file, one text per line"))
        }
        "doc" | "docx" | "odt" | "rtf" => {
            Some(("a document of a word processor", "save it there as plain text (.txt, in UTF-8)"))
        }
        "pdf" => Some(("a PDF", "save it as plain text (.txt), for example with `pdftotext -layout file.pdf`")),
        _ => None,
    }
}

fn ids() -> String {
    FORMATS.iter().map(|format| format.id()).collect::<Vec<_>>().join(", ")
}

/// What nobody knows, in a few words.
fn describe(sample: &Sample<'_>) -> String {
    let start = sample.bytes.trim_ascii_start();
    if sample.bytes.contains(&0) {
        return "it is a binary file".to_owned();
    }
    match start.first() {
        Some(b'{' | b'[') => "it is JSON of another kind".to_owned(),
        Some(b'<') => "it is XML or HTML".to_owned(),
        _ => format!("it ends in .{}", sample.extension),
    }
}

impl fmt::Debug for Detected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.format.id(), self.found)
    }
}
