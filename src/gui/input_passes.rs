//! Input in passes: while frames are slow, several clicks and keys arrive in one frame, and each is to find the window
//! as the one before it has left it.
//!
//! egui looks at a frame's input as a whole: it asks what lies under the pointer's last place, takes a press and a
//! release in one frame for no drag, moves the keyboard once for two Tabs, and lets a drop-down that opens compete with
//! the dialog that was pressed. So what has to be handled by itself gets a pass of the frame.
//!
//! # Invariants
//! - No event is dropped, and their order stays.
//! - A press, a release and a key that acts have a pass of their own. Text that is typed into a field stays together.
//!
//! Deliberately absent: what events do.

use eframe::egui::{Context, Event, Key, Plugin, RawInput, Ui};
use std::collections::VecDeque;
use std::num::NonZero;

/// Passes of a frame; what is left then waits for the next one.
const MOST_PASSES: NonZero<usize> = NonZero::<usize>::MIN.saturating_add(7);
/// A debug build of egui writes a warning over the window when more frames in a row have several passes.
const MOST_FRAMES_IN_ROW: usize = 2;
/// Press and release are a click however long a slow frame keeps them apart: only their distance makes a drag.
const CLICK_SECS: f64 = 3600.0;

/// The events that wait for their pass.
#[derive(Default)]
struct InputPasses {
    waiting: VecDeque<Event>,
}

/// Once for each context, before its first frame.
pub(super) fn install(ctx: &Context) {
    ctx.add_plugin(InputPasses::default());
    ctx.options_mut(|options| {
        options.max_passes = MOST_PASSES;
        options.input_options.max_click_duration = CLICK_SECS;
    });
}

impl Plugin for InputPasses {
    fn debug_name(&self) -> &'static str {
        "input passes"
    }

    fn input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        self.waiting.extend(input.events.drain(..));
        let count = first_pass(self.waiting.make_contiguous(), ctx.text_edit_focused());
        input.events.extend(self.waiting.drain(..count));
    }

    fn on_end_pass(&mut self, ui: &mut Ui) {
        if self.waiting.is_empty() {
            return;
        }
        let in_row = ui.ctx().viewport(|viewport| viewport.num_multipass_in_row);
        if in_row < MOST_FRAMES_IN_ROW && ui.ctx().current_pass_index() + 1 < MOST_PASSES.get() {
            ui.ctx().request_discard("more input waits");
        } else {
            ui.ctx().request_repaint();
        }
    }
}

/// What the events before one were.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Preceding {
    /// Nothing that matters to what comes next.
    Nothing,
    Moves,
    /// Text, a wheel and the like.
    Work,
    /// Something that may have changed who has the keyboard, or what lies under the pointer.
    Pointer,
    /// The same with a key that is still down; `typed` when its text was there.
    Key {
        key: Key,
        typed: bool,
    },
    Other,
}

/// How many of the events can be handled at once. `is_typing`: keys that type go to a field.
fn first_pass(events: &[Event], is_typing: bool) -> usize {
    let mut before = Preceding::Nothing;
    for (at, event) in events.iter().enumerate() {
        let acted = !matches!(before, Preceding::Nothing | Preceding::Moves | Preceding::Work);
        let (ends_pass, now) = match event {
            Event::PointerMoved(_) => {
                (before == Preceding::Pointer, if before == Preceding::Nothing { Preceding::Moves } else { before })
            }
            Event::PointerButton { pressed: true, .. } => (acted || before == Preceding::Work, Preceding::Pointer),
            // Where the button is let go, the drag has to be seen first.
            Event::PointerButton { pressed: false, .. } => (before != Preceding::Nothing, Preceding::Pointer),
            Event::Key { key, pressed: true, modifiers, .. } => {
                let plain = !(modifiers.ctrl || modifiers.command || modifiers.mac_cmd || modifiers.alt);
                if is_typing && plain && types(*key) {
                    (acted, Preceding::Work)
                } else {
                    let is_held = matches!(before, Preceding::Key { key: held, .. } if held == *key);
                    ((acted && !is_held) || before == Preceding::Work, Preceding::Key { key: *key, typed: false })
                }
            }
            Event::Key { key, pressed: false, .. } => match before {
                Preceding::Key { key: down, .. } if down == *key => (false, Preceding::Other),
                _ => (false, before),
            },
            Event::Text(text) => match before {
                // The key's own.
                Preceding::Key { key, typed: false } if types(key) => (false, Preceding::Key { key, typed: true }),
                _ if is_typing && text != "?" => (acted, Preceding::Work),
                _ => (acted || before == Preceding::Work, Preceding::Other),
            },
            Event::AccessKitActionRequest(_) => (acted || before == Preceding::Work, Preceding::Other),
            // A click asks for those that are held; a key brings them along.
            Event::ModifiersChanged(_) => (before == Preceding::Pointer, before),
            Event::Ime(_) | Event::Paste(_) | Event::Copy | Event::Cut | Event::MouseWheel { .. } => {
                (acted, Preceding::Work)
            }
            _ => (false, before),
        };
        if ends_pass && at > 0 {
            return at;
        }
        before = now;
    }
    events.len()
}

/// A key with a character on it.
fn types(key: Key) -> bool {
    let is_function = key.name().strip_prefix('F').is_some_and(|number| number.parse::<u8>().is_ok());
    let acts = matches!(
        key,
        Key::ArrowDown
            | Key::ArrowLeft
            | Key::ArrowRight
            | Key::ArrowUp
            | Key::Escape
            | Key::Tab
            | Key::Backspace
            | Key::Enter
            | Key::Insert
            | Key::Delete
            | Key::Home
            | Key::End
            | Key::PageUp
            | Key::PageDown
            | Key::Copy
            | Key::Cut
            | Key::Paste
            | Key::BrowserBack
    );
    !(is_function || acts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::{Modifiers, PointerButton, pos2};

    /// Events by one letter each: `m` a move, `P` a press, `R` a release, `E` Enter, `B` Backspace, `b` its release,
    /// `k` Ctrl+K, `x` the key X with its text, `_` the space bar with its text, `M` a modifier.
    fn events(letters: &str) -> Vec<Event> {
        let key = |key, pressed, modifiers| Event::Key { key, pressed, modifiers, repeat: false, physical_key: None };
        let button = |pressed| Event::PointerButton {
            pos: pos2(0.0, 0.0),
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        let mut events = Vec::new();
        for letter in letters.chars() {
            events.push(match letter {
                'm' => Event::PointerMoved(pos2(1.0, 1.0)),
                'P' => button(true),
                'R' => button(false),
                'E' => key(Key::Enter, true, Modifiers::NONE),
                'B' => key(Key::Backspace, true, Modifiers::NONE),
                'b' => key(Key::Backspace, false, Modifiers::NONE),
                'k' => key(Key::K, true, Modifiers::COMMAND),
                'x' => key(Key::X, true, Modifiers::NONE),
                '_' => key(Key::Space, true, Modifiers::NONE),
                _ => Event::ModifiersChanged(Modifiers::NONE),
            });
            match letter {
                'x' => events.push(Event::Text("x".to_owned())),
                '_' => events.push(Event::Text(" ".to_owned())),
                _ => {}
            }
        }
        events
    }

    /// The passes that a frame's events get.
    fn check(letters: &str, is_typing: bool, want: &[&str]) {
        let mut left = events(letters);
        let mut sizes = Vec::new();
        while !left.is_empty() {
            let count = first_pass(&left, is_typing);
            assert!(count > 0, "{letters} stands still");
            sizes.push(count);
            left.drain(..count);
        }
        let want: Vec<usize> = want.iter().map(|pass| events(pass).len()).collect();
        assert_eq!(sizes, want, "{letters}");
    }

    #[test]
    fn a_press_its_way_and_its_release_have_a_pass_each() {
        check("mmPmmRm", false, &["mmP", "mm", "R", "m"]);
        check("PRPR", false, &["P", "R", "P", "R"]);
        check("mR", false, &["m", "R"]);
        check("PMR", false, &["P", "MR"]);
    }

    #[test]
    fn keys_that_act_have_a_pass_each_and_text_stays_together() {
        check("xxxExB", true, &["xxx", "E", "x", "B"]);
        check("xBk", false, &["x", "B", "k"]);
        check("x_x", true, &["x_x"]);
        check("_x", false, &["_", "x"]);
        check("MkMmP", false, &["MkMm", "P"]);
        check("xP", true, &["x", "P"]);
    }

    #[test]
    fn a_key_that_is_held_is_one_pass() {
        check("BBBx", true, &["BBB", "x"]);
        check("BBbB", false, &["BBb", "B"]);
        check("___", false, &["___"]);
    }
}
