//! Completing, skipping, flagging and opening again, and what is told where something is passed over by that.

use super::commands::{CommandId, keys_text};
use super::desk::{Desk, NOTHING, Told};
use crate::annotation::Status;
use crate::session::Command;
use crate::wording::counted;

impl Desk {
    pub(super) fn set_status_and_go(&mut self, status: Status) -> Told {
        let Some(sentence) = self.view.sentence(&self.project) else { return NOTHING };
        let (sentence, before) = (sentence.id(), sentence.status());
        let open = self.view.ghosts().count();
        self.change(Command::SetStatus { sentence, status })?;
        let mut told = Vec::new();
        if status == Status::Complete && before != status && open > 0 {
            let were = counted(open, "suggestion was", "suggestions were");
            told.push(format!("Completed; {were} not accepted ({} goes back)", keys_text(CommandId::Undo)));
        }
        if before == Status::Flagged {
            told.push("No longer flagged".to_owned());
        }
        told.extend(self.go_on()?);
        Ok((!told.is_empty()).then(|| told.join(" · ")))
    }

    /// Flags the sentence, or makes it what it was before the flag.
    pub(super) fn flag(&mut self) -> Told {
        let Some(sentence) = self.view.sentence(&self.project) else { return NOTHING };
        let (sentence, is_flagged) = (sentence.id(), sentence.status() == Status::Flagged);
        if !is_flagged {
            return self.change(Command::SetStatus { sentence, status: Status::Flagged }).map(|_| None);
        }
        let before = self.project.status_before_flag(sentence);
        let status = before.unwrap_or(Status::InProgress);
        self.change(Command::SetStatus { sentence, status })?;
        Ok(before.is_none().then(|| "No longer flagged, and in progress now".to_owned()))
    }

    /// Makes a complete or skipped sentence one that waits again. Its mentions stay.
    pub(super) fn reopen(&mut self) -> Told {
        let Some(sentence) = self.view.sentence(&self.project) else { return NOTHING };
        if sentence.status().waits() {
            return Ok(Some("The sentence is open".to_owned()));
        }
        let (sentence, status) = (sentence.id(), Status::InProgress);
        self.change(Command::SetStatus { sentence, status })?;
        Ok(Some("The sentence is open again".to_owned()))
    }
}
