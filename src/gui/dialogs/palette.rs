//! All commands by name: type a part of it, choose with the arrows, call with Enter.

use super::Backstage;
use crate::gui::acts::Act;
use crate::gui::commands::{Entry, Scope, TABLE};
use crate::gui::theme::{self, RADIUS_CONTROL, size};
use eframe::egui::{self, Align2, Frame, Id, Key, Margin, Modal, Modifiers, ScrollArea, Sense, Ui, pos2, vec2};

#[derive(Default)]
pub(crate) struct Palette {
    query: String,
    at: usize,
}

impl Palette {
    pub(crate) fn show(&mut self, ctx: &egui::Context, backstage: &mut Backstage<'_>) {
        let tokens = theme::tokens_of(ctx.theme());
        let open = backstage.project.is_some();
        let read_only = backstage.project.is_some_and(|project| project.read_only().is_some());
        let is_of_use = |e: &Entry| (open || e.scope == Scope::Window) && !(read_only && e.id.changes());
        let hits: Vec<&Entry> = TABLE.iter().filter(|e| is_of_use(e) && self.matches(e)).collect();
        let move_by = ctx.input_mut(|i| {
            let down = i.count_and_consume_key(Modifiers::NONE, Key::ArrowDown);
            let up = i.count_and_consume_key(Modifiers::NONE, Key::ArrowUp);
            down as isize - up as isize
        });
        self.at = self.at.saturating_add_signed(move_by).min(hits.len().saturating_sub(1));
        let mut chosen = ctx.input(|i| i.key_pressed(Key::Enter)).then(|| hits.get(self.at).map(|e| e.id)).flatten();
        let frame = Frame::window(&ctx.global_style()).inner_margin(Margin::same(10));
        let modal = Modal::new(Id::unique("palette")).frame(frame).backdrop_color(tokens.backdrop);
        let response = modal.show(ctx, |ui| {
            ui.set_width(520.0_f32.min(ctx.content_rect().width() - 60.0));
            let edit = egui::TextEdit::singleline(&mut self.query)
                .id(egui::Id::unique("command"))
                .hint_text(theme::body("What do you want to do?", tokens.text_faint))
                .margin(Margin::symmetric(10, 9))
                .desired_width(f32::INFINITY);
            let field = ui.add(edit).accessible_name("Command");
            if field.changed() {
                self.at = 0;
            }
            field.request_focus();
            ui.add_space(size::GAP_SMALL);
            ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for (number, entry) in hits.iter().enumerate() {
                    if row(ui, entry, number == self.at, move_by != 0) {
                        chosen = Some(entry.id);
                    }
                }
                if hits.is_empty() {
                    ui.label(theme::body("No such command", tokens.text_dim));
                }
            });
        });
        if let Some(id) = chosen {
            backstage.acts.push(Act::CloseDialog);
            backstage.acts.push(Act::Command(id));
        } else if response.should_close() {
            backstage.acts.push(Act::CloseDialog);
        }
    }

    fn matches(&self, entry: &Entry) -> bool {
        let title = entry.title.to_lowercase();
        self.query.to_lowercase().split_whitespace().all(|word| title.contains(word))
    }
}

fn row(ui: &mut Ui, entry: &Entry, current: bool, follow: bool) -> bool {
    let tokens = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 32.0), Sense::click());
    if current && follow {
        response.scroll_to_me(None);
    }
    if current || response.hovered() {
        ui.painter().rect_filled(rect, RADIUS_CONTROL, if current { tokens.row_selected } else { tokens.hover });
    }
    let middle = rect.center().y;
    let painter = ui.painter();
    let font = theme::regular(size::TEXT);
    painter.text(pos2(rect.left() + 10.0, middle), Align2::LEFT_CENTER, entry.title, font, tokens.text);
    let keys = entry.keys.first().map(|k| k.text()).unwrap_or_default();
    let font = theme::regular(size::TEXT_SMALL);
    painter.text(pos2(rect.right() - 10.0, middle), Align2::RIGHT_CENTER, keys, font, tokens.text_faint);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::MenuItem, true, entry.title));
    response.clicked()
}
