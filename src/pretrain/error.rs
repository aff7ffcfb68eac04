//! What can go wrong in a pretraining.

use crate::encoder::EncoderError;
use crate::train::TrainError;
use crate::wording::counted;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum PretrainError {
    #[error("a pretraining has no setting {key:?}; there are: {there}")]
    NoSuchSetting { key: String, there: String },
    #[error("{key} can't be {value:?}; it takes {expected}")]
    BadValue { key: String, value: String, expected: &'static str },
    #[error(
        "line {line} of the table of labels is not a corpus (or *), a label and a merged label with tabs between them: {text:?}: {path}"
    )]
    BadLine { line: usize, text: String, path: PathBuf },
    #[error(
        "line {line} of the table of labels says something else of {label:?} than an earlier one; delete one of them: {path}"
    )]
    LabelTwice { line: usize, label: String, path: PathBuf },
    #[error("there is no corpus to learn from; name files, folders or projects with annotations")]
    NoCorpus,
    #[error("two corpora are called {0:?}; give one another name: NAME=PATH")]
    NameTwice(String),
    #[error(
        "no sentence of {0} is complete and free to learn from; annotate some, name another file, or leave this corpus out"
    )]
    NothingComplete(String),
    #[error(
        "no entity is marked in the {} of {name}, so there is nothing to learn from it; leave this corpus out, or name a file with annotations",
        counted(*sentences, "sentence", "sentences")
    )]
    NoEntities { name: String, sentences: usize },
    #[error(
        "the table of labels merges {label:?} over several corpora, and {lacking} has no such label: its entities of that kind would be learned as none; name the label that means the same there, leave the corpus out, or leave the labels apart"
    )]
    PartlyMarked { label: String, lacking: String },
    #[error(
        "compact=true keeps the encoder's tables as they are, and this encoder has no weights yet; leave it out, or choose a pretrained encoder"
    )]
    NotPretrained,
    #[error("the encoder's folder already exists; choose another one: {0}")]
    Exists(PathBuf),
    #[error("can't write the record: {0}")]
    Record(#[from] serde_json::Error),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
}
