//! Who did what, and when, as the log has it.

use crate::annotation::SentenceId;
use crate::session::project::Project;
use crate::session::{SessionError, Task};
use crate::store::LogLine;

impl Project {
    /// Reads the newest entries of the log, the newest first; of one sentence only those that changed it. What is not saved
    /// yet is not among them. Linear in the entries that are gone through: not for the window's thread.
    ///
    /// # Errors
    /// A damaged file.
    pub fn history_now(&self, most: usize, of: Option<SentenceId>) -> Result<Vec<LogLine>, SessionError> {
        self.reads_history(most, of)()
    }

    /// The same on a thread of its own.
    pub fn history(&self, most: usize, of: Option<SentenceId>) -> Task<Result<Vec<LogLine>, SessionError>> {
        Task::spawn("nestling-history", self.waker.as_waker(), self.reads_history(most, of))
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
