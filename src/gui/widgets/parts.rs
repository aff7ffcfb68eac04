//! Small things that several panels paint: cards, key caps, dots, icons, buttons, progress.
//!
//! Icons are painted from lines, since no font that is certain to be there has them.

use super::keyboard::leaves_enter;
use crate::gui::theme::{self, RADIUS_CARD, RADIUS_CONTROL, Tokens, size};
use eframe::egui::{
    self, Align2, Color32, CornerRadius, Frame, Margin, Painter, Pos2, Rect, Response, RichText, Sense, Shape, Stroke,
    StrokeKind, Ui, Vec2, pos2, vec2,
};
use std::ops::RangeInclusive;

/// A rounded area that holds one matter.
pub fn card(tokens: &Tokens) -> Frame {
    Frame::new()
        .fill(tokens.card)
        .stroke(Stroke::new(1.0, tokens.line))
        .corner_radius(CornerRadius::same(RADIUS_CARD))
        .inner_margin(Margin::same(18))
}

/// A tinted area with something that a person should know.
pub fn banner(fill: Color32, line: Color32) -> Frame {
    Frame::new()
        .fill(fill)
        .stroke(Stroke::new(1.0, line))
        .corner_radius(CornerRadius::same(RADIUS_CARD))
        .inner_margin(Margin::symmetric(14, 10))
}

/// The button of a page or dialog that does what one came for.
pub fn primary_button(ui: &mut Ui, enabled: bool, text: &str) -> Response {
    let tokens = theme::tokens(ui);
    ui.scope(|ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        for (widget, fill) in [
            (&mut widgets.inactive, tokens.accent),
            (&mut widgets.hovered, theme::mix(tokens.accent, tokens.text, 0.12)),
            (&mut widgets.active, theme::mix(tokens.accent, tokens.canvas, 0.15)),
        ] {
            widget.weak_bg_fill = fill;
            widget.bg_fill = fill;
            widget.bg_stroke = Stroke::new(1.0, fill);
            widget.fg_stroke = Stroke::new(1.0, tokens.on_accent);
        }
        let label = RichText::new(text).font(theme::bold(size::TEXT));
        ui.add_enabled(enabled, egui::Button::new(label).min_size(vec2(0.0, 34.0)))
    })
    .inner
}

pub fn button(ui: &mut Ui, enabled: bool, text: &str) -> Response {
    ui.add_enabled(enabled, egui::Button::new(theme::body(text, theme::tokens(ui).text)).min_size(vec2(0.0, 34.0)))
}

/// A button that looks like text until the pointer is on it.
pub fn quiet_button(ui: &mut Ui, text: &str) -> Response {
    let tokens = theme::tokens(ui);
    ui.add(egui::Button::new(theme::small(text, tokens.accent)).frame_when_inactive(false))
}

/// A key as it looks on a keyboard.
pub fn key_cap(ui: &mut Ui, text: &str) -> Response {
    let tokens = theme::tokens(ui);
    let galley = ui.painter().layout_no_wrap(text.to_owned(), theme::bold(size::TEXT_SMALL), tokens.text);
    let wanted = vec2((galley.size().x + 12.0).max(24.0), 23.0);
    let (rect, response) = ui.allocate_exact_size(wanted, Sense::hover());
    paint_key_cap(ui.painter(), rect, text, tokens);
    response
}

pub fn paint_key_cap(painter: &Painter, rect: Rect, text: &str, tokens: &Tokens) {
    painter.rect(rect, 5.0, tokens.card, Stroke::new(1.0, tokens.line_strong), StrokeKind::Inside);
    let foot =
        Rect::from_min_max(pos2(rect.left() + 3.0, rect.bottom() - 2.5), pos2(rect.right() - 3.0, rect.bottom() - 1.0));
    painter.rect_filled(foot, 1.0, tokens.line);
    painter.text(rect.center(), Align2::CENTER_CENTER, text, theme::bold(size::TEXT_SMALL), tokens.text);
}

/// A filled dot, or a ring for what is still empty.
pub fn paint_dot(painter: &Painter, center: Pos2, color: Color32, filled: bool) {
    if filled {
        painter.circle_filled(center, size::DOT, color);
    } else {
        painter.circle_stroke(center, size::DOT - 0.5, Stroke::new(1.5, color));
    }
}

pub fn section(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.label(theme::heading(text, tokens.text));
}

/// A thin bar that fills from the left.
pub fn progress(ui: &mut Ui, width: f32, fraction: f32) -> Response {
    let tokens = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 14.0), Sense::hover());
    let rail = Rect::from_center_size(rect.center(), vec2(rect.width(), 6.0));
    ui.painter().rect_filled(rail, 3.0, tokens.line);
    let filled = Rect::from_min_size(rail.min, vec2(rail.width() * fraction.clamp(0.02, 1.0), rail.height()));
    ui.painter().rect_filled(filled, 3.0, tokens.accent);
    response.widget_info(|| {
        let percent = (fraction * 100.0).round();
        egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, format!("{percent} percent"))
    });
    response
}

/// A share of one, set by dragging, clicking or the arrow keys; `name` is what a screen reader says.
pub fn slider(ui: &mut Ui, value: &mut f32, range: RangeInclusive<f32>, step: f32, name: &str) -> Response {
    let tokens = theme::tokens(ui);
    let (rect, mut response) = ui.allocate_exact_size(vec2(150.0, 24.0), Sense::click_and_drag());
    let (low, high) = (*range.start(), *range.end());
    let rail = Rect::from_center_size(rect.center(), vec2(rect.width() - 14.0, 4.0));
    let before = *value;
    if let Some(at) = response.interact_pointer_pos() {
        let share = ((at.x - rail.left()) / rail.width()).clamp(0.0, 1.0);
        *value = ((low + share * (high - low)) / step).round() * step;
    }
    if response.has_focus() {
        let by = ui.input(|i| i.num_presses(egui::Key::ArrowRight) as f32 - i.num_presses(egui::Key::ArrowLeft) as f32);
        *value += by * step;
        let arrows = egui::EventFilter { horizontal_arrows: true, ..egui::EventFilter::default() };
        ui.memory_mut(|m| m.set_focus_lock_filter(response.id, arrows));
    }
    *value = value.clamp(low, high);
    if *value != before {
        response.mark_changed();
    }
    let x = rail.left() + rail.width() * (*value - low) / (high - low);
    let painter = ui.painter();
    painter.rect_filled(rail, 2.0, tokens.line_strong);
    painter.rect_filled(Rect::from_min_max(rail.min, pos2(x, rail.bottom())), 2.0, tokens.accent);
    let radius = if response.hovered() || response.dragged() { 8.0 } else { 7.0 };
    if response.has_focus() {
        painter.circle_filled(pos2(x, rail.center().y), radius + 3.0, theme::mix(tokens.card, tokens.accent, 0.35));
    }
    painter.circle_filled(pos2(x, rail.center().y), radius, tokens.accent);
    let shown = f64::from(*value);
    response.widget_info(|| egui::WidgetInfo::slider(true, shown, name));
    leaves_enter(response)
}

/// A list to choose from; `name` is what a screen reader says.
pub fn combo(
    ui: &mut Ui,
    name: &str,
    shown: impl Into<RichText>,
    width: f32,
    choices: impl FnOnce(&mut Ui),
) -> Response {
    let combo = egui::ComboBox::from_id_salt(name).selected_text(shown.into()).width(width);
    let combo = combo.icon(|ui, rect, _, _| {
        paint_icon(ui.painter(), rect.center(), Icon::Down, theme::tokens(ui).text_dim);
    });
    let choices = |ui: &mut Ui| {
        choices(ui);
        if is_chosen_by_key(ui) {
            ui.close();
        }
    };
    leaves_enter(combo.show_ui(ui, choices).response).accessible_name(name)
}

/// Something in the list has the keyboard, and was chosen with it.
fn is_chosen_by_key(ui: &Ui) -> bool {
    let is_pressed = ui.input(|i| i.key_pressed(egui::Key::Enter) || i.key_pressed(egui::Key::Space));
    let Some(focused) = ui.memory(|m| m.focused()).filter(|_| is_pressed) else { return false };
    let layer = ui.ctx().viewport(|viewport| viewport.this_pass.widgets.get(focused).map(|choice| choice.layer_id));
    layer == Some(ui.layer_id())
}

/// A line to type in. Its identity is its name, so that it keeps the keyboard when something appears beside it.
pub fn text_field(ui: &mut Ui, name: &str, text: &mut String, width: f32) -> Response {
    let edit = egui::TextEdit::singleline(text).id(egui::Id::unique(name)).margin(Margin::symmetric(10, 7));
    ui.add(edit.desired_width(width)).accessible_name(name)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Icon {
    Search,
    Sun,
    Moon,
    Cross,
    Check,
    Up,
    Down,
    Flag,
    Plus,
    Pencil,
    Undo,
    Redo,
}

/// A square button with an icon; `name` is its tooltip and what a screen reader says.
pub fn icon_button(ui: &mut Ui, icon: Icon, enabled: bool, name: &str) -> Response {
    let tokens = theme::tokens(ui);
    let sense = if enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(30.0), sense);
    if enabled && (response.hovered() || response.has_focus()) {
        ui.painter().rect_filled(rect, RADIUS_CONTROL, tokens.hover);
    }
    let color = match (enabled, response.hovered()) {
        (false, _) => tokens.line_strong,
        (true, true) => tokens.text,
        (true, false) => tokens.text_dim,
    };
    paint_icon(ui.painter(), rect.center(), icon, color);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, name));
    let response = if enabled { response.on_hover_cursor(egui::CursorIcon::PointingHand) } else { response };
    response.on_hover_text(name)
}

/// An icon of 16 points around `center`.
pub fn paint_icon(painter: &Painter, center: Pos2, icon: Icon, color: Color32) {
    let stroke = Stroke::new(1.6, color);
    let at = |x: f32, y: f32| center + vec2(x, y);
    let line = |points: Vec<Pos2>| painter.add(Shape::line(points, stroke));
    match icon {
        Icon::Search => {
            painter.circle_stroke(at(-1.0, -1.0), 4.6, stroke);
            line(vec![at(2.4, 2.4), at(6.0, 6.0)]);
        }
        Icon::Sun => {
            painter.circle_stroke(center, 3.4, stroke);
            for step in 0..8 {
                let ray = Vec2::angled(std::f32::consts::TAU * step as f32 / 8.0);
                line(vec![center + 5.4 * ray, center + 7.4 * ray]);
            }
        }
        Icon::Moon => {
            // A circle with another one, up and to the right, cut out of it.
            let outer = (0..=20).map(|s| center + 6.0 * Vec2::angled(0.18 + 4.35 * s as f32 / 20.0));
            let inner = (1..12).map(|s| at(3.0, -3.0) + 5.0 * Vec2::angled(3.76 - 2.81 * s as f32 / 12.0));
            let mut points: Vec<Pos2> = outer.collect();
            points.extend(inner);
            painter.add(Shape::closed_line(points, stroke));
        }
        Icon::Cross => {
            line(vec![at(-4.5, -4.5), at(4.5, 4.5)]);
            line(vec![at(-4.5, 4.5), at(4.5, -4.5)]);
        }
        Icon::Check => {
            line(vec![at(-5.0, 0.5), at(-1.5, 4.0), at(5.5, -4.0)]);
        }
        Icon::Up => {
            line(vec![at(-5.0, 2.5), at(0.0, -2.5), at(5.0, 2.5)]);
        }
        Icon::Down => {
            line(vec![at(-5.0, -2.5), at(0.0, 2.5), at(5.0, -2.5)]);
        }
        Icon::Flag => {
            line(vec![at(-4.0, 7.0), at(-4.0, -6.0), at(5.5, -4.0), at(-4.0, 0.5)]);
        }
        Icon::Plus => {
            line(vec![at(-5.0, 0.0), at(5.0, 0.0)]);
            line(vec![at(0.0, -5.0), at(0.0, 5.0)]);
        }
        Icon::Pencil => {
            line(vec![at(-5.5, 5.5), at(-4.8, 2.4), at(3.2, -5.6), at(5.6, -3.2), at(-2.4, 4.8), at(-5.5, 5.5)]);
        }
        Icon::Undo | Icon::Redo => {
            let flip = if icon == Icon::Undo { 1.0 } else { -1.0 };
            let at = |x: f32, y: f32| at(flip * x, y);
            line(vec![at(-2.5, -6.0), at(-6.0, -2.5), at(-2.5, 1.0)]);
            let arc = (0..=8).map(|s| {
                let angle = -std::f32::consts::FRAC_PI_2 + std::f32::consts::PI * s as f32 / 8.0;
                at(1.5 + 4.0 * angle.cos(), 1.5 + 4.0 * angle.sin())
            });
            let mut points = vec![at(-6.0, -2.5)];
            points.extend(arc);
            points.push(at(-2.0, 5.5));
            line(points);
        }
    }
}
