//! The keyboard in a dialog: where it begins, where Tab leads, what Enter does.
//!
//! # Invariants
//! - A dialog begins at its first field, with the text in it selected, or at its default button where it has no field;
//!   one without buttons at the foot begins where it is closed.
//! - Tab and Shift+Tab go through all controls as one reads them, and round; through those of a drop-down while it is
//!   open, after which the keyboard is where it was.
//! - Enter does what the default button does, unless the control that has the keyboard needs it; Ctrl+Enter always.
//!   Where there is no default button, as while a file is written, it does nothing. A key that is held does nothing again.

use crate::gui::widgets::keyboard::is_enter_kept;
use crate::gui::widgets::parts::primary_button;
use eframe::egui::accesskit::{Action, ActionRequest, TreeId};
use eframe::egui::text::{CCursor, CCursorRange};
use eframe::egui::text_edit::TextEditState;
use eframe::egui::{Context, Event, FocusDirection, Id, Key, LayerId, Modifiers, Order, Popup, Ui, WidgetRect};

/// What is remembered of the dialog that is open.
#[derive(Clone, Default)]
struct KeyboardState {
    of: Option<Id>,
    /// It has put the keyboard somewhere.
    has_begun: bool,
    /// Enter asks for what the dialog is for.
    is_asked: bool,
    default: Option<Id>,
    /// Where the row of buttons at the foot begins.
    foot: Option<f32>,
    /// Who had the keyboard.
    last: Option<Id>,
    had_popup: bool,
    /// To be brought into sight.
    hidden: Option<Id>,
}

/// The keyboard of a dialog while it is painted.
pub(super) struct DialogKeyboard {
    layer: LayerId,
    /// By how many controls Tab leads on.
    steps: isize,
    is_new: bool,
}

impl DialogKeyboard {
    /// Takes the keys that are the dialog's. Call it before anything of the dialog is painted.
    pub(super) fn begin(ctx: &Context, layer: LayerId) -> Self {
        let was_there = ctx.memory(|memory| memory.areas().visible_last_frame(&layer));
        let mut state = KeyboardState::of(ctx);
        let is_new = !was_there || state.of != Some(layer.id);
        if is_new {
            state = KeyboardState { of: Some(layer.id), ..KeyboardState::default() };
        }
        (state.default, state.foot, state.is_asked) = (None, None, false);
        let is_typing = ctx.text_edit_focused();
        let is_kept = Popup::is_any_open(ctx) || is_enter_kept(ctx);
        let mut steps = 0;
        ctx.input_mut(|input| {
            input.events.retain(|event| {
                let Event::Key { key, pressed: true, repeat, modifiers, .. } = event else { return true };
                match key {
                    Key::Tab if modifiers.matches_exact(Modifiers::NONE) => steps += 1,
                    Key::Tab if modifiers.matches_exact(Modifiers::SHIFT) => steps -= 1,
                    Key::Enter | Key::Space if *repeat && !is_typing => {}
                    Key::Enter if (!is_kept && modifiers.is_none()) || modifiers.command_only() => {
                        state.is_asked |= !repeat;
                    }
                    _ => return true,
                }
                false
            });
            if let Some(id) = state.hidden.take() {
                input.events.push(Event::AccessKitActionRequest(ActionRequest {
                    action: Action::ScrollIntoView,
                    target_tree: TreeId::ROOT,
                    target_node: id.accesskit_id(),
                    data: None,
                }));
            }
        });
        if steps != 0 {
            ctx.memory_mut(|memory| memory.move_focus(FocusDirection::None));
        }
        state.keep(ctx);
        Self { layer, steps, is_new }
    }

    /// Puts the keyboard where it belongs. Call it after all of the dialog is painted.
    pub(super) fn end(self, ctx: &Context) {
        let mut state = KeyboardState::of(ctx);
        let has_popup = Popup::is_any_open(ctx);
        let controls = self.controls(ctx, has_popup);
        let focused = ctx.memory(|memory| memory.focused());
        let place = |id: Option<Id>| controls.iter().position(|control| Some(control.id) == id);
        let now = place(focused);
        let begin = || {
            // The first control of all closes the dialog.
            let is_field = |control: &&WidgetRect| state.foot.is_some_and(|foot| control.rect.top() < foot);
            let field = controls.iter().skip(1).find(is_field);
            field.or(place(state.default).and_then(|at| controls.get(at))).or(controls.first())
        };
        let wanted = if self.steps != 0 {
            let count = controls.len() as isize;
            let from = now.or(place(state.last)).map(|at| at as isize);
            let to = from.map_or(if self.steps > 0 { 0 } else { -1 }, |at| at + self.steps);
            controls.get(to.checked_rem_euclid(count).unwrap_or(0) as usize)
        } else if !state.has_begun && now.is_none() {
            begin()
        } else if state.had_popup && !has_popup && now.is_none() {
            place(state.last).and_then(|at| controls.get(at))
        } else {
            None
        };
        let wanted = wanted.copied();
        state.has_begun |= !self.is_new && !controls.is_empty();
        state.had_popup = has_popup;
        match wanted {
            Some(control) => {
                give(ctx, &control);
                if !control.interact_rect.expand(1.0).contains_rect(control.rect) {
                    state.hidden = Some(control.id);
                    ctx.request_repaint();
                }
                state.last = if has_popup { state.last } else { Some(control.id) };
            }
            None if now.is_some() && !has_popup => state.last = focused,
            None => {}
        }
        state.keep(ctx);
    }

    /// The controls that Tab leads through, as one reads them: as they were made, but those of a row from the left.
    fn controls(&self, ctx: &Context, has_popup: bool) -> Vec<WidgetRect> {
        let is_wanted = |layer: &LayerId| match has_popup {
            true => layer.order == Order::Foreground,
            false => *layer == self.layer,
        };
        let mut controls: Vec<WidgetRect> = ctx.viewport(|viewport| {
            let widgets = &viewport.this_pass.widgets;
            let layers = widgets.layers().filter(|(layer, _)| is_wanted(layer));
            // A new dialog is only measured, with all that is in it asleep.
            let controls = layers.flat_map(|(_, rects)| rects).filter(|w| w.sense.is_focusable());
            controls.filter(|w| w.enabled || self.is_new).copied().collect()
        });
        let mut start = 0;
        while start < controls.len() {
            let in_row = |row: &[WidgetRect]| row.windows(2).take_while(|pair| are_beside(&pair[0], &pair[1])).count();
            let end = start + 1 + controls.get(start..).map_or(0, in_row);
            if let Some(row) = controls.get_mut(start..end) {
                row.sort_by(|a, b| a.rect.left().total_cmp(&b.rect.left()));
            }
            start = end;
        }
        controls
    }
}

impl KeyboardState {
    fn of(ctx: &Context) -> Self {
        ctx.data(|data| data.get_temp(state_id())).unwrap_or_default()
    }

    fn keep(self, ctx: &Context) {
        ctx.data_mut(|data| data.insert_temp(state_id(), self));
    }
}

fn state_id() -> Id {
    Id::unique("keyboard of a dialog")
}

/// The button that does what the dialog is for; true when it was pressed, or asked for by Enter.
pub(super) fn default_button(ui: &mut Ui, enabled: bool, text: &str) -> bool {
    let response = primary_button(ui, enabled, text);
    let mut state = KeyboardState::of(ui.ctx());
    let is_asked = std::mem::take(&mut state.is_asked) && enabled;
    state.default = Some(response.id);
    state.keep(ui.ctx());
    response.clicked() || is_asked
}

/// What comes now are the buttons at the foot of the dialog.
pub(super) fn begin_footer(ui: &Ui) {
    let mut state = KeyboardState::of(ui.ctx());
    state.foot = Some(ui.cursor().top());
    state.keep(ui.ctx());
}

fn are_beside(a: &WidgetRect, b: &WidgetRect) -> bool {
    a.rect.y_range().contains(b.rect.center().y) && b.rect.y_range().contains(a.rect.center().y)
}

/// Gives the keyboard to a control; the text of a field is selected.
fn give(ctx: &Context, control: &WidgetRect) {
    ctx.memory_mut(|memory| memory.request_focus(control.id));
    if let Some(mut text) = TextEditState::load(ctx, control.id) {
        let all = CCursorRange::two(CCursor::new(0), CCursor::new(usize::MAX));
        text.cursor.set_char_range(Some(all));
        text.store(ctx, control.id);
    }
}
