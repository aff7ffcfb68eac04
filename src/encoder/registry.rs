//! The encoders that a person has: the built-in ones and those imported into the program's home folder.
//!
//! Invariant: a folder `HOME/encoders/NAME` is whole. It is filled under another name and renamed when it is.

use super::built_in;
use super::folder::{COMPACT, CONFIG, FILES, WEIGHTS, most_bytes, read_heads_note};
use super::info::EncoderInfo;
use super::vectors;
use super::{Definition, Encoder, EncoderError, Fetching, Hub, Repository};
use crate::disk::{self, Hidden, NewFolder, Noted as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The encoders below a home folder, which need not exist yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoders {
    folder: PathBuf,
}

impl Encoders {
    pub fn at(home: &Path) -> Self {
        Self { folder: home.join("encoders") }
    }

    /// The built-in ones first, then by name. Folders that can't be used are listed with their problem.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub fn list(&self) -> Result<Vec<EncoderInfo>, EncoderError> {
        let mut infos = built_in::infos()?;
        let mut names = self.imported()?;
        names.sort();
        infos.extend(names.into_iter().map(|name| self.info(name)));
        Ok(infos)
    }

    fn info(&self, name: String) -> EncoderInfo {
        let folder = self.folder.join(&name);
        let (kind, hidden, layers, problem) = match Definition::open(&folder) {
            Ok(definition) => {
                let config = definition.config();
                (Some(config.kind), config.hidden, config.layers, None)
            }
            Err(error) => (None, 0, 0, Some(error.to_string())),
        };
        let size = |file: &str| std::fs::metadata(folder.join(file)).map(|m| m.len());
        let weights_bytes = size(WEIGHTS).or_else(|_| size(COMPACT)).unwrap_or(0);
        let display_name = name.clone();
        EncoderInfo {
            name,
            display_name,
            built_in: false,
            languages: None,
            card: None,
            pretrained: true,
            kind,
            hidden,
            layers,
            weights_bytes,
            problem,
        }
    }

    fn imported(&self) -> Result<Vec<String>, EncoderError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(EncoderError::io("can't read the folder of the encoders", &self.folder))?,
        };
        let entries = entries.filter_map(|entry| entry.noted_at("an encoder may be missing", &self.folder));
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| check_name(name).is_ok() && self.folder.join(name).is_dir()).collect())
    }

    /// This encoder if it is pretrained; else, as it knows nothing of words, imported word vectors. Reads the disk.
    pub fn knowing_words(&self, name: &str) -> Option<String> {
        if self.is_pretrained(name) { Some(name.to_owned()) } else { self.word_vectors() }
    }

    /// The first imported encoder, by name, that was made of word vectors. What can't be read is none.
    fn word_vectors(&self) -> Option<String> {
        let mut names = self.imported().ok()?;
        names.sort();
        let is_of_vectors = |name: &String| {
            let config = self.folder.join(name).join(CONFIG);
            disk::read(&config, most_bytes(CONFIG)).is_ok_and(|config| vectors::is_of_vectors(&config))
        };
        names.into_iter().find(is_of_vectors)
    }

    /// Checks a folder by reading all of it, and copies what is needed. A file is read as word vectors.
    ///
    /// # Errors
    /// An unfit name or folder, a name in use, a full disk. Nothing is left behind then.
    pub fn import(&self, from: &Path, name: &str) -> Result<EncoderInfo, EncoderError> {
        self.check_new(name)?;
        let of_vectors = if from.is_file() { Some(vectors::open(from)?) } else { None };
        if of_vectors.is_none() {
            Encoder::open(from)?;
        }
        self.make_folder()?;
        let place = self.folder.join(name);
        let made = NewFolder::beside(&place, Hidden::private(".import-"));
        let beside = made.map_err(EncoderError::io("can't make a folder", &self.folder))?;
        match of_vectors {
            Some(encoder) => encoder.write(beside.path())?,
            None => copy_files(from, beside.path())?,
        }
        // What was copied is what is checked: the source may have changed meanwhile.
        Encoder::open(beside.path())?;
        beside.put().map_err(EncoderError::io("can't name the folder", &place))?;
        Ok(self.info(name.to_owned()))
    }

    /// Fetches an encoder from the hub, or takes it from where the hub's own libraries have it, and checks all of it.
    /// `tell` hears how far it is.
    ///
    /// # Errors
    /// An unfit name, a name in use, all that can go wrong on the way, and what can't run here. What was fetched is kept
    /// for the next time where that is of use.
    pub fn install(
        &self,
        hub: &Hub,
        repository: &Repository,
        name: &str,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(Fetching),
    ) -> Result<EncoderInfo, EncoderError> {
        self.check_new(name)?;
        if let Some(folder) = hub.cached(repository) {
            return self.import(&folder, name);
        }
        // Beside the encoders: what is whole only changes its name.
        let fetched = hub.fetch(repository, &self.folder.with_file_name("downloads"), cancel, tell)?;
        self.check_new(name)?; // it took a while
        self.make_folder()?;
        let place = self.folder.join(name);
        disk::put_folder(&fetched.folder, &place).map_err(EncoderError::io("can't name the folder", &place))?;
        Ok(self.info(name.to_owned()))
    }

    fn check_new(&self, name: &str) -> Result<(), EncoderError> {
        check_name(name)?;
        if built_in::names().any(|built_in| name.eq_ignore_ascii_case(built_in)) {
            return Err(EncoderError::BuiltIn(name.to_owned()));
        }
        if self.folder.join(name).exists() { Err(EncoderError::NameTaken(name.to_owned())) } else { Ok(()) }
    }

    fn make_folder(&self) -> Result<(), EncoderError> {
        std::fs::create_dir_all(&self.folder).map_err(EncoderError::io("can't make the folder", &self.folder))
    }

    /// # Errors
    /// When there is none of that name, or it can't be used.
    pub fn get(&self, name: &str) -> Result<Encoder, EncoderError> {
        built_in::get(name).unwrap_or_else(|| Encoder::open(&self.folder_of(name)?))
    }

    /// What stands beside the heads that learned entities with an encoder ([`super::EntityHeads::note`]), of which nothing else
    /// is read; `None` if there are none, or no such encoder.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn entity_heads_note(&self, name: &str) -> Result<Option<String>, EncoderError> {
        if built_in::names().any(|built_in| name == built_in) {
            return built_in::heads_note(name);
        }
        self.folder_of(name).map_or(Ok(None), |folder| read_heads_note(&folder))
    }

    /// Whether an encoder of that name, if there is one, has learned from text before.
    pub fn is_pretrained(&self, name: &str) -> bool {
        name != built_in::SMALL
    }

    /// Deletes an imported encoder. Models made with it keep working: they hold what they need.
    ///
    /// # Errors
    /// When there is none of that name, it is built in, or the disk refuses.
    pub fn remove(&self, name: &str) -> Result<(), EncoderError> {
        if built_in::names().any(|built_in| name == built_in) {
            return Err(EncoderError::BuiltIn(name.to_owned()));
        }
        let folder = self.folder_of(name)?;
        let removed = match disk::is_folder(&folder) {
            // What else is in it is a person's.
            true => disk::remove_folder(&folder, |file| FILES.contains(&file), |_| 0),
            // A link to where the encoder lies, which stays.
            false => std::fs::remove_file(&folder),
        };
        removed.map_err(EncoderError::io("can't delete all of the folder", &folder))
    }

    fn folder_of(&self, name: &str) -> Result<PathBuf, EncoderError> {
        let mut names = self.imported()?;
        if names.iter().any(|n| n == name) {
            return Ok(self.folder.join(name));
        }
        names.sort();
        names.splice(0..0, built_in::names().map(str::to_owned));
        Err(EncoderError::NoSuchEncoder { name: name.to_owned(), there: names.join(", ") })
    }
}

/// Copies what is of use of an encoder's folder.
fn copy_files(from: &Path, to: &Path) -> Result<(), EncoderError> {
    for file in FILES {
        let source = from.join(file);
        if source.is_file() {
            disk::copy_new(&source, &to.join(file)).map_err(EncoderError::io("can't copy the file", &source))?;
        }
    }
    Ok(())
}

/// A name is also that of a folder, on every operating system.
fn check_name(name: &str) -> Result<(), EncoderError> {
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let stem = name.split('.').next().unwrap_or("").to_ascii_lowercase();
    let is_device = matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || ((stem.starts_with("com") || stem.starts_with("lpt")) && stem.len() == 4);
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins_well && name.len() <= 64 && name.chars().all(fit) && !name.ends_with('.') && !is_device {
        Ok(())
    } else {
        Err(EncoderError::BadName(name.to_owned()))
    }
}
