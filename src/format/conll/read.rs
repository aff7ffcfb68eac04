//! Reading columns.

use super::assembly::{Assembly, Sentence, place};
use super::blocks::{Block, blocks, comment_value, unlike};
use super::layout::Layout;
use super::mentions::Tags;
use super::profile::is_marked;
use super::{conllu, words};
use crate::annotation::Status;
use crate::format::tags::Tag;
use crate::format::{FormatError, ImportedSentence, Input, Options, Sink, foreign};
use crate::wording::counted;

pub(super) fn read(input: Input, options: &Options, sink: &mut dyn Sink) -> Result<(), FormatError> {
    foreign::refuse(&input)?;
    let (name, file) = (input.name().to_owned(), input.file_name().to_owned());
    let whole = input.text(sink)?;
    let text = whole.strip_prefix('\u{feff}').unwrap_or(&whole);
    let mut assembly = Assembly::new(name, file, text, sink);
    if let Some(fields) = conllu::Fields::find(text, options, assembly.file())? {
        return words::read(text, &fields, options, &mut assembly);
    }
    let layout = Layout::find(text, options, assembly.file())?;
    let mut tags = Tags::new(layout.are_brackets);
    if !layout.tags.is_empty() && !layout.are_brackets {
        tags.find(|| layout.tag_sequences(text), options, &mut assembly)?;
    } else if layout.are_brackets {
        tags.is_bare = layout.tag_sequences(text).flatten().all(|cell| !cell.contains('('));
    }
    for note in &layout.notes {
        assembly.note(note);
    }
    if let Some(unread) = &layout.unread_tags {
        assembly.warn(1, unread.clone());
    }
    Reader { layout, tags, has_header: false, comments: 0, unquoted: 0 }.run(text, &mut assembly)
}

impl Layout {
    /// The tags of each sentence and column.
    fn tag_sequences<'t>(&self, text: &'t str) -> impl Iterator<Item = Vec<&'t str>> {
        let mut header = self.has_header;
        blocks(text).flat_map(move |block| {
            let rows: Vec<Vec<&str>> = block
                .lines
                .iter()
                .map(|(_, line)| (line, self.separator.split(line)))
                .filter(|(line, cells)| {
                    let is_row = self.count.fits(cells) && (!line.starts_with('#') || self.is_row_of_tags(cells));
                    is_row && !std::mem::take(&mut header)
                })
                .map(|(_, cells)| cells)
                .collect();
            let column = |tag: &usize| rows.iter().map(|cells| cells.get(*tag).copied().unwrap_or("O")).collect();
            self.tags.iter().map(column).collect::<Vec<Vec<&str>>>()
        })
    }

    fn is_row_of_tags(&self, cells: &[&str]) -> bool {
        self.tags.iter().all(|tag| cells.get(*tag).is_some_and(|cell| is_marked(cell)))
    }
}

struct Reader {
    layout: Layout,
    tags: Tags,
    /// The row that names the columns has been passed.
    has_header: bool,
    comments: usize,
    /// Sentences whose words are not those of the text that the file quotes.
    unquoted: usize,
}

/// One row of a sentence.
struct Row<'t> {
    line: usize,
    token: &'t str,
    tags: Vec<&'t str>,
}

impl Reader {
    fn run(mut self, text: &str, assembly: &mut Assembly<'_>) -> Result<(), FormatError> {
        for block in blocks(text) {
            if let Some(name) = &block.begins {
                assembly.begin(name.clone())?;
            }
            self.block(&block, assembly)?;
        }
        assembly.finish()?;
        if self.comments > 0 {
            let lines = counted(self.comments, "line is a comment and was", "lines are comments and were");
            assembly.note(&format!("{lines} not read"));
        }
        if self.unquoted > 0 {
            let sentences = counted(self.unquoted, "sentence", "sentences");
            assembly.note(&format!(
                "the text of {sentences} is quoted with other words; words were put together with blanks"
            ));
        }
        self.tags.tell(assembly);
        Ok(())
    }

    fn block(&mut self, block: &Block<'_>, assembly: &mut Assembly<'_>) -> Result<(), FormatError> {
        let mut read = ImportedSentence { may_be_unread: self.tags.is_bare, ..ImportedSentence::default() };
        let (mut rows, mut quoted): (Vec<Row<'_>>, _) = (Vec::new(), None);
        for (line, text) in block.lines.iter().copied() {
            let cells = self.layout.separator.split(text);
            let token = cells.get(self.layout.token).copied().unwrap_or_default();
            let fits = self.layout.count.fits(&cells) && !token.is_empty();
            if text.starts_with('#') && !(fits && (!rows.is_empty() || self.is_row_of_tags(&cells))) {
                match comment_value(text, "text").filter(|_| rows.is_empty()) {
                    Some(value) => quoted = Some(value),
                    None => self.comments += 1,
                }
            } else if fits && self.layout.has_header && !self.has_header {
                self.has_header = true;
            } else if fits {
                let tags = self.layout.tags.iter().map(|tag| cells.get(*tag).copied().unwrap_or("O")).collect();
                rows.push(Row { line, token, tags });
            } else {
                read.status = Some(Status::InProgress);
                let fault = match self.layout.count.fits(&cells) {
                    true => "the row has no token".to_owned(),
                    false => unlike(cells.len(), self.layout.count.get()),
                };
                assembly.warn(line, format!("{fault}; it was left out, so the sentence is not complete"));
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let words: Vec<(&str, bool)> = rows.iter().map(|row| (row.token, true)).collect();
        let (text, tokens, is_unquoted) = place(&words, quoted);
        self.unquoted += usize::from(is_unquoted);
        read.tokens = tokens;
        let line = |at: usize| rows.get(at).map_or(0, |row| row.line);
        for layer in 0..self.layout.tags.len() {
            let column: Vec<&str> = rows.iter().map(|row| row.tags.get(layer).copied().unwrap_or("O")).collect();
            self.tags.add(&column, &line, &|span| Some(span), &mut read, assembly);
        }
        assembly.add(Sentence { text, sentence: read, begins_paragraph: false })
    }

    /// A row that begins with `#` is one only if its tags say something.
    fn is_row_of_tags(&self, cells: &[&str]) -> bool {
        let says = |cell: &&str| !matches!(self.tags.notation().read(cell), Tag::Bare(_) | Tag::Nameless);
        self.layout.tags.iter().all(|tag| cells.get(*tag).is_some_and(says))
    }
}
