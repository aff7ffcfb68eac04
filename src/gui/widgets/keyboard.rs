//! What widgets say of the keyboard: whether Enter is theirs, and that they have it.
//!
//! # Invariants
//! - In a dialog Enter does what the dialog is for. A button keeps it for itself, and so does a field that says so
//!   here; a field of text leaves it, and so does a choice that says so here.

use crate::gui::theme::{self, RADIUS_CONTROL};
use eframe::egui::{Context, CornerRadius, Id, Rect, Response, Stroke, StrokeKind};

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
    let Some(response) = ctx.memory(|memory| memory.focused()).and_then(|id| ctx.read_response(id)) else { return };
    if ctx.text_edit_focused() {
        return;
    }
    let tokens = theme::tokens_of(ctx.theme());
    let seen: Rect = response.interact_rect;
    if seen.is_positive() {
        let painter = ctx.layer_painter(response.layer_id);
        let radius = CornerRadius::same(RADIUS_CONTROL + 2);
        painter.rect_stroke(seen.expand(2.0), radius, Stroke::new(2.0, tokens.accent), StrokeKind::Outside);
    }
}
