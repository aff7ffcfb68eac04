//! What stops a whole file. What costs a line only is a [`Warning`](super::Warning).

use crate::text::TextTooLong;
use crate::wording::bytes;
use std::borrow::Cow;
use std::io;

#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error("there is no such file; check the name: {file}")]
    Missing { file: String },
    #[error("this is a folder; choose a file in it: {file}")]
    Folder { file: String },
    #[error("this is {what}, not a file; save its content as a file and import that: {file}")]
    NotAFile { what: &'static str, file: String },
    #[error("this is a link that leads out of the imported folder; import its target separately: {file}")]
    LeadsOut { file: String },
    #[error("the file is larger than {}, the most that is read of such a file: {file}", bytes(*most))]
    TooLarge { most: u64, file: String },
    #[error("the file is empty; nothing can be imported from it: {file}")]
    Empty { file: String },
    #[error("there is no sentence in the file, only white space or invisible characters: {file}")]
    NoSentence { file: String },
    #[error("there is no format {id:?}; choose one of {known}")]
    UnknownFormat { id: String, known: String },
    #[error("the format was not recognised ({found}); choose one of {known} as the format: {file}")]
    NotRecognised { found: String, known: String, file: String },
    #[error("{what} can't be read; {remedy}: {file}")]
    Foreign {
        what: &'static str,
        remedy: Cow<'static, str>,
        /// Annotations or texts are missed without it.
        is_data: bool,
        file: String,
    },
    #[error(
        "it looks like {found}, and only files with mentions were read; import it separately to include it: {file}"
    )]
    PassedOver { found: String, file: String },
    #[error("this is no {format} file ({found}); choose another format: {file}")]
    WrongFormat { format: &'static str, found: String, file: String },
    #[error(
        "the file was written by a newer program (its version is {found}, this program knows {known}); update the program: {file}"
    )]
    Newer { found: u32, known: u32, file: String },
    #[error(
        "byte {byte} (line {line}) is not UTF-8; convert the file to UTF-8, for example with `iconv -f latin1 -t utf-8`: {file}"
    )]
    NotUtf8 { byte: usize, line: usize, file: String },
    #[error("the file is not whole UTF-16 as its first bytes say; save it as UTF-8: {file}")]
    NotUtf16 { file: String },
    #[error(
        "byte {byte} is NUL, so this is not text but a binary file or UTF-16 without its mark; save it as UTF-8 text: {file}"
    )]
    Nul { byte: usize, file: String },
    #[error("no such option {key:?}; {known}")]
    UnknownOption { key: String, known: String },
    #[error("the option {key} can't be {value:?}; {allowed}")]
    BadOption { key: &'static str, value: String, allowed: String },
    #[error("{why}; set the option {option}: {file}")]
    NeedsOption { why: String, option: &'static str, file: String },
    #[error("{source}: {file}")]
    TooLong { source: TextTooLong, file: String },
    #[error("could not read the file ({source}); check the disk and the permissions: {file}")]
    Read { source: io::Error, file: String },
    #[error("could not write ({0}); check the disk and the permissions of the folder")]
    Write(#[from] io::Error),
    #[error("stopped before the end of the file: {file}")]
    Stopped { file: String },
}

impl FormatError {
    pub(super) fn read(source: io::Error, file: &str) -> Self {
        let file = file.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { file },
            io::ErrorKind::IsADirectory => Self::Folder { file },
            _ => Self::Read { source, file },
        }
    }
}
