//! `annotation.conf`, `visual.conf` and `kb_shortcuts.conf`: which labels there are, what they are called and how they
//! look.

use crate::annotation::{Kept, Rgb};
use crate::format::ImportedLabel;
use crate::format::definitions::{of_format, section_name};
use std::collections::{BTreeMap, BTreeSet};

/// Of the format.
pub(super) const ID: &str = "brat";

/// Files beside the annotations that say what may be annotated, and how it looks.
pub(super) const CONFIGURATION: [&str; 4] = ["annotation.conf", "visual.conf", "kb_shortcuts.conf", "tools.conf"];

/// Common colour names of CSS.
const COLORS: &[(&str, &str)] = &[
    ("aqua", "#00FFFF"),
    ("beige", "#F5F5DC"),
    ("black", "#000000"),
    ("blue", "#0000FF"),
    ("brown", "#A52A2A"),
    ("coral", "#FF7F50"),
    ("crimson", "#DC143C"),
    ("cyan", "#00FFFF"),
    ("darkblue", "#00008B"),
    ("darkgray", "#A9A9A9"),
    ("darkgreen", "#006400"),
    ("darkorange", "#FF8C00"),
    ("darkred", "#8B0000"),
    ("gold", "#FFD700"),
    ("gray", "#808080"),
    ("green", "#008000"),
    ("grey", "#808080"),
    ("indigo", "#4B0082"),
    ("khaki", "#F0E68C"),
    ("lavender", "#E6E6FA"),
    ("lightblue", "#ADD8E6"),
    ("lightgray", "#D3D3D3"),
    ("lightgreen", "#90EE90"),
    ("lightpink", "#FFB6C1"),
    ("lightyellow", "#FFFFE0"),
    ("lime", "#00FF00"),
    ("magenta", "#FF00FF"),
    ("maroon", "#800000"),
    ("navy", "#000080"),
    ("olive", "#808000"),
    ("orange", "#FFA500"),
    ("orchid", "#DA70D6"),
    ("pink", "#FFC0CB"),
    ("plum", "#DDA0DD"),
    ("purple", "#800080"),
    ("red", "#FF0000"),
    ("salmon", "#FA8072"),
    ("silver", "#C0C0C0"),
    ("skyblue", "#87CEEB"),
    ("tan", "#D2B48C"),
    ("teal", "#008080"),
    ("tomato", "#FF6347"),
    ("turquoise", "#40E0D0"),
    ("violet", "#EE82EE"),
    ("white", "#FFFFFF"),
    ("yellow", "#FFFF00"),
];

/// The labels in the order of `annotation.conf`: entities, then events, whose triggers are mentions here.
pub(super) fn labels(annotation: &str, visual: &str, shortcuts: &str) -> Vec<ImportedLabel> {
    let titles: BTreeMap<&str, &str> = section(visual, "labels").filter_map(|line| line.split_once('|')).collect();
    let title = |name: &str| {
        let found = titles.iter().find(|(key, _)| key.trim() == name)?;
        found.1.split('|').next().map(str::trim).filter(|title| *title != name)
    };
    let color = |name: &str| {
        let mut lines = section(visual, "drawing").filter_map(|line| line.split_once(char::is_whitespace));
        let (_, drawing) = lines.find(|(key, _)| *key == name)?;
        drawing.split(',').find_map(|part| to_color(part.trim().strip_prefix("bgColor:")?.trim()))
    };
    let key = |name: &str| {
        let mut lines = shortcuts.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
        let (key, _) = lines.find(|(key, of)| of.trim() == name && key.chars().count() == 1)?;
        key.chars().next().and_then(|c| c.to_lowercase().next())
    };
    let names = section(annotation, "entities").chain(section(annotation, "events")).filter_map(|line| {
        let name = line.split_whitespace().next()?;
        // Macros, groups that can't be used, and separators.
        (!name.starts_with(['<', '!', '-'])).then_some(name)
    });
    let mut seen = BTreeSet::new();
    let mut labels = Vec::new();
    for name in names.filter(|name| seen.insert(*name)) {
        labels.push(ImportedLabel {
            name: name.to_owned(),
            title: title(name).unwrap_or_default().to_owned(),
            color: color(name),
            key: key(name),
        });
    }
    labels
}

/// True where it names labels and says no more of them, so that the labels are all there is to keep.
pub(super) fn names_labels_alone(annotation: &str) -> bool {
    let mut section = "";
    annotation.lines().filter(|line| !line.trim().is_empty()).all(|line| match section_name(line) {
        Some(name) => {
            section = name;
            true
        }
        None => {
            let is_plain = !line.starts_with(['<', '!', '-', '#']) && !line.contains(char::is_whitespace);
            section == "entities" && is_plain
        }
    })
}

/// The labels that definitions of brat describe, for formats that carry these along.
pub(in crate::format) fn labels_of(definitions: &Kept) -> Vec<ImportedLabel> {
    let all = by_folder(definitions);
    let text = |folder: &str, name: &str| {
        let of = |folder: &str| all.get(folder)?.get(name).copied();
        of(folder).or_else(|| of("")).unwrap_or_default()
    };
    let of = |folder: &&str| {
        labels(text(folder, "annotation.conf"), text(folder, "visual.conf"), text(folder, "kb_shortcuts.conf"))
    };
    all.keys().flat_map(of).collect()
}

/// The configuration that came with documents, by the folders of these and file names.
pub(super) fn by_folder(definitions: &Kept) -> BTreeMap<&str, BTreeMap<&str, &str>> {
    let mut by_folder: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for (path, text) in of_format(definitions, ID) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if CONFIGURATION.contains(&name) {
            by_folder.entry(folder).or_default().insert(name, text);
        }
    }
    by_folder
}

/// The lines of a section without comments.
fn section<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    let mut is_inside = false;
    text.lines().map(str::trim).filter(move |line| {
        if let Some(section) = section_name(line) {
            is_inside = section == name;
            return false;
        }
        is_inside && !line.is_empty() && !line.starts_with('#')
    })
}

fn to_color(text: &str) -> Option<Rgb> {
    let lower = text.to_lowercase();
    if let [b'#', r, g, b] = lower.as_bytes() {
        let doubled: String = [r, r, g, g, b, b].iter().map(|digit| char::from(**digit)).collect();
        return Rgb::from_hex(&format!("#{doubled}"));
    }
    let hex = COLORS.iter().find(|(name, _)| *name == lower).map_or(lower.as_str(), |(_, hex)| hex);
    Rgb::from_hex(hex)
}
