//! brat standoff: a folder of texts (`NAME.txt`) and what is marked in them (`NAME.ann`), with configuration files.
//!
//! It holds the text and where the mentions are in it, not how it was cut into tokens and sentences. What is said of
//! anything but mentions (relations, events, normalisations) is kept and written again.

mod conf;
mod conf_write;
mod ids;
mod read;
mod write;

pub(super) use conf::labels_of;

use super::segments::{LineEvidence, TOKENS, UNIT};
use super::unit_choice::with_unit;
use super::units::OFFSETS;
use super::{
    Confidence, Content, Format, FormatError, Holds, Input, Layout, OptionSpec, Options, Output, Receipt, Sample, Sink,
    Sniff,
};

#[derive(Debug)]
pub(super) struct Brat;

impl Format for Brat {
    fn id(&self) -> &'static str {
        conf::ID
    }

    fn title(&self) -> &'static str {
        "brat standoff"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ann"]
    }

    fn holds(&self) -> Holds {
        Holds { tokens: false, ..Holds::EVERYTHING }
    }

    fn layout(&self) -> Layout {
        Layout::Folder
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[OFFSETS, UNIT, TOKENS]
    }

    fn sniff(&self, sample: &Sample<'_>) -> Option<Sniff> {
        let found = "brat standoff".to_owned();
        (sample.extension == "ann").then_some(Sniff { confidence: Confidence::Certain, found })
    }

    fn look_at_lines(&self, input: &Input, evidence: &mut LineEvidence) {
        read::look_at_lines(input, evidence);
    }

    fn read(&self, input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
        read::read(&input, &with_unit(self, &input, options, sink), sink)
    }

    fn write(&self, content: Content<'_, '_>, options: &Options, out: &mut dyn Output) -> Result<Receipt, FormatError> {
        let _nothing_to_choose = options;
        write::write(content, out)
    }
}
