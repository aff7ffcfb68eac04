//! Folders that are written whole or not at all: snapshots and checkpoints.
//!
//! Made beside its place under a hidden name, every file synced, the manifest with the hashes of all others last, then
//! renamed: after a crash there is the whole folder or none.

use super::dataset::hex;
use super::files::ConfigFile;
use super::{Settings, TrainError, stop_if_cancelled};
use crate::encoder::Definition;
use crate::model::architecture;
use crate::nn::write_tensors;
use candle_core::Tensor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const CONFIG: &str = "config.json";
/// How the hidden name of a folder begins while it is written; a kill can leave one behind.
pub const HALF_WRITTEN: &str = ".model-";
/// The folder of an encoder's definition.
pub(super) const ENCODER: &str = "encoder";

/// SHA-256 in hexadecimal digits of each file, by its name with `/` between folders.
pub(super) type Hashes = BTreeMap<String, String>;

/// A folder in the making. Dropped before it is sealed, it is deleted.
pub(super) struct NewFolder<'a> {
    place: PathBuf,
    parent: PathBuf,
    beside: TempDir,
    names: Vec<String>,
    cancel: &'a AtomicBool,
}

impl<'a> NewFolder<'a> {
    /// Begins a folder that will be `place`; the folder around it is made if need be. All that takes long stops when
    /// `cancel` is set.
    pub(super) fn for_place(place: &Path, cancel: &'a AtomicBool) -> Result<Self, TrainError> {
        let parent = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(TrainError::io("can't make the folder", parent))?;
        let made = tempfile::Builder::new().prefix(HALF_WRITTEN).tempdir_in(parent);
        let beside = made.map_err(TrainError::io("can't make a folder", parent))?;
        Ok(Self { place: place.to_owned(), parent: parent.to_owned(), beside, names: Vec::new(), cancel })
    }

    pub(super) fn tensors(&mut self, name: &str, tensors: &BTreeMap<String, Tensor>) -> Result<(), TrainError> {
        stop_if_cancelled(self.cancel)?;
        write_tensors(&self.beside.path().join(name), tensors)?;
        self.names.push(name.to_owned());
        Ok(())
    }

    pub(super) fn json(&mut self, name: &str, value: &impl Serialize) -> Result<(), TrainError> {
        write_file(&self.beside.path().join(name), &json(value))?;
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
        sync_folder(&folder)
    }

    /// Writes what `manifest` makes of the hashes, and gives the folder its name.
    pub(super) fn seal<M: Serialize>(self, manifest: impl FnOnce(Hashes) -> M) -> Result<(), TrainError> {
        let at = self.beside.path();
        let hash = |name: String| -> Result<_, TrainError> {
            stop_if_cancelled(self.cancel)?;
            Ok((name.clone(), hash_file(&at.join(name))?))
        };
        let hashes = self.names.into_iter().map(hash).collect::<Result<_, _>>()?;
        write_file(&at.join(MANIFEST), &json(&manifest(hashes)))?;
        sync_folder(at)?;
        if self.place.exists() {
            return Err(TrainError::SnapshotExists(self.place));
        }
        std::fs::rename(at, &self.place).map_err(TrainError::io("can't name the folder", &self.place))?;
        // Nothing is left under the old name that could be cleaned up.
        let _ = self.beside.keep();
        sync_folder(&self.parent)
    }
}

/// Checks that the files of a sealed folder are as they were written, and that its manifest covers the `needed` ones.
pub(super) fn check(folder: &Path, hashes: &Hashes, needed: &[&str]) -> Result<(), TrainError> {
    for (name, expected) in hashes {
        let path = within(folder, name)?;
        if hash_file(&path)? != *expected {
            return Err(damaged("the file has changed since it was written", &path));
        }
    }
    match needed.iter().find(|name| !hashes.contains_key(**name)) {
        Some(name) => Err(damaged("the manifest gives no hash of a file", &folder.join(name))),
        None => Ok(()),
    }
}

/// The path of a file that a manifest names: inside the folder, whatever the manifest says.
fn within(folder: &Path, name: &str) -> Result<PathBuf, TrainError> {
    let plain = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if plain {
        Ok(folder.join(name))
    } else {
        Err(damaged("the manifest names a file outside", &folder.join(MANIFEST)))
    }
}

pub(super) fn damaged(reason: impl ToString, path: &Path) -> TrainError {
    TrainError::Damaged { reason: reason.to_string(), path: path.to_owned() }
}

/// Writes a file beside its place and renames it.
pub(super) fn write_whole(path: &Path, value: &impl Serialize) -> Result<(), TrainError> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&json(value))?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    written().map_err(TrainError::io("can't write the file", path))?;
    sync_folder(folder)
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Structs of numbers and strings always serialise.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, TrainError> {
    let bytes = std::fs::read(path).map_err(|e| damaged(e, path))?;
    serde_json::from_slice(&bytes).map_err(|e| damaged(e, path))
}

/// The settings of a sealed folder, whose manifest gives the version of the architecture that its weights are of.
pub(super) fn read_settings(folder: &Path, architecture_version: u32) -> Result<Settings, TrainError> {
    let path = folder.join(CONFIG);
    let config: ConfigFile = read_json(&path)?;
    let settings = config.settings().ok_or_else(|| damaged("an unknown setting", &path))?;
    let expected = architecture(&settings.architecture)?.version();
    if architecture_version != expected {
        let (what, got) = (settings.architecture, architecture_version);
        return Err(TrainError::OtherVersion { what, got, expected });
    }
    Ok(settings)
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    let written = || {
        let mut file = std::fs::File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    written().map_err(TrainError::io("can't write the file", path))
}

fn hash_file(path: &Path) -> Result<String, TrainError> {
    let mut file = std::fs::File::open(path).map_err(|e| damaged(e, path))?;
    let (mut sha, mut buffer) = (Sha256::new(), vec![0u8; 1 << 16]);
    loop {
        let count = file.read(&mut buffer).map_err(TrainError::io("can't read the file", path))?;
        match buffer.get(..count) {
            Some(bytes) if !bytes.is_empty() => sha.update(bytes),
            _ => return Ok(hex(&sha.finalize())),
        }
    }
}

/// Makes new names last through a power cut, where the operating system offers that.
fn sync_folder(folder: &Path) -> Result<(), TrainError> {
    #[cfg(unix)]
    std::fs::File::open(folder).and_then(|f| f.sync_all()).map_err(TrainError::io("can't sync the folder", folder))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
