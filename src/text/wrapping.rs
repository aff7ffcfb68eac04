//! Line breaks in prose: whether one wraps a line, so that its sentence goes on, or ends a headline or a paragraph.
//!
//! Whoever wraps a line breaks it because the next word has no room. So a break is hard where that word would have had
//! room, and where nothing in the text is wrapped at all: then each line is a paragraph.

use super::scripts::is_unspaced;
use super::tokens::first_word;

/// The lines of one text and how wide they are wrapped.
pub(super) struct Wrapping {
    /// By their first bytes.
    lines: Vec<Line>,
    /// The usual width of lines that break inside a sentence, in characters; `None` where no line does.
    usual: Option<usize>,
}

/// One with something in it.
struct Line {
    start: usize,
    /// Without white space around it.
    chars: usize,
    begins: Beginning,
    ends_sentence: bool,
    /// Its last word is short and small, such as "of" and "the", which few headlines end with.
    ends_short: bool,
    /// No line of its block has ended a sentence yet, as in a headline and what stands under it.
    is_at_head: bool,
    /// The widest line of its block, where the block is wrapped. A block has no blank line inside.
    block_width: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// So that it goes on with the sentence of the line before.
    SmallLetter,
    /// Of a script that has no capitals.
    UncasedLetter,
    Other,
}

/// The share of the width below which a line with one more word was not wrapped. Not all of it: lines that were set in
/// a proportional font differ in their numbers of characters.
const ROOM: f64 = 0.85;

/// Lines of a block, at least, that show by their equal widths that it is wrapped where no small letter does.
const EQUAL_LINES: usize = 3;

/// Characters of a line that is no headline where nothing else tells.
const LONG: usize = 40;

impl Wrapping {
    /// Linear in the length of the text.
    pub(super) fn of(text: &str) -> Self {
        let (mut lines, mut inside) = (Vec::new(), Vec::new());
        let (mut first_of_block, mut at) = (0, 0);
        for raw in text.split_inclusive(['\n', '\r']) {
            let is_rest_of_crlf = raw == "\n" && text.get(..at).is_some_and(|before| before.ends_with('\r'));
            if !raw.trim().is_empty() {
                lines.push(Line::new(at, raw.trim()));
            } else if !is_rest_of_crlf {
                end_block(lines.get_mut(first_of_block..).unwrap_or_default(), &mut inside);
                first_of_block = lines.len();
            }
            at += raw.len();
        }
        end_block(lines.get_mut(first_of_block..).unwrap_or_default(), &mut inside);
        inside.sort_unstable();
        Self { usual: inside.get(inside.len() / 2).copied(), lines }
    }

    /// True when the break after the line with the byte `at` is a hard one; `rest` is what follows it.
    pub(super) fn is_hard_break(&self, at: usize, rest: &str) -> bool {
        let number = self.lines.partition_point(|line| line.start <= at);
        let Some(line) = number.checked_sub(1).and_then(|number| self.lines.get(number)) else { return false };
        if beginning(rest.trim_start()) == Beginning::SmallLetter {
            return false;
        }
        let Some(width) = line.block_width.or(self.usual) else { return line.is_at_head || !line.ends_short };
        let next = first_word(rest);
        // Where words have no blanks between them a line may be wrapped after any character.
        let needed = if next.starts_with(is_unspaced) { 1 } else { 1 + next.chars().count() };
        ((line.chars + needed) as f64) < ROOM * width as f64
    }
}

impl Line {
    fn new(start: usize, line: &str) -> Self {
        Self {
            start,
            chars: line.chars().count(),
            begins: beginning(line),
            ends_sentence: ends_sentence(line),
            ends_short: ends_short(line),
            is_at_head: false,
            block_width: None,
        }
    }
}

/// Looks at the lines of a block: its head, and whether it is wrapped; adds the widths of those that break inside a sentence.
fn end_block(lines: &mut [Line], inside: &mut Vec<usize>) {
    let head = lines.iter().take_while(|line| !line.ends_sentence).count();
    lines.iter_mut().take(head).for_each(|line| line.is_at_head = true);
    let widest = lines.iter().map(|line| line.chars).max().unwrap_or_default();
    let is_full = |line: &Line| line.chars as f64 >= ROOM * widest as f64;
    let looks_wrapped = |line: &Line| lines.len() >= EQUAL_LINES && is_full(line);
    let breaks_inside = |line: &Line, next: &Line| {
        !line.ends_sentence
            && match next.begins {
                Beginning::SmallLetter => true,
                Beginning::UncasedLetter => looks_wrapped(line),
                Beginning::Other => looks_wrapped(line) && line.chars >= LONG,
            }
    };
    let before = inside.len();
    let pairs = lines.iter().zip(lines.iter().skip(1));
    inside.extend(pairs.filter(|(line, next)| breaks_inside(line, next)).map(|(line, _)| line.chars));
    if inside.len() > before {
        lines.iter_mut().for_each(|line| line.block_width = Some(widest));
    }
}

fn beginning(line: &str) -> Beginning {
    match line.trim_start_matches(['"', '\'', '“', '‘', '«', '„', '(', '[']).chars().next() {
        Some(c) if c.is_lowercase() => Beginning::SmallLetter,
        Some(c) if c.is_alphabetic() && !c.is_uppercase() => Beginning::UncasedLetter,
        _ => Beginning::Other,
    }
}

fn ends_short(line: &str) -> bool {
    let word = line.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    (1..=3).contains(&word.chars().count()) && word.chars().all(char::is_lowercase)
}

/// True for a line that ends with the punctuation of a sentence, in any script.
pub fn ends_sentence(line: &str) -> bool {
    let body = line.trim_end().trim_end_matches(['"', '”', '’', '\'', ')', '»', '」', '』']);
    body.ends_with(['.', '!', '?', '…', '。', '！', '？', '؟', '۔', '।'])
}
