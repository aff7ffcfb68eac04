//! What each column of a file looks like: words, tags, brackets, numbers.

use super::blocks::blocks;
use super::separator::Separator;
use crate::format::tags::{begins_like_tag, ends_like_tag, has_doubled_prefix, is_filler, is_o, only_letter};
use std::collections::HashSet;

/// Rows that are looked at; of a larger file every second block, or every tenth, so that all parts of it are seen.
const LOOKED_AT: usize = 200_000;

/// Different cells that are kept of a column.
const KEPT_CELLS: usize = 2000;

/// Chunks, which stand in a column of tags and are no entities (CoNLL-2000, and NC, PC, VC of the German CoNLL-2003).
const CHUNKS: [&str; 14] =
    ["NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "CONJP", "INTJ", "LST", "UCP", "NC", "PC", "VC"];

/// All columns of the rows that have as many cells as most.
#[derive(Debug, Default)]
pub(super) struct Profile {
    pub(super) columns: Vec<Column>,
    /// Rows that were looked at, of any number of cells.
    pub(super) rows: usize,
    /// Those with as many cells as most.
    pub(super) regular: usize,
    /// Cells of the first row, if it names the columns.
    pub(super) header: Option<Vec<String>>,
    pub(super) has_blank_lines: bool,
}

#[derive(Debug, Default)]
pub(super) struct Column {
    rows: usize,
    outside: usize,
    before: usize,
    after: usize,
    /// Prefixes alone, `B` and `I`.
    letters: usize,
    fillers: usize,
    brackets: usize,
    opened: usize,
    numbers: usize,
    /// Sentences of several rows, and those whose cells are all the same.
    sentences: usize,
    constant: usize,
    cells: HashSet<String>,
    labels: HashSet<String>,
    first: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Prefix and label, or `O`.
    Tags,
    /// The same, of chunks.
    Chunks,
    /// `(PERSON*`, `*`, `*)`.
    Brackets,
    /// Some of few labels, or `O`.
    Labels,
    /// Nothing but `O`.
    Outside,
    Numbers,
    /// Mostly `_`, `-`, `*` or nothing.
    Empty,
    Words,
}

impl Profile {
    /// Looks at rows of `count` cells all over the text.
    pub(super) fn of(text: &str, separator: Separator, count: usize) -> Self {
        let mut profile = Self { columns: (0..count).map(|_| Column::default()).collect(), ..Self::default() };
        let mut blocks = blocks(text).filter(|block| !block.lines.is_empty()).enumerate().peekable();
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        let step = 1 + lines / LOOKED_AT;
        while let Some((at, block)) = blocks.next() {
            profile.has_blank_lines |= blocks.peek().is_some();
            if at % step > 0 {
                continue;
            }
            let mut sentence: Vec<Vec<&str>> = Vec::new();
            for (_, line) in block.lines {
                let cells = separator.split(line);
                if line.starts_with('#') && (cells.len() != count || !cells.last().is_some_and(|cell| is_marked(cell)))
                {
                    continue;
                }
                profile.rows += 1;
                if cells.len() != count {
                    continue;
                }
                profile.regular += 1;
                if profile.regular == 1 && names_columns(&cells) {
                    profile.header = Some(cells.iter().map(|cell| (*cell).to_owned()).collect());
                    continue;
                }
                sentence.push(cells);
            }
            for (column, place) in profile.columns.iter_mut().zip(0..) {
                let cells = || sentence.iter().filter_map(|cells| cells.get(place).copied());
                cells().for_each(|cell| column.add(cell));
                if sentence.len() > 1 {
                    column.sentences += 1;
                    column.constant +=
                        usize::from(cells().all(|cell| sentence.first().and_then(|c| c.get(place)) == Some(&cell)));
                }
            }
        }
        profile
    }

    /// "column 1 (The, mayor, met), column 2 (DT, NN, VBD)".
    pub(super) fn shown(&self) -> String {
        let column = |(at, column): (usize, &Column)| format!("column {at} ({})", column.first.join(", "));
        (1..).zip(&self.columns).map(column).collect::<Vec<_>>().join(", ")
    }
}

impl Column {
    fn add(&mut self, cell: &str) {
        self.rows += 1;
        self.outside += usize::from(is_o(cell));
        self.fillers += usize::from(is_filler(cell));
        self.numbers += usize::from(is_number(cell));
        self.letters += usize::from(only_letter(cell).is_some_and(|c| "BIESLUMW".contains(c)));
        if let Some(opens) = brackets(cell) {
            self.brackets += 1;
            self.opened += usize::from(opens);
        }
        let is_new = !self.cells.contains(cell) && self.cells.len() < KEPT_CELLS;
        let (before, after) = (begins_like_tag(cell), ends_like_tag(cell));
        self.before += usize::from(before || has_doubled_prefix(cell));
        self.after += usize::from(after);
        if is_new {
            if before {
                self.labels.extend(cell.split_once(['-', '_', ':', '/', '|']).map(|(_, label)| label.to_owned()));
            }
            if brackets(cell) == Some(true) {
                self.labels.extend(cell.split(['(', ')', '*']).filter(|l| !l.is_empty()).map(str::to_owned));
            }
            if self.first.len() < 3 {
                self.first.push(cell.chars().take(20).collect());
            }
            self.cells.insert(cell.to_owned());
        }
    }

    pub(super) fn kind(&self) -> Kind {
        let share = |count: usize, percent: usize| self.rows > 0 && count * 100 >= self.rows * percent;
        let are_letters = self.letters > 0 && self.letters + self.outside + self.fillers == self.rows;
        let is_labelled = self.before > 0 && share(self.before + self.outside + self.letters + self.fillers, 80);
        let is_turned = self.after > 0 && share(self.outside, 20) && share(self.after + self.outside, 95);
        let has_few = self.cells.len() <= 30.max(self.rows / 20);
        match () {
            () if share(self.fillers, 100) => Kind::Empty,
            () if is_labelled && self.labels.iter().all(|label| CHUNKS.contains(&label.as_str())) => Kind::Chunks,
            () if is_labelled || is_turned || (are_letters && share(self.outside, 20)) => Kind::Tags,
            () if self.opened > 0 && share(self.brackets, 95) && !self.has_syntax() => Kind::Brackets,
            () if self.outside > 0 && self.outside + self.fillers == self.rows => Kind::Outside,
            () if share(self.outside, 20) && has_few => Kind::Labels,
            () if share(self.fillers, 50) => Kind::Empty,
            () if share(self.numbers, 95) => Kind::Numbers,
            () => Kind::Words,
        }
    }

    /// Phrases or arguments of verbs in brackets, and none of entities.
    fn has_syntax(&self) -> bool {
        let is_syntax = |label: &&String| {
            let label = label.as_str();
            CHUNKS.contains(&label)
                || matches!(
                    label,
                    "S" | "TOP" | "ROOT" | "V" | "SINV" | "SQ" | "SBARQ" | "NML" | "QP" | "FRAG" | "WHNP" | "X"
                )
                || ["ARG", "AM-", "A0", "A1", "A2", "C-", "R-"].iter().any(|start| label.starts_with(start))
        };
        self.labels.iter().filter(is_syntax).count() * 2 > self.labels.len()
    }

    /// The same in all rows of most sentences: the name of a document, a speaker.
    pub(super) fn is_constant(&self) -> bool {
        self.sentences > 1 && self.constant * 2 > self.sentences
    }

    /// At least one cell in five is `O`.
    pub(super) fn is_often_outside(&self) -> bool {
        self.outside * 5 >= self.rows
    }

    /// Cells such as `1:PER`, `1`, `2;3:LOC` and `*`.
    pub(super) fn is_numbered(&self) -> bool {
        let is_part = |part: &str| part.split_once(':').map_or(part, |(number, _)| number).parse::<usize>().is_ok();
        let is_numbered = |cell: &String| is_filler(cell) || cell.split(';').all(is_part);
        self.fillers > 0 && self.cells.iter().any(|cell| cell.contains(':')) && self.cells.iter().all(is_numbered)
    }

    pub(super) fn different(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Cells that tags can be.
    pub(super) fn tags(&self) -> usize {
        self.outside + self.before.max(self.after).max(self.letters)
    }
}

/// True for a tag or `O`.
pub(super) fn is_marked(cell: &str) -> bool {
    is_o(cell) || begins_like_tag(cell) || ends_like_tag(cell) || has_doubled_prefix(cell)
}

/// True for integers, ranges and offsets.
fn is_number(cell: &str) -> bool {
    cell.bytes().any(|b| b.is_ascii_digit()) && cell.bytes().all(|b| b.is_ascii_digit() || b"-:.,[]()".contains(&b))
}

/// Whether a cell of brackets, `(PERSON*`, opens one with a label; `None` for other cells.
fn brackets(cell: &str) -> Option<bool> {
    if !cell.contains(['*', ')']) || cell == "*" {
        return (cell == "*").then_some(false);
    }
    let (opening, closing) = cell.split_at(cell.find(['*', ')'])?);
    let are_labels =
        opening.is_empty() || opening.strip_prefix('(')?.split('(').all(|label| label.contains(char::is_alphabetic));
    let is_end = closing.strip_prefix('*').unwrap_or(closing).bytes().all(|b| b == b')');
    (are_labels && is_end && !cell.contains(char::is_whitespace)).then_some(!opening.is_empty())
}

/// True for a first row that says what the columns are.
fn names_columns(cells: &[&str]) -> bool {
    let known =
        cells.iter().filter(|cell| is_name_of_words(cell) || is_name_of_tags(cell) || is_other_name(cell)).count();
    known >= 2 && known * 2 >= cells.len() && cells.iter().any(|cell| is_name_of_words(cell))
}

pub(super) fn is_name_of_words(cell: &str) -> bool {
    matches!(cell.to_lowercase().as_str(), "word" | "words" | "token" | "tokens" | "form" | "text")
}

pub(super) fn is_name_of_tags(cell: &str) -> bool {
    let name = cell.to_lowercase();
    let names = ["tag", "tags", "label", "labels", "ner", "ne", "ner_tag", "ner_tags", "entity", "iob", "bio", "slot"];
    names.contains(&name.as_str())
        || ["ne-", "ne_", "ner-", "ner_", "tag_", "label_"].iter().any(|s| name.starts_with(s))
}

fn is_other_name(cell: &str) -> bool {
    let names = [
        "id",
        "index",
        "idx",
        "no",
        "pos",
        "upos",
        "xpos",
        "lemma",
        "chunk",
        "sentence",
        "sentence #",
        "doc",
        "document",
    ];
    names.contains(&cell.to_lowercase().as_str())
}
