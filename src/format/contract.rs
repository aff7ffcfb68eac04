//! What every file format says of itself and does.

use super::error::FormatError;
use super::imported::Sink;
use super::input::Input;
use super::options::{OptionSpec, Options};
use super::output::{Content, Layout, Output};
use super::receipt::Receipt;
use super::sample::{Sample, Sniff};
use super::segments::LineEvidence;

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

/// The format that is surest of a sample, and its opinion; of several that are as sure the first.
pub(super) fn surest<'f>(
    formats: impl IntoIterator<Item = &'f dyn Format>,
    sample: &Sample<'_>,
) -> Option<(&'f dyn Format, Sniff)> {
    let opinions = formats.into_iter().filter_map(|format| Some((format, format.sniff(sample)?)));
    opinions.reduce(|best, next| if next.1.confidence > best.1.confidence { next } else { best })
}
