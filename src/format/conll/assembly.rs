//! From sentences to documents, on their way to the sink.

use super::blocks::blocks;
use crate::annotation::Kept;
use crate::format::{FormatError, ImportedDocument, ImportedSentence, Sink, Warning};
use crate::text::{ByteIdx, TextRange};

/// Line numbers that a warning names at most.
const NAMED_LINES: usize = 10;

pub(super) struct Assembly<'s> {
    name: String,
    file: String,
    sink: &'s mut dyn Sink,
    /// The file holds several documents, so that those without a name have numbers.
    has_several: bool,
    number: usize,
    /// What the file calls the document.
    own_name: Option<String>,
    text: String,
    sentences: Vec<ImportedSentence>,
}

/// A sentence whose tokens are ranges of its own text.
pub(super) struct Sentence {
    pub(super) text: String,
    pub(super) sentence: ImportedSentence,
    /// A blank line goes before it.
    pub(super) begins_paragraph: bool,
}

impl<'s> Assembly<'s> {
    pub(super) fn new(name: String, file: String, text: &str, sink: &'s mut dyn Sink) -> Self {
        let (mut documents, mut is_new) = (0, true);
        for block in blocks(text) {
            is_new |= block.begins.is_some();
            if is_new && block.lines.iter().any(|(_, line)| !line.starts_with('#')) {
                documents += 1;
                is_new = false;
            }
        }
        Self {
            name,
            file,
            sink,
            has_several: documents > 1,
            number: 1,
            own_name: None,
            text: String::new(),
            sentences: Vec::new(),
        }
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn warn(&mut self, line: usize, message: String) {
        self.sink.warning(Warning { file: self.file.clone(), line: Some(line), message });
    }

    pub(super) fn note(&mut self, note: &str) {
        self.sink.note(format!("{note}: {}", self.file));
    }

    /// A document begins, perhaps one with a name.
    pub(super) fn begin(&mut self, name: Option<String>) -> Result<(), FormatError> {
        if !self.sentences.is_empty() {
            self.hand_over()?;
            self.number += 1;
        }
        self.own_name = name;
        Ok(())
    }

    pub(super) fn add(&mut self, read: Sentence) -> Result<(), FormatError> {
        let Sentence { text, mut sentence, begins_paragraph } = read;
        if begins_paragraph && !self.text.is_empty() {
            self.text.push('\n');
        }
        let base = self.text.len();
        let moved = sentence.tokens.iter().filter_map(|token| {
            TextRange::new(ByteIdx::new(base + token.start().get()), ByteIdx::new(base + token.end().get()))
        });
        sentence.tokens = moved.collect();
        self.text.push_str(&text);
        self.text.push('\n');
        self.sentences.push(sentence);
        if self.sentences.len() >= self.sink.longest_document() { self.hand_over() } else { Ok(()) }
    }

    /// True when any sentence was read.
    pub(super) fn finish(&mut self) -> Result<(), FormatError> {
        let is_empty = self.sentences.is_empty() && self.number == 1 && self.text.is_empty();
        if is_empty {
            return Err(FormatError::NoSentence { file: self.file.clone() });
        }
        self.hand_over()
    }

    fn hand_over(&mut self) -> Result<(), FormatError> {
        let (text, sentences) = (std::mem::take(&mut self.text), std::mem::take(&mut self.sentences));
        if sentences.is_empty() {
            return Ok(());
        }
        let name = match &self.own_name {
            Some(name) => name.clone(),
            None if self.has_several => format!("{}-{}", self.name, self.number),
            None => self.name.clone(),
        };
        let document = ImportedDocument { name, text: text.into(), kept: Kept::new(), sentences };
        let is_stopped = self.sink.document(document).is_break();
        if is_stopped { Err(FormatError::Stopped { file: self.file.clone() }) } else { Ok(()) }
    }
}

/// The text of a sentence and the places of its words in it: as the file quotes it where all words are there, else with
/// a blank after each word that is followed by one. The flag says that it is not as quoted.
pub(super) fn place(words: &[(&str, bool)], quoted: Option<&str>) -> (String, Vec<TextRange>, bool) {
    if let Some(quoted) = quoted
        && let Some(places) = places_in(words, quoted)
    {
        return (quoted.to_owned(), places, false);
    }
    let (mut text, mut places) = (String::new(), Vec::with_capacity(words.len()));
    for (at, (word, is_followed)) in words.iter().enumerate() {
        let start = text.len();
        text.push_str(word);
        places.extend(TextRange::in_text(&text, start..text.len()));
        if *is_followed && at + 1 < words.len() {
            text.push(' ');
        }
    }
    (text, places, quoted.is_some())
}

fn places_in(words: &[(&str, bool)], quoted: &str) -> Option<Vec<TextRange>> {
    let mut at = 0;
    let mut places = Vec::with_capacity(words.len());
    for (word, _) in words {
        let rest = quoted.get(at..)?;
        let start = at + (rest.len() - rest.trim_start().len());
        let end = start + word.len();
        places.push(TextRange::in_text(quoted, start..end).filter(|place| place.of(quoted) == *word)?);
        at = end;
    }
    quoted.get(at..)?.trim().is_empty().then_some(places)
}

/// "line 3", "lines 3, 7, 9".
pub(super) fn named(lines: &[usize]) -> String {
    let first: Vec<String> = lines.iter().take(NAMED_LINES).map(usize::to_string).collect();
    let more = if lines.len() > NAMED_LINES { ", …" } else { "" };
    format!("{} {}{more}", if lines.len() == 1 { "line" } else { "lines" }, first.join(", "))
}
