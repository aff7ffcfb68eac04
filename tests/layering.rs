//! The folders of `src/` are layers. Imports go down only, folders of one layer don't import each other, and some
//! libraries are used in few of them. The table stands in the documentation of `src/lib.rs` too.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::path::{Path, PathBuf};

/// Folder, its layer.
const LAYERS: &[(&str, u8)] = &[
    ("text", 0),
    ("wording", 0),
    ("disk", 0),
    ("nn", 1),
    ("annotation", 1),
    ("encoder", 2),
    ("evaluation", 2),
    ("active", 2),
    ("format", 2),
    ("store", 2),
    ("model", 3),
    ("train", 4),
    ("distill", 4),
    ("session", 5),
    ("cli", 6),
    ("gui", 6),
];

/// Library, the folders that may use it.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("candle_core", &["nn", "encoder", "model", "train", "distill"]),
    ("rusqlite", &["store"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("eframe", &["gui"]),
    ("egui", &["gui"]),
    ("egui_plot", &["gui"]),
    ("rfd", &["gui"]),
    ("tokenizers", &["encoder"]),
    ("tracing_subscriber", &["session"]),
    ("ureq", &["encoder"]),
    ("unicode_segmentation", &["text"]),
    ("unicode_bidi", &["gui"]),
];

#[test]
fn imports_go_down_only() {
    let mut faults = Vec::new();
    for file in sources(&src()) {
        let Some(folder) = folder_of(&file) else { continue };
        let Some(&(_, layer)) = LAYERS.iter().find(|(name, _)| *name == folder) else {
            faults.push(format!("src/{folder} has no layer: add it to the tables in tests/layering.rs and src/lib.rs"));
            continue;
        };
        for (line, target) in crate_paths(&file) {
            let target_layer = LAYERS.iter().find(|(name, _)| *name == target).map(|(_, layer)| *layer);
            if target != folder && target_layer.is_none_or(|t| t >= layer) {
                faults.push(format!("{}:{line}: {folder} (layer {layer}) imports {target}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn libraries_stay_in_their_folders() {
    let mut faults = Vec::new();
    for file in sources(&src()) {
        let Some(folder) = folder_of(&file) else { continue };
        for (number, line) in code_lines(&file) {
            for (library, folders) in LIBRARIES {
                if names_crate(&line, library) && !folders.contains(&folder.as_str()) {
                    faults.push(format!("{}:{number}: {library} belongs in {folders:?} only", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_of_lib_rs_names_every_layer() {
    let lib = std::fs::read_to_string(src().join("lib.rs")).unwrap();
    for (name, layer) in LAYERS {
        assert!(
            lib.lines().any(|l| l.starts_with(&format!("//! | {layer} | "))
                && (l.contains(&format!("`{name}`")) || l.contains(&format!("`mod@{name}`")))),
            "{name}"
        );
    }
}

#[test]
fn the_reader_of_imports_sees_all_their_forms() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.rs");
    let source =
        "use crate::gui;\nuse crate::{store::Store, train};\n// use crate::cli;\nfn f() -> crate::session::X {}\n";
    std::fs::write(&file, source).unwrap();
    let found: Vec<_> = crate_paths(&file).into_iter().map(|(line, name)| format!("{line}:{name}")).collect();
    assert_eq!(found, ["1:gui", "2:store", "2:train", "4:session"]);
    assert!(names_crate("use candle_core::Tensor;", "candle_core") && !names_crate("use crate::egui::X;", "egui"));
}

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The folder below `src`; none for `lib.rs` and `main.rs`.
fn folder_of(file: &Path) -> Option<String> {
    let below = file.strip_prefix(src()).ok()?;
    (below.components().count() > 1).then(|| below.iter().next().unwrap().to_string_lossy().into_owned())
}

/// Lines with their numbers, comments taken out.
fn code_lines(file: &Path) -> Vec<(usize, String)> {
    let source = std::fs::read_to_string(file).unwrap();
    source.lines().enumerate().map(|(i, l)| (i + 1, l.split("//").next().unwrap_or("").to_owned())).collect()
}

/// First parts of all `crate::…` paths, those of `crate::{a, b::C}` too.
fn crate_paths(file: &Path) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let lines = code_lines(file);
    let code: String = lines.iter().map(|(_, l)| format!("{l}\n")).collect();
    for (at, _) in code.match_indices("crate::") {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_heads(group).into_iter().map(|name| (line, name))),
            None => found.push((line, identifier(rest))),
        }
    }
    found
}

/// First parts of the paths in a `{…}` group that was just opened.
fn group_heads(group: &str) -> Vec<String> {
    let (mut heads, mut depth, mut start) = (Vec::new(), 1, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 1) || depth == 0 {
            heads.push(identifier(group[start..at].trim()));
            start = at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    heads.into_iter().filter(|h| !h.is_empty()).collect()
}

fn identifier(code: &str) -> String {
    code.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// True when a line names something of this crate: `name::…` that is not a part of a longer path.
fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(&format!("{name}::")).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
    })
}
