//! A small encoder from a large one and text, without a project.

use crate::distill::{Config, DistillationRequest, Event, Record, distill};
use crate::encoder::{Encoder, EncoderError};
use crate::format::{ImportedDocument, Warning};
use crate::session::import::reading::{ReadRequest, read_inputs};
use crate::session::{Home, SessionError};
use crate::text::TextRange;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Seconds between two checkpoints.
const PACE_SECS: u64 = 60;

/// What to distil, and where to.
#[derive(Clone, Debug)]
pub struct DistillRequest {
    /// An encoder's folder, or the name of one that is installed.
    pub teacher: PathBuf,
    /// Files and folders of any format that can be imported; of their sentences the words count alone.
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
    let incoming = read_inputs(&request.texts, &ReadRequest::default(), &[], cancel, &mut |_, _| {})?;
    let request = DistillationRequest {
        teacher,
        teacher_name: name_of(&request.teacher),
        sentences: incoming.documents.iter().flat_map(words).collect(),
        config: request.config.clone(),
        output: request.output.clone(),
        resume: request.resume,
        pace_secs: PACE_SECS,
    };
    let record = distill(&request, cancel, on_event)?;
    Ok(DistillReport { record, warnings: incoming.warnings, notes: incoming.notes })
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

fn words(document: &ImportedDocument) -> impl Iterator<Item = Vec<String>> {
    let word = |range: &TextRange| range.of(&document.text).to_owned();
    document.sentences.iter().map(move |sentence| sentence.tokens.iter().map(word).collect())
}
