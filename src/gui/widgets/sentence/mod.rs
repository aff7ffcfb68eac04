//! The sentence: words with nested bars under them, read and edited with keys or the mouse.
//!
//! # Invariants
//! - It changes nothing: it shows a [`Content`] and returns what the person did as a [`SentenceEvent`].
//! - While it has the keyboard it keeps Tab, the arrows and Escape (F6 leaves it).
//! - Words and bars are nodes of the accessibility tree ("word 3: Aarhus", "suggestion ORG 0.91: …"), made only while
//!   somebody listens.
//!
//! Deliberately absent: keys, which are in the command table.

mod bidi;
mod content;
mod flow;
mod paint;
mod rows;

pub use content::{Content, Mark, MarkId, Word};
pub use flow::Flow;
pub use paint::{Emphasis, paint, paint_words};
pub use rows::TextLayout;

use super::galleys::WordGalleys;
use crate::annotation::TokenIdx;
use crate::gui::theme::size;
use eframe::egui::{self, EventFilter, Id, Pos2, Rect, Response, Role, Sense, Ui, UiBuilder, pos2, vec2};
use std::collections::HashMap;
use std::sync::Arc;

/// How long the pointer's help stays, in seconds.
const HELP_SECS: f32 = 4.0;

/// What a person did to a sentence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SentenceEvent {
    /// Words from one to the other, both inside, in either order; not `done` while the button is still down.
    Select {
        from: TokenIdx,
        to: TokenIdx,
        done: bool,
    },
    /// The selection is to end at this word (a click with Shift).
    Extend(TokenIdx),
    Pick(MarkId),
    Accept(MarkId),
    /// A click on nothing.
    Clear,
}

pub struct SentenceView<'a> {
    pub id: Id,
    pub content: &'a Content,
    pub flow: &'a Flow,
    pub emphasis: Emphasis,
    /// Takes the keyboard when nothing else has it.
    pub takes_keyboard: bool,
}

pub struct SentenceOutput {
    pub response: Response,
    pub event: Option<SentenceEvent>,
}

/// Where a drag over words began and where it is.
#[derive(Clone, Copy, Default)]
struct Drag {
    from: usize,
    to: usize,
}

impl SentenceView<'_> {
    pub fn show(mut self, ui: &mut Ui) -> SentenceOutput {
        let (rect, _) = ui.allocate_exact_size(vec2(self.flow.width, self.flow.height), Sense::hover());
        let response = ui.interact(rect, self.id, Sense::click_and_drag());
        self.keep_keyboard(ui, &response);

        let hover = response.hover_pos().map(|at| at - rect.min.to_vec2());
        self.emphasis.hovered_mark = hover.and_then(|at| self.flow.mark_at(at));
        if self.emphasis.hovered_mark.is_none() {
            self.emphasis.hovered_word = hover.and_then(|at| self.flow.word_at(at));
        }
        self.emphasis.focused = response.has_focus();
        let mut event = self.pointer_event(ui, &response, rect.min);
        if let Some(SentenceEvent::Select { from, to, done: false }) = event {
            self.emphasis.selected = from.min(to).get()..from.max(to).get() + 1;
        }
        if ui.is_rect_visible(rect) {
            paint::paint(ui, self.content, self.flow, &self.emphasis, rect.min);
        }
        if let Some(from_reader) = self.accessible_nodes(ui, &response, rect) {
            event = Some(from_reader);
        }
        let response = self.hover_help(ui, response);
        SentenceOutput { response, event }
    }

    fn keep_keyboard(&self, ui: &Ui, response: &Response) {
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        ui.memory_mut(|memory| {
            if self.takes_keyboard && memory.focused().is_none() {
                memory.request_focus(self.id);
            }
            let keep = EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };
            memory.set_focus_lock_filter(self.id, keep);
        });
    }

    fn pointer_event(&self, ui: &Ui, response: &Response, origin: Pos2) -> Option<SentenceEvent> {
        let local = |at: Pos2| at - origin.to_vec2();
        // The drag is known only after a few points of way: it began where the button went down.
        if response.drag_started_by(egui::PointerButton::Primary) {
            let press = ui.input(|i| i.pointer.press_origin()).map(local)?;
            if let (None, Some(token)) = (self.flow.mark_at(press), self.flow.token_at(press)) {
                ui.data_mut(|d| d.insert_temp(self.id, Drag { from: token, to: token }));
            }
        }
        if (response.dragged() || response.drag_stopped())
            && let Some(mut drag) = ui.data(|d| d.get_temp::<Drag>(self.id))
        {
            let now = response.interact_pointer_pos().map(local);
            drag.to = now.and_then(|at| self.flow.token_at(at)).unwrap_or(drag.to);
            let done = response.drag_stopped();
            ui.data_mut(|d| {
                if done {
                    d.remove::<Drag>(self.id);
                } else {
                    d.insert_temp(self.id, drag);
                }
            });
            return Some(SentenceEvent::Select { from: TokenIdx::new(drag.from), to: TokenIdx::new(drag.to), done });
        }
        if !response.clicked() {
            return None;
        }
        let at = local(response.interact_pointer_pos()?);
        if let Some(mark) = self.flow.mark_at(at).and_then(|index| self.content.marks.get(index)) {
            let accepts = response.double_clicked() && mark.is_suggestion();
            return Some(if accepts { SentenceEvent::Accept(mark.id) } else { SentenceEvent::Pick(mark.id) });
        }
        let Some(token) = self.flow.word_at(at).map(TokenIdx::new) else { return Some(SentenceEvent::Clear) };
        let extends = ui.input(|i| i.modifiers.shift);
        Some(if extends {
            SentenceEvent::Extend(token)
        } else {
            SentenceEvent::Select { from: token, to: token, done: true }
        })
    }

    fn hover_help(&self, ui: &Ui, response: Response) -> Response {
        let Some(mark) = self.emphasis.hovered_mark.and_then(|at| self.content.marks.get(at)) else {
            return response.on_hover_cursor(egui::CursorIcon::Text);
        };
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        // A pointer that was left lying there is not asking.
        if ui.input(|i| i.pointer.time_since_last_movement()) > HELP_SECS {
            return response;
        }
        let help = if mark.is_suggestion() { "Click to select, double-click to accept" } else { "Click to select" };
        response.on_hover_text_at_pointer(format!("{}\n{help}", mark.tag))
    }

    /// Nodes for words and marks; what a screen reader did with them.
    fn accessible_nodes(&self, ui: &mut Ui, response: &Response, rect: Rect) -> Option<SentenceEvent> {
        let text = || {
            let words = self.content.words.iter();
            words.map(|w| if w.gap_before { format!(" {}", w.text) } else { w.text.clone() }).collect::<String>()
        };
        response.widget_info(|| egui::WidgetInfo::labeled(Role::Group, true, format!("sentence: {}", text().trim())));
        // Nobody listens: no nodes.
        ui.ctx().accesskit_node_builder(response.id, |_| ())?;
        let child = ui.new_child(
            UiBuilder::new()
                .id_salt(self.id.with("nodes"))
                .max_rect(rect)
                .accessibility_parent(response.id)
                .accessibility_role(Role::GenericContainer),
        );
        let by = rect.min.to_vec2();
        let mut event = None;
        for (token, word) in self.content.words.iter().enumerate() {
            let Some(at) = self.flow.rects_of(token).next() else { continue };
            let name = format!("word {}: {}", token + 1, word.text);
            if node(&child, at.translate(by), self.id.with(("word", token)), Role::Button, name) {
                let token = TokenIdx::new(token);
                event = Some(SentenceEvent::Select { from: token, to: token, done: true });
            }
        }
        for (index, mark) in self.content.marks.iter().enumerate() {
            let Some(at) = self.flow.segments.iter().find(|s| s.mark == index).map(|s| s.bar) else { continue };
            if node(&child, at.translate(by), self.id.with(("mark", mark.id)), Role::Mark, mark.spoken.clone()) {
                event = Some(SentenceEvent::Pick(mark.id));
            }
        }
        event
    }
}

/// One accessible node; true when it was clicked through the accessibility tree.
fn node(ui: &Ui, rect: Rect, id: Id, role: Role, name: String) -> bool {
    let response = ui.interact(rect, id, Sense::empty());
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_role(role);
        node.set_label(name);
        node.add_action(egui::accesskit::Action::Click);
        node.set_bounds(egui::accesskit::Rect {
            x0: f64::from(rect.min.x),
            y0: f64::from(rect.min.y),
            x1: f64::from(rect.max.x),
            y1: f64::from(rect.max.y),
        });
    });
    ui.input(|i| i.has_accesskit_action_request(response.id, egui::accesskit::Action::Click))
}

/// Laid out sentences, kept while they are on screen.
#[derive(Default)]
pub struct Typesetter {
    pub galleys: WordGalleys,
    flows: HashMap<FlowKey, (Arc<Flow>, u64)>,
    frame: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FlowKey {
    content: u64,
    width: u32,
    points: u32,
    most_rows: usize,
}

/// Some screens full of list rows.
const MOST_FLOWS: usize = 300;

impl Typesetter {
    /// Call once at the start of each frame.
    pub fn begin_frame(&mut self, ui: &Ui) {
        let epoch = self.galleys.epoch();
        self.galleys.begin_frame(ui);
        if self.galleys.epoch() != epoch {
            self.flows.clear();
        }
        self.frame += 1;
        if self.flows.len() > MOST_FLOWS {
            let frame = self.frame;
            self.flows.retain(|_, (_, used)| *used + 1 >= frame);
        }
    }

    /// One row of text as small as the window's, in the middle of a place; and where it begins.
    pub fn set_row(&mut self, ui: &Ui, content: &Content, place: Rect) -> (Arc<Flow>, Pos2) {
        // Whole points, so that dragging a panel's edge does not lay out anew at each fraction.
        let width = place.width().max(20.0).floor();
        let flow = self.set(ui, content, TextLayout { width, points: size::TEXT, most_rows: 1 });
        let foot = flow.rows.first().map_or(0.0, |row| row.foot);
        (flow, pos2(place.left(), place.center().y - foot / 2.0))
    }

    pub fn set(&mut self, ui: &Ui, content: &Content, setting: TextLayout) -> Arc<Flow> {
        let key = FlowKey {
            content: content.key,
            width: setting.width.to_bits(),
            points: setting.points.to_bits(),
            most_rows: setting.most_rows,
        };
        if let Some((flow, used)) = self.flows.get_mut(&key) {
            *used = self.frame;
            return flow.clone();
        }
        let flow = Arc::new(Flow::new(ui, &mut self.galleys, content, setting));
        self.flows.insert(key, (flow.clone(), self.frame));
        flow
    }
}
