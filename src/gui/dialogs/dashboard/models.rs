//! The models that are kept, and going back to one of them.

use super::super::explain;
use super::table::cells;
use crate::annotation::ModelId;
use crate::gui::actions::UiAction;
use crate::gui::panels::age;
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::quiet_button;
use crate::session::{Command, KeptModel, ModelInfo, Project, Task, now_ms};
use crate::wording::grouped;
use eframe::egui::{Grid, Ui};

#[derive(Default)]
pub(super) struct ModelsCard {
    /// How many models there were when the disk was looked at last.
    seen: usize,
    looking: Option<Task<Vec<KeptModel>>>,
    /// The newest first.
    kept: Vec<KeptModel>,
}

impl ModelsCard {
    pub(super) fn follow(&mut self, project: &Project) {
        let models = project.models().count();
        if models != self.seen && self.looking.is_none() {
            self.seen = models;
            self.looking = Some(project.look_for_models());
        }
        if let Some(found) = self.looking.as_ref().and_then(Task::poll) {
            self.kept = found.unwrap_or_default();
            self.looking = None;
        }
    }

    pub(super) fn show(&self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        let tokens = theme::tokens(ui);
        if self.kept.is_empty() {
            explain(ui, if self.looking.is_some() { "Looking …" } else { "None is there yet." });
            return;
        }
        explain(ui, "F1 is that on dev when the model was trained; there may be more of dev now.");
        ui.add_space(size::GAP_SMALL);
        Grid::new("models").num_columns(6).spacing([size::GAP_LARGE, size::GAP_SMALL]).show(ui, |ui| {
            cells(ui, ["model", "encoder", "sentences", "F1", "age", "size"], tokens.text_dim);
            for (kept, model) in self.kept.iter().filter_map(|kept| Some((kept, info(project, kept.id)?))) {
                let is_used = project.current_model() == Some(kept.id);
                let f1 = model.dev_f1.map_or_else(|| "–".to_owned(), |f1| format!("{:.1}", 100.0 * f1));
                let size = format!("{} MB", kept.bytes.div_ceil(1_000_000));
                let number = model.id.to_string();
                let age = age(model.created_ms, now_ms());
                for text in [&number, &model.encoder, &grouped(model.train_sentences), &f1, &age, &size] {
                    ui.label(theme::small(text, tokens.text));
                }
                if is_used {
                    ui.label(theme::small("in use", tokens.good));
                } else if project.read_only().is_none() {
                    let button = quiet_button(ui, "Use").on_hover_text("Let it make the suggestions from now on");
                    if button.clicked() {
                        actions.push(UiAction::Change(Command::UseModel(model.id)));
                    }
                }
                ui.end_row();
            }
        });
    }
}

fn info(project: &Project, id: ModelId) -> Option<ModelInfo> {
    project.models().find(|model| model.id == id)
}
