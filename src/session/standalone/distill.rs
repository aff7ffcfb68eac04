//! A small encoder from a large one and text, without a project.

use crate::distill::{Config, DistillationRequest, Event, Record, distill};
use crate::encoder::{Encoder, EncoderError};
use crate::format::{ImportedDocument, Warning};
use crate::session::import::reading::{ReadRequest, each_kind_once, read_inputs};
use crate::session::{Home, SessionError};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Seconds between two checkpoints.
const PACE_SECS: u64 = 60;

/// What to distil, and where to.
#[derive(Clone, Debug)]
pub struct DistillRequest {
    /// An encoder's folder, or the name of one that is installed.
    pub teacher: PathBuf,
    /// Files and folders of any format that can be imported, each in one language; of their sentences the words count alone.
    pub texts: Vec<PathBuf>,
    pub config: Config,
    /// The student's folder; it must not exist.
    pub output: PathBuf,
    /// Go on with what was interrupted.
    pub resume: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct DistillReport {
    pub record: Record,
    /// What could not be read.
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
}

/// Distils an encoder. Waits until it is done; progress is told.
///
/// # Errors
/// As [`read_files`](crate::session::read_files) and [`distill`]; nothing is at the place of the student then.
pub fn distill_encoder(
    home: &Home,
    request: &DistillRequest,
    cancel: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<DistillReport, SessionError> {
    let teacher = open_encoder(home, &request.teacher)?;
    let Read { texts, warnings, notes } = read_texts(&request.texts, cancel)?;
    let request = DistillationRequest {
        teacher,
        teacher_name: name_of(&request.teacher),
        texts,
        config: request.config.clone(),
        output: request.output.clone(),
        resume: request.resume,
        pace_secs: PACE_SECS,
    };
    let record = distill(&request, cancel, on_event)?;
    Ok(DistillReport { record, warnings, notes })
}

/// What was read.
#[derive(Default)]
struct Read {
    /// The words of each sentence, by what a person named.
    texts: Vec<Vec<Vec<String>>>,
    warnings: Vec<Warning>,
    notes: Vec<String>,
}

/// Reads each text by itself. One that can't be read is warned of, as long as there is another.
fn read_texts(named: &[PathBuf], cancel: &AtomicBool) -> Result<Read, SessionError> {
    let (mut read, mut failures) = (Read::default(), Vec::new());
    for path in named {
        match read_inputs(std::slice::from_ref(path), &ReadRequest::default(), &[], cancel, &mut |_, _| {}) {
            Ok(incoming) => {
                read.texts.push(incoming.documents.iter().flat_map(ImportedDocument::words).collect());
                read.warnings.extend(incoming.warnings);
                read.notes.extend(incoming.notes);
            }
            Err(error @ (SessionError::NothingRead { .. } | SessionError::Format(_))) => failures.push((path, error)),
            Err(error) => return Err(error),
        }
    }
    if read.texts.is_empty() && !failures.is_empty() {
        return Err(failures.swap_remove(0).1);
    }
    let left_out = |(path, error): (&PathBuf, SessionError)| {
        let (file, why) = (path.display().to_string(), error.to_string());
        let why = why.strip_suffix(&format!(": {file}")).unwrap_or(&why);
        Warning { message: format!("the file was left out: {why}"), line: None, file }
    };
    read.warnings.extend(failures.into_iter().map(left_out));
    read.notes = each_kind_once(&read.notes, named);
    Ok(read)
}

/// A folder, if it is there; else the encoder of that name.
pub(super) fn open_encoder(home: &Home, encoder: &Path) -> Result<Encoder, EncoderError> {
    match encoder.to_str() {
        Some(name) if !encoder.exists() => home.encoders().get(name),
        _ => Encoder::open(encoder),
    }
}

/// The last part of a path, or a name.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
