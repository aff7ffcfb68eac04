//! Where a reader reads from: a file, bytes, or a stream that can't be read twice.

use super::encoding::decode;
use super::{FormatError, Sample, Sink};
use crate::disk;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of the start of a file is looked at to tell its format, and how much of a stream to tell how it is meant.
const SAMPLE_BYTES: usize = 1 << 18;

/// Pieces of what comes after the start that are looked at, too: what a file is, may show late.
const PIECES: u64 = 16;
const PIECE_BYTES: u64 = 1 << 13;

/// Something to read. It may be empty, which most readers refuse.
pub struct Input {
    /// For the document that a file without document names is.
    name: String,
    /// For messages.
    file: String,
    extension: String,
    source: Source,
    /// The first bytes; all of them if there are fewer than [`SAMPLE_BYTES`].
    head: Vec<u8>,
    listener: Option<Listener>,
    /// The start and whole lines from all over the rest of a file; empty where the head is all of it.
    pieces: Vec<u8>,
}

/// Hears how many bytes of a file were read, again and again. What it says ends the reading: `false` for no further.
pub type Listener = Arc<dyn Fn(usize) -> bool + Send + Sync>;

enum Source {
    File {
        path: PathBuf,
        /// Resolved; no link may lead out of it.
        folder: Option<PathBuf>,
    },
    Bytes(Vec<u8>),
    /// What comes after the head.
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// # Errors
    /// No such file, a folder, a pipe or device, one that can't be read.
    pub fn file(path: &Path) -> Result<Self, FormatError> {
        Self::open(path, None)
    }

    /// A file of a folder, which may come from strangers: neither it nor the files that belong to it may be links that
    /// lead out of the folder.
    ///
    /// # Errors
    /// As [`Self::file`], and such a link.
    pub fn file_of_folder(path: &Path, folder: &Path) -> Result<Self, FormatError> {
        let resolved = folder.canonicalize();
        Self::open(path, Some(resolved.map_err(|error| FormatError::read(error, &folder.display().to_string()))?))
    }

    fn open(path: &Path, folder: Option<PathBuf>) -> Result<Self, FormatError> {
        let file = path.display().to_string();
        let mut reader = open_regular(path, folder.as_deref())?;
        let part = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
        let head = head(&mut reader, &file)?;
        Ok(Self {
            pieces: pieces(&mut reader, &head).map_err(|error| FormatError::read(error, &file))?,
            head,
            name: part(path.file_stem()),
            extension: part(path.extension()).to_lowercase(),
            file,
            source: Source::File { path: path.to_owned(), folder },
            listener: None,
        })
    }

    /// # Errors
    /// None: bytes can always be read.
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Result<Self, FormatError> {
        let (name, bytes) = (name.into(), bytes.into());
        let head = head(&mut bytes.as_slice(), &name)?;
        let later =
            pieces(&mut Cursor::new(bytes.as_slice()), &head).map_err(|error| FormatError::read(error, &name))?;
        Ok(Self {
            file: name.clone(),
            name,
            extension: String::new(),
            source: Source::Bytes(bytes),
            pieces: later,
            head,
            listener: None,
        })
    }

    /// Something that can be read only once, such as the standard input. Waits for its first bytes.
    ///
    /// # Errors
    /// One that can't be read.
    pub fn stream(name: impl Into<String>, mut stream: impl Read + Send + 'static) -> Result<Self, FormatError> {
        let name = name.into();
        let head = head(&mut stream, &name)?;
        let (extension, source) = (String::new(), Source::Stream(Box::new(stream)));
        Ok(Self { file: name.clone(), name, extension, source, pieces: Vec::new(), head, listener: None })
    }

    /// The same under another name.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The same, heard by somebody while it is read.
    pub fn heard_by(self, listener: Listener) -> Self {
        Self { listener: Some(listener), ..self }
    }

    /// All of it as text; the sink hears when it was converted.
    pub(super) fn text(self, sink: &mut dyn Sink) -> Result<String, FormatError> {
        let file = self.file.clone();
        let mut bytes = Vec::new();
        self.read()?.read_to_end(&mut bytes).map_err(|error| FormatError::read(error, &file))?;
        let decoded = decode(bytes, &file)?;
        if let Some(encoding) = decoded.converted_from {
            sink.note(format!("converted from {encoding}: {file}"));
        }
        Ok(decoded.text)
    }

    /// All bytes of this file, which may be none.
    pub(super) fn all_bytes(&self) -> Result<Vec<u8>, FormatError> {
        let Source::File { path, folder } = &self.source else { return Ok(self.head.clone()) };
        all_of(path, folder.as_deref())
    }

    /// A file in the folder of this one, or as many folders above it, by its name and of at most so many bytes; none where
    /// there is none, or this is no file.
    ///
    /// # Errors
    /// It is no file, leads out of the folder, is larger, or can't be read.
    pub(super) fn above(&self, levels: usize, file_name: &str, most: u64) -> Result<Option<Vec<u8>>, FormatError> {
        let Source::File { path, folder } = &self.source else { return Ok(None) };
        let Some(path) = path.ancestors().nth(levels + 1).map(|above| above.join(file_name)) else { return Ok(None) };
        let file = match open_regular(&path, folder.as_deref()) {
            Ok(file) => file,
            Err(FormatError::Missing { .. } | FormatError::Folder { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        let failed = |error| FormatError::read(error, &path.display().to_string());
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > most {
            return Err(FormatError::TooLarge { most, file: path.display().to_string() });
        }
        Ok(Some(bytes))
    }

    /// The file of the same name with another ending, in small or capital letters.
    ///
    /// # Errors
    /// It is no file, leads out of the folder, or can't be read.
    pub(super) fn with_ending(&self, ending: &str) -> Result<Option<Beside>, FormatError> {
        match self.neighbour(|path| path.with_extension(ending))? {
            None => self.neighbour(|path| path.with_extension(ending.to_uppercase())),
            found => Ok(found),
        }
    }

    fn neighbour(&self, name: impl FnOnce(&Path) -> PathBuf) -> Result<Option<Beside>, FormatError> {
        let Source::File { path, folder } = &self.source else { return Ok(None) };
        let path = name(path);
        match all_of(&path, folder.as_deref()) {
            Ok(bytes) => Ok(Some(Beside { file: path.display().to_string(), bytes })),
            Err(FormatError::Missing { .. } | FormatError::Folder { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The name for a document that has none of its own: that of the file, without its ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What messages call it.
    pub fn file_name(&self) -> &str {
        &self.file
    }

    /// The start, and lines from all over a file, to tell the format by.
    pub fn sample(&self) -> Sample<'_> {
        let bytes = if self.pieces.is_empty() { &self.head } else { &self.pieces };
        Sample { extension: &self.extension, bytes }
    }

    /// Everything, for a look before reading; of a stream only the start. The flag says whether it is everything.
    pub(super) fn look(&self) -> Result<(Box<dyn BufRead + '_>, bool), FormatError> {
        Ok(match &self.source {
            Source::File { path, folder } => (Box::new(BufReader::new(open_regular(path, folder.as_deref())?)), true),
            Source::Bytes(bytes) => (Box::new(bytes.as_slice()), true),
            Source::Stream(_) => (Box::new(self.head.as_slice()), self.head.len() < SAMPLE_BYTES),
        })
    }

    /// Everything, to be read once.
    ///
    /// # Errors
    /// Nothing is there, or it can't be read.
    pub(super) fn read(self) -> Result<Box<dyn BufRead>, FormatError> {
        if self.head.is_empty() {
            return Err(FormatError::Empty { file: self.file });
        }
        Ok(match self.source {
            Source::File { path, folder } => {
                let file = open_regular(&path, folder.as_deref())?;
                Box::new(BufReader::with_capacity(1 << 16, Heard { file, listener: self.listener }))
            }
            Source::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            Source::Stream(rest) => Box::new(BufReader::new(Cursor::new(self.head).chain(rest))),
        })
    }
}

/// A file that belongs to another one.
pub(super) struct Beside {
    /// What messages call it.
    pub(super) file: String,
    pub(super) bytes: Vec<u8>,
}

/// Opens a file for reading, after the links to it, which may lead out of no folder that is given.
fn open_regular(path: &Path, folder: Option<&Path>) -> Result<File, FormatError> {
    let name = || path.display().to_string();
    let failed = |error| FormatError::read(error, &name());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(FormatError::Folder { file: name() });
    }
    if disk::obstacle(&metadata).is_some() {
        return Err(FormatError::NotAFile { what: "a pipe, a socket or a device", file: name() });
    }
    let path = path.canonicalize().map_err(failed)?;
    if folder.is_some_and(|folder| !path.starts_with(folder)) {
        return Err(FormatError::LeadsOut { file: name() });
    }
    disk::open(&path).map_err(failed)
}

fn all_of(path: &Path, folder: Option<&Path>) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let read = open_regular(path, folder)?.read_to_end(&mut bytes);
    read.map_err(|error| FormatError::read(error, &path.display().to_string()))?;
    Ok(bytes)
}

/// A file that is read in somebody's hearing.
struct Heard {
    file: File,
    listener: Option<Listener>,
}

impl Read for Heard {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        match &self.listener {
            Some(listener) if !listener(count) => Err(std::io::Error::other("stopped")),
            _ => Ok(count),
        }
    }
}

fn head(reader: &mut dyn Read, file: &str) -> Result<Vec<u8>, FormatError> {
    let mut head = Vec::new();
    reader.take(SAMPLE_BYTES as u64).read_to_end(&mut head).map_err(|error| FormatError::read(error, file))?;
    Ok(head)
}

/// The head up to its last line end, then whole lines from places all over the rest; nothing where the head is all. The
/// places are the same each time.
fn pieces(reader: &mut (impl Read + Seek), head: &[u8]) -> io::Result<Vec<u8>> {
    let is_utf16 = matches!(head, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]);
    if head.len() < SAMPLE_BYTES || is_utf16 || head.contains(&0) {
        return Ok(Vec::new());
    }
    let size = reader.seek(SeekFrom::End(0))?;
    let rest = size.saturating_sub(head.len() as u64);
    let line_end = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut sample = head.get(..line_end(head)).unwrap_or_default().to_vec();
    if sample.is_empty() {
        return Ok(Vec::new()); // one line
    }
    for piece in 0..PIECES {
        // Evenly, and each a little off, so that what comes at regular distances is not missed.
        let off = piece.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (rest / PIECES).max(1);
        let at = if piece + 1 == PIECES { rest.saturating_sub(PIECE_BYTES) } else { rest / PIECES * piece + off };
        reader.seek(SeekFrom::Start(head.len() as u64 + at))?;
        let mut bytes = Vec::new();
        reader.take(PIECE_BYTES).read_to_end(&mut bytes)?;
        let first = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let last = line_end(&bytes);
        // A blank line, as between sentences: what is put together here are none.
        sample.push(b'\n');
        sample.extend_from_slice(bytes.get(first..last).unwrap_or_default());
    }
    Ok(sample)
}
