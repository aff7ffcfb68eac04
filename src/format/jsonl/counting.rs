//! What the places of text lines count: looked for in the whole file before it is read. Of a stream only the start can be
//! looked at, so that later lines may still tell it, or prove it wrong.

use super::options::END;
use super::text_line::TextLine;
use crate::format::units::{Counting, Decision, Ends, Evidence, Forced, SAY_OFFSETS, Said};
use crate::format::{FormatError, Input, Options};
use crate::wording::counted;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::BufRead;

pub(super) struct TextCounting {
    /// Lines that could be either are text lines.
    pub(super) are_all: bool,
    file: String,
    evidence: Evidence,
    decision: Decision,
    /// Lines that the evidence is of; all lines where the whole file was looked at.
    seen: usize,
    /// A line was read, and one for which the unit matters.
    has_read: bool,
    has_read_contested: bool,
    /// Lines that prove another way of counting than their file's: how many, and the first one.
    others: Vec<(Counting, usize, usize)>,
}

impl TextCounting {
    /// # Errors
    /// A file that can't be read, or whose places fit no way of counting, or several.
    pub(super) fn of(input: &Input, options: &Options) -> Result<Self, FormatError> {
        let forced = Forced { ends: Ends::from_name(options.value(&END)), ..Forced::by(options) };
        let mut counting = Self {
            are_all: are_counted(input)?,
            file: input.file_name().to_owned(),
            evidence: Evidence::new(forced),
            decision: Decision::forced(forced),
            seen: 0,
            has_read: false,
            has_read_contested: false,
            others: Vec::new(),
        };
        if counting.are_all {
            let (mut lines, is_whole) = input.look()?;
            let read = |error| FormatError::read(error, input.file_name());
            counting.look_at(&mut *lines).map_err(read)?;
            if is_whole {
                counting.seen = usize::MAX;
            }
            counting.decision = counting.decide()?;
        }
        Ok(counting)
    }

    fn look_at(&mut self, lines: &mut dyn BufRead) -> std::io::Result<()> {
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            // Without its end it may be one that is cut off.
            if lines.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let bytes = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).trim_ascii();
            if let Some(text) = TextLine::parse(bytes).filter(TextLine::counts_characters) {
                let name = || format!("line {number}");
                self.has_read_contested |= self.evidence.add(&name, &text.text, &text.said());
            }
            if line.ends_with(b"\n") {
                self.seen = number;
            }
        }
        Ok(())
    }

    /// How a line counts.
    ///
    /// # Errors
    /// It shows that lines before were read wrongly, or that nobody can tell.
    pub(super) fn of_line(&mut self, number: usize, line: &TextLine) -> Result<Counting, FormatError> {
        let said = line.said();
        if number > self.seen && !said.is_empty() {
            self.learn(number, line, &said)?;
        }
        let (counting, _) = self.decision.of_document(&line.text, &said);
        if counting != self.decision.counting {
            match self.others.iter_mut().find(|(other, ..)| *other == counting) {
                Some((_, lines, _)) => *lines += 1,
                None => self.others.push((counting, 1, number)),
            }
        }
        Ok(counting)
    }

    fn learn(&mut self, number: usize, line: &TextLine, said: &[Said<'_>]) -> Result<(), FormatError> {
        let contested = self.evidence.add(&|| format!("line {number}"), &line.text, said);
        let decision = self.decide()?;
        let (new, old) = (decision.counting, self.decision.counting);
        if (new.ends != old.ends && self.has_read) || (new != old && self.has_read_contested) {
            return Err(FormatError::NeedsOption {
                why: format!(
                    "line {number} shows that places count {new} with {} ends, but the lines before were read as {old} \
                     with {} ends",
                    new.ends.name(),
                    old.ends.name()
                ),
                option: "offsets=chars, utf16, bytes or graphemes, and end=exclusive or inclusive",
                file: self.file.clone(),
            });
        }
        self.decision = decision;
        self.has_read = true;
        self.has_read_contested |= contested;
        Ok(())
    }

    fn decide(&self) -> Result<Decision, FormatError> {
        let needs_option = |why| FormatError::NeedsOption { why, option: SAY_OFFSETS, file: self.file.clone() };
        self.evidence.decide().map_err(|doubt| needs_option(doubt.why))
    }

    /// A place that looks wrong is reported only where nobody has said what places count.
    pub(super) fn is_told(&self) -> bool {
        self.decision.forced.unit.is_some()
    }

    /// What to know of `lines` lines that were read.
    pub(super) fn notes(&self, lines: usize) -> Vec<String> {
        let Decision { counting, why, rival, .. } = &self.decision;
        let end = match counting.ends {
            Ends::Exclusive => "the one after the last",
            Ends::Inclusive => "the last one",
        };
        let lines = counted(lines, "line counts", "lines count");
        let mut note = format!("{lines} characters: places were read as {counting}, the end being {end}");
        if let Some(why) = why {
            note += &format!(", because {why}; else set the options offsets=chars and end=exclusive");
        }
        if let Some(rival) = rival {
            note += &format!(
                "; as {rival} they would be other words and fit as well: if these are wrong, set the option offsets={}",
                rival.unit.name()
            );
        }
        let other = |(counting, lines, first): &(Counting, usize, usize)| {
            let lines = counted(*lines, "line was", "lines were");
            format!("{lines} read as {counting}, as the words that are quoted are there then, first line {first}")
        };
        std::iter::once(note).chain(self.others.iter().map(other)).collect()
    }
}

/// True when the first line that tells counts characters and not words; texts without mentions are then read alike.
fn are_counted(input: &Input) -> Result<bool, FormatError> {
    let (mut lines, _) = input.look()?;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(|error| FormatError::read(error, input.file_name()))? > 0 {
        let bytes = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).trim_ascii();
        if TextLine::parse(bytes).is_some_and(|text| text.counts_characters()) {
            return Ok(true);
        }
        if serde_json::from_slice::<Telling>(bytes).is_ok_and(|t| t.tokens.is_some() || t.nestling.is_some()) {
            return Ok(false);
        }
        line.clear();
    }
    Ok(false)
}

/// What only lines that count words have, once it is clear that a line is none that counts characters.
#[derive(Deserialize)]
struct Telling {
    nestling: Option<IgnoredAny>,
    tokens: Option<IgnoredAny>,
}
