//! CoNLL-U, CoNLL-U Plus and CoNLL-X: ten columns, or those that `# global.columns` names, by tabs.
//!
//! Words come from FORM. A multiword token (`1-2`) is one token, or several where its words put together spell it; empty
//! nodes (`1.1`) are no words. The text is that of `# text`, else what SpaceAfter says. Mentions come from `Entity=` and
//! from whatever key of MISC, or column, holds tags. The rest is not read, and told.

use super::assembly::Assembly;
use super::blocks::{blocks, comment_value};
use super::layout::Asked;
use super::profile::{Kind, Profile};
use super::separator::Separator;
use crate::format::tags::{begins_like_tag, is_filler, is_o};
use crate::format::{FormatError, Options};
use crate::wording::{counted, listed};
use std::collections::BTreeMap;

/// The columns of CoNLL-U.
const STANDARD: [&str; 10] = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"];

/// Keys of MISC with labels that need no prefix.
const KEYS_OF_LABELS: [&str; 5] = ["ner", "ne", "namedentity", "named_entity", "nertag"];

/// Where things stand.
#[derive(Debug)]
pub(super) struct Fields {
    names: Vec<String>,
    pub(super) id: usize,
    pub(super) form: usize,
    pub(super) misc: Option<usize>,
    pub(super) layers: Vec<Layer>,
    pub(super) has_entities: bool,
}

/// What holds tags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    Column(usize),
    /// Of MISC.
    Key(String),
    /// A column such as `1:PER`, `1`, `*`: each mention has a number.
    Numbered(usize),
}

/// What stands in the first column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Id {
    Word(usize),
    /// The first and the last word.
    Range(usize, usize),
    Empty,
}

impl Id {
    pub(super) fn of(cell: &str) -> Option<Self> {
        if let Some((first, last)) = cell.split_once('-') {
            return Some(Self::Range(first.parse().ok()?, last.parse().ok()?)).filter(|_| !first.is_empty());
        }
        match cell.split_once('.') {
            Some((word, part)) => {
                let (_, _): (usize, usize) = (word.parse().ok()?, part.parse().ok()?);
                Some(Self::Empty)
            }
            None => cell.parse().ok().map(Self::Word),
        }
    }
}

impl Fields {
    /// `None` where the file is something else, or the words are asked for by column.
    ///
    /// # Errors
    /// Options that can't be.
    pub(super) fn find(text: &str, options: &Options, file: &str) -> Result<Option<Self>, FormatError> {
        let asked = Asked::of(options)?;
        let Some(mut fields) = Self::of(text).filter(|_| asked.token.is_none()) else { return Ok(None) };
        let count = fields.names.len();
        let told = asked.tags.or_else(|| asked.layers.map(|layers| (count.saturating_sub(layers)..count).collect()));
        match told {
            Some(columns) => {
                if let Some(outside) = columns.iter().find(|column| **column >= count) {
                    let found = format!(
                        "it is CoNLL-U with {} and has no column {}",
                        counted(count, "column", "columns"),
                        outside + 1
                    );
                    return Err(FormatError::WrongFormat { format: "CoNLL columns", found, file: file.to_owned() });
                }
                fields.layers = columns.into_iter().map(Layer::Column).collect();
            }
            None => fields.find_layers(text),
        }
        Ok(Some(fields))
    }

    /// True for rows of CoNLL-U.
    pub(super) fn are_in(text: &str) -> bool {
        Self::of(text).is_some()
    }

    fn of(text: &str) -> Option<Self> {
        let named = text.lines().take(200).find_map(|line| comment_value(line, "global.columns"));
        let names: Vec<String> = match named {
            Some(names) => names.split_whitespace().map(str::to_owned).collect(),
            None => STANDARD.map(str::to_owned).to_vec(),
        };
        if names.len() > 200 {
            return None;
        }
        let place = |name: &str| names.iter().position(|n| n == name);
        let (id, form) = (place("ID")?, place("FORM")?);
        let (head, misc) = (place("HEAD"), place("MISC"));
        let (mut rows, mut fitting, mut has_first) = (0usize, 0usize, false);
        for (_, line) in blocks(text).flat_map(|block| block.lines).filter(|(_, line)| !line.starts_with('#')) {
            rows += 1;
            let cells = Separator::Tabs.split(line);
            let is_head = |cell: &&str| *cell == "_" || cell.parse::<usize>().is_ok();
            let has_head = head.is_none_or(|head| cells.get(head).is_some_and(is_head));
            let found = cells.get(id).and_then(|cell| Id::of(cell));
            has_first |= matches!(found, Some(Id::Word(1) | Id::Range(1, _)));
            fitting += usize::from(cells.len() == names.len() && found.is_some() && has_head);
        }
        let fits = has_first && fitting * 10 >= rows * 9;
        fits.then(|| Self { misc, id, form, layers: Vec::new(), has_entities: false, names })
    }

    fn find_layers(&mut self, text: &str) {
        let profile = Profile::of(text, Separator::Tabs, self.names.len());
        for (at, column) in profile.columns.iter().enumerate() {
            let is_standard = self.names.get(at).is_some_and(|name| STANDARD.contains(&name.as_str()));
            if at == self.id || at == self.form {
                continue;
            }
            let is_of_tags = column.kind() == Kind::Tags && (!is_standard || column.is_often_outside());
            if is_of_tags {
                self.layers.push(Layer::Column(at));
            } else if !is_standard && column.is_numbered() {
                self.layers.push(Layer::Numbered(at));
            }
        }
        let Some(misc) = self.misc else { return };
        let mut keys: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
        for (_, line) in blocks(text).flat_map(|block| block.lines).filter(|(_, line)| !line.starts_with('#')) {
            let cells = Separator::Tabs.split(line);
            for (key, value) in cells.get(misc).into_iter().flat_map(|cell| pairs(cell)) {
                self.has_entities |= key == "Entity" && value.contains(['(', ')']);
                let (all, marked, outside) = keys.entry(key).or_default();
                *all += 1;
                *marked += usize::from(begins_like_tag(value));
                *outside += usize::from(is_o(value) || is_filler(value));
            }
        }
        for (key, (all, marked, outside)) in keys {
            let are_tags = marked > 0 && (marked + outside) * 20 >= all * 19;
            if are_tags || KEYS_OF_LABELS.contains(&key.to_lowercase().as_str()) {
                self.layers.push(Layer::Key(key.to_owned()));
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }

    /// The tag of a row in a layer.
    pub(super) fn tag<'t>(&self, layer: &Layer, cells: &[&'t str]) -> &'t str {
        match layer {
            Layer::Column(column) | Layer::Numbered(column) => cells.get(*column).copied().unwrap_or("O"),
            Layer::Key(wanted) => {
                let misc = self.misc.and_then(|misc| cells.get(misc)).copied().unwrap_or_default();
                pairs(misc).find(|(key, _)| key == wanted).map_or("O", |(_, value)| value)
            }
        }
    }

    /// The tags of all words of each sentence and layer.
    pub(super) fn sequences<'t>(&self, text: &'t str) -> impl Iterator<Item = Vec<&'t str>> {
        let layers: Vec<&Layer> = self.layers.iter().filter(|layer| !matches!(layer, Layer::Numbered(_))).collect();
        blocks(text).flat_map(move |block| {
            let rows = block.lines.iter().map(|(_, line)| Separator::Tabs.split(line));
            let words: Vec<Vec<&str>> =
                rows.filter(|cells| matches!(cells.get(self.id).and_then(|c| Id::of(c)), Some(Id::Word(_)))).collect();
            let layers = layers.iter().map(|layer| words.iter().map(|cells| self.tag(layer, cells)).collect());
            layers.collect::<Vec<Vec<&str>>>()
        })
    }

    /// What is read and what is not, for people.
    pub(super) fn tell(&self, assembly: &mut Assembly<'_>) {
        let mut sources: Vec<String> = self
            .layers
            .iter()
            .map(|layer| match layer {
                Layer::Column(column) | Layer::Numbered(column) => {
                    format!("column {} ({})", column + 1, self.names.get(*column).map_or("", String::as_str))
                }
                Layer::Key(key) => format!("{key}= in MISC"),
            })
            .collect();
        if self.has_entities {
            sources.push("Entity= in MISC".to_owned());
        }
        let is_read = |at: usize| {
            at == self.id
                || at == self.form
                || (Some(at) == self.misc && !sources.is_empty())
                || self.layers.contains(&Layer::Column(at))
                || self.layers.contains(&Layer::Numbered(at))
        };
        let unread: Vec<&str> =
            self.names.iter().enumerate().filter(|(at, _)| !is_read(*at)).map(|(_, name)| name.as_str()).collect();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        assembly.note(&match sources.is_empty() {
            true => "read as CoNLL-U; nothing in it looks like mentions, so only the words were read".to_owned(),
            false => format!("read as CoNLL-U, with mentions from {}", listed(&sources)),
        });
        if !unread.is_empty() {
            let (columns, were) = if unread.len() == 1 { ("column", "was") } else { ("columns", "were") };
            assembly.note(&format!("the {columns} {} {were} not read", listed(&unread)));
        }
    }
}

/// `Key=value` of a cell, between bars.
pub(super) fn pairs(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    cell.split('|').filter_map(|pair| pair.split_once('='))
}
