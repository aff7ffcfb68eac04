//! All commands and labels by name: type a part of it, choose with the arrows, call with Enter.
//!
//! # Invariants
//! - The field keeps the keyboard as long as the palette is open.
//! - What is matched is what tells entries apart: the name and the title of a label, not the word that stands before
//!   each of them. Of those that match equally well, the most probable label comes first, then what was chosen last.

use super::recent::{PaletteTarget, RecentChoices};
use super::{DialogContext, Dismissal, surface};
use crate::annotation::{Label, LabelId};
use crate::gui::actions::UiAction;
use crate::gui::commands::{Scope, TABLE};
use crate::gui::matching::{Rank, rank};
use crate::gui::theme::{self, RADIUS_CONTROL, size};
use crate::session::Project;
use eframe::egui::{
    self, Align2, Event, EventFilter, Key, Margin, Modifiers, ScrollArea, Sense, TextEdit, Ui, pos2, vec2,
};
use std::collections::HashMap;

/// What the keys of a row take of its width.
const KEYS: f32 = 120.0;
const ROW: f32 = 32.0;
const MOST_ROWS: f32 = 11.25;
/// From the top of the window: the field stays where it is while the list below it grows and shrinks.
const FROM_TOP: f32 = 96.0;

#[derive(Default)]
pub(crate) struct Palette {
    query: String,
    at: usize,
    /// A label is looked for, for what is selected, and no command.
    labels_only: bool,
    /// Probabilities of the labels of what is selected, as they were known when the list opened: nothing moves under the hand.
    probabilities: HashMap<LabelId, f32>,
}

/// Something that can be chosen.
struct PaletteEntry {
    title: String,
    keys: String,
    /// Of a label for what is selected.
    probability: Option<f32>,
    calls: PaletteTarget,
}

impl Palette {
    /// The labels for what is selected, the most probable first where their order is known.
    pub(crate) fn of_labels(order: Option<&[(LabelId, f32)]>) -> Self {
        let probabilities = order.unwrap_or_default().iter().copied().collect();
        Self { labels_only: true, probabilities, ..Self::default() }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, context: &mut DialogContext<'_>) {
        let hits = self.hits(context.project, context.recent);
        let (move_by, is_called) = take_keys(ctx);
        self.at = self.at.saturating_add_signed(move_by).min(hits.len().saturating_sub(1));
        let mut chosen = hits.get(self.at).filter(|_| is_called).map(|hit| hit.calls);
        let place = (Align2::CENTER_TOP, vec2(0.0, FROM_TOP.min(ctx.content_rect().height() * 0.2)));
        let left = surface(ctx, "palette", place, 10, |ui| {
            ui.set_width(520.0_f32.min(ctx.content_rect().width() - 60.0));
            ui.set_max_height(ctx.content_rect().height());
            let is_changed = self.field(ui);
            ui.add_space(size::GAP_SMALL);
            let height = (MOST_ROWS * ROW).min(ctx.content_rect().height() - 2.0 * FROM_TOP).max(2.0 * ROW);
            let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
            let area = if is_changed { area.vertical_scroll_offset(0.0) } else { area };
            area.show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for (number, hit) in hits.iter().enumerate() {
                    if row(ui, hit, number == self.at, move_by != 0) {
                        chosen = Some(hit.calls);
                    }
                }
                if hits.is_empty() {
                    let nothing = if self.labels_only { "No matching label" } else { "No matching command or label" };
                    ui.label(theme::body(nothing, theme::tokens(ui).text_dim));
                }
            });
        });
        if let Some(calls) = chosen {
            context.recent.note(calls);
            context.actions.push(UiAction::CloseDialog);
            context.actions.push(match calls {
                PaletteTarget::Command(id) => UiAction::Command(id),
                PaletteTarget::Label(label) => UiAction::UseLabel(label),
            });
        } else if left != Dismissal::None {
            context.actions.push(UiAction::CloseDialog);
        }
    }

    /// True when something else was typed.
    fn field(&mut self, ui: &mut Ui) -> bool {
        let tokens = theme::tokens(ui);
        let (name, hint) =
            if self.labels_only { ("Label", "Which label?") } else { ("Command", "What do you want to do?") };
        let keys = EventFilter { tab: true, escape: true, horizontal_arrows: true, vertical_arrows: true };
        let edit = TextEdit::singleline(&mut self.query)
            .id(egui::Id::unique("command"))
            .event_filter(keys)
            .hint_text(theme::body(hint, tokens.text_faint))
            .margin(Margin::symmetric(10, 9))
            .desired_width(f32::INFINITY);
        let field = ui.add(edit).accessible_name(name);
        if !field.has_focus() {
            field.request_focus();
        }
        if field.changed() {
            self.at = 0;
        }
        field.changed()
    }

    /// What there is to choose, the best first. Labels only when something is typed, unless one is looked for.
    fn hits(&self, project: Option<&Project>, recent: &RecentChoices) -> Vec<PaletteEntry> {
        let read_only = project.is_some_and(|project| project.read_only().is_some());
        let commands = TABLE.iter().filter(|entry| {
            let is_of_use = (project.is_some() || entry.scope == Scope::Window) && !(read_only && entry.id.changes());
            !self.labels_only && is_of_use
        });
        let commands = commands.filter_map(|entry| {
            let keys = entry.keys.first().map(|keys| keys.text()).unwrap_or_default();
            let choice = PaletteEntry {
                title: entry.title.to_owned(),
                keys,
                probability: None,
                calls: PaletteTarget::Command(entry.id),
            };
            Some((rank(&self.query, entry.title)?, choice))
        });
        let wanted = self.labels_only || !self.query.trim().is_empty();
        let labels =
            project.filter(|_| wanted && !read_only).into_iter().flat_map(|project| project.corpus().labels().iter());
        let labels = labels.filter_map(|label| {
            let title = format!("Label {}", label.display_name());
            let keys = label.key.map(|key| key.to_uppercase().to_string()).unwrap_or_default();
            let probability = self.probabilities.get(&label.id).copied();
            Some((
                self.rank_label(label)?,
                PaletteEntry { title, keys, probability, calls: PaletteTarget::Label(label.id) },
            ))
        });
        let mut hits: Vec<(Rank, PaletteEntry)> = labels.chain(commands).collect();
        // Of those that match equally well the most probable comes first, then what was chosen last.
        let improbable = |choice: &PaletteEntry| -choice.probability.unwrap_or(-1.0);
        hits.sort_by(|(rank, choice), (other_rank, other)| {
            let by_probability = || improbable(choice).total_cmp(&improbable(other));
            rank.cmp(other_rank)
                .then_with(by_probability)
                .then_with(|| recent.age(choice.calls).cmp(&recent.age(other.calls)))
        });
        hits.into_iter().map(|(_, choice)| choice).collect()
    }

    /// By its name or title; "label org" is typed by people who read "Label ORG".
    fn rank_label(&self, label: &Label) -> Option<Rank> {
        let of = |query: &str| [&label.name, &label.title].into_iter().filter_map(|name| rank(query, name)).min();
        let named = || {
            let (first, rest) = self.query.trim().split_once(char::is_whitespace)?;
            of(rest).filter(|_| first.eq_ignore_ascii_case("label"))
        };
        of(&self.query).or_else(named)
    }
}

/// By how many rows the arrows and Tab lead on, and whether Enter was pressed, not held.
fn take_keys(ctx: &egui::Context) -> (isize, bool) {
    let (mut move_by, mut is_called) = (0, false);
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            let Event::Key { key, pressed: true, repeat, modifiers, .. } = event else { return true };
            match key {
                Key::ArrowDown | Key::Tab if modifiers.is_none() => move_by += 1,
                Key::ArrowUp if modifiers.is_none() => move_by -= 1,
                Key::Tab if modifiers.matches_exact(Modifiers::SHIFT) => move_by -= 1,
                Key::Enter => is_called |= !repeat,
                _ => return true,
            }
            false
        });
    });
    (move_by, is_called)
}

fn row(ui: &mut Ui, choice: &PaletteEntry, current: bool, follow: bool) -> bool {
    let tokens = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::CLICK);
    if current && follow {
        response.scroll_to_me(None);
    }
    if current || response.hovered() {
        ui.painter().rect_filled(rect, RADIUS_CONTROL, if current { tokens.row_selected } else { tokens.hover });
    }
    let middle = rect.center().y;
    // A label's name may be long.
    let painter = ui.painter_at(rect.with_max_x(rect.right() - KEYS));
    let font = theme::regular(size::TEXT);
    painter.text(pos2(rect.left() + 10.0, middle), Align2::LEFT_CENTER, &choice.title, font, tokens.text);
    let font = theme::regular(size::TEXT_SMALL);
    ui.painter().text(pos2(rect.right() - 10.0, middle), Align2::RIGHT_CENTER, &choice.keys, font, tokens.text_faint);
    let probability = choice.probability.map(|p| format!("{p:.2}"));
    if let Some(text) = &probability {
        let (at, font) = (pos2(rect.right() - KEYS + 40.0, middle), theme::regular(size::TEXT_SMALL));
        ui.painter().text(at, Align2::RIGHT_CENTER, text, font, tokens.text_dim);
    }
    response.widget_info(|| egui::WidgetInfo {
        current_text_value: probability.as_ref().map(|p| format!("probability {p}")),
        ..egui::WidgetInfo::selected(egui::Role::MenuItem, true, current, &choice.title)
    });
    response.clicked()
}
