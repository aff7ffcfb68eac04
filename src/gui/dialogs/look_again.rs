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
            Some("Somebody looks already; the status line says how far it is.")
        } else if self.asks_models && state.progress().is_some() {
            Some("A training is under way. Wait until it is done, or stop it.")
        } else {
            None
        };
        let (mut starts, mut cancel) = (false, false);
        let closed = modal(ctx, "Look again", 560.0, |ui| {
            let tokens = theme::tokens(ui);
            explain(
                ui,
                &format!(
                    "Goes through what is doubtful in {}, the most doubtful first. Nothing is changed but what you change.",
                    counted(complete, "complete sentence", "complete sentences")
                ),
            );
            ui.add_space(size::GAP);
            let by_labels = theme::body("What the labels say of each other", tokens.text);
            leaves_enter(ui.radio_value(&mut self.asks_models, false, by_labels));
            explain(ui, "The same words with another label or none, and nestings that hardly ever occur. At once.");
            ui.add_space(size::GAP_SMALL);
            let by_models = theme::body("And what models say that have not seen them", tokens.text);
            leaves_enter(ui.radio_value(&mut self.asks_models, true, by_models));
            explain(
                ui,
                &format!(
                    "{FOLDS} models, each of which is asked about the sentences that it did not learn from. As long as {FOLDS} \
                     trainings, in the background; other trainings wait.",
                ),
            );
            if let Some(trouble) = trouble {
                ui.add_space(size::GAP_SMALL);
                problem(ui, trouble);
            }
            button_row(ui, |ui| {
                starts = default_button(ui, trouble.is_none(), "Look again");
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
