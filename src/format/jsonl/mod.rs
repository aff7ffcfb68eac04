//! Our own format: JSON lines, one sentence a line. Described for people in `docs/formats.md`.
//!
//! It holds everything that a sentence has, so exporting and importing it changes nothing.

mod characters;
mod counting;
mod ends;
mod keys;
mod line;
mod locate;
mod options;
mod read;
mod sentence;
mod tagging;
mod text_line;
mod write;

use super::segments::{LineEvidence, TOKENS, UNIT};
use super::unit_choice::with_unit;
use super::units::OFFSETS;
use super::{
    Confidence, Content, Format, FormatError, Holds, Input, OptionSpec, Options, Output, Receipt, Sample, Sink, Sniff,
};
use options::{END, HEADER, LABEL, NAMES, SCHEME};

#[derive(Debug)]
pub(super) struct Jsonl;

/// Keys of lines without words whose mentions count characters.
const MENTIONS_IN_TEXT: [&[u8]; 4] = [b"\"spans\"", b"\"label\"", b"\"labels\"", b"\"start_offset\""];

impl Format for Jsonl {
    fn id(&self) -> &'static str {
        "jsonl"
    }

    fn title(&self) -> &'static str {
        "JSON lines"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["jsonl", "ndjson"]
    }

    fn holds(&self) -> Holds {
        Holds { label_looks: false, ..Holds::EVERYTHING }
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[END, OFFSETS, NAMES, SCHEME, LABEL, UNIT, TOKENS, HEADER]
    }

    fn sniff(&self, sample: &Sample<'_>) -> Option<Sniff> {
        let lines = sample.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(sample.bytes).split(|byte| *byte == b'\n');
        let first = lines.map(<[u8]>::trim_ascii).find(|line| !line.is_empty())?;
        if !first.starts_with(b"{") {
            return None;
        }
        let has = |key: &[u8]| first.windows(key.len()).any(|part| part == key);
        let (confidence, found) = match () {
            () if has(b"\"nestling\"") => (Confidence::Certain, "JSON lines of this program"),
            () if has(b"\"tokens\"") && has(b"\"ner_tags\"") => {
                (Confidence::Certain, "JSON lines with tokens and tags")
            }
            () if has(b"\"tokens\"") && !has(b"\"spans\"") => (Confidence::Likely, "JSON lines with tokens"),
            () if has(b"\"text\"") && MENTIONS_IN_TEXT.iter().any(|key| has(key)) => {
                (Confidence::Likely, "JSON lines with mentions in texts")
            }
            () if has(b"\"text\"") => (Confidence::Possible, "JSON lines with text"),
            () => return None,
        };
        Some(Sniff { confidence, found: found.to_owned() })
    }

    fn look_at_lines(&self, input: &Input, evidence: &mut LineEvidence) {
        characters::look_at_lines(input, evidence);
    }

    fn read(&self, input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
        let options = with_unit(self, &input, options, sink);
        read::read(input, &options, sink)
    }

    fn write(&self, content: Content<'_, '_>, options: &Options, out: &mut dyn Output) -> Result<Receipt, FormatError> {
        write::write(content, options, &mut *out.file("")?)
    }
}
