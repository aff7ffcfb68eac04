//! Opening a project by its path.

use super::{DialogContext, button_row, default_button, explain, field_name, modal};
use crate::gui::actions::UiAction;
use crate::gui::files::{FileRequest, PathField};
use crate::gui::widgets::parts::button;
use eframe::egui;

#[derive(Default)]
pub(crate) struct OpenDialog {
    path: PathField,
}

impl OpenDialog {
    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let mut open = false;
        let mut cancel = false;
        let closed = modal(ctx, "Open project", 560.0, |ui| {
            field_name(ui, "Project file");
            self.path.show(ui, "Project file", &[("Choose …", FileRequest::Project)], context.services);
            explain(ui, "A .nestling file. You can also drop it on the window.");
            button_row(ui, |ui| {
                let ready = !self.path.text.trim().is_empty();
                open = default_button(ui, ready, "Open");
                cancel = button(ui, true, "Cancel").clicked();
            });
        });
        if open {
            context.actions.push(UiAction::Open(self.path.path()));
        } else if closed || cancel {
            context.actions.push(UiAction::CloseDialog);
        }
    }
}
