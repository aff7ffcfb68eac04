//! Where a reader reads from: a file, bytes, or a stream that can't be read twice.

use super::encoding::decode;
use super::{FormatError, Sample, Sink};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// How much of a file is looked at to tell its format, and how much of a stream to tell how it is meant.
const SAMPLE_BYTES: usize = 1 << 18;

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
}

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
        Ok(Self {
            head: head(&mut reader, &file)?,
            name: part(path.file_stem()),
            extension: part(path.extension()).to_lowercase(),
            file,
            source: Source::File { path: path.to_owned(), folder },
        })
    }

    /// # Errors
    /// None: bytes can always be read.
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Result<Self, FormatError> {
        let (name, bytes) = (name.into(), bytes.into());
        let head = head(&mut bytes.as_slice(), &name)?;
        Ok(Self { file: name.clone(), name, extension: String::new(), source: Source::Bytes(bytes), head })
    }

    /// Something that can be read only once, such as the standard input. Waits for its first bytes.
    ///
    /// # Errors
    /// One that can't be read.
    pub fn stream(name: impl Into<String>, mut stream: impl Read + Send + 'static) -> Result<Self, FormatError> {
        let name = name.into();
        let head = head(&mut stream, &name)?;
        Ok(Self { file: name.clone(), name, extension: String::new(), source: Source::Stream(Box::new(stream)), head })
    }

    /// The same under another name.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
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

    /// The start, to tell the format by.
    pub fn sample(&self) -> Sample<'_> {
        Sample { extension: &self.extension, bytes: &self.head }
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
                Box::new(BufReader::with_capacity(1 << 16, open_regular(&path, folder.as_deref())?))
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

/// Opens a regular file. Others are refused unopened: a pipe may wait for ever for somebody to write to it.
fn open_regular(path: &Path, folder: Option<&Path>) -> Result<File, FormatError> {
    let name = || path.display().to_string();
    let failed = |error| FormatError::read(error, &name());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(FormatError::Folder { file: name() });
    }
    if !metadata.is_file() {
        return Err(FormatError::NotAFile { what: "a pipe, a socket or a device", file: name() });
    }
    if let Some(folder) = folder
        && !path.canonicalize().map_err(failed)?.starts_with(folder)
    {
        return Err(FormatError::LeadsOut { file: name() });
    }
    File::open(path).map_err(failed)
}

fn all_of(path: &Path, folder: Option<&Path>) -> Result<Vec<u8>, FormatError> {
    let mut bytes = Vec::new();
    let read = open_regular(path, folder)?.read_to_end(&mut bytes);
    read.map_err(|error| FormatError::read(error, &path.display().to_string()))?;
    Ok(bytes)
}

fn head(reader: &mut dyn Read, file: &str) -> Result<Vec<u8>, FormatError> {
    let mut head = Vec::new();
    reader.take(SAMPLE_BYTES as u64).read_to_end(&mut head).map_err(|error| FormatError::read(error, file))?;
    Ok(head)
}
