//! The right side: labels with their keys and counts, the selected mention, the keys of the cursor.

use super::{PanelContext, keys, selected};
use crate::annotation::Label;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, RADIUS_CONTROL, size};
use crate::gui::widgets::parts::{self, Icon, icon_button, paint_icon, paint_key_cap};
use crate::wording::grouped;
use eframe::egui::{self, Align, Align2, Layout, Margin, Panel, Rect, ScrollArea, Sense, Ui, pos2, vec2};

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let frame = egui::Frame::new().fill(tokens.panel).inner_margin(Margin { left: 14, right: 6, top: 10, bottom: 6 });
    Panel::right("labels").default_size(size::RIGHT_PANEL).size_range(220.0..=480.0).frame(frame).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 10.0);
            labels(ui, panel);
            ui.add_space(size::GAP_LARGE);
            selected::show(ui, panel);
            ui.add_space(size::GAP_LARGE);
            keys::for_the_cursor(ui);
        });
    });
}

fn labels(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    ui.horizontal(|ui| {
        parts::section(ui, "Labels");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let can = panel.can(CommandId::AddLabel);
            if icon_button(ui, Icon::Plus, can, &commands::title_with_keys(CommandId::AddLabel)).clicked() {
                panel.request(UiAction::Command(CommandId::AddLabel));
            }
        });
    });
    let set = panel.project.corpus().labels();
    if set.is_empty() {
        ui.add(egui::Label::new(theme::small("No labels yet. Add one to annotate.", tokens.text_dim)).wrap());
    }
    ui.spacing_mut().item_spacing.y = 1.0;
    for label in set.iter() {
        row(ui, panel, label);
    }
    ui.reset_style();
}

fn row(ui: &mut Ui, panel: &mut PanelContext<'_>, label: &Label) {
    let tokens = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::LABEL_ROW), Sense::click());
    // Beside the row's own area, so that a click on it does not use the label.
    let edit_at = Rect::from_center_size(pos2(rect.right() - 14.0, rect.center().y), vec2(26.0, 26.0));
    let edit = ui.interact(edit_at, response.id.with("edit"), Sense::click());
    let picked = panel.view.picked_mark().is_some_and(|m| m.label == label.id);
    let hovered = response.hovered() || edit.hovered();
    let painter = ui.painter();
    if hovered || picked || response.has_focus() {
        let fill = if picked && !hovered { tokens.row_selected } else { tokens.hover };
        painter.rect_filled(rect.expand2(vec2(4.0, 0.0)), RADIUS_CONTROL, fill);
    }
    let cap = Rect::from_min_size(pos2(rect.left(), rect.center().y - 12.0), vec2(26.0, 24.0));
    let key = label.key.map(|k| k.to_uppercase().to_string()).unwrap_or_default();
    paint_key_cap(painter, cap, &key, tokens);
    let color = theme::label_color(label.color, tokens);
    let swatch = Rect::from_center_size(pos2(rect.left() + 41.0, rect.center().y), vec2(11.0, 11.0));
    painter.rect_filled(swatch, 2.5, color);

    let mut right = rect.right() - 4.0;
    if hovered || edit.has_focus() {
        let icon_color = if edit.hovered() { tokens.text } else { tokens.text_faint };
        paint_icon(painter, edit_at.center(), Icon::Pencil, icon_color);
        right = edit_at.left() - 4.0;
    }
    let count = panel.project.counts().mentions_by_label.get(&label.id).copied().unwrap_or(0);
    let at = pos2(right, rect.center().y);
    let drawn =
        painter.text(at, Align2::RIGHT_CENTER, grouped(count), theme::regular(size::TEXT_SMALL), tokens.text_dim);
    let mut left = drawn.left();
    let given = panel.view.selection().or(panel.view.picked_mark().map(|mark| mark.hull)).and(panel.view.given());
    let order = panel.view.current().zip(given).and_then(|(current, given)| panel.project.label_order(current, &given));
    let probability = order.and_then(|order| Some(order.iter().find(|(id, _)| *id == label.id)?.1));
    if let Some(probability) = probability {
        let at = pos2(rect.right() - 48.0, rect.center().y);
        let font = theme::regular(size::TEXT_SMALL);
        let text = format!("{probability:.2}");
        left = left.min(painter.text(at, Align2::RIGHT_CENTER, text, font, tokens.text).left());
    }
    let room = left - 8.0 - (rect.left() + 54.0);
    let font = theme::regular(size::TEXT);
    let name = crate::gui::widgets::galleys::elided(ui, label.display_name(), font, tokens.text, room);
    let name_at = pos2(rect.left() + 54.0, rect.center().y - name.size().y / 2.0);
    ui.painter().galley(name_at, name, tokens.text);

    let spoken = format!("label {}", label.display_name());
    response.widget_info(|| egui::WidgetInfo {
        current_text_value: probability.map(|p| format!("probability {p:.2}")),
        ..egui::WidgetInfo::labeled(egui::Role::Button, true, &spoken)
    });
    edit.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("edit {spoken}")));
    if edit.on_hover_text("Name, colour, key").clicked() {
        panel.request(UiAction::EditLabel(label.id));
    } else if response.on_hover_text(what_it_does(panel, label)).clicked() {
        panel.request(UiAction::UseLabel(label.id));
    }
}

fn what_it_does(panel: &PanelContext<'_>, label: &Label) -> String {
    let does = match panel.view.picked_mark() {
        Some(mark) if mark.is_suggestion() => "Accept suggestion with this label",
        Some(_) => "Change the mention to this label",
        None if panel.view.selection().is_some() => "Mark the selected words",
        None => "Mark the word at the cursor",
    };
    let full = if label.title.is_empty() { String::new() } else { format!("{} · ", label.name) };
    match label.key {
        Some(key) => format!("{full}{does} ({})", key.to_uppercase()),
        None => format!("{full}{does}"),
    }
}
