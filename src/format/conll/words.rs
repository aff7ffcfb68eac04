//! Reading the sentences of CoNLL-U.

use super::assembly::{Assembly, Sentence, named, place};
use super::blocks::{Block, blocks, comment_value, unlike};
use super::conllu::{Fields, Id, Layer, pairs};
use super::entity::Entities;
use super::mentions::Tags;
use super::options::LABEL;
use super::separator::Separator;
use crate::annotation::{Attributes, Fragments, Span, Status};
use crate::format::tags::is_filler;
use crate::format::{FormatError, ImportedMention, ImportedSentence, Options};
use crate::wording::{counted, listed};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn read(
    text: &str,
    fields: &Fields,
    options: &Options,
    assembly: &mut Assembly<'_>,
) -> Result<(), FormatError> {
    fields.tell(assembly);
    let is_numbered = |layer: &Layer| matches!(layer, Layer::Numbered(_));
    let mut tags = Tags::new(false);
    if !fields.layers.iter().all(is_numbered) {
        tags.find(|| fields.sequences(text), options, assembly)?;
    }
    tags.is_bare &= !fields.has_entities && !fields.layers.iter().any(is_numbered);
    let label = options.value(&LABEL).to_owned();
    let mut reader = Reader { fields, tags, label, names: Vec::new(), untyped: Vec::new(), seen: Seen::default() };
    for block in blocks(text) {
        if let Some(name) = &block.begins {
            assembly.begin(name.clone())?;
        }
        reader.block(&block, assembly)?;
    }
    assembly.finish()?;
    reader.tell(assembly);
    Ok(())
}

struct Reader<'f> {
    fields: &'f Fields,
    tags: Tags,
    /// For mentions without a type.
    label: String,
    /// The fields of `Entity=`, as `# global.Entity` has them.
    names: Vec<String>,
    /// Lines of mentions without a type.
    untyped: Vec<usize>,
    seen: Seen,
}

/// What the person should know.
#[derive(Default)]
struct Seen {
    /// Mentions that begin or end inside a multiword token.
    widened: usize,
    /// Mentions of empty nodes alone.
    without_words: usize,
    /// Sentences whose words are not those of `# text`.
    unquoted: usize,
    /// Keys of comments that were not read.
    comments: BTreeSet<String>,
}

/// A row of a word.
struct Word<'t> {
    line: usize,
    number: usize,
    form: &'t str,
    is_followed: bool,
    cells: Vec<&'t str>,
}

/// A row of a multiword token.
struct Multiword<'t> {
    first: usize,
    last: usize,
    form: &'t str,
    is_followed: bool,
}

/// The tokens of a sentence, each with whether a blank follows, and which words they are.
#[derive(Default)]
struct Pieces<'t> {
    tokens: Vec<(&'t str, bool)>,
    /// The token of each word.
    of_words: Vec<usize>,
}

impl<'t> Pieces<'t> {
    fn of(words: &[Word<'t>], multiwords: &[Multiword<'t>]) -> Self {
        let mut pieces = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            pieces.of_words.push(pieces.tokens.len());
            let Some(whole) = multiwords.iter().find(|m| m.first == word.number) else {
                pieces.tokens.push((word.form, word.is_followed));
                continue;
            };
            let mut members = vec![word.form];
            while let Some(next) = words.next_if(|next| next.number <= whole.last) {
                members.push(next.form);
            }
            if members.concat() == whole.form {
                let start = pieces.tokens.len();
                pieces.of_words.extend(start + 1..start + members.len());
                pieces.tokens.extend(members.into_iter().map(|form| (form, false)));
                if let Some((_, is_followed)) = pieces.tokens.last_mut() {
                    *is_followed = whole.is_followed;
                }
            } else {
                pieces.of_words.extend(std::iter::repeat_n(pieces.tokens.len(), members.len() - 1));
                pieces.tokens.push((whole.form, whole.is_followed));
            }
        }
        pieces
    }

    /// The tokens of words, and whether those are more words.
    fn span(&self, words: Span) -> Option<(Span, bool)> {
        let (first, last) = (words.start().get(), words.last().get());
        let of = |word: usize| self.of_words.get(word).copied();
        let span = Span::from_range(of(first)?..of(last)? + 1)?;
        let is_cut = first.checked_sub(1).is_some_and(|before| of(before) == of(first)) || of(last + 1) == of(last);
        Some((span, is_cut))
    }
}

impl Reader<'_> {
    fn block(&mut self, block: &Block<'_>, assembly: &mut Assembly<'_>) -> Result<(), FormatError> {
        let mut read = ImportedSentence { may_be_unread: self.tags.is_bare, ..ImportedSentence::default() };
        let (mut words, mut multiwords, mut entities) = (Vec::new(), Vec::new(), Entities::default());
        let (mut quoted, mut begins_paragraph) = (None, false);
        for (line, row) in block.lines.iter().copied() {
            if row.starts_with('#') {
                match comment_value(row, "text") {
                    Some(value) => quoted = Some(value),
                    None => begins_paragraph |= self.comment(row),
                }
                continue;
            }
            let cells = Separator::Tabs.split(row);
            let form = cells.get(self.fields.form).copied().unwrap_or_default();
            let id = cells.get(self.fields.id).and_then(|cell| Id::of(cell));
            let misc = self.fields.misc.and_then(|misc| cells.get(misc)).copied().unwrap_or_default();
            let is_followed = !pairs(misc).any(|pair| pair == ("SpaceAfter", "No"));
            let entity = pairs(misc).find(|(key, _)| *key == "Entity" && self.fields.has_entities);
            let Some(id) = id.filter(|_| cells.len() == self.fields.count() && !form.is_empty()) else {
                read.status = Some(Status::InProgress);
                let fault = match () {
                    () if cells.len() != self.fields.count() => unlike(cells.len(), self.fields.count()),
                    () if form.is_empty() => "the row has no word".to_owned(),
                    () => "the row has no number of a word".to_owned(),
                };
                assembly.warn(line, format!("{fault}; it was left out, so the sentence is not complete"));
                continue;
            };
            if let Some((_, value)) = entity.filter(|_| !matches!(id, Id::Range(..))) {
                entities.add(value, words.len(), matches!(id, Id::Word(_)), line, &self.names);
            }
            match id {
                Id::Word(number) => words.push(Word { line, number, form, is_followed, cells }),
                Id::Range(first, last) => multiwords.push(Multiword { first, last, form, is_followed }),
                Id::Empty => {}
            }
        }
        if words.is_empty() {
            return Ok(());
        }
        let pieces = Pieces::of(&words, &multiwords);
        let (text, tokens, is_unquoted) = place(&pieces.tokens, quoted);
        self.seen.unquoted += usize::from(is_unquoted);
        read.tokens = tokens;
        self.add_tags(&words, &pieces, &mut read, assembly);
        self.add_entities(entities, &pieces, &mut read, assembly);
        assembly.add(Sentence { text, sentence: read, begins_paragraph })
    }

    /// True where a paragraph begins.
    fn comment(&mut self, row: &str) -> bool {
        if let Some(names) = comment_value(row, "global.Entity") {
            self.names = names.trim().split('-').map(str::to_owned).collect();
            return false;
        }
        let key = row.trim_start_matches('#').trim();
        let key = key.split_once('=').map_or(key, |(key, _)| key.trim());
        let is_paragraph = key == "newpar" || key.starts_with("newpar ");
        if !is_paragraph && key != "global.columns" && self.seen.comments.len() < 50 {
            self.seen.comments.insert(key.chars().take(40).collect());
        }
        is_paragraph
    }

    fn add_tags(
        &mut self,
        words: &[Word<'_>],
        pieces: &Pieces<'_>,
        read: &mut ImportedSentence,
        assembly: &mut Assembly<'_>,
    ) {
        let line = |at: usize| words.get(at).map_or(0, |word| word.line);
        for layer in &self.fields.layers {
            let column: Vec<&str> = words.iter().map(|word| self.fields.tag(layer, &word.cells)).collect();
            if matches!(layer, Layer::Numbered(_)) {
                for (spans, label, at) in numbered(&column) {
                    let mention = self.seen.fit(&spans, &label, pieces);
                    mention.into_iter().for_each(|mention| self.tags.push(mention, line(at), read));
                }
                continue;
            }
            let widened = std::cell::Cell::new(0);
            let span = |span| {
                let (span, is_cut) = pieces.span(span)?;
                widened.set(widened.get() + usize::from(is_cut));
                Some(span)
            };
            self.tags.add(&column, &line, &span, read, assembly);
            self.seen.widened += widened.get();
        }
    }

    fn add_entities(
        &mut self,
        mut entities: Entities,
        pieces: &Pieces<'_>,
        read: &mut ImportedSentence,
        assembly: &mut Assembly<'_>,
    ) {
        entities.end();
        self.seen.without_words += entities.unseen;
        for (line, problem) in entities.problems {
            read.status = Some(Status::InProgress);
            assembly.warn(line, format!("{problem}; it was left out, so the sentence is not complete"));
        }
        for found in entities.found {
            let label = if found.label.is_empty() { self.label.as_str() } else { found.label.as_str() };
            if label.is_empty() {
                self.untyped.push(found.line);
                read.status = Some(Status::InProgress);
                continue;
            }
            let spans: Vec<Span> = found.fragments.iter().collect();
            let Some(mention) = self.seen.fit(&spans, label, pieces) else { continue };
            let attributes: Attributes = found.attributes;
            self.tags.push(ImportedMention { attributes, ..mention }, found.line, read);
        }
    }

    fn tell(self, assembly: &mut Assembly<'_>) {
        let Seen { widened, without_words, unquoted, comments } = self.seen;
        if !comments.is_empty() {
            let keys: Vec<&str> = comments.iter().map(String::as_str).collect();
            assembly.note(&format!("comments were not read ({})", listed(&keys)));
        }
        if unquoted > 0 {
            assembly.note(&format!(
                "the text of {} is quoted with other words; words were put together as SpaceAfter says",
                counted(unquoted, "sentence", "sentences")
            ));
        }
        if widened > 0 {
            assembly.note(&format!(
                "{} inside a multiword token and was taken to cover all of it",
                counted(widened, "mention begins or ends", "mentions begin or end")
            ));
        }
        if without_words > 0 {
            let message = format!(
                "{} of empty nodes alone, which are no words of the text, and was left out",
                counted(without_words, "mention consists", "mentions consist")
            );
            assembly.warn(1, message);
        }
        if let Some(first) = self.untyped.first() {
            let message = format!(
                "{} no type; each was left out, so its sentence is not complete; the option label=… gives them one ({})",
                counted(self.untyped.len(), "mention has", "mentions have"),
                named(&self.untyped)
            );
            assembly.warn(*first, message);
        }
        self.tags.tell(assembly);
    }
}

impl Seen {
    /// A mention of words as one of tokens.
    fn fit(&mut self, spans: &[Span], label: &str, pieces: &Pieces<'_>) -> Option<ImportedMention> {
        let placed: Vec<(Span, bool)> = spans.iter().map(|span| pieces.span(*span)).collect::<Option<_>>()?;
        self.widened += usize::from(placed.iter().any(|(_, is_cut)| *is_cut));
        let mut joined: Vec<Span> = Vec::with_capacity(placed.len());
        for (span, _) in placed {
            match joined.last_mut() {
                Some(last) if last.end() > span.start() => {
                    *last = Span::from_range(last.start().get()..span.end().get().max(last.end().get()))?;
                }
                _ => joined.push(span),
            }
        }
        Some(ImportedMention::new(Fragments::new(joined).ok()?, label))
    }
}

/// The mentions of a column of numbers, `1:PER`, `1`, `*`, with the row at which each begins.
fn numbered(column: &[&str]) -> Vec<(Vec<Span>, String, usize)> {
    let mut mentions: BTreeMap<&str, (Vec<Span>, String, usize)> = BTreeMap::new();
    for (at, cell) in column.iter().enumerate().filter(|(_, cell)| !is_filler(cell)) {
        for part in cell.split(';') {
            let (number, label) = part.split_once(':').unwrap_or((part, ""));
            let (spans, name, _) = mentions.entry(number).or_insert((Vec::new(), String::new(), at));
            if !label.is_empty() {
                label.clone_into(name);
            }
            let word = Span::from_range(at..at + 1);
            match spans.last_mut().filter(|last| last.end().get() == at) {
                Some(last) => *last = Span::from_range(last.start().get()..at + 1).unwrap_or(*last),
                None => spans.extend(word),
            }
        }
    }
    mentions.into_values().filter(|(_, label, _)| !label.is_empty()).collect()
}
