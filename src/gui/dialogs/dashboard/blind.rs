//! The blind set: what it is for, setting sentences aside for it, and how much of it is complete.

use super::super::explain;
use super::progress::bar;
use crate::gui::actions::UiAction;
use crate::gui::commands::CommandId;
use crate::gui::theme::{self, size};
use crate::gui::widgets::keyboard::keeps_enter;
use crate::gui::widgets::parts::button;
use crate::session::{BLIND_SENTENCES, Command, Counts, ENOUGH_DEV, Project};
use crate::wording::{counted, grouped};
use eframe::egui::{Align, DragValue, Layout, Ui, vec2};

/// What it is for.
const PURPOSE: &str = "Sentences set aside at random before the first training. You annotate them without \
                       suggestions and no model learns from them, so scores on them are unbiased.";

#[derive(Default)]
pub(super) struct BlindCard {
    /// Sentences to set aside, where somebody has chosen a number.
    chosen: Option<usize>,
}

impl BlindCard {
    pub(super) fn show(&mut self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        let counts = project.counts();
        let too_late = project.models().next().is_some();
        explain(ui, PURPOSE);
        if counts.blind > 0 {
            how_far(ui, counts, actions);
        } else if too_late {
            explain(
                ui,
                "This project has none, and a model has already learned: the remaining sentences are no longer a \
                 fair sample. For unbiased scores, import texts that no model has seen as a test set.",
            );
        } else if counts.free == 0 {
            explain(ui, "There are no untouched sentences to set aside.");
        }
        if !too_late && counts.free > 0 && project.read_only().is_none() {
            self.set_aside(ui, counts, actions);
        }
    }

    fn set_aside(&mut self, ui: &mut Ui, counts: &Counts, actions: &mut Vec<UiAction>) {
        let tokens = theme::tokens(ui);
        // Others may have been touched since the number was chosen.
        let mut wanted = self.chosen.unwrap_or_else(|| proposed(counts)).clamp(1, counts.free);
        ui.add_space(size::GAP_SMALL);
        let row = vec2(ui.available_width(), 34.0);
        ui.allocate_ui_with_layout(row, Layout::left_to_right(Align::Center), |ui| {
            let field = keeps_enter(ui.add(DragValue::new(&mut wanted).range(1..=counts.free)));
            if field.accessible_name("Sentences to set aside").changed() {
                self.chosen = Some(wanted);
            }
            let of = format!("of {} untouched", grouped(counts.free));
            ui.label(theme::small(of, tokens.text_dim));
            let title = if counts.blind == 0 { "Set aside" } else { "Set more aside" };
            if button(ui, true, title).clicked() {
                actions.push(UiAction::Change(Command::SetAside { sentences: wanted }));
                self.chosen = None;
            }
        });
    }
}

/// As many as make the set large enough, and of few untouched sentences half: some must be left to learn from.
fn proposed(counts: &Counts) -> usize {
    BLIND_SENTENCES.saturating_sub(counts.blind).min(counts.free / 2)
}

fn how_far(ui: &mut Ui, counts: &Counts, actions: &mut Vec<UiAction>) {
    let tokens = theme::tokens(ui);
    let told = format!("{} of {} complete", grouped(counts.blind_complete), grouped(counts.blind));
    ui.add_space(size::GAP_SMALL);
    ui.label(theme::body(&told, tokens.text));
    let share = counts.blind_complete as f32 / counts.blind as f32;
    bar(ui, size::SHARE_BAR, &[(share, tokens.good)], &format!("blind set: {told}"));
    let missing = ENOUGH_DEV.saturating_sub(counts.blind_complete);
    if missing > 0 {
        explain(
            ui,
            &format!(
                "{} until models can be scored on it: scores become meaningful from {ENOUGH_DEV} sentences on.",
                counted(missing, "more complete sentence", "more complete sentences"),
            ),
        );
    }
    if counts.blind_open == 0 {
        explain(ui, "All of its sentences are complete or skipped.");
        return;
    }
    ui.add_space(size::GAP_SMALL);
    let go = button(ui, true, "Annotate the blind set");
    if go.on_hover_text("Goes to its next open sentence").clicked() {
        let on = [CommandId::NextByBlind, CommandId::Next].map(UiAction::Command);
        actions.push(UiAction::CloseDialog);
        actions.extend(on);
    }
}
