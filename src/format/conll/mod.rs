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
mod mentions;
mod options;
mod profile;
mod read;
mod separator;
mod words;
mod write;

use super::{
    Confidence, Content, Format, FormatError, Holds, Input, OptionSpec, Options, Output, Receipt, Sample, Sink, Sniff,
};
use options::{LABEL, LAYERS, SCHEME, TAGS, TOKEN};

#[derive(Debug)]
pub(super) struct Conll;

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
        write::column_word(token)
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
