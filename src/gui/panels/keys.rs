//! Keys: the short list beside the sentence.

use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts;
use eframe::egui::{self, Ui, vec2};

/// What the cursor's keys do, in the words of somebody who annotates.
const CURSOR: &[(&[CommandId], &str)] = &[
    (&[CommandId::WordBefore, CommandId::WordAfter], "word"),
    (&[CommandId::GrowAfter], "extend selection"),
    (&[CommandId::Wrap], "wrap in a parent"),
    (&[CommandId::EndAfter], "move end"),
    (&[CommandId::StartBefore], "move start"),
    (&[CommandId::NextMark], "next suggestion"),
    (&[CommandId::Accept], "accept"),
    (&[CommandId::Reject], "reject"),
    (&[CommandId::Remove], "remove"),
    (&[CommandId::Undo], "undo"),
    (&[CommandId::CompleteAndNext], "complete, next"),
    (&[CommandId::Next], "next sentence"),
    (&[CommandId::Flag], "flag"),
    (&[CommandId::KeyHelp], "all shortcuts"),
];

pub(crate) fn for_the_cursor(ui: &mut Ui) {
    let tokens = theme::tokens(ui);
    parts::section(ui, "Keyboard");
    ui.spacing_mut().interact_size.y = 0.0;
    egui::Grid::new("cursor keys").num_columns(2).min_col_width(104.0).spacing(vec2(8.0, 4.0)).show(ui, |ui| {
        for (ids, does) in CURSOR {
            let keys: Vec<String> = ids.iter().map(|id| commands::keys_text(*id)).collect();
            ui.label(theme::small(keys.join(" "), tokens.text_dim).font(theme::bold(size::TEXT_SMALL)));
            ui.label(theme::small(*does, tokens.text_dim));
            ui.end_row();
        }
    });
    ui.reset_style();
}
