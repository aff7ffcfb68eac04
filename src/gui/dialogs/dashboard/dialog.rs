//! The cards of the dashboard in one column or two.

use super::blind::BlindCard;
use super::costs::CostsCard;
use super::curve::CurveCard;
use super::models::ModelsCard;
use super::scores::ScoresCard;
use super::{labels, progress};
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::dialogs::{DialogContext, column, modal};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts;
use crate::session::Project;
use eframe::egui::{self, Align, Layout, Ui, vec2};

/// The window's height but for the cards.
const BESIDE_CARDS: f32 = 160.0;
/// What the left one of two columns takes of the width: the curve wants more than a list.
const LEFT_SHARE: f32 = 0.58;

#[derive(Default)]
pub(crate) struct DashboardDialog {
    curve: CurveCard,
    models: ModelsCard,
    blind: BlindCard,
    costs: CostsCard,
    scores: ScoresCard,
}

impl DashboardDialog {
    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let Some(project) = context.project else {
            context.actions.push(UiAction::CloseDialog);
            return;
        };
        self.curve.follow(project, &context.services.waker);
        self.models.follow(project);
        self.costs.follow(project);
        self.scores.follow();
        let height = (ctx.content_rect().height() - BESIDE_CARDS).max(200.0);
        let closed = modal(ctx, "Dashboard", size::DASHBOARD, |ui| {
            if ui.available_width() < size::TWO_COLUMNS {
                column(ui, "all", height, |ui| {
                    self.how_far(ui, project, context.actions);
                    self.what_of(ui, project, context.actions);
                });
                return;
            }
            let down = Layout::top_down(Align::Min);
            ui.horizontal_top(|ui| {
                let left = ((ui.available_width() - size::GAP_LARGE) * LEFT_SHARE).floor();
                let right = ui.available_width() - size::GAP_LARGE - left;
                ui.allocate_ui_with_layout(vec2(left, height), down, |ui| {
                    column(ui, "left", height, |ui| self.how_far(ui, project, context.actions));
                });
                ui.add_space(size::GAP_LARGE - ui.spacing().item_spacing.x);
                ui.allocate_ui_with_layout(vec2(right, height), down, |ui| {
                    column(ui, "right", height, |ui| self.what_of(ui, project, context.actions));
                });
            });
        });
        if closed {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    fn how_far(&mut self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        card(ui, "Progress", |ui| progress::show(ui, project.counts()));
        ui.add_space(size::GAP_SMALL);
        card(ui, "Learning curve", |ui| self.curve.show(ui, project));
        ui.add_space(size::GAP_SMALL);
        card(ui, "Models", |ui| {
            self.models.show(ui, project, actions);
            ui.add_space(size::GAP_SMALL);
            ui.horizontal_wrapped(|ui| {
                command_button(ui, CommandId::CompareModels, true, actions);
                command_button(ui, CommandId::AnalyseModels, true, actions);
            });
        });
    }

    fn what_of(&mut self, ui: &mut Ui, project: &Project, actions: &mut Vec<UiAction>) {
        card(ui, "Blind set", |ui| self.blind.show(ui, project, actions));
        ui.add_space(size::GAP_SMALL);
        card(ui, "Mentions by label", |ui| {
            labels::show(ui, project);
            let can = project.read_only().is_none() && project.counts().complete_for_models() > 0;
            ui.add_space(size::GAP_SMALL);
            command_button(ui, CommandId::LookAgain, can, actions);
        });
        ui.add_space(size::GAP_SMALL);
        card(ui, "Scores by label", |ui| self.scores.show(ui, project, actions));
        ui.add_space(size::GAP_SMALL);
        card(ui, "Effort", |ui| self.costs.show(ui));
    }
}

fn command_button(ui: &mut Ui, id: CommandId, can: bool, actions: &mut Vec<UiAction>) {
    if parts::button(ui, can, id.title()).on_hover_text(commands::title_with_keys(id)).clicked() {
        actions.push(UiAction::Command(id));
    }
}

fn card(ui: &mut Ui, title: &str, content: impl FnOnce(&mut Ui)) {
    let tokens = theme::tokens(ui);
    parts::card(tokens).show(ui, |ui| {
        ui.set_width(ui.available_width());
        parts::section(ui, title);
        content(ui);
    });
}
