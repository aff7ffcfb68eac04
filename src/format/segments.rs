//! Finding sentences and words in raw text: the options that say how, and what tells what a line is.

use super::options::{OptionSpec, Options, Use};
use crate::text::{SentenceSplit, TextRange, Tokens, ends_sentence, split_sentences};
use crate::wording::{counted, grouped};

pub(super) const UNIT: OptionSpec = OptionSpec {
    key: "unit",
    meaning: "what a line is: one sentence, or a piece of prose whose sentences are found",
    values: &["auto", LINES, PROSE],
    default: "auto",
    used: Use::Reading,
};

const LINES: &str = "lines";
const PROSE: &str = "prose";

pub(super) const TOKENS: OptionSpec = OptionSpec {
    key: "tokens",
    meaning: "what a token is: a word or a mark, or whatever stands between blanks (of a text that was tokenised before)",
    values: &["words", "blanks"],
    default: "words",
    used: Use::Reading,
};

/// The tokens of each sentence, as the options say; where they leave open what a line is, it is a piece of prose.
pub(super) fn segments(text: &str, options: &Options) -> Vec<Vec<TextRange>> {
    let unit = match options.value(&UNIT) {
        LINES => SentenceSplit::Lines,
        _ => SentenceSplit::Prose,
    };
    let tokens = if options.value(&TOKENS) == "blanks" { Tokens::Blanks } else { Tokens::Words };
    split_sentences(text, unit, tokens)
}

/// Lines of each text that are looked at.
const LOOKED_AT_LINES: usize = 2000;

/// What the lines of texts look like, to tell prose from one sentence a line.
#[derive(Default)]
pub struct LineEvidence {
    /// Lines with something in them.
    full: usize,
    /// Those that hold several sentences.
    several: usize,
    /// Texts of several lines.
    of_several_lines: usize,
    /// Those that end inside a sentence, which goes on in the next line.
    broken: usize,
    /// Those that end without a full stop and are followed by another line, in texts with blank lines.
    unfinished: usize,
}

impl LineEvidence {
    /// Adds the first lines of a text.
    pub(super) fn add(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().take(LOOKED_AT_LINES).map(str::trim).collect();
        let full = lines.iter().filter(|line| !line.is_empty()).count();
        self.full += full;
        self.of_several_lines += usize::from(full > 1);
        let has_several = |line: &&&str| split_sentences(line, SentenceSplit::Prose, Tokens::Words).len() > 1;
        self.several += lines.iter().filter(has_several).count();
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
        let is_long = |line: &str| line.chars().count() * 10 >= longest * 6;
        let pairs = lines.iter().zip(lines.iter().skip(1)).filter(|(line, next)| !line.is_empty() && !next.is_empty());
        let has_blank = lines.iter().any(|line| line.is_empty());
        for (line, next) in pairs.filter(|(line, _)| !ends_sentence(line)) {
            self.broken += usize::from(is_long(line) && next.starts_with(char::is_lowercase));
            self.unfinished += usize::from(has_blank);
        }
    }

    /// False where each text is one line and one sentence, whatever a line is.
    pub(super) fn matters(&self) -> bool {
        self.several > 0 || self.of_several_lines > 0
    }

    /// Of the option.
    pub(super) fn value(&self) -> &'static str {
        if self.has_several() || self.is_broken() || self.has_paragraphs() { PROSE } else { LINES }
    }

    fn has_several(&self) -> bool {
        self.several > 0 && self.several * 5 >= self.full
    }

    fn is_broken(&self) -> bool {
        self.broken > 0 && self.broken * 3 >= self.full
    }

    fn has_paragraphs(&self) -> bool {
        self.unfinished * 2 > self.full
    }

    /// What was chosen, why, and what to do where it is wrong.
    pub(super) fn note(&self) -> String {
        let full = grouped(self.full);
        let why = if self.has_several() {
            format!("{} of {full} hold several sentences", counted(self.several, "line", "lines"))
        } else if self.is_broken() {
            format!("{} of {full} end inside a sentence", counted(self.broken, "line", "lines"))
        } else if self.has_paragraphs() {
            "blank lines separate paragraphs of several lines".to_owned()
        } else {
            format!("{} of {full} hold one sentence", counted(self.full - self.several, "line", "lines"))
        };
        let (found, other) = if self.value() == LINES { ("one sentence per line", PROSE) } else { ("prose", LINES) };
        format!("read as {found}, because {why}; the option unit={other} reads it the other way")
    }
}
