//! An error that stopped something: what, where, what to do, and a button that copies all of it.

use super::{button_row, modal};
use crate::gui::acts::Act;
use crate::gui::theme::{self};
use crate::gui::widgets::parts::{button, primary_button};
use crate::wording::capital;
use eframe::egui::{self, Label, ScrollArea};
use std::error::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub title: String,
    pub text: String,
}

impl Report {
    /// An error with all that caused it.
    pub(crate) fn of(title: impl Into<String>, error: &dyn Error) -> Self {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(deeper) = cause {
            let more = deeper.to_string();
            if !text.contains(&more) {
                text = format!("{text}\n{more}");
            }
            cause = deeper.source();
        }
        Self { title: title.into(), text: capital(&text) }
    }

    /// Shows it; true when it is to be closed.
    pub(crate) fn show(&self, ctx: &egui::Context, acts: &mut Vec<Act>) -> bool {
        let tokens = theme::tokens_of(ctx.theme());
        let mut done = false;
        let closed = modal(ctx, &self.title, 480.0, |ui| {
            ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
                ui.add(Label::new(theme::body(&self.text, tokens.text)).wrap().selectable(true));
            });
            button_row(ui, |ui| {
                done = primary_button(ui, true, "Close").clicked();
                if button(ui, true, "Copy").on_hover_text("Copy the message").clicked() {
                    acts.push(Act::CopyText(format!("{}\n{}", self.title, self.text)));
                }
            });
        });
        closed || done
    }
}
