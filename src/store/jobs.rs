//! What the two sides of the writer say to each other.

use super::error::StoreError;
use super::import::Import;
use super::measurement::Measurement;
use super::memory::Memory;
use super::model_record::ModelRecord;
use super::news::FileNews;
use super::stamp::LogEntry;
use super::watch::Watch;
use crate::annotation::{ModelId, SentenceId, SentenceSuggestions};
use crossbeam_channel::Sender;

/// To who waits for a job.
pub(super) type Reply = Sender<Result<(), StoreError>>;

#[derive(Debug)]
pub(super) enum Job {
    Write(Write),
    Import(Box<Import>, Watch, Reply),
    Flush(Reply),
    Retry,
    Restore(Box<Memory>),
    Close,
}

/// What is queued until it is on disk. Writing one again changes nothing, but for an edit, which knows its revision.
#[derive(Debug)]
pub(super) enum Write {
    Apply(Box<LogEntry>),
    Suggestions(Vec<(SentenceId, SentenceSuggestions)>),
    Model(ModelRecord),
    CurrentModel(Option<ModelId>),
    Setting { key: String, value: Option<String>, matters: bool },
    Measurement(Measurement),
}

/// What the writer reports, from its own thread.
#[derive(Debug)]
pub enum WriterEvent {
    /// Everything up to this revision is on disk.
    Saved { revision: u64 },
    /// Nothing was lost: what failed and what comes after it waits for [`Writer::retry`](super::Writer::retry).
    Failed {
        /// Of the first edit that is not on disk; none when only other things wait.
        revision: Option<u64>,
        error: StoreError,
    },
    /// Something happened to the files of the project; comes before what is saved after it.
    News(FileNews),
    /// Another program has written over the file: [`Writer::restore`](super::Writer::restore) is wanted. Told again now and then.
    NeedsMemory,
}
