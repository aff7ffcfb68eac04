//! Leaving a project and the program without losing anything.

use super::state::{Ending, Opened, Screen, Window};
use crate::gui::dialogs::Report;
use crate::session::{FileNews, Project, SessionError};
use eframe::egui::{Context, ViewportCommand};

/// Where the work has gone must be known before the file of before is opened again.
fn fail_if_moved(news: Vec<FileNews>) -> Result<(), SessionError> {
    let moved = news.into_iter().rev().find(|news| news.moved_to().is_some());
    moved.map_or(Ok(()), |news| Err(SessionError::FileNews(news)))
}

impl Window {
    /// Where to leave what goes wrong when the window is gone.
    pub(in crate::gui) fn report_end_to(mut self, ending: Ending) -> Self {
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
            Screen::Workspace(workspace) => fail_if_moved(workspace.leave().close()?),
            Screen::Busy { task, .. } => {
                // Only what was not saved matters now, not why another project could not be opened.
                let Opened { project, trouble, is_unsaved, mut news, .. } = task.wait()?;
                news.extend(project.map_or(Ok(Vec::new()), Project::close_with_news)?);
                trouble.into_iter().next().filter(|_| is_unsaved).map_or(Ok(()), Err)?;
                fail_if_moved(news)
            }
        }
    }

    /// Changes that could not be saved are worth a second look before they are given up. True once, until the failure
    /// is mended and another one comes.
    pub(super) fn refuses_to_leave(&mut self) -> bool {
        if self.warned_unsaved || !self.has_unsaved() {
            return false;
        }
        self.warned_unsaved = true;
        self.report = Some(Report {
            title: "Some changes are not saved".to_owned(),
            text: "The project file could not be written. Free some space or restore access to it, then press “Try \
                   again”. Closing the project again, or opening another one, discards these changes."
                .to_owned(),
            damaged: None,
        });
        true
    }

    pub(super) fn guard_closing(&mut self, ctx: &Context) {
        self.warned_unsaved &= self.has_unsaved();
        if ctx.input(|i| i.viewport().close_requested()) && self.refuses_to_leave() {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
        }
    }
}
