//! "Save a copy": the whole project as one new file.

use crate::session::SessionError;
use crate::session::project::Project;
use crate::session::task::Task;
use std::path::PathBuf;

impl Project {
    /// Copies the project, with all that is done so far, into a new file on a thread of its own. Models are not in it:
    /// they lie beside a project and can be made again.
    pub fn save_copy(&self, to: PathBuf) -> Task<Result<(), SessionError>> {
        let (open, writer) = (self.connect_again(), self.writer().ok().cloned());
        Task::spawn("nestling-copy", self.waker.as_waker(), move || {
            if let Some(writer) = writer {
                writer.flush()?;
            }
            Ok(open()?.save_copy(&to)?)
        })
    }
}
