//! Writing texts, their annotations and the configuration.

use super::conf::{self, CONFIGURATION, ID};
use super::conf_write::{self, Used};
use super::ids::{fields, number_of, references};
use crate::format::file_names::FileNames;
use crate::format::spelling::Spelling;
use crate::format::{
    Content, DocumentView, FormatError, ImportedLabel, LossKind, MentionView, Output, Receipt, SentenceView,
};
use crate::text::{ByteIdx, OffsetIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

pub(super) fn write(content: Content<'_, '_>, out: &mut dyn Output) -> Result<Receipt, FormatError> {
    let mut receipt = Receipt::default();
    let mut spelling = Spelling::new(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let mut labels: Vec<ImportedLabel> = content.labels.to_vec();
    let mut known: BTreeSet<String> = labels.iter().map(|label| label.name.clone()).collect();
    spelling.prefer(labels.iter().map(|label| label.name.as_str()));
    let (mut used, mut says_status) = (Used::default(), false);
    receipt.lose_definitions(content.definitions, ID);
    // Those that are written, with what the documents call them.
    let mut folders = BTreeMap::from([(String::new(), String::new())]);
    let mut names = FileNames::new(&["txt", "ann"], &CONFIGURATION);
    for document in content.documents {
        if receipt.leaves_out(&document) {
            continue;
        }
        receipt.begin(&document);
        receipt.lose_kept(&document, ID);
        let name = names.next(document.name);
        if name != document.name {
            receipt.notes.push(format!("the document {:?} was written as {name:?}", document.name));
        }
        add_folders(&mut folders, document.name, &name);
        says_status |= document.sentences.iter().any(|s| s.status.is_some() || s.split.is_some());
        for mention in document.sentences.iter().flat_map(|s| &s.mentions) {
            if known.insert(mention.label.to_owned()) {
                labels.push(ImportedLabel { name: mention.label.to_owned(), ..ImportedLabel::default() });
            }
        }
        let text = document.written_text();
        let mut annotations = Annotations::new(&document, &text, &mut receipt, &mut spelling, &mut used);
        annotations.add_mentions(&document)?;
        annotations.add_kept(&document);
        let lines = annotations.lines;
        for (ending, content) in [("txt", text.as_str()), ("ann", lines.as_str())] {
            let mut file = out.file(&format!("{name}.{ending}"))?;
            file.write_all(content.as_bytes())?;
            file.flush()?;
        }
    }
    for label in &mut labels {
        let spelled = spelling.of(&label.name);
        if label.title.is_empty() && spelled != label.name {
            label.title.clone_from(&label.name);
        }
        label.name = spelled;
    }
    let came_in = conf::by_folder(content.definitions);
    for (folder, called) in folders {
        let old = came_in.get(called.as_str());
        if folder.is_empty() || old.is_some() {
            for (name, content) in conf_write::write(&labels, &used, old.unwrap_or(&BTreeMap::new())) {
                let mut file = out.file(&format!("{folder}{name}"))?;
                file.write_all(content.as_bytes())?;
                file.flush()?;
            }
        }
    }
    spelling.tell(&mut receipt);
    if says_status {
        receipt.notes.push("the statuses and splits of sentences are not in the files".to_owned());
    }
    Ok(receipt)
}

/// The folders of a document that is written to a path, each with a `/` at its end, and what its name calls them.
fn add_folders(folders: &mut BTreeMap<String, String>, name: &str, path: &str) {
    // Of a very long path the first folders are gone.
    if name.matches('/').count() == path.matches('/').count() {
        for ((end, _), (called, _)) in path.match_indices('/').zip(name.match_indices('/')) {
            let folder = path.get(..=end).unwrap_or_default().to_owned();
            folders.entry(folder).or_insert_with(|| name.get(..called).unwrap_or_default().to_owned());
        }
    }
}

struct Annotations<'a, 't> {
    text: &'t str,
    receipt: &'a mut Receipt,
    spelling: &'a mut Spelling,
    used: &'a mut Used,
    lines: String,
    /// Ids of what is written.
    ids: BTreeSet<String>,
    next: Next,
}

/// Numbers that are free.
struct Next {
    mention: u64,
    attribute: Free,
    note: Free,
}

/// The numbers that no kept line has.
struct Free {
    taken: BTreeSet<u64>,
    next: u64,
}

impl Free {
    fn take(&mut self) -> u64 {
        while self.taken.contains(&self.next) {
            self.next += 1;
        }
        take(&mut self.next)
    }
}

impl<'a, 't> Annotations<'a, 't> {
    fn new(
        document: &DocumentView<'_>,
        text: &'t str,
        receipt: &'a mut Receipt,
        spelling: &'a mut Spelling,
        used: &'a mut Used,
    ) -> Self {
        let kept = document.kept.get(ID).map_or("", String::as_str);
        let free = |letter| {
            let numbers = kept.lines().filter_map(|line| number_of(fields(line).0, letter));
            Free { taken: numbers.collect(), next: 1 }
        };
        let own = document.sentences.iter().flat_map(|s| &s.mentions).filter_map(|m| m.source_id);
        // Nor those of mentions that are gone: what is said of these must not be said of others.
        let named = kept.lines().flat_map(references);
        let mention = own.chain(named).filter_map(|id| number_of(id, 'T')).max().unwrap_or(0).saturating_add(1);
        let next = Next { mention, attribute: free('A'), note: free('#') };
        Self { text, receipt, spelling, used, lines: String::new(), ids: BTreeSet::new(), next }
    }

    fn add_mentions(&mut self, document: &DocumentView<'_>) -> Result<(), FormatError> {
        let index = OffsetIndex::new(self.text);
        let too_long = |source| FormatError::TooLong { source, file: document.name.to_owned() };
        let index = index.map_err(too_long)?;
        let mut base = 0;
        for sentence in &document.sentences {
            for mention in &sentence.mentions {
                match self.pieces(sentence, mention, base) {
                    Some(pieces) => self.add_mention(document, sentence, mention, &pieces, &index),
                    None => self.receipt.lose(document, sentence, mention, LossKind::WhiteSpaceEdge),
                }
            }
            base += sentence.text.len() + sentence.gap.len();
        }
        Ok(())
    }

    /// The bytes of each line of each fragment, without the white space at line ends; `None` where reading would not
    /// give the same.
    fn pieces(&self, sentence: &SentenceView<'_>, mention: &MentionView<'_>, base: usize) -> Option<Vec<Range<usize>>> {
        let start = sentence.start();
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for fragment in mention.fragments.iter() {
            let bytes = sentence.bytes(fragment.range())?;
            let bytes = bytes.start - start + base..bytes.end - start + base;
            let raw = self.text.get(bytes.clone())?;
            let between = pieces.last().and_then(|last| self.text.get(last.end..bytes.start));
            if raw.trim().len() != raw.len() || between.is_some_and(|text| text.trim().is_empty()) {
                return None;
            }
            let mut at = bytes.start;
            for line in raw.split_inclusive(['\n', '\r']) {
                let from = at + (line.len() - line.trim_start().len());
                if !line.trim().is_empty() {
                    pieces.push(from..from + line.trim().len());
                }
                at += line.len();
            }
        }
        Some(pieces)
    }

    fn add_mention(
        &mut self,
        document: &DocumentView<'_>,
        sentence: &SentenceView<'_>,
        mention: &MentionView<'_>,
        pieces: &[Range<usize>],
        index: &OffsetIndex<'_>,
    ) {
        let own = mention.source_id.filter(|id| number_of(id, 'T').is_some() && !self.ids.contains(*id));
        let id = own.map_or_else(|| format!("T{}", take(&mut self.next.mention)), str::to_owned);
        let char = |at| index.byte_to_char(ByteIdx::new(at)).map_or(0, |char| char.get());
        let offsets: Vec<_> = pieces.iter().map(|p| format!("{} {}", char(p.start), char(p.end))).collect();
        let quoted: Vec<_> = pieces.iter().filter_map(|piece| self.text.get(piece.clone())).collect();
        let label = self.spelling.of(mention.label);
        self.line(format_args!("{id}\t{label} {}\t{}", offsets.join(";"), quoted.join(" ")));
        self.receipt.mentions += 1;
        let mut lose = |kind| self.receipt.lose(document, sentence, mention, kind);
        if label != mention.label {
            lose(LossKind::LabelSpelling);
        }
        if mention.score.is_some() {
            lose(LossKind::Score);
        }
        let mut lines = Vec::new();
        for (key, value) in mention.attributes.into_iter().flatten() {
            let breaks = |text: &str| text.contains(['\n', '\r', '\t', '\0']);
            if key.is_empty() || key.contains(char::is_whitespace) || breaks(key) || breaks(value) {
                lose(LossKind::Attribute);
                continue;
            }
            let gap = if value.is_empty() { "" } else { " " };
            lines.push(format!("A{}\t{key} {id}{gap}{value}", self.next.attribute.take()));
            self.used.attributes.entry(key.clone()).or_default().insert(value.clone());
        }
        if mention.note.contains(['\r', '\0']) || mention.note.starts_with('\n') {
            lose(LossKind::Note);
        } else if !mention.note.is_empty() {
            let note = |line| format!("#{}\tAnnotatorNotes {id}\t{line}", self.next.note.take());
            lines.extend(mention.note.split('\n').map(note));
        }
        for line in lines {
            self.line(format_args!("{line}"));
        }
        self.ids.insert(id);
    }

    /// Lines that name only what is there.
    fn add_kept(&mut self, document: &DocumentView<'_>) {
        let kept = document.kept.get(ID).map_or("", String::as_str);
        let mut lines: Vec<&str> = kept.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.retain(|line| {
            // Such lines come from no file of brat.
            let is_read_otherwise = line.starts_with('T') || line.contains(['\0', '\r']);
            if is_read_otherwise {
                self.receipt.lose_words(document, None, line, LossKind::KeptLine);
            }
            !is_read_otherwise
        });
        loop {
            let own = lines.iter().map(|line| fields(line).0).filter(|id| *id != "*");
            let ids: BTreeSet<&str> = own.chain(self.ids.iter().map(String::as_str)).collect();
            let before = lines.len();
            lines.retain(|line| {
                let is_there = references(line).all(|id| ids.contains(id));
                if !is_there {
                    self.receipt.lose_words(document, None, line, LossKind::KeptWithoutMention);
                }
                is_there
            });
            if lines.len() == before {
                break;
            }
        }
        for line in lines {
            let name = fields(line).1.split([' ', ':']).next().unwrap_or_default().to_owned();
            match line.chars().next().filter(|_| !name.is_empty()) {
                Some('R' | '*') => self.used.relations.insert(name),
                Some('E') => self.used.events.insert(name),
                _ => false,
            };
            self.line(format_args!("{line}"));
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string can't fail.
        let _written = writeln!(self.lines, "{line}");
    }
}

fn take(next: &mut u64) -> u64 {
    let number = *next;
    *next = next.saturating_add(1);
    number
}
