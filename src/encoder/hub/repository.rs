//! The name of what is published on the hub.

use crate::encoder::EncoderError;
use std::fmt;

/// The hub's address, unless `HF_ENDPOINT` names another.
pub(super) const ENDPOINT: &str = "https://huggingface.co";

/// A repository and a revision of it: `OWNER/NAME`, or `OWNER/NAME@REVISION`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repository {
    id: String,
    revision: String,
}

impl Repository {
    /// Also understands the address of the repository's page.
    ///
    /// # Errors
    /// When it is no such name.
    pub fn parse(text: &str) -> Result<Self, EncoderError> {
        let text = text.trim();
        let name = text.strip_prefix(ENDPOINT).map_or(text, |rest| rest.trim_start_matches('/')).trim_end_matches('/');
        let (id, revision) = name.split_once('@').unwrap_or((name, "main"));
        let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && part.len() <= 96
                && part.chars().all(fit)
                && !part.contains("..")
                && !part.contains("--")
        };
        // Some that are old have no owner.
        let is_id = id.split('/').count() <= 2 && id.split('/').all(is_part);
        let is_revision = revision.len() <= 200
            && revision.split('/').all(|part| !part.is_empty() && part != "." && part != ".." && part.chars().all(fit));
        if is_id && is_revision {
            Ok(Self { id: id.to_owned(), revision: revision.to_owned() })
        } else {
            Err(EncoderError::BadRepository(text.to_owned()))
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The name without the owner: what to call the encoder where nothing else is said.
    pub fn name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or(&self.id)
    }

    /// The name as one part of a path, as the hub's own libraries write it.
    pub(super) fn as_folder(&self) -> String {
        self.id.replace('/', "--")
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.revision == "main" { f.write_str(&self.id) } else { write!(f, "{}@{}", self.id, self.revision) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let parsed = |text: &str| Repository::parse(text).map(|r| (r.id().to_owned(), r.revision().to_owned())).ok();
        let pair = |id: &str, revision: &str| Some((id.to_owned(), revision.to_owned()));
        assert_eq!(parsed("a/b-c.d"), pair("a/b-c.d", "main"));
        assert_eq!(parsed(" roberta-base "), pair("roberta-base", "main"));
        assert_eq!(parsed("a/b@refs/pr/1"), pair("a/b", "refs/pr/1"));
        assert_eq!(parsed("https://huggingface.co/a/b/"), pair("a/b", "main"));
        for bad in [
            "",
            "/",
            "a//b",
            "a/b/c",
            "../x",
            "a/..",
            "a/b@",
            "a/b@../x",
            "a b/c",
            "a/b?x",
            "https://x.org/a/b",
            "a--b/c",
        ] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
        assert_eq!(Repository::parse("a/b@v1").unwrap().to_string(), "a/b@v1");
        assert_eq!(Repository::parse("a/b").unwrap().name(), "b");
    }
}
