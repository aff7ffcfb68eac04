//! The frame of a dialog and the parts that many dialogs have.

use super::keyboard::{DialogKeyboard, begin_footer};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{Icon, icon_button};
use eframe::egui::{
    self, Align, Align2, Area, Frame, Id, Label, Layout, Margin, Modal, Order, ScrollArea, Ui, Vec2, vec2,
};

/// An area over the dimmed window.
pub(super) fn surface(
    ctx: &egui::Context,
    id: &str,
    place: (Align2, Vec2),
    margin: i8,
    content: impl FnOnce(&mut Ui),
) -> Dismissal {
    let tokens = theme::tokens_of(ctx.theme());
    let frame = Frame::window(&ctx.global_style()).inner_margin(Margin::same(margin));
    let response = Modal::new(Id::unique(id))
        .area(surface_area(id).anchor(place.0, place.1))
        .frame(frame)
        .backdrop_color(tokens.backdrop)
        .show(ctx, content);
    match (response.should_close(), response.backdrop_response.clicked()) {
        (false, _) => Dismissal::None,
        (true, true) => Dismissal::ByClickBeside,
        (true, false) => Dismissal::ByKey,
    }
}

/// How an area was left, if it was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dismissal {
    None,
    ByKey,
    ByClickBeside,
}

/// egui puts what was pressed above all else of its order: among popups a dialog would cover those that it opens.
fn surface_area(id: &str) -> Area {
    Modal::default_area(Id::unique(id)).order(Order::Middle)
}

/// A titled area in the middle of the dimmed window; true when it is to be closed, by Escape or the cross.
pub(super) fn modal(ctx: &egui::Context, title: &str, width: f32, content: impl FnOnce(&mut Ui)) -> bool {
    let tokens = theme::tokens_of(ctx.theme());
    let keyboard = DialogKeyboard::begin(ctx, surface_area(title).layer());
    let mut closed = false;
    let left = surface(ctx, title, (Align2::CENTER_CENTER, Vec2::ZERO), 22, |ui| {
        let room = ctx.content_rect();
        ui.set_width(width.min(room.width() - 80.0));
        ui.set_max_height(room.height() - 100.0);
        ui.horizontal(|ui| {
            ui.label(theme::title(title, tokens.text));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                closed = icon_button(ui, Icon::Cross, true, "Close (Esc)").clicked();
            });
        });
        ui.add_space(size::GAP_SMALL);
        content(ui);
    });
    keyboard.end(ctx);
    // A slip of the pointer beside it must not end what is typed or done in it.
    closed || left == Dismissal::ByKey
}

/// The buttons at the foot of a dialog, from the right.
pub(super) fn button_row(ui: &mut Ui, buttons: impl FnOnce(&mut Ui)) {
    ui.add_space(size::GAP);
    begin_footer(ui);
    let row = vec2(ui.available_width(), 36.0);
    ui.allocate_ui_with_layout(row, Layout::right_to_left(Align::Center), buttons);
}

/// The name of a field above it.
pub(super) fn field_name(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.add_space(size::GAP_SMALL);
    ui.label(theme::small(text, tokens.text_dim).font(theme::bold(size::TEXT_SMALL)));
}

pub(super) fn explain(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.add(Label::new(theme::small(text, tokens.text_dim)).wrap());
}

pub(super) fn problem(ui: &mut Ui, text: &str) {
    let tokens = theme::tokens(ui);
    ui.add(Label::new(theme::small(text, tokens.bad)).wrap());
}

/// One of two columns side by side: each scrolls by itself, so that a long one leaves the other in sight.
pub(super) fn column(ui: &mut Ui, name: &str, height: f32, content: impl FnOnce(&mut Ui)) {
    let area = ScrollArea::vertical().id_salt(name).max_height(height).min_scrolled_height(height);
    area.auto_shrink([false, true]).show(ui, content);
}
