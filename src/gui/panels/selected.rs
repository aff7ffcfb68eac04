//! The card of the selected mention or suggestion.

use super::{PanelContext, origin};
use crate::annotation::{LabelId, Mention, Provenance, Sentence, Span, Suggestion};
use crate::gui::actions::UiAction;
use crate::gui::commands::{self, CommandId};
use crate::gui::theme::{self, size};
use crate::gui::widgets::parts::{self, button, primary_button};
use crate::gui::widgets::sentence::{Content, Mark, MarkId, TextLayout, paint_words};
use crate::gui::workspace::NoteDraft;
use eframe::egui::{self, Align, Layout, Sense, Ui, vec2};

pub(crate) fn show(ui: &mut Ui, panel: &mut PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    let Some(mark) = panel.view.picked_mark().cloned() else {
        nothing(ui, panel);
        return;
    };
    parts::section(ui, if mark.is_suggestion() { "Selected suggestion" } else { "Selected mention" });
    ui.add_space(2.0);
    parts::card(tokens).inner_margin(egui::Margin::same(12)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        let Some(sentence) = panel.view.sentence(panel.project) else { return };
        words(ui, panel, sentence, &mark);
        match mark.id {
            MarkId::Mention(_) => mention(ui, panel, &mark),
            MarkId::Suggestion(span, label) => {
                let suggested = panel.view.suggestion(span, label).cloned();
                suggestion(ui, panel, &mark, suggested.as_ref());
            }
        }
    });
}

/// The words of the mark, set like the sentence so that right-to-left scripts come out right.
fn words(ui: &mut Ui, panel: &mut PanelContext<'_>, sentence: &Sentence, mark: &Mark) {
    let tokens = theme::tokens(ui);
    let corpus = panel.project.corpus();
    let width = ui.available_width().floor();
    let setting = TextLayout { width, points: size::TEXT, most_rows: 3 };
    ui.spacing_mut().item_spacing.y = 0.0;
    for fragment in &mark.fragments {
        let content = Content::plain(corpus, sentence, fragment.range());
        let flow = panel.typesetter.set(ui, &content, setting);
        let (rect, response) = ui.allocate_exact_size(vec2(width, flow.height), Sense::hover());
        paint_words(ui, &content, &flow, rect.min, tokens.text);
        let text = corpus.span_text(sentence, *fragment);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    }
    ui.reset_style();
}

fn nothing(ui: &mut Ui, panel: &PanelContext<'_>) {
    let tokens = theme::tokens(ui);
    parts::section(ui, "Nothing selected");
    let text = match panel.view.selection() {
        Some(_) => "Press a label's key to mark the selected words.".to_owned(),
        None => format!(
            "{} moves to the next suggestion or mention. A label's key marks the word at the cursor.",
            commands::keys_text(CommandId::NextMark)
        ),
    };
    ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
}

fn label_line(ui: &mut Ui, panel: &PanelContext<'_>, mark: &Mark, right: &str) {
    let tokens = theme::tokens(ui);
    let color = theme::label_color(mark.color, tokens);
    let name = panel.project.corpus().labels().get(mark.label).map_or("?", |l| l.display_name());
    ui.horizontal(|ui| {
        ui.add(egui::Label::new(theme::heading(name, color)).truncate());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(theme::small(right, tokens.text_dim)));
    });
}

fn mention(ui: &mut Ui, panel: &mut PanelContext<'_>, mark: &Mark) {
    let tokens = theme::tokens(ui);
    let Some(mention) = panel.view.picked_mention(panel.project).cloned() else { return };
    label_line(ui, panel, mark, "");
    let mut line = |text: String| ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
    line(made_by(&mention.provenance));
    let held = held(panel, mark);
    if !held.is_empty() {
        line(format!("contains {}: {}", held.len(), held.join(" · ")));
    }
    if mark.fragments.len() > 1 {
        line(format!("in {} pieces; suggestions don't learn from it", mark.fragments.len()));
    }
    for (name, value) in &mention.attributes {
        line(format!("{name}: {value}"));
    }
    note(ui, panel, &mention);
    if button(ui, panel.can_change(), "Remove").on_hover_text(commands::title_with_keys(CommandId::Remove)).clicked() {
        panel.request(UiAction::Command(CommandId::Remove));
    }
}

fn made_by(provenance: &Provenance) -> String {
    match provenance {
        Provenance::Person => "added by hand".to_owned(),
        Provenance::Import => "imported".to_owned(),
        Provenance::Rule => "added by a rule".to_owned(),
        Provenance::Accepted(model) => format!("accepted from {}", origin(*model)),
    }
}

/// The labels of the mentions inside this one.
fn held(panel: &PanelContext<'_>, mark: &Mark) -> Vec<String> {
    let inside = |m: &&Mark| m.id != mark.id && !m.is_suggestion() && mark.hull.contains(m.hull) && m.hull != mark.hull;
    panel.view.content().marks.iter().filter(inside).map(|m| m.name.clone()).collect()
}

fn note(ui: &mut Ui, panel: &mut PanelContext<'_>, mention: &Mention) {
    let tokens = theme::tokens(ui);
    let can_change = panel.can_change();
    let Some(sentence) = panel.view.current() else { return };
    let draft = &mut panel.view.note;
    if draft.of != Some((sentence, mention.id)) {
        *draft = NoteDraft::of(sentence, mention);
    }
    let edit = egui::TextEdit::multiline(&mut draft.text)
        .id(egui::Id::unique("note on the mention"))
        .hint_text(theme::small("Add a note …", tokens.text_faint))
        .font(theme::regular(size::TEXT_SMALL))
        .desired_rows(1)
        .interactive(can_change)
        .desired_width(f32::INFINITY);
    let response = ui.add(edit).accessible_name("Note on the mention");
    if std::mem::take(&mut panel.view.focus_note) {
        response.request_focus();
        // Below many labels it may be out of sight.
        response.scroll_to_me(Some(Align::Center));
    }
    let draft = &mut panel.view.note;
    if response.changed() {
        draft.typing.touch(ui.ctx());
    }
    if response.has_focus() {
        draft.is_open = true;
        let is_due = draft.typing.is_due(ui.ctx());
        let text = format!("{} when done. Saved as you type.", commands::end_typing_text());
        ui.add(egui::Label::new(theme::small(text, tokens.text_dim)).wrap());
        if commands::take_end_typing(ui.ctx()) {
            response.surrender_focus();
        }
        if is_due {
            panel.request(UiAction::KeepNote { has_ended: false });
        }
    } else if draft.is_open {
        panel.request(UiAction::KeepNote { has_ended: true });
    } else if draft.note() != mention.note {
        // Changed elsewhere, as by an undo.
        draft.text.clone_from(&mention.note);
    }
}

fn suggestion(ui: &mut Ui, panel: &mut PanelContext<'_>, mark: &Mark, suggestion: Option<&Suggestion>) {
    let tokens = theme::tokens(ui);
    let score = mark.score.map(|s| format!("{s:.2}")).unwrap_or_default();
    label_line(ui, panel, mark, &score);
    let labels = panel.project.corpus().labels();
    if let Some((label, score)) = suggestion.and_then(|s| s.runner_up)
        && let Some(name) = labels.get(label).map(|l| &l.name)
    {
        ui.label(theme::small(format!("runner-up: {name} {score:.2}"), tokens.text_dim));
    }
    if let Some((label, probability)) = by_its_words(panel)
        && let Some(name) = labels.get(label).map(|l| &l.name)
    {
        ui.label(theme::small(format!("by its words alone: {name} {probability:.2}"), tokens.text_dim));
    }
    if let Some(crossed) = crossed(panel, mark.hull) {
        ui.label(theme::small(format!("crosses the mention {crossed}"), tokens.warn));
    }
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing = vec2(size::GAP, 0.0);
        let can = panel.can_change();
        if primary_button(ui, can, "Accept").on_hover_text(commands::title_with_keys(CommandId::Accept)).clicked() {
            panel.request(UiAction::Command(CommandId::Accept));
        }
        if button(ui, can, "Reject").on_hover_text(commands::title_with_keys(CommandId::Reject)).clicked() {
            panel.request(UiAction::Command(CommandId::Reject));
        }
    });
}

/// The most probable label of what is picked, told by its words alone.
fn by_its_words(panel: &PanelContext<'_>) -> Option<(LabelId, f32)> {
    let order = panel.project.label_order(panel.view.current()?, &panel.view.given()?)?;
    order.first().copied()
}

fn crossed(panel: &PanelContext<'_>, span: Span) -> Option<String> {
    let crosses = |m: &&Mark| !m.is_suggestion() && m.hull.crosses(span);
    panel.view.content().marks.iter().find(crosses).map(|m| m.name.clone())
}
