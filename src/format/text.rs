//! Plain text: one sentence a line, or prose.

use super::{
    Confidence, Content, DocumentView, Format, FormatError, Holds, ImportedDocument, ImportedSentence, Input, LossKind,
    OptionSpec, Options, Output, Receipt, Sample, SentenceView, Sink, Sniff, Use,
};
use crate::annotation::Kept;
use crate::text::{OffsetIndex, SentenceSplit, TextRange, Tokens, split_sentences};
use std::io::Write;

/// Plain text. A file is one document; its raw text is kept, line ends and byte order mark included.
#[derive(Debug)]
pub(super) struct PlainText;

pub(super) const UNIT: OptionSpec = OptionSpec {
    key: "unit",
    meaning: "what a line is: one sentence, or a piece of prose whose sentences are found",
    values: &["auto", "lines", "prose"],
    default: "auto",
    used: Use::Reading,
};

pub(super) const TOKENS: OptionSpec = OptionSpec {
    key: "tokens",
    meaning: "what a token is: a word or a mark, or whatever stands between blanks (of a text that was tokenised before)",
    values: &["words", "blanks"],
    default: "words",
    used: Use::Reading,
};

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

    fn read(&self, input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
        let (name, file) = (input.name().to_owned(), input.file_name().to_owned());
        let text = input.text(sink)?;
        if u32::try_from(text.len()).is_err() {
            OffsetIndex::new(&text).map_err(|source| FormatError::TooLong { source, file: file.clone() })?;
        }
        let cut = cut(&text, options, &file, sink);
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

/// The tokens of each sentence, as the options say; what was found out is told.
pub(super) fn cut(text: &str, options: &Options, file: &str, sink: &mut dyn Sink) -> Vec<Vec<TextRange>> {
    let split = unit(options).unwrap_or_else(|| {
        let (split, why) = find_unit(text);
        let (found, other) = match split {
            SentenceSplit::Lines => ("one sentence a line", "prose"),
            SentenceSplit::Prose => ("prose", "lines"),
        };
        sink.note(format!("read as {found} because {why}; else set the option unit={other}: {file}"));
        split
    });
    split_sentences(text, split, tokens(options))
}

/// The same for one text of many.
pub(super) fn cut_as_told(text: &str, options: &Options) -> Vec<Vec<TextRange>> {
    let split = unit(options).unwrap_or_else(|| find_unit(text).0);
    split_sentences(text, split, tokens(options))
}

/// What a line is; `None` where it is to be found out.
fn unit(options: &Options) -> Option<SentenceSplit> {
    match options.value(&UNIT) {
        "lines" => Some(SentenceSplit::Lines),
        "prose" => Some(SentenceSplit::Prose),
        _ => None,
    }
}

fn tokens(options: &Options) -> Tokens {
    if options.value(&TOKENS) == "blanks" { Tokens::Blanks } else { Tokens::Words }
}

/// Lines that are looked at to tell prose from one sentence a line.
const LOOKED_AT_LINES: usize = 2000;

/// What a line is, and how one can tell.
fn find_unit(text: &str) -> (SentenceSplit, String) {
    let lines: Vec<&str> = text.lines().take(LOOKED_AT_LINES).map(str::trim).collect();
    let full = lines.iter().filter(|line| !line.is_empty()).count();
    let several =
        lines.iter().filter(|line| split_sentences(line, SentenceSplit::Prose, Tokens::Words).len() > 1).count();
    if several * 5 >= full && several > 0 {
        return (SentenceSplit::Prose, format!("{several} of {full} lines hold several sentences"));
    }
    let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let is_long = |line: &str| line.chars().count() * 10 >= longest * 6;
    let pairs = || lines.iter().zip(lines.iter().skip(1)).filter(|(line, next)| !line.is_empty() && !next.is_empty());
    let goes_on = |next: &str| next.starts_with(char::is_lowercase);
    let broken = pairs().filter(|(line, next)| !ends_sentence(line) && is_long(line) && goes_on(next)).count();
    if broken * 3 >= full && broken > 0 {
        return (SentenceSplit::Prose, format!("{broken} of {full} lines end inside a sentence"));
    }
    let unfinished = pairs().filter(|(line, _)| !ends_sentence(line)).count();
    let parted = lines.iter().any(|line| line.is_empty());
    if parted && unfinished * 2 > full {
        return (SentenceSplit::Prose, "blank lines part paragraphs of several lines".to_owned());
    }
    (
        SentenceSplit::Lines,
        format!(
            "{} of {full} lines {} one sentence",
            full - several,
            if full - several == 1 { "holds" } else { "hold" }
        ),
    )
}

fn ends_sentence(line: &str) -> bool {
    let body = line.trim_end_matches(['"', '”', '’', '\'', ')', '»']);
    body.ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '।'])
}
