//! What a sentence was before it was flagged. The history knows: a flag is a status like others.

use crate::annotation::{Edit, SentenceId, Status};
use crate::session::project::Project;

impl Project {
    /// The status of a flagged sentence before its flag. `None` where the flag came with an import, or where the words
    /// came into other sentences since.
    pub fn status_before_flag(&self, id: SentenceId) -> Option<Status> {
        let mut is_begun = false;
        let of_sentence = |edit: &&Edit| edit.sentence() == Some(id);
        for inverse in self.history.done().flat_map(|done| done.edits.iter().filter(of_sentence)) {
            match inverse {
                // It was not untouched for long.
                Edit::SetStatus { old: Status::Flagged, new: Status::Untouched, .. } if is_begun => {
                    return Some(Status::InProgress);
                }
                Edit::SetStatus { old: Status::Flagged, new, .. } => return Some(*new),
                Edit::SetStatus { .. } | Edit::Resegment { .. } => return None,
                Edit::SetSplit { .. } => {}
                _ => is_begun = true,
            }
        }
        None
    }
}
