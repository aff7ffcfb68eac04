//! Writing the configuration: new, or what an import has brought with the project's labels put into it.
//!
//! # Invariants
//! - Whatever the files say of anything but labels comes out as it came in: relations, attributes, events, macros, groups,
//!   comments. So do lines of labels of which nothing has changed.

use super::conf;
use crate::format::ImportedLabel;
use crate::format::definitions::section_name;
use std::collections::{BTreeMap, BTreeSet};

/// What the documents use.
#[derive(Default)]
pub(super) struct Used {
    /// Values by the name of the attribute; none for one without.
    pub(super) attributes: BTreeMap<String, BTreeSet<String>>,
    pub(super) relations: BTreeSet<String>,
    pub(super) events: BTreeSet<String>,
}

/// The files of one folder, by their names. `old` are those that came in; the labels have the names under which they are
/// written.
pub(super) fn write<'o>(
    labels: &[ImportedLabel],
    used: &Used,
    old: &BTreeMap<&'o str, &'o str>,
) -> BTreeMap<&'o str, String> {
    let text = |name: &str| old.get(name).copied().unwrap_or_default();
    let (annotation, visual, shortcuts) = (text("annotation.conf"), text("visual.conf"), text("kb_shortcuts.conf"));
    let described = conf::labels(annotation, visual, shortcuts);
    let was = |name: &str| described.iter().find(|label| label.name == name);
    let mut files: BTreeMap<&str, String> = old.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    files.insert("annotation.conf", annotation_conf(annotation, labels, used));
    files.insert("visual.conf", visual_conf(visual, labels, &was));
    files.insert("kb_shortcuts.conf", shortcuts_conf(shortcuts, labels, &was));
    files
}

/// Lines of a file, to which others are added by section.
struct Sections {
    lines: Vec<String>,
}

impl Sections {
    /// The old ones, else those that a new file has.
    fn of(old: &str, names: &[&str]) -> Self {
        if !old.is_empty() {
            return Self { lines: old.lines().map(str::to_owned).collect() };
        }
        let mut lines = Vec::new();
        for name in names {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(format!("[{name}]"));
        }
        Self { lines }
    }

    /// The section of each line; empty for headers and for what stands before the first.
    fn sections(&self) -> Vec<String> {
        let mut section = "";
        let mut all = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            match section_name(line) {
                Some(name) => {
                    section = name;
                    all.push(String::new());
                }
                None => all.push(section.to_owned()),
            }
        }
        all
    }

    /// Puts lines at the end of a section, before the blank lines there.
    fn add(&mut self, section: &str, new: Vec<String>) {
        if new.is_empty() {
            return;
        }
        let header = self.lines.iter().position(|line| section_name(line) == Some(section));
        let start = header.unwrap_or_else(|| {
            if self.lines.last().is_some_and(|line| !line.trim().is_empty()) {
                self.lines.push(String::new());
            }
            self.lines.push(format!("[{section}]"));
            self.lines.len() - 1
        });
        let rest = self.lines.iter().skip(start + 1);
        let mut at = start + 1 + rest.take_while(|line| section_name(line).is_none()).count();
        while at > start + 1 && self.lines.get(at - 1).is_some_and(|line| line.trim().is_empty()) {
            at -= 1;
        }
        self.lines.splice(at..at, new);
    }

    fn text(self) -> String {
        self.lines.into_iter().map(|line| line + "\n").collect()
    }
}

/// The first word of a line that says something.
fn first_word(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.starts_with('#') { None } else { line.split_whitespace().next() }
}

fn annotation_conf(old: &str, labels: &[ImportedLabel], used: &Used) -> String {
    let mut conf = Sections::of(old, &["entities", "relations", "events", "attributes"]);
    let names: BTreeSet<&str> = labels.iter().map(|label| label.name.as_str()).collect();
    let sections = conf.sections();
    let mut defined: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut lines = Vec::with_capacity(conf.lines.len());
    for (at, (line, section)) in conf.lines.iter().zip(&sections).enumerate() {
        let (Some(name), section) = (first_word(line), section.as_str()) else {
            lines.push(line.clone());
            continue;
        };
        let kind = if section == "events" { "entities" } else { section };
        let is_label = matches!(section, "entities" | "events") && !name.starts_with(['<', '!', '-']);
        let is_gone = is_label && !names.contains(name) && !used.events.contains(name);
        if !is_gone {
            let kind = ["entities", "relations", "attributes"].into_iter().find(|known| *known == kind);
            if let Some(kind) = kind {
                defined.insert((kind, name.to_owned()));
            }
            lines.push(match section {
                "attributes" => with_values(line, used.attributes.get(name)),
                _ => line.clone(),
            });
        } else if conf.lines.get(at + 1).is_some_and(|next| indent(next) > indent(line) && !next.trim().is_empty()) {
            // A group of others, which can't be used itself any more.
            lines.push(line.replacen(name, &format!("!{name}"), 1));
        }
    }
    conf.lines = lines;
    let is_new = |kind: &'static str, name: &str| !defined.contains(&(kind, name.to_owned()));
    let entities = labels.iter().map(|label| &label.name);
    let entities = entities.filter(|name| is_new("entities", name) && !used.events.contains(*name));
    conf.add("entities", entities.cloned().collect());
    let relations = used.relations.iter().filter(|name| is_new("relations", name));
    conf.add("relations", relations.map(|name| format!("{name}\tArg1:<ANY>, Arg2:<ANY>")).collect());
    conf.add("events", used.events.iter().filter(|name| is_new("entities", name)).cloned().collect());
    let attributes = used.attributes.iter().filter(|(name, _)| is_new("attributes", name));
    let attribute = |(name, values): (&String, _)| with_values(&format!("{name}\tArg:<ANY>"), Some(values));
    conf.add("attributes", attributes.map(attribute).collect());
    conf.text()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The line of an attribute with all the values that are used.
fn with_values(line: &str, used: Option<&BTreeSet<String>>) -> String {
    let Some((before, values)) = line.split_once("Value:") else {
        let values: Vec<_> = used.into_iter().flatten().map(String::as_str).filter(|value| !value.is_empty()).collect();
        return if values.is_empty() { line.to_owned() } else { format!("{line}, Value:{}", values.join("|")) };
    };
    let (values, rest) = values.split_at(values.find(',').unwrap_or(values.len()));
    let there: Vec<&str> = values.split('|').map(str::trim).collect();
    let is_new = |value: &&str| !value.is_empty() && !there.contains(value);
    let new: String =
        used.into_iter().flatten().map(String::as_str).filter(is_new).map(|value| format!("|{value}")).collect();
    if new.is_empty() { line.to_owned() } else { format!("{before}Value:{}{new}{rest}", values.trim_end()) }
}

fn visual_conf<'l>(old: &str, labels: &[ImportedLabel], was: &impl Fn(&str) -> Option<&'l ImportedLabel>) -> String {
    let mut conf = Sections::of(old, &["labels", "drawing"]);
    let of = |name: &str| labels.iter().find(|label| label.name == name);
    let sections = conf.sections();
    let (mut titled, mut drawn) = (BTreeSet::new(), BTreeSet::new());
    for (line, section) in conf.lines.iter_mut().zip(&sections) {
        let found = match section.as_str() {
            "labels" => line.split('|').next().and_then(|name| of(name.trim())),
            "drawing" => first_word(line).and_then(of),
            _ => None,
        };
        let Some(label) = found.filter(|_| !line.trim_start().starts_with('#')) else { continue };
        if section == "labels" {
            titled.insert(&label.name);
            if was(&label.name).is_some_and(|was| was.title != label.title) {
                let short: String = line.split('|').skip(2).map(|short| format!(" | {}", short.trim())).collect();
                *line = format!("{} | {}{short}", label.name, title(label));
            }
        } else {
            drawn.insert(&label.name);
            let is_same = was(&label.name).is_some_and(|was| was.color == label.color);
            if let Some(color) = label.color.filter(|_| !is_same) {
                let drawing = line.trim().strip_prefix(&label.name).unwrap_or_default();
                let other = drawing.split(',').map(str::trim).filter(|part| !part.starts_with("bgColor:"));
                let other: String = other.filter(|part| !part.is_empty()).map(|part| format!(", {part}")).collect();
                *line = format!("{}\tbgColor:{}{other}", label.name, color.to_hex());
            }
        }
    }
    let new = labels.iter().filter(|label| !titled.contains(&label.name) && !label.title.trim().is_empty());
    conf.add("labels", new.map(|label| format!("{} | {}", label.name, title(label))).collect());
    let new = labels.iter().filter(|label| !drawn.contains(&label.name));
    let new = new.filter_map(|label| Some(format!("{}\tbgColor:{}", label.name, label.color?.to_hex())));
    conf.add("drawing", new.collect());
    conf.text()
}

/// What people call it, in the spelling of the file.
fn title(label: &ImportedLabel) -> String {
    let title = if label.title.trim().is_empty() { &label.name } else { &label.title };
    title.replace(['|', '\n', '\r'], " ")
}

fn shortcuts_conf<'l>(old: &str, labels: &[ImportedLabel], was: &impl Fn(&str) -> Option<&'l ImportedLabel>) -> String {
    let changed = |label: &&ImportedLabel| was(&label.name).is_none_or(|was| was.key != label.key);
    let changed: BTreeMap<&str, &ImportedLabel> =
        labels.iter().filter(changed).map(|label| (label.name.as_str(), label)).collect();
    let of = |line: &str| line.trim().split_once(char::is_whitespace).map(|(_, name)| name.trim().to_owned());
    let stays = |line: &&str| of(line).is_none_or(|name| !changed.contains_key(name.as_str()));
    let lines = old.lines().filter(stays).map(str::to_owned);
    let new = labels.iter().filter(|label| changed.contains_key(label.name.as_str()));
    let new = new.filter_map(|label| Some(format!("{} {}", label.key?, label.name)));
    lines.chain(new).map(|line| line + "\n").collect()
}
