//! The folder of a project's models: whose the models in it are, what never happens to anything else, and what models
//! from strangers can't do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod folder;
mod identity;
mod mutations;
mod sealed;
mod strangers;

use nestling::annotation::{SentenceId, Span, Status};
use nestling::session::{Command, Config, Driver, Home, ImportHow, NewProject, ReadRequest, SessionError, read_files};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

/// A folder with a project in it, and the program's own folder.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn home(&self) -> Home {
        Home::at(self.at("home"))
    }

    /// A project with these labels and sentences "Anna met Zoë .", of which all but the last four are complete.
    fn make(&self, name: &str, labels: &[&str]) -> Driver {
        let new = NewProject { encoder: Some("small".to_owned()), ..NewProject::with_labels(labels).unwrap() };
        let mut project = Driver::create(&self.home(), &self.at(name), &new).unwrap();
        let file = self.at("in.txt");
        std::fs::write(&file, "Anna met Zoë .\n".repeat(12)).unwrap();
        let options = vec![("unit".to_owned(), "lines".to_owned())];
        project
            .import(read_files(&[file], &ReadRequest { format: None, options }).unwrap(), ImportHow::default())
            .unwrap();
        let label = project.corpus().labels().by_name(labels[0]).unwrap().id;
        for sentence in (0..8).map(SentenceId) {
            for start in [0, 2] {
                let fragments = Span::from_range(start..start + 1).unwrap().into();
                project.run(Command::Annotate { sentence, fragments, label }).unwrap();
            }
            project.run(Command::SetStatus { sentence, status: Status::Complete }).unwrap();
        }
        project
    }

    fn open(&self, name: &str) -> Driver {
        Driver::open(&self.home(), &self.at(name)).unwrap()
    }

    fn sql(&self, name: &str, sql: &str) {
        Connection::open(self.at(name)).unwrap().execute_batch(sql).unwrap();
    }

    /// A folder with files of the names that models have, and one of another name.
    fn victim(&self, name: &str) -> PathBuf {
        let folder = self.at(name);
        std::fs::create_dir_all(folder.join("encoder")).unwrap();
        for file in ["weights.safetensors", "manifest.json", "config.json", "letters.txt", "encoder/config.json"] {
            std::fs::write(folder.join(file), "precious").unwrap();
        }
        folder
    }
}

/// Quick, and not good.
fn config() -> Config {
    Config { encoder: "small".to_owned(), epochs: Some(1), ..Config::default() }
}

fn train(project: &mut Driver) -> Result<u32, SessionError> {
    project.train_now(config(), &NEVER, &mut |_| {}).map(|report| report.model.0)
}

/// Names and contents of all files below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut folders, mut files) = (vec![folder.to_owned()], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(files.insert(path.clone(), std::fs::read(path).unwrap())),
            }
        }
    }
    files
}
