//! What can go wrong with an open project, in words for the person who works on it.

use crate::adapt::AdaptError;
use crate::annotation::{ApplyError, LabelError, SegmentError};
use crate::distill::DistillError;
use crate::encoder::EncoderError;
use crate::format::FormatError;
use crate::pretrain::PretrainError;
use crate::store::{FileNews, StoreError};
use crate::train::TrainError;
use crate::wording::counted;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing is lost, but whoever opens the file of before must know.
    #[error("{0}")]
    FileNews(FileNews),
    #[error(transparent)]
    Apply(#[from] ApplyError),
    #[error(transparent)]
    Segment(#[from] SegmentError),
    #[error(transparent)]
    Label(#[from] LabelError),
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Distill(#[from] DistillError),
    #[error(transparent)]
    Pretrain(#[from] PretrainError),
    #[error(transparent)]
    Adapt(#[from] AdaptError),
    #[error(transparent)]
    Strategy(#[from] crate::active::NoSuchStrategy),
    #[error("a schedule takes ascending numbers of sentences from 1 up to the {pool} of the pool, such as 20,60,120")]
    BadSchedule { pool: usize },
    #[error("there are already runs of an experiment; continue it with --resume, or name another folder: {}", path.display())]
    ExperimentThere { path: PathBuf },
    #[error("the runs there are of other data or settings; name another folder, or use what is in {}", path.display())]
    OtherExperiment { path: PathBuf },
    #[error("a file of the experiment can't be read ({why}); delete it, and what it held is made again: {}", path.display())]
    BadExperimentFile { why: String, path: PathBuf },
    #[error(transparent)]
    Task(#[from] crate::session::TaskLost),
    #[error("this sentence no longer exists; choose another one")]
    NoSuchSentence,
    #[error("this mention no longer exists; choose another one")]
    NoSuchMention,
    #[error("this label no longer exists; choose another one")]
    NoSuchLabel,
    #[error("this document no longer exists; choose another one")]
    NoSuchDocument,
    #[error("the project has no document {name:?}; `nestling documents` lists them")]
    NoDocumentNamed { name: String },
    #[error(
        "{count} documents are called {name:?}; say which one is meant, from \"{name}#1\" to \"{name}#{count}\" in the order of `nestling documents`"
    )]
    SeveralDocumentsNamed { name: String, count: usize },
    #[error("this suggestion no longer exists; choose another one")]
    NoSuchSuggestion,
    #[error("the {what} can't be used: {source}")]
    Forbidden { what: &'static str, source: crate::text::ForbiddenCharacter },
    #[error("there is nothing to undo")]
    NothingToUndo,
    #[error("there is nothing to redo")]
    NothingToRedo,
    #[error(
        "the project file has {value:?} for the setting {key:?}, which this program can't read; the default applies until it is set again"
    )]
    BadSetting { key: String, value: String },
    #[error("the project has no labels; add some before training")]
    NoLabels,
    #[error(
        "the suggestion {words:?}{hidden}, which came with a file, would be cut through and lost; accept, change or reject it first"
    )]
    CutsSuggestion { words: String, hidden: &'static str },
    #[error("no sentence to learn from is complete; mark some as complete, then train")]
    NothingToTrainOn,
    #[error("there is no interrupted training to resume; leave out --resume to start one")]
    NothingToResume,
    #[error("no training is running")]
    NoTraining,
    #[error("a training is running; stop it first")]
    TrainingAlready,
    #[error("only {} not complete, and {wanted} are needed; choose another project", counted(*there, "sentence is", "sentences are"))]
    TooFewOpen { there: usize, wanted: usize },
    #[error(
        "a model has already learned from some sentences, so the rest is no longer a fair sample of the texts; import a test set to score on"
    )]
    TooLateForBlind,
    #[error("only {} untouched, and {wanted} are to be set aside; choose fewer", counted(*there, "sentence is", "sentences are"))]
    TooFewUntouched { there: usize, wanted: usize },
    #[error(
        "the encoder {encoder} knows nothing of words before it is trained; name one that is pretrained or made of word vectors"
    )]
    NoWordVectors { encoder: String },
    #[error("the project has no model; train one first")]
    NoModel,
    #[error(
        "the encoder {encoder} finds no names that a label of this project stands for; choose an encoder that knows entities, or say in the settings which labels stand for persons, organisations and places"
    )]
    NoNames { encoder: String },
    #[error("the project has no model {model}; `nestling info` lists them")]
    NoSuchModel { model: String },
    #[error(
        "the files of model {model} are not there: only the best and the latest models are kept, and a copied project has \
         none; train again: {}",
        folder.display()
    )]
    NoModelFiles { model: String, folder: PathBuf },
    #[error("the files of model {model} {why}; they were not changed; train again: {}", folder.display())]
    StrangeModel { model: String, why: crate::session::Strange, folder: PathBuf },
    #[error(
        "model {model} says which label given words have and finds no mentions, so it makes no suggestions; choose another model"
    )]
    FindsNothing { model: String },
    #[error(
        "model {model} tags words and classifies no spans, so it has no vectors of spans; choose a model of another architecture"
    )]
    NoSpanVectors { model: String },
    #[error("there is no sentence with words to predict; import some texts first")]
    NothingToPredict,
    #[error("no sentence of this split is complete, so there is nothing to score on")]
    NothingToScore,
    #[error("stopped; nothing was changed")]
    Stopped,
    #[error("nothing could be read: {why}")]
    NothingRead { why: String },
    #[error(
        "the format can't hold {count} of the annotations and nothing was written; leave out --strict to write the rest"
    )]
    NotRepresented { count: usize },
    #[error("what was written read back differently ({what}) and was discarded; please report it: {}", path.display())]
    ReadsBackDifferently { what: String, path: PathBuf },
    #[error("there is no file{endings} to be read in the folder; name another one, or the files themselves: {}", path.display())]
    NothingInFolder { endings: String, path: PathBuf },
    #[error("the name says that this is a test split, which is never learned from; name another file, or rename this one: {}", path.display())]
    TestSplit { path: PathBuf },
    #[error("the folder has dev or test splits and nothing called train; name the files to learn from: {}", path.display())]
    NoTrainSplit { path: PathBuf },
    #[error("the files need a new or an empty folder, and this one has something in it; name another one: {}", path.display())]
    FolderNotEmpty { path: PathBuf },
    #[error("there is a project or another database, which is never replaced; name another file: {}", path.display())]
    ReplacesDatabase { path: PathBuf },
    #[error("there is {found}, which is never replaced; name a file: {}", path.display())]
    NotReplaced { found: &'static str, path: PathBuf },
    #[error("there is no such folder; make it, or choose another one: {}", path.display())]
    NoFolder { path: PathBuf },
    /// What went wrong with what was being written, in words that name its place.
    #[error("{0}")]
    NotWritten(String),
    #[error("could not {doing} ({source}): {}", path.display())]
    Io { doing: &'static str, source: std::io::Error, path: PathBuf },
    #[error("could not write the description of the model: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the sample project is damaged: {0}")]
    Sample(String),
}

/// A stop that was asked for is no failure of the learner.
pub(crate) fn stopped(error: TrainError) -> SessionError {
    match error {
        TrainError::Cancelled => SessionError::Stopped,
        other => other.into(),
    }
}
