//! Names of files for documents that are written into a folder: any system takes them, and no two collide.
//!
//! A name is made of the document's name, with `/` between folders, changed only where it must be: characters and names
//! that Windows forbids, parts longer than file systems take (255 bytes), upper and lower case that some don't tell
//! apart, and a file where another document needs a folder.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes of one part of a path, which leaves room for a number and an ending.
const LONGEST_PART: usize = 200;

/// Bytes of a whole path in the folder; of a longer one its last parts are kept.
const LONGEST_PATH: usize = 800;

/// The paths that are taken, in lower case.
pub(super) struct FileNames<'e> {
    /// Each document is written to a file with each of these endings.
    endings: &'e [&'e str],
    files: BTreeSet<String>,
    folders: BTreeSet<String>,
    /// The number that the next document of a name tries first: thousands may have one name.
    numbers: BTreeMap<String, usize>,
}

impl<'e> FileNames<'e> {
    /// For documents that are written to files with all of `endings`, beside files called `others`.
    pub(super) fn new(endings: &'e [&'e str], others: &[&str]) -> Self {
        let files = others.iter().map(|name| name.to_lowercase()).collect();
        Self { endings, files, folders: BTreeSet::new(), numbers: BTreeMap::new() }
    }

    /// The path for the next document, without ending.
    pub(super) fn next(&mut self, document: &str) -> String {
        let parts = safe_parts(document);
        let (folders, name) = match parts.split_last() {
            Some((name, folders)) => (folders, name.as_str()),
            None => (parts.as_slice(), "_"),
        };
        let mut before = String::new();
        for folder in folders {
            let wished = format!("{before}{folder}");
            let mut all = std::iter::once(wished.clone()).chain(numbered(&wished, 2));
            before = all.find(|path| !self.files.contains(&path.to_lowercase())).unwrap_or_default();
            self.folders.insert(before.to_lowercase());
            before.push('/');
        }
        let wished = format!("{before}{name}");
        if self.take(&wished) {
            return wished;
        }
        let first = self.numbers.get(&wished.to_lowercase()).copied().unwrap_or(2);
        let (number, path) = (first..)
            .zip(numbered(&wished, first))
            .find(|(_, path)| self.take(path))
            .unwrap_or((first, wished.clone()));
        self.numbers.insert(wished.to_lowercase(), number + 1);
        path
    }

    /// Takes the files of a document, if all of them are free.
    fn take(&mut self, path: &str) -> bool {
        let files: Vec<String> = self.endings.iter().map(|ending| format!("{path}.{ending}").to_lowercase()).collect();
        let is_free = files.iter().all(|file| !self.files.contains(file) && !self.folders.contains(file));
        if is_free {
            self.files.extend(files);
        }
        is_free
    }
}

/// `PATH-2`, `PATH-3` and so on.
fn numbered(path: &str, first: usize) -> impl Iterator<Item = String> {
    (first..).map(move |number| format!("{path}-{number}"))
}

/// The parts of a path, at least one.
fn safe_parts(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = name.split('/').map(safe_part).collect();
    let mut length = 0;
    let fitting = parts.iter().rev().take_while(|part| {
        length += part.len() + 1;
        length <= LONGEST_PATH
    });
    let first = parts.len() - fitting.count();
    parts.split_off(first)
}

fn safe_part(part: &str) -> String {
    let forbidden = |c: char| c.is_control() || matches!(c, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let safe: String = part.chars().map(|c| if forbidden(c) { '_' } else { c }).collect();
    let safe = safe.trim_matches([' ', '.']);
    let short = safe.get(..safe.floor_char_boundary(LONGEST_PART)).unwrap_or_default().trim_end_matches([' ', '.']);
    // Windows takes what stands before the first dot for the device, whatever follows.
    let device = short.split('.').next().unwrap_or_default();
    match short {
        "" => "_".to_owned(),
        _ if is_reserved(device) => format!("_{short}"),
        _ => short.to_owned(),
    }
}

/// True for the names of devices of Windows.
fn is_reserved(name: &str) -> bool {
    let name = name.trim_end().to_uppercase();
    let numbered = ["COM", "LPT"].iter().find_map(|device| name.strip_prefix(device));
    let is_number =
        |rest: &str| matches!(rest, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³");
    matches!(name.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") || numbered.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(documents: &[&str]) -> Vec<String> {
        let mut names = FileNames::new(&["txt", "ann"], &["annotation.conf"]);
        documents.iter().map(|document| names.next(document)).collect()
    }

    #[test]
    fn usual_names_stay_and_others_are_made_safe() {
        assert_eq!(names(&["novel", "part 1/chapter.2", "日本"]), ["novel", "part 1/chapter.2", "日本"]);
        assert_eq!(names(&["", "..", "../x", "a//b", "a:b\n", " . x. "]), ["_", "_-2", "_/x", "a/_/b", "a_b_", "x"]);
        assert_eq!(
            names(&["CON", "nul.txt", "com1", "COM¹", "Lpt9 .x", "console"]).join(" "),
            "_CON _nul.txt _com1 _COM¹ _Lpt9 .x console"
        );
    }

    #[test]
    fn names_that_some_systems_take_for_one_are_numbered() {
        assert_eq!(names(&["A", "a", "a-2", "a"]), ["A", "a-2", "a-2-2", "a-3"]);
    }

    #[test]
    fn no_file_stands_where_a_folder_must_be() {
        assert_eq!(names(&["a", "a.txt/b", "a.ann/b"]), ["a", "a.txt-2/b", "a.ann-2/b"]);
        assert_eq!(names(&["a.txt/b", "a", "Annotation.conf/x"]), ["a.txt/b", "a-2", "Annotation.conf-2/x"]);
    }

    #[test]
    fn long_names_are_cut_where_characters_end() {
        let long = names(&["漢".repeat(100).as_str(), "漢".repeat(100).as_str(), "a/".repeat(5000).as_str()]);
        assert_eq!((long[0].chars().count(), long[0].len()), (66, 198));
        assert_eq!(long[1], format!("{}-2", long[0]));
        assert!(long[2].len() <= LONGEST_PATH && long[2].ends_with("a/_"), "{}", long[2].len());
    }
}
