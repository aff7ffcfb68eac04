//! Storing the note on a mention that is being written.
//!
//! # Invariants
//! - What is typed is stored soon after, while the field still has the keyboard; all of one writing is undone as one.
//! - A note outlives its field: it is stored also when its mention, the sentence or the project is left.

use super::state::{Feedback, NO_FEEDBACK, Workspace};
use super::view::View;
use crate::gui::widgets::sentence::MarkId;
use crate::session::{Command, Project};

impl View {
    /// A note is being written that the project does not have as it is.
    pub fn has_unsaved_note(&self, project: &Project) -> bool {
        let stored = self.note.of.and_then(|(sentence, mention)| project.corpus().sentence(sentence)?.mention(mention));
        self.note.is_open && stored.is_some_and(|mention| mention.note != self.note.note())
    }
}

impl Workspace {
    pub(super) fn note(&mut self) -> Feedback {
        if self.view.picked_mention(&self.project).is_none() {
            return Ok(Some("Select a mention first".to_owned()));
        }
        self.view.focus_note = true;
        NO_FEEDBACK
    }

    /// A note is being written, and its mention is no longer the picked one.
    pub(in crate::gui) fn has_left_note(&self) -> bool {
        let draft = &self.view.note;
        draft.is_open && draft.of.map(|(_, mention)| MarkId::Mention(mention)) != self.view.picked()
    }

    /// Takes over the note that is being written, which goes on or has ended.
    pub(in crate::gui) fn keep_note(&mut self, has_ended: bool) -> Feedback {
        if self.is_importing() || !self.view.note.is_open {
            return NO_FEEDBACK;
        }
        let draft = &mut self.view.note;
        draft.typing.settle();
        draft.is_open = !has_ended;
        let goes_on = draft.is_begun;
        draft.is_begun &= !has_ended;
        let Some((sentence, mention)) = draft.of else { return NO_FEEDBACK };
        let note = draft.note().to_owned();
        let there = self.project.corpus().sentence(sentence).and_then(|s| s.mention(mention));
        if there.is_none_or(|mention| mention.note == note) {
            return NO_FEEDBACK;
        }
        self.view.note.is_begun = !has_ended;
        let command = match goes_on {
            true => Command::GoOnWithNote { sentence, mention, note },
            false => Command::SetNote { sentence, mention, note },
        };
        self.change(command).map(|_| None)
    }
}
