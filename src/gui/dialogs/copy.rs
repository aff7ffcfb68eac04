//! Saving a copy of the whole project: where to.

use super::{DialogContext, Report, button_row, default_button, explain, field_name, modal, problem};
use crate::gui::actions::UiAction;
use crate::gui::files::{FileRequest, PathField};
use crate::gui::theme::size;
use crate::gui::widgets::parts::button;
use crate::session::{Project, SessionError, Task};
use eframe::egui::{self, Ui};
use std::path::PathBuf;

pub(crate) struct CopyDialog {
    path: PathField,
    failure: Option<String>,
    writing: Option<Task<Result<(), SessionError>>>,
}

impl CopyDialog {
    pub(crate) fn new(project: &Project) -> Self {
        let proposal = project.path().with_file_name(format!("{} copy.nestling", project.name()));
        Self { path: PathField::several(&[proposal]), failure: None, writing: None }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        if let Some(result) = self.writing.as_ref().and_then(Task::poll) {
            self.writing = None;
            match result.map_err(SessionError::from).flatten() {
                Ok(()) => {
                    let text = format!("Copy saved: {}", self.full_path().display());
                    context.actions.extend([UiAction::CloseDialog, UiAction::Notice(text)]);
                }
                Err(error) => self.failure = Some(Report::of("", &error).text),
            }
        }
        let closed = modal(ctx, "Save a copy", size::DIALOG_WIDTH, |ui| match self.writing {
            Some(_) => {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.label("Saving the copy …");
                });
            }
            None => self.choose(ui, context),
        });
        if closed && !self.is_writing() {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    /// Then it stays open: what comes of it is to be seen.
    pub(crate) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Waits for a file that is being written: for the end of the program.
    pub(crate) fn wait(self) {
        if let Some(task) = self.writing {
            // The window is gone: there is nobody to tell.
            let _written = task.wait();
        }
    }

    fn choose(&mut self, ui: &mut Ui, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else { return };
        field_name(ui, "Save copy as");
        let request = FileRequest::SaveAs(self.full_path());
        self.path.show(ui, "Save copy as", &[("Choose …", request)], context.services);
        explain(ui, "A separate project with all texts, labels and decisions so far. Trained models are not copied.");
        if let Some(failure) = &self.failure {
            problem(ui, failure);
        }
        button_row(ui, |ui| {
            let ready = !self.path.text.trim().is_empty();
            if default_button(ui, ready, "Save copy") {
                self.failure = None;
                self.writing = Some(project.save_copy(self.full_path()));
            }
            if button(ui, true, "Cancel").clicked() {
                context.actions.push(UiAction::CloseDialog);
            }
        });
    }

    fn full_path(&self) -> PathBuf {
        let path = self.path.path();
        if path.extension().is_some() { path } else { path.with_extension("nestling") }
    }
}
