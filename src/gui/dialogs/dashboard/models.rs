//! The models that are kept, and going back to one of them.

use super::super::explain;
use crate::gui::actions::UiAction;
use crate::gui::panels::age;
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::quiet_button;
use crate::gui::widgets::table::{Column, Row, Sort, Table, TableState, cell_text};
use crate::session::{Command, KeptModel, ModelInfo, Project, Task, now_ms};
use crate::wording::{counted, grouped};
use eframe::egui::{Align, Role, Sense, Ui, WidgetInfo};

const COLUMNS: [Column; 7] = [
    Column::number("Model", 62.0),
    Column::rest("Encoder"),
    Column::number("Sentences", size::NUMBER_COLUMN),
    Column::number("F1", 52.0),
    Column::number("Age", 62.0),
    Column::number("Size", 70.0),
    Column::actions(60.0),
];
/// More of them scroll.
const MOST_ROWS: usize = 8;

#[derive(Default)]
pub(super) struct ModelsCard {
    /// How many models there were when the disk was looked at last.
    seen: usize,
    looking: Option<Task<Vec<KeptModel>>>,
    /// In the order of the table.
    kept: Vec<(KeptModel, ModelInfo)>,
    table: TableState,
    /// The order that they are in, once they are.
    sorted: Option<Option<Sort>>,
}

impl ModelsCard {
    pub(super) fn follow(&mut self, project: &Project) {
        let models = project.models().count();
        if models != self.seen && self.looking.is_none() {
            self.seen = models;
            self.looking = Some(project.look_for_models());
        }
        if let Some(found) = self.looking.as_ref().and_then(Task::poll) {
            let info = |id| project.models().find(|model| model.id == id);
            let found = found.unwrap_or_default().into_iter();
            self.kept = found.filter_map(|kept| info(kept.id).map(|model| (kept, model))).collect();
            (self.looking, self.sorted) = (None, None);
        }
    }

    /// The newest first, if the table asks for no other order.
    fn sort(&mut self) {
        let sort = self.table.sort();
        if self.sorted.replace(sort) == Some(sort) {
            return;
        }
        self.kept.sort_by_key(|(kept, _)| std::cmp::Reverse(kept.id));
        let Some(sort) = sort else { return };
        sort.apply(&mut self.kept, |(a, a_model), (b, b_model)| match sort.column {
            0 => a.id.cmp(&b.id),
            1 => a_model.encoder.cmp(&b_model.encoder),
            2 => a_model.train_sentences.cmp(&b_model.train_sentences),
            3 => a_model.dev_f1.unwrap_or(-1.0).total_cmp(&b_model.dev_f1.unwrap_or(-1.0)),
            4 => b_model.created_ms.cmp(&a_model.created_ms),
            _ => a.bytes.cmp(&b.bytes),
        });
    }

    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        if self.kept.is_empty() {
            explain(ui, if self.looking.is_some() { "Looking …" } else { "No models yet." });
            return;
        }
        explain(ui, "F1 was measured on dev when the model was trained; dev may have grown since.");
        ui.add_space(size::GAP_SMALL);
        self.sort();
        let rows = self.kept.len();
        let height = rows.min(MOST_ROWS) as f32 * (size::LABEL_ROW + ui.spacing().item_spacing.y);
        let table =
            Table { id: "models", columns: &COLUMNS, rows, row_height: size::LABEL_ROW, height, keeps_height: false };
        table.show(ui, &mut self.table, |row| {
            if let Some((kept, model)) = self.kept.get(row.index()) {
                show_row(row, kept, model, project, actions);
            }
        });
    }
}

fn show_row(
    row: &mut Row<'_, '_, '_>,
    kept: &KeptModel,
    model: &ModelInfo,
    project: &Project,
    actions: &mut Vec<UiAction>,
) {
    let percent = |share: f64| format!("{:.1}", 100.0 * share);
    let score = match model.dev_accuracy {
        Some(accuracy) => format!("accuracy {}", percent(accuracy)),
        None => model.dev_f1.map_or_else(|| "–".to_owned(), percent),
    };
    let bytes = format!("{} MB", kept.bytes.div_ceil(1_000_000));
    let number = model.id.to_string();
    let age = age(model.created_ms, now_ms());
    let text = |ui: &Ui, text: &str, align| {
        cell_text(ui, text, align, theme::tokens(ui).text);
    };
    let response = row.lead(kept.id.0, Sense::hover(), |ui| text(ui, &number, Align::Max));
    row.cell(|ui| text(ui, &model.encoder, Align::Min));
    for shown in [&grouped(model.train_sentences), &score, &age, &bytes] {
        row.cell(|ui| text(ui, shown, Align::Max));
    }
    row.cell(|ui| {
        if project.current_model() == Some(kept.id) {
            ui.label(theme::small("in use", theme::tokens(ui).good));
        } else if model.labels_given() {
            let label = ui.label(theme::small("labels only", theme::tokens(ui).text_dim));
            label.on_hover_text("It says which label given words have and makes no suggestions");
        } else if project.read_only().is_none() {
            let button = quiet_button(ui, "Use").on_hover_text("Make suggestions with this model from now on");
            if button.clicked() {
                actions.push(UiAction::Change(Command::UseModel(model.id)));
            }
        }
    });
    let learned = counted(model.train_sentences, "sentence", "sentences");
    let score = if model.dev_accuracy.is_some() { score } else { format!("F1 {score}") };
    let spoken = format!("model {number} on {}, {learned}, {score}, {age} old, {bytes}", model.encoder);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &spoken));
}
