//! Leaving a project and the program without losing anything.

use super::{Opened, Screen, Window};
use crate::gui::Ending;
use crate::gui::dialogs::Report;
use crate::session::{Project, SaveState, SessionError};

impl Window {
    /// Where to leave what goes wrong when the window is gone.
    pub(in crate::gui) fn tell_end(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Cancels an import, writes what is left and stops the workers. Waits: only for the end of the program.
    ///
    /// # Errors
    /// Changes that could not be saved.
    pub fn close(&mut self) -> Result<(), SessionError> {
        self.keep_what_is_typed();
        if let Some(dialog) = self.dialog.take() {
            dialog.wait();
        }
        match std::mem::replace(&mut self.screen, Screen::Start) {
            Screen::Start => Ok(()),
            Screen::Desk(desk) => desk.leave().close(),
            Screen::Busy { task, .. } => {
                // Only what was not saved matters now, not why another project could not be opened.
                let Opened { project, trouble, is_unsaved, .. } = task.wait()?;
                project.map_or(Ok(()), Project::close)?;
                trouble.into_iter().next().filter(|_| is_unsaved).map_or(Ok(()), Err)
            }
        }
    }

    /// Changes that could not be saved are worth a second look before they are given up. True once, until the failure
    /// is mended and another one comes.
    pub(super) fn refuses_to_leave(&mut self) -> bool {
        if self.told_unsaved || !self.has_unsaved() {
            return false;
        }
        self.told_unsaved = true;
        self.report = Some(Report {
            title: "Some changes are not saved".to_owned(),
            text: "The project file could not be written. Make room or mend access to it and press “Try again”. \
                   Closing the project once more, or opening another one, gives these changes up."
                .to_owned(),
            damaged: None,
        });
        true
    }

    pub(super) fn has_unsaved(&self) -> bool {
        self.desk().is_some_and(|d| matches!(d.project.save_state(), SaveState::Failed { .. }))
    }
}
