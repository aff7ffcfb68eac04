//! What formats say of all documents of a folder besides labels: brat's `annotation.conf` and its like. Kept for exports to
//! the same format, by `FORMAT:PATH`.
//!
//! # Invariants
//! - Nothing of two files of one name is lost: the second adds its lines to the first, section by section.

use crate::annotation::Kept;
use crate::wording::counted;
use std::collections::BTreeSet;

/// The files of one format, by their paths in the folder.
pub(super) fn of_format<'k>(definitions: &'k Kept, format: &str) -> impl Iterator<Item = (&'k str, &'k str)> {
    definitions.iter().filter_map(move |(name, text)| {
        let (of, path) = name.split_once(':')?;
        (of == format).then_some((path, text.as_str()))
    })
}

/// Adds definitions to others; what to know of files that were put together.
pub fn add(definitions: &mut Kept, new: Kept) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, text) in new {
        let Some(old) = definitions.get_mut(&name) else {
            definitions.insert(name, text);
            continue;
        };
        let added = add_lines(old, &text);
        if added > 0 {
            let path = name.split_once(':').map_or(name.as_str(), |(_, path)| path);
            let lines = counted(added, "line", "lines");
            notes.push(format!("{lines} of another {path} were added to the one that is there"));
        }
    }
    notes
}

/// Adds the lines that are not there yet at the end of their sections; returns how many.
fn add_lines(old: &mut String, new: &str) -> usize {
    let mut added = 0;
    let is_there: BTreeSet<(&str, &str)> = in_sections(old).collect();
    let missing: Vec<(&str, &str)> = in_sections(new).filter(|line| !is_there.contains(line)).collect();
    let mut lines: Vec<String> = old.lines().map(str::to_owned).collect();
    for (section, line) in missing {
        let is_header = |line: &String| section_name(line).is_some();
        let header = lines.iter().position(|line| section_name(line) == Some(section));
        let at = match header {
            Some(header) => {
                let rest = lines.iter().skip(header + 1);
                header + 1 + rest.take_while(|line| !is_header(line)).count()
            }
            None if section.is_empty() => lines.iter().position(is_header).unwrap_or(lines.len()),
            None => {
                lines.push(format!("[{section}]"));
                lines.len()
            }
        };
        // Before the blank lines at the end of the section.
        let blank = lines.iter().take(at).rev().take_while(|line| line.trim().is_empty()).count();
        lines.insert(at - blank, line.to_owned());
        added += 1;
    }
    if added > 0 {
        *old = lines.join("\n") + "\n";
    }
    added
}

/// The lines that say something, each with its section.
fn in_sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut section = "";
    text.lines().filter_map(move |line| {
        if let Some(name) = section_name(line) {
            section = name;
            return None;
        }
        let line = line.trim_end();
        (!line.is_empty() && !line.trim_start().starts_with('#')).then_some((section, line))
    })
}

/// `relations` of `[relations]`.
pub(super) fn section_name(line: &str) -> Option<&str> {
    line.trim().strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_files_of_one_name_are_put_together() {
        let of = |text: &str| Kept::from([("brat:annotation.conf".to_owned(), text.to_owned())]);
        let mut all = of("[entities]\nA\n\n[relations]\nIn Arg1:A, Arg2:A\n");
        assert!(add(&mut all, of("[entities]\nA\n")).is_empty());
        let notes = add(&mut all, of("# c\n[entities]\nA\n\tB\n[events]\nE\n"));
        assert_eq!(notes, ["2 lines of another annotation.conf were added to the one that is there"]);
        assert_eq!(all["brat:annotation.conf"], "[entities]\nA\n\tB\n\n[relations]\nIn Arg1:A, Arg2:A\n[events]\nE\n");
    }
}
