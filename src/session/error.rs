//! What can go wrong with an open project, in words for the person who works on it.

use crate::annotation::{ApplyError, LabelError, SegmentError};
use crate::distill::DistillError;
use crate::encoder::EncoderError;
use crate::format::FormatError;
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
    Strategy(#[from] crate::active::NoSuchStrategy),
    #[error("a schedule takes ascending numbers of sentences from 1 up to the {pool} of the pool, such as 20,60,120")]
    BadSchedule { pool: usize },
    #[error("there is a simulation already; go on with it by --resume, or name another folder: {}", path.display())]
    SimulationThere { path: PathBuf },
    #[error("the simulation there is of other files or settings; name another folder, or ask for what is in {}", path.display())]
    OtherSimulation { path: PathBuf },
    #[error(transparent)]
    Task(#[from] crate::session::TaskLost),
    #[error("this sentence is not there any more; choose another one")]
    NoSuchSentence,
    #[error("this mention is not there any more; choose another one")]
    NoSuchMention,
    #[error("this label is not there any more; choose another one")]
    NoSuchLabel,
    #[error("this document is not there any more; choose another one")]
    NoSuchDocument,
    #[error("the project has no document {name:?}; `nestling documents` lists them")]
    NoDocumentNamed { name: String },
    #[error(
        "{count} documents are called {name:?}; say which one is meant, from \"{name}#1\" to \"{name}#{count}\" in the order of `nestling documents`"
    )]
    SeveralDocumentsNamed { name: String, count: usize },
    #[error("this suggestion is not there any more; choose another one")]
    NoSuchSuggestion,
    #[error("the {what} can't be taken: {source}")]
    Forbidden { what: &'static str, source: crate::text::ForbiddenCharacter },
    #[error("there is nothing to undo")]
    NothingToUndo,
    #[error("there is nothing to do again")]
    NothingToRedo,
    #[error(
        "the project file has {value:?} for the setting {key:?}, which this program can't read; the default holds until it is set again"
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
    #[error("there is no interrupted training to go on with; leave out --resume to begin one")]
    NothingToResume,
    #[error("no training is under way")]
    NoTraining,
    #[error("a training is under way; stop it first")]
    TrainingAlready,
    #[error("only {} not complete, and {wanted} are needed; choose another project", counted(*there, "sentence is", "sentences are"))]
    TooFewOpen { there: usize, wanted: usize },
    #[error(
        "a model has learned already, so that what is left is no fair sample of the texts; import a test set to score on"
    )]
    TooLateForBlind,
    #[error("only {} untouched, and {wanted} are to be set aside; choose fewer", counted(*there, "sentence is", "sentences are"))]
    TooFewUntouched { there: usize, wanted: usize },
    #[error("the project has no model; train one first")]
    NoModel,
    #[error("the project has no model {model}; `nestling info` lists them")]
    NoSuchModel { model: String },
    #[error(
        "the files of model {model} are not there: only the best and the latest models are kept, and a copied project has \
         none; train again: {}",
        folder.display()
    )]
    NoModelFiles { model: String, folder: PathBuf },
    #[error("the files of model {model} {why}; they are left as they are; train anew: {}", folder.display())]
    StrangeModel { model: String, why: super::learner::strange::Strange, folder: PathBuf },
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
    #[error("what was written read back differently ({what}) and was thrown away; please report it: {}", path.display())]
    ReadsBackDifferently { what: String, path: PathBuf },
    #[error("there is no file{endings} to be read in the folder; name another one, or the files themselves: {}", path.display())]
    NothingInFolder { endings: String, path: PathBuf },
    #[error("a folder of files goes to a new or an empty folder, and there is something; name another one: {}", path.display())]
    FolderNotEmpty { path: PathBuf },
    #[error("there is a project or another database, which is never replaced; name another file: {}", path.display())]
    ReplacesDatabase { path: PathBuf },
    #[error("there is {found}, which is never replaced; name a file: {}", path.display())]
    NotReplaced { found: &'static str, path: PathBuf },
    #[error("there is no such folder; make it, or choose another one: {}", path.display())]
    NoFolder { path: PathBuf },
    #[error("could not {doing} ({source}): {}", path.display())]
    Io { doing: &'static str, source: std::io::Error, path: PathBuf },
    #[error("could not note what the model is: {0}")]
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
