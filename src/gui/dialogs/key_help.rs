//! All keys, from the command table, and the keys of the labels.

use super::{DialogContext, modal};
use crate::gui::actions::UiAction;
use crate::gui::commands::{Group, TABLE, end_typing_text};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{key_cap, section};
use eframe::egui::{self, ScrollArea, Ui, vec2};

#[derive(Default)]
pub(crate) struct KeyHelp;

impl KeyHelp {
    pub(crate) fn show(&self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let closed = modal(ctx, "Keyboard shortcuts", 860.0, |ui| {
            let height = (ctx.content_rect().height() - 190.0).max(120.0);
            ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
                ui.columns(2, |columns| {
                    let [left, right] = columns else { return };
                    for group in [Group::Cursor, Group::Mentions] {
                        group_of_keys(left, group);
                    }
                    for group in [Group::Sentences, Group::Segments, Group::Learner, Group::Project, Group::Window] {
                        group_of_keys(right, group);
                    }
                    label_keys(left, context);
                });
            });
        });
        if closed {
            context.actions.push(UiAction::CloseDialog);
        }
    }
}

fn group_of_keys(ui: &mut Ui, group: Group) {
    let tokens = theme::tokens(ui);
    section(ui, group.title());
    ui.add_space(size::GAP_SMALL);
    egui::Grid::new(group.title()).num_columns(2).min_col_width(132.0).spacing(vec2(12.0, 4.0)).show(ui, |ui| {
        for entry in TABLE.iter().filter(|e| e.group == group && !e.keys.is_empty()) {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                for keys in entry.keys.iter().take(2) {
                    key_cap(ui, &keys.text());
                }
            });
            ui.label(theme::body(entry.title, tokens.text_dim));
            ui.end_row();
        }
        if group == Group::Mentions {
            key_cap(ui, &end_typing_text());
            ui.label(theme::body("Finish a note", tokens.text_dim));
            ui.end_row();
        }
    });
    ui.add_space(size::GAP_LARGE);
}

fn label_keys(ui: &mut Ui, context: &DialogContext<'_>) {
    let tokens = theme::tokens(ui);
    let Some(project) = context.project else { return };
    section(ui, "Labels of this project");
    ui.add_space(size::GAP_SMALL);
    let keyed = project.corpus().labels().iter().filter_map(|label| Some((label.key?, label)));
    egui::Grid::new("label keys").num_columns(2).min_col_width(132.0).spacing(vec2(12.0, 4.0)).show(ui, |ui| {
        for (key, label) in keyed {
            key_cap(ui, &key.to_uppercase().to_string());
            ui.label(theme::body(label.display_name(), theme::label_color(label.color, tokens)));
            ui.end_row();
        }
    });
}
