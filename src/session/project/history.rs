//! What was done: the log, and what it knows of a sentence.

use super::Project;
use super::driver::Driver;
use crate::annotation::{Edit, SentenceId, Status};
use crate::session::{SessionError, Task};
use crate::store::LogLine;

impl Project {
    /// Reads the newest entries of the log on a thread of its own, the newest first; of one sentence only those that changed
    /// it. What is not saved yet is not among them. Linear in the entries that are gone through.
    pub fn history(&self, most: usize, of: Option<SentenceId>) -> Task<Result<Vec<LogLine>, SessionError>> {
        Task::spawn("nestling-history", self.waker.as_waker(), self.reads_history(most, of))
    }

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

    fn reads_history(
        &self,
        most: usize,
        of: Option<SentenceId>,
    ) -> impl FnOnce() -> Result<Vec<LogLine>, SessionError> + Send + use<> {
        let open = self.connect_again();
        move || Ok(open()?.newest_of_log(most, of)?)
    }
}

impl Driver {
    /// As [`Project::history`].
    ///
    /// # Errors
    /// A damaged file.
    pub fn history_now(&self, most: usize, of: Option<SentenceId>) -> Result<Vec<LogLine>, SessionError> {
        self.reads_history(most, of)()
    }
}
