//! A corpus to learn from.

use crate::annotation::Span;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A complete sentence: what is not marked is known to be none of the corpus' entities.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnnotatedSentence {
    pub words: Vec<String>,
    /// Spans of words, each with the name that the corpus has for its label.
    pub mentions: Vec<(Span, String)>,
    /// Mentions in fragments, which can't be learnt.
    pub discontinuous: usize,
}

/// A file that a corpus was read from, so that it can be found again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    pub name: String,
    pub sha256: String,
}

/// Sentences that one set of labels was looked for in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnnotatedCorpus {
    /// Of its own among those that are learnt from.
    pub name: String,
    pub sentences: Vec<AnnotatedSentence>,
    /// Empty where it was read from a project or a folder as a whole.
    pub files: Vec<SourceFile>,
}

impl AnnotatedCorpus {
    /// The labels that it has mentions of.
    pub(super) fn labels(&self) -> impl Iterator<Item = &str> {
        self.sentences.iter().flat_map(|sentence| &sentence.mentions).map(|(_, label)| label.as_str())
    }
}

/// SHA-256 of words and mentions, in hexadecimal digits.
pub(super) fn content_hash(sentences: &[&AnnotatedSentence]) -> String {
    let mut sha = Sha256::new();
    let text = |sha: &mut Sha256, text: &str| {
        sha.update((text.len() as u64).to_le_bytes());
        sha.update(text.as_bytes());
    };
    for AnnotatedSentence { words, mentions, discontinuous: _ } in sentences {
        sha.update((words.len() as u64).to_le_bytes());
        words.iter().for_each(|word| text(&mut sha, word));
        sha.update((mentions.len() as u64).to_le_bytes());
        for (span, label) in mentions {
            sha.update((span.start().get() as u64).to_le_bytes());
            sha.update((span.end().get() as u64).to_le_bytes());
            text(&mut sha, label);
        }
    }
    hex::encode(sha.finalize())
}
