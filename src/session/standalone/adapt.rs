//! An encoder that has read the text that is to be annotated, from files and projects.

use crate::adapt::{AdaptError, AdaptationRequest, Config, Event, Record, adapt};
use crate::annotation::Split;
use crate::format::{ImportedDocument, Warning};
use crate::nn::Rng;
use crate::session::import::reading::{ReadRequest, read_inputs};
use crate::session::learner::dataset::words;
use crate::session::project::Project;
use crate::session::standalone::distill::{name_of, open_encoder};
use crate::session::standalone::pretrain::is_project;
use crate::session::standalone::splits;
use crate::session::{Home, SessionError};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What to read, and where to.
#[derive(Clone, Debug)]
pub struct AdaptRequest {
    /// An encoder's folder, or the name of one that is installed.
    pub encoder: PathBuf,
    /// Files and folders of any format that can be imported, and projects; of their sentences the words count alone. Test splits
    /// and blind sets are not read.
    pub texts: Vec<PathBuf>,
    /// So many of all sentences, drawn by the seed.
    pub limit: Option<usize>,
    pub config: Config,
    /// The new encoder's folder; it must not exist.
    pub output: PathBuf,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptReport {
    pub record: Record,
    /// What could not be read.
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
}

/// Lets an encoder read text. Waits until it is done; progress is told.
///
/// # Errors
/// As [`read_files`](crate::session::read_files), [`Project::open_to_read`] and [`adapt`]; nothing is at the place of the
/// encoder then.
pub fn adapt_encoder(
    home: &Home,
    request: &AdaptRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<AdaptReport, SessionError> {
    let encoder = open_encoder(home, &request.encoder)?;
    let (mut sentences, mut warnings, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for path in &request.texts {
        if is_project(path) {
            sentences.extend(read_project(home, path)?);
            continue;
        }
        let paths = splits::paths_to_learn_from(path, true, &mut notes)?;
        let incoming = read_inputs(&paths, &ReadRequest::default(), &[], cancel, &mut |_, _| {})?;
        sentences.extend(incoming.documents.iter().flat_map(readable));
        warnings.extend(incoming.warnings);
        notes.extend(incoming.notes);
    }
    if let Some(limit) = request.limit {
        Rng::new(request.config.seed, "sentences").shuffle(&mut sentences);
        sentences.truncate(limit);
    }
    let request = AdaptationRequest {
        encoder,
        base: name_of(&request.encoder),
        sentences,
        config: request.config.clone(),
        output: request.output.clone(),
    };
    let record = adapt(&request, cancel, on_event).map_err(|error| match error {
        AdaptError::Cancelled => SessionError::Stopped,
        other => other.into(),
    })?;
    Ok(AdaptReport { record, warnings, notes })
}

/// Whether text may be read before it is annotated: what models are scored on may not.
fn may_be_read(split: Split) -> bool {
    !matches!(split, Split::Test | Split::Blind)
}

fn read_project(home: &Home, path: &Path) -> Result<Vec<Vec<String>>, SessionError> {
    let project = Project::open_to_read(home, path)?;
    let corpus = project.corpus();
    let readable = corpus.sentences().filter(|sentence| may_be_read(sentence.split()));
    Ok(readable.map(|sentence| words(corpus, sentence)).collect())
}

fn readable(document: &ImportedDocument) -> impl Iterator<Item = Vec<String>> {
    let readable = document.sentences.iter().filter(|sentence| may_be_read(sentence.split.unwrap_or_default()));
    readable.map(|sentence| document.words_of(sentence))
}
