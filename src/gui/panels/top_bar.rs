//! The bar at the top: whose project, what can be done with it, the search, help.

use super::PanelContext;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId, Group, TABLE};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{Icon, icon_button, paint_icon};
use eframe::egui::containers::menu::{MenuButton, SubMenuButton};
use eframe::egui::{self, Align, Button, Layout, Panel, RichText, ScrollArea, Ui, Vec2, vec2};

/// Least size of an entry.
const MENU_ENTRY: Vec2 = vec2(260.0, 28.0);

/// What the search takes for the same.
pub(crate) const HOW_IT_FINDS: &str = "Finds sentences with these words in sequence; the last word may be \
                                       incomplete. Case, accents and punctuation don't matter. In Chinese, Japanese \
                                       and Thai, parts of words are found, too.";

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let frame = egui::Frame::new().fill(tokens.panel).inner_margin(egui::Margin::symmetric(16, 0));
    Panel::top("top bar").exact_size(size::TOP_BAR).frame(frame).show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            brand(ui);
            ui.add_space(size::GAP_SMALL);
            ui.label(theme::body(panel.project.name(), tokens.text_dim))
                .on_hover_text(panel.project.path().display().to_string());
            ui.add_space(size::GAP_LARGE);
            menu(ui, panel);
            for id in [CommandId::Dashboard, CommandId::Import, CommandId::Export] {
                let title = id.title();
                let button = egui::Button::new(theme::body(title, tokens.text_dim)).frame_when_inactive(false);
                if ui.add_enabled(panel.can(id), button).on_hover_text(commands::title_with_keys(id)).clicked() {
                    panel.request(UiAction::Command(id));
                }
            }
            ui.add_space(size::GAP_SMALL);
            undo_buttons(ui, panel);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                right_end(ui, panel);
                search(ui, panel);
            });
        });
    });
}

pub(crate) fn brand(ui: &mut Ui) {
    let tokens = theme::tokens(ui);
    ui.label(RichText::new("Nestling").font(theme::bold(size::TEXT_TITLE)).color(tokens.accent));
}

fn menu(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let button = egui::Button::new(theme::body("Menu", tokens.text_dim)).frame_when_inactive(false);
    MenuButton::from_button(button).ui(ui, |ui| {
        let height = (ui.ctx().content_rect().height() - size::TOP_BAR - size::STATUS_LINE).max(100.0);
        ScrollArea::vertical().max_height(height).min_scrolled_height(height).show(ui, |ui| {
            entries(ui, panel, Group::Project);
            ui.separator();
            for group in Group::ALL.into_iter().filter(|group| *group != Group::Project) {
                let title = Button::new(group.title()).min_size(MENU_ENTRY).right_text(SubMenuButton::arrow_atom(None));
                SubMenuButton::from_button(title).ui(ui, |ui| entries(ui, panel, group));
            }
        });
    });
}

/// The commands of a group, with their keys.
fn entries(ui: &mut Ui, panel: &mut PanelContext<'_>, group: Group) {
    for entry in TABLE.iter().filter(|e| e.group == group) {
        let button = Button::new(entry.title).shortcut_text(commands::keys_text(entry.id));
        if ui.add_enabled(panel.can(entry.id), button.min_size(MENU_ENTRY)).clicked() {
            panel.request(UiAction::Command(entry.id));
            ui.close();
        }
    }
}

fn undo_buttons(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let name = |id: CommandId, intent: Option<&str>| match intent {
        Some(intent) => format!("{}: {intent}", commands::title_with_keys(id)),
        None => commands::title_with_keys(id),
    };
    let (undo, redo) = (panel.project.undo_intent(), panel.project.redo_intent());
    for (id, icon, intent) in [(CommandId::Undo, Icon::Undo, undo), (CommandId::Redo, Icon::Redo, redo)] {
        if icon_button(ui, icon, intent.is_some() && panel.can(id), &name(id, intent)).clicked() {
            panel.actions.push(UiAction::Command(id));
        }
    }
}

/// What is at the right end with or without a project, from the right.
pub(crate) fn right_end(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    help_and_theme(ui, panel.actions);
}

pub(crate) fn help_and_theme(ui: &mut Ui, actions: &mut Vec<UiAction>) {
    let tokens = theme::tokens(ui);
    let help = egui::Button::new(theme::heading("?", tokens.text_dim)).frame_when_inactive(false);
    if ui.add(help).on_hover_text(commands::title_with_keys(CommandId::KeyHelp)).clicked() {
        actions.push(UiAction::Command(CommandId::KeyHelp));
    }
    let icon = if ui.visuals().dark_mode { Icon::Sun } else { Icon::Moon };
    if icon_button(ui, icon, true, &commands::title_with_keys(CommandId::ToggleTheme)).clicked() {
        actions.push(UiAction::Command(CommandId::ToggleTheme));
    }
    let palette = commands::keys_text(CommandId::Palette);
    let button = egui::Button::new(theme::small(palette, tokens.text_dim)).frame_when_inactive(false);
    if ui.add(button).on_hover_text(commands::title_with_keys(CommandId::Palette)).clicked() {
        actions.push(UiAction::Command(CommandId::Palette));
    }
}

fn search(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let hint = format!("Search sentences   {}", commands::keys_text(CommandId::Search));
    let finder = &mut panel.view.finder;
    if !finder.query.is_empty() && icon_button(ui, Icon::Cross, true, "Clear search").clicked() {
        finder.query.clear();
    }
    let edit = egui::TextEdit::singleline(&mut finder.query)
        .id(egui::Id::unique("find sentences"))
        .hint_text(theme::body(hint, tokens.text_faint))
        .margin(egui::Margin { left: 30, right: 8, top: 6, bottom: 6 })
        .desired_width(220.0);
    let response = ui.add(edit).accessible_name("Find sentences").on_hover_text(HOW_IT_FINDS);
    let icon_at = response.rect.left_center() + vec2(16.0, 0.0);
    paint_icon(ui.painter(), icon_at, Icon::Search, tokens.text_faint);
    if std::mem::take(&mut panel.view.focus_search) {
        response.request_focus();
    }
    if response.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter)) {
        panel.view.finder.go_to_first();
        ui.ctx().request_repaint();
    }
}
