//! The page in the middle: one sentence in large type between its neighbours, and what the model says of it.

use super::{PanelContext, suggestions};
use crate::annotation::{Fragments, Label, LabelId, Presence, Sentence, SentenceId, Span, Split, Status};
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{self, Icon, icon_button, key_cap, primary_button, quiet_button};
use crate::gui::widgets::sentence::{Content, Emphasis, Flow, SentenceView, TextLayout, paint_words};
use crate::gui::workspace::neighbours;
use crate::session::{Why, formats};
use crate::wording::{counted, grouped, listed};
use eframe::egui::{
    self, Align, Area, CentralPanel, Color32, CornerRadius, Frame, Id, Layout, Margin, Order, Rangef, Rect, Response,
    ScrollArea, Sense, Stroke, Ui, pos2, vec2,
};

/// More than fit into the three rows of a neighbour.
const MOST_CONTEXT_WORDS: usize = 120;

/// The id of the sentence widget: who has it has the keyboard.
pub(crate) fn sentence_id() -> Id {
    Id::unique("the sentence")
}

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let frame = Frame::new().fill(tokens.canvas).inner_margin(Margin::symmetric(20, 0));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        let Some(sentence) = panel.view.sentence(panel.project) else {
            empty_page(ui, panel);
            return;
        };
        ScrollArea::vertical().auto_shrink(false).id_salt(sentence.id().0).show(ui, |ui| {
            let width = ui.available_width().min(size::PAGE_WIDTH);
            let margin = ((ui.available_width() - width) / 2.0).max(0.0);
            let area = Rect::from_min_size(ui.cursor().min + vec2(margin, 0.0), vec2(width, ui.available_height()));
            ui.scope_builder(egui::UiBuilder::new().max_rect(area), |ui| page(ui, panel, sentence));
        });
    });
}

fn page(ui: &mut Ui, panel: &mut PanelContext<'_>, sentence: &Sentence) {
    let (before, after) = neighbours(panel.project.corpus(), sentence);
    ui.add_space(size::GAP_LARGE);
    place(ui, panel, sentence);
    ui.add_space(size::GAP_SMALL);
    context(ui, panel, before, "…");
    ui.add_space(size::GAP_SMALL);
    sentence_card(ui, panel, sentence);
    ui.add_space(size::GAP_SMALL);
    context(ui, panel, after, "");
    ui.add_space(size::GAP_LARGE);
    suggestions::show(ui, panel, sentence);
    ui.add_space(size::GAP_SECTION);
}

/// Document, place in it, status.
fn place(ui: &mut Ui, panel: &mut PanelContext<'_>, sentence: &Sentence) {
    let tokens = theme::tokens(ui);
    let corpus = panel.project.corpus();
    let (name, of, number) = corpus
        .place_in_document(sentence.id())
        .map_or(("", 0, 0), |(document, at)| (document.name.as_str(), document.sentences.len(), at + 1));
    ui.horizontal(|ui| {
        ui.add_space(size::GAP);
        let chosen = panel.project.chosen(sentence.id()).map_or("", |choice| match choice.why {
            Why::Score => " · chosen: most informative",
            Why::Words => " · chosen for its words",
            Why::Random => " · chosen at random",
            Why::Order => "",
        });
        let text = format!("{name} · sentence {} of {}{chosen}", grouped(number), grouped(of));
        let reopens = !sentence.status().waits() && panel.can(CommandId::Reopen);
        let room = (ui.available_width() - if reopens { 320.0 } else { 230.0 }).max(40.0);
        ui.allocate_ui_with_layout(vec2(room, 30.0), Layout::left_to_right(Align::Center), |ui| {
            ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).truncate());
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (icon, id) in [(Icon::Down, CommandId::NextSentence), (Icon::Up, CommandId::PreviousSentence)] {
                if icon_button(ui, icon, true, &commands::title_with_keys(id)).clicked() {
                    panel.request(UiAction::Command(id));
                }
            }
            let can = panel.can(CommandId::Flag);
            if icon_button(ui, Icon::Flag, can, &commands::title_with_keys(CommandId::Flag)).clicked() {
                panel.request(UiAction::Command(CommandId::Flag));
            }
            if reopens {
                let button = quiet_button(ui, "Reopen");
                if button.on_hover_text(commands::title_with_keys(CommandId::Reopen)).clicked() {
                    panel.request(UiAction::Command(CommandId::Reopen));
                }
            }
            status_chip(ui, sentence.status());
            split_chip(ui, sentence.split());
        });
    });
}

fn status_chip(ui: &mut Ui, status: Status) {
    let tokens = theme::tokens(ui);
    let color = match status {
        Status::Untouched => tokens.text_faint,
        other => theme::status_color(other, tokens),
    };
    chip(ui, super::sentences::status_word(status), color, "status");
}

/// Sentences that are kept aside say so.
fn split_chip(ui: &mut Ui, split: Split) {
    let tokens = theme::tokens(ui);
    let (word, help) = match split {
        Split::Rest => return,
        Split::Dev => ("dev", "Used to choose between models; never trained on"),
        Split::Test => ("test", "For the final test; never trained on"),
        Split::Blind => ("blind", "Set aside for the learning curve; never trained on"),
    };
    chip(ui, word, tokens.accent, "split").on_hover_text(help);
}

fn chip(ui: &mut Ui, word: &str, color: Color32, what: &str) -> Response {
    let tokens = theme::tokens(ui);
    let galley = ui.painter().layout_no_wrap(word.to_owned(), theme::regular(size::TEXT_SMALL), color);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(20.0, 6.0), Sense::hover());
    let fill = theme::mix(tokens.canvas, color, 0.14);
    ui.painter().rect_filled(rect, CornerRadius::same(11), fill);
    ui.painter().galley(rect.center() - galley.size() / 2.0, galley, color);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{what}: {word}")));
    response
}

/// A neighbour, dimmed; a click goes there.
fn context(ui: &mut Ui, panel: &mut PanelContext<'_>, sentence: Option<&Sentence>, lead: &str) {
    let tokens = theme::tokens(ui);
    let Some(sentence) = sentence else { return };
    let content = Content::plain(panel.project.corpus(), sentence, 0..MOST_CONTEXT_WORDS);
    let content = if lead.is_empty() { content } else { content.led_by(lead) };
    let indent = 14.0;
    let width = (ui.available_width() - 2.0 * indent).max(60.0).floor();
    let flow = panel.typesetter.set(ui, &content, TextLayout { width, points: size::TEXT_CONTEXT, most_rows: 3 });
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), flow.height), Sense::click());
    let color = if response.hovered() { tokens.text_dim } else { tokens.text_faint };
    paint_words(ui, &content, &flow, rect.min + vec2(indent, 0.0), color);
    if response.on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
        panel.request(UiAction::GoTo(sentence.id()));
    }
}

fn sentence_card(ui: &mut Ui, panel: &mut PanelContext<'_>, sentence: &Sentence) {
    let tokens = theme::tokens(ui);
    let focused = ui.memory(|m| m.has_focus(sentence_id()));
    let line = if focused { theme::mix(tokens.line, tokens.accent, 0.55) } else { tokens.line };
    let frame = parts::card(tokens).inner_margin(Margin { left: 26, right: 26, top: 20, bottom: 16 });
    frame.stroke(Stroke::new(1.0, line)).show(ui, |ui| {
        let width = ui.available_width().max(80.0).floor();
        ui.set_min_width(width);
        let setting = TextLayout { width, points: size::TEXT_SENTENCE, most_rows: usize::MAX };
        let flow = panel.typesetter.set(ui, panel.view.content(), setting);
        let selection = panel.view.selection();
        let emphasis = Emphasis {
            selected: selection.map_or(0..0, |s| s.range()),
            cursor: (selection.is_none() && panel.view.picked().is_none()).then(|| panel.view.cursor().get()),
            picked: panel.view.picked().and_then(|id| panel.view.content().index_of(id)),
            ..Emphasis::default()
        };
        let widget = SentenceView {
            id: sentence_id(),
            content: panel.view.content(),
            flow: &flow,
            emphasis,
            takes_keyboard: !panel.dialog_open,
        };
        let output = widget.show(ui);
        panel.actions.extend(output.event.map(UiAction::Sentence));
        let follows = panel.view.take_follow();
        let seen = ui.clip_rect().y_range();
        let rows = selected_rows(panel, &flow, output.response.rect.top());
        let is_in_sight = follows || rows.is_none_or(|rows| rows.intersects(seen));
        panel.view.was_painted(is_in_sight, ui.ctx().cumulative_frame_nr());
        if follows && let Some(row) = flow.row_of(panel.view.cursor().get()) {
            let origin = output.response.rect.min;
            let row = Rect::from_min_max(origin + vec2(0.0, row.top - 12.0), origin + vec2(width, row.bottom + 12.0));
            ui.scroll_to_rect_animation(row, None, egui::style::ScrollAnimation::none());
        }
        if panel.view.offers_labels() && !panel.dialog_open && selection.is_some() {
            label_popup(ui, panel, sentence, &flow, output.response.rect);
        }
    });
}

/// From where to where the rows go that hold what is selected, or the cursor.
fn selected_rows(panel: &PanelContext<'_>, flow: &Flow, top: f32) -> Option<Rangef> {
    let span = panel.view.picked_mark().map(|mark| mark.hull).or(panel.view.target())?;
    let (first, last) = (flow.row_of(span.start().get())?, flow.row_of(span.last().get())?);
    Some(Rangef::new(top + first.top, top + last.bottom))
}

/// Labels beside a selection that was made with the mouse.
fn label_popup(ui: &mut Ui, panel: &mut PanelContext<'_>, sentence: &Sentence, flow: &Flow, card: Rect) {
    let tokens = theme::tokens(ui);
    let Some(selection) = panel.view.selection() else { return };
    let by = card.min.to_vec2();
    let Some(first) = flow.rects_of(selection.start().get()).next() else { return };
    let last_row = flow.row_of(selection.last().get()).map_or(first.bottom(), |row| row.foot);
    let left = if flow.rtl { first.right() - 300.0 } else { first.left() - 4.0 };
    let at = pos2(left, last_row + 7.0) + by;
    let area = Area::new(Id::unique(("label popup", sentence.id().0))).order(Order::Foreground).fixed_pos(at);
    area.constrain_to(ui.ctx().content_rect()).show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).inner_margin(Margin::same(8)).show(ui, |ui| {
            ui.set_max_width(420.0);
            let order = offered_order(ui, panel, (sentence.id(), selection));
            let place = |label: &Label| order.iter().position(|(id, _)| *id == label.id).unwrap_or(usize::MAX);
            let mut labels: Vec<&Label> = panel.project.corpus().labels().iter().collect();
            labels.sort_by_key(|label| place(label));
            let in_sight = ScrollArea::vertical().max_height(size::LABEL_POPUP).show(ui, |ui| {
                ui.set_max_width(ui.available_width() - size::GAP); // beside it is the handle to scroll by
                ui.horizontal_wrapped(|ui| {
                    ui.spacing_mut().item_spacing = vec2(6.0, 6.0);
                    let seen = ui.clip_rect().y_range().expand(1.0);
                    let mut in_sight = 0;
                    for &label in &labels {
                        let color = theme::label_color(label.color, tokens);
                        let key = label.key.map(|k| format!("  {}", k.to_uppercase())).unwrap_or_default();
                        let probability = order.get(place(label)).map(|(_, p)| format!("  {p:.2}")).unwrap_or_default();
                        let text = theme::heading(format!("{}{key}{probability}", label.display_name()), color);
                        let line = Stroke::new(1.0, theme::mix(tokens.card, color, 0.5));
                        let button = ui.add(egui::Button::new(text).stroke(line));
                        in_sight +=
                            usize::from(seen.contains(button.rect.top()) && seen.contains(button.rect.bottom()));
                        if button.clicked() {
                            panel.actions.push(UiAction::UseLabel(label.id));
                        }
                    }
                    if labels.is_empty() && ui.button("Add label").clicked() {
                        panel.actions.push(UiAction::Command(CommandId::AddLabel));
                    }
                    in_sight
                })
            });
            let more = labels.len().saturating_sub(in_sight.inner.inner);
            if more > 0 {
                let by_name = commands::keys_text(CommandId::ChooseLabel);
                let more = counted(more, "more label", "more labels");
                let text = format!("{more}: scroll, or search by name ({by_name})");
                if quiet_button(ui, &text).clicked() {
                    panel.actions.push(UiAction::Command(CommandId::ChooseLabel));
                }
            }
        });
    });
}

/// Seconds after which the labels beside a selection stay as they are.
const SETTLES_AFTER: f64 = 0.15;

/// The labels beside a selection: of which one, since when, and their order as it was known in time.
#[derive(Clone, Default)]
struct Offered {
    of: Option<(SentenceId, Span)>,
    since: f64,
    order: Vec<(LabelId, f32)>,
}

/// The order in which labels are offered, with their probabilities. What comes to be known later than a moment after they are
/// shown is not taken: nothing moves under the pointer.
fn offered_order(ui: &Ui, panel: &PanelContext<'_>, of: (SentenceId, Span)) -> Vec<(LabelId, f32)> {
    let (id, now) = (Id::unique("order of offered labels"), ui.input(|i| i.time));
    let mut offered = ui.ctx().data(|data| data.get_temp::<Offered>(id)).unwrap_or_default();
    if offered.of != Some(of) {
        offered = Offered { of: Some(of), since: now, order: Vec::new() };
    }
    if offered.order.is_empty() && now - offered.since <= SETTLES_AFTER {
        offered.order = panel.project.label_order(of.0, &Fragments::from(of.1)).unwrap_or_default().to_vec();
    }
    let order = offered.order.clone();
    ui.ctx().data_mut(|data| data.insert_temp(id, offered));
    order
}

/// A project without texts: what to do.
fn empty_page(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.24).max(20.0));
        ui.set_max_width(ui.available_width().min(440.0));
        if panel.project.corpus().all_documents().values().any(|d| d.presence == Presence::Excluded) {
            ui.label(theme::title("All documents are excluded", tokens.text));
            ui.add_space(size::GAP);
            ui.label(theme::body("Include some to annotate them.", tokens.text_dim));
            ui.add_space(size::GAP_LARGE);
            let title = CommandId::Documents.title();
            if primary_button(ui, true, title).clicked() {
                panel.request(UiAction::Command(CommandId::Documents));
            }
            return;
        }
        ui.label(theme::title("This project has no texts yet", tokens.text));
        ui.add_space(size::GAP);
        let labels = panel.project.corpus().labels().len();
        let titles: Vec<&str> = formats().iter().map(|f| f.title()).collect();
        let text = format!(
            "Import texts to annotate, with or without annotations. Nestling reads {}. The project has {}.",
            listed(&titles),
            counted(labels, "label", "labels"),
        );
        ui.label(theme::body(text, tokens.text_dim));
        ui.add_space(size::GAP_LARGE);
        let title = CommandId::Import.title();
        if primary_button(ui, panel.can(CommandId::Import), title).clicked() {
            panel.request(UiAction::Command(CommandId::Import));
        }
        ui.add_space(size::GAP_SMALL);
        ui.horizontal(|ui| {
            ui.add_space((ui.available_width() - 230.0).max(0.0) / 2.0);
            ui.label(theme::small("or drop files on this window, or press", tokens.text_faint));
            key_cap(ui, &commands::keys_text(CommandId::Import));
        });
    });
}
