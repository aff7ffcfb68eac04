//! The list of sentences at the left: what is next, what is done, how much is to do.

use super::PanelContext;
use super::top_bar::HOW_IT_FINDS;
use crate::annotation::{Sentence, SentenceId, Status};
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::finder::StatusFilter;
use crate::gui::theme::{self, RADIUS_CONTROL, Tokens, size};
use crate::gui::widgets::galleys::elided_job;
use crate::gui::widgets::parts::{self, paint_dot, quiet_button};
use crate::gui::widgets::sentence::{Content, paint_words};
use crate::gui::workspace::{NextBy, Reveal};
use crate::session::Order;
use crate::wording::{capital, counted, grouped};
use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, Align, Align2, Color32, Panel, Rect, RichText, ScrollArea, Sense, Ui, pos2, vec2};

/// Words that are set for a row; more don't fit into the widest one.
const MOST_WORDS: usize = 24;
/// Words that are seen before those that were searched for.
const WORDS_BEFORE: usize = 2;
const ROW_SPACING: f32 = 2.0;
/// Rows before and after the current one that are to be in sight.
const ROWS_BESIDE: f32 = 3.0;

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let frame = egui::Frame::new().fill(tokens.panel).inner_margin(egui::Margin::symmetric(6, 10));
    Panel::left("sentences").default_size(size::LEFT_PANEL).size_range(180.0..=520.0).frame(frame).show(ui, |ui| {
        header(ui, panel);
        footer(ui, panel);
        rows(ui, panel);
    });
}

fn header(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let order = |by: NextBy| match by {
        NextBy::Order(Order::Text) => CommandId::NextByText,
        NextBy::Order(Order::Teaching) => CommandId::NextByTeaching,
        NextBy::Order(Order::Blind) => CommandId::NextByBlind,
        NextBy::Found => CommandId::NextByFound,
    };
    let title = |by: NextBy| order(by).title();
    ui.horizontal(|ui| {
        ui.add_space(size::GAP_SMALL);
        let shown = RichText::new(title(panel.view.next_by)).font(theme::bold(size::TEXT));
        parts::combo(ui, "Sentence order", shown, ui.available_width() - 12.0, |ui| {
            let has_blind = panel.project.counts().blind > 0;
            let orders = [Order::Text, Order::Teaching, Order::Blind].map(NextBy::Order);
            for by in orders.into_iter().filter(|by| has_blind || *by != orders[2]).chain([NextBy::Found]) {
                if ui.selectable_label(panel.view.next_by == by, title(by)).clicked() {
                    panel.actions.push(UiAction::Command(order(by)));
                }
            }
        });
    });
    if panel.view.finder.is_on() || panel.view.finder.is_searching() {
        found(ui, panel);
    }
    ui.add_space(size::GAP_SMALL);
}

/// What came of a search, or of a filter.
fn found(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let finder = &panel.view.finder;
    let rows = finder.rows(panel.project.corpus());
    let text = match (finder.is_searching(), rows) {
        (true, _) => "searching …".to_owned(),
        (false, _) if finder.failure().is_some() => "search failed".to_owned(),
        (false, 0) => "no results".to_owned(),
        (false, _) => format!("{} found", grouped(rows)),
    };
    let clear = ui.horizontal(|ui| {
        ui.add_space(size::GAP);
        ui.label(theme::small(text, tokens.text_dim));
        let button = quiet_button(ui, "Show all");
        button.on_hover_text(commands::title_with_keys(CommandId::ShowAll)).clicked()
    });
    let (more, color) = match finder.failure() {
        _ if finder.is_searching() => (None, tokens.text_faint),
        Some(failure) => (Some(capital(failure)), tokens.bad),
        None if rows == 0 && !finder.query.is_empty() => (Some(HOW_IT_FINDS.to_owned()), tokens.text_dim),
        None => (None, tokens.text_faint),
    };
    if let Some(more) = more {
        egui::Frame::new().inner_margin(egui::Margin::symmetric(8, 2)).show(ui, |ui| {
            ui.add(egui::Label::new(theme::small(more, color)).wrap());
        });
    }
    if clear.inner {
        panel.request(UiAction::Command(CommandId::ShowAll));
    }
}

/// Counts that are filters too.
fn footer(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let counts = panel.project.counts();
    let to_go = counts.untouched + counts.in_progress;
    let parts = [
        (StatusFilter::Complete, counts.complete, "complete"),
        (StatusFilter::Flagged, counts.flagged, "flagged"),
        (StatusFilter::Skipped, counts.skipped, "skipped"),
        (StatusFilter::ToDo, to_go, "to do"),
    ];
    Panel::bottom("sentence counts").frame(egui::Frame::new().inner_margin(egui::Margin::symmetric(6, 4))).show(
        ui,
        |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = 2.0;
                ui.spacing_mut().button_padding = vec2(4.0, 3.0);
                for (wanted, number, word) in parts {
                    if number == 0 && !matches!(wanted, StatusFilter::Complete | StatusFilter::ToDo) {
                        continue;
                    }
                    let on = panel.view.finder.status_filter == wanted;
                    let color = if on { tokens.accent } else { tokens.text_dim };
                    let text = theme::small(format!("{} {word}", grouped(number)), color);
                    let help = if on { "Show all sentences" } else { "Show only these" };
                    if ui.add(egui::Button::new(text).frame_when_inactive(on)).on_hover_text(help).clicked() {
                        panel.view.finder.status_filter = if on { StatusFilter::All } else { wanted };
                    }
                }
            });
        },
    );
}

fn rows(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let corpus = panel.project.corpus();
    let total = panel.view.finder.rows(corpus);
    ui.spacing_mut().item_spacing.y = ROW_SPACING;
    let reveal = panel.view.reveal.take();
    let row_of_current = panel.view.current().and_then(|id| panel.view.finder.row_of(corpus, id));
    let target = reveal.zip(row_of_current);
    ScrollArea::vertical().auto_shrink(false).show_rows(ui, size::LIST_ROW, total, |ui, range| {
        let pitch = size::LIST_ROW + ROW_SPACING;
        if let Some((reveal, row)) = target {
            let top = ui.max_rect().top() + (row as f32 - range.start as f32) * pitch;
            let rect = Rect::from_min_size(pos2(ui.max_rect().left(), top), vec2(10.0, size::LIST_ROW));
            let beside = if reveal == Reveal::WithNext { ROWS_BESIDE * pitch } else { 0.0 };
            let wanted = rect.expand2(vec2(0.0, beside)).y_range();
            let seen = ui.clip_rect().y_range();
            if wanted.min < seen.min || wanted.max > seen.max {
                ui.scroll_to_rect_animation(rect, Some(Align::Center), egui::style::ScrollAnimation::none());
            }
        }
        for number in range {
            if let Some(id) = panel.view.finder.row(corpus, number) {
                row(ui, panel, id);
            }
        }
    });
}

fn row(ui: &mut Ui, panel: &mut PanelContext<'_>, id: SentenceId) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::LIST_ROW), Sense::click());
    let project = panel.project;
    let Some(sentence) = project.corpus().sentence(id) else { return };
    if response.clicked() {
        panel.request(UiAction::GoTo(id));
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    let tokens = theme::tokens(ui);
    let current = panel.view.current() == Some(id);
    if current || response.hovered() {
        ui.painter().rect_filled(rect, RADIUS_CONTROL, if current { tokens.row_selected } else { tokens.hover });
    }
    let suggested = project.visible_suggestions(id).len();
    let dot = if current { tokens.accent } else { theme::status_color(sentence.status(), tokens) };
    let filled = !matches!(sentence.status(), Status::Untouched | Status::Skipped) || current;
    paint_dot(ui.painter(), pos2(rect.left() + 14.0, rect.center().y), dot, filled);

    let mut right = rect.right() - 10.0;
    let mut number = |text: String, color: Color32| {
        let at = pos2(right, rect.center().y);
        let drawn = ui.painter().text(at, Align2::RIGHT_CENTER, text, theme::regular(size::TEXT_SMALL), color);
        right = drawn.left() - 6.0;
    };
    number(sentence.mentions().len().to_string(), tokens.text_dim);
    if suggested > 0 && sentence.status() != Status::Complete {
        number(format!("+{suggested}"), tokens.accent);
    }
    let text = Rect::from_min_max(pos2(rect.left() + 28.0, rect.top()), pos2(right - 4.0, rect.bottom()));
    words(ui, panel, sentence, text, word_color(sentence.status(), current, suggested > 0, tokens));
    response.widget_info(|| {
        let status = status_word(sentence.status());
        let name = format!(
            "sentence {}, {status}, {}, {}: {}",
            id.0 + 1,
            counted(sentence.mentions().len(), "mention", "mentions"),
            counted(suggested, "suggestion", "suggestions"),
            first_words(project.corpus().sentence_text(sentence)),
        );
        egui::WidgetInfo::selected(egui::Role::ListItem, true, current, name)
    });
}

fn words(ui: &Ui, panel: &mut PanelContext<'_>, sentence: &Sentence, rect: Rect, color: Color32) {
    let tokens = theme::tokens(ui);
    let corpus = panel.project.corpus();
    let found = panel.view.finder.found_in(corpus, sentence);
    // What was found is to be seen, and some words before it.
    let first = found.first().map_or(0, |words| words.start);
    let from = if first > WORDS_BEFORE + 1 { first - WORDS_BEFORE } else { 0 };
    let content = Content::plain(corpus, sentence, from..from + MOST_WORDS);
    let (content, by) = if from > 0 { (content.led_by("…"), from - 1) } else { (content, 0) };
    let is_found = |word: usize| found.iter().any(|words| words.contains(&(word + by)));
    if content.can_be_cut() {
        let mut job = LayoutJob::default();
        let plain = TextFormat::simple(theme::regular(size::TEXT), color);
        let marked = TextFormat { background: tokens.shade_strong, color: tokens.text, ..plain.clone() };
        for (at, word) in content.words.iter().enumerate() {
            if word.gap_before {
                let inside = is_found(at) && at > 0 && is_found(at - 1);
                job.append(" ", 0.0, if inside { marked.clone() } else { plain.clone() });
            }
            job.append(&word.text, 0.0, if is_found(at) { marked.clone() } else { plain.clone() });
        }
        let galley = elided_job(ui, job, rect.width());
        ui.painter().galley(pos2(rect.left(), rect.center().y - galley.size().y / 2.0), galley, color);
        return;
    }
    // Whole words, set by our own flow: egui has no bidirectional text.
    let (flow, origin) = panel.typesetter.set_row(ui, &content, rect);
    for piece in flow.pieces.iter().filter(|piece| is_found(piece.token)) {
        ui.painter().rect_filled(piece.rect.translate(origin.to_vec2()), 0.0, tokens.shade_strong);
    }
    paint_words(ui, &content, &flow, origin, color);
}

fn word_color(status: Status, current: bool, suggested: bool, tokens: &Tokens) -> Color32 {
    match status {
        _ if current => tokens.text,
        Status::InProgress | Status::Flagged => tokens.text,
        Status::Untouched if suggested => tokens.text,
        Status::Untouched | Status::Complete => tokens.text_dim,
        Status::Skipped => tokens.text_faint,
    }
}

pub(crate) fn status_word(status: Status) -> &'static str {
    match status {
        Status::Untouched => "untouched",
        Status::InProgress => "in progress",
        Status::Complete => "complete",
        Status::Skipped => "skipped",
        Status::Flagged => "flagged",
    }
}

fn first_words(text: &str) -> &str {
    let end = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}
