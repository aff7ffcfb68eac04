//! Plain text: one sentence a line, or prose.

use super::contract::surest;
use super::encoding::decode_start;
use super::foreign::{self, Foreign};
use super::segments::{LineEvidence, TOKENS, UNIT, segments};
use super::unit_choice::with_unit;
use super::{
    Confidence, Content, DocumentView, Format, FormatError, Holds, ImportedDocument, ImportedSentence, Input, LossKind,
    OptionSpec, Options, Output, Receipt, Sample, SentenceView, Sink, Sniff,
};
use crate::annotation::Kept;
use crate::text::OffsetIndex;
use std::io::Write;

/// Plain text. A file is one document; its raw text is kept, line ends and byte order mark included.
pub(super) struct PlainText {
    /// All formats: what one of the others knows is no plain text.
    pub(super) all: fn() -> &'static [&'static dyn Format],
}

impl Format for PlainText {
    fn id(&self) -> &'static str {
        "text"
    }

    fn title(&self) -> &'static str {
        "Plain text"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt", "text", "md"]
    }

    fn holds(&self) -> Holds {
        Holds::default()
    }

    fn options(&self) -> &'static [OptionSpec] {
        &[UNIT, TOKENS]
    }

    fn options_to_read_back(&self) -> &'static [(&'static str, &'static str)] {
        &[("unit", "lines")]
    }

    fn sniff(&self, sample: &Sample<'_>) -> Option<Sniff> {
        let confidence = match sample.extension {
            "" if matches!(sample.bytes.trim_ascii_start().first(), Some(b'{' | b'[' | b'<')) => return None,
            "" => Confidence::Possible,
            ending if self.extensions().contains(&ending) => Confidence::Likely,
            _ => return None,
        };
        let found = match sample.bytes {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "plain text in UTF-16",
            bytes if bytes.contains(&0) => return None,
            _ => "plain text",
        };
        Some(Sniff { confidence, found: found.to_owned() })
    }

    /// Nothing is, where it is said what a line is.
    fn refuse_other(&self, input: &Input, options: &Options) -> Result<(), FormatError> {
        if options.value(&UNIT) != UNIT.default {
            return Ok(());
        }
        let file = input.file_name().to_owned();
        let option = "unit=prose or unit=lines";
        if let Some(Foreign { what, remedy, .. }) =
            foreign::recognise(&input.sample()).or_else(|| foreign::table(&input.sample()))
        {
            let why =
                format!("this looks like {what}, not like a text ({remedy}); if it is to be read as text all the same");
            return Err(FormatError::NeedsOption { why, option, file });
        }
        let sample = input.sample();
        match surest((self.all)().iter().copied(), &sample).filter(|_| !sample.is_empty()) {
            Some((other, sniff)) if other.holds().mentions => {
                let why = format!(
                    "this looks like {}, not like a text; choose the format {}, or, if it is to be read as text all the same",
                    sniff.found,
                    other.id()
                );
                Err(FormatError::NeedsOption { why, option, file })
            }
            _ => Ok(()),
        }
    }

    fn look_at_lines(&self, input: &Input, evidence: &mut LineEvidence) {
        evidence.add(&decode_start(input.sample().bytes));
    }

    fn read(&self, input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
        let (name, file) = (input.name().to_owned(), input.file_name().to_owned());
        self.refuse_other(&input, options)?;
        let options = with_unit(self, &input, options, sink);
        let text = input.text(sink)?;
        if u32::try_from(text.len()).is_err() {
            OffsetIndex::new(&text).map_err(|source| FormatError::TooLong { source, file: file.clone() })?;
        }
        let cut = segments(&text, &options);
        let sentence = |tokens| ImportedSentence { tokens, may_be_unread: true, ..ImportedSentence::default() };
        let sentences: Vec<_> = cut.into_iter().map(sentence).collect();
        if sentences.is_empty() {
            return Err(FormatError::NoSentence { file });
        }
        let document = ImportedDocument { name, text: text.into(), kept: Kept::new(), sentences };
        if sink.document(document).is_break() { Err(FormatError::Stopped { file }) } else { Ok(()) }
    }

    fn write(&self, content: Content<'_, '_>, _: &Options, out: &mut dyn Output) -> Result<Receipt, FormatError> {
        let mut receipt = Receipt::default();
        let mut out = out.file("")?;
        receipt.lose_definitions(content.definitions, self.id());
        for document in content.documents {
            if receipt.leaves_out(&document) {
                continue;
            }
            receipt.begin(&document);
            receipt.lose_kept(&document, self.id());
            for sentence in &document.sentences {
                write_sentence(&document, sentence, &mut *out, &mut receipt)?;
            }
        }
        out.flush()?;
        Ok(receipt)
    }
}

fn write_sentence(
    document: &DocumentView<'_>,
    sentence: &SentenceView<'_>,
    out: &mut dyn Write,
    receipt: &mut Receipt,
) -> Result<(), FormatError> {
    let raw = document.words(sentence, 0..sentence.tokens.len());
    if raw.contains('\n') {
        receipt.lose_words(document, Some(sentence.number), raw, LossKind::LineBreak);
    }
    writeln!(out, "{}", raw.replace("\r\n", " ").replace('\n', " "))?;
    for mention in &sentence.mentions {
        receipt.lose(document, sentence, mention, LossKind::Mention);
    }
    Ok(())
}
