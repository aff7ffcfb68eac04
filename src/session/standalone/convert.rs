//! From files to a file of another format, without a project.

use crate::format::{ImportedDocument, Options, Receipt, Warning, by_id};
use crate::session::SessionError;
use crate::session::export::readback::{Source, write_read_back};
use crate::session::import::reading::{Incoming, ReadRequest, read_inputs};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// What to convert, and how.
#[derive(Clone, Debug, Default)]
pub struct ConvertRequest {
    /// Format id; `None`: told from the files.
    pub from: Option<String>,
    /// Format id.
    pub to: String,
    /// For both sides: each takes what it knows.
    pub options: Vec<(String, String)>,
    /// Write nothing when something can't be represented.
    pub strict: bool,
}

/// What a conversion did.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvertReceipt {
    pub format: &'static str,
    pub written: Receipt,
    /// What could not be read.
    pub warnings: Vec<Warning>,
    pub notes: Vec<String>,
}

/// Reads files, writes one file or folder, reads that back and compares. Waits for the disk.
///
/// # Errors
/// As [`read_files`](crate::session::read_files) and [`ExportView::export`](crate::session::ExportView::export), and a stop. Nothing is
/// written then.
pub fn convert(
    files: &[PathBuf],
    request: &ConvertRequest,
    path: &Path,
    cancel: &AtomicBool,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<ConvertReceipt, SessionError> {
    let format = by_id(&request.to)?;
    let reading = ReadRequest { format: request.from.clone(), options: request.options.clone() };
    let incoming = read_inputs(files, &reading, &[format], cancel, on_progress)?;
    // Checked while reading: each is known to one of the sides.
    let options = Options::known_to(format, &request.options)?;
    let documents = || incoming.documents.iter().map(ImportedDocument::view);
    let Incoming { label_hints: labels, definitions, .. } = &incoming;
    let source = Source { labels, definitions, documents: &documents, cancel };
    let written = write_read_back(&source, format, &options, request.strict, path)?;
    let mut notes = incoming.notes;
    notes.extend(written.notes.iter().cloned());
    Ok(ConvertReceipt { format: format.id(), written, warnings: incoming.warnings, notes })
}
