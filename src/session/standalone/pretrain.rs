//! An encoder that knows entities, from files and projects that are annotated already.

use crate::annotation::{LabelId, Split, Status};
use crate::format::{ImportedDocument, ImportedSentence, Warning};
use crate::pretrain::{
    AnnotatedCorpus, AnnotatedSentence, LabelMap, PretrainError, PretrainSettings, PretrainingRequest, Record,
    SourceFile, pretrain,
};
use crate::session::error::stopped;
use crate::session::import::reading::{ImportAs, ReadRequest, read_inputs};
use crate::session::learner::dataset::{Part, example, labels, learnable};
use crate::session::project::Project;
use crate::session::standalone::distill::{name_of, open_encoder};
use crate::session::standalone::splits;
use crate::session::{Home, SessionError};
use crate::train::{Event, TrainError};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What to learn entities from, and where to.
#[derive(Clone, Debug)]
pub struct PretrainRequest {
    /// An encoder's folder, or the name of one that is installed.
    pub encoder: PathBuf,
    pub corpora: Vec<NamedCorpus>,
    /// How the files are to be read, those of all corpora.
    pub reading: ReadRequest,
    /// Whether sentences of dev splits are learnt from, too; those of test splits and blind sets never are.
    pub with_dev: bool,
    /// A file of [`LabelMap::read`].
    pub labels: Option<PathBuf>,
    pub settings: PretrainSettings,
    /// The new encoder's folder; it must not exist.
    pub output: PathBuf,
}

/// A file, a folder or a project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedCorpus {
    /// `None`: called as the file or folder is, or as the folder of a file that is called `train`.
    pub name: Option<String>,
    pub path: PathBuf,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PretrainReport {
    pub record: Record,
    /// What could not be read.
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
}

/// Trains an encoder on the entities of several corpora. Waits until it is done; progress is told.
///
/// # Errors
/// As [`read_files`](crate::session::read_files), [`Project::open_to_read`] and [`pretrain`]; nothing is at the place of the
/// encoder then.
pub fn pretrain_encoder(
    home: &Home,
    request: &PretrainRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<PretrainReport, SessionError> {
    let labels = request.labels.as_deref().map(read_labels).transpose()?.unwrap_or_default();
    let encoder = open_encoder(home, &request.encoder)?;
    let (mut warnings, mut notes) = (Vec::new(), Vec::new());
    let read = |corpus: &NamedCorpus| {
        let name = corpus.name.clone().unwrap_or_else(|| splits::corpus_name(&corpus.path));
        if is_project(&corpus.path) {
            return read_project(home, corpus, name, request.with_dev);
        }
        let paths = splits::paths_to_learn_from(&corpus.path, request.with_dev, &mut notes)?;
        let incoming = read_inputs(&paths, &request.reading, &[], cancel, &mut |_, _| {})?;
        let sentences = match incoming.likely_kind(None) {
            ImportAs::Gold => {
                incoming.documents.iter().flat_map(|document| annotated(document, request.with_dev)).collect()
            }
            ImportAs::Suggestions | ImportAs::Text => Vec::new(),
        };
        warnings.extend(incoming.warnings);
        notes.extend(incoming.notes);
        let files =
            paths.iter().filter(|path| path.is_file()).map(|path| source_file(path)).collect::<Result<_, _>>()?;
        Ok(AnnotatedCorpus { name, sentences, files })
    };
    let corpora = request.corpora.iter().map(read).collect::<Result<Vec<_>, SessionError>>()?;
    let request = PretrainingRequest {
        encoder,
        base: name_of(&request.encoder),
        corpora,
        labels,
        settings: request.settings.clone(),
        output: request.output.clone(),
    };
    let record = pretrain(&request, cancel, on_event).map_err(|error| match error {
        PretrainError::Train(error @ TrainError::Cancelled) => stopped(error),
        other => other.into(),
    })?;
    Ok(PretrainReport { record, warnings, notes })
}

fn read_labels(path: &Path) -> Result<LabelMap, SessionError> {
    let unread = |source| SessionError::Io { doing: "read the table of labels", source, path: path.to_owned() };
    Ok(LabelMap::read(&std::fs::read_to_string(path).map_err(unread)?, path)?)
}

pub(super) fn is_project(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|ending| ending == "nestling")
}

/// The complete sentences of a project.
fn read_project(
    home: &Home,
    named: &NamedCorpus,
    name: String,
    with_dev: bool,
) -> Result<AnnotatedCorpus, SessionError> {
    let project = Project::open_to_read(home, &named.path)?;
    let corpus = project.corpus();
    let names: BTreeMap<LabelId, String> = labels(corpus).into_iter().collect();
    let dev = with_dev.then(|| learnable(corpus, [Part::Dev])).into_iter().flatten();
    let annotated = learnable(corpus, [Part::Train]).chain(dev).map(|sentence| {
        let example = example(corpus, sentence);
        let mentions = example.gold.iter().filter_map(|(span, label)| Some((*span, names.get(label)?.clone())));
        let discontinuous = sentence.mentions().len() - example.gold.len();
        AnnotatedSentence { mentions: mentions.collect(), words: example.tokens, discontinuous }
    });
    Ok(AnnotatedCorpus { name, sentences: annotated.collect(), files: Vec::new() })
}

/// The complete sentences of a document, as an import takes them.
fn annotated(document: &ImportedDocument, with_dev: bool) -> impl Iterator<Item = AnnotatedSentence> {
    let complete = document.sentences.iter().filter(move |sentence| is_complete(sentence, with_dev));
    complete.map(|sentence| {
        let mentions = sentence.mentions.iter();
        let mentions: Vec<_> = mentions.filter_map(|m| Some((m.fragments.contiguous()?, m.label.clone()))).collect();
        AnnotatedSentence {
            words: document.words_of(sentence),
            discontinuous: sentence.mentions.len() - mentions.len(),
            mentions,
        }
    })
}

/// Whether a person has annotated all of a sentence, and it is not kept aside to score on.
fn is_complete(sentence: &ImportedSentence, with_dev: bool) -> bool {
    let is_free = match sentence.split.unwrap_or_default() {
        Split::Rest => true,
        Split::Dev => with_dev,
        Split::Test | Split::Blind => false,
    };
    let is_done = sentence.status.map_or(!sentence.may_be_unread, |status| status == Status::Complete);
    is_free && is_done && sentence.mentions.iter().all(|mention| mention.score.is_none())
}

fn source_file(path: &Path) -> Result<SourceFile, SessionError> {
    let unread = |source| SessionError::Io { doing: "read the file", source, path: path.to_owned() };
    let sha256 = hex::encode(Sha256::digest(std::fs::read(path).map_err(unread)?));
    Ok(SourceFile { name: name_of(path), sha256 })
}
