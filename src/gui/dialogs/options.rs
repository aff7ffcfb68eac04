//! The options of a format, as import and export show them.

use super::field_name;
use crate::format::OptionSpec;
use crate::gui::widgets::keyboard::keeps_enter;
use crate::gui::widgets::parts::{combo, text_field};
use eframe::egui::{Align, Layout, Ui, vec2};
use std::collections::BTreeMap;

/// Room for one option, by which a row knows when it is full.
const OPTION_WIDTH: f32 = 128.0;

/// Rows of options, which begin at one height.
pub(super) fn option_rows<R>(ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
    let layout = Layout::left_to_right(Align::TOP).with_main_wrap(true);
    ui.allocate_ui_with_layout(vec2(ui.available_width(), 0.0), layout, content).inner
}

/// One option of a format; `options` holds those that differ from the default. True when it was changed.
pub(super) fn format_option(ui: &mut Ui, spec: &OptionSpec, options: &mut BTreeMap<&'static str, String>) -> bool {
    let size = vec2(OPTION_WIDTH, 0.0);
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| named_option(ui, spec, options)).inner
}

fn named_option(ui: &mut Ui, spec: &OptionSpec, options: &mut BTreeMap<&'static str, String>) -> bool {
    field_name(ui, spec.key);
    let mut value = options.get(spec.key).cloned().unwrap_or_else(|| spec.default.to_owned());
    let mut done = false;
    if spec.values.is_empty() {
        let field = keeps_enter(text_field(ui, spec.key, &mut value, 120.0)).on_hover_text(spec.meaning);
        done = field.lost_focus();
    } else {
        let shown = value.clone();
        let chooser = combo(ui, spec.key, shown, 110.0, |ui| {
            for choice in spec.values {
                done |= ui.selectable_value(&mut value, (*choice).to_owned(), *choice).changed();
            }
        });
        chooser.on_hover_text(spec.meaning);
    }
    if value == spec.default {
        options.remove(spec.key);
    } else {
        options.insert(spec.key, value);
    }
    done
}
