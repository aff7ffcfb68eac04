//! Who has the keyboard, and who gets it back.
//!
//! # Invariants
//! - While a project is open the keyboard belongs to its sentence. Others have it for a time: a dialog or drop-down
//!   while it is open, a field while somebody types in it, and controls to which somebody was led by F6, by Tab or by a
//!   screen reader. Whatever way one of these ends, the keyboard is the sentence's again.
//! - A control that was clicked never keeps it.

use super::state::Window;
use crate::gui::commands::KeyboardOwner;
use crate::gui::panels::annotate::sentence_id;
use crate::gui::widgets::keyboard::focus_ring;
use eframe::egui::accesskit::Action;
use eframe::egui::{self, Context, Event, Key, Popup};

impl Window {
    /// A field that loses the keyboard owns the key that did it, so that Escape leaves a note and nothing more.
    pub(super) fn keyboard_owner(&mut self, ctx: &Context) -> KeyboardOwner {
        let now = self.owner_now(ctx);
        let nobody = ctx.memory(|m| m.focused().is_none());
        let before = self.keyboard.owner.replace(now);
        match before {
            Some(KeyboardOwner::TextField) if nobody && now == KeyboardOwner::Sentence => KeyboardOwner::TextField,
            _ => now,
        }
    }

    fn owner_now(&self, ctx: &Context) -> KeyboardOwner {
        if self.has_dialog() {
            return KeyboardOwner::Dialog;
        }
        if Popup::is_any_open(ctx) {
            return KeyboardOwner::Other;
        }
        match ctx.memory(|m| m.focused()) {
            Some(id) if id == sentence_id() => KeyboardOwner::Sentence,
            None if self.has_sentence() => KeyboardOwner::Sentence,
            Some(_) if ctx.text_edit_focused() => KeyboardOwner::TextField,
            _ => KeyboardOwner::Other,
        }
    }

    /// From the sentence to the controls, where egui's own order holds, and back.
    pub(super) fn leave_sentence(&mut self, ctx: &Context) {
        self.keyboard.is_at_controls = ctx.memory_mut(|m| {
            let leaves = m.has_focus(sentence_id());
            if leaves {
                m.move_focus(egui::FocusDirection::Next);
            } else {
                m.request_focus(sentence_id());
            }
            leaves
        });
    }

    /// A menu that is open does not lie over a dialog that was called meanwhile. Before anything is painted.
    pub(super) fn close_what_a_dialog_covers(&mut self, ctx: &Context) {
        let has_dialog = self.has_dialog();
        let had_dialog = std::mem::replace(&mut self.keyboard.had_dialog, has_dialog);
        if has_dialog && !had_dialog {
            Popup::close_all(ctx);
        }
    }

    /// Gives the keyboard back to the sentence where it is due. After all is painted and done.
    pub(super) fn settle_keyboard(&mut self, ctx: &Context) {
        let is_covered = self.has_dialog() || Popup::is_any_open(ctx);
        let was_covered = std::mem::replace(&mut self.keyboard.was_covered, is_covered);
        if !is_covered && self.has_sentence() {
            self.follow_who_is_led(ctx, was_covered);
            let is_theirs = ctx.text_edit_focused() || self.keyboard.is_at_controls;
            if was_covered || !is_theirs {
                ctx.memory_mut(|m| {
                    if !m.has_focus(sentence_id()) {
                        m.request_focus(sentence_id());
                    }
                });
            }
        }
        let focused = ctx.memory(|m| m.focused());
        if focused.is_some_and(|id| id != sentence_id()) {
            focus_ring(ctx);
        }
    }

    fn follow_who_is_led(&mut self, ctx: &Context, was_covered: bool) {
        let is_leading = |event: &Event| match event {
            Event::Key { key: Key::Tab, pressed: true, modifiers, .. } => {
                !modifiers.ctrl && !modifiers.alt && self.keyboard.owner != Some(KeyboardOwner::Sentence)
            }
            Event::AccessKitActionRequest(request) => request.action == Action::Focus,
            _ => false,
        };
        let (is_led, is_pressed) = ctx.input(|i| (i.events.iter().any(is_leading), i.pointer.any_pressed()));
        let is_at_sentence = ctx.memory(|m| m.focused().is_none_or(|id| id == sentence_id()));
        self.keyboard.is_at_controls |= is_led;
        self.keyboard.is_at_controls &= !(is_at_sentence || is_pressed || was_covered);
    }

    fn has_dialog(&self) -> bool {
        self.dialog.is_some() || self.report.is_some()
    }

    fn has_sentence(&self) -> bool {
        self.workspace().is_some_and(|workspace| workspace.view.current().is_some())
    }
}
