//! The hub: encoders by name, fetched over the network when a person asks for one.
//!
//! ```text
//! list of files ─> config and tokenizer ─> checked ─> weights ─> checked ─> the registry
//! ```
//!
//! # Invariants
//! - Nothing is fetched but what the person named, and nothing is told but its name (and a token, where there is one, to
//!   the hub's own address alone).
//! - A file counts as fetched when its size and, where the hub says it, its checksum are right. Until then it has another
//!   name, and the next fetch goes on where it ends.
//! - All files are of one commit.
//! - No file grows beyond what the hub says of it, nor beyond what a file of its kind can be; of weights that is what
//!   `config.json` describes. What is more is thrown away.
//! - Whoever waits can stop at any time, also while nothing comes.
//!
//! Deliberately absent: weights in pickles or in several files, uploading, and asking for what is there already.

mod address;
mod reply;
mod repository;
#[cfg(test)]
mod tests;
mod transfer;

use super::folder::{COMPACT, CONFIG, FILES, MERGES, PIECES, TOKENIZER, VOCABULARY, WEIGHTS, most_bytes, weights_hint};
use super::{Definition, Encoder, EncoderError, weights};
use crate::disk::Noted as _;
use reply::ReplyPart;
use serde_json::Value;
use std::fs::{File, TryLockError};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use transfer::{Expected, Transfer};

pub use address::Hub;
pub use repository::Repository;
pub use transfer::Fetching;

/// A list of files is far shorter.
const LIST_BYTES: usize = 8 << 20;
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// A file of a repository.
struct Listed {
    name: String,
    expected: Expected,
}

impl Hub {
    /// The folder in which the hub's own libraries have all that an encoder needs, if they do.
    pub(super) fn cached(&self, repository: &Repository) -> Option<PathBuf> {
        let there = self.cache.as_ref()?.join(format!("models--{}", repository.as_folder()));
        let commit = std::fs::read_to_string(there.join("refs").join(repository.revision()));
        let commit = commit.unwrap_or_else(|_| repository.revision().to_owned());
        let folder = there.join("snapshots").join(commit.trim());
        (folder.join(WEIGHTS).is_file() && Definition::open(&folder).is_ok()).then_some(folder)
    }

    /// Fetches what an encoder needs into a folder below `downloads`, which holds nothing else.
    ///
    /// # Errors
    /// Whatever can go wrong on the way. What was fetched stays for the next time, unless it can't be used.
    pub(super) fn fetch(
        &self,
        repository: &Repository,
        downloads: &Path,
        cancel: &AtomicBool,
        tell: &mut dyn FnMut(Fetching),
    ) -> Result<Fetched, EncoderError> {
        let (commit, listed) = self.list(repository, cancel)?;
        let wanted = wanted(&listed, repository)?;
        std::fs::create_dir_all(downloads).map_err(EncoderError::io("can't make the folder", downloads))?;
        let folder = downloads.join(format!("{}--{commit}", repository.as_folder()));
        let lock = Lock::take(folder.with_added_extension("lock"), repository, cancel)?;
        std::fs::create_dir_all(&folder).map_err(EncoderError::io("can't make the folder", &folder))?;
        for (name, expected) in wanted {
            let most = if [WEIGHTS, COMPACT].contains(&name) {
                // Before what takes long: does the rest of it run here?
                let definition = Definition::open(&folder);
                weights::most_bytes(definition.map_err(|e| self.unfit(&e, repository, &folder, &commit))?.config())
            } else {
                most_bytes(name)
            };
            let url = format!("{}/{}/resolve/{commit}/{name}", self.endpoint, repository.id());
            Transfer { hub: self, repository, name, url, path: folder.join(name), most }.run(expected, cancel, tell)?;
        }
        Encoder::open(&folder).map_err(|e| self.unfit(&e, repository, &folder, &commit))?;
        Ok(Fetched { folder, _lock: lock })
    }

    /// The commit of the revision, and its files.
    fn list(&self, repository: &Repository, cancel: &AtomicBool) -> Result<(String, Vec<Listed>), EncoderError> {
        let revision = repository.revision().replace('/', "%2F");
        let url = format!("{}/api/models/{}/revision/{revision}?blobs=true", self.endpoint, repository.id());
        let opened = self.open(&url, repository, None, cancel)?;
        if opened.head.status != 200 {
            return Err(self.refusal(&opened.head, repository, &opened.url));
        }
        let mut text = Vec::new();
        loop {
            match opened.reply.next(cancel)? {
                ReplyPart::Bytes(bytes) if text.len() + bytes.len() <= LIST_BYTES => text.extend(bytes),
                ReplyPart::End => break,
                ReplyPart::Broken { reason } => return Err(self.unreachable(reason)),
                ReplyPart::Bytes(_) | ReplyPart::ResponseHead(_) => return Err(not_the_hub(&url)),
            }
        }
        let json: Value = serde_json::from_slice(&text).map_err(|_| not_the_hub(&url))?;
        let commit = json.get("sha").and_then(Value::as_str);
        let commit = commit.filter(|sha| (7..=64).contains(&sha.len()) && sha.chars().all(|c| c.is_ascii_hexdigit()));
        let files = json.get("siblings").and_then(Value::as_array);
        let (Some(commit), Some(files)) = (commit, files) else { return Err(not_the_hub(&url)) };
        let listed = |file: &Value| {
            let lfs = |key| file.get("lfs").and_then(|lfs| lfs.get(key));
            let size = lfs("size").or_else(|| file.get("size")).and_then(Value::as_u64);
            let sha256 = lfs("sha256").and_then(Value::as_str).and_then(transfer::as_sha256);
            Some(Listed { name: file.get("rfilename")?.as_str()?.to_owned(), expected: Expected { size, sha256 } })
        };
        Ok((commit.to_owned(), files.iter().filter_map(listed).collect()))
    }

    /// What can't be used is not kept, so that the next fetch begins anew.
    fn unfit(&self, error: &EncoderError, repository: &Repository, folder: &Path, commit: &str) -> EncoderError {
        // What stays behind is in nobody's way.
        std::fs::remove_dir_all(folder).noted_at("what was fetched stays behind", folder);
        // A path that is gone helps nobody.
        let here = format!("{}{MAIN_SEPARATOR}", folder.display());
        let there = format!("{}/{}/blob/{commit}/", self.endpoint, repository.id());
        EncoderError::HubUnfit { name: repository.to_string(), problem: error.to_string().replace(&here, &there) }
    }
}

fn not_the_hub(url: &str) -> EncoderError {
    EncoderError::NotTheHub { url: url.to_owned() }
}

/// The files to fetch, weights last.
fn wanted(listed: &[Listed], repository: &Repository) -> Result<Vec<(&'static str, Expected)>, EncoderError> {
    let find = |name: &str| listed.iter().find(|file| file.name == name);
    let has = |name: &str| find(name).is_some();
    let lacks = |file, hint| Err(EncoderError::HubLacks { name: repository.to_string(), file, hint });
    if !has(CONFIG) {
        return lacks(CONFIG, "choose one that holds an encoder");
    }
    if !has(WEIGHTS) {
        return lacks(WEIGHTS, weights_hint(has).unwrap_or("choose one that holds an encoder"));
    }
    let has_subwords = has(TOKENIZER) || has(VOCABULARY) || (has(PIECES) && has(MERGES));
    if !has_subwords {
        let hint = "fetch it by other means, write tokenizer.json with the Hugging Face libraries \
                    (AutoTokenizer.from_pretrained and save_pretrained), and import the folder";
        return lacks(TOKENIZER, hint);
    }
    let is_spare = |name: &str| has(TOKENIZER) && [VOCABULARY, PIECES, MERGES].contains(&name);
    let files = FILES.into_iter().filter(|name| !is_spare(name));
    Ok(files.filter_map(|name| Some((name, find(name)?.expected.clone()))).collect())
}

/// A folder with an encoder that runs here, and nothing else; nobody else touches it.
#[derive(Debug)]
pub(super) struct Fetched {
    pub folder: PathBuf,
    _lock: Lock,
}

/// Keeps two programs from writing one file.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Waits a little for a fetch that has just been stopped.
    fn take(path: PathBuf, repository: &Repository, cancel: &AtomicBool) -> Result<Self, EncoderError> {
        let end = Instant::now() + LOCK_WAIT;
        loop {
            let file = File::create(&path).map_err(EncoderError::io("can't make the file", &path))?;
            match file.try_lock() {
                Ok(()) => return Ok(Self { path, _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < end => {
                    transfer::wait(Duration::from_millis(50), cancel)?;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(EncoderError::FetchedElsewhere { name: repository.to_string() });
                }
                Err(TryLockError::Error(error)) => return Err(EncoderError::io("can't lock the file", &path)(error)),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An empty file that stays is in nobody's way.
        std::fs::remove_file(&self.path).noted_at("the lock of the fetch stays behind", &self.path);
    }
}
