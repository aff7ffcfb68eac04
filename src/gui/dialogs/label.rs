//! A label: its name, its colour, its key; a new one or one that is there.

use super::{DialogContext, begin_footer, button_row, default_button, explain, field_name, modal, problem};
use crate::annotation::{Label, LabelError, LabelId, LabelUse, Rgb};
use crate::gui::actions::UiAction;
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{button, text_field};
use crate::session::{Command, Project};
use eframe::egui::{self, Align, Layout, Ui};

pub(crate) struct LabelDialog {
    /// `None` for a new label.
    id: Option<LabelId>,
    name: String,
    title: String,
    key: String,
    color: [u8; 3],
}

impl LabelDialog {
    pub(crate) fn new_label() -> Self {
        Self { id: None, name: String::new(), title: String::new(), key: String::new(), color: [0; 3] }
    }

    pub(crate) fn edit(label: &Label) -> Self {
        Self {
            id: Some(label.id),
            name: label.name.clone(),
            title: label.title.clone(),
            key: label.key.map(String::from).unwrap_or_default(),
            color: [label.color.0, label.color.1, label.color.2],
        }
    }

    /// Something was typed or chosen that the project does not have yet.
    pub(crate) fn is_ahead_of(&self, project: &Project) -> bool {
        match self.id.and_then(|id| project.corpus().labels().get(id)) {
            Some(old) => self.label(old.id).as_ref() != Ok(old),
            None => !self.name.trim().is_empty(),
        }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else {
            context.actions.push(UiAction::CloseDialog);
            return;
        };
        let heading = if self.id.is_some() { "Label" } else { "New label" };
        let mut actions = Vec::new();
        let closed = modal(ctx, heading, 400.0, |ui| {
            self.fields(ui);
            match self.id.and_then(|id| project.corpus().labels().get(id)) {
                Some(old) => self.finish_edit(ui, project, old, &mut actions),
                None => self.finish_new(ui, project, &mut actions),
            }
        });
        context.actions.append(&mut actions);
        if closed {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    fn fields(&mut self, ui: &mut Ui) {
        let field = |ui: &mut Ui, name: &str, text: &mut String, width: f32| {
            field_name(ui, name);
            text_field(ui, name, text, width);
        };
        field(ui, "Name in files", &mut self.name, f32::INFINITY);
        if self.id.is_none() {
            explain(ui, "Colour and key are chosen for you; you can change them later.");
            return;
        }
        field(ui, "Display name (optional)", &mut self.title, f32::INFINITY);
        field(ui, "Key (one character, optional)", &mut self.key, 60.0);
        field_name(ui, "Colour");
        ui.color_edit_button_srgb(&mut self.color);
    }

    fn finish_new(&self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        let name = self.name.trim().to_owned();
        let taken = project.corpus().labels().by_name(&name).is_some();
        if taken {
            problem(ui, &format!("There is already a label {name:?}; choose another name."));
        }
        let ready = !name.is_empty() && !taken;
        button_row(ui, |ui| {
            if default_button(ui, ready, "Add") {
                actions.extend([UiAction::Change(Command::AddLabel { name }), UiAction::CloseDialog]);
            }
        });
    }

    fn finish_edit(&self, ui: &mut Ui, project: &Project, old: &Label, actions: &mut Vec<UiAction>) {
        let label = self.label(old.id).and_then(|label| project.corpus().labels().check(&label).map(|()| label));
        if let Err(error) = &label {
            problem(ui, &error.to_string());
        }
        let used = project.corpus().use_of_label(old.id);
        let is_used = used != LabelUse::default();
        ui.add_space(size::GAP_SMALL);
        if is_used {
            explain(ui, &format!("Used by {}; to remove it, change or remove them first.", used));
        }
        begin_footer(ui);
        ui.horizontal(|ui| {
            let tokens = theme::tokens(ui);
            let color = if is_used { tokens.text_faint } else { tokens.bad };
            if ui.add_enabled(!is_used, egui::Button::new(theme::body("Remove", color))).clicked() {
                actions.extend([UiAction::Change(Command::RemoveLabel { label: old.id }), UiAction::CloseDialog]);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let saved = default_button(ui, label.is_ok(), "Save");
                if let (true, Ok(label)) = (saved, label) {
                    actions.extend([UiAction::Change(Command::EditLabel { label }), UiAction::CloseDialog]);
                }
                if button(ui, true, "Cancel").clicked() {
                    actions.push(UiAction::CloseDialog);
                }
            });
        });
    }

    /// The label as the fields have it.
    fn label(&self, id: LabelId) -> Result<Label, LabelError> {
        let [r, g, b] = self.color;
        let (name, title) = (self.name.trim().to_owned(), self.title.trim().to_owned());
        Ok(Label { id, name, title, color: Rgb(r, g, b), key: Label::key_of(&self.key)? })
    }
}
