//! Completing, skipping, flagging and opening again, and what is told where something is passed over by that.
//!
//! # Invariants
//! - A sentence that is complete stays so until it is opened again: no other command takes that away.
//! - What changes a complete sentence is told in words, with the way back: it may have been a slip of the hand.

use super::state::{Feedback, NO_FEEDBACK, Workspace};
use crate::annotation::{Sentence, Status};
use crate::gui::commands::{CommandId, keys_text};
use crate::session::Command;
use crate::wording::counted;

impl Workspace {
    pub(super) fn set_status_and_go(&mut self, status: Status) -> Feedback {
        let Some(sentence) = self.view.sentence(&self.project) else { return NO_FEEDBACK };
        let (sentence, before) = (sentence.id(), sentence.status());
        if before == Status::Complete && status != before {
            return Ok(Some(stays_complete("skip")));
        }
        let open = self.view.suggestion_marks().count();
        self.change(Command::SetStatus { sentence, status })?;
        let mut feedback = Vec::new();
        if status == Status::Complete && before != status && open > 0 {
            let were = counted(open, "suggestion was", "suggestions were");
            feedback.push(format!("Completed; {were} not accepted ({} to undo)", keys_text(CommandId::Undo)));
        }
        if status == Status::Skipped && before != status {
            feedback.push(format!("Skipped ({} to undo)", keys_text(CommandId::Undo)));
        }
        if before == Status::Flagged {
            feedback.push("No longer flagged".to_owned());
        }
        if before == Status::Skipped && status != before {
            feedback.push("No longer skipped".to_owned());
        }
        feedback.extend(self.go_on()?);
        Ok((!feedback.is_empty()).then(|| feedback.join(" · ")))
    }

    /// Flags the sentence, or makes it what it was before the flag.
    pub(super) fn flag(&mut self) -> Feedback {
        let Some(sentence) = self.view.sentence(&self.project) else { return NO_FEEDBACK };
        let (sentence, status) = (sentence.id(), sentence.status());
        if status == Status::Complete {
            return Ok(Some(stays_complete("flag")));
        }
        if status != Status::Flagged {
            self.change(Command::SetStatus { sentence, status: Status::Flagged })?;
            return Ok((status == Status::Skipped).then(|| "Flagged, and no longer skipped".to_owned()));
        }
        let before = self.project.status_before_flag(sentence);
        let status = before.unwrap_or(Status::InProgress);
        self.change(Command::SetStatus { sentence, status })?;
        Ok(before.is_none().then(|| "No longer flagged; now in progress".to_owned()))
    }

    /// Makes a complete or skipped sentence one that waits again. Its mentions stay.
    pub(super) fn reopen(&mut self) -> Feedback {
        let Some(sentence) = self.view.sentence(&self.project) else { return NO_FEEDBACK };
        if sentence.status().waits() {
            return Ok(Some("The sentence is already open".to_owned()));
        }
        let was = if sentence.status() == Status::Complete { "complete" } else { "skipped" };
        let (sentence, status) = (sentence.id(), Status::InProgress);
        self.change(Command::SetStatus { sentence, status })?;
        Ok(Some(format!("Reopened; no longer {was} ({} to undo)", keys_text(CommandId::Undo))))
    }

    /// Does something, and says so if it changed a sentence that is complete and does not speak for itself.
    pub(super) fn minding_complete(&mut self, edit: impl FnOnce(&mut Self) -> Feedback) -> Feedback {
        let complete = self.view.sentence(&self.project).filter(|s| s.status() == Status::Complete).map(Sentence::id);
        let revision = self.project.corpus().revision();
        let feedback = edit(self)?;
        let corpus = self.project.corpus();
        let Some(id) = complete.filter(|_| feedback.is_none() && corpus.revision() != revision) else {
            return Ok(feedback);
        };
        let is_complete = corpus.sentence(id).is_some_and(|sentence| sentence.status() == Status::Complete);
        let now = if is_complete { "the sentence stays complete" } else { "the sentence is no longer complete" };
        let intent = self.project.undo_intent().unwrap_or_default();
        Ok(Some(format!("{intent}: {now} ({} to undo)", keys_text(CommandId::Undo))))
    }
}

/// Why a complete sentence was not flagged or skipped, and what to do.
fn stays_complete(what_to: &str) -> String {
    format!("This sentence is complete; to {what_to} it, reopen it first ({})", keys_text(CommandId::Reopen))
}
