//! An open project with the view on it, and how it is changed, imported into and left.
//!
//! # Invariants
//! - Annotations change by [`Project::run`] only; everything else in this folder moves the view.
//! - An import belongs to the project that it was started on. While it is written nothing else changes the project:
//!   the window carries out no other action, see [`Workspace::is_importing`].
//!
//! Deliberately absent: painting, files, dialogs.

use super::comparing::Comparing;
use super::view::View;
use crate::annotation::SentenceId;
use crate::session::{
    Command, FileNews, ImportHow, ImportReceipt, Imported, Incoming, Order, Outcome, Project, SessionError, Task,
    TaskLost, Watch,
};

pub struct Workspace {
    pub project: Project,
    pub view: View,
    pub(in crate::gui) comparing: Comparing,
    importing: Option<Importing>,
}

/// An import that is being written, and how to cancel it.
struct Importing {
    task: Task<Result<Imported, SessionError>>,
    watch: Watch,
}

/// A project without a view, to be closed on another thread.
pub(in crate::gui) struct ClosingWorkspace {
    project: Project,
    comparing: Comparing,
    importing: Option<Importing>,
}

/// What to tell the person after a command; nothing when the page shows it.
pub(in crate::gui) type Feedback = Result<Option<String>, SessionError>;

pub(super) const NO_FEEDBACK: Feedback = Ok(None);

impl Workspace {
    pub fn new(project: Project) -> Self {
        let view = View::on(&project);
        Self { project, view, comparing: Comparing::default(), importing: None }
    }

    /// An edit made now would make the import fail.
    pub fn is_importing(&self) -> bool {
        self.importing.is_some()
    }

    /// Changes the project and shows where.
    ///
    /// # Errors
    /// What the project refuses.
    pub fn change(&mut self, command: Command) -> Result<Outcome, SessionError> {
        let outcome = self.project.run(command)?;
        self.view.refresh(&self.project);
        Ok(outcome)
    }

    pub fn go_to(&mut self, id: SentenceId) {
        if self.view.current() != Some(id) {
            self.view.go_to(&self.project, id);
        }
    }

    pub(super) fn moves(&mut self, how: impl FnOnce(&mut View)) -> Feedback {
        how(&mut self.view);
        NO_FEEDBACK
    }

    pub(in crate::gui) fn start_import(&mut self, incoming: Incoming, how: ImportHow, watch: Watch) {
        if self.importing.is_none() {
            let task = self.project.start_import(incoming, how, &watch);
            self.importing = Some(Importing { task, watch });
        }
    }

    /// What became of an import, once.
    pub(in crate::gui) fn take_import(&mut self) -> Option<Result<ImportReceipt, SessionError>> {
        let result = self.importing.as_ref()?.task.poll()?;
        self.importing = None;
        let done = finish(&mut self.project, result);
        self.view.refresh(&self.project);
        if done.is_ok() {
            self.go_where_work_is();
        }
        Some(done)
    }

    /// Somebody who looks at a finished sentence is taken to one that waits.
    fn go_where_work_is(&mut self) {
        let Some(sentence) = self.view.sentence(&self.project) else { return };
        if sentence.status().waits() {
            return;
        }
        if let Some(next) = self.project.next_sentence(sentence.id(), Order::Text) {
            self.go_to(next);
        }
    }

    pub(in crate::gui) fn leave(mut self) -> ClosingWorkspace {
        if let Some(place) = self.view.current().filter(|_| self.project.read_only().is_none()) {
            // A writer that can't take it has more to say when it is closed.
            let _ = self.project.keep_place(place);
        }
        // It needs a moment to stop, which is used meanwhile.
        self.comparing.cancel();
        ClosingWorkspace { project: self.project, comparing: self.comparing, importing: self.importing }
    }
}

impl ClosingWorkspace {
    /// Cancels an import and a comparison, writes what waits and lets go of the file. Returns what happened to it and was not read.
    ///
    /// # Errors
    /// An import or changes that could not be saved.
    pub(in crate::gui) fn close(mut self) -> Result<Vec<FileNews>, SessionError> {
        let imported = self.importing.take().map(|Importing { task, watch }| {
            watch.cancel();
            finish(&mut self.project, task.wait())
        });
        let news = self.project.close_with_news();
        self.comparing.stop();
        let news = news?;
        match imported {
            None | Some(Ok(_) | Err(SessionError::Stopped)) => Ok(news),
            Some(Err(error)) => Err(error),
        }
    }

    pub(in crate::gui) fn path(&self) -> &std::path::Path {
        self.project.path()
    }
}

fn finish(
    project: &mut Project,
    result: Result<Result<Imported, SessionError>, TaskLost>,
) -> Result<ImportReceipt, SessionError> {
    result.map_err(SessionError::from).flatten().and_then(|imported| project.finish_import(imported))
}
