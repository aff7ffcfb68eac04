//! Which project something belongs to.

use std::fmt;

/// Tells a project from all others: 32 hexadecimal digits, drawn at random when it was made. Its copies have the same.
///
/// The default is that of no project.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ProjectId(String);

impl ProjectId {
    /// `None` for what is no such number.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (text.len() == 32 && digits).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
