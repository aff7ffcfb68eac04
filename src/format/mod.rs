//! File formats: reading documents from files of other programs, writing them, and saying what got lost.
//!
//! ```text
//! file ──> Input ──> Format::read ──> Sink       ImportedDocument…, warnings with line numbers, notes
//! Corpus ──> views ──> Format::write ──> Output  Receipt: what could not be represented, span by span
//! ```
//!
//! # Invariants
//! - Nothing is dropped in silence: a reader warns of each line or key that it leaves out, a writer lists each loss.
//! - One bad line costs that line, not the file.
//! - What [`Holds`] says that a format holds comes back from its own export with an empty receipt.
//! - A format's own structs stay in its own file; only they derive `Serialize` and `Deserialize`.
//! - Readers hold one document in memory at a time, or less where [`Sink::longest_document`] asks for it.
//!
//! A new format is one file here and one line in `registry.rs`.
//!
//! Deliberately absent: ids of labels and mentions (a file names labels; the session finds or makes them), and the
//! project.

mod brat;
mod conll;
mod definitions;
mod encoding;
mod error;
mod file_names;
mod fit;
mod foreign;
mod imported;
mod input;
mod jsonl;
mod options;
mod output;
mod receipt;
mod registry;
mod scheme;
mod segments;
mod spelling;
mod tags;
mod text;
mod units;
mod view;

pub use definitions::add as add_definitions;
pub use error::FormatError;
pub use imported::{Collected, ImportedDocument, ImportedLabel, ImportedMention, ImportedSentence, Sink, Warning};
pub use input::{Input, Listener};
pub use options::{OptionSpec, Options, Use};
pub use output::{Content, Folder, Layout, OneFile, Output};
pub use receipt::{Loss, LossKind, Receipt};
pub use registry::{Detected, by_id, detect, formats};
pub use segments::{LineEvidence, choose_unit};
pub use view::{DocumentView, MentionView, SentenceView, Shown, views};

use std::borrow::Cow;

/// One file format.
pub trait Format: Sync {
    /// Its name on the command line.
    fn id(&self) -> &'static str;

    /// Its name for people.
    fn title(&self) -> &'static str;

    /// Endings of its files, without the dot, lower case; the first one is for new files.
    fn extensions(&self) -> &'static [&'static str];

    fn holds(&self) -> Holds;

    /// What it writes.
    fn layout(&self) -> Layout {
        Layout::File
    }

    /// A token as it stands in its files.
    fn spelled(&self, token: &str) -> String {
        token.to_owned()
    }

    /// What can be said with `--option key=value`.
    fn options(&self) -> &'static [OptionSpec];

    /// What to read its own exports with, where that is not the default.
    fn options_to_read_back(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What the start of a file looks like to this format; `None` when it can't be one of its files.
    fn sniff(&self, sample: &Sample<'_>) -> Option<Sniff>;

    /// Refuses what is plainly of another format, though this one is asked for, unless `options` say that it is meant.
    ///
    /// # Errors
    /// What it looks like, and the option.
    fn refuse_other(&self, _input: &Input, _options: &Options) -> Result<(), FormatError> {
        Ok(())
    }

    /// Looks at the texts at the start of a file whose sentences will have to be found. What can't be read is no
    /// evidence; reading it will say why.
    fn look_at_lines(&self, _input: &Input, _evidence: &mut LineEvidence) {}

    /// Reads documents into `sink`, one after the other, and survives bad lines.
    ///
    /// # Errors
    /// A file of another format, one that can't be read, and one whose meaning depends on an option that is not given.
    /// Documents that came before the error have been handed over.
    fn read(&self, input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError>;

    /// Writes documents and says what it could not represent.
    ///
    /// # Errors
    /// What can go wrong with a disk.
    fn write(&self, content: Content<'_, '_>, options: &Options, out: &mut dyn Output) -> Result<Receipt, FormatError>;
}

/// What a format can represent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Holds {
    /// Mentions at all.
    pub mentions: bool,
    pub nested: bool,
    pub crossing: bool,
    /// Several labels on one span.
    pub same_span: bool,
    pub discontinuous: bool,
    /// Attributes and notes.
    pub attributes: bool,
    /// The words of each sentence as they are cut.
    pub tokens: bool,
    /// The raw text with the places of the mentions in it.
    pub text: bool,
    /// The titles, colours and keys of labels.
    pub label_looks: bool,
}

impl Holds {
    pub const EVERYTHING: Self = Self {
        mentions: true,
        nested: true,
        crossing: true,
        same_span: true,
        discontinuous: true,
        attributes: true,
        tokens: true,
        text: true,
        label_looks: true,
    };
}

/// The start of a file, and lines from all over it.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'s> {
    /// Lower case, without the dot; empty where there is none.
    pub extension: &'s str,
    pub bytes: &'s [u8],
}

impl<'s> Sample<'s> {
    /// As text, with what is none replaced, and without a byte order mark.
    fn text(&self) -> Cow<'s, str> {
        let decode = |unit: fn([u8; 2]) -> u16| {
            let units: Vec<u16> = self.bytes.as_chunks::<2>().0.iter().skip(1).map(|pair| unit(*pair)).collect();
            Cow::Owned(String::from_utf16_lossy(&units))
        };
        match self.bytes {
            [0xFF, 0xFE, ..] => decode(u16::from_le_bytes),
            [0xFE, 0xFF, ..] => decode(u16::from_be_bytes),
            bytes => String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)),
        }
    }
}

/// A format's opinion of a sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sniff {
    pub confidence: Confidence,
    /// What was found, to be shown: "JSON lines with tokens".
    pub found: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Confidence {
    /// Nothing speaks against it.
    Possible,
    /// The name or the content says so.
    Likely,
    /// The content says so, and no other format looks like that.
    Certain,
}
