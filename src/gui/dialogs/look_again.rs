//! Asks how gold is to be looked at again: by its words alone, or with models that have not seen it.

use super::{DialogContext, button_row, default_button, explain, modal, problem};
use crate::gui::actions::UiAction;
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::leaves_enter;
use crate::gui::widgets::parts::button;
use crate::session::{Command, FOLDS, LearnerState};
use crate::wording::counted;
use eframe::egui;

#[derive(Default)]
pub(crate) struct LookAgainDialog {
    asks_models: bool,
}

impl LookAgainDialog {
    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else { return };
        let complete = project.counts().complete_for_models();
        let state = &project.learner().state;
        let is_looking = matches!(state, LearnerState::LookingAgain(_));
        let trouble = if complete == 0 {
            Some("No sentence is complete yet.")
        } else if is_looking {
            Some("A review is already being prepared; see the status line.")
        } else if self.asks_models && state.progress().is_some() {
            Some("Training is running. Wait until it is done, or stop it.")
        } else {
            None
        };
        let (mut starts, mut cancel) = (false, false);
        let closed = modal(ctx, "Review doubtful annotations", 560.0, |ui| {
            let tokens = theme::tokens(ui);
            explain(
                ui,
                &format!(
                    "Goes through doubtful annotations in {}, the most doubtful first. Nothing changes unless you \
                     change it.",
                    counted(complete, "complete sentence", "complete sentences")
                ),
            );
            ui.add_space(size::GAP);
            let by_labels = theme::body("Check annotations against each other", tokens.text);
            leaves_enter(ui.radio_value(&mut self.asks_models, false, by_labels));
            explain(ui, "Finds the same words with another label or none, and rare nestings. Immediate.");
            ui.add_space(size::GAP_SMALL);
            let by_models = theme::body("Also check them with models", tokens.text);
            leaves_enter(ui.radio_value(&mut self.asks_models, true, by_models));
            explain(
                ui,
                &format!(
                    "Trains {FOLDS} models and asks each about the sentences it did not learn from. Takes as long as \
                     {FOLDS} trainings, in the background; other trainings wait.",
                ),
            );
            if let Some(trouble) = trouble {
                ui.add_space(size::GAP_SMALL);
                problem(ui, trouble);
            }
            button_row(ui, |ui| {
                starts = default_button(ui, trouble.is_none(), "Start review");
                cancel = button(ui, true, "Cancel").clicked();
            });
        });
        if starts {
            let folds = if self.asks_models { FOLDS } else { 0 };
            context.actions.extend([UiAction::CloseDialog, UiAction::Change(Command::LookAgain { folds })]);
        } else if closed || cancel {
            context.actions.push(UiAction::CloseDialog);
        }
    }
}
