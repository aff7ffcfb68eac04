//! Reading JSON lines.

use super::characters::{ReadText, read_text};
use super::counting::TextCounting;
use super::ends::{self, Decision};
use super::line::{Line, VERSION, explain};
use super::options::NAMES;
use super::sentence::{ReadSentence, read_sentence};
use super::tagging;
use super::text_line::TextLine;
use crate::annotation::Kept;
use crate::format::brat::labels_of;
use crate::format::fit::Changes;
use crate::format::tags::Notation;
use crate::format::units::Ends;
use crate::format::{FormatError, ImportedDocument, ImportedSentence, Input, Options, Sink, Warning, foreign};
use crate::text::{ByteIdx, OffsetIndex, TextRange};
use crate::wording::{counted, listed};
use std::collections::BTreeMap;
use std::io::BufRead;

/// Bad lines at the start of a file after which it is one of another format.
const BAD_LINES_AT_START: usize = 20;

pub(super) fn read(input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
    foreign::refuse(&input)?;
    let counting = TextCounting::of(&input, options)?;
    let ends = ends::decide(&input, counting.are_all, options)?;
    let names = options.value(&NAMES).split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let notation = tagging::find(&input, &names, options, sink)?;
    let mut reader = Reader {
        name: input.name().to_owned(),
        file: input.file_name().to_owned(),
        ends,
        names,
        notation,
        options,
        counting,
        texts: Texts::default(),
        sink,
        document: None,
        good: 0,
        bad: 0,
        first_bad: None,
        unknown: BTreeMap::new(),
    };
    reader.run(&mut *input.read()?)
}

struct Reader<'s> {
    name: String,
    file: String,
    ends: Decision,
    /// What numbers in `ner_tags` stand for.
    names: Vec<String>,
    notation: Notation,
    options: &'s Options,
    /// What the places of text lines count.
    counting: TextCounting,
    texts: Texts,
    sink: &'s mut dyn Sink,
    document: Option<Building>,
    good: usize,
    bad: usize,
    first_bad: Option<String>,
    /// Keys that were left out: the first line and how many.
    unknown: BTreeMap<String, (usize, usize)>,
}

/// Lines that count characters.
#[derive(Default)]
struct Texts {
    count: usize,
    changes: Changes,
    /// Mentions that people have rejected or passed over: the first line and how many.
    refused: Option<(usize, usize)>,
}

/// A document on its way: lines of one name in a row.
struct Building {
    name: String,
    kept: Kept,
    text: String,
    sentences: Vec<ImportedSentence>,
}

/// What a line adds to a document.
struct Piece {
    text: String,
    gap: String,
    /// Their tokens are ranges of the text.
    sentences: Vec<ImportedSentence>,
    warnings: Vec<String>,
}

impl Reader<'_> {
    fn run(&mut self, lines: &mut dyn BufRead) -> Result<(), FormatError> {
        if let Some(note) = self.ends.note.take() {
            self.sink.note(note);
        }
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            if lines.read_until(b'\n', &mut bytes).map_err(|error| FormatError::read(error, &self.file))? == 0 {
                break;
            }
            let whole = if number == 1 { bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes) } else { &bytes };
            let line = whole.trim_ascii();
            if !line.is_empty() {
                self.line(number, line)?;
            }
        }
        if self.good == 0 {
            return Err(match self.first_bad.take() {
                Some(found) => self.wrong_format(found),
                None => FormatError::NoSentence { file: self.file.clone() },
            });
        }
        self.hand_over()?;
        let (internal, unknown): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.unknown).into_iter().partition(|(key, _)| key.starts_with('_'));
        if !internal.is_empty() {
            let keys: Vec<&str> = internal.keys().map(String::as_str).collect();
            self.sink.note(format!(
                "what another program keeps for itself was left out ({}): {}",
                listed(&keys),
                self.file
            ));
        }
        for (key, (line, count)) in unknown {
            let lines = counted(count, "line", "lines");
            self.warn(line, format!("{key:?} means nothing here and was left out ({lines})"));
        }
        self.tell_of_texts();
        Ok(())
    }

    fn tell_of_texts(&mut self) {
        let Texts { count, changes, refused } = std::mem::take(&mut self.texts);
        if count > 0 {
            for note in self.counting.notes(count) {
                self.sink.note(format!("{note}: {}", self.file));
            }
        }
        for note in changes.notes() {
            self.sink.note(format!("{note}: {}", self.file));
        }
        if let Some((line, mentions)) = refused {
            self.warn(
                line,
                format!(
                    "{} left out because the `answer` is reject or ignore",
                    counted(mentions, "mention was", "mentions were")
                ),
            );
        }
    }

    fn line(&mut self, number: usize, bytes: &[u8]) -> Result<(), FormatError> {
        if bytes.starts_with(b"[") && self.good == 0 {
            return Err(self.wrong_format(format!("line {number} begins a JSON array, not one object per line")));
        }
        let line: Line = match serde_json::from_slice(bytes) {
            Ok(line) => line,
            Err(error) => {
                return match TextLine::parse(bytes).filter(TextLine::counts_characters) {
                    Some(text) => self.text_line(number, text),
                    None => self.bad_line(number, explain(&error, bytes)),
                };
            }
        };
        if line.may_count_characters()
            && let Some(text) = TextLine::parse(bytes)
            && (self.counting.are_all || text.counts_characters())
        {
            return self.text_line(number, text);
        }
        if let Some(version) = line.nestling {
            let definitions = line.kept.unwrap_or_default();
            labels_of(&definitions).into_iter().for_each(|label| self.sink.label(label));
            for (name, text) in definitions {
                self.sink.definition(name, text);
            }
            return self.header(number, version, line.end.as_deref());
        }
        for key in line.unknown_keys() {
            self.unknown.entry(key).or_insert((number, 0)).1 += 1;
        }
        let name = line.doc.clone().unwrap_or_else(|| self.name.clone());
        if line.is_separator() {
            self.hand_over()?;
            let kept = line.kept.unwrap_or_default();
            self.document = Some(Building { name, kept, text: String::new(), sentences: Vec::new() });
            self.good += 1;
            return Ok(());
        }
        if line.kept.is_some() {
            self.warn(number, "`kept` belongs to a line with nothing but `doc`; it was left out".to_owned());
        }
        let gap = line.gap.clone();
        let read = match read_sentence(line, self.ends.ends, &self.names, &self.notation) {
            Ok(read) => read,
            Err(error) if error.needs_option() && self.good == 0 => {
                let (why, option) = (error.to_string(), "names=O,B-PER,I-PER,… (in the order of the numbers)");
                return Err(FormatError::NeedsOption { why, option, file: self.file.clone() });
            }
            Err(error) => return self.bad_line(number, error.to_string()),
        };
        if read.has_empty_entity && self.ends.is_guess {
            return Err(FormatError::NeedsOption {
                why: format!(
                    "line {number} has an entity with start = end, so its ends are inclusive, but the lines before were read as exclusive"
                ),
                option: "end=inclusive",
                file: self.file.clone(),
            });
        }
        self.good += 1;
        let ReadSentence { text, sentence, warnings, .. } = read;
        let sentences = if sentence.tokens.is_empty() { Vec::new() } else { vec![sentence] };
        self.add(number, name, Piece { text, gap: gap.unwrap_or_else(|| "\n".to_owned()), sentences, warnings })
    }

    /// A text is a document of its own, unless it says which one it belongs to.
    fn text_line(&mut self, number: usize, line: TextLine) -> Result<(), FormatError> {
        let counting = self.counting.of_line(number, &line)?;
        let ReadText { sentences, warnings, changes, refused, unknown_keys } =
            match read_text(&line, counting, self.counting.is_told(), self.options) {
                Ok(read) => read,
                Err(error) => return self.bad_line(number, error.to_string()),
            };
        for key in unknown_keys {
            self.unknown.entry(key).or_insert((number, 0)).1 += 1;
        }
        self.texts.count += 1;
        self.texts.changes.add(changes);
        if refused > 0 {
            self.texts.refused.get_or_insert((number, 0)).1 += refused;
        }
        self.good += 1;
        let own_name = line.own_name().unwrap_or_else(|| number.to_string());
        let TextLine { doc, text, gap, .. } = line;
        let usual_gap = if doc.is_some() { "\n" } else { "" };
        if doc.is_none() {
            self.hand_over()?;
        }
        let name = doc.unwrap_or_else(|| format!("{}-{own_name}", self.name));
        self.add(number, name, Piece { text, gap: gap.unwrap_or_else(|| usual_gap.to_owned()), sentences, warnings })
    }

    fn header(&mut self, number: usize, version: u32, end: Option<&str>) -> Result<(), FormatError> {
        if version > VERSION {
            return Err(FormatError::Newer { found: version, known: VERSION, file: self.file.clone() });
        }
        self.hand_over()?;
        let name = end.unwrap_or("exclusive");
        match Ends::from_name(name) {
            Some(ends) => self.ends = Decision { ends, is_guess: false, note: None },
            None => return self.bad_line(number, format!("`end` is exclusive or inclusive, not {name:?}")),
        }
        Ok(())
    }

    fn add(&mut self, number: usize, name: String, piece: Piece) -> Result<(), FormatError> {
        if self.document.as_ref().is_some_and(|document| document.name != name) {
            self.hand_over()?;
        }
        let document = self.document.get_or_insert_with(|| Building {
            name,
            kept: Kept::new(),
            text: String::new(),
            sentences: Vec::new(),
        });
        let base = document.text.len();
        document.text.push_str(&piece.text);
        document.text.push_str(&piece.gap);
        for mut sentence in piece.sentences {
            let moved = sentence.tokens.iter().filter_map(|token| {
                TextRange::new(ByteIdx::new(base + token.start().get()), ByteIdx::new(base + token.end().get()))
            });
            let moved: Vec<TextRange> = moved.collect();
            debug_assert_eq!(moved.len(), sentence.tokens.len(), "a range that is moved is a range");
            sentence.tokens = moved;
            document.sentences.push(sentence);
        }
        let is_full = document.sentences.len() >= self.sink.longest_document();
        for message in piece.warnings {
            self.warn(number, message);
        }
        if is_full { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), FormatError> {
        let Some(Building { name, kept, text, sentences }) = self.document.take() else { return Ok(()) };
        if u32::try_from(text.len()).is_err() {
            OffsetIndex::new(&text).map_err(|source| FormatError::TooLong { source, file: self.file.clone() })?;
        }
        let stopped = self.sink.document(ImportedDocument { name, text: text.into(), kept, sentences }).is_break();
        if stopped { Err(FormatError::Stopped { file: self.file.clone() }) } else { Ok(()) }
    }

    fn bad_line(&mut self, number: usize, message: String) -> Result<(), FormatError> {
        self.bad += 1;
        self.first_bad.get_or_insert_with(|| format!("line {number}: {message}"));
        if self.good == 0 && self.bad >= BAD_LINES_AT_START {
            let found = self.first_bad.take().unwrap_or_default();
            return Err(self.wrong_format(found));
        }
        self.warn(number, format!("{message}; the line was left out"));
        Ok(())
    }

    fn wrong_format(&self, found: String) -> FormatError {
        FormatError::WrongFormat { format: "JSON lines", found, file: self.file.clone() }
    }

    fn warn(&mut self, line: usize, message: String) {
        self.sink.warning(Warning { file: self.file.clone(), line: Some(line), message });
    }
}
