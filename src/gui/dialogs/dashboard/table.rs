//! Rows of small tables.

use crate::gui::theme;
use eframe::egui::{Color32, Ui};

/// A row of a grid.
pub(super) fn cells<const N: usize>(ui: &mut Ui, texts: [&str; N], color: Color32) {
    for text in texts {
        ui.label(theme::small(text, color));
    }
    ui.end_row();
}
