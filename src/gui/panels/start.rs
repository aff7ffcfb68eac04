//! The first page: the sample, a new project, an old one.

use super::top_bar;
use crate::annotation::Span;
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, RADIUS_CONTROL, size};
use crate::gui::widgets::parts::{self, button, primary_button};
use crate::gui::widgets::sentence::{Content, Emphasis, TextLayout, Typesetter, paint};
use crate::text::tokenize;
use eframe::egui::{
    self, Align, Align2, CentralPanel, Layout, Margin, Panel, Rect, RichText, ScrollArea, Sense, Ui, pos2, vec2,
};
use std::path::{Path, PathBuf};

/// What the start page knows.
pub(crate) struct StartPage<'a> {
    pub recent: &'a [PathBuf],
    /// A project is being opened or made.
    pub busy: Option<&'a str>,
}

impl StartPage<'_> {
    pub(crate) fn show(&self, ui: &mut Ui, typesetter: &mut Typesetter, actions: &mut Vec<UiAction>) {
        let tokens = theme::tokens(ui);
        let bar = egui::Frame::new().fill(tokens.panel).inner_margin(Margin::symmetric(16, 0));
        Panel::top("start bar").exact_size(size::TOP_BAR).frame(bar).show(ui, |ui| {
            ui.horizontal_centered(|ui| {
                top_bar::brand(ui);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| top_bar::help_and_theme(ui, actions));
            });
        });
        CentralPanel::default().frame(egui::Frame::new().fill(tokens.canvas)).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.vertical_centered(|ui| {
                    ui.set_max_width(720.0);
                    ui.add_space((ui.available_height() * 0.07).max(16.0));
                    ui.label(RichText::new("Nestling").font(theme::bold(size::TEXT_HERO)).color(tokens.text));
                    let lead = "Annotate nested named entities with a model that learns as you work. Nothing leaves \
                                this computer.";
                    ui.label(theme::body(lead, tokens.text_dim));
                    ui.add_space(size::GAP_LARGE);
                    example(ui, typesetter);
                    ui.add_space(size::GAP_LARGE);
                    if let Some(busy) = self.busy {
                        ui.add_space(size::GAP_SECTION);
                        ui.spinner();
                        ui.label(theme::body(busy, tokens.text_dim));
                        return;
                    }
                    ways_in(ui, actions);
                    ui.add_space(size::GAP_LARGE);
                    self.recent(ui, actions);
                    ui.add_space(size::GAP_LARGE);
                    let hint = "You can also drop a project or texts on this window.";
                    ui.label(theme::small(hint, tokens.text_faint));
                    ui.add_space(size::GAP_LARGE);
                });
            });
        });
    }

    fn recent(&self, ui: &mut Ui, actions: &mut Vec<UiAction>) {
        if self.recent.is_empty() {
            return;
        }
        let tokens = theme::tokens(ui);
        parts::card(tokens).inner_margin(Margin::same(14)).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                parts::section(ui, "Recent projects");
                for path in self.recent {
                    if recent_row(ui, path) {
                        actions.push(UiAction::Open(path.clone()));
                    }
                }
            });
        });
    }
}

/// A sentence that shows what the program is for.
fn example(ui: &mut Ui, typesetter: &mut Typesetter) {
    let text = "the chair of the Harbour Board of Lund";
    let mentions: Vec<_> = [(0..8, "PER", 0), (3..8, "ORG", 1), (4..5, "FAC", 3), (7..8, "LOC", 2)]
        .into_iter()
        .filter_map(|(words, name, color)| {
            Some((vec![Span::from_range(words)?], name.to_owned(), theme::proposed_color(color)))
        })
        .collect();
    let content = Content::foreign(text, &tokenize(text), &mentions);
    let setting = TextLayout { width: ui.available_width().floor(), points: size::TEXT_SENTENCE, most_rows: 2 };
    let flow = typesetter.set(ui, &content, setting);
    let width = flow.pieces.iter().map(|p| p.rect.right()).fold(0.0, f32::max);
    let (rect, _) = ui.allocate_exact_size(vec2(width, flow.height), Sense::hover());
    paint(ui, &content, &flow, &Emphasis::default(), rect.min);
}

/// Three cards beside each other.
fn ways_in(ui: &mut Ui, actions: &mut Vec<UiAction>) {
    let tokens = theme::tokens(ui);
    let gap = size::GAP_LARGE;
    let width = ((ui.available_width() - 2.0 * gap) / 3.0).floor();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let mut card = |title: &str, text: &str, action: &str, main: bool, keys: Option<CommandId>| {
            let inner = parts::card(tokens).show(ui, |ui| {
                ui.set_width(width - 38.0);
                ui.set_min_height(148.0);
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.label(theme::title(title, tokens.text));
                    ui.add(egui::Label::new(theme::body(text, tokens.text_dim)).wrap());
                    ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
                        let pressed = if main { primary_button(ui, true, action) } else { button(ui, true, action) };
                        let pressed = match keys {
                            Some(id) => pressed.on_hover_text(commands::title_with_keys(id)),
                            None => pressed,
                        };
                        pressed.clicked()
                    })
                    .inner
                })
                .inner
            });
            inner.inner
        };
        if card("Try it", "A small project with texts and labels to experiment with.", "Open sample", true, None) {
            actions.push(UiAction::OpenSample);
        }
        let new = "Your labels and texts in one file that you can copy, email and back up.";
        if card("Start", new, "New project", false, Some(CommandId::NewProject)) {
            actions.push(UiAction::Command(CommandId::NewProject));
        }
        let old = "A .nestling file on this computer.";
        if card("Continue", old, "Open project", false, Some(CommandId::OpenProject)) {
            actions.push(UiAction::Command(CommandId::OpenProject));
        }
    });
}

fn recent_row(ui: &mut Ui, path: &Path) -> bool {
    let tokens = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 32.0), Sense::click());
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, RADIUS_CONTROL, tokens.hover);
    }
    let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().map(|p| p.display().to_string()).unwrap_or_default();
    let at = pos2(rect.left() + 8.0, rect.center().y);
    let painter = ui.painter();
    let drawn = painter.text(at, Align2::LEFT_CENTER, &name, theme::bold(size::TEXT), tokens.text);
    let rest = Rect::from_min_max(pos2(drawn.right() + 12.0, rect.top()), rect.max);
    let font = theme::regular(size::TEXT_SMALL);
    let galley = crate::gui::widgets::galleys::elided(ui, &folder, font, tokens.text_dim, rest.width() - 8.0);
    ui.painter().galley(pos2(rest.left(), rest.center().y - galley.size().y / 2.0), galley, tokens.text_dim);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("open {name} in {folder}")));
    response.on_hover_cursor(egui::CursorIcon::PointingHand).clicked()
}
