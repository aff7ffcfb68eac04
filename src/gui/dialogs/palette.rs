//! All commands and labels by name: type a part of it, choose with the arrows, call with Enter.

use super::Backstage;
use crate::annotation::LabelId;
use crate::gui::acts::Act;
use crate::gui::commands::{CommandId, Scope, TABLE};
use crate::gui::theme::{self, RADIUS_CONTROL, size};
use crate::session::Project;
use eframe::egui::{self, Align2, Frame, Id, Key, Margin, Modal, Modifiers, ScrollArea, Sense, Ui, pos2, vec2};

/// What the keys of a row take of its width.
const KEYS: f32 = 120.0;

#[derive(Default)]
pub(crate) struct Palette {
    query: String,
    at: usize,
    /// A label is looked for, for what is selected, and no command.
    labels_only: bool,
}

/// Something that can be chosen.
struct Choice {
    title: String,
    keys: String,
    calls: Calls,
}

#[derive(Clone, Copy)]
enum Calls {
    Command(CommandId),
    Label(LabelId),
}

impl Palette {
    pub(crate) fn of_labels() -> Self {
        Self { labels_only: true, ..Self::default() }
    }

    pub(crate) fn show(&mut self, ctx: &egui::Context, backstage: &mut Backstage<'_>) {
        let tokens = theme::tokens_of(ctx.theme());
        let hits = self.hits(backstage.project);
        let move_by = ctx.input_mut(|i| {
            let down = i.count_and_consume_key(Modifiers::NONE, Key::ArrowDown);
            let up = i.count_and_consume_key(Modifiers::NONE, Key::ArrowUp);
            down as isize - up as isize
        });
        self.at = self.at.saturating_add_signed(move_by).min(hits.len().saturating_sub(1));
        let mut chosen =
            ctx.input(|i| i.key_pressed(Key::Enter)).then(|| hits.get(self.at).map(|hit| hit.calls)).flatten();
        let frame = Frame::window(&ctx.global_style()).inner_margin(Margin::same(10));
        let modal = Modal::new(Id::unique("palette")).frame(frame).backdrop_color(tokens.backdrop);
        let response = modal.show(ctx, |ui| {
            ui.set_width(520.0_f32.min(ctx.content_rect().width() - 60.0));
            let edit = egui::TextEdit::singleline(&mut self.query)
                .id(egui::Id::unique("command"))
                .hint_text(theme::body(
                    if self.labels_only { "Which label?" } else { "What do you want to do?" },
                    tokens.text_faint,
                ))
                .margin(Margin::symmetric(10, 9))
                .desired_width(f32::INFINITY);
            let field = ui.add(edit).accessible_name(if self.labels_only { "Label" } else { "Command" });
            if field.changed() {
                self.at = 0;
            }
            field.request_focus();
            ui.add_space(size::GAP_SMALL);
            ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for (number, hit) in hits.iter().enumerate() {
                    if row(ui, hit, number == self.at, move_by != 0) {
                        chosen = Some(hit.calls);
                    }
                }
                if hits.is_empty() {
                    let nothing = if self.labels_only { "No such label" } else { "No such command or label" };
                    ui.label(theme::body(nothing, tokens.text_dim));
                }
            });
        });
        if let Some(calls) = chosen {
            backstage.acts.push(Act::CloseDialog);
            backstage.acts.push(match calls {
                Calls::Command(id) => Act::Command(id),
                Calls::Label(label) => Act::UseLabel(label),
            });
        } else if response.should_close() {
            backstage.acts.push(Act::CloseDialog);
        }
    }

    /// What there is to choose; labels first, as soon as something is typed: their names are short.
    fn hits(&self, project: Option<&Project>) -> Vec<Choice> {
        let read_only = project.is_some_and(|project| project.read_only().is_some());
        let commands = TABLE.iter().filter(|entry| {
            let is_of_use = (project.is_some() || entry.scope == Scope::Window) && !(read_only && entry.id.changes());
            !self.labels_only && is_of_use && self.matches(&[entry.title])
        });
        let commands = commands.map(|entry| Choice {
            title: entry.title.to_owned(),
            keys: entry.keys.first().map(|keys| keys.text()).unwrap_or_default(),
            calls: Calls::Command(entry.id),
        });
        let wanted = self.labels_only || !self.query.trim().is_empty();
        let labels =
            project.filter(|_| wanted && !read_only).into_iter().flat_map(|project| project.corpus().labels().iter());
        let labels = labels.filter_map(|label| {
            let title = format!("Label {}", label.display_name());
            self.matches(&[&title, &label.name]).then(|| Choice {
                title,
                keys: label.key.map(|key| key.to_uppercase().to_string()).unwrap_or_default(),
                calls: Calls::Label(label.id),
            })
        });
        labels.chain(commands).collect()
    }

    /// Each word that was typed is in one of the names.
    fn matches(&self, names: &[&str]) -> bool {
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let is_there = |word: &str| names.iter().any(|name| name.contains(word));
        self.query.to_lowercase().split_whitespace().all(is_there)
    }
}

fn row(ui: &mut Ui, choice: &Choice, current: bool, follow: bool) -> bool {
    let tokens = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 32.0), Sense::click());
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
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::MenuItem, true, &choice.title));
    response.clicked()
}
