//! What became of the files of a project, for people.

use std::fmt;
use std::path::{Path, PathBuf};

/// What happened to a project file while it was open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Lost {
    #[error("the project file was moved or deleted while it was open")]
    Gone,
    #[error("another file was put in the place of the project while it was open")]
    Replaced,
    #[error("another program overwrote the project file while it was open")]
    Overwritten,
}

/// Something that happened to the files of a project and that a person must know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileNews {
    /// The path was taken away, and the project goes on in another file, which has everything.
    MovedOn { why: Lost, from: PathBuf, to: PathBuf },
    /// A write-ahead log of another file lay beside the project.
    LogSetAside { log: PathBuf, of: PathBuf },
    /// The write-ahead log was taken away while the project was open; the project has all that was in it.
    LogMended { of: PathBuf, set_aside: Option<PathBuf> },
}

impl FileNews {
    /// Where the project is now, if it is elsewhere.
    pub fn moved_to(&self) -> Option<&Path> {
        match self {
            Self::MovedOn { to, .. } => Some(to),
            Self::LogSetAside { .. } | Self::LogMended { .. } => None,
        }
    }

    /// A few words to go before it.
    pub fn heading(&self) -> &'static str {
        match self {
            Self::MovedOn { .. } => "Your work is now in another file",
            Self::LogSetAside { .. } => "Changes of another file were set aside",
            Self::LogMended { .. } => "Another program interferes with the project",
        }
    }
}

impl fmt::Display for FileNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MovedOn { why, from, to } => {
                write!(f, "{why}. All your work is saved in {}, and the project continues there. ", to.display())?;
                match why {
                    Lost::Gone => write!(
                        f,
                        "If you moved the file yourself, work on with one of the two: only the new one has your latest \
                         changes. It was: {}",
                        from.display()
                    ),
                    Lost::Overwritten => write!(
                        f,
                        "Only the list of earlier edits is gone, so that they can't be undone. What is in the old place \
                         now was not changed; look at both before you delete one: {}",
                        from.display()
                    ),
                    Lost::Replaced => write!(
                        f,
                        "What is in the old place now was not changed; look at both before you delete one: {}",
                        from.display()
                    ),
                }
            }
            Self::LogSetAside { log, of } => write!(
                f,
                "beside the project lay changes that belong to another file, perhaps to one that had its name before; \
                 they were not applied, and are kept in {}. If you miss recent work and have the file of before, put \
                 these changes beside it under its name with the ending -wal, and open it: {}",
                log.display(),
                of.display()
            ),
            Self::LogMended { of, set_aside } => {
                write!(
                    f,
                    "another program took away the file with the latest changes while the project was open; nothing is \
                     lost, the project file has them all. "
                )?;
                if let Some(path) = set_aside {
                    write!(f, "What came in its place is kept in {}. ", path.display())?;
                }
                write!(f, "If a program synchronises the folder, pause it while you work: {}", of.display())
            }
        }
    }
}
