//! The note on a mention while it is written.

use crate::annotation::{Mention, MentionId, SentenceId};
use crate::gui::typing::Typing;

/// The note of the picked mention while somebody writes it.
#[derive(Default)]
pub struct NoteDraft {
    pub of: Option<(SentenceId, MentionId)>,
    pub text: String,
    /// The field had the keyboard when it was last painted: the project may not know the text yet.
    pub is_open: bool,
    /// The project has got a part of what is being written.
    pub is_begun: bool,
    pub typing: Typing,
}

impl NoteDraft {
    /// Of a mention, as the project has it.
    pub fn of(sentence: SentenceId, mention: &Mention) -> Self {
        Self { of: Some((sentence, mention.id)), text: mention.note.clone(), ..Self::default() }
    }

    /// What is to be stored of the text.
    pub fn note(&self) -> &str {
        self.text.trim()
    }
}
