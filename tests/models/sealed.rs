//! Folders of models as somebody may have changed them who knows how they are sealed.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::Path;

/// Changes a manifest, whose own hash stands in the project file alone.
pub(crate) fn edit_manifest(folder: &Path, change: impl FnOnce(&mut Map<String, Value>)) {
    let path = folder.join("manifest.json");
    let mut manifest: Map<String, Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    std::fs::write(path, serde_json::to_vec_pretty(&manifest).unwrap()).unwrap();
}

/// Writes into the manifest what the hashes of its files are now. A manifest that is none any more stays as it is.
pub(crate) fn reseal(folder: &Path) {
    let path = folder.join("manifest.json");
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return;
    }
    let Ok(Value::Object(mut manifest)) = serde_json::from_slice(&std::fs::read(&path).unwrap()) else { return };
    let Some(Value::Object(hashes)) = manifest.get_mut("sha256") else { return };
    for (name, hash) in hashes.iter_mut() {
        let file = folder.join(name);
        if file.symlink_metadata().is_ok_and(|found| found.is_file()) {
            *hash = Value::String(sha256(&std::fs::read(file).unwrap()));
        }
    }
    std::fs::write(path, serde_json::to_vec_pretty(&manifest).unwrap()).unwrap();
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Copies a folder with the folders in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, name) = (entry.as_ref().unwrap().path(), entry.as_ref().unwrap().file_name());
        match entry.is_dir() {
            true => copy(&entry, &to.join(name)),
            false => drop(std::fs::copy(&entry, to.join(name)).unwrap()),
        }
    }
}
