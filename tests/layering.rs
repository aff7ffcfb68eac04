//! The folders of `src/` are layers. Imports go down only, folders of one layer don't import each other, and some
//! libraries are used in few of them. The table stands in the documentation of `src/lib.rs` too.
//!
//! Within a folder, files don't import each other in a circle, so that each can be read with nothing but what stands below
//! it. A file imports another when it names something that is defined there, in a `use` or in a longer path:
//! - What comes through re-exports is followed to the file that defines it, so that `use crate::session::Project` imports
//!   the file of `Project` and not `session/mod.rs`.
//! - A `pub use` passes on and imports nothing, unless the code of the file itself has a use for the name. So a `mod.rs`
//!   that declares and passes on is in no circle, and one with code of its own may be.
//! - What is compiled for tests alone is exempt.
//!
//! Methods are not seen: a call of one names no file.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Folder, its layer.
const LAYERS: &[(&str, u8)] = &[
    ("text", 0),
    ("wording", 0),
    ("disk", 0),
    ("parameter", 0),
    ("figure", 0),
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
    ("adapt", 4),
    ("pretrain", 5),
    ("session", 6),
    ("experiments", 7),
    ("cli", 8),
    ("gui", 8),
];

/// Library, the folders that may use it.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("candle_core", &["nn", "encoder", "model", "train", "distill", "adapt"]),
    ("rusqlite", &["store"]),
    ("clap", &["cli"]),
    ("comfy_table", &["cli"]),
    ("indicatif", &["cli"]),
    ("eframe", &["gui"]),
    ("egui", &["gui"]),
    ("egui_extras", &["gui"]),
    ("egui_plot", &["gui"]),
    ("rfd", &["gui"]),
    ("tokenizers", &["encoder"]),
    ("tracing_subscriber", &["session"]),
    ("ureq", &["encoder"]),
    ("unicode_segmentation", &["text"]),
    ("whatlang", &["text"]),
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
fn files_do_not_import_each_other_in_a_circle() {
    let modules = Modules::read(&src());
    let circles = LAYERS.iter().flat_map(|(folder, _)| modules.circles(folder));
    // A circle is told for each file in it.
    let faults: Vec<String> = circles.map(|circle| circle.join(" -> ")).collect();
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

/// What it names waits.
const NOT_FOR_THE_WINDOW: &str = "Driver";

#[test]
fn the_window_names_nothing_that_waits() {
    let mut faults = Vec::new();
    for file in sources(&src()).into_iter().filter(|file| folder_of(file).as_deref() == Some("gui")) {
        for (number, line) in code_lines(&file) {
            if line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == NOT_FOR_THE_WINDOW) {
                faults.push(format!("{}:{number}: a `Driver` waits; take a `Project`, or a `Task`", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let session = std::fs::read_to_string(src().join("session/mod.rs")).unwrap();
    assert!(session.contains("pub use project::driver::{Driver"), "`Driver` is called otherwise now");
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

#[test]
fn circles_are_found_through_re_exports_and_not_where_there_are_none() {
    let circles = |files: &[(&str, &str)]| -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, source) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, source).unwrap();
        }
        Modules::read(dir.path()).circles("f").into_iter().map(|circle| circle.join(" -> ")).collect()
    };
    let passes_on = ("f/mod.rs", "mod a;\nmod b;\npub use a::{A, f as g};\npub(crate) use b::B;\n");
    let a = ("f/a.rs", "//! See super::b::B.\nuse crate::f::B;\npub struct A(B);\npub fn f() {}\n");
    let clean = ("f/b.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use super::super::A;\n}\n");
    assert_eq!(circles(&[passes_on, a, clean]), Vec::<String>::new());
    // By an import, by a path, under another name, and from a group.
    let both = ["f/a.rs -> f/b.rs -> f/a.rs", "f/b.rs -> f/a.rs -> f/b.rs"];
    for source in [
        "use super::A;\npub struct B;",
        "pub struct B;\npub(in crate::f) fn b() -> crate::f::a::A { A }",
        "use super::g;\npub struct B;",
        "use crate::{\n    f::{B as C, a::A},\n};\npub struct B;",
        "use super::a;\npub struct B;",
    ] {
        assert_eq!(circles(&[passes_on, a, ("f/b.rs", source)]), both, "{source}");
    }
    // A file that needs what it passes on, and whose child needs what it defines.
    let above = ("f/mod.rs", "mod c;\npub use c::C;\npub struct P(C);\n");
    let child = ("f/c.rs", "use super::P;\npub struct C;\n");
    assert_eq!(circles(&[above, child]), ["f/c.rs -> f/mod.rs -> f/c.rs", "f/mod.rs -> f/c.rs -> f/mod.rs"]);
    let by_path = ("f/mod.rs", "mod c;\npub struct P;\nfn p() { c::p() }\n");
    assert_eq!(circles(&[by_path, child]).len(), 2);
    let only_passes_on = ("f/mod.rs", "mod c;\npub use c::C;\npub struct P;\n");
    assert_eq!(circles(&[only_passes_on, child]), Vec::<String>::new());
    let for_tests = ("f/mod.rs", "pub struct P;\n#[cfg(test)]\nmod c;\n#[cfg(test)]\nuse c::C;\n");
    assert_eq!(circles(&[for_tests, child]), Vec::<String>::new());
}

/// The files of a crate by the paths of their modules.
struct Modules(BTreeMap<Vec<String>, Module>);

struct Module {
    /// Below `src`.
    file: String,
    uses: Vec<Use>,
    /// Paths of two names and more outside imports.
    paths: Vec<Vec<String>>,
    /// All names outside imports.
    names: BTreeSet<String>,
    /// Compiled for tests alone.
    for_tests: BTreeSet<String>,
}

/// One name that a file brings in.
struct Use {
    path: Vec<String>,
    /// What it is called from then on; `*` for all.
    name: String,
    is_public: bool,
}

impl Modules {
    fn read(src: &Path) -> Self {
        let mut modules = BTreeMap::new();
        for path in sources(src) {
            let below = path.strip_prefix(src).unwrap().with_extension("");
            let mut module: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                module.pop();
            }
            let file = below.with_extension("rs").to_string_lossy().replace('\\', "/");
            modules.insert(module, Module::read(file, &path));
        }
        let is_for_tests = |path: &[String]| {
            (1..=path.len())
                .any(|end| modules.get(&path[..end - 1]).is_some_and(|m| m.for_tests.contains(&path[end - 1])))
        };
        let exempt: Vec<Vec<String>> = modules.keys().filter(|path| is_for_tests(path)).cloned().collect();
        exempt.iter().for_each(|path| drop(modules.remove(path)));
        Self(modules)
    }

    /// For each file of a folder that is in a circle, the shortest one, from the file to itself.
    fn circles(&self, folder: &str) -> Vec<Vec<String>> {
        let inside: Vec<&Vec<String>> =
            self.0.keys().filter(|path| path.first().is_some_and(|f| f == folder)).collect();
        let imports: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
            inside.iter().map(|path| (*path, self.imports(path))).collect();
        let mut circles = Vec::new();
        for start in inside {
            // Breadth first; each with the file that it was found from.
            let mut found: BTreeMap<&Vec<String>, &Vec<String>> = BTreeMap::new();
            let mut next = VecDeque::from([start]);
            while let Some(path) = next.pop_front() {
                for target in imports.get(path).into_iter().flatten() {
                    if !found.contains_key(target) {
                        found.insert(target, path);
                        next.push_back(target);
                    }
                }
            }
            if !found.contains_key(start) {
                continue;
            }
            let mut circle = vec![start];
            let mut at = found[start];
            while at != start {
                circle.push(at);
                at = found[at];
            }
            circle.push(start);
            circles.push(circle.into_iter().rev().map(|path| self.0[path].file.clone()).collect());
        }
        circles.sort();
        circles
    }

    /// The modules that one imports.
    fn imports(&self, path: &[String]) -> BTreeSet<Vec<String>> {
        let module = &self.0[path];
        let uses = module.uses.iter().filter(|u| !u.is_public || module.names.contains(&u.name)).map(|u| &u.path);
        let named = uses.chain(&module.paths).filter_map(|name| self.resolve(path, name, 0));
        named.filter(|target| target != path).collect()
    }

    /// The module that defines what a path names, seen from the module `at`; `None` outside the crate.
    fn resolve(&self, at: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Vec::new(),
            "self" => at.to_vec(),
            "super" => at[..at.len().checked_sub(1)?].to_vec(),
            _ => return self.find(at, first, rest, depth),
        };
        self.walk(start, rest, depth)
    }

    /// From a module along a path.
    fn walk(&self, at: Vec<String>, path: &[String], depth: usize) -> Option<Vec<String>> {
        let Some((name, rest)) = path.split_first() else { return Some(at) };
        if name == "super" {
            return self.walk(at[..at.len().checked_sub(1)?].to_vec(), rest, depth);
        }
        // What is neither a module nor passed on is defined here.
        self.find(&at, name, rest, depth).or_else(|| self.0.contains_key(&at).then_some(at))
    }

    /// The module of a name that is a child of a module or brought in by it, and of the path after it.
    fn find(&self, at: &[String], name: &str, rest: &[String], depth: usize) -> Option<Vec<String>> {
        let child = [at, &[name.to_owned()]].concat();
        if self.0.contains_key(&child) {
            return self.walk(child, rest, depth);
        }
        let used = self.0.get(at)?.uses.iter().find(|u| u.name == name && u.path.last().is_some_and(|l| l != "*"))?;
        // An import that leads back to its own name is one of another crate.
        if depth > 16 {
            return None;
        }
        self.resolve(at, &[used.path.as_slice(), rest].concat(), depth + 1)
    }
}

impl Module {
    fn read(file: String, path: &Path) -> Self {
        let (lines, for_tests) = without_tests(code_lines(path).into_iter().map(|(_, line)| line).collect());
        let (mut uses, mut rest, mut lines) = (Vec::new(), String::new(), lines.into_iter());
        while let Some(line) = lines.next() {
            let Some((is_public, start)) = begins_use(&line) else {
                rest.push_str(&line);
                rest.push('\n');
                continue;
            };
            let mut tree = start.to_owned();
            while !tree.contains(';') {
                let Some(line) = lines.next() else { break };
                tree.push_str(line.trim());
            }
            let tree = tree.split(';').next().unwrap();
            uses.extend(leaves(tree).into_iter().map(|(path, name)| Use { path, name, is_public }));
        }
        let (paths, names) = paths_of(&without_visibilities(&rest));
        Self { file, uses, paths, names, for_tests }
    }
}

/// The lines that are not behind `#[cfg(test)]`, and the modules that are.
fn without_tests(lines: Vec<String>) -> (Vec<String>, BTreeSet<String>) {
    let (mut kept, mut modules, mut lines) = (Vec::new(), BTreeSet::new(), lines.into_iter());
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        for line in lines.by_ref() {
            let item = line.trim();
            if let Some(name) = item.strip_suffix(';').and_then(|item| item.split("mod ").nth(1)) {
                modules.insert(name.to_owned());
            }
            // As it is formatted, an item ends at its own depth.
            let is_end = item.ends_with(';') || item.starts_with('}') || item.ends_with('}');
            if line.len() - line.trim_start().len() == depth && is_end {
                break;
            }
        }
    }
    (kept, modules)
}

/// Whether a line begins an import that is passed on, and what comes after the `use`.
fn begins_use(line: &str) -> Option<(bool, &str)> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("use ") {
        return Some((false, rest));
    }
    let rest = line.strip_prefix("pub")?;
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
    Some((true, rest.strip_prefix(" use ")?))
}

/// The paths of an import tree, each with the name that it gets.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((before, group)) = tree.split_once('{') {
        let group = group.strip_suffix('}').unwrap_or(group);
        let before: Vec<String> =
            before.split("::").map(str::trim).filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let of_part = |part| {
            leaves(part).into_iter().map(|(path, name)| match path.as_slice() {
                // `a::{self}` is `a`.
                [this] if this == "self" && !before.is_empty() => {
                    let name = if name == "self" { before.last().cloned().unwrap_or_default() } else { name };
                    (before.clone(), name)
                }
                path => ([&before, path].concat(), name),
            })
        };
        return parts(group).into_iter().flat_map(of_part).collect();
    }
    let (path, name) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name.trim())));
    let path: Vec<String> = path.split("::").map(|n| n.trim().to_owned()).collect();
    let name = name.map_or_else(|| path.last().cloned().unwrap_or_default(), str::to_owned);
    vec![(path, name)]
}

/// What the commas of a group divide, but not those of groups within.
fn parts(group: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Code without `pub(in …)`, which names a module that nothing comes from.
fn without_visibilities(code: &str) -> String {
    let mut pieces = code.split("pub(in ");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |code, piece| code + piece.split_once(')').map_or(piece, |(_, rest)| rest))
}

/// All paths of two names and more, and all names.
fn paths_of(code: &str) -> (Vec<Vec<String>>, BTreeSet<String>) {
    let (mut paths, mut names, mut rest) = (Vec::new(), BTreeSet::new(), code);
    while let Some(at) = rest.find(|c: char| c.is_alphabetic() || c == '_') {
        rest = &rest[at..];
        let mut path = Vec::new();
        loop {
            let name = identifier(rest);
            rest = &rest[name.len()..];
            names.insert(name.clone());
            path.push(name);
            match rest.strip_prefix("::") {
                Some(after) if after.starts_with(|c: char| c.is_alphabetic() || c == '_') => rest = after,
                _ => break,
            }
        }
        if path.len() > 1 {
            paths.push(path);
        }
        // Digits and what else may be left of a word.
        rest = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    }
    (paths, names)
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
