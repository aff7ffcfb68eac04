//! Why an encoder can't be had.

use crate::nn::NnError;
use crate::wording::{bytes, counted};
use std::path::{Path, PathBuf};

/// What to do about a file that is not as it was published.
pub(super) const GET_AGAIN: &str = "get the file again from where the encoder came from";

/// What to do about a file that is damaged, or made to do damage.
pub(super) const OTHER_ENCODER: &str = "get the file again from where the encoder came from, or choose another encoder";

#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    #[error(transparent)]
    Nn(#[from] NnError),
    #[error("there is no encoder {name:?}; there are: {there}")]
    NoSuchEncoder { name: String, there: String },
    #[error(
        "{0:?} can't be an encoder's name; take up to 64 letters, digits, dots, dashes or underscores, and begin with a \
         letter or a digit"
    )]
    BadName(String),
    #[error("there is already an encoder {0:?}; choose another name, or remove it first")]
    NameTaken(String),
    #[error("{0:?} is built in and can't be removed or replaced")]
    BuiltIn(String),
    #[error("{problem}, expected a folder with an encoder in the format of Hugging Face; choose another one: {path}")]
    NoFolder { problem: &'static str, path: PathBuf },
    #[error("an encoder folder needs {file}, and this one has none; {hint}: {folder}")]
    MissingFile { file: &'static str, hint: &'static str, folder: PathBuf },
    #[error("{what} is {got}, but only {expected} works here; choose another encoder: {path}")]
    Unsupported { what: &'static str, got: String, expected: String, path: PathBuf },
    #[error("{problem}; {hint}: {path}")]
    BadFile { problem: String, hint: &'static str, path: PathBuf },
    #[error("the weight {name:?} is missing; choose a folder with all weights of the encoder: {path}")]
    MissingWeight { name: String, path: PathBuf },
    #[error(
        "the weight {name:?} has the shape {got:?}, but config.json says {expected:?}; get both files from the same \
         encoder: {path}"
    )]
    WeightShape { name: String, expected: Vec<usize>, got: Vec<usize>, path: PathBuf },
    #[error("the weight {name:?} is of the type {got}, but only {expected} work here; choose another encoder: {path}")]
    WeightType { name: String, expected: &'static str, got: String, path: PathBuf },
    #[error(
        "the weight {name:?} holds numbers that are not finite, such as NaN; get the file again from where the encoder \
         came from, or choose another encoder: {path}"
    )]
    WeightNotFinite { name: String, path: PathBuf },
    #[error(
        "{0:?} can't be the name of a repository, expected OWNER/NAME, or OWNER/NAME@REVISION; copy it from the \
         encoder's page on the hub"
    )]
    BadRepository(String),
    #[error(
        "the hub has no repository {name:?}, or does not show it; check the name, or set HF_TOKEN to a token that may \
         read it: {page}"
    )]
    NoSuchRepository { name: String, page: String },
    #[error("the repository has no revision of that name ({name:?}); see which it has on its page: {page}")]
    NoSuchRevision { name: String, page: String },
    #[error(
        "the repository {name:?} is gated; agree to its terms on its page, make a token there, and set HF_TOKEN to it: \
         {page}"
    )]
    Gated { name: String, page: String },
    #[error("an encoder needs {file}, and the repository {name:?} has none; {hint}")]
    HubLacks { name: String, file: &'static str, hint: &'static str },
    #[error("the repository {name:?} can't be used here: {problem}")]
    HubUnfit { name: String, problem: String },
    #[error("the hub answered {status}; try again later: {url}")]
    HubAnswered { status: u16, url: String },
    #[error(
        "the hub can't be reached ({reason}); check the connection, or get the files by other means and import their \
         folder: {endpoint}"
    )]
    HubUnreachable { reason: String, endpoint: String },
    #[error("the server is not a Hugging Face hub; check HF_ENDPOINT and whether a log-in page is in the way: {url}")]
    NotTheHub { url: String },
    #[error("another program is fetching {name:?}; wait for it to end")]
    FetchedElsewhere { name: String },
    #[error(
        "{file} of {name:?} was interrupted again and again ({reason}); {} kept: try again later to continue",
        counted(usize::try_from(*done_bytes).unwrap_or(usize::MAX), "byte of it is", "bytes of it are")
    )]
    FetchBroken { file: &'static str, name: String, reason: String, done_bytes: u64 },
    #[error("{file} of {name:?} has {}, but the hub says {}; try again later", bytes(*got), bytes(*expected))]
    FetchSize { file: &'static str, name: String, expected: u64, got: u64 },
    #[error(
        "{file} of {name:?} is larger than such a file can be (more than {}); it was discarded: choose another \
         encoder",
        bytes(*most)
    )]
    FetchTooLarge { file: &'static str, name: String, most: u64 },
    #[error("{file} of {name:?} arrived damaged (its checksum is not the hub's); it was discarded, try again")]
    FetchDamaged { file: &'static str, name: String },
    #[error("stopped; the download so far is kept, and fetching again continues it")]
    FetchStopped,
    #[error("a smaller encoder can't be cut out of this one: {0}")]
    Cut(&'static str),
    #[error("can't split words into subwords: {0}")]
    Subwords(String),
    #[error("{action}: {source}: {path}")]
    Io { action: &'static str, source: std::io::Error, path: PathBuf },
}

impl EncoderError {
    pub(super) fn bad_file(problem: impl Into<String>, hint: &'static str, path: &Path) -> Self {
        Self::BadFile { problem: problem.into(), hint, path: path.to_owned() }
    }

    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, source, path }
    }
}
