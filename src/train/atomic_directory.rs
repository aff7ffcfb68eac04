//! Folders that are written whole or not at all: snapshots and checkpoints.
//!
//! Made beside its place under a hidden name, the manifest with the hashes of all others last, forced to the disk, then
//! renamed: after a crash there is the whole folder or none.
//!
//! A folder that is read may have come from anybody: no link is followed, no file is read that is larger than it can be,
//! and each is compared with its hash in the manifest as it is read.

use super::error::{TrainError, stop_if_cancelled};
use super::layout::{CONFIG, ENCODER, HALF_WRITTEN, MANIFEST};
use super::parameters::Settings;
use crate::disk::{self, Hidden};
use crate::encoder::Definition;
use crate::model::architecture;
use crate::nn::{stored_tensors, write_tensors};
use candle_core::Tensor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// SHA-256 in hexadecimal digits of each file, by its name with `/` between folders.
pub(super) type Hashes = BTreeMap<String, String>;

/// A folder in the making. Dropped before it is finished, it is deleted.
pub(super) struct AtomicDirectory<'a> {
    beside: disk::NewFolder,
    names: Vec<String>,
    cancel: &'a AtomicBool,
}

impl<'a> AtomicDirectory<'a> {
    /// Begins a folder that will be `place`; the folder around it is made if need be. All that takes long stops when
    /// `cancel` is set.
    pub(super) fn for_place(place: &Path, cancel: &'a AtomicBool) -> Result<Self, TrainError> {
        let parent = disk::folder_of(place);
        std::fs::create_dir_all(parent).map_err(TrainError::io("can't make the folder", parent))?;
        let made = disk::NewFolder::beside(place, Hidden::private(HALF_WRITTEN));
        let beside = made.map_err(TrainError::io("can't make a folder", parent))?;
        Ok(Self { beside, names: Vec::new(), cancel })
    }

    pub(super) fn tensors(&mut self, name: &str, tensors: &BTreeMap<String, Tensor>) -> Result<(), TrainError> {
        stop_if_cancelled(self.cancel)?;
        write_tensors(&self.beside.path().join(name), tensors)?;
        self.names.push(name.to_owned());
        Ok(())
    }

    pub(super) fn json(&mut self, name: &str, value: &impl Serialize) -> Result<(), TrainError> {
        let path = self.beside.path().join(name);
        write_file(&path, &json(value, &path)?)?;
        self.names.push(name.to_owned());
        Ok(())
    }

    /// The encoder's configuration and tokenizer, in a folder of their own.
    pub(super) fn definition(&mut self, definition: &Definition) -> Result<(), TrainError> {
        let folder = self.beside.path().join(ENCODER);
        std::fs::create_dir(&folder).map_err(TrainError::io("can't make a folder", &folder))?;
        for (name, bytes) in definition.files() {
            write_file(&folder.join(name), bytes)?;
            self.names.push(format!("{ENCODER}/{name}"));
        }
        Ok(())
    }

    /// Writes what `manifest` makes of the hashes, and gives the folder its name.
    /// Returns the manifest's SHA-256.
    pub(super) fn seal<M: Serialize>(self, manifest: impl FnOnce(Hashes) -> M) -> Result<String, TrainError> {
        let at = self.beside.path();
        let hash = |name: String| -> Result<_, TrainError> {
            stop_if_cancelled(self.cancel)?;
            Ok((name.clone(), hash_file(&at.join(name))?))
        };
        let hashes = self.names.into_iter().map(hash).collect::<Result<_, _>>()?;
        let manifest_path = at.join(MANIFEST);
        let manifest = json(&manifest(hashes), &manifest_path)?;
        write_file(&manifest_path, &manifest)?;
        let place = self.beside.place().to_owned();
        if disk::is_there(&place) {
            return Err(TrainError::Exists(place));
        }
        self.beside.put().map_err(TrainError::io("can't name the folder", &place))?;
        Ok(sha256(&manifest))
    }
}

/// The most bytes that a file of settings, labels or a manifest has.
const MOST_JSON: u64 = 16 << 20;
/// The most bytes that a file of the encoder's tokenizer has.
const MOST_TOKENIZER: u64 = 256 << 20;
/// The most bytes that a file of tensors, or of a model's own labels, has.
const MOST_BYTES: u64 = 8 << 30;

/// An atomic directory that is being read. Its manifest says which files there are and what their hashes are; nothing that
/// it does not name is read, and nothing of another name than the program gives.
pub(super) struct VerifiedDirectory<'a> {
    pub folder: &'a Path,
    pub hashes: &'a Hashes,
}

impl VerifiedDirectory<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.hashes.contains_key(name)
    }

    /// The content of a file that is as it was written.
    fn bytes(&self, name: &str, most: u64) -> Result<Vec<u8>, TrainError> {
        let path = self.folder.join(name);
        let Some(expected) = self.hashes.get(name) else {
            return Err(damaged("the manifest gives no hash of a file", &path));
        };
        let bytes = disk::read(&path, most).map_err(|e| damaged(e, &path))?;
        if sha256(&bytes) != *expected {
            return Err(damaged("the file has changed since it was written", &path));
        }
        Ok(bytes)
    }

    pub(super) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, TrainError> {
        parse(&self.bytes(name, MOST_JSON)?, &self.folder.join(name))
    }

    /// A file that grows with the data that is learnt from.
    pub(super) fn large_json<T: DeserializeOwned>(&self, name: &str) -> Result<T, TrainError> {
        parse(&self.bytes(name, MOST_BYTES)?, &self.folder.join(name))
    }

    pub(super) fn tensors(&self, name: &str) -> Result<BTreeMap<String, Tensor>, TrainError> {
        stored_tensors(&self.bytes(name, MOST_BYTES)?).map_err(|e| damaged(e, &self.folder.join(name)))
    }

    /// The settings, for an architecture of the version that the weights are of.
    pub(super) fn settings(&self, architecture_version: u32) -> Result<Settings, TrainError> {
        let path = self.folder.join(CONFIG);
        let settings: Map<String, Json> = self.json(CONFIG)?;
        let id = settings.get("architecture").and_then(Json::as_str);
        let id = id.ok_or_else(|| damaged("the setting architecture is missing", &path))?;
        let architecture = architecture(id)?;
        if architecture_version != architecture.version() {
            let (what, got, expected) = (id.to_owned(), architecture_version, architecture.version());
            return Err(TrainError::OtherVersion { what, got, expected });
        }
        Settings::from_json(&settings, architecture).map_err(|error| damaged(error, &path))
    }

    pub(super) fn definition(&self) -> Result<Definition, TrainError> {
        let folder = self.folder.join(ENCODER);
        if !disk::is_folder(&folder) {
            return Err(damaged("it has no folder with the encoder's settings", &folder));
        }
        let mut failure = None;
        let opened = Definition::from_bytes(&folder, &mut |name| {
            let name = format!("{ENCODER}/{name}");
            let read = self.has(&name).then(|| self.bytes(&name, MOST_TOKENIZER));
            read.and_then(|read| read.map_err(|error| failure = Some(error)).ok())
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(opened?),
        }
    }
}

/// The manifest of an atomic directory, and its SHA-256.
pub(super) fn read_manifest<M: DeserializeOwned>(folder: &Path) -> Result<(M, String), TrainError> {
    let path = folder.join(MANIFEST);
    let bytes = disk::read(&path, MOST_JSON).map_err(|e| damaged(e, &path))?;
    Ok((parse(&bytes, &path)?, sha256(&bytes)))
}

/// SHA-256 of the manifest of an atomic directory, in hexadecimal digits.
pub(super) fn manifest_hash(folder: &Path) -> Result<String, TrainError> {
    let path = folder.join(MANIFEST);
    Ok(sha256(&disk::read(&path, MOST_JSON).map_err(|e| damaged(e, &path))?))
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn parse<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T, TrainError> {
    serde_json::from_slice(bytes).map_err(|e| damaged(e, path))
}

pub(super) fn damaged(reason: impl ToString, path: &Path) -> TrainError {
    TrainError::Damaged { reason: reason.to_string(), path: path.to_owned() }
}

/// Writes a file that appears whole or not at all.
pub(super) fn write_whole(path: &Path, value: &impl Serialize) -> Result<(), TrainError> {
    let bytes = json(value, path)?;
    let written = || {
        let new = disk::NewFile::beside(path, Hidden::UNFINISHED)?;
        new.file().write_all(&bytes)?;
        new.put()
    };
    written().map_err(TrainError::io("can't write the file", path))
}

fn json(value: &impl Serialize, path: &Path) -> Result<Vec<u8>, TrainError> {
    let bytes = serde_json::to_vec_pretty(value);
    let mut bytes = bytes.map_err(|error| TrainError::io("can't write the file", path)(error.into()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    disk::write_new(path, bytes).map_err(TrainError::io("can't write the file", path))
}

fn hash_file(path: &Path) -> Result<String, TrainError> {
    let mut file = disk::open(path).map_err(|e| damaged(e, path))?;
    let (mut sha, mut buffer) = (Sha256::new(), vec![0u8; 1 << 16]);
    loop {
        let count = file.read(&mut buffer).map_err(TrainError::io("can't read the file", path))?;
        match buffer.get(..count) {
            Some(bytes) if !bytes.is_empty() => sha.update(bytes),
            _ => return Ok(hex::encode(sha.finalize())),
        }
    }
}
