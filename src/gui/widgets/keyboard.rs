//! What widgets say of the keyboard: whether Enter is theirs, and that they have it.
//!
//! # Invariants
//! - In a dialog Enter does what the dialog is for. A button keeps it for itself, and so does a field that says so
//!   here; a field of text leaves it, and so does a choice that says so here.

use crate::gui::theme::{self, RADIUS_CONTROL};
use eframe::egui::{Context, CornerRadius, Id, Key, Response, Stroke, StrokeKind};

/// Of the widget that has the keyboard.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Enter {
    Kept(Id),
    Left(Id),
}

/// Enter takes over what was typed here before it does anything else.
pub fn keeps_enter(response: Response) -> Response {
    say(&response, Enter::Kept(response.id));
    response
}

/// Enter was pressed in a field that keeps it.
pub fn is_entered(field: &Response) -> bool {
    field.lost_focus() && field.ctx.input(|input| input.key_pressed(Key::Enter))
}

/// The space bar chooses here, and Enter is the dialog's.
pub fn leaves_enter(response: Response) -> Response {
    say(&response, Enter::Left(response.id));
    response
}

fn say(response: &Response, enter: Enter) {
    if response.has_focus() {
        response.ctx.data_mut(|data| data.insert_temp(said_id(), enter));
    }
}

fn said_id() -> Id {
    Id::unique("whose Enter is")
}

/// Whether Enter belongs to the widget that has the keyboard.
pub fn is_enter_kept(ctx: &Context) -> bool {
    let Some(focused) = ctx.memory(|memory| memory.focused()) else { return false };
    match ctx.data(|data| data.get_temp::<Enter>(said_id())) {
        Some(Enter::Kept(id)) if id == focused => true,
        Some(Enter::Left(id)) if id == focused => false,
        _ => !ctx.text_edit_focused(),
    }
}

/// A ring around the control that has the keyboard; a field of text shows that itself. Call it after all is painted.
pub fn focus_ring(ctx: &Context) {
    let Some(focused) = ctx.memory(|memory| memory.focused()).filter(|_| !ctx.text_edit_focused()) else { return };
    // Asking egui for its response would take the keyboard from it where something else was clicked.
    let control = ctx.viewport(|viewport| viewport.this_pass.widgets.get(focused).copied());
    if let Some(control) = control.filter(|control| control.interact_rect.is_positive()) {
        let stroke = Stroke::new(2.0, theme::tokens_of(ctx.theme()).accent);
        let (seen, radius) = (control.interact_rect.expand(2.0), CornerRadius::same(RADIUS_CONTROL + 2));
        ctx.layer_painter(control.layer_id).rect_stroke(seen, radius, stroke, StrokeKind::Outside);
    }
}
