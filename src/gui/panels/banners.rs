//! What lies above the page until it is mended: changes that could not be saved, a project that can't be changed.

use super::PanelContext;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self};
use crate::gui::widgets::parts;
use crate::session::{Command, SaveState, WhyReadOnly};
use crate::wording::capital;
use eframe::egui::{self, Align, Label, Layout, Margin, Panel, Ui};

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    file_news(ui, panel);
    save_failure(ui, panel);
    read_only(ui, panel);
}

/// What could not be saved, above the page, until it is.
fn save_failure(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let SaveState::Failed { message } = panel.project.save_state() else { return };
    let frame = egui::Frame::new().fill(tokens.bad_fill).inner_margin(Margin::symmetric(16, 8));
    Panel::top("save failure").frame(frame).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(theme::heading("Not saved", tokens.bad));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if parts::primary_button(ui, true, "Try again").clicked() {
                    panel.request(UiAction::Change(Command::RetrySave));
                }
                if parts::button(ui, true, "Copy").clicked() {
                    panel.request(UiAction::CopyText(message.clone()));
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let text = format!("Your changes are only in memory. Don't close Nestling. {}", capital(&message));
                    ui.add(Label::new(theme::small(text, tokens.text)).wrap());
                });
            });
        });
    });
}

/// What happened to the files of the project, until somebody has read it.
fn file_news(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let Some(first) = panel.project.file_news().first() else { return };
    let heading = first.heading();
    let texts: Vec<_> = panel.project.file_news().iter().map(|news| capital(&news.to_string())).collect();
    let text = texts.join("\n\n");
    let frame = egui::Frame::new().fill(tokens.warn_fill).inner_margin(Margin::symmetric(16, 12));
    Panel::top("file news").frame(frame).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(theme::heading(heading, tokens.warn));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if parts::primary_button(ui, true, "Dismiss").clicked() {
                    panel.request(UiAction::FileNewsRead);
                }
                if parts::button(ui, true, "Copy").clicked() {
                    panel.request(UiAction::CopyText(text.clone()));
                }
            });
        });
        ui.add_space(4.0);
        ui.add(Label::new(theme::small(text, tokens.text)).wrap().selectable(true));
    });
}

/// Why nothing can be changed, and the way out.
fn read_only(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let Some(why) = panel.project.read_only() else { return };
    let way_out = match why {
        WhyReadOnly::OpenElsewhere(_) => "Close it there and reopen it here, or work on a copy.",
        WhyReadOnly::NotWritable => "Make it writable and reopen it, or work on a copy.",
        WhyReadOnly::AskedFor => "Reopen it to make changes.",
    };
    let text = format!("{}. You can view, search and export. {way_out}", capital(&why.to_string()));
    let frame = egui::Frame::new().fill(tokens.warn_fill).inner_margin(Margin::symmetric(16, 8));
    Panel::top("read only").frame(frame).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(theme::heading("Read-only", tokens.warn));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if parts::button(ui, true, "Reopen for editing")
                    .on_hover_text("Reopen the project for editing, if possible")
                    .clicked()
                {
                    panel.request(UiAction::Open(panel.project.path().to_owned()));
                }
                let title = CommandId::SaveCopy.title();
                if parts::button(ui, true, title)
                    .on_hover_text(commands::title_with_keys(CommandId::SaveCopy))
                    .clicked()
                {
                    panel.request(UiAction::Command(CommandId::SaveCopy));
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(theme::small(text, tokens.text)).wrap());
                });
            });
        });
    });
}
